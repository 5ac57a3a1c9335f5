// y[0] is the target that the kernel was compiled for, and 0 for OpenCL.
KERNEL(BLOCK_THREADS, NAME)(OUT(T, y))
{
	AT_OUT(T, y);
	if (BLOCK == 0 && THREAD == 0)
#ifdef __CUDA_ARCH__
		y[0] = __CUDA_ARCH__ / 10;
#else
		y[0] = 0;
#endif
}

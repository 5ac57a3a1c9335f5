// A stand-in for NVIDIA's libcuda.so.1 whose device memory is memory of the host. It tests the bindings: the
// compiler checks each function here against the prototype in cuda.h, and the tests of package cuda then call them with
// the bindings' ideas of arguments. It knows the kernels of kernels.ptx by name and runs all work at once. See .ci/cuda5.

#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t total = (size_t)1 << 31;
static const int threads = 1024, shared_opt_in = 227 << 10;

static _Atomic size_t used;
static _Atomic CUresult sticky;
static _Thread_local CUcontext current;

// What handles point to.
struct CUctx_st { int device; };
struct CUmod_st { char *text; };
struct CUfunc_st { char name[64]; int dynamic; };
struct CUstream_st { unsigned flags; };
struct CUevent_st { struct timespec at; int recorded; };
static struct CUctx_st contexts[2] = {{0}, {1}};

// READY is what calls check that need a context: the argument errors come after it.
#define READY() do { if (!current) return CUDA_ERROR_INVALID_CONTEXT; if (sticky) return sticky; } while (0)
#define WANT(condition) do { if (!(condition)) return CUDA_ERROR_INVALID_VALUE; } while (0)

static const struct { CUresult code; const char *name, *text; } errors[] = {
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
};

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
	*pStr = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == error)
			*pStr = errors[i].name;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
	*pStr = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == error)
			*pStr = errors[i].text;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned int Flags) { WANT(Flags == 0); return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *driverVersion) { *driverVersion = CUDA_VERSION; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { *count = 2; return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { WANT(ordinal >= 0 && ordinal < 2); *device = ordinal; return CUDA_SUCCESS; }

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	WANT(len > 16 && (dev == 0 || dev == 1));
	strcpy(name, "Stand-in");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	WANT(dev == 0 || dev == 1);
	switch (attrib) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *pi = threads; break;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *pi = INT32_MAX; break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *pi = 48 << 10; break;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *pi = 32; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *pi = 4; break;
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *pi = 1 << 20; break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *pi = 9; break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *pi = 0; break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *pi = shared_opt_in; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev) { WANT(dev == 0 || dev == 1); *bytes = total; return CUDA_SUCCESS; }

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(i + dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) { *canAccessPeer = dev != peerDev; return CUDA_SUCCESS; }

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) { WANT(dev == 0 || dev == 1); *pctx = &contexts[dev]; return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { WANT(dev == 0 || dev == 1); return CUDA_SUCCESS; }
CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) { (void)flags; *pctx = current = &contexts[dev]; return CUDA_SUCCESS; }
CUresult cuCtxDestroy(CUcontext ctx) { WANT(ctx); return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext ctx) { current = ctx; return CUDA_SUCCESS; }

CUresult cuMemGetInfo(size_t *free, size_t *all) { READY(); *free = total - used; *all = total; return CUDA_SUCCESS; }

// Device memory has its size before it, and is not what malloc left there.
CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
	READY();
	WANT(bytesize > 0);
	if (bytesize > total - used)
		return CUDA_ERROR_OUT_OF_MEMORY;
	char *p = malloc(256 + bytesize);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(p, &bytesize, sizeof bytesize);
	memset(p + 256, 0xA5, bytesize);
	used += bytesize;
	*dptr = (CUdeviceptr)(p + 256);
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr dptr)
{
	READY();
	WANT(dptr);
	char *p = (char *)dptr - 256;
	size_t bytesize;
	memcpy(&bytesize, p, sizeof bytesize);
	used -= bytesize;
	free(p);
	return CUDA_SUCCESS;
}

struct CUmemPoolHandle_st {
	cuuint64_t keep;
};

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	READY();
	WANT(poolProps->allocType == CU_MEM_ALLOCATION_TYPE_PINNED && poolProps->handleTypes == CU_MEM_HANDLE_TYPE_NONE);
	WANT(poolProps->location.type == CU_MEM_LOCATION_TYPE_DEVICE && poolProps->location.id <= 1);
	for (size_t i = 0; i < sizeof poolProps->reserved; i++)
		WANT(!poolProps->reserved[i]);
	WANT(!poolProps->win32SecurityAttributes);
	*pool = calloc(1, sizeof **pool);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	READY();
	WANT(attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
	pool->keep = *(cuuint64_t *)value;
	WANT(pool->keep == total / 16);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
	READY();
	WANT(hStream && pool->keep);
	return cuMemAlloc(dptr, bytesize);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) { WANT(hStream); return cuMemFree(dptr); }
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) { READY(); WANT(pool && !minBytesToKeep); return CUDA_SUCCESS; }
CUresult cuMemPoolDestroy(CUmemoryPool pool) { READY(); free(pool); return CUDA_SUCCESS; }

CUresult cuMemAllocHost(void **pp, size_t bytesize) { READY(); *pp = malloc(bytesize); return *pp ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; }
CUresult cuMemFreeHost(void *p) { READY(); WANT(p); free(p); return CUDA_SUCCESS; }

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	READY();
	WANT(hStream && ByteCount);
	memcpy((void *)dstDevice, srcHost, ByteCount);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	READY();
	WANT(hStream && ByteCount);
	memcpy(dstHost, (void *)srcDevice, ByteCount);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	READY();
	WANT(hStream && ByteCount);
	memcpy((void *)dstDevice, (void *)srcDevice, ByteCount);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	READY();
	WANT(hStream && N);
	memset((void *)dstDevice, uc, N);
	return CUDA_SUCCESS;
}

// What is wrong with PTX, to the log that the options name.
static CUresult compile(const char *ptx, unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	char *log = NULL;
	size_t room = 0;
	for (unsigned i = 0; i < numOptions; i++) {
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
			log = optionValues[i];
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			room = (unsigned)(uintptr_t)optionValues[i];
	}
	if (!strstr(ptx, "nonsense"))
		return CUDA_SUCCESS;
	const char *said = "ptxas application ptx input, line 5; error   : Not a name of any known instruction: 'nonsense'";
	if (log && room > strlen(said))
		strcpy(log, said);
	return CUDA_ERROR_INVALID_PTX;
}

// A link state keeps the options that it was made with. Its machine code is the PTX behind a few bytes.
struct CUlinkState_st { unsigned int count; CUjit_option *options; void **values; char *code; };
static const char compiled[] = "\177ELF ";

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
	READY();
	*stateOut = malloc(sizeof **stateOut);
	**stateOut = (struct CUlinkState_st){numOptions, options, optionValues, NULL};
	return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
	unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	READY();
	(void)options, (void)optionValues;
	WANT(type == CU_JIT_INPUT_PTX && size == strlen(data) + 1 && *name && numOptions == 0 && !state->code);
	CUresult r = compile(data, state->count, state->options, state->values);
	if (r != CUDA_SUCCESS)
		return r;
	state->code = malloc(sizeof compiled + size);
	strcat(strcpy(state->code, compiled), data);
	return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
	READY();
	WANT(state->code);
	*cubinOut = state->code;
	*sizeOut = strlen(state->code);
	return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) { READY(); free(state->code); free(state); return CUDA_SUCCESS; }

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	READY();
	CUresult r = compile(image, numOptions, options, optionValues);
	if (r != CUDA_SUCCESS)
		return r;
	*module = malloc(sizeof **module);
	(*module)->text = strdup(image);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }

CUresult cuModuleUnload(CUmodule hmod) { READY(); WANT(hmod); free(hmod->text); free(hmod); return CUDA_SUCCESS; }

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	READY();
	char entry[128] = ".entry ";
	WANT(strlen(name) < 64);
	strcat(strcat(entry, name), "(");
	if (!strstr(hmod->text, entry))
		return CUDA_ERROR_NOT_FOUND;
	*hfunc = malloc(sizeof **hfunc);
	strcpy((*hfunc)->name, name);
	(*hfunc)->dynamic = 48 << 10;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	READY();
	switch (attrib) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *pi = threads; break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *pi = 0; break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *pi = 0; break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *pi = 16; break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *pi = hfunc->dynamic; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	READY();
	WANT(attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 && value <= shared_opt_in);
	hfunc->dynamic = value;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
	READY();
	WANT(func && blockSize > 0 && blockSize <= threads && dynamicSMemSize <= (size_t)func->dynamic);
	*numBlocks = 2048 / blockSize;
	return CUDA_SUCCESS;
}

// P is the value of parameter i.
#define P(type, i) (*(type *)kernelParams[i])

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
	unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	void **kernelParams, void **extra)
{
	READY();
	WANT(gridDimX > 0 && gridDimY == 1 && gridDimZ == 1 && blockDimX > 0 && blockDimX <= (unsigned)threads && blockDimY == 1 && blockDimZ == 1);
	WANT(sharedMemBytes <= (unsigned)f->dynamic && hStream && kernelParams && !extra);
	if (!strcmp(f->name, "scale_f32") || !strcmp(f->name, "early")) {
		const float *x = P(float *, 0) + P(int64_t, 1);
		float *y = P(float *, 2) + P(int64_t, 3), a = P(float, 4);
		for (int64_t i = 0; i < P(int64_t, 5) && i < (int64_t)gridDimX * blockDimX; i++)
			y[i] = a * x[i];
	} else if (!strcmp(f->name, "reverse_u32")) {
		uint32_t n = P(uint32_t, 4);
		WANT(sharedMemBytes >= 4 * n);
		for (unsigned b = 0; b < gridDimX; b++)
			for (uint32_t i = 0; i < n; i++)
				(P(uint32_t *, 2) + P(int64_t, 3))[(size_t)b * n + n - 1 - i] = (P(uint32_t *, 0) + P(int64_t, 1))[(size_t)b * n + i];
	} else if (!strcmp(f->name, "fault")) {
		sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
	} else {
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
	READY();
	WANT(config && config->numAttrs <= 1 && !config->numAttrs == !config->attrs);
	if (config->numAttrs)
		WANT(config->attrs->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION && config->attrs->value.programmaticStreamSerializationAllowed == 1);
	if (!!config->numAttrs != !strcmp(f->name, "early"))
		return CUDA_ERROR_INVALID_VALUE;
	return cuLaunchKernel(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ,
		config->sharedMemBytes, config->hStream, kernelParams, extra);
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	READY();
	WANT(Flags == CU_STREAM_DEFAULT || Flags == CU_STREAM_NON_BLOCKING);
	*phStream = malloc(sizeof **phStream);
	(*phStream)->flags = Flags;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream hStream) { READY(); WANT(hStream); return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream hStream) { READY(); free(hStream); return CUDA_SUCCESS; }

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	READY();
	WANT(Flags == CU_EVENT_DEFAULT);
	*phEvent = calloc(1, sizeof **phEvent);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
	READY();
	WANT(hStream);
	clock_gettime(CLOCK_MONOTONIC, &hEvent->at);
	hEvent->recorded = 1;
	return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent hEvent) { READY(); WANT(hEvent); return CUDA_SUCCESS; }

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	READY();
	WANT(hStart->recorded && hEnd->recorded);
	*pMilliseconds = (float)((double)(hEnd->at.tv_sec - hStart->at.tv_sec) * 1e3 + (double)(hEnd->at.tv_nsec - hStart->at.tv_nsec) * 1e-6);
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent hEvent) { READY(); free(hEvent); return CUDA_SUCCESS; }

// What package cuda5 links to and package cuda does not call.
CUresult absent(void) { return CUDA_ERROR_NOT_SUPPORTED; }
#define ABSENT(symbol) __asm__(".globl " #symbol "\n.type " #symbol ", @function\n.set " #symbol ", absent")
ABSENT(cuCtxGetApiVersion); ABSENT(cuCtxGetCurrent); ABSENT(cuCtxGetDevice); ABSENT(cuCtxSynchronize);
ABSENT(cuCtxEnablePeerAccess); ABSENT(cuCtxDisablePeerAccess); ABSENT(cuDeviceComputeCapability); ABSENT(cuDeviceGetProperties);
ABSENT(cuMemGetAddressRange_v2); ABSENT(cuMemcpy); ABSENT(cuMemcpyAsync); ABSENT(cuMemcpyDtoD_v2); ABSENT(cuMemcpyDtoH_v2);
ABSENT(cuMemcpyHtoD_v2); ABSENT(cuMemcpyPeer); ABSENT(cuMemcpyPeerAsync); ABSENT(cuMemsetD8_v2); ABSENT(cuMemsetD32_v2);
ABSENT(cuMemsetD32Async); ABSENT(cuPointerGetAttribute); ABSENT(cuModuleLoad); ABSENT(cuStreamQuery);

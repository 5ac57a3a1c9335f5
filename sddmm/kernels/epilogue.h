// f(s, x) of a value and a dot product, the epilogues numbered as in package sddmm.
DEVICE T epilogue(int f, T s, T x)
{
	switch (f) {
	case 1:
		return s * x;
	case 2:
		return s - x;
	case 3:
		return s / x;
	}
	return x;
}

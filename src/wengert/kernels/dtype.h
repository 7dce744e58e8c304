/* Defines `real`, the C type of WK_BITS, and SUFFIX(name), a name for the dtype and the CPU level (WK_LEVEL). Files of kernels are
 * included once for each dtype, and so is this one. */
#undef real
#undef SUFFIX
#ifndef WK_JOIN3
#define WK_JOIN3_(a, b, c) a##_##b##_##c
#define WK_JOIN3(a, b, c) WK_JOIN3_(a, b, c)
#endif
#if WK_BITS == 32
#define real float
#define SUFFIX(name) WK_JOIN3(name, WK_LEVEL, f32)
#else
#define real double
#define SUFFIX(name) WK_JOIN3(name, WK_LEVEL, f64)
#endif

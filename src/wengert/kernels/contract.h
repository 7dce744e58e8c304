/* From here on, compilers may fuse a product with a sum, as BLAS does. The other kernels are compiled without this. */
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

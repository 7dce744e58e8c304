/* From here on a product may be fused with a sum, which the rest of the kernels is compiled without: BLAS does so too. */
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

/* Kernels of factorisations of small matrices, one table for each CPU level and dtype. factors.h defines them, wk_factors.c calls
 * them. */
#ifndef WK_FACTORS_H
#define WK_FACTORS_H
#include <stdint.h>

typedef struct {
    /* Factor a = q @ r. a: (m, n), overwritten; q: (m, k); r: (k, n), with k = min(m, n), all flat. work: n + k numbers. Squares of
     * the elements of a must not overflow. */
    void (*qr)(void *a, int64_t m, int64_t n, void *q, void *r, void *work);
} WkFactors;

extern const WkFactors wk_factors_base_f32, wk_factors_base_f64, wk_factors_v3_f32, wk_factors_v3_f64, wk_factors_v4_f32, wk_factors_v4_f64;
#endif

/* Kernels of distances between rows, one table for each CPU level and dtype. distances.h defines them, wk_distances.c drives
 * them. */
#ifndef WK_DISTANCES_H
#define WK_DISTANCES_H
#include <stdint.h>

enum { WK_MANHATTAN = 1, WK_EUCLIDEAN = 2, WK_LARGEST = 3 }; /* norms of order 1, 2 and infinity */

typedef struct {
    /* out[r] = norm of x - y[r] for r < count. x: m numbers; y: rows of m numbers. */
    void (*distances)(int kind, const void *x, const void *y, int64_t count, int64_t m, void *out);
    /* Add the cotangent of x to out. ct: cotangents of the norms; lengths: the norms. Terms are 0 where a norm or a difference is
     * 0. */
    void (*slopes)(int kind, const void *x, const void *y, int64_t count, int64_t m, const void *ct, const void *lengths, void *out);
} WkDistances;

extern const WkDistances wk_distances_base_f32, wk_distances_base_f64, wk_distances_v3_f32, wk_distances_v3_f64, wk_distances_v4_f32,
    wk_distances_v4_f64;
#endif

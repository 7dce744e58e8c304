/* Serial kernels on contiguous runs of numbers: reductions, and kernels that need several passes. wk_rows.c drives and threads
 * them.
 *
 * An array is viewed as (outer, n, inner), and the kernels work along n. If inner is 1, they work along contiguous "rows".
 * Otherwise they work on "tiles": n rows of `width` neighbouring columns, with `stride` elements from row to row.
 */
#ifndef WK_ROWS_H
#define WK_ROWS_H
#include <stdint.h>

/* Kinds of reductions of elements x, given a number a. */
enum { WK_SUM, WK_SQUARES, WK_ABSOLUTES, WK_DEVIATIONS, WK_SQUARED_DEVIATIONS, WK_MAX, WK_MIN, WK_REDUCTIONS };
/* The sum of x, x * x, |x|, x - a or (x - a)**2; the largest x; the smallest x. If any x is NaN, the extrema are NaN. */

enum {
    WK_RUN = 4096,    /* most elements that reduce_rows takes; partial results of longer rows are combined pairwise */
    WK_TILE = 256,    /* most columns of a tile */
    WK_TILE_ROWS = 1024,
    WK_FETCHED = 1024, /* least elements of a row for which the next row is prefetched */
};

typedef struct {
    /* out[r] = reduction of x[r * step + i] over i < n <= WK_RUN, for r < rows. a: `rows` numbers. */
    void (*reduce_rows)(int kind, const void *x, int64_t n, int64_t rows, int64_t step, const void *a, void *out);
    /* out[j] = reduction of x[i * stride + j] over i < n <= WK_TILE_ROWS, for j < width <= WK_TILE. a: `width` numbers. */
    void (*reduce_tile)(int kind, const void *x, int64_t n, int64_t width, int64_t stride, const void *a, void *out);
    /* out[j] = reduction over n partial results x[i * stride + j], pairwise. Overwrites x. kind: WK_SUM, WK_MAX or WK_MIN. */
    void (*combine)(int kind, void *x, int64_t n, int64_t width, int64_t stride, void *out);

    /* Compute softmax, or log_softmax if logs is true, along rows of n elements or down one tile of columns. */
    void (*softmax_rows)(int logs, const void *x, void *out, int64_t n, int64_t rows);
    void (*softmax_tile)(int logs, const void *x, void *out, int64_t n, int64_t width, int64_t stride);
    void (*logsumexp_rows)(const void *x, void *out, int64_t n, int64_t rows);
    /* out = softmax(x), losses[r] = -log(out[r, target[r]]). */
    void (*cross_entropy_rows)(const void *x, const int64_t *target, void *out, void *losses, int64_t n, int64_t rows);
    /* Compute the cotangent of x, given the cotangent ct of the result and the result y. */
    void (*softmax_cotangent_rows)(int logs, const void *ct, const void *y, void *out, int64_t n, int64_t rows);
    /* Compute the cotangent of x of log_softmax where the cotangent of the result is 0, given the sums of its rows. */
    void (*log_softmax_base_rows)(const void *sums, const void *y, void *out, int64_t n, int64_t rows);
    void (*softmax_cotangent_tile)(int logs, const void *ct, const void *y, void *out, int64_t n, int64_t width, int64_t stride);

    /* out = (x - mean) * rstd * weight + bias, row by row. Stores means and rstds. weight and bias may be NULL. */
    void (*standardize_rows)(const void *x, const void *weight, const void *bias, double eps, int64_t n, int64_t rows, void *out,
                             void *means, void *rstds);
    /* Compute the cotangents of standardize_rows: out for x; of_weight and of_bias are added to. out, weight, of_weight, of_bias
     * may be NULL. */
    void (*standardize_cotangent_rows)(const void *ct, const void *x, const void *means, const void *rstds, const void *weight,
                                       int64_t n, int64_t rows, void *out, void *of_weight, void *of_bias);

    /* out = x @ y. out: m rows of n <= WK_LANES(size) columns. x: (m, k), with any steps. y: k rows of WK_LANES columns, of which
     * columns from n on are ignored. Steps are in elements. */
    void (*multiply)(const void *x, int64_t row, int64_t column, const void *y, int64_t y_row, int64_t m, int64_t k, int64_t n,
                     void *out, int64_t out_row);
    /* out[i] = sum of x[i * row + j] * y[j] over j < k, for i < m. */
    void (*multiply_vector)(const void *x, int64_t row, const void *y, int64_t m, int64_t k, void *out);
    /* out += bias, then target -= rate * out, for m rows of n numbers. bias: n numbers, or NULL. target: NULL if there is none. */
    void (*finish)(void *out, int64_t out_row, int64_t m, int64_t n, const void *bias, void *target, int64_t target_row, double rate);
    /* x = a^-1 @ x in place. a: (n, n), triangular, with any steps. x: n rows of width * WK_LANES numbers; width is 1 or 4. */
    void (*solve_triangular)(const void *a, int64_t row, int64_t column, int64_t n, int upper, int unit, int width, void *x);
} WkRows;

#define WK_LANES(size) (64 / (int)(size)) /* number of lanes of the widest registers, for numbers of `size` bytes */

/* Kernels for NPY_FLOAT or NPY_DOUBLE, of the CPU level in use. */
const WkRows *wk_rows_of(int typenum);

extern const WkRows wk_rows_base_f32, wk_rows_base_f64, wk_rows_v3_f32, wk_rows_v3_f64, wk_rows_v4_f32, wk_rows_v4_f64;
#endif

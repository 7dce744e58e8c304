/* Kernels that take more than one pass, or add up: on contiguous runs of numbers, serial. wk_rows.c drives and threads them.
 *
 * An array is looked at as (outer, n, inner): the kernels work along n. inner 1: along "rows", which are contiguous. Else over
 * "tiles": n rows of width neighbouring columns, stride elements apart.
 */
#ifndef WK_ROWS_H
#define WK_ROWS_H
#include <stdint.h>

/* What is added up (or compared) of each element x, given a number a. */
enum { WK_SUM, WK_SQUARES, WK_SIZES, WK_OFF, WK_SQUARES_OFF, WK_MAX, WK_MIN, WK_REDUCTIONS };
/* sum of x; x * x; |x|; x - a; (x - a)**2; largest x; smallest x. NaN is largest and smallest. */

enum {
    WK_RUN = 4096,    /* elements of a row that reduce_rows takes at most: partial results of runs are combined pairwise */
    WK_TILE = 256,    /* columns of a tile at most */
    WK_TILE_ROWS = 1024,
    WK_FETCHED = 1024, /* elements of a row from which on the next one is asked for ahead */
};

typedef struct {
    /* out[r] = reduction of x[r * step + i] over i < n <= WK_RUN, for r < rows. a: rows numbers */
    void (*reduce_rows)(int kind, const void *x, int64_t n, int64_t rows, int64_t step, const void *a, void *out);
    /* out[j] = reduction of x[i * stride + j] over i < n <= WK_TILE_ROWS, for j < width <= WK_TILE. a: width numbers */
    void (*reduce_tile)(int kind, const void *x, int64_t n, int64_t width, int64_t stride, const void *a, void *out);
    /* out[j] = reduction over n partial results, x[i * stride + j], pairwise; overwrites x. kind: WK_SUM, WK_MAX or WK_MIN */
    void (*combine)(int kind, void *x, int64_t n, int64_t width, int64_t stride, void *out);

    /* Along rows of n elements, or down one tile of columns. logs: log_softmax, else softmax. */
    void (*softmax_rows)(int logs, const void *x, void *out, int64_t n, int64_t rows);
    void (*softmax_tile)(int logs, const void *x, void *out, int64_t n, int64_t width, int64_t stride);
    void (*logsumexp_rows)(const void *x, void *out, int64_t n, int64_t rows);
    /* out = softmax(x), losses[r] = -log(out[r, target[r]]) */
    void (*cross_entropy_rows)(const void *x, const int64_t *target, void *out, void *losses, int64_t n, int64_t rows);
    /* The cotangent of x from that of the result and the result y. */
    void (*softmax_cotangent_rows)(int logs, const void *ct, const void *y, void *out, int64_t n, int64_t rows);
    void (*softmax_cotangent_tile)(int logs, const void *ct, const void *y, void *out, int64_t n, int64_t width, int64_t stride);

    /* out = (x - mean) * rstd * weight + bias, row by row; weight and bias may be NULL. Stores means and rstds. */
    void (*standardize_rows)(const void *x, const void *weight, const void *bias, double eps, int64_t n, int64_t rows, void *out,
                             void *means, void *rstds);
    /* Its cotangents: out for x; adds to of_weight and of_bias. out, weight, of_weight, of_bias may be NULL. */
    void (*standardize_cotangent_rows)(const void *ct, const void *x, const void *means, const void *rstds, const void *weight,
                                       int64_t n, int64_t rows, void *out, void *of_weight, void *of_bias);

    /* out, m rows of n <= WK_LANES(size) columns, = x @ y. x: (m, k), of any steps; y: k rows of WK_LANES columns, those from n
     * on being ignored. Steps are in elements. */
    void (*multiply)(const void *x, int64_t row, int64_t column, const void *y, int64_t y_row, int64_t m, int64_t k, int64_t n,
                     void *out, int64_t out_row);
    /* x = a^-1 @ x in place. a: (n, n), triangular, of any steps; x: n rows of width * WK_LANES numbers, width 1 or 4. */
    void (*solve_triangular)(const void *a, int64_t row, int64_t column, int64_t n, int upper, int unit, int width, void *x);
} WkRows;

#define WK_LANES(size) (64 / (int)(size)) /* numbers of this size side by side, as the widest registers hold them */

/* The kernels for NPY_FLOAT or NPY_DOUBLE, of the CPU level that runs. */
const WkRows *wk_rows_of(int typenum);

extern const WkRows wk_rows_base_f32, wk_rows_base_f64, wk_rows_v3_f32, wk_rows_v3_f64, wk_rows_v4_f32, wk_rows_v4_f64;
#endif

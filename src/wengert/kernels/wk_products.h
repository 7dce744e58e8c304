/* Matrix products of a size that stays in the cache, serial: what convolutions and larger
 * products are made of. wk_convolution.c and wk_matmul.c drive them.
 *
 * Right factors are blocks of columns that the caller has laid out: rows of contiguous numbers, readable up to a multiple of
 * `panel` of them.
 */
#ifndef WK_PRODUCTS_H
#define WK_PRODUCTS_H
#include <stdint.h>

typedef struct {
    int panel; /* columns that are computed together: twice what a register holds */

    /* c[i * c_row + j] = start[i] + sum over k < depth of a[i * a_row + k * a_step] * b[k * b_row + j], for i < m, j < n.
     * start: m numbers, or NULL for 0. adds: the sum is added to c, and there is no start. */
    void (*product)(const void *a, int64_t a_row, int64_t a_step, const void *b, int64_t b_row, int64_t m, int64_t n,
                    int64_t depth, const void *start, int adds, void *c, int64_t c_row);

    /* Copies rows of `size` bytes, a multiple of 4; to_step and from_step: bytes from one row to the next. */
    void (*copy_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t size);
    /* Adds rows of n numbers to rows. They do not overlap. */
    void (*add_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t n);
    /* to[j * to_row + i] = from[i * from_row + j], of m rows of n numbers. */
    void (*transpose)(const void *from, int64_t from_row, int64_t m, int64_t n, void *to, int64_t to_row);
} WkProducts;

/* Those for NPY_FLOAT or NPY_DOUBLE, of the CPU level that runs. */
const WkProducts *wk_products_of(int typenum);

extern const WkProducts wk_products_base_f32, wk_products_base_f64, wk_products_v3_f32, wk_products_v3_f64, wk_products_v4_f32,
    wk_products_v4_f64;
#endif

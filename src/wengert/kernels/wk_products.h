/* Serial matrix products of a size that stays in the cache. Convolutions and larger products are made of them. wk_convolution.c and
 * wk_matmul.c drive them.
 *
 * The caller lays out a right factor as a block of columns: rows of contiguous numbers, readable up to a multiple of `panel`
 * numbers.
 */
#ifndef WK_PRODUCTS_H
#define WK_PRODUCTS_H
#include <stdint.h>

typedef struct {
    int panel; /* number of columns computed together: two registers */

    /* c[i * c_row + j] = start[i] + sum over k < depth of a[i * a_row + k * a_step] * b[k * b_row + j], for i < m, j < n. start: m
     * numbers, or NULL for 0. If adds is true, the sum is added to c, and start is NULL. */
    void (*product)(const void *a, int64_t a_row, int64_t a_step, const void *b, int64_t b_row, int64_t m, int64_t n,
                    int64_t depth, const void *start, int adds, void *c, int64_t c_row);

    /* Copy rows of `size` bytes, a multiple of 4. to_step and from_step: bytes from one row to the next. */
    void (*copy_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t size);
    /* Add rows of n numbers to other rows. The rows do not overlap. */
    void (*add_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t n);
    /* to[j * to_row + i] = from[i * from_row + j], for m rows of n numbers. */
    void (*transpose)(const void *from, int64_t from_row, int64_t m, int64_t n, void *to, int64_t to_row);
} WkProducts;

/* Products for NPY_FLOAT or NPY_DOUBLE, of the CPU level in use. */
const WkProducts *wk_products_of(int typenum);

extern const WkProducts wk_products_base_f32, wk_products_base_f64, wk_products_v3_f32, wk_products_v3_f64, wk_products_v4_f32,
    wk_products_v4_f64;
#endif

/* The products of wk_products.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each.
 *
 * WK_REGISTER is the width of a register in bytes. WK_ROWS is the number of rows computed together, with two registers each. Their
 * sums, a row of the right factor and a number of the left factor fit into the registers of the level. Macros write out a variable
 * for each sum, as compilers keep an array of sums in memory.
 */
#include <string.h>

#include "dtype.h"
#include "wk_products.h"
#define LANES (WK_REGISTER * 8 / WK_BITS)
#define vec SUFFIX(vec)
typedef real vec __attribute__((vector_size(WK_REGISTER), aligned(WK_BITS / 8), may_alias));
#define LOAD_(p) (*(const vec *)(p))
#define piece SUFFIX(piece)
typedef real piece __attribute__((vector_size(16), aligned(WK_BITS / 8), may_alias));
#ifndef PICK_ /* picks numbers of x and y by their places */
#if defined(__clang__)
#define PICK_(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define PICK_(x, y, ...) __builtin_shuffle(x, y, (SUFFIX(places)){__VA_ARGS__})
#endif
#endif
#if WK_BITS == 32
typedef int32_t SUFFIX(places) __attribute__((vector_size(16)));
#else
typedef int64_t SUFFIX(places) __attribute__((vector_size(16)));
#endif

#define EACH1_(X) X(0)
#define EACH2_(X) EACH1_(X) X(1)
#define EACH4_(X) EACH2_(X) X(2) X(3)
#define EACH6_(X) EACH4_(X) X(4) X(5)
#define EACH12_(X) EACH6_(X) X(6) X(7) X(8) X(9) X(10) X(11)

/* Store two registers as a row of c. Only the first `width` numbers are stored. */
static inline void SUFFIX(store)(real *c, vec s, vec t, int64_t width, int adds) {
    if (width >= 2 * LANES) {
        if (adds) s += LOAD_(c), t += LOAD_(c + LANES);
        *(vec *)c = s;
        *(vec *)(c + LANES) = t;
        return;
    }
    real numbers[2 * LANES];
    *(vec *)numbers = s;
    *(vec *)(numbers + LANES) = t;
    for (int64_t j = 0; j < width; j++) c[j] = adds ? c[j] + numbers[j] : numbers[j];
}

#define START_(i) vec s##i = {0}, t##i = {0}; if (start) s##i += start[i], t##i += start[i];
#define START_HALF_(i) vec s##i = {0}, t##i = {0}; if (start) s##i += start[i];
#define STEP_(i) { real x = from[i * a_row]; s##i += x * b0; t##i += x * b1; }
#define STEP_HALF_(i) s##i += from[i * a_row] * b0;
#define STORE_(i) SUFFIX(store)(c + i * c_row, s##i, t##i, width, adds);

/* Compute `rows` rows of c and width <= panel columns. For at most half a panel, one register per row is used. */
#define TILE_(rows)                                                                                                        \
    static void SUFFIX(tile##rows)(const real *a, int64_t a_row, int64_t a_step, const real *b, int64_t b_row, int64_t width, \
                                   int64_t depth, const real *start, int adds, real *c, int64_t c_row) {                   \
        if (width > LANES) {                                                                                               \
            EACH##rows##_(START_)                                                                                          \
            for (int64_t k = 0; k < depth; k++) {                                                                          \
                const real *from = a + k * a_step;                                                                         \
                vec b0 = LOAD_(b + k * b_row), b1 = LOAD_(b + k * b_row + LANES);                                          \
                EACH##rows##_(STEP_)                                                                                       \
            }                                                                                                              \
            EACH##rows##_(STORE_)                                                                                          \
        } else {                                                                                                           \
            EACH##rows##_(START_HALF_)                                                                                     \
            for (int64_t k = 0; k < depth; k++) {                                                                          \
                const real *from = a + k * a_step;                                                                         \
                vec b0 = LOAD_(b + k * b_row);                                                                             \
                EACH##rows##_(STEP_HALF_)                                                                                  \
            }                                                                                                              \
            EACH##rows##_(STORE_)                                                                                          \
        }                                                                                                                  \
    }

TILE_(1)
TILE_(2)
TILE_(4)
#if WK_ROWS >= 6
TILE_(6)
#endif
#if WK_ROWS >= 12
TILE_(12)
#endif

static void SUFFIX(product)(const void *a_, int64_t a_row, int64_t a_step, const void *b_, int64_t b_row, int64_t m, int64_t n,
                            int64_t depth, const void *start_, int adds, void *c_, int64_t c_row) {
    const real *a = (const real *)a_, *b = (const real *)b_, *start = (const real *)start_;
    real *c = (real *)c_;
    for (int64_t j = 0; j < n; j += 2 * LANES) {
        int64_t i = 0, width = n - j < 2 * LANES ? n - j : 2 * LANES;
#define TILES_(rows)                                                                                                    \
    for (; m - i >= rows; i += rows) {                                                                                  \
        SUFFIX(tile##rows)(a + i * a_row, a_row, a_step, b + j, b_row, width, depth, start ? start + i : NULL, adds,    \
                           c + i * c_row + j, c_row);                                                                   \
    }
#if WK_ROWS >= 12
        TILES_(12)
#endif
#if WK_ROWS >= 6
        TILES_(6)
#endif
        TILES_(4)
        TILES_(2)
        TILES_(1)
#undef TILES_
    }
}

/* Copy two pieces per row; the second may overlap the first. A call of memcpy costs more than a short row. */
#define TWO_PIECES_(piece)                                                              \
    for (int64_t i = 0; i < rows; i++, to += to_step, from += from_step) {              \
        memcpy(to, from, piece);                                                        \
        memcpy(to + size - piece, from + size - piece, piece);                          \
    }

static void SUFFIX(copy_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t size) {
    if (size > 256) {
        for (int64_t i = 0; i < rows; i++) memcpy(to + i * to_step, from + i * from_step, (size_t)size);
    } else if (size > 64) {
        for (int64_t i = 0; i < rows; i++, to += to_step, from += from_step) {
            for (int64_t k = 0; k + 32 < size; k += 32) memcpy(to + k, from + k, 32);
            memcpy(to + size - 32, from + size - 32, 32);
        }
    } else if (size >= 32) {
        TWO_PIECES_(32)
    } else if (size >= 16) {
        TWO_PIECES_(16)
    } else if (size >= 8) {
        TWO_PIECES_(8)
    } else {
        TWO_PIECES_(4)
    }
}

static void SUFFIX(add_rows)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t n) {
    for (int64_t i = 0; i < rows; i++) {
        real *restrict sums = (real *)(to + i * to_step);
        const real *restrict terms = (const real *)(from + i * from_step);
        for (int64_t j = 0; j < n; j++) sums[j] += terms[j];
    }
}

/* Transpose a square of numbers. A side has as many numbers as 16 bytes hold. */
static inline void SUFFIX(transpose_square)(const real *from, int64_t from_row, real *to, int64_t to_row) {
    piece a = *(const piece *)from, b = *(const piece *)(from + from_row);
#if WK_BITS == 32
    piece c = *(const piece *)(from + 2 * from_row), d = *(const piece *)(from + 3 * from_row);
    piece ab = PICK_(a, b, 0, 4, 1, 5), ab2 = PICK_(a, b, 2, 6, 3, 7), cd = PICK_(c, d, 0, 4, 1, 5), cd2 = PICK_(c, d, 2, 6, 3, 7);
    *(piece *)to = PICK_(ab, cd, 0, 1, 4, 5);
    *(piece *)(to + to_row) = PICK_(ab, cd, 2, 3, 6, 7);
    *(piece *)(to + 2 * to_row) = PICK_(ab2, cd2, 0, 1, 4, 5);
    *(piece *)(to + 3 * to_row) = PICK_(ab2, cd2, 2, 3, 6, 7);
#else
    *(piece *)to = PICK_(a, b, 0, 2);
    *(piece *)(to + to_row) = PICK_(a, b, 1, 3);
#endif
}

static void SUFFIX(transpose)(const void *from_, int64_t from_row, int64_t m, int64_t n, void *to_, int64_t to_row) {
    const real *from = (const real *)from_;
    real *to = (real *)to_;
    int64_t side = 128 / WK_BITS, i = 0;
    for (; i + side <= m; i += side) {
        int64_t j = 0;
        for (; j + side <= n; j += side) {
            SUFFIX(transpose_square)(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
        }
        for (; j < n; j++) {
            for (int64_t k = i; k < i + side; k++) to[j * to_row + k] = from[k * from_row + j];
        }
    }
    for (; i < m; i++) {
        for (int64_t j = 0; j < n; j++) to[j * to_row + i] = from[i * from_row + j];
    }
}

const WkProducts SUFFIX(wk_products) = {2 * LANES, SUFFIX(product), SUFFIX(copy_rows), SUFFIX(add_rows), SUFFIX(transpose)};

#undef LANES
#undef vec
#undef LOAD_
#undef piece
#undef PICK_
#undef EACH1_
#undef EACH2_
#undef EACH4_
#undef EACH6_
#undef EACH12_
#undef START_
#undef START_HALF_
#undef STEP_
#undef STEP_HALF_
#undef STORE_
#undef TILE_
#undef TWO_PIECES_

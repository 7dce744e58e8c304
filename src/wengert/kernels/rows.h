/* The kernels of wk_rows.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each.
 *
 * Sums run over many lanes, which vector registers hold side by side. This is more accurate than a single running sum, no addition
 * waits for the one before it, and the order of additions is the same on every CPU level.
 */
#include <math.h>
#include <string.h>

#include "vm.h"
#include "dtype.h"
#include "wk_index.h"
#include "wk_rows.h"
#if WK_BITS == 32
#define EXP vm_exp_f32
#define LOG logf
#define SQRT sqrtf
#define FABS fabsf
#else
#define EXP vm_exp_f64
#define LOG log
#define SQRT sqrt
#define FABS fabs
#endif
#define LANES (512 / WK_BITS)
#define vec SUFFIX(vec)
#define half_vec SUFFIX(half_vec)
#define quarter_vec SUFFIX(quarter_vec)
#define mask_vec SUFFIX(mask_vec)

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between static functions only */
#endif
/* A vector as wide as the widest registers. Where registers are narrower, the compiler splits each operation into two or four. */
typedef real vec __attribute__((vector_size(64), aligned(WK_BITS / 8), may_alias));
typedef real half_vec __attribute__((vector_size(32), aligned(WK_BITS / 8), may_alias));
typedef real quarter_vec __attribute__((vector_size(16), aligned(WK_BITS / 8), may_alias));
#if WK_BITS == 32
typedef int32_t mask_vec __attribute__((vector_size(64), aligned(4), may_alias));
#else
typedef int64_t mask_vec __attribute__((vector_size(64), aligned(8), may_alias));
#endif

/* -- sums along rows ----------------------------------------------------------------------------------------------------- */

static inline real SUFFIX(add_lanes)(vec v) {
    const real *lanes = (const real *)&v;
    half_vec h = *(const half_vec *)lanes + *(const half_vec *)(lanes + LANES / 2);
    const real *halves = (const real *)&h;
    quarter_vec q = *(const quarter_vec *)halves + *(const quarter_vec *)(halves + LANES / 4);
#if WK_BITS == 32
    return (q[0] + q[1]) + (q[2] + q[3]);
#else
    return q[0] + q[1];
#endif
}

/* ONE_ reads one element of p, SOME_ reads a vector of LANES. TERM macros take either of them. */
#define ONE_(p, i) ((p)[i])
#define SOME_(p, i) (*(const vec *)((p) + (i)))

/* Set result to the sum of TERM(ONE_, i) over i < n. TERM(SOME_, i) computes LANES terms at once. */
#define SUM_OF(result, n, TERM)                                              \
    do {                                                                     \
        int64_t i_ = 0;                                                      \
        result = 0;                                                          \
        if ((n) >= LANES) {                                                  \
            vec s0_ = TERM(SOME_, 0);                                        \
            i_ = LANES;                                                      \
            if ((n) >= 4 * LANES) {                                          \
                vec s1_ = TERM(SOME_, LANES), s2_ = TERM(SOME_, 2 * LANES), s3_ = TERM(SOME_, 3 * LANES); \
                for (i_ = 4 * LANES; i_ + 4 * LANES <= (n); i_ += 4 * LANES) { \
                    s0_ += TERM(SOME_, i_);                                  \
                    s1_ += TERM(SOME_, i_ + LANES);                          \
                    s2_ += TERM(SOME_, i_ + 2 * LANES);                      \
                    s3_ += TERM(SOME_, i_ + 3 * LANES);                      \
                }                                                            \
                s0_ = (s0_ + s1_) + (s2_ + s3_);                             \
            }                                                                \
            for (; i_ + LANES <= (n); i_ += LANES) s0_ += TERM(SOME_, i_);   \
            result = SUFFIX(add_lanes)(s0_);                                 \
        }                                                                    \
        for (; i_ < (n); i_++) result += TERM(ONE_, i_);                     \
    } while (0)

/* The larger and the smaller of x and y. If either is NaN, the result is NaN. */
#define LARGER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

static inline vec SUFFIX(select)(mask_vec mask, vec x, vec y) { return (vec)((mask & (mask_vec)x) | (~mask & (mask_vec)y)); }
static inline vec SUFFIX(larger)(vec x, vec y) { return SUFFIX(select)((mask_vec)((x > y) | (x != x)), x, y); }
static inline vec SUFFIX(smaller)(vec x, vec y) { return SUFFIX(select)((mask_vec)((x < y) | (x != x)), x, y); }
static inline vec SUFFIX(absolutes)(vec x) { return SUFFIX(select)((mask_vec)(x < 0), -x, x); }

/* Set result to the largest or the smallest of x[0 <= i < n], n > 0. */
#define CHOICE_OF(result, x, n, CHOOSE, choose)                              \
    do {                                                                     \
        int64_t i_ = 1;                                                      \
        result = (x)[0];                                                     \
        if ((n) >= LANES) {                                                  \
            vec m0_ = SOME_(x, 0);                                           \
            i_ = LANES;                                                      \
            if ((n) >= 4 * LANES) {                                          \
                vec m1_ = SOME_(x, LANES), m2_ = SOME_(x, 2 * LANES), m3_ = SOME_(x, 3 * LANES); \
                for (i_ = 4 * LANES; i_ + 4 * LANES <= (n); i_ += 4 * LANES) { \
                    m0_ = choose(SOME_(x, i_), m0_);                         \
                    m1_ = choose(SOME_(x, i_ + LANES), m1_);                 \
                    m2_ = choose(SOME_(x, i_ + 2 * LANES), m2_);             \
                    m3_ = choose(SOME_(x, i_ + 3 * LANES), m3_);             \
                }                                                            \
                m0_ = choose(choose(m3_, m2_), choose(m1_, m0_));            \
            }                                                                \
            for (; i_ + LANES <= (n); i_ += LANES) m0_ = choose(SOME_(x, i_), m0_); \
            result = m0_[0];                                                 \
            for (int j = 1; j < LANES; j++) result = CHOOSE(m0_[j], result); \
        }                                                                    \
        for (; i_ < (n); i_++) result = CHOOSE((x)[i_], result);             \
    } while (0)

static inline real SUFFIX(largest)(const real *x, int64_t n) {
    real result;
    CHOICE_OF(result, x, n, LARGER, SUFFIX(larger));
    return result;
}

#define VALUE_(L, i) L(x, i)
#define SQUARE_(L, i) (L(x, i) * L(x, i))
#define DEVIATION_(L, i) (L(x, i) - off)
#define SQUARED_DEVIATION_(L, i) ((L(x, i) - off) * (L(x, i) - off))
#define ABSOLUTE_(L, i) ABSOLUTE_OF_##L(x, i)
#define ABSOLUTE_OF_ONE_(p, i) FABS(ONE_(p, i))
#define ABSOLUTE_OF_SOME_(p, i) SUFFIX(absolutes)(SOME_(p, i))
#define EACH_ROW for (int64_t r = 0; r < rows; r++, x += step)

static void SUFFIX(reduce_rows)(int kind, const void *x_, int64_t n, int64_t rows, int64_t step, const void *a_, void *out_) {
    const real *x = (const real *)x_, *a = (const real *)a_;
    real *out = (real *)out_;
    switch (kind) {
        case WK_SUM: EACH_ROW SUM_OF(out[r], n, VALUE_); break;
        case WK_SQUARES: EACH_ROW SUM_OF(out[r], n, SQUARE_); break;
        case WK_ABSOLUTES: EACH_ROW SUM_OF(out[r], n, ABSOLUTE_); break;
        case WK_DEVIATIONS: EACH_ROW {
            real off = a[r];
            SUM_OF(out[r], n, DEVIATION_);
        } break;
        case WK_SQUARED_DEVIATIONS: EACH_ROW {
            real off = a[r];
            SUM_OF(out[r], n, SQUARED_DEVIATION_);
        } break;
        case WK_MAX: EACH_ROW out[r] = SUFFIX(largest)(x, n); break;
        case WK_MIN: EACH_ROW CHOICE_OF(out[r], x, n, SMALLER, SUFFIX(smaller)); break;
    }
}

/* -- sums down the columns of a tile ----------------------------------------------------------------------------------- */

/* Add rows in groups of eight, pairwise, then sixteen such sums one after another, then these partial sums. */
#define ADD_DOWN(TERM)                                                                                             \
    do {                                                                                                           \
        real part[WK_TILE];                                                                                        \
        int64_t i = 0;                                                                                             \
        for (int64_t j = 0; j < width; j++) out[j] = part[j] = 0;                                                  \
        for (; i + 8 <= n; i += 8) {                                                                               \
            const real *r = x + i * stride;                                                                        \
            for (int64_t j = 0; j < width; j++) {                                                                  \
                real s0 = TERM(r[j]) + TERM(r[stride + j]), s1 = TERM(r[2 * stride + j]) + TERM(r[3 * stride + j]); \
                real s2 = TERM(r[4 * stride + j]) + TERM(r[5 * stride + j]);                                       \
                real s3 = TERM(r[6 * stride + j]) + TERM(r[7 * stride + j]);                                       \
                part[j] += (s0 + s1) + (s2 + s3);                                                                  \
            }                                                                                                      \
            if (i % 128 == 120) {                                                                                  \
                for (int64_t j = 0; j < width; j++) out[j] += part[j], part[j] = 0;                                \
            }                                                                                                      \
        }                                                                                                          \
        for (; i < n; i++) {                                                                                       \
            for (int64_t j = 0; j < width; j++) part[j] += TERM(x[i * stride + j]);                                \
        }                                                                                                          \
        for (int64_t j = 0; j < width; j++) out[j] += part[j];                                                     \
    } while (0)

/* Walk down four vectors of columns at a time, which stay in registers. */
#define CHOOSE_DOWN(CHOOSE, choose)                                                                                \
    do {                                                                                                           \
        int64_t j = 0;                                                                                             \
        for (; j + 4 * LANES <= width; j += 4 * LANES) {                                                           \
            vec m0 = SOME_(x, j), m1 = SOME_(x, j + LANES), m2 = SOME_(x, j + 2 * LANES), m3 = SOME_(x, j + 3 * LANES); \
            for (int64_t i = 1; i < n; i++) {                                                                      \
                const real *r = x + i * stride + j;                                                                \
                m0 = choose(SOME_(r, 0), m0);                                                                      \
                m1 = choose(SOME_(r, LANES), m1);                                                                  \
                m2 = choose(SOME_(r, 2 * LANES), m2);                                                              \
                m3 = choose(SOME_(r, 3 * LANES), m3);                                                              \
            }                                                                                                      \
            *(vec *)(out + j) = m0, *(vec *)(out + j + LANES) = m1;                                                \
            *(vec *)(out + j + 2 * LANES) = m2, *(vec *)(out + j + 3 * LANES) = m3;                                \
        }                                                                                                          \
        for (int64_t k = j; k < width; k++) out[k] = x[k];                                                         \
        for (int64_t i = 1; i < n; i++) {                                                                          \
            for (int64_t k = j; k < width; k++) out[k] = CHOOSE(x[i * stride + k], out[k]);                        \
        }                                                                                                          \
    } while (0)

#define VALUE_OF_(v) (v)
#define SQUARE_OF_(v) ((v) * (v))
#define ABSOLUTE_OF_(v) FABS(v)
#define DEVIATION_OF_(v) ((v) - a[j])
#define SQUARED_DEVIATION_OF_(v) (((v) - a[j]) * ((v) - a[j]))

static void SUFFIX(reduce_tile)(int kind, const void *x_, int64_t n, int64_t width, int64_t stride, const void *a_, void *out_) {
    const real *restrict x = (const real *)x_, *restrict a = (const real *)a_;
    real *restrict out = (real *)out_;
    switch (kind) {
        case WK_SUM: ADD_DOWN(VALUE_OF_); break;
        case WK_SQUARES: ADD_DOWN(SQUARE_OF_); break;
        case WK_ABSOLUTES: ADD_DOWN(ABSOLUTE_OF_); break;
        case WK_DEVIATIONS: ADD_DOWN(DEVIATION_OF_); break;
        case WK_SQUARED_DEVIATIONS: ADD_DOWN(SQUARED_DEVIATION_OF_); break;
        case WK_MAX: CHOOSE_DOWN(LARGER, SUFFIX(larger)); break;
        case WK_MIN: CHOOSE_DOWN(SMALLER, SUFFIX(smaller)); break;
    }
}

static void SUFFIX(combine)(int kind, void *x_, int64_t n, int64_t width, int64_t stride, void *out_) {
    real *x = (real *)x_, *out = (real *)out_;
    for (int64_t gap = 1; gap < n; gap *= 2) {
        for (int64_t i = 0; i + gap < n; i += 2 * gap) {
            real *p = x + i * stride, *q = p + gap * stride;
            if (kind == WK_SUM) {
                for (int64_t j = 0; j < width; j++) p[j] += q[j];
            } else if (kind == WK_MAX) {
                for (int64_t j = 0; j < width; j++) p[j] = LARGER(q[j], p[j]);
            } else {
                for (int64_t j = 0; j < width; j++) p[j] = SMALLER(q[j], p[j]);
            }
        }
    }
    for (int64_t j = 0; j < width; j++) out[j] = x[j];
}

/* -- softmax ------------------------------------------------------------------------------------------------------------- */

/* exp(x) for x <= 0 or NaN. It leaves out the steps that larger arguments need. */
WK_INLINE real SUFFIX(exp_below)(real x) {
#if WK_BITS == 32
    float k;
    x = x < -104.0f ? -104.0f : x;
    float e = vm_exp_partf(x, &k);
    /* 2**k may be subnormal; 2**(k + 64) is not, and the second product rounds once. */
    return (e + 1.0f) * vm_power_of_2f(k + 64.0f) * 0x1p-64f;
#else
    double k;
    x = x < -746.0 ? -746.0 : x;
    double e = vm_exp_part(x, &k);
    return (e + 1.0) * vm_power_of_2(k + 128.0) * 0x1p-128;
#endif
}

/* Set out to exp(x - high) and return its sum. */
static inline real SUFFIX(exponentials)(const real *restrict x, real high, real *restrict out, int64_t n) {
    real total;
    for (int64_t i = 0; i < n; i++) out[i] = SUFFIX(exp_below)(x[i] - high);
#define OUT_(L, i) L(out, i)
    SUM_OF(total, n, OUT_);
    return total;
}

/* Prefetch the memory of n elements, so that it arrives while something else is computed. */
static inline void SUFFIX(prefetch)(const real *x, int64_t n, int written) {
#ifdef __GNUC__
    for (int64_t i = 0; i < n; i += 64 / (int64_t)sizeof *x) {
        if (written) __builtin_prefetch(x + i, 1, 2);
        else __builtin_prefetch(x + i, 0, 2);
    }
#endif
}

/* Return the sum of exp(x - high). Meanwhile prefetch n elements of `next`, which is read afterwards, and of `out`, which is
 * written. Either may be NULL. Rows shorter than WK_FETCHED are not prefetched: the processor predicts these reads. */
static inline real SUFFIX(sum_of_exponentials)(const real *x, real high, int64_t n, const real *next, const real *out) {
    real part[WK_TILE], total = 0;
    for (int64_t i = 0; i < n; i += WK_TILE) {
        if (next != NULL && n >= WK_FETCHED) SUFFIX(prefetch)(next + i, WK_TILE, 0);
        if (out != NULL && n >= WK_FETCHED) SUFFIX(prefetch)(out + i, WK_TILE, 1);
        total += SUFFIX(exponentials)(x + i, high, part, n - i < WK_TILE ? n - i : WK_TILE);
    }
    return total;
}

static inline void SUFFIX(scale)(real *out, int64_t n, real factor) {
    for (int64_t i = 0; i < n; i++) out[i] *= factor;
}

static void SUFFIX(softmax_rows)(int logs, const void *x_, void *out_, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict x = (const real *)x_ + r * n;
        real *restrict out = (real *)out_ + r * n, high = SUFFIX(largest)(x, n);
        if (logs) {
            real total = LOG(SUFFIX(sum_of_exponentials)(x, high, n, r + 1 < rows ? x + n : NULL, out));
            for (int64_t i = 0; i < n; i++) out[i] = (x[i] - high) - total;
        } else {
            SUFFIX(scale)(out, n, 1 / SUFFIX(exponentials)(x, high, out, n));
        }
    }
}

static void SUFFIX(cross_entropy_rows)(const void *x_, const int64_t *target, void *out_, void *losses, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict x = (const real *)x_ + r * n;
        real *restrict out = (real *)out_ + r * n, high = SUFFIX(largest)(x, n), total = SUFFIX(exponentials)(x, high, out, n);
        SUFFIX(scale)(out, n, 1 / total);
        ((real *)losses)[r] = LOG(total) - (x[wk_index(target + r, n)] - high);
    }
}

static void SUFFIX(logsumexp_rows)(const void *x_, void *out, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const real *x = (const real *)x_ + r * n;
        real high = SUFFIX(largest)(x, n);
        if (FABS(high) <= (WK_BITS == 32 ? (real)3.40282346638528859812e38 : (real)1.7976931348623157e308)) {
            ((real *)out)[r] = LOG(SUFFIX(sum_of_exponentials)(x, high, n, r + 1 < rows ? x + n : NULL, NULL)) + high;
        } else {
            ((real *)out)[r] = high; /* equals log(sum(exp(x))): log(inf), log(0), or NaN */
        }
    }
}

static void SUFFIX(softmax_tile)(int logs, const void *x_, void *out_, int64_t n, int64_t width, int64_t stride) {
    const real *restrict x = (const real *)x_;
    real *restrict out = (real *)out_, high[WK_TILE], total[WK_TILE];
    for (int64_t j = 0; j < width; j++) high[j] = x[j], total[j] = 0;
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < width; j++) high[j] = LARGER(x[i * stride + j], high[j]);
    }
    for (int64_t i = 0; i < n; i++) {
        const real *restrict r = x + i * stride;
        real *restrict o = out + i * stride;
        if (logs) {
            for (int64_t j = 0; j < width; j++) total[j] += SUFFIX(exp_below)(r[j] - high[j]);
        } else {
            for (int64_t j = 0; j < width; j++) total[j] += (o[j] = SUFFIX(exp_below)(r[j] - high[j]));
        }
    }
    if (logs) {
        for (int64_t j = 0; j < width; j++) total[j] = LOG(total[j]);
    }
    if (!logs) {
        for (int64_t j = 0; j < width; j++) total[j] = 1 / total[j];
    }
    for (int64_t i = 0; i < n; i++) {
        const real *restrict r = x + i * stride;
        real *restrict o = out + i * stride;
        if (logs) {
            for (int64_t j = 0; j < width; j++) o[j] = (r[j] - high[j]) - total[j];
        } else {
            for (int64_t j = 0; j < width; j++) o[j] *= total[j];
        }
    }
}

static void SUFFIX(softmax_cotangent_rows)(int logs, const void *ct_, const void *y_, void *out_, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict ct = (const real *)ct_ + r * n, *restrict y = (const real *)y_ + r * n;
        real *restrict out = (real *)out_ + r * n, total;
#define CT_(L, i) L(ct, i)
#define CT_Y_(L, i) (L(ct, i) * L(y, i))
        if (logs) {
            SUM_OF(total, n, CT_);
            for (int64_t i = 0; i < n; i++) out[i] = ct[i] - SUFFIX(exp_below)(y[i]) * total;
        } else {
            SUM_OF(total, n, CT_Y_);
            for (int64_t i = 0; i < n; i++) out[i] = ct[i] * y[i] - y[i] * total;
        }
    }
}

static void SUFFIX(log_softmax_base_rows)(const void *sums, const void *y_, void *out_, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict y = (const real *)y_ + r * n;
        real *restrict out = (real *)out_ + r * n, total = ((const real *)sums)[r];
        for (int64_t i = 0; i < n; i++) out[i] = 0 - SUFFIX(exp_below)(y[i]) * total;
    }
}

static void SUFFIX(softmax_cotangent_tile)(int logs, const void *ct_, const void *y_, void *out_, int64_t n, int64_t width,
                                           int64_t stride) {
    const real *restrict ct = (const real *)ct_, *restrict y = (const real *)y_;
    real *restrict out = (real *)out_, total[WK_TILE];
    for (int64_t j = 0; j < width; j++) total[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        const real *restrict c = ct + i * stride, *restrict r = y + i * stride;
        if (logs) {
            for (int64_t j = 0; j < width; j++) total[j] += c[j];
        } else {
            for (int64_t j = 0; j < width; j++) total[j] += c[j] * r[j];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const real *restrict c = ct + i * stride, *restrict r = y + i * stride;
        real *restrict o = out + i * stride;
        if (logs) {
            for (int64_t j = 0; j < width; j++) o[j] = c[j] - SUFFIX(exp_below)(r[j]) * total[j];
        } else {
            for (int64_t j = 0; j < width; j++) o[j] = c[j] * r[j] - r[j] * total[j];
        }
    }
}

/* -- layer norm ---------------------------------------------------------------------------------------------------------- */

static void SUFFIX(standardize_rows)(const void *x_, const void *weight_, const void *bias_, double eps, int64_t n, int64_t rows,
                                     void *out_, void *means, void *rstds) {
    const real *restrict weight = (const real *)weight_, *restrict bias = (const real *)bias_;
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict x = (const real *)x_ + r * n;
        real *restrict out = (real *)out_ + r * n, off, variance;
        SUM_OF(off, n, VALUE_);
        off /= (real)n;
        SUM_OF(variance, n, SQUARED_DEVIATION_);
        real rstd = 1 / SQRT(variance / (real)n + (real)eps);
        if (weight != NULL && bias != NULL) {
            for (int64_t i = 0; i < n; i++) out[i] = (x[i] - off) * rstd * weight[i] + bias[i];
        } else if (weight != NULL) {
            for (int64_t i = 0; i < n; i++) out[i] = (x[i] - off) * rstd * weight[i];
        } else if (bias != NULL) {
            for (int64_t i = 0; i < n; i++) out[i] = (x[i] - off) * rstd + bias[i];
        } else {
            for (int64_t i = 0; i < n; i++) out[i] = (x[i] - off) * rstd;
        }
        ((real *)means)[r] = off;
        ((real *)rstds)[r] = rstd;
    }
}

#define CT_WEIGHT_(L, i) (L(ct, i) * L(weight, i))
#define CT_H_(L, i) (L(ct, i) * ((L(x, i) - mean) * rstd))
#define CT_WEIGHT_H_(L, i) (L(ct, i) * L(weight, i) * ((L(x, i) - mean) * rstd))

/* Set out to the cotangent of one row. */
static inline void SUFFIX(standardize_cotangent)(const real *restrict ct, const real *restrict x, real mean, real rstd,
                                                 const real *restrict weight, int64_t n, real *restrict out) {
    real of_mean, of_h;
    if (weight != NULL) {
        SUM_OF(of_mean, n, CT_WEIGHT_);
        SUM_OF(of_h, n, CT_WEIGHT_H_);
    } else {
        SUM_OF(of_mean, n, CT_);
        SUM_OF(of_h, n, CT_H_);
    }
    of_mean /= (real)n;
    of_h /= (real)n;
    if (weight != NULL) {
        for (int64_t i = 0; i < n; i++) out[i] = (ct[i] * weight[i] - of_mean - (x[i] - mean) * rstd * of_h) * rstd;
    } else {
        for (int64_t i = 0; i < n; i++) out[i] = (ct[i] - of_mean - (x[i] - mean) * rstd * of_h) * rstd;
    }
}

static void SUFFIX(standardize_cotangent_rows)(const void *ct_, const void *x_, const void *means, const void *rstds,
                                               const void *weight, int64_t n, int64_t rows, void *out, void *of_weight_,
                                               void *of_bias_) {
    real *restrict of_weight = (real *)of_weight_, *restrict of_bias = (real *)of_bias_;
    for (int64_t r = 0; r < rows; r++) {
        const real *restrict ct = (const real *)ct_ + r * n, *restrict x = (const real *)x_ + r * n;
        real mean = ((const real *)means)[r], rstd = ((const real *)rstds)[r];
        if (out != NULL) SUFFIX(standardize_cotangent)(ct, x, mean, rstd, (const real *)weight, n, (real *)out + r * n);
        if (of_weight != NULL) {
            for (int64_t i = 0; i < n; i++) of_weight[i] += ct[i] * ((x[i] - mean) * rstd);
        }
        if (of_bias != NULL) {
            for (int64_t i = 0; i < n; i++) of_bias[i] += ct[i];
        }
    }
}

/* -- products of small matrices ------------------------------------------------------------------------------------------ */

/* Compute rows i <= r < i + ROWS_ of out. Only the first `width` bytes, at most LANES columns, are stored. The factors are rows of
 * x and LANES columns of y. */
#define MULTIPLY_ROWS(ROWS_)                                                              \
    do {                                                                                  \
        vec sums_[ROWS_] = {{0}};                                                         \
        const real *p_ = x + i * row;                                                     \
        for (int64_t l_ = 0; l_ < k; l_++, p_ += column) {                                \
            vec b_ = SOME_(y, l_ * y_row);                                                \
            for (int r_ = 0; r_ < ROWS_; r_++) sums_[r_] += p_[r_ * row] * b_;            \
        }                                                                                 \
        for (int r_ = 0; r_ < ROWS_; r_++) memcpy(out + (i + r_) * out_row, &sums_[r_], width); \
    } while (0)

static inline void SUFFIX(multiply_by)(const real *x, int64_t row, int64_t column, const real *y, int64_t y_row, int64_t m,
                                       int64_t k, size_t width, real *out, int64_t out_row) {
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) MULTIPLY_ROWS(4);
    for (; i < m; i++) MULTIPLY_ROWS(1);
}

static void SUFFIX(multiply)(const void *x, int64_t row, int64_t column, const void *y, int64_t y_row, int64_t m, int64_t k,
                             int64_t n, void *out, int64_t out_row) {
    if (n == LANES) { /* a width known to the compiler makes each copy one store */
        SUFFIX(multiply_by)(x, row, column, y, y_row, m, k, LANES * sizeof(real), out, out_row);
    } else {
        SUFFIX(multiply_by)(x, row, column, y, y_row, m, k, (size_t)n * sizeof(real), out, out_row);
    }
}

#define PRODUCT_(get, i) (get(row_, i) * get(y, i))

static void SUFFIX(multiply_vector)(const void *x_, int64_t row, const void *y_, int64_t m, int64_t k, void *out_) {
    const real *x = (const real *)x_, *y = (const real *)y_;
    for (int64_t i = 0; i < m; i++) {
        const real *row_ = x + i * row;
        real sum;
        SUM_OF(sum, k, PRODUCT_);
        ((real *)out_)[i] = sum;
    }
}

static void SUFFIX(finish)(void *out_, int64_t out_row, int64_t m, int64_t n, const void *bias_, void *target_, int64_t target_row,
                           double rate_) {
    const real *bias = (const real *)bias_, rate = (real)rate_;
    for (int64_t i = 0; i < m; i++) {
        real *restrict out = (real *)out_ + i * out_row, *restrict target = (real *)target_ + i * target_row;
        for (int64_t j = 0; bias_ != NULL && j < n; j++) out[j] += bias[j];
        for (int64_t j = 0; target_ != NULL && j < n; j++) target[j] -= rate * out[j];
    }
}

/* -- triangular systems -------------------------------------------------------------------------------------------------- */

/* Solve for one row of x after another. Subtract a[i, j] times row j from row i for every solved row j, then divide by a[i, i]. A
 * row is WIDTH_ vectors long. */
#define SOLVE_ROWS(WIDTH_)                                                                \
    do {                                                                                  \
        for (int64_t done_ = 0; done_ < n; done_++) {                                     \
            const int64_t i_ = upper ? n - 1 - done_ : done_, first_ = upper ? i_ + 1 : 0; \
            vec sums_[WIDTH_];                                                            \
            real *row_ = x + i_ * (WIDTH_) * LANES;                                       \
            const real *from_ = x + first_ * (WIDTH_) * LANES, *p_ = a + i_ * row + first_ * column; \
            for (int v_ = 0; v_ < (WIDTH_); v_++) sums_[v_] = SOME_(row_, v_ * LANES);     \
            for (int64_t j_ = 0; j_ < done_; j_++, p_ += column, from_ += (WIDTH_) * LANES) { \
                for (int v_ = 0; v_ < (WIDTH_); v_++) sums_[v_] -= *p_ * SOME_(from_, v_ * LANES); \
            }                                                                             \
            const real diagonal_ = unit ? 1 : a[i_ * (row + column)];                     \
            for (int v_ = 0; v_ < (WIDTH_); v_++) *(vec *)(row_ + v_ * LANES) = sums_[v_] / diagonal_; \
        }                                                                                 \
    } while (0)

static void SUFFIX(solve_triangular)(const void *a_, int64_t row, int64_t column, int64_t n, int upper, int unit, int width,
                                     void *x_) {
    const real *a = (const real *)a_;
    real *x = (real *)x_;
    if (width == 1) SOLVE_ROWS(1);
    else SOLVE_ROWS(4);
}

const WkRows SUFFIX(wk_rows) = {
    SUFFIX(reduce_rows), SUFFIX(reduce_tile), SUFFIX(combine),
    SUFFIX(softmax_rows), SUFFIX(softmax_tile), SUFFIX(logsumexp_rows), SUFFIX(cross_entropy_rows),
    SUFFIX(softmax_cotangent_rows), SUFFIX(log_softmax_base_rows), SUFFIX(softmax_cotangent_tile),
    SUFFIX(standardize_rows), SUFFIX(standardize_cotangent_rows),
    SUFFIX(multiply), SUFFIX(multiply_vector), SUFFIX(finish), SUFFIX(solve_triangular),
};

#undef EXP
#undef LOG
#undef SQRT
#undef FABS
#undef LANES
#undef vec
#undef half_vec
#undef quarter_vec
#undef mask_vec
#undef ONE_
#undef SOME_
#undef SUM_OF
#undef LARGER
#undef SMALLER
#undef CHOICE_OF
#undef VALUE_
#undef SQUARE_
#undef DEVIATION_
#undef SQUARED_DEVIATION_
#undef ABSOLUTE_
#undef ABSOLUTE_OF_ONE_
#undef ABSOLUTE_OF_SOME_
#undef EACH_ROW
#undef ADD_DOWN
#undef CHOOSE_DOWN
#undef VALUE_OF_
#undef SQUARE_OF_
#undef ABSOLUTE_OF_
#undef DEVIATION_OF_
#undef SQUARED_DEVIATION_OF_
#undef OUT_
#undef CT_
#undef CT_Y_
#undef CT_WEIGHT_
#undef CT_H_
#undef CT_WEIGHT_H_
#undef MULTIPLY_ROWS
#undef PRODUCT_
#undef SOLVE_ROWS

/* The kernels of wk_distances.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each. */
#include <math.h>

#include "dtype.h"
#include "wk_distances.h"
#if WK_BITS == 32
#define SQRT sqrtf
#define FABS fabsf
#else
#define SQRT sqrt
#define FABS fabs
#endif
#define LANES (256 / WK_BITS) /* short vectors, since rows are short */
#define vec SUFFIX(distances_vec)

typedef real vec __attribute__((vector_size(32), aligned(WK_BITS / 8), may_alias));
#define SOME_(p, i) (*(const vec *)((p) + (i)))

static inline real SUFFIX(distances_sum)(vec v) {
    real sum = 0;
    for (int j = 0; j < LANES; j++) sum += v[j];
    return sum;
}

static inline real SUFFIX(sum_of_squares)(const real *x, const real *y, int64_t m) {
    int64_t i = 0;
    real sum = 0;
    if (m >= LANES) {
        vec s0 = {0}, s1 = {0};
        for (; i + 2 * LANES <= m; i += 2 * LANES) {
            vec d0 = SOME_(x, i) - SOME_(y, i), d1 = SOME_(x, i + LANES) - SOME_(y, i + LANES);
            s0 += d0 * d0, s1 += d1 * d1;
        }
        for (; i + LANES <= m; i += LANES) {
            vec d0 = SOME_(x, i) - SOME_(y, i);
            s0 += d0 * d0;
        }
        sum = SUFFIX(distances_sum)(s0 + s1);
    }
    for (; i < m; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

static void SUFFIX(distances)(int kind, const void *x_, const void *y_, int64_t count, int64_t m, void *out_) {
    const real *x = (const real *)x_, *y = (const real *)y_;
    real *out = (real *)out_;
    for (int64_t r = 0; r < count; r++, y += m) {
        real sum = 0;
        if (kind == WK_EUCLIDEAN) {
            sum = SQRT(SUFFIX(sum_of_squares)(x, y, m));
        } else if (kind == WK_MANHATTAN) {
            for (int64_t i = 0; i < m; i++) sum += FABS(x[i] - y[i]);
        } else {
            for (int64_t i = 0; i < m; i++) {
                const real size = FABS(x[i] - y[i]);
                sum = size > sum || size != size ? size : sum;
            }
        }
        out[r] = sum;
    }
}

static void SUFFIX(slopes)(int kind, const void *x_, const void *y_, int64_t count, int64_t m, const void *ct_, const void *lengths_,
                           void *out_) {
    const real *restrict x = (const real *)x_, *restrict y = (const real *)y_;
    const real *ct = (const real *)ct_, *lengths = (const real *)lengths_;
    real *restrict out = (real *)out_;
    for (int64_t r = 0; r < count; r++, y += m) {
        const real given = ct[r], length = lengths[r];
        if (length == 0) continue; /* equal rows, or a row and itself, which may hold infinities */
        if (kind == WK_EUCLIDEAN) {
            const real factor = given / length;
            for (int64_t i = 0; i < m; i++) out[i] += factor * (x[i] - y[i]);
        } else {
            for (int64_t i = 0; i < m; i++) {
                const real off = x[i] - y[i], sign = off > 0 ? 1 : off < 0 ? -1 : 0; /* 0 for NaN, as in sgn() */
                const real share = kind == WK_MANHATTAN || FABS(off) == length ? sign : sign * 0;
                out[i] += given * share;
            }
        }
    }
}

const WkDistances SUFFIX(wk_distances) = {SUFFIX(distances), SUFFIX(slopes)};

#undef SQRT
#undef FABS
#undef LANES
#undef vec
#undef SOME_

/* The kernels of wk_norms.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each.
 *
 * Sums run over the lanes of vectors, FLUSH elements at a time. Their results are added in float64.
 */
#include <math.h>
#include <stddef.h>

#include "dtype.h"
#include "wk_norms.h"
#define LANES (512 / WK_BITS)
#define vec SUFFIX(norms_vec)

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between static functions only */
#endif
typedef real vec __attribute__((vector_size(64), aligned(WK_BITS / 8), may_alias));

#define SOME_(p, i) (*(const vec *)((p) + (i)))
#define FLUSH 2048 /* number of elements summed before their sum goes into float64 */

static inline double SUFFIX(norms_add_lanes)(vec v) {
    double sum = 0;
    for (int j = 0; j < LANES; j++) sum += v[j];
    return sum;
}

/* Sum x - off, or its square, over a run. */
#define ADD_RUN(TERM)                                                                        \
    do {                                                                                     \
        int64_t i = 0;                                                                       \
        while (i + LANES <= n) {                                                             \
            int64_t end = n - i < FLUSH ? n : i + FLUSH;                                     \
            vec s0 = {0}, s1 = {0};                                                          \
            for (; i + 2 * LANES <= end; i += 2 * LANES) {                                   \
                vec d0 = SOME_(x, i) - off, d1 = SOME_(x, i + LANES) - off;                  \
                s0 += TERM(d0), s1 += TERM(d1);                                              \
            }                                                                                \
            for (; i + LANES <= end; i += LANES) {                                           \
                vec d0 = SOME_(x, i) - off;                                                  \
                s0 += TERM(d0);                                                              \
            }                                                                                \
            sum += SUFFIX(norms_add_lanes)(s0 + s1);                                         \
        }                                                                                    \
        for (; i < n; i++) {                                                                 \
            real d0 = x[i] - off;                                                            \
            sum += (double)(TERM(d0));                                                       \
        }                                                                                    \
    } while (0)
#define VALUE_(d) d
#define SQUARE_(d) ((d) * (d))

static double SUFFIX(sum_run)(const real *x, int64_t n) {
    double sum = 0;
    const real off = 0;
    ADD_RUN(VALUE_);
    return sum;
}

static double SUFFIX(squares_run)(const real *x, int64_t n, real off) {
    double sum = 0;
    ADD_RUN(SQUARE_);
    return sum;
}

/* Sum ct and ct * (x - mean) over a run. */
static void SUFFIX(cotangent_sums)(const real *ct, const real *x, int64_t n, real mean, double *of_bias, double *of_off) {
    double sum = 0, product = 0;
    int64_t i = 0;
    while (i + LANES <= n) {
        int64_t end = n - i < FLUSH ? n : i + FLUSH;
        vec s0 = {0}, s1 = {0}, p0 = {0}, p1 = {0};
        for (; i + 2 * LANES <= end; i += 2 * LANES) {
            vec c0 = SOME_(ct, i), c1 = SOME_(ct, i + LANES);
            s0 += c0, s1 += c1;
            p0 += c0 * (SOME_(x, i) - mean), p1 += c1 * (SOME_(x, i + LANES) - mean);
        }
        for (; i + LANES <= end; i += LANES) {
            s0 += SOME_(ct, i);
            p0 += SOME_(ct, i) * (SOME_(x, i) - mean);
        }
        sum += SUFFIX(norms_add_lanes)(s0 + s1);
        product += SUFFIX(norms_add_lanes)(p0 + p1);
    }
    for (; i < n; i++) {
        sum += (double)ct[i];
        product += (double)(ct[i] * (x[i] - mean));
    }
    *of_bias = sum, *of_off = product;
}

static void SUFFIX(normalize_runs)(const WkNormTask *t, double eps) {
    const real *x = (const real *)t->x, *weight = (const real *)t->weight, *bias = (const real *)t->bias;
    const double count = (double)(t->runs * t->n);
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < t->runs; r++) sum += SUFFIX(sum_run)(x + r * t->step, t->n);
    const real mean = (real)(sum / count);
    for (int64_t r = 0; r < t->runs; r++) squares += SUFFIX(squares_run)(x + r * t->step, t->n, mean);
    const real rstd = (real)(1 / sqrt(squares / count + eps));
    for (int64_t r = 0; r < t->runs; r++) {
        const real *restrict from = x + r * t->step;
        real *restrict to = (real *)t->out + r * t->step;
        const real factor = weight != NULL ? weight[r * t->weight_step] : 1, shift = bias != NULL ? bias[r * t->weight_step] : 0;
        for (int64_t i = 0; i < t->n; i++) to[i] = (from[i] - mean) * rstd * factor + shift;
    }
    *(real *)t->mean = mean, *(real *)t->rstd = rstd;
}

static void SUFFIX(normalize_runs_cotangent)(const WkNormTask *t) {
    const real *ct = (const real *)t->ct, *x = (const real *)t->x, *weight = (const real *)t->weight;
    const real mean = *(const real *)t->mean, rstd = *(const real *)t->rstd;
    const double count = (double)(t->runs * t->n);
    double of_mean = 0, of_h = 0;
    for (int64_t r = 0; r < t->runs; r++) {
        double sum, product, w = weight != NULL ? (double)weight[r * t->weight_step] : 1;
        SUFFIX(cotangent_sums)(ct + r * t->step, x + r * t->step, t->n, mean, &sum, &product);
        product *= (double)rstd;
        t->of_bias[r * t->sums_step] = sum, t->of_weight[r * t->sums_step] = product;
        of_mean += w * sum, of_h += w * product;
    }
    const real constant = (real)(of_mean / count * (double)rstd), slope = (real)(of_h / count * (double)rstd);
    for (int64_t r = 0; r < t->runs; r++) {
        const real *restrict c = ct + r * t->step, *restrict from = x + r * t->step;
        real *restrict to = (real *)t->out + r * t->step;
        const real factor = weight != NULL ? rstd * weight[r * t->weight_step] : rstd;
        for (int64_t i = 0; i < t->n; i++) to[i] = c[i] * factor - constant - (from[i] - mean) * rstd * slope;
    }
}

/* -- columns: channels with few elements per item, side by side ------------------------------------------------------------- */

/* Set sums[j] to the sum of TERM(i, j) over all rows i. Sums of 128 rows go into float64. */
#define ADD_COLUMNS(sums, TERM)                                                              \
    do {                                                                                     \
        for (int64_t j = 0; j < width; j++) sums[j] = 0;                                     \
        for (int64_t first = 0; first < t->runs; first += 128) {                             \
            real part[WK_NORM_COLUMNS] = {0};                                                \
            int64_t last = t->runs - first < 128 ? t->runs : first + 128;                    \
            for (int64_t i = first; i < last; i++) {                                         \
                for (int64_t j = 0; j < width; j++) part[j] += TERM(i * t->step + j);        \
            }                                                                                \
            for (int64_t j = 0; j < width; j++) sums[j] += (double)part[j];                  \
        }                                                                                    \
    } while (0)
#define X_(i) x[i]
#define SQUARED_DEVIATION_(i) ((x[i] - mean[j]) * (x[i] - mean[j]))
#define CT_(i) ct[i]
#define CT_DEVIATION_(i) (ct[i] * (x[i] - mean[j]))

/* Sum neighbouring columns of one channel, in place. */
static void SUFFIX(join_columns)(double *sums, int64_t width, int64_t inner) {
    for (int64_t c = 0; c * inner < width; c++) {
        double sum = 0;
        for (int64_t k = 0; k < inner; k++) sum += sums[c * inner + k];
        sums[c] = sum;
    }
}

static void SUFFIX(normalize_columns)(const WkNormTask *t, double eps) {
    const real *restrict x = (const real *)t->x, *weight = (const real *)t->weight, *bias = (const real *)t->bias;
    real *restrict out = (real *)t->out, *means = (real *)t->mean, *rstds = (real *)t->rstd;
    const int64_t inner = t->n, width = t->channels * inner;
    const double count = (double)(t->runs * inner);
    double sums[WK_NORM_COLUMNS];
    real mean[WK_NORM_COLUMNS], rstd[WK_NORM_COLUMNS], factor[WK_NORM_COLUMNS], shift[WK_NORM_COLUMNS];
    ADD_COLUMNS(sums, X_);
    SUFFIX(join_columns)(sums, width, inner);
    for (int64_t c = 0; c < t->channels; c++) means[c] = (real)(sums[c] / count);
    for (int64_t j = 0; j < width; j++) mean[j] = means[j / inner];
    ADD_COLUMNS(sums, SQUARED_DEVIATION_);
    SUFFIX(join_columns)(sums, width, inner);
    for (int64_t c = 0; c < t->channels; c++) rstds[c] = (real)(1 / sqrt(sums[c] / count + eps));
    for (int64_t j = 0; j < width; j++) {
        rstd[j] = rstds[j / inner];
        factor[j] = weight != NULL ? weight[j / inner] : 1;
        shift[j] = bias != NULL ? bias[j / inner] : 0;
    }
    for (int64_t i = 0; i < t->runs; i++) {
        const int64_t at = i * t->step;
        for (int64_t j = 0; j < width; j++) out[at + j] = (x[at + j] - mean[j]) * rstd[j] * factor[j] + shift[j];
    }
}

static void SUFFIX(normalize_columns_cotangent)(const WkNormTask *t) {
    const real *restrict ct = (const real *)t->ct, *restrict x = (const real *)t->x, *weight = (const real *)t->weight;
    const real *means = (const real *)t->mean, *rstds = (const real *)t->rstd;
    real *restrict out = (real *)t->out;
    const int64_t inner = t->n, width = t->channels * inner;
    const double count = (double)(t->runs * inner);
    double sums[WK_NORM_COLUMNS], products[WK_NORM_COLUMNS];
    real mean[WK_NORM_COLUMNS], rstd[WK_NORM_COLUMNS], factor[WK_NORM_COLUMNS], constant[WK_NORM_COLUMNS], slope[WK_NORM_COLUMNS];
    for (int64_t j = 0; j < width; j++) mean[j] = means[j / inner], rstd[j] = rstds[j / inner];
    ADD_COLUMNS(sums, CT_);
    ADD_COLUMNS(products, CT_DEVIATION_);
    SUFFIX(join_columns)(sums, width, inner);
    SUFFIX(join_columns)(products, width, inner);
    for (int64_t c = 0; c < t->channels; c++) {
        t->of_bias[c] = sums[c], t->of_weight[c] = products[c] * (double)rstds[c];
    }
    for (int64_t j = 0; j < width; j++) {
        const int64_t c = j / inner;
        factor[j] = weight != NULL ? rstd[j] * weight[c] : rstd[j];
        constant[j] = (real)(t->of_bias[c] / count * (double)factor[j]);
        slope[j] = (real)(t->of_weight[c] / count * (double)factor[j]);
    }
    for (int64_t i = 0; i < t->runs; i++) {
        const int64_t at = i * t->step;
        for (int64_t j = 0; j < width; j++) {
            out[at + j] = ct[at + j] * factor[j] - constant[j] - (x[at + j] - mean[j]) * rstd[j] * slope[j];
        }
    }
}

const WkNorms SUFFIX(wk_norms) = {
    SUFFIX(normalize_runs), SUFFIX(normalize_columns), SUFFIX(normalize_runs_cotangent), SUFFIX(normalize_columns_cotangent),
};

#undef LANES
#undef vec
#undef SOME_
#undef FLUSH
#undef ADD_RUN
#undef VALUE_
#undef SQUARE_
#undef ADD_COLUMNS
#undef X_
#undef SQUARED_DEVIATION_
#undef CT_
#undef CT_DEVIATION_

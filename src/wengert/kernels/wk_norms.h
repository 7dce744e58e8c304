/* Kernels of batch and group norm, one table a CPU level and dtype: norms.h has them, wk_norms.c drives them.
 *
 * A task is what one mean and variance are of, or some neighbouring channels of few elements each. Steps are in elements.
 */
#ifndef WK_NORMS_H
#define WK_NORMS_H
#include <stdint.h>

enum { WK_NORM_COLUMNS = 64 }; /* columns of a task at most: channels * n */

typedef struct {
    const char *ct, *x, *weight, *bias;  /* weight and bias may be NULL */
    char *out, *mean, *rstd;             /* means and their like: one a channel of the task, or one a task */
    double *of_weight, *of_bias;         /* of each run, or each channel */
    int64_t runs, n, step;               /* so many runs of n elements, each step after the other */
    int64_t weight_step, sums_step;      /* from one run to the next */
    int64_t channels;                    /* of columns: a run is so many channels of n elements */
} WkNormTask;

typedef struct {
    /* out = (x - mean) * rstd * weight + bias. Stores mean and rstd. */
    void (*runs)(const WkNormTask *task, double eps);
    void (*columns)(const WkNormTask *task, double eps);
    /* out = the cotangent of x; of_weight, of_bias: sums of ct * h and of ct, h being the normalised x. */
    void (*runs_cotangent)(const WkNormTask *task);
    void (*columns_cotangent)(const WkNormTask *task);
} WkNorms;

extern const WkNorms wk_norms_base_f32, wk_norms_base_f64, wk_norms_v3_f32, wk_norms_v3_f64, wk_norms_v4_f32, wk_norms_v4_f64;
#endif

/* Kernels of batch and group norm, one table for each CPU level and dtype. norms.h defines them, wk_norms.c drives them.
 *
 * A task is the set of elements with one mean and variance, or some neighbouring channels of few elements each. Steps are in
 * elements.
 */
#ifndef WK_NORMS_H
#define WK_NORMS_H
#include <stdint.h>

enum { WK_NORM_COLUMNS = 64 }; /* most columns of a task: channels * n */

typedef struct {
    const char *ct, *x, *weight, *bias;  /* weight and bias may be NULL */
    char *out, *mean, *rstd;             /* mean and rstd: one number per channel of the task, or one per task */
    double *of_weight, *of_bias;         /* one number per run, or per channel */
    int64_t runs, n, step;               /* `runs` runs of n elements, `step` apart */
    int64_t weight_step, sums_step;      /* from one run to the next */
    int64_t channels;                    /* for columns: a run is `channels` channels of n elements */
} WkNormTask;

typedef struct {
    /* out = (x - mean) * rstd * weight + bias. Stores mean and rstd. */
    void (*runs)(const WkNormTask *task, double eps);
    void (*columns)(const WkNormTask *task, double eps);
    /* Set out to the cotangent of x, of_weight to sums of ct * h and of_bias to sums of ct, where h is the normalised x. */
    void (*runs_cotangent)(const WkNormTask *task);
    void (*columns_cotangent)(const WkNormTask *task);
} WkNorms;

extern const WkNorms wk_norms_base_f32, wk_norms_base_f64, wk_norms_v3_f32, wk_norms_v3_f64, wk_norms_v4_f32, wk_norms_v4_f64;
#endif

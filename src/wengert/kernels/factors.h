/* The kernels of wk_factors.h for one dtype (WK_BITS) and CPU level (WK_LEVEL). Included once for each. */
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "wk_factors.h"

/* Apply I - tau v v^T to x: (m, n), whose rows are `step` apart. v[0] counts as 1; v[1 <= i < m] lie from_step apart. */
static void SUFFIX(reflect)(real *x, int64_t m, int64_t n, int64_t step, const real *v, int64_t from_step, real tau, real *restrict w) {
    memcpy(w, x, (size_t)n * sizeof(real));
    int64_t i = 1;
    for (; i + 4 <= m; i += 4) {
        const real *restrict r = x + i * step, *p = v + i * from_step;
        const real v0 = p[0], v1 = p[from_step], v2 = p[2 * from_step], v3 = p[3 * from_step];
        for (int64_t j = 0; j < n; j++) {
            w[j] += (v0 * r[j] + v1 * r[step + j]) + (v2 * r[2 * step + j] + v3 * r[3 * step + j]);
        }
    }
    for (; i < m; i++) {
        const real *restrict r = x + i * step;
        const real v0 = v[i * from_step];
        for (int64_t j = 0; j < n; j++) w[j] += v0 * r[j];
    }
    for (int64_t j = 0; j < n; j++) w[j] *= tau;
    for (int64_t j = 0; j < n; j++) x[j] -= w[j];
    for (i = 1; i < m; i++) {
        real *restrict r = x + i * step;
        const real v0 = v[i * from_step];
        for (int64_t j = 0; j < n; j++) r[j] -= v0 * w[j];
    }
}

/* Householder QR, as in LAPACK's geqr2 and org2r. */
static void SUFFIX(qr)(void *a_, int64_t m, int64_t n, void *q_, void *r_, void *work_) {
    real *a = (real *)a_, *q = (real *)q_, *r = (real *)r_, *w = (real *)work_;
    const int64_t k = m < n ? m : n;
    real *taus = w + n;
    for (int64_t j = 0; j < k; j++) {
        real *x = a + j * n + j;
        double squares = 0;
        for (int64_t i = 1; i < m - j; i++) squares += (double)x[i * n] * (double)x[i * n];
        taus[j] = 0;
        if (squares == 0) continue;
        const double alpha = (double)x[0], beta = -copysign(sqrt(alpha * alpha + squares), alpha);
        const real scale = (real)(1 / (alpha - beta));
        for (int64_t i = 1; i < m - j; i++) x[i * n] *= scale;
        taus[j] = (real)((beta - alpha) / beta);
        if (j + 1 < n) SUFFIX(reflect)(x + 1, m - j, n - j - 1, n, x, n, taus[j], w);
        x[0] = (real)beta;
    }
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j < i; j++) r[i * n + j] = 0;
        for (int64_t j = i; j < n; j++) r[i * n + j] = a[i * n + j];
    }
    memset(q, 0, (size_t)(m * k) * sizeof(real));
    for (int64_t j = 0; j < k; j++) q[j * k + j] = 1;
    for (int64_t j = k - 1; j >= 0; j--) {
        if (taus[j] != 0) SUFFIX(reflect)(q + j * k + j, m - j, k - j, k, a + j * n + j, n, taus[j], w);
    }
}

const WkFactors SUFFIX(wk_factors) = {SUFFIX(qr)};

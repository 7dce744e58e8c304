/* Samplers of gamma, Poisson and binomial distributions by rejection. samplers.py has the same in Python, and the sources.
 *
 * The file that includes this one defines source_t, draw_uniform(source), a number of [0, 1), and draw_normal(source), one of the
 * standard normal distribution. wk_random.c draws from bit generators of NumPy, and kernels of devices from backends/philox.py.
 * WK_SAMPLER says what kind of function they are. */

/* inverse: 1 / a, as the dtype of a gives it */
WK_SAMPLER double draw_gamma(source_t *source, double a, double inverse) {
    if (!(a > 0 && a < INFINITY)) return a;
    double scale = 1;
    if (a < 1) {
        scale = pow(1 - draw_uniform(source), inverse);
        a += 1;
    }
    double d = a - (double)(1.0f / 3.0f), c = 1 / sqrt(9 * d);
    for (;;) {
        double x, y;
        do {
            x = draw_normal(source);
            y = 1 + c * x;
        } while (y <= 0);
        double v = y * y * y, u = 1 - draw_uniform(source), square = x * x;
        if (u < 1 - 0.0331 * square * square || log(u) < 0.5 * square + d * (1 - v + log(v))) return scale * d * v;
    }
}

WK_SAMPLER double draw_poisson(source_t *source, double rate, double unused) {
    (void)unused;
    if (!(rate > 0 && rate < INFINITY)) return rate;
    if (rate < 10) {
        double limit = exp(-rate), product = draw_uniform(source), count = 0;
        for (; product > limit; count++) product *= draw_uniform(source);
        return count;
    }
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), certain = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = draw_uniform(source) - 0.5, v = draw_uniform(source), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= certain) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= k * log(rate) - rate - lgamma(k + 1)) return k;
    }
}

/* log(k!) minus Stirling's formula */
WK_SAMPLER double stirling_rest(double k) {
    static const double first[] = {
        0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
    };
    if (k <= 9) return first[(int)k];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* p <= 1/2 */
WK_SAMPLER double draw_successes(source_t *source, double n, double p) {
    if (n * p < 10) {
        double trials = 0, count = 0;
        while ((trials += ceil(log(draw_uniform(source)) / log1p(-p))) <= n) count++;
        return count;
    }
    double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    double center = n * p + 0.5, certain = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation;
    double m = floor((n + 1) * p);
    for (;;) {
        double u = draw_uniform(source) - 0.5, v = draw_uniform(source), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + center);
        if (us >= 0.07 && v <= certain) return k;
        if (k < 0 || k > n) continue;
        double bound = (m + 0.5) * log((m + 1) / (odds * (n - m + 1))) + (n + 1) * log((n - m + 1) / (n - k + 1)) +
                       (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(n - m) -
                       stirling_rest(k) - stirling_rest(n - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

WK_SAMPLER double draw_binomial(source_t *source, double n, double p) {
    if (isnan(n) || isnan(p) || n == INFINITY) return NAN;
    if (n <= 0 || p <= 0) return 0;
    if (p >= 1) return n;
    return p <= 0.5 ? draw_successes(source, n, p) : n - draw_successes(source, n, 1 - p);
}

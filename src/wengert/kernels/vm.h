/* Vector maths: elementary functions in branch-free C, which compilers turn into vector code.
 *
 * Every function accepts any number. NaN, infinities, signed zeros and subnormals follow IEEE 754 and Annex F of C.
 * docs/accuracy.md lists the errors in units in the last place. Rules of the code:
 * - Where C would branch, both sides are computed and one is chosen, so no side may trap or loop.
 * - Clamps are written x > high ? high : x, which lets NaN pass.
 * - Adding 1.5 * 2**52 (float: 1.5 * 2**23) rounds to an integer, which then stands in the low bits.
 * - Only VM_FMA fuses a product with a sum. It is used where both the fused and the separate form are accurate enough.
 *
 * sin, cos and tan reduce their argument for |x| up to VM_TRIG_LIMIT. Kernels that use them send larger arguments to the C library.
 */
#ifndef WK_VM_H
#define WK_VM_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define WK_INLINE static inline __attribute__((always_inline, unused))
#else
#define WK_INLINE static inline
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define VM_FMA(a, b, c) __builtin_fma(a, b, c)
#define VM_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define VM_FMA(a, b, c) ((a) * (b) + (c))
#define VM_FMAF(a, b, c) ((a) * (b) + (c))
#endif

#include "vm_polynomials.h"

/* Before a loop of 8 steps within a formula: a loop over elements with a loop inside is not turned into vector code. */
#if defined(__clang__)
#define VM_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define VM_UNROLL _Pragma("GCC unroll 8")
#else
#define VM_UNROLL
#endif

#define VM_ROUND 6755399441055744.0 /* 1.5 * 2**52 */
#define VM_ROUNDF 12582912.0f       /* 1.5 * 2**23 */
#define VM_TRIG_LIMIT 8192.0
#define VM_TRIG_LIMITF 6000.0f

WK_INLINE uint64_t vm_bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

WK_INLINE double vm_from_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

WK_INLINE uint32_t vm_bitsf(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

WK_INLINE float vm_from_bitsf(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* 2**k. k is read from the low bits of k + VM_ROUND. -1022 <= k <= 1023, and k = 1024 gives infinity. */
WK_INLINE double vm_power_of_2(double k) { return vm_from_bits(vm_bits(k + (VM_ROUND + 1023.0)) << 52); }
WK_INLINE float vm_power_of_2f(float k) { return vm_from_bitsf(vm_bitsf(k + (VM_ROUNDF + 127.0f)) << 23); }

/* p * 2**k for 1/2 <= p <= 2, if the result may be subnormal or overflow. It rounds once. Only a small k needs the second
 * factor. */
WK_INLINE double vm_scale(double p, double k) {
    int small = k < -1020.0;
    double y = (p + p) * vm_power_of_2(small ? k + 511.0 : k - 1.0);
    return small ? y * 0x1p-512 : y;
}

WK_INLINE float vm_scalef(float p, float k) {
    int small = k < -124.0f;
    float y = (p + p) * vm_power_of_2f(small ? k + 63.0f : k - 1.0f);
    return small ? y * 0x1p-64f : y;
}

/* -- exponentials, float64 ------------------------------------------------------------------------------------------ */

#define VM_LN2_HIGH 0x1.62e42fefa2000p-1 /* 40 bits, so that k * VM_LN2_HIGH is exact */
#define VM_LN2_LOW 0x1.9ef35793c7673p-41

/* x = k ln 2 + r, |r| <= ln 2 / 2 */
WK_INLINE double vm_split_exp(double x, double *k) {
    *k = VM_FMA(x, 1.4426950408889634, VM_ROUND) - VM_ROUND;
    return VM_FMA(-*k, VM_LN2_LOW, VM_FMA(-*k, VM_LN2_HIGH, x));
}

/* exp(x) - 1 = 2**k (e + 1) - 1. Returns e. */
WK_INLINE double vm_exp_part(double x, double *k) {
    double r = vm_split_exp(x, k);
    return VM_FMA(r * r, vm_exp_rest_f64(r), r);
}

WK_INLINE double vm_exp_f64(double x) {
    double k;
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    double e = vm_exp_part(x, &k);
    return vm_scale(e + 1.0, k);
}

/* exp(high + low), for a small low */
WK_INLINE double vm_exp_sum(double high, double low) {
    double k;
    high = high < -746.0 ? -746.0 : high;
    double r = vm_split_exp(high, &k) + low;
    return vm_scale(1.0 + VM_FMA(r * r, vm_exp_rest_f64(r), r), k);
}

WK_INLINE double vm_exp2_f64(double x) {
    x = x > 1025.0 ? 1025.0 : x;
    x = x < -1076.0 ? -1076.0 : x;
    double k = (x + VM_ROUND) - VM_ROUND;
    double r = (x - k) * 0.6931471805599453;
    return vm_scale(1.0 + VM_FMA(r * r, vm_exp_rest_f64(r), r), k);
}

/* (exp(x) - 1) / 4, for x <= 710.6 */
WK_INLINE double vm_quarter_expm1(double x) {
    double k;
    x = x > 710.6 ? 710.6 : x;
    x = x < -40.0 ? -40.0 : x;
    double e = vm_exp_part(x, &k), scale = vm_power_of_2(k - 2.0);
    return VM_FMA(scale, e, scale - 0.25);
}

WK_INLINE double vm_expm1_f64(double x) { return fabs(x) < 0x1p-54 ? x : 4.0 * vm_quarter_expm1(x); }

WK_INLINE double vm_tanh_f64(double x) {
    double a = fabs(x);
    a = a > 22.0 ? 22.0 : a;
    double e = 4.0 * vm_quarter_expm1(2.0 * a);
    return copysign(e / (e + 2.0), x);
}

WK_INLINE double vm_sinh_f64(double x) {
    double quarter = vm_quarter_expm1(fabs(x));
    return copysign(2.0 * (quarter + quarter / (4.0 * quarter + 1.0)), x);
}

WK_INLINE double vm_cosh_f64(double x) {
    double k, a = fabs(x);
    a = a > 710.6 ? 710.6 : a;
    double e = vm_exp_part(a, &k), scale = vm_power_of_2(k - 2.0), quarter = VM_FMA(scale, e, scale);
    return 2.0 * (quarter + 0.0625 / quarter);
}

/* -- logarithms, float64 -------------------------------------------------------------------------------------------- */

/* x = 2**k m with sqrt(1/2) <= m <= sqrt(2), for x > 0. */
WK_INLINE double vm_split_log(double x, double *k) {
    int small = x < 0x1p-1022;
    x = small ? x * 0x1p54 : x;
    uint64_t shifted = vm_bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    /* An integer i < 2**52, placed under the exponent of 2**52, is the number 2**52 + i. */
    double biased = vm_from_bits((shifted >> 52) | 0x4330000000000000) - 0x1p52;
    *k = biased - (small ? 1077.0 : 1023.0);
    return vm_from_bits((shifted & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
}

/* log(1 + f) + k ln 2 + low, for sqrt(1/2) - 1 <= f <= sqrt(2) - 1 */
WK_INLINE double vm_log_sum(double f, double k, double low) {
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double rest = s * (half + z * vm_log_rest_f64(z));
    return k * VM_LN2_HIGH - ((half - (rest + (k * VM_LN2_LOW + low))) - f);
}

/* Logarithm of 0, of negative numbers, infinity and NaN. Other x return y. */
WK_INLINE double vm_log_edges(double x, double y) {
    y = x > 1.7976931348623157e308 ? x : y;
    y = x == 0.0 ? -INFINITY : y;
    return x >= 0.0 ? y : NAN;
}

WK_INLINE double vm_log_f64(double x) {
    double k, m = vm_split_log(x, &k);
    return vm_log_edges(x, vm_log_sum(m - 1.0, k, 0.0));
}

WK_INLINE double vm_log1p_f64(double x) {
    double u = 1.0 + x, k, m = vm_split_log(u, &k);
    /* Rounding error of u, divided by u. For x > 2**53 it is at most the 1, and counts as 0. */
    double lost = (x > 0x1p53 ? 0.0 : x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x)) / u;
    double f = k == 0.0 ? x : m - 1.0;
    double y = vm_log_edges(u, vm_log_sum(f, k, k == 0.0 ? 0.0 : lost));
    return x == 0.0 ? x : y;
}

/* log(m) = high + low, high with 32 bits */
WK_INLINE double vm_log_parts(double m, double *low) {
    double f = m - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double high = vm_from_bits(vm_bits(f - half) & 0xffffffff00000000);
    *low = ((f - high) - half) + s * (half + z * vm_log_rest_f64(z));
    return high;
}

WK_INLINE double vm_log2_f64(double x) {
    double k, m = vm_split_log(x, &k), low, high = vm_log_parts(m, &low);
    /* 1 / ln 2 = 0x1.71547652p0 + rest. The first part has 32 bits, so that the product is exact. */
    double rest = low * 0x1.71547652b82fep0 + high * 0x1.705fc2eefa200p-33;
    double top = high * 0x1.71547652p0, sum = k + top;
    return vm_log_edges(x, sum + (rest + (top - (sum - k))));
}

WK_INLINE double vm_log10_f64(double x) {
    double k, m = vm_split_log(x, &k), low, high = vm_log_parts(m, &low);
    /* 1 / ln 10 and log10(2), each split into a number of few bits and the rest */
    double rest = low * 0x1.bcb7b1526e50ep-2 + high * 0x1.b9438ca9aadd5p-36 + k * 0x1.9fef311f12b36p-42;
    double top = high * 0x1.bcb7b15200000p-2, scale = k * 0x1.34413509f6000p-2, sum = scale + top;
    return vm_log_edges(x, sum + (rest + (top - (sum - scale))));
}

WK_INLINE double vm_asinh_f64(double x) {
    double a = fabs(x), square = a * a;
    double near = vm_log1p_f64(a + square / (sqrt(square + 1.0) + 1.0)), far = vm_log_f64(a) + 0.6931471805599453;
    return copysign(a > 0x1p28 ? far : near, x);
}

WK_INLINE double vm_acosh_f64(double x) {
    double t = x - 1.0;
    double near = vm_log1p_f64(t + sqrt(2.0 * t + t * t)), far = vm_log_f64(x) + 0.6931471805599453;
    return x >= 1.0 ? (x > 0x1p28 ? far : near) : NAN;
}

WK_INLINE double vm_atanh_f64(double x) {
    double a = fabs(x), twice = a + a;
    double t = a < 0.5 ? twice + twice * a / (1.0 - a) : twice / (1.0 - a);
    return copysign(0.5 * vm_log1p_f64(t), x);
}

/* -- trigonometric functions, float64 ------------------------------------------------------------------------------- */

/* x = n pi/2 + r, for |x| <= VM_TRIG_LIMIT. The low bits of *bits are those of n. The parts of pi/2 have 33 bits, so that n * part
 * is exact. */
WK_INLINE double vm_split_trig(double x, uint64_t *bits) {
    double shifted = x * 0.6366197723675814 + VM_ROUND, n = shifted - VM_ROUND;
    *bits = vm_bits(shifted);
    double first = x - n * 0x1.921fb544p0, second = n * 0x1.0b4611a6p-34;
    double r = first - second, lost = (first - r) - second;
    return r + (lost - n * 0x1.3198a2e037073p-69);
}

WK_INLINE double vm_sin_part(double r) { return VM_FMA(r * (r * r), vm_sin_rest_f64(r * r), r); }

WK_INLINE double vm_cos_part(double r) {
    double z = r * r, half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + z * z * vm_cos_rest_f64(z));
}

WK_INLINE double vm_sin_f64(double x) {
    uint64_t n;
    double r = vm_split_trig(x, &n), y = n & 1 ? vm_cos_part(r) : vm_sin_part(r);
    y = vm_from_bits(vm_bits(y) ^ ((n & 2) << 62));
    return x == 0.0 ? x : y;
}

WK_INLINE double vm_cos_f64(double x) {
    uint64_t n;
    double r = vm_split_trig(x, &n), y = n & 1 ? vm_sin_part(r) : vm_cos_part(r);
    return vm_from_bits(vm_bits(y) ^ (((n + 1) & 2) << 62));
}

WK_INLINE double vm_tan_f64(double x) {
    uint64_t n;
    double r = vm_split_trig(x, &n), s = vm_sin_part(r), c = vm_cos_part(r);
    double y = n & 1 ? -c / s : s / c;
    return x == 0.0 ? x : y;
}

#define VM_PI_2_HIGH 1.5707963267948966
#define VM_PI_2_LOW 6.123233995736766e-17

WK_INLINE double vm_asin_rest(double t, double z) { return t * z * vm_asin_rest_f64(z); }

WK_INLINE double vm_asin_f64(double x) {
    double a = fabs(x), z = a > 0.5 ? 0.5 * (1.0 - a) : a * a, t = a > 0.5 ? sqrt(z) : a, rest = vm_asin_rest(t, z);
    double far = VM_PI_2_HIGH - (2.0 * (t + rest) - VM_PI_2_LOW);
    return a <= 1.0 ? copysign(a > 0.5 ? far : t + rest, x) : NAN;
}

WK_INLINE double vm_acos_f64(double x) {
    double a = fabs(x), z = a > 0.5 ? 0.5 * (1.0 - a) : a * a, t = a > 0.5 ? sqrt(z) : a, rest = vm_asin_rest(t, z);
    double near = VM_PI_2_HIGH - (x - (VM_PI_2_LOW - copysign(rest, x)));
    double twice = 2.0 * (t + rest), far = x > 0.0 ? twice : 2.0 * VM_PI_2_HIGH - (twice - 2.0 * VM_PI_2_LOW);
    return a <= 1.0 ? (a > 0.5 ? far : near) : NAN;
}

/* atan(top / bottom) for top, bottom >= 0; NaN for 0 / 0 */
WK_INLINE double vm_atan_ratio(double top, double bottom) {
    int far = top > 2.414213562373095 * bottom, middle = top > 0.41421356237309503 * bottom;
    double t = (far ? -bottom : middle ? top - bottom : top) / (far ? top : middle ? top + bottom : bottom);
    double high = far ? VM_PI_2_HIGH : middle ? 0.5 * VM_PI_2_HIGH : 0.0, low = far ? VM_PI_2_LOW : middle ? 0.5 * VM_PI_2_LOW : 0.0;
    double z = t * t;
    return high + (t + (low + t * z * vm_atan_rest_f64(z)));
}

WK_INLINE double vm_atan_f64(double x) {
    double a = fabs(x);
    a = a > 0x1p60 ? 0x1p60 : a;
    return copysign(vm_atan_ratio(a, 1.0), x);
}

WK_INLINE double vm_atan2_f64(double y, double x) {
    double a = fabs(y), b = fabs(x);
    double large = a > b ? a : b;
    double scale = large > 0x1p1000 ? 0x1p-600 : large < 0x1p-900 ? 0x1p100 : 1.0;
    /* Two infinities give the ratio 1, one infinity outweighs any finite number, and two zeros give the ratio 0. */
    double top = a > 1.7976931348623157e308 ? 0x1p600 : large > 1.7976931348623157e308 ? 0.0 : a * scale;
    double bottom = b > 1.7976931348623157e308 ? 0x1p600 : large > 1.7976931348623157e308 ? 1.0 : b * scale;
    double r = vm_atan_ratio(top, large == 0.0 ? 1.0 : bottom);
    r = vm_bits(x) >> 63 ? 2.0 * VM_PI_2_HIGH - (r - 2.0 * VM_PI_2_LOW) : r;
    r = a != a || b != b ? NAN : r;
    return copysign(r, y);
}

/* -- error functions, float64 --------------------------------------------------------------------------------------- */

/* erfc(a) for a >= 0 */
WK_INLINE double vm_erfc_part(double a) {
    a = a > 28.0 ? 28.0 : a;
    /* a**2 = high + low. `first` holds the first 26 bits of a, whose square is exact. */
    double first = vm_from_bits(vm_bits(a) & 0xfffffffff8000000), high = first * first, low = (a - first) * (a + first);
    double t = (a - 3.0) / (a + 3.0);
    return vm_exp_sum(-high, -low) * (vm_erfc_scaled_f64(t) / (1.0 + 2.0 * a));
}

WK_INLINE double vm_erf_f64(double x) {
    double a = fabs(x), far = 1.0 - vm_erfc_part(a);
    return a < 1.0 ? x * vm_erf_slope_f64(a * a) : copysign(far, x);
}

WK_INLINE double vm_erfc_f64(double x) {
    double far = vm_erfc_part(fabs(x)), near = 1.0 - x * vm_erf_slope_f64(x * x);
    far = x < 0.0 ? 2.0 - far : far;
    return fabs(x) < 0.4 ? near : far;
}

/* -- inverse error function and gamma functions, float64 ------------------------------------------------------------------ */

/* erfinv(x) with a relative error of about 1e-9, for |x| < 1 */
WK_INLINE double vm_erfinv_part(double x) {
    double w = -vm_log_f64((1.0 - x) * (1.0 + x)), root = sqrt(w);
    double near = vm_erfinv_near_f64(w - 2.5), far = vm_erfinv_far_f64((root > 6.2 ? 6.2 : root) - 4.2);
    return x * (w < 5.0 ? near : far);
}

/* erfinv(x) for |x| >= 1 and NaN. Other x return y. */
WK_INLINE double vm_erfinv_edges(double x, double y) {
    double a = fabs(x);
    y = a == 1.0 ? copysign(INFINITY, x) : y;
    return a <= 1.0 ? y : NAN;
}

WK_INLINE double vm_erfinv_f64(double x) {
    double a = fabs(x), inside = a < 1.0 ? a : 0.0, y = vm_erfinv_part(inside);
    /* One step of Halley's method. off = erf(y) - a. For y >= 1 it is (1 - a) - erfc(y), as 1 - a is exact. */
    double off = y < 1.0 ? y * vm_erf_slope_f64(y * y) - inside : (1.0 - inside) - vm_erfc_part(y);
    double step = off * 0.8862269254527580137 * vm_exp_f64(y * y);
    y = y - step / (1.0 + y * step);
    return vm_erfinv_edges(x, copysign(y, x));
}

/* sin(pi x) */
WK_INLINE double vm_sinpi(double x) {
    double r = x - rint(x);
    return vm_sin_f64(r * 3.14159265358979323846);
}

/* log(gamma(w)) - (w - 1/2) log(w) + w - log(2 pi) / 2 for w >= 8 (Abramowitz and Stegun 6.1.41) */
WK_INLINE double vm_stirling(double w) {
    double z = 1.0 / (w * w), p = 0.00641025641025641026;
    p = VM_FMA(p, z, -0.00191752691752691753);
    p = VM_FMA(p, z, 0.000841750841750841751);
    p = VM_FMA(p, z, -0.000595238095238095238);
    p = VM_FMA(p, z, 0.000793650793650793651);
    p = VM_FMA(p, z, -0.00277777777777777778);
    return VM_FMA(p, z, 0.0833333333333333333) / w;
}

/* lgamma of a float32, computed in float64. */
WK_INLINE double vm_lgamma_part(double x) {
    int reflected = x < 0.5;
    double z = reflected ? 1.0 - x : x, w = z < 8.0 ? z + 8.0 : z, product = 1.0;
    VM_UNROLL for (int k = 0; k < 8; k++) product *= z + k;
    product = z < 8.0 ? product : 1.0;
    /* gamma(x) gamma(1 - x) = pi / sin(pi x), gamma(z) = gamma(z + 8) / product */
    double factor = reflected ? 3.14159265358979323846 * product / fabs(vm_sinpi(x)) : product;
    double far = (w - 0.5) * vm_log_f64(w) - w + 0.918938533204672742 + vm_stirling(w), near = vm_log_f64(factor);
    double y = reflected ? near - far : far - near;
    y = x == 1.0 || x == 2.0 ? 0.0 : y;
    return fabs(x) > 1.7976931348623157e308 ? fabs(x) : y;
}

#if defined(__GLIBC__) || defined(__APPLE__)
extern double lgamma_r(double x, int *sign); /* lgamma writes the sign to a variable that all threads share */
WK_INLINE double vm_lgamma_f64(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
#else
WK_INLINE double vm_lgamma_f64(double x) { return lgamma(x); }
#endif

/* digamma(x) for x > 0 */
WK_INLINE double vm_digamma_above(double x) {
    /* Move x down to [1, 2), or up from (0, 1), by digamma(x + 1) = digamma(x) + 1 / x. The reciprocals sum to slope / product. */
    int low = x < 1.0, middle = x < 10.0;
    double z = low ? x + 1.0 : middle ? x : 1.5, slope = 0.0, product = 1.0;
    VM_UNROLL for (int k = 0; k < 8; k++) {
        int down = z >= 2.0;
        double next = z - 1.0;
        slope = down ? slope * next + product : slope;
        product = down ? product * next : product;
        z = down ? next : z;
    }
    double root = ((z - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * vm_digamma_slope_f64(z - 1.5);
    double near = low ? root - 1.0 / x : root + slope / product;
    double w = middle ? 10.0 : x, r = 1.0 / (w * w), p = 0.0833333333333333333;
    p = VM_FMA(p, r, -0.0210927960927960928);
    p = VM_FMA(p, r, 0.00757575757575757576);
    p = VM_FMA(p, r, -0.00416666666666666667);
    p = VM_FMA(p, r, 0.00396825396825396825);
    p = VM_FMA(p, r, -0.00833333333333333333);
    p = VM_FMA(p, r, 0.0833333333333333333);
    double far = vm_log_f64(w) - (0.5 / w + p * r);
    return middle ? near : far;
}

WK_INLINE double vm_digamma_f64(double x) {
    int reflected = x < 0.0;
    double y = vm_digamma_above(reflected ? 1.0 - x : x), r = x - rint(x);
    double turn = 3.14159265358979323846 / vm_tan_f64(3.14159265358979323846 * r);
    y = reflected ? (r == 0.0 ? NAN : y - turn) : y;
    return x == 0.0 ? copysign(INFINITY, -x) : y;
}

/* -- float32 -------------------------------------------------------------------------------------------------------- */

#define VM_LN2_HIGHF 0x1.62e000p-1f /* 12 bits */
#define VM_LN2_LOWF 0x1.0bfbe8p-15f

WK_INLINE float vm_exp_partf(float x, float *k) {
    *k = VM_FMAF(x, 1.44269504f, VM_ROUNDF) - VM_ROUNDF;
    float r = VM_FMAF(-*k, VM_LN2_LOWF, VM_FMAF(-*k, VM_LN2_HIGHF, x));
    return VM_FMAF(r * r, vm_exp_rest_f32(r), r);
}

WK_INLINE float vm_exp_f32(float x) {
    float k;
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    float e = vm_exp_partf(x, &k);
    return vm_scalef(e + 1.0f, k);
}

WK_INLINE float vm_exp2_f32(float x) {
    x = x > 129.0f ? 129.0f : x;
    x = x < -151.0f ? -151.0f : x;
    float k = (x + VM_ROUNDF) - VM_ROUNDF, r = (x - k) * 0.693147181f;
    return vm_scalef(1.0f + VM_FMAF(r * r, vm_exp_rest_f32(r), r), k);
}

WK_INLINE float vm_quarter_expm1f(float x) {
    float k;
    x = x > 89.5f ? 89.5f : x;
    x = x < -18.0f ? -18.0f : x;
    float e = vm_exp_partf(x, &k), scale = vm_power_of_2f(k - 2.0f);
    return VM_FMAF(scale, e, scale - 0.25f);
}

WK_INLINE float vm_expm1_f32(float x) { return fabsf(x) < 0x1p-25f ? x : 4.0f * vm_quarter_expm1f(x); }

WK_INLINE float vm_tanh_f32(float x) {
    float a = fabsf(x);
    a = a > 10.0f ? 10.0f : a;
    float e = 4.0f * vm_quarter_expm1f(2.0f * a);
    return copysignf(e / (e + 2.0f), x);
}

WK_INLINE float vm_sinh_f32(float x) {
    float quarter = vm_quarter_expm1f(fabsf(x));
    return copysignf(2.0f * (quarter + quarter / (4.0f * quarter + 1.0f)), x);
}

WK_INLINE float vm_cosh_f32(float x) {
    float k, a = fabsf(x);
    a = a > 89.5f ? 89.5f : a;
    float e = vm_exp_partf(a, &k), scale = vm_power_of_2f(k - 2.0f), quarter = VM_FMAF(scale, e, scale);
    return 2.0f * (quarter + 0.0625f / quarter);
}

WK_INLINE float vm_split_logf(float x, float *k) {
    int small = x < 0x1p-126f;
    x = small ? x * 0x1p25f : x;
    uint32_t shifted = vm_bitsf(x) + (0x3f800000 - 0x3f3504f3);
    *k = (float)(int32_t)(shifted >> 23) - (small ? 152.0f : 127.0f);
    return vm_from_bitsf((shifted & 0x007fffff) + 0x3f3504f3);
}

WK_INLINE float vm_log_sumf(float f, float k, float low) {
    float s = f / (2.0f + f), z = s * s, half = 0.5f * f * f;
    float rest = s * (half + z * vm_log_rest_f32(z));
    return k * VM_LN2_HIGHF - ((half - (rest + (k * VM_LN2_LOWF + low))) - f);
}

WK_INLINE float vm_log_edgesf(float x, float y) {
    y = x > 3.40282347e38f ? x : y;
    y = x == 0.0f ? -INFINITY : y;
    return x >= 0.0f ? y : NAN;
}

WK_INLINE float vm_log_f32(float x) {
    float k, m = vm_split_logf(x, &k);
    return vm_log_edgesf(x, vm_log_sumf(m - 1.0f, k, 0.0f));
}

WK_INLINE float vm_log1p_f32(float x) {
    float u = 1.0f + x, k, m = vm_split_logf(u, &k);
    float lost = (x > 0x1p24f ? 0.0f : x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x)) / u;
    float f = k == 0.0f ? x : m - 1.0f;
    float y = vm_log_edgesf(u, vm_log_sumf(f, k, k == 0.0f ? 0.0f : lost));
    return x == 0.0f ? x : y;
}

WK_INLINE float vm_erf_f32(float x) {
    float a = fabsf(x), near = x * vm_erf_slope_f32(a * a);
    float t = vm_erfc_root_f32(a > 4.0f ? 4.0f : a), t2 = t * t, t4 = t2 * t2;
    return a < 1.0f ? near : copysignf(1.0f - 1.0f / (t4 * t4), x);
}

/* vm_split_trig for float32. The parts of pi/2 have 12 bits, for n < 2**12. */
WK_INLINE float vm_split_trigf(float x, uint32_t *bits) {
    float shifted = x * 0.636619772f + VM_ROUNDF, n = shifted - VM_ROUNDF;
    *bits = vm_bitsf(shifted);
    return ((x - n * 0x1.9200000000000p+0f) - n * 0x1.fb40000000000p-12f - n * 0x1.4440000000000p-24f) - n * 0x1.68c2340000000p-39f;
}

WK_INLINE float vm_sin_partf(float r) { return VM_FMAF(r * (r * r), vm_sin_rest_f32(r * r), r); }

WK_INLINE float vm_cos_partf(float r) {
    float z = r * r, half = 0.5f * z, w = 1.0f - half;
    return w + (((1.0f - w) - half) + z * z * vm_cos_rest_f32(z));
}

WK_INLINE float vm_sin_f32(float x) {
    uint32_t n;
    float r = vm_split_trigf(x, &n), y = n & 1 ? vm_cos_partf(r) : vm_sin_partf(r);
    y = vm_from_bitsf(vm_bitsf(y) ^ ((n & 2) << 30));
    return x == 0.0f ? x : y;
}

WK_INLINE float vm_cos_f32(float x) {
    uint32_t n;
    float r = vm_split_trigf(x, &n), y = n & 1 ? vm_sin_partf(r) : vm_cos_partf(r);
    return vm_from_bitsf(vm_bitsf(y) ^ (((n + 1) & 2) << 30));
}

WK_INLINE float vm_tan_f32(float x) {
    uint32_t n;
    float r = vm_split_trigf(x, &n), s = vm_sin_partf(r), c = vm_cos_partf(r);
    float y = n & 1 ? -c / s : s / c;
    return x == 0.0f ? x : y;
}

/* Computed in float64: half as many numbers at a time, but accurate without formulas for float32. */
WK_INLINE float vm_log2_f32(float x) { return (float)vm_log2_f64(x); }
WK_INLINE float vm_log10_f32(float x) { return (float)vm_log10_f64(x); }
WK_INLINE float vm_asinh_f32(float x) { return (float)vm_asinh_f64(x); }
WK_INLINE float vm_acosh_f32(float x) { return (float)vm_acosh_f64(x); }
WK_INLINE float vm_atanh_f32(float x) { return (float)vm_atanh_f64(x); }
WK_INLINE float vm_asin_f32(float x) { return (float)vm_asin_f64(x); }
WK_INLINE float vm_acos_f32(float x) { return (float)vm_acos_f64(x); }
WK_INLINE float vm_atan_f32(float x) { return (float)vm_atan_f64(x); }
WK_INLINE float vm_atan2_f32(float y, float x) { return (float)vm_atan2_f64(y, x); }
WK_INLINE float vm_erfc_f32(float x) { return (float)vm_erfc_f64(x); }
WK_INLINE float vm_lgamma_f32(float x) { return (float)vm_lgamma_part(x); }
WK_INLINE float vm_digamma_f32(float x) { return (float)vm_digamma_f64(x); }
WK_INLINE float vm_erfinv_f32(float x) { return (float)vm_erfinv_edges(x, vm_erfinv_part(fabsf(x) < 1.0f ? x : 0.0f)); }

/* x**y. A formula for float64 would need more digits than float64 has. */
WK_INLINE double vm_pow_f64(double x, double y) { return pow(x, y); }

WK_INLINE float vm_pow_f32(float x, float y) {
    double a = fabs((double)x), w = (double)y * vm_log2_f64(a);
    w = y == 0.0f || x == 1.0f ? 0.0 : w;
    float size = (float)vm_exp2_f64(w);
    /* Whether y is an integer, and whether it is odd. All numbers from 2**24 on are even. */
    float whole = fabsf(y) < 0x1p23f ? (fabsf(y) + 0x1p23f) - 0x1p23f : fabsf(y);
    float half = 0.5f * fabsf(y), whole_half = half < 0x1p23f ? (half + 0x1p23f) - 0x1p23f : half;
    int is_whole = whole == fabsf(y), odd = is_whole && whole_half != half;
    float signed_size = odd ? copysignf(size, x) : size;
    signed_size = x < 0.0f && !is_whole && x >= -3.40282347e38f ? NAN : signed_size;
    signed_size = x == -1.0f && fabsf(y) > 3.40282347e38f ? 1.0f : signed_size;
    return y == 0.0f || x == 1.0f ? 1.0f : signed_size;
}
#endif

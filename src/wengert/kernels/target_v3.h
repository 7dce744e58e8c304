/* From here on: x86-64-v3 (AVX2 and fused multiply-add). On other processors and with other compilers, this level equals the
 * base. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "wk_apply.h"
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,f16c,lzcnt"))), apply_to = function)
#elif defined(__x86_64__) && defined(__GNUC__)
#pragma GCC target("avx2,fma,bmi,bmi2,f16c,lzcnt")
#endif

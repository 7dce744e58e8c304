/* From here on: x86-64-v4 (AVX-512). See target_v3.h. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "wk_apply.h"
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,f16c,lzcnt,avx512f,avx512vl,avx512bw,avx512dq,avx512cd"))), apply_to = function)
#elif defined(__x86_64__) && defined(__GNUC__)
#pragma GCC target("avx2,fma,bmi,bmi2,f16c,lzcnt,avx512f,avx512vl,avx512bw,avx512dq,avx512cd")
#endif

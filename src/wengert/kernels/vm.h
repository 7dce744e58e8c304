/* Vector maths: elementary functions in branch-free C, which compilers turn into vector code. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "wk_apply.h"

#if defined(__GNUC__)
#define WK_INLINE static inline __attribute__((always_inline, unused))
#else
#define WK_INLINE static inline
#endif

#if WK_BITS == 32
typedef float real;
#else
typedef double real;
#endif
#define C(value) ((real)(value))

/* The C type of a file of loops, selected by WK_BITS, and the maths functions under one name for both dtypes. */
#ifndef WK_REAL_H
#define WK_REAL_H
#include "vm.h"

#if WK_BITS == 32
typedef float real;
#define VM(name) vm_##name##_f32
#define LIBM(name) name##f
#define LIMIT_TRIG VM_TRIG_LIMITF
#else
typedef double real;
#define VM(name) vm_##name##_f64
#define LIBM(name) name
#define LIMIT_TRIG VM_TRIG_LIMIT
#endif
#define C(value) ((real)(value))

/* NaN if either is NaN. These are two choices, one after the other. Compilers turn a single choice with an "or" into a branch if
 * such functions follow each other, and for random numbers a branch is mispredicted at every other element. */
WK_INLINE real larger_(real a, real b) {
    const real larger = a > b ? a : b;
    return a != a ? a : larger;
}

WK_INLINE real smaller_(real a, real b) {
    const real smaller = a < b ? a : b;
    return a != a ? a : smaller;
}
#endif

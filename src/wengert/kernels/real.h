/* The dtype that a file of loops is for, as WK_BITS says, and the maths under one name for both. */
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

/* NaN where one is NaN. Two choices one after the other: of one with an "or" compilers make a branch, where such a function follows
 * another, and random numbers are mispredicted at every other element. */
WK_INLINE real larger_(real a, real b) {
    const real larger = a > b ? a : b;
    return a != a ? a : larger;
}

WK_INLINE real smaller_(real a, real b) {
    const real smaller = a < b ? a : b;
    return a != a ? a : smaller;
}
#endif

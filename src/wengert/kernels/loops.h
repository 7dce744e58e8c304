/* The serial loops of every kernel of table.h, for one dtype and one CPU level.
 *
 * Included by loops_<level>_<dtype>.c, which define WK_LEVEL, WK_BITS (32 or 64) and the target. SIMPLE kernels cost no more than
 * their memory traffic. They have one branch for each pattern of contiguous and constant operands, and run element by element
 * otherwise. BLOCK kernels cost more than copying. They are compiled once, for contiguous operands, and wk_apply.c copies other
 * operands into blocks. An output may be the whole memory of an input, since each element is read before it is written. It may not
 * be a part of it.
 *
 * Names end in _ where they could collide with operand names in the expressions of table.h.
 */
#if defined(__GNUC__) && !defined(__clang__)
/* Threaded jumps would turn clamps in a row, one instruction each, into branches. For the other option see chains.h. */
#pragma GCC optimize("no-thread-jumps", "no-jump-tables")
#endif
#include "real.h"
#include "wk_apply.h"

#define WK_JOIN2_(a, b, c) a##_##b##_f##c
#define WK_JOIN_(a, b, c) WK_JOIN2_(a, b, c)
#define LOOP_(name) WK_JOIN_(name, WK_LEVEL, WK_BITS)
#define EACH_(name) WK_JOIN_(each_##name, WK_LEVEL, WK_BITS)
#define TABLE_ WK_JOIN_(wk_loops, WK_LEVEL, WK_BITS)

#if defined(__clang__)
#define WK_VECTOR_ _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WK_VECTOR_ _Pragma("GCC ivdep")
#else
#define WK_VECTOR_
#endif

#define LOOP_ARGUMENTS_ char **data_, const npy_intp *inner_, const npy_intp *outer_, npy_intp n_, npy_intp N_
#define IN_(k) (const real *)(data_[k] + j_ * outer_[k])
#define OUT_(k) (real *)(data_[k] + j_ * outer_[k])
#define AT_(k) (*(const real *)(data_[k] + j_ * outer_[k] + i_ * inner_[k]))
#define SIZE_ ((npy_intp)sizeof(real))
#define ROWS_ for (npy_intp j_ = 0; j_ < N_; j_++)
#define EACH_ELEMENT_ WK_VECTOR_ for (npy_intp i_ = 0; i_ < n_; i_++)

#define SIMPLE1(name, cost, numbers, a, LET, RESULT)                                                                    \
    WK_INLINE real EACH_(name)(real a) { LET return RESULT; }                                                  \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        if (inner_[0] == SIZE_ && inner_[1] == SIZE_) {                                                        \
            ROWS_ {                                                                                            \
                const real *a_ = IN_(0);                                                                       \
                real *out_ = OUT_(1);                                                                          \
                EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_]);                                                  \
            }                                                                                                  \
        } else {                                                                                               \
            ROWS_ for (npy_intp i_ = 0; i_ < n_; i_++) *(real *)&AT_(1) = EACH_(name)(AT_(0));                 \
        }                                                                                                      \
    }

#define SIMPLE2(name, cost, numbers, a, b, LET, RESULT)                                                                 \
    WK_INLINE real EACH_(name)(real a, real b) { LET return RESULT; }                                          \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        int even_ = inner_[2] == SIZE_;                                                                        \
        if (even_ && inner_[0] == SIZE_ && inner_[1] == SIZE_) {                                               \
            ROWS_ {                                                                                            \
                const real *a_ = IN_(0), *b_ = IN_(1);                                                         \
                real *out_ = OUT_(2);                                                                          \
                EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_]);                                          \
            }                                                                                                  \
        } else if (even_ && inner_[0] == SIZE_ && inner_[1] == 0) {                                            \
            ROWS_ {                                                                                            \
                const real *a_ = IN_(0), b_ = *IN_(1);                                                         \
                real *out_ = OUT_(2);                                                                          \
                EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_);                                              \
            }                                                                                                  \
        } else if (even_ && inner_[0] == 0 && inner_[1] == SIZE_) {                                            \
            ROWS_ {                                                                                            \
                const real a_ = *IN_(0), *b_ = IN_(1);                                                         \
                real *out_ = OUT_(2);                                                                          \
                EACH_ELEMENT_ out_[i_] = EACH_(name)(a_, b_[i_]);                                              \
            }                                                                                                  \
        } else {                                                                                               \
            ROWS_ for (npy_intp i_ = 0; i_ < n_; i_++) *(real *)&AT_(2) = EACH_(name)(AT_(0), AT_(1));         \
        }                                                                                                      \
    }

#define BLOCK1(name, cost, numbers, a, LET, RESULT)                                                                     \
    WK_INLINE real EACH_(name)(real a) { LET return RESULT; }                                                  \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0);                                                                           \
            real *out_ = OUT_(1);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_]);                                                      \
        }                                                                                                      \
    }

#define BLOCK2(name, cost, numbers, a, b, LET, RESULT)                                                                  \
    WK_INLINE real EACH_(name)(real a, real b) { LET return RESULT; }                                          \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1);                                                             \
            real *out_ = OUT_(2);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_]);                                              \
        }                                                                                                      \
    }

#define BLOCK3(name, cost, numbers, a, b, c, LET, RESULT)                                                               \
    WK_INLINE real EACH_(name)(real a, real b, real c) { LET return RESULT; }                                  \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1), *c_ = IN_(2);                                               \
            real *out_ = OUT_(3);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_], c_[i_]);                                      \
        }                                                                                                      \
    }

#define BLOCK4(name, cost, numbers, a, b, c, d, LET, RESULT)                                                            \
    WK_INLINE real EACH_(name)(real a, real b, real c, real d) { LET return RESULT; }                          \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1), *c_ = IN_(2), *d_ = IN_(3);                                 \
            real *out_ = OUT_(4);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_], c_[i_], d_[i_]);                              \
        }                                                                                                      \
    }

/* Loops of kernels that are right for arguments up to a limit (see vm.h). A block with a larger argument runs on the C library. */
#define GUARDED_(FAST, SLOW, WITHIN)                                                                           \
    for (npy_intp first_ = 0; first_ < n_; first_ += 256) {                                                    \
        npy_intp last_ = n_ - first_ < 256 ? n_ : first_ + 256;                                                \
        int within_ = 1;                                                                                       \
        for (npy_intp i_ = first_; i_ < last_; i_++) within_ &= WITHIN;                                        \
        if (within_) {                                                                                         \
            WK_VECTOR_ for (npy_intp i_ = first_; i_ < last_; i_++) out_[i_] = FAST;                           \
        } else {                                                                                               \
            for (npy_intp i_ = first_; i_ < last_; i_++) out_[i_] = SLOW;                                      \
        }                                                                                                      \
    }

#define GUARD1(name, cost, numbers, a, LIMITS, LET, RESULT, SLOW_LET, SLOW_RESULT)                             \
    WK_INLINE int EACH_(name##_within)(real a) { (void)a; LIMITS }                                             \
    WK_INLINE real EACH_(name)(real a) { LET return RESULT; }                                                  \
    WK_INLINE real EACH_(name##_slow)(real a) { SLOW_LET return SLOW_RESULT; }                                 \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0);                                                                           \
            real *out_ = OUT_(1);                                                                              \
            GUARDED_(EACH_(name)(a_[i_]), EACH_(name##_slow)(a_[i_]), EACH_(name##_within)(a_[i_]))         \
        }                                                                                                      \
    }

#define GUARD2(name, cost, numbers, a, b, LIMITS, LET, RESULT, SLOW_LET, SLOW_RESULT)                          \
    WK_INLINE int EACH_(name##_within)(real a, real b) { (void)a; (void)b; LIMITS }                            \
    WK_INLINE real EACH_(name)(real a, real b) { LET return RESULT; }                                          \
    WK_INLINE real EACH_(name##_slow)(real a, real b) { SLOW_LET return SLOW_RESULT; }                         \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1);                                                             \
            real *out_ = OUT_(2);                                                                              \
            GUARDED_(EACH_(name)(a_[i_], b_[i_]), EACH_(name##_slow)(a_[i_], b_[i_]),                          \
                     EACH_(name##_within)(a_[i_], b_[i_]))                                                  \
        }                                                                                                      \
    }

#define GUARD3(name, cost, numbers, a, b, c, LIMITS, LET, RESULT, SLOW_LET, SLOW_RESULT)                       \
    WK_INLINE int EACH_(name##_within)(real a, real b, real c) { (void)a; (void)b; (void)c; LIMITS }           \
    WK_INLINE real EACH_(name)(real a, real b, real c) { LET return RESULT; }                                  \
    WK_INLINE real EACH_(name##_slow)(real a, real b, real c) { SLOW_LET return SLOW_RESULT; }                 \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1), *c_ = IN_(2);                                               \
            real *out_ = OUT_(3);                                                                              \
            GUARDED_(EACH_(name)(a_[i_], b_[i_], c_[i_]), EACH_(name##_slow)(a_[i_], b_[i_], c_[i_]),          \
                     EACH_(name##_within)(a_[i_], b_[i_], c_[i_]))                                          \
        }                                                                                                      \
    }

#include "table.h"

#undef SIMPLE1
#undef SIMPLE2
#undef BLOCK1
#undef BLOCK2
#undef BLOCK3
#undef BLOCK4
#undef GUARD1
#undef GUARD2
#undef GUARD3
#define SIMPLE1(name, ...) LOOP_(name),
#define SIMPLE2(name, ...) LOOP_(name),
#define BLOCK1(name, ...) LOOP_(name),
#define BLOCK2(name, ...) LOOP_(name),
#define BLOCK3(name, ...) LOOP_(name),
#define BLOCK4(name, ...) LOOP_(name),
#define GUARD1(name, ...) LOOP_(name),
#define GUARD2(name, ...) LOOP_(name),
#define GUARD3(name, ...) LOOP_(name),

extern const wk_loop TABLE_[];
const wk_loop TABLE_[] = {
#include "table.h"
};

#include "chains.h"

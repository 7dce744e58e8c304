/* The serial loops of every kernel of table.h, for one dtype and one CPU level.
 *
 * Included by loops_<level>_<dtype>.c, which define WK_LEVEL, WK_BITS (32 or 64) and the target. SIMPLE kernels cost no more
 * than their memory: each pattern of contiguous and constant operands has a branch, any other runs element by element.
 * BLOCK kernels cost more than copying, so they are compiled once, for contiguous operands; wk_apply.c copies others into
 * blocks. An output may be an input's own memory (each element is read before it is written), never parts of it.
 *
 * Names end in _ where the expressions of table.h, whose operands have names of their own, could meet them.
 */
#include "vm.h"

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

#define SIMPLE1(name, cost, a, LET, RESULT)                                                                    \
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

#define SIMPLE2(name, cost, a, b, LET, RESULT)                                                                 \
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

#define BLOCK1(name, cost, a, LET, RESULT)                                                                     \
    WK_INLINE real EACH_(name)(real a) { LET return RESULT; }                                                  \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0);                                                                           \
            real *out_ = OUT_(1);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_]);                                                      \
        }                                                                                                      \
    }

#define BLOCK2(name, cost, a, b, LET, RESULT)                                                                  \
    WK_INLINE real EACH_(name)(real a, real b) { LET return RESULT; }                                          \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1);                                                             \
            real *out_ = OUT_(2);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_]);                                              \
        }                                                                                                      \
    }

#define BLOCK3(name, cost, a, b, c, LET, RESULT)                                                               \
    WK_INLINE real EACH_(name)(real a, real b, real c) { LET return RESULT; }                                  \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1), *c_ = IN_(2);                                               \
            real *out_ = OUT_(3);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_], c_[i_]);                                      \
        }                                                                                                      \
    }

#define BLOCK4(name, cost, a, b, c, d, LET, RESULT)                                                            \
    WK_INLINE real EACH_(name)(real a, real b, real c, real d) { LET return RESULT; }                          \
    static void LOOP_(name)(LOOP_ARGUMENTS_) {                                                                 \
        (void)inner_;                                                                                          \
        ROWS_ {                                                                                                \
            const real *a_ = IN_(0), *b_ = IN_(1), *c_ = IN_(2), *d_ = IN_(3);                                 \
            real *out_ = OUT_(4);                                                                              \
            EACH_ELEMENT_ out_[i_] = EACH_(name)(a_[i_], b_[i_], c_[i_], d_[i_]);                              \
        }                                                                                                      \
    }

#include "table.h"

#undef SIMPLE1
#undef SIMPLE2
#undef BLOCK1
#undef BLOCK2
#undef BLOCK3
#undef BLOCK4
#define SIMPLE1(name, ...) LOOP_(name),
#define SIMPLE2(name, ...) LOOP_(name),
#define BLOCK1(name, ...) LOOP_(name),
#define BLOCK2(name, ...) LOOP_(name),
#define BLOCK3(name, ...) LOOP_(name),
#define BLOCK4(name, ...) LOOP_(name),

extern const wk_loop TABLE_[];
const wk_loop TABLE_[] = {
#include "table.h"
};

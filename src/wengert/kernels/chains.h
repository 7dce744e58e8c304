/* Arithmetic of a program in vector registers, for one dtype (WK_BITS) and CPU level (WK_LEVEL). See Note [Chains] in
 * wk_apply.h. */
typedef real vec_ __attribute__((vector_size(WK_REGISTER), aligned(WK_BITS / 8), may_alias));
#define TILE_ ((npy_intp)(8 * sizeof(vec_) / sizeof(real)))
#define CHAIN_ WK_JOIN_(wk_chain, WK_LEVEL, WK_BITS)

/* The running values are v0 to v7. Eight of them hide the latency of an operation, and the cost of finding the next link. A tree of
 * comparisons finds the link (see loops.h): the processor predicts these, but not jumps through a table. */
#define EIGHT_(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define LOAD_(k) v##k = m[k];
#define STORE_(k) m[k] = v##k;
#define ADD_(k) v##k = v##k + m[k];
#define SUB_(k) v##k = v##k - m[k];
#define RSUB_(k) v##k = m[k] - v##k;
#define MUL_(k) v##k = v##k * m[k];
#define DIV_(k) v##k = v##k / m[k];
#define RDIV_(k) v##k = m[k] / v##k;
#define NEGATE_(k) v##k = -v##k;
#define SQUARE_(k) v##k = v##k * v##k;
#define RECIPROCAL_(k) v##k = C(1) / v##k;
#define ACTION_(name, DO)                                                                                      \
    case name:                                                                                                 \
        EIGHT_(DO)                                                                                             \
        break;

npy_intp CHAIN_(const WkLink *links, char **places, npy_intp n) {
    npy_intp offset = 0, last = (n - TILE_) * (npy_intp)sizeof(real);
    for (; offset <= last; offset += 8 * sizeof(vec_)) {
        vec_ v0, v1, v2, v3, v4, v5, v6, v7;
        v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = (vec_){0};
        for (const WkLink *link = links; link->action != WK_END; link++) {
            vec_ *m = (vec_ *)(places[link->place] + (offset & link->moves));
            switch (link->action) {
                ACTION_(WK_LOAD, LOAD_)
                ACTION_(WK_STORE, STORE_)
                ACTION_(WK_ADD, ADD_)
                ACTION_(WK_SUB, SUB_)
                ACTION_(WK_RSUB, RSUB_)
                ACTION_(WK_MUL, MUL_)
                ACTION_(WK_DIV, DIV_)
                ACTION_(WK_RDIV, RDIV_)
                ACTION_(WK_NEGATE, NEGATE_)
                ACTION_(WK_SQUARE, SQUARE_)
                ACTION_(WK_RECIPROCAL, RECIPROCAL_)
            }
        }
    }
    return offset / (npy_intp)sizeof(real);
}

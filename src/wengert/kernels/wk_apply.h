/* The N-d driver: runs a pointwise kernel over arrays of any shapes that broadcast. */
#ifndef WK_APPLY_H
#define WK_APPLY_H
#include "wk_numpy.h"

#include "wk_native.h" /* WK_MAX_INPUTS */

/* A serial loop over N rows of n elements. data: the inputs, then the output; inner and outer: their strides in bytes. */
typedef void (*wk_loop)(char **data, const npy_intp *inner, const npy_intp *outer, npy_intp n, npy_intp N);

enum { WK_MAX_OPERANDS = 16, WK_MAX_STEPS = 128, WK_MAX_REGISTERS = 40 };

/* Note [Chains]
 * Steps of a program that are mere arithmetic cost more in loads, stores and calls than in arithmetic. Where several follow each
 * other they run as a chain: the running value stays in vector registers, and a link changes it by one operand. What no
 * later step needs is never stored. A tile of elements goes through all links, then the next; what is left of a block at its
 * end, less than a tile, goes through the steps one by one.
 */
typedef struct {
    unsigned char action, place;
    short moves; /* -1, or 0 where the operand is the same for all tiles */
} WkLink;

enum { WK_LOAD, WK_STORE, WK_ADD, WK_SUB, WK_RSUB, WK_MUL, WK_DIV, WK_RDIV, WK_NEGATE, WK_SQUARE, WK_RECIPROCAL, WK_END };

/* Runs the links on as many of the n elements as whole tiles hold, and returns their number. */
typedef npy_intp (*wk_chain)(const WkLink *links, char **places, npy_intp n);

/* That of the CPU level that runs, for float32 and float64. Set when the extension is imported. */
extern wk_chain wk_chains[2];

struct WkProgram;

typedef struct {
    const char *name;
    int n_inputs;
    int cost;         /* of an element, in units of a multiplication of numbers in the first cache */
    int numbers;      /* takes Python numbers; without, the operation has other formulas for them */
    int contiguous;   /* the loops take inner strides of one element only: the driver copies the others into a block */
    wk_loop loops[2]; /* for float32 and float64 */
    int n_outputs;    /* of a program; 0 is 1 */
    const struct WkProgram *program; /* several kernels, one after another on each block, in place of the loops; or NULL */
} WkKernel;

/* Kernels that run one after another while a block of each value is in the cache. Places of values: the inputs, then the
 * outputs, then registers, the first of which hold the constants. */
typedef struct WkProgram {
    WkKernel kernel;
    int n_steps, n_registers, n_constants;
    double constants[WK_MAX_REGISTERS];
    struct {
        const WkKernel *kernel;
        unsigned char places[WK_MAX_INPUTS + 1]; /* of the kernel's inputs, then of its output */
    } steps[WK_MAX_STEPS];
    /* The steps from first to before last, which are a chain where there are links. */
    int n_stages;
    struct {
        short first, last, first_link, n_links;
    } stages[WK_MAX_STEPS];
    WkLink links[4 * WK_MAX_STEPS];
} WkProgram;

/* One block of n elements. places: where the inputs and outputs are; registers: memory for the registers, step bytes apart. */
void wk_run_steps(const WkProgram *program, int is_f64, char **places, char *registers, npy_intp step, npy_intp n);

/* The kernels for the CPU level that runs, and their number. Set when the extension is imported. */
extern const WkKernel *wk_kernels;
extern int wk_n_kernels;

/* kernel(*inputs) as a new array, or written into out where that is not NULL (then out is returned, a new reference).
 *
 * Inputs are NumPy arrays of one dtype, float32 or float64, or Python floats and ints; at least one is an array. Returns
 * None where it is something else, or where it does not broadcast: that is for NumPy to do, or to refuse. NULL: an error. */
PyObject *wk_apply(int kernel, PyObject *const *inputs, PyObject *out);

/* The same of a kernel or program by itself: one array, or for a program with several outputs a tuple of them. */
PyObject *wk_apply_kernel(const WkKernel *kernel, PyObject *const *inputs, PyObject *out);

/* The kernel of this name, -1 if there is none. */
int wk_find_kernel(const char *name);

/* The kernel of a role, such as "neg" for an operation or "sub.y" for its derivative in an input; -1 if there is none. */
int wk_find_role(const char *role);

/* Look up the kernels whose steps programs run in chains. Called once, at import. Returns the role that has no kernel, or NULL. */
const char *wk_find_action_kernels(void);
#endif

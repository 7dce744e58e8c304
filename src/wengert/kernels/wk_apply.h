/* The N-d driver. It runs a pointwise kernel over arrays of any shapes that broadcast. */
#ifndef WK_APPLY_H
#define WK_APPLY_H
#include "wk_numpy.h"

#include "wk_native.h" /* WK_MAX_INPUTS */

/* A serial loop over N rows of n elements. data: pointers to the inputs, then to the output. inner and outer: their strides in
 * bytes, along a row and from row to row. */
typedef void (*wk_loop)(char **data, const npy_intp *inner, const npy_intp *outer, npy_intp n, npy_intp N);

enum { WK_MAX_OPERANDS = 24, WK_MAX_STEPS = 160, WK_MAX_REGISTERS = 64 };

/* Note [Chains]
 * Loads, stores and calls cost more than the arithmetic of a simple step of a program. Several simple steps in a row therefore run
 * as a chain. The running value stays in vector registers, and each link changes it by one operand. A value that no later step
 * needs is never stored. One tile of elements goes through all links, then the next tile. The last elements of a block, fewer than
 * a tile, go through the steps one by one.
 */
typedef struct {
    unsigned char action, place;
    short moves; /* -1, or 0 if the operand is the same for all tiles */
} WkLink;

enum { WK_LOAD, WK_STORE, WK_ADD, WK_SUB, WK_RSUB, WK_MUL, WK_DIV, WK_RDIV, WK_NEGATE, WK_SQUARE, WK_RECIPROCAL, WK_END };

/* Run the links on all whole tiles of the n elements. Return the number of elements done. */
typedef npy_intp (*wk_chain)(const WkLink *links, char **places, npy_intp n);

/* Chain runners for float32 and float64, of the CPU level in use. Set when the extension is imported. */
extern wk_chain wk_chains[2];

struct WkProgram;

typedef struct {
    const char *name;
    int n_inputs;
    int cost;         /* cost of one element; 1 is a multiplication of numbers in the first cache */
    int numbers;      /* accepts Python numbers; if 0, the operation has other formulas for numbers */
    int contiguous;   /* the loops need inner strides of one element; the driver copies other operands into a block */
    wk_loop loops[2]; /* loops for float32 and float64 */
    int n_outputs;    /* number of outputs of a program; 0 means 1 */
    const struct WkProgram *program; /* runs several kernels, one after another on each block, instead of the loops; or NULL */
} WkKernel;

/* Kernels that run one after another while a block of each value is in the cache. Places of values are numbered: the inputs, then
 * the outputs, then the registers. The constants are in the first registers. */
typedef struct WkProgram {
    WkKernel kernel;
    int n_steps, n_registers, n_constants;
    double constants[WK_MAX_REGISTERS];
    struct {
        const WkKernel *kernel;
        unsigned char places[WK_MAX_INPUTS + 1]; /* places of the kernel's inputs, then of its output */
    } steps[WK_MAX_STEPS];
    /* A stage holds the steps first <= i < last. They run as a chain if n_links > 0. */
    int n_stages;
    struct {
        short first, last, first_link, n_links;
    } stages[WK_MAX_STEPS];
    WkLink links[4 * WK_MAX_STEPS];
} WkProgram;

/* Run one block of n elements. places: pointers to the inputs and outputs. registers: memory for the registers, `step` bytes
 * apart. */
void wk_run_steps(const WkProgram *program, int is_f64, char **places, char *registers, npy_intp step, npy_intp n);

/* Return the program in a capsule of make_program, or NULL with an exception. */
const WkProgram *wk_program_of(PyObject *capsule);

/* Kernels of the CPU level in use, and their number. Set when the extension is imported. */
extern const WkKernel *wk_kernels;
extern int wk_n_kernels;

/* Return kernel(*inputs) as a new array. If out is not NULL, write the result into out and return a new reference to out.
 *
 * Inputs are NumPy arrays of one dtype, float32 or float64, or Python floats and ints. At least one input is an array. Returns None
 * if the inputs are anything else or do not broadcast; NumPy then computes the result or raises. Returns NULL on an error.
 */
PyObject *wk_apply(int kernel, PyObject *const *inputs, PyObject *out);

/* Run a kernel or program given by pointer. Return one array, or a tuple of arrays for a program with several outputs. */
PyObject *wk_apply_kernel(const WkKernel *kernel, PyObject *const *inputs, PyObject *out);

/* Run a program into arrays, which may be inputs of it. Return 1, 0 with nothing written if it does not accept the arrays, or -1 on an
 * error. */
int wk_apply_in_place(const WkKernel *kernel, PyObject *const *inputs, PyObject *const *outputs);

/* Number of the kernel with this name, or -1. */
int wk_find_kernel(const char *name);

/* Number of the kernel with this role, or -1. A role is "neg" for an operation, or "sub.y" for its derivative in an input. */
int wk_find_role(const char *role);

/* Look up the kernels whose steps run in chains. Called once, at import. Returns the first role without a kernel, or NULL. */
const char *wk_find_action_kernels(void);
#endif

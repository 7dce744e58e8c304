/* The CPU levels. The loops of one level are selected once, at import. */
#include <string.h>

#include "wk_apply.h"
#include "wk_whole.h"

#define EXTERN_(level)                                                            \
    extern const wk_loop wk_loops_##level##_f32[], wk_loops_##level##_f64[];      \
    npy_intp wk_chain_##level##_f32(const WkLink *, char **, npy_intp);      \
    npy_intp wk_chain_##level##_f64(const WkLink *, char **, npy_intp);
EXTERN_(base)
#ifdef WK_HAS_LEVELS
EXTERN_(v3)
EXTERN_(v4)
#endif

#define ROW_(name, cost, numbers, n, block) {#name, n, cost, numbers, block, {NULL, NULL}, 1, NULL},
#define SIMPLE1(name, cost, numbers, ...) ROW_(name, cost, numbers, 1, 0)
#define SIMPLE2(name, cost, numbers, ...) ROW_(name, cost, numbers, 2, 0)
#define BLOCK1(name, cost, numbers, ...) ROW_(name, cost, numbers, 1, 1)
#define BLOCK2(name, cost, numbers, ...) ROW_(name, cost, numbers, 2, 1)
#define BLOCK3(name, cost, numbers, ...) ROW_(name, cost, numbers, 3, 1)
#define BLOCK4(name, cost, numbers, ...) ROW_(name, cost, numbers, 4, 1)
#define GUARD1(name, cost, numbers, ...) ROW_(name, cost, numbers, 1, 1)
#define GUARD2(name, cost, numbers, ...) ROW_(name, cost, numbers, 2, 1)
#define GUARD3(name, cost, numbers, ...) ROW_(name, cost, numbers, 3, 1)

static WkKernel kernels[] = {
#include "table.h"
};

const WkKernel *wk_kernels = kernels;
int wk_n_kernels = sizeof kernels / sizeof *kernels;
wk_chain wk_chains[2];
static const char *level = "base";

const char *wk_level_name(void) { return level; }

#define LEVEL_(name) #name, wk_loops_##name##_f32, wk_loops_##name##_f64, wk_chain_##name##_f32, wk_chain_##name##_f64

static void select_level(const char *name, const wk_loop *f32, const wk_loop *f64, wk_chain chain_f32, wk_chain chain_f64) {
    level = name;
    wk_chains[0] = chain_f32;
    wk_chains[1] = chain_f64;
    for (int i = 0; i < wk_n_kernels; i++) {
        kernels[i].loops[0] = f32[i];
        kernels[i].loops[1] = f64[i];
    }
}

/* Select the highest level of the CPU, or the wanted one. Return -1 if there is no such level here. */
int wk_choose_level(const char *wanted) {
    int any = wanted == NULL || *wanted == '\0';
#ifdef WK_HAS_LEVELS
    __builtin_cpu_init();
    int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    int v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
    if (v4 && (any || strcmp(wanted, "v4") == 0)) return select_level(LEVEL_(v4)), 0;
    if (v3 && (any || strcmp(wanted, "v3") == 0)) return select_level(LEVEL_(v3)), 0;
#endif
    if (any || strcmp(wanted, "base") == 0) return select_level(LEVEL_(base)), 0;
    return -1;
}

int wk_find_kernel(const char *name) {
    for (int i = 0; i < wk_n_kernels; i++) {
        if (strcmp(kernels[i].name, name) == 0) return i;
    }
    return wk_find_whole(name);
}

/* -- roles: the kernel of each operation and rule -------------------------------------------------------------------------- */

static const struct {
    const char *role, *kernel, *operands;
    int defaults; /* valid for default parameters only */
} roles[] = {
#define ROLE(role, kernel, operands, defaults) {role, kernel, operands, defaults},
#include "roles.h"
    ROLE("matmul", "product", "x y", 0)
    ROLE("matmul.x", "product_xt", "ct y", 0)
    ROLE("matmul.y", "product_tx", "x ct", 0)
    ROLE("mm", "product", "x mat2", 0)
    ROLE("mm.x", "product_xt", "ct mat2", 0)
    ROLE("bmm", "batch_product", "x mat2", 0)
    ROLE("bmm.x", "product_xt", "ct mat2", 0)
    ROLE("bmm.mat2", "product_tx", "x ct", 0)
    ROLE("mm.mat2", "product_tx", "x ct", 0)
    ROLE("linear", "layer", "x weight bias", 0)
    ROLE("linear.x", "product", "ct weight", 0)
    ROLE("linear.weight", "product_tx", "ct x", 0)
    ROLE("sum", "sum_all", "x", 1)
    ROLE("sum.x", "fill_sum", "ct x_shape", 1)
    ROLE("mean", "mean_all", "x", 1)
    ROLE("mean.x", "fill_mean", "ct x_shape", 1)
};

/* Index in roles, -1 if no kernel has the role. */
static int index_of_role(const char *role) {
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(roles[i].role, role) == 0) return (int)i;
    }
    return -1;
}

int wk_find_role(const char *role) {
    int i = index_of_role(role);
    return i < 0 ? -1 : wk_find_kernel(roles[i].kernel);
}

static PyObject *role_method(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) return NULL;
    int i = index_of_role(text);
    if (i < 0) Py_RETURN_NONE;
    return Py_BuildValue("(isi)", wk_find_kernel(roles[i].kernel), roles[i].operands, roles[i].defaults);
}

PyMethodDef wk_levels_methods[] = {
    {"role", role_method, METH_O, "role(name): (kernel, names of its operands, whether it needs default parameters), or None."},
    {NULL, NULL, 0, NULL},
};

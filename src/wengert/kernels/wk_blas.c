/* Loading a BLAS and calling its gemm: see wk_blas.h.
 *
 * Note [One thread a call]
 * Products run in tasks on wengert's own threads. A library that started threads of its own would compete with them for the cores,
 * so it is set to one thread. The BLAS that NumPy has loaded keeps its setting, because NumPy's users rely on it: the choice "numpy"
 * leaves whole products to NumPy.
 */
#include "wk_blas.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

#define GEMM(name, integer, real)                                                                                              \
    typedef void (*name)(int, int, int, integer, integer, integer, real, const real *, integer, const real *, integer, real,   \
                         real *, integer)
GEMM(Gemm32f, int32_t, float);
GEMM(Gemm32d, int32_t, double);
GEMM(Gemm64f, int64_t, float);
GEMM(Gemm64d, int64_t, double);

static struct {
    WkBlas kind;
    char name[256];
    int long_integers; /* the library's integers have 64 bits */
    void *sgemm, *dgemm;
} blas = {WK_BLAS_OWN, "wengert's own", 0, NULL, NULL};

WkBlas wk_blas(void) { return blas.kind; }
const char *wk_blas_name(void) { return blas.name; }

#ifdef _WIN32
static const char *load(const char *wanted) {
    (void)wanted;
    return "libraries are not loaded on this system";
}
#else
/* Names of one function in different builds: with integers of 32 bits, of 64 bits. */
static const char *const spellings[][2] = {
    {"cblas_%s", NULL}, {NULL, "cblas_%s64_"}, {NULL, "cblas_%s_64"}, {"scipy_cblas_%s", NULL}, {NULL, "scipy_cblas_%s64_"},
};
static const char *const thread_setters[] = {
    "openblas_set_num_threads", "openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_", "MKL_Set_Num_Threads", NULL,
};
static const char *const known[][4] = {
    {"mkl", "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"},
    {"blis", "libblis.so.4", "libblis.so.3", "libblis.so"},
    {"openblas", "libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"},
};

static int find_gemm(void *library) {
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        for (int is_long = 0; is_long < 2; is_long++) {
            if (spellings[i][is_long] == NULL) continue;
            char name[64];
            snprintf(name, sizeof name, spellings[i][is_long], "sgemm");
            void *sgemm = dlsym(library, name);
            snprintf(name, sizeof name, spellings[i][is_long], "dgemm");
            void *dgemm = dlsym(library, name);
            if (sgemm == NULL || dgemm == NULL) continue;
            blas.sgemm = sgemm, blas.dgemm = dgemm, blas.long_integers = is_long;
            return 1;
        }
    }
    return 0;
}

/* See Note [One thread a call]. */
static void set_one_thread(void *library) {
    for (const char *const *name = thread_setters; *name != NULL; name++) {
        void (*set)(int) = (void (*)(int))dlsym(library, *name);
        if (set != NULL) set(1);
    }
    void (*set_blis)(int64_t) = (void (*)(int64_t))dlsym(library, "bli_thread_set_num_threads");
    if (set_blis != NULL) set_blis(1);
}

static const char *load(const char *wanted) {
    const char *const *names = &wanted;
    int n = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(wanted, known[i][0]) == 0) names = known[i] + 1, n = 3;
    }
    void *library = NULL;
    for (int i = 0; i < n && library == NULL; i++) {
        void *loaded = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (loaded != NULL) {
            dlclose(loaded);
            return "the process has loaded this library already; if NumPy has, WENGERT_BLAS=numpy uses it";
        }
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        snprintf(blas.name, sizeof blas.name, "%s", names[i]);
    }
    if (library == NULL) return "no such library can be loaded";
    if (!find_gemm(library)) return "the library has no cblas_sgemm and cblas_dgemm";
    set_one_thread(library);
    blas.kind = WK_BLAS_LOADED;
    return NULL;
}
#endif

const char *wk_choose_blas(const char *wanted) {
    if (wanted == NULL || *wanted == '\0' || strcmp(wanted, "own") == 0) return NULL;
    if (strcmp(wanted, "numpy") != 0) return load(wanted);
    blas.kind = WK_BLAS_NUMPY;
    snprintf(blas.name, sizeof blas.name, "NumPy's BLAS");
    return NULL;
}

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

int wk_blas_layout(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step, WkBlasMatrix *matrix) {
    if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1)) {
        matrix->transposed = 0;
        matrix->leading = greater(rows == 1 ? columns : row_step, 1);
    } else if ((row_step == 1 || rows == 1) && (column_step >= rows || columns == 1)) {
        matrix->transposed = 1;
        matrix->leading = greater(columns == 1 ? rows : column_step, 1);
    } else {
        return 0;
    }
    return blas.long_integers || (rows <= INT_MAX && columns <= INT_MAX && matrix->leading <= INT_MAX);
}

#define CALL(type, function, integer, real)                                                                                      \
    ((type)function)(ROW_MAJOR, a.transposed ? TRANSPOSE : NO_TRANSPOSE, b.transposed ? TRANSPOSE : NO_TRANSPOSE, (integer)m,      \
                     (integer)n, (integer)k, (real)1, (const real *)a.data, (integer)a.leading, (const real *)b.data,              \
                     (integer)b.leading, (real)0, (real *)c, (integer)c_row)

void wk_blas_multiply(int f64, int64_t m, int64_t n, int64_t k, WkBlasMatrix a, WkBlasMatrix b, void *c, int64_t c_row) {
    if (blas.long_integers) {
        if (f64) CALL(Gemm64d, blas.dgemm, int64_t, double);
        else CALL(Gemm64f, blas.sgemm, int64_t, float);
    } else {
        if (f64) CALL(Gemm32d, blas.dgemm, int32_t, double);
        else CALL(Gemm32f, blas.sgemm, int32_t, float);
    }
}

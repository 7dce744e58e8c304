/* Products of matrices, and of batches of them. See wk_matmul.h.
 *
 * Note [Small products]
 * NumPy and its BLAS need half a microsecond and more to start a product of matrices of a few hundred numbers. Here such a product
 * is a loop over columns of y, as wide as the widest registers, and over rows of x, four at a time. Columns with other strides are
 * copied first. The result is that of BLAS, for infinities and NaN too: each element is a sum of products, and no product is left
 * out.
 *
 * Note [Middle products]
 * BLAS has its own threads. After a product they keep looking for work on the cores that the threads of the other kernels want
 * next. In a network whose layers take some hundred microseconds each, a second core then gains next to nothing. Products of this
 * size therefore run on our own threads, as fast as those of BLAS. A task is some rows of one panel of columns. Panels that are not
 * contiguous are copied, and the left factor is read in place. NumPy gives BLAS a batch product by product; here the products of a
 * batch are tasks too. The terms and the order of each sum are the same for any number of threads. BLAS does larger products.
 * If the user has chosen a BLAS (wk_blas.h), the BLAS multiplies the rows of each task, and all products but the small ones are cut
 * into such tasks.
 */
#include "wk_matmul.h"

#include <string.h>

#include "wk_blas.h"
#include "wk_level.h"
#include "wk_pool.h"
#include "wk_products.h"
#include "wk_rows.h"
#include "wk_release.h"

enum {
    SMALL_PRODUCT = 262144, /* most multiplications, times the bytes of a number */
    MOST_COPIED = 128,      /* most rows of y whose columns are copied side by side */
    FEW_STRIDED = 512,      /* strided numbers of y that are always worth copying; more are, if x has MANY_ROWS */
    MANY_ROWS = 32,
    FEW_ROWS = 64,          /* ops/blas.py is faster for this many rows and a right factor that is stored by columns */
    LARGE_FACTOR = 32768,   /* and has at least this many numbers */
    MIDDLE_PRODUCT = 1 << 30, /* most multiplications, */
    MIDDLE_FACTOR = 1 << 22,  /* if the left factor has at most this many bytes: it is read once for each panel, from the cache */
    LEAST_MIDDLE = 1 << 27,   /* most multiplications with any left factor, times the bytes of a number */
    DEPTH = 256,            /* rows of y multiplied at once; a panel of them stays in the first or second cache */
    PANEL_BYTES = 128,      /* most bytes of a row of a panel */
    TASKS = 8,              /* number of tasks of a product, if it has enough rows */
    FEWEST = 8,             /* rows of x and columns of y; BLAS has its own products for vectors */
    FEWEST_OF_BATCH = 1 << 15, /* least multiplications in each product of a batch; NumPy is fast for fewer */
    SMALL_OF_BATCH = 1 << 14,  /* most multiplications, including those with the zeros that fill a register */
    NARROW = 1 << 20,       /* multiplications from which FEWEST columns are enough; below, twice as many */
    FEWEST_ROWS = 48,       /* least rows of a task */
    COPYING_ROWS = 96,      /* rows of a task from which it pays to copy a panel that could be read in place */
    TILE_ROWS = 12,         /* most rows that the products take at once */
    WORK = 1 << 16,         /* least number of multiplications for a thread */
    LARGE_VECTOR_PRODUCT = 1 << 16, /* most multiplications of a product with a vector, times the bytes of a number */
    FINISHED_ROWS = 24,     /* rows of a panel whose target is loaded while the product is computed */
    RELEASING = 1 << 18,    /* multiplications from which other Python threads may run meanwhile */
};

typedef struct {
    PyArrayObject *array;
    const char *data;
    npy_intp shape[2], steps[2]; /* steps: in bytes */
} Matrix;

/* Read an array as a matrix or a batch of matrices, with the last two dims exchanged if transposed. Return 0 if it is neither, or
 * has another dtype than float32 and float64. */
static int take_matrix(PyObject *x, int transposed, Matrix *matrix) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a), batch = PyArray_NDIM(a) - 2;
    if (batch < 0 || (type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(a)) return 0;
    matrix->array = a;
    matrix->data = PyArray_BYTES(a);
    for (int d = 0; d < 2; d++) {
        int from = batch + (transposed ? 1 - d : d);
        matrix->shape[d] = PyArray_DIM(a, from);
        matrix->steps[d] = PyArray_STRIDE(a, from);
    }
    return 1;
}

/* -- small products -------------------------------------------------------------------------------------------------------- */

/* Whether multiply_small accepts the factors, and copies little compared with the product. */
static int is_quick(const Matrix *x, const Matrix *y, npy_intp size) {
    npy_intp k = y->shape[0], n = y->shape[1];
    if (x->steps[0] % size != 0 || x->steps[1] % size != 0 || y->steps[0] % size != 0) return 0;
    if (y->steps[1] == size) return n % WK_LANES(size) == 0 || k <= MOST_COPIED;
    return k <= MOST_COPIED && (x->shape[0] >= MANY_ROWS || k * n <= FEW_STRIDED);
}

/* Copy the columns first <= j < first + n of y as rows of `lanes` numbers. Missing columns are zeros. */
#define COPY_COLUMNS(real, lanes)                                                              \
    do {                                                                                       \
        if (n < (lanes)) memset(panel, 0, (size_t)(y->shape[0] * (lanes)) * sizeof(real));     \
        real *to = (real *)panel;                                                              \
        for (npy_intp l = 0; l < y->shape[0]; l++, from += row, to += (lanes)) {               \
            if (column == sizeof(real)) {                                                      \
                for (npy_intp j = 0; j < n; j++) to[j] = ((const real *)from)[j];              \
            } else {                                                                           \
                for (npy_intp j = 0; j < n; j++) to[j] = *(const real *)(from + j * column);   \
            }                                                                                  \
        }                                                                                      \
    } while (0)

static void copy_columns(const Matrix *y, npy_intp size, npy_intp first, npy_intp n, char *panel) {
    npy_intp row = y->steps[0], column = y->steps[1];
    const char *from = y->data + first * column;
    if (size == sizeof(float)) COPY_COLUMNS(float, WK_LANES(sizeof(float)));
    else COPY_COLUMNS(double, WK_LANES(sizeof(double)));
}

typedef struct {
    Matrix x, y; /* first matrices of the batch */
    char *out;
    const WkRows *rows;
    npy_intp size;
} SmallProducts;

/* Compute one product into out. See Note [Small products]. */
static void multiply_one(const SmallProducts *s, const char *x, const char *y_data, char *out) {
    npy_intp size = s->size, m = s->x.shape[0], k = s->y.shape[0], n = s->y.shape[1];
    int lanes = WK_LANES(size);
    char panel[MOST_COPIED * 64]; /* a row is as long as a register of 64 bytes */
    Matrix y = s->y;
    y.data = y_data;
    for (npy_intp j = 0; j < n; j += lanes, out += lanes * size) {
        npy_intp width = n - j < lanes ? n - j : lanes;
        const char *columns = y.data + j * y.steps[1];
        npy_intp y_row = y.steps[0] / size;
        if (width < lanes || y.steps[1] != size) {
            copy_columns(&y, size, j, width, panel);
            columns = panel;
            y_row = lanes;
        }
        s->rows->multiply(x, s->x.steps[0] / size, s->x.steps[1] / size, columns, y_row, m, k, width, out, n);
    }
}

static void multiply_batch(void *ctx, int64_t begin, int64_t end) {
    const SmallProducts *s = (const SmallProducts *)ctx;
    PyArrayObject *arrays[] = {s->x.array, s->y.array};
    npy_intp bytes = s->x.shape[0] * s->y.shape[1] * s->size;
    for (int64_t i = begin; i < end; i++) {
        const char *data[] = {s->x.data, s->y.data};
        int64_t index = i;
        for (int d = PyArray_NDIM(arrays[0]) - 3; d >= 0; index /= PyArray_DIM(arrays[0], d), d--) {
            for (int k = 0; k < 2; k++) data[k] += index % PyArray_DIM(arrays[0], d) * PyArray_STRIDE(arrays[k], d);
        }
        multiply_one(s, data[0], data[1], s->out + i * bytes);
    }
}

/* Multiply a batch, or a single pair. */
static PyObject *multiply_small(const Matrix *x, const Matrix *y, int type) {
    SmallProducts s = {.x = *x, .y = *y, .rows = wk_rows_of(type), .size = PyArray_ITEMSIZE(x->array)};
    npy_intp shape[NPY_MAXDIMS], work = x->shape[0] * x->shape[1] * y->shape[1], batch = 1;
    int nd = PyArray_NDIM(x->array);
    for (int d = 0; d < nd - 2; d++) batch *= shape[d] = PyArray_DIM(x->array, d);
    shape[nd - 2] = x->shape[0], shape[nd - 1] = y->shape[1];
    PyObject *out = wk_new_array(nd, shape, type);
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES((PyArrayObject *)out);
    if (batch == 1) {
        multiply_one(&s, x->data, y->data, s.out);
        return out;
    }
    if (wk_run_loop(batch * work > RELEASING, batch, WORK / (work < 1 ? 1 : work) + 1, multiply_batch, &s) < 0) Py_CLEAR(out);
    return out;
}

/* -- middle products ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const WkProducts *products;
    const char *x, *y;
    char *out;
    int64_t m, k, n, x_row, x_step, y_row, y_step;   /* steps: in numbers */
    int64_t item, rows, columns, row_blocks, panels; /* rows, columns: of a task; row_blocks, panels: numbers of tasks down and across */
    int nd;                                          /* number of batch dims */
    int64_t shape[NPY_MAXDIMS], x_steps[NPY_MAXDIMS], y_steps[NPY_MAXDIMS]; /* strides of the batch dims in bytes */
    const WkFinish *finish; /* of a product of two matrices, or NULL */
} Product;

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Copy rows first <= i < first + depth of the columns column <= j < column + width of y into a contiguous panel. Missing columns
 * are zeros. */
static void copy_panel(const Product *s, const char *y, int64_t first, int64_t depth, int64_t column, int64_t width, char *panel) {
    int64_t full = s->products->panel;
    const char *from = y + (first * s->y_row + column * s->y_step) * s->item;
    if (width < full) memset(panel, 0, (size_t)(depth * full * s->item));
    if (s->y_row == 1) {
        s->products->transpose(from, s->y_step, width, depth, panel, full);
    } else {
        s->products->copy_rows(panel, full * s->item, from, s->y_row * s->item, depth, width * s->item);
    }
}

/* One task: some rows of some columns of one product of the batch. y: the whole right factor. */
typedef struct {
    const char *x, *y;
    char *out;
    int64_t rows, column, width;
} Task;

static Task find_task(const Product *s, int64_t number) {
    int64_t row = number % s->row_blocks * s->rows, batch = number / s->row_blocks / s->panels, index = batch;
    int64_t column = number / s->row_blocks % s->panels * s->columns;
    Task task = {.x = s->x + row * s->x_row * s->item, .y = s->y, .column = column, .rows = lesser(s->rows, s->m - row),
                 .width = lesser(s->columns, s->n - column)};
    for (int d = s->nd - 1; d >= 0; index /= s->shape[d], d--) {
        task.x += index % s->shape[d] * s->x_steps[d];
        task.y += index % s->shape[d] * s->y_steps[d];
    }
    task.out = s->out + ((batch * s->m + row) * s->n + column) * s->item;
    return task;
}

/* Load the rows of the target that belong to rows of a task. */
static void prefetch_target(const Product *s, const Task *task, int64_t row, int64_t rows) {
#ifdef __GNUC__
    const char *target = s->finish->target + (task->out - s->out) + row * s->n * s->item;
    for (int64_t i = 0; i < rows; i++, target += s->n * s->item) {
        for (int64_t k = 0; k < task->width * s->item; k += 64) __builtin_prefetch(target + k, 1, 3);
    }
#endif
}

/* Finish rows of a task whose product is complete. */
static void finish_rows(const Product *s, const Task *task, int64_t row, int64_t rows) {
    int64_t offset = task->out - s->out + row * s->n * s->item;
    const WkFinish *f = s->finish;
    wk_rows_of(s->item == sizeof(float) ? NPY_FLOAT : NPY_DOUBLE)->finish(
        s->out + offset, s->n, rows, task->width, f->bias == NULL ? NULL : f->bias + task->column * s->item,
        f->target == NULL ? NULL : f->target + offset, s->n, f->rate);
}

/* Run one task with our own product. */
static void run_task(const Product *s, int64_t number) {
    _Alignas(64) char panel[DEPTH * PANEL_BYTES];
    Task task = find_task(s, number);
    int64_t full = s->columns;
    for (int64_t first = 0; first < s->k; first += DEPTH) {
        int64_t depth = lesser(DEPTH, s->k - first), y_row = s->y_row;
        const char *columns = task.y + (first * s->y_row + task.column) * s->item;
        if (s->y_step != 1 || task.width < full || s->rows >= COPYING_ROWS) {
            copy_panel(s, task.y, first, depth, task.column, task.width, panel);
            columns = panel;
            y_row = full;
        }
        int finishes = s->finish != NULL && first + depth == s->k, has_target = finishes && s->finish->target != NULL;
        for (int64_t row = 0, rows = has_target ? FINISHED_ROWS : task.rows; row < task.rows; row += rows) {
            rows = lesser(rows, task.rows - row);
            if (has_target) prefetch_target(s, &task, row, rows);
            s->products->product(task.x + (first * s->x_step + row * s->x_row) * s->item, s->x_row, s->x_step, columns, y_row, rows,
                                 task.width, depth, NULL, first > 0, task.out + row * s->n * s->item, s->n);
            if (finishes) finish_rows(s, &task, row, rows);
        }
    }
}

static void run_tasks(void *product, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) run_task((const Product *)product, i);
}

WK_DEFINE_TABLE_OF(WkProducts, products_of, wk_products)

const WkProducts *wk_products_of(int typenum) { return products_of(typenum); }

/* Whether our own product takes this one; otherwise BLAS does. With narrow registers, these products were never measured against
 * BLAS. */
static int is_middle(const Matrix *x, const Matrix *y, npy_intp size) {
    for (int d = 0; d < 2; d++) {
        if (x->steps[d] % size != 0 || y->steps[d] % size != 0) return 0;
    }
    if ((y->steps[0] != size && y->steps[1] != size) || strcmp(wk_level_name(), "base") == 0) return 0;
    npy_intp m = x->shape[0], n = y->shape[1], work = m * x->shape[1] * n;
    return m >= FEWEST && n >= (work < NARROW ? 2 * FEWEST : FEWEST) &&
           (work <= LEAST_MIDDLE / size || (work <= MIDDLE_PRODUCT && m * x->shape[1] <= MIDDLE_FACTOR / size));
}

/* -- products by a BLAS of the user's choice -------------------------------------------------------------------------------- */

/* Run tasks with the BLAS of the user's choice. */
static void run_blas_tasks(void *product, int64_t begin, int64_t end) {
    const Product *s = (const Product *)product;
    for (int64_t i = begin; i < end; i++) {
        Task task = find_task(s, i);
        WkBlasMatrix a = {.data = task.x}, b = {.data = task.y + task.column * s->y_step * s->item};
        wk_blas_layout(task.rows, s->k, s->x_row, s->x_step, &a);
        wk_blas_layout(s->k, task.width, s->y_row, s->y_step, &b);
        wk_blas_multiply(s->item == sizeof(double), task.rows, task.width, s->k, a, b, task.out, s->n);
    }
}

/* Whether the library can read both factors where they are. */
static int blas_takes(const Matrix *x, const Matrix *y, npy_intp size) {
    WkBlasMatrix a, b;
    for (int d = 0; d < 2; d++) {
        if (x->steps[d] % size != 0 || y->steps[d] % size != 0) return 0;
    }
    return wk_blas_layout(x->shape[0], x->shape[1], x->steps[0] / size, x->steps[1] / size, &a) &&
           wk_blas_layout(y->shape[0], y->shape[1], y->steps[0] / size, y->steps[1] / size, &b);
}

/* -- tasks ------------------------------------------------------------------------------------------------------------------ */

/* Multiply as Note [Middle products] describes. by_blas: the BLAS of the user's choice runs the tasks, which then have wide columns. */
static PyObject *multiply_in_tasks(const Matrix *x, const Matrix *y, int type, int by_blas, const WkFinish *finish) {
    int64_t size = PyArray_ITEMSIZE(x->array), batch = 1;
    Product s = {.products = wk_products_of(type), .x = x->data, .y = y->data, .m = x->shape[0], .k = x->shape[1], .n = y->shape[1],
                 .x_row = x->steps[0] / size, .x_step = x->steps[1] / size, .y_row = y->steps[0] / size,
                 .y_step = y->steps[1] / size, .item = size, .nd = PyArray_NDIM(x->array) - 2, .finish = finish};
    npy_intp shape[NPY_MAXDIMS];
    for (int d = 0; d < s.nd; d++) {
        batch *= shape[d] = s.shape[d] = PyArray_DIM(x->array, d);
        s.x_steps[d] = PyArray_STRIDE(x->array, d);
        s.y_steps[d] = PyArray_STRIDE(y->array, d);
    }
    shape[s.nd] = s.m, shape[s.nd + 1] = s.n;
    PyObject *out = wk_new_array(s.nd + 2, shape, type);
    if (out == NULL || PyArray_SIZE((PyArrayObject *)out) == 0) return out;
    s.out = PyArray_BYTES((PyArrayObject *)out);
    if (s.k == 0) {
        memset(s.out, 0, (size_t)PyArray_NBYTES((PyArrayObject *)out));
        return out;
    }
    s.columns = s.products->panel;
    s.panels = ceil_div(s.n, s.columns);
    s.row_blocks = lesser(ceil_div(TASKS, batch * (by_blas ? 1 : s.panels)), ceil_div(s.m, FEWEST_ROWS));
    s.rows = ceil_div(ceil_div(s.m, s.row_blocks), TILE_ROWS) * TILE_ROWS;
    s.row_blocks = ceil_div(s.m, s.rows);
    if (by_blas) {
        s.columns = ceil_div(s.n, lesser(ceil_div(TASKS, batch * s.row_blocks), ceil_div(s.n, FEWEST_ROWS)));
        s.panels = ceil_div(s.n, s.columns);
    }
    int64_t of_task = lesser(s.rows, s.m) * s.k * lesser(s.n, s.columns), tasks = batch * s.panels * s.row_blocks;
    if (wk_run_loop(tasks * of_task > RELEASING, tasks, ceil_div(WORK, of_task), by_blas ? run_blas_tasks : run_tasks, &s) < 0) {
        Py_CLEAR(out);
    }
    return out;
}

/* -- all products ---------------------------------------------------------------------------------------------------------- */

static int same_batch(PyArrayObject *x, PyArrayObject *y) {
    if (PyArray_NDIM(x) != PyArray_NDIM(y)) return 0;
    return PyArray_CompareLists(PyArray_DIMS(x), PyArray_DIMS(y), PyArray_NDIM(x) - 2);
}

/* Return the product. `finish` becomes NULL if the product is finished; products that are not cut into own tasks are not. */
static PyObject *multiply(PyObject *left, int transposes_left, PyObject *right, int transposes_right, const WkFinish **finish) {
    Matrix x, y;
    if (!take_matrix(left, transposes_left, &x) || !take_matrix(right, transposes_right, &y)) Py_RETURN_NONE;
    int type = PyArray_TYPE(x.array), is_batch = PyArray_NDIM(x.array) > 2;
    if (type != PyArray_TYPE(y.array) || x.shape[1] != y.shape[0] || !same_batch(x.array, y.array)) Py_RETURN_NONE;
    npy_intp m = x.shape[0], k = y.shape[0], n = y.shape[1], size = PyArray_ITEMSIZE(x.array);
    /* Multiplications in whole registers. For larger products, or those with a column or two, the call of NumPy for each product
     * costs little in comparison. */
    npy_intp computed = m * k * ceil_div(n, WK_LANES(size)) * WK_LANES(size);
    int is_small = is_batch ? computed < SMALL_OF_BATCH : m * k * n <= SMALL_PRODUCT / size;
    if (is_small && is_quick(&x, &y, size)) return multiply_small(&x, &y, type);
    if (wk_blas() == WK_BLAS_LOADED && blas_takes(&x, &y, size)) return multiply_in_tasks(&x, &y, type, 1, NULL);
    int is_own = wk_blas() != WK_BLAS_NUMPY && is_middle(&x, &y, size);
    if (is_own && (!is_batch || m * k * n >= FEWEST_OF_BATCH)) {
        const WkFinish *given = *finish;
        if (k > 0) *finish = NULL;
        return multiply_in_tasks(&x, &y, type, 0, given);
    }
    if (is_batch || (m <= FEW_ROWS && k * n >= LARGE_FACTOR && y.steps[0] == size)) Py_RETURN_NONE;
    npy_intp shape[2] = {m, n};
    PyObject *result = NULL, *out = wk_new_array(2, shape, type);
    PyObject *a = transposes_left ? PyArray_Transpose(x.array, NULL) : Py_NewRef(left);
    PyObject *b = transposes_right ? PyArray_Transpose(y.array, NULL) : Py_NewRef(right);
    if (a != NULL && b != NULL && out != NULL) result = PyArray_MatrixProduct2(a, b, (PyArrayObject *)out);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(out);
    return result;
}

PyObject *wk_matmul(PyObject *left, int transposes_left, PyObject *right, int transposes_right) {
    const WkFinish *finish = NULL;
    return multiply(left, transposes_left, right, transposes_right, &finish);
}

typedef struct {
    char *out;
    int64_t n, item;
    const WkFinish *finish;
} Finishing;

static void finish_some(void *ctx, int64_t begin, int64_t end) {
    const Finishing *s = (const Finishing *)ctx;
    int64_t start = begin * s->n * s->item;
    wk_rows_of(s->item == sizeof(float) ? NPY_FLOAT : NPY_DOUBLE)->finish(
        s->out + start, s->n, end - begin, s->n, s->finish->bias, s->finish->target == NULL ? NULL : s->finish->target + start, s->n,
        s->finish->rate);
}

PyObject *wk_finished_product(PyObject *left, int transposes_left, PyObject *right, int transposes_right, const WkFinish *finish) {
    PyObject *out = multiply(left, transposes_left, right, transposes_right, &finish);
    if (out == NULL || out == Py_None || finish == NULL) return out;
    PyArrayObject *array = (PyArrayObject *)out;
    int64_t m = PyArray_DIM(array, 0), n = PyArray_DIM(array, 1);
    Finishing s = {.out = PyArray_BYTES(array), .n = n, .item = PyArray_ITEMSIZE(array), .finish = finish};
    if (m * n > 0 && wk_run_loop(m * n > RELEASING, m, WORK / n + 1, finish_some, &s) < 0) Py_CLEAR(out);
    return out;
}

/* Read a vector. Return 0 if the array is none, or has no contiguous numbers of float32 or float64. */
static int take_vector(PyArrayObject *a, npy_intp *n) {
    int type = PyArray_TYPE(a);
    if (PyArray_NDIM(a) != 1 || (type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(a)) return 0;
    *n = PyArray_DIM(a, 0);
    return *n <= 1 || PyArray_STRIDE(a, 0) == PyArray_ITEMSIZE(a);
}

/* BLAS takes the larger products: its threads and prefetching gain more there than the call of NumPy costs. */
PyObject *wk_vector_product(PyObject *left, PyObject *right) {
    if (!PyArray_CheckExact(left) || !PyArray_CheckExact(right)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)left, *b = (PyArrayObject *)right;
    int type = PyArray_TYPE(a), is_right = PyArray_NDIM(b) == 1;
    npy_intp k, size = PyArray_ITEMSIZE(a);
    if (PyArray_TYPE(b) != type || !take_vector(is_right ? b : a, &k)) Py_RETURN_NONE;
    const WkRows *rows = wk_rows_of(type);
    PyArrayObject *other = is_right ? a : b;
    if (PyArray_NDIM(other) == 1) {
        npy_intp n;
        if (!take_vector(other, &n) || n != k || n > LARGE_VECTOR_PRODUCT) Py_RETURN_NONE;
        PyObject *out = wk_new_array(0, NULL, type);
        if (out != NULL) rows->multiply_vector(PyArray_BYTES(a), 0, PyArray_BYTES(b), 1, k, PyArray_BYTES((PyArrayObject *)out));
        return out;
    }
    Matrix x; /* x @ vector is the result */
    if (!take_matrix((PyObject *)other, !is_right, &x) || PyArray_NDIM(other) != 2 || x.shape[1] != k) Py_RETURN_NONE;
    npy_intp m = x.shape[0], limit = LARGE_VECTOR_PRODUCT / size;
    int by_rows = x.steps[1] == size && x.steps[0] % size == 0, by_columns = x.steps[0] == size && x.steps[1] % size == 0;
    if (m * k > limit || !(by_rows || (by_columns && (k <= MOST_COPIED || m % WK_LANES(size) == 0)))) Py_RETURN_NONE;
    PyObject *out = wk_new_array(1, &m, type);
    if (out == NULL || m == 0) return out;
    const char *vector = PyArray_BYTES(is_right ? b : a);
    char *result = PyArray_BYTES((PyArrayObject *)out);
    if (by_rows) {
        rows->multiply_vector(x.data, x.steps[0] / size, vector, m, k, result);
    } else { /* one row times the transposed matrix, whose rows are contiguous */
        SmallProducts s = {.rows = rows, .size = size};
        s.x.shape[0] = 1, s.x.shape[1] = k, s.x.steps[0] = k * size, s.x.steps[1] = size;
        s.y.shape[0] = k, s.y.shape[1] = m, s.y.steps[0] = x.steps[1], s.y.steps[1] = size;
        multiply_one(&s, vector, x.data, result);
    }
    return out;
}

static PyObject *matmul_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "matmul takes 2 arguments");
    return wk_matmul(args[0], 0, args[1], 0);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_matmul_methods[] = {
    METHOD(matmul, "matmul(x, y): x @ y, for matrices or batches of one shape."),
    {NULL, NULL, 0, NULL},
};

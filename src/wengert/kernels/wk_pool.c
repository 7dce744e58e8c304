/* Note [Buffer pool]
 * The system hands out fresh memory page by page, and zeroes each page when it is first touched. For large arrays this costs more
 * than the arithmetic that fills them. The pool therefore keeps the memory of large results when their arrays are gone, and uses it
 * for later results.
 *
 * - Sizes are rounded up to one of eight classes per octave. A new block wastes at most an eighth, and results of about the same
 *   size can use the same blocks. If no block of its class is idle, a result takes one of up to twice its size.
 * - Blocks of 4 MiB and more start on boundaries of 2 MiB, and the system is asked to back them with pages of this size.
 * - Blocks start at different offsets into their pages (colours). If operands and results had the same offset, each read would wait
 *   for the write before it with the same lowest address bits.
 * - An array refers to its block through its base, an object that gives the block back when it dies. Views therefore keep the
 *   block, and an array that the user holds is never overwritten.
 * - The idle memory is limited. It makes room for a new block if both together would be much more than arrays had at a time. The
 *   blocks that were given back the longest ago are released first.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wk_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wk_machine.h"
#include "wk_threads.h"

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#define HAS_MMAP
#include <pthread.h>
#include <sys/mman.h>
#endif

#ifdef HAS_MMAP

#define MiB ((size_t)1 << 20)
enum {
    SMALLEST_LOG2 = 16,
    SMALLEST = 1 << SMALLEST_LOG2, /* bytes; malloc returns such blocks to the system, and gets them anew page by page */
    STEPS_LOG2 = 3,                /* 2**STEPS_LOG2 classes per octave */
    CLASSES = (48 - SMALLEST_LOG2) << STEPS_LOG2,
    COLOURS = 64,
    COLOUR_STEP = 11, /* in units of 64 bytes; consecutive blocks lie far apart, modulo the 4096 bytes of a page */
    LARGER = 1 << STEPS_LOG2, /* number of classes by which a block may exceed the request */
    SLACK = 8 << 20,  /* bytes that may lie idle beyond the peak of what arrays held, */
    SLACK_PART = 16,  /* plus the peak divided by this number */
    NUMPY_DOMAIN = 389047, /* domain of tracemalloc in which NumPy reports its memory */
};
#define HUGE_FROM (4 * MiB)
#define MOST ((size_t)1 << 62)
#define HUGE_PAGE (2 * MiB)

typedef struct Block {
    struct Block *newer, *older;   /* list of all idle blocks */
    struct Block *next, *previous; /* list of the idle blocks of this class */
    char *memory;                  /* address returned by mmap */
    size_t mapped;
    char *data; /* start of the data, after the colour */
    size_t size;
    int class;
} Block;

static struct {
    Block *idle[CLASSES];
    Block *newest, *oldest;
    size_t limit;
    int started;
    unsigned colour;
    struct {
        int64_t allocated, allocated_peak, reserved, reserved_peak; /* bytes in arrays, and bytes taken from the system */
        int64_t hits, misses, released;                             /* numbers of blocks */
    } count;
} pool_;
static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;

static void lock_pool(void) { pthread_mutex_lock(&lock_); }
static void unlock_pool(void) { pthread_mutex_unlock(&lock_); }
void wk_pool_survive_forks(void) { pthread_atfork(lock_pool, unlock_pool, unlock_pool); }

/* -- blocks; all under the lock ------------------------------------------------------------------------------------------- */

/* Default limit of idle bytes: WENGERT_POOL_LIMIT, a number such as 500000000 or 5e8, else min(1 GiB, a quarter of the memory that
 * the process may use). 0 keeps nothing. */
static size_t default_limit(void) {
    const char *text = getenv("WENGERT_POOL_LIMIT");
    char *end = NULL;
    double bytes = text != NULL ? strtod(text, &end) : -1;
    if (bytes >= 0 && end != text && end[strspn(end, " ")] == '\0') return bytes < (double)MOST ? (size_t)bytes : MOST;
    int64_t memory = wk_usable_memory();
    size_t quarter = memory > 0 ? (size_t)memory / 4 : 256 * MiB;
    return quarter < 1024 * MiB ? quarter : 1024 * MiB;
}

static void start_pool(void) {
    pool_.limit = default_limit();
    pool_.started = 1;
}

/* Smallest class that holds `size` bytes, or -1. Sets *rounded to the bytes of the class. */
static int class_of(size_t size, size_t *rounded) {
    int octave = 63 - __builtin_clzll((unsigned long long)size);
    size_t step = (size_t)1 << (octave - STEPS_LOG2);
    size_t above = (size - ((size_t)1 << octave) + step - 1) / step;
    *rounded = ((size_t)1 << octave) + above * step;
    int class = ((octave - SMALLEST_LOG2) << STEPS_LOG2) + (int)above;
    return class < CLASSES ? class : -1;
}

static Block *map_block(int class, size_t size) {
    size_t slack = COLOURS * 64, mapped = size + slack, align = 0;
    if (size >= HUGE_FROM) align = HUGE_PAGE;
    Block *block = (Block *)malloc(sizeof *block);
    if (block == NULL) return NULL;
    char *memory = (char *)mmap(NULL, mapped + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == (char *)MAP_FAILED) {
        free(block);
        return NULL;
    }
    char *start = memory;
    if (align) {
        start = (char *)(((uintptr_t)memory + align - 1) & ~(uintptr_t)(align - 1));
#ifdef MADV_HUGEPAGE
        madvise(start, mapped, MADV_HUGEPAGE);
#endif
    }
    *block = (Block){.memory = memory, .mapped = mapped + align, .size = size, .class = class};
    block->data = start + (size_t)(pool_.colour++ * COLOUR_STEP % COLOURS) * 64;
    pool_.count.reserved += (int64_t)size;
    if (pool_.count.reserved > pool_.count.reserved_peak) pool_.count.reserved_peak = pool_.count.reserved;
    return block;
}

static void unlink_idle(Block *block) {
    if (block->next) block->next->previous = block->previous;
    if (block->previous) block->previous->next = block->next;
    else pool_.idle[block->class] = block->next;
    if (block->newer) block->newer->older = block->older;
    else pool_.newest = block->older;
    if (block->older) block->older->newer = block->newer;
    else pool_.oldest = block->newer;
}

static void link_idle(Block *block) {
    block->previous = NULL;
    block->next = pool_.idle[block->class];
    if (block->next) block->next->previous = block;
    pool_.idle[block->class] = block;
    block->newer = NULL;
    block->older = pool_.newest;
    if (block->older) block->older->newer = block;
    else pool_.oldest = block;
    pool_.newest = block;
}

static void unmap_block(Block *block) {
    pool_.count.reserved -= (int64_t)block->size;
    pool_.count.released++;
    munmap(block->memory, block->mapped);
    free(block);
}

/* Release idle blocks until at most `limit` bytes lie idle. The oldest block of at most twice the surplus goes first; if all are
 * larger, the oldest. */
static void trim(size_t limit) {
    for (;;) {
        int64_t surplus = pool_.count.reserved - pool_.count.allocated - (int64_t)limit;
        if (surplus <= 0 || pool_.oldest == NULL) return;
        Block *block = pool_.oldest;
        while (block->newer != NULL && (int64_t)block->size > 2 * surplus) block = block->newer;
        if ((int64_t)block->size > 2 * surplus) block = pool_.oldest;
        unlink_idle(block);
        unmap_block(block);
    }
}

/* Release idle blocks, all too small or too large, before a new block of `size` bytes is mapped. The system should not give much
 * more memory than arrays once held at a time. */
static void make_room(size_t size) {
    int64_t in_use = pool_.count.allocated + (int64_t)size, peak = pool_.count.allocated_peak;
    trim((size_t)(in_use < peak ? peak - in_use : 0) + SLACK + (size_t)peak / SLACK_PART);
}

/* Idle block of this class or of the nearest larger class, up to twice as large, or NULL. */
static Block *find_idle(int class) {
    for (int last = class + LARGER; class <= last && class < CLASSES; class++) {
        if (pool_.idle[class] != NULL) return pool_.idle[class];
    }
    return NULL;
}

static Block *take_block(size_t size) {
    size_t rounded;
    int class = class_of(size, &rounded);
    if (class < 0) return NULL;
    lock_pool();
    if (!pool_.started) start_pool();
    Block *block = find_idle(class);
    if (block != NULL) {
        unlink_idle(block);
        pool_.count.hits++;
    } else {
        make_room(rounded);
        block = map_block(class, rounded);
        if (block == NULL) { /* the system may need the memory of the idle blocks */
            trim(0);
            block = map_block(class, rounded);
        }
        pool_.count.misses += block != NULL;
    }
    if (block != NULL) {
        pool_.count.allocated += (int64_t)block->size;
        if (pool_.count.allocated > pool_.count.allocated_peak) pool_.count.allocated_peak = pool_.count.allocated;
    }
    unlock_pool();
    return block;
}

static void give_back(Block *block) {
    lock_pool();
    pool_.count.allocated -= (int64_t)block->size;
    link_idle(block);
    trim(pool_.limit);
    unlock_pool();
}

/* -- arrays --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Block *block;
} Buffer;

static void buffer_dealloc(PyObject *self) {
    Block *block = ((Buffer *)self)->block;
    PyTraceMalloc_Untrack(NUMPY_DOMAIN, (uintptr_t)block->data);
    give_back(block);
    PyObject_Free(self);
}

static PyTypeObject buffer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "wengert.kernels.native.Buffer",
    .tp_basicsize = sizeof(Buffer),
    .tp_dealloc = buffer_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Memory of a large array. It goes back to the pool when the last array that uses it dies.",
};

static PyObject *pooled_array(int nd, npy_intp const *shape, PyArray_Descr *descr, size_t size) {
    if (buffer_type.tp_base == NULL && PyType_Ready(&buffer_type) < 0) return NULL;
    Buffer *buffer = PyObject_New(Buffer, &buffer_type);
    if (buffer == NULL) return NULL;
    buffer->block = take_block(size);
    if (buffer->block == NULL) {
        PyObject_Free(buffer);
        return PyErr_NoMemory();
    }
    PyTraceMalloc_Track(NUMPY_DOMAIN, (uintptr_t)buffer->block->data, size);
    Py_INCREF(descr);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, nd, shape, NULL, buffer->block->data, NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        Py_DECREF(buffer);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)buffer) < 0) Py_CLEAR(array); /* steals buffer, even on failure */
    return array;
}
#endif

static _Thread_local PyArrayObject *offered_; /* borrowed: the caller of wk_offer owns it until the offer ends */

void wk_offer(PyObject *array) {
    PyArrayObject *a = (PyArrayObject *)array;
    offered_ = array != NULL && PyArray_CheckExact(array) && PyArray_ISCARRAY(a) ? a : NULL;
}

PyObject *wk_new_array(int nd, npy_intp const *shape, int typenum) {
    if (offered_ != NULL && PyArray_TYPE(offered_) == typenum && PyArray_NDIM(offered_) == nd &&
        PyArray_CompareLists(PyArray_DIMS(offered_), shape, nd)) {
        PyObject *array = Py_NewRef((PyObject *)offered_);
        offered_ = NULL;
        return array;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(typenum);
    if (descr == NULL) return NULL;
#ifdef HAS_MMAP
    size_t size = (size_t)PyDataType_ELSIZE(descr);
    for (int i = 0; i < nd; i++) {
        if (shape[i] <= 0 || (size_t)shape[i] > ((size_t)1 << 46) / size) {
            size = 0; /* empty, or too large, which NumPy refuses */
            break;
        }
        size *= (size_t)shape[i];
    }
    if (size >= SMALLEST) {
        PyObject *array = pooled_array(nd, shape, descr, size);
        Py_DECREF(descr);
        return array;
    }
#endif
    return PyArray_NewFromDescr(&PyArray_Type, descr, nd, shape, NULL, NULL, 0, NULL);
}

/* -- for Python ----------------------------------------------------------------------------------------------------------- */

static PyObject *new_array_method(PyObject *module, PyObject *args) {
    (void)module;
    PyArray_Dims shape = {NULL, 0};
    PyArray_Descr *descr = NULL;
    PyObject *array = NULL;
    if (!PyArg_ParseTuple(args, "O&O&", PyArray_IntpConverter, &shape, PyArray_DescrConverter, &descr)) goto done;
    if (PyTypeNum_ISNUMBER(descr->type_num) && PyArray_ISNBO(descr->byteorder)) {
        array = wk_new_array(shape.len, shape.ptr, descr->type_num);
    } else {
        Py_INCREF(descr);
        array = PyArray_NewFromDescr(&PyArray_Type, descr, shape.len, shape.ptr, NULL, NULL, 0, NULL);
    }
done:
    Py_XDECREF(descr);
    PyDimMem_FREE(shape.ptr);
    return array;
}

enum { CLEARED = 1 << 19 }; /* least number of bytes for a thread */

static void clear_blocks(void *ctx, int64_t begin, int64_t end) { memset((char *)ctx + begin, 0, (size_t)(end - begin)); }

static PyObject *new_zeros_method(PyObject *module, PyObject *args) {
    PyObject *array = new_array_method(module, args);
    if (array != NULL) {
        wk_parallel_for(PyArray_NBYTES((PyArrayObject *)array), CLEARED, clear_blocks, PyArray_BYTES((PyArrayObject *)array));
    }
    return array;
}

#ifndef HAS_MMAP
void wk_pool_survive_forks(void) {}
#else
static PyObject *empty_cache_method(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    lock_pool();
    trim(0);
    unlock_pool();
    Py_RETURN_NONE;
}

static PyObject *pool_counts_method(PyObject *module, PyObject *reset) {
    (void)module;
    int resets = PyObject_IsTrue(reset);
    if (resets < 0) return NULL;
    lock_pool();
    if (!pool_.started) start_pool();
    PyObject *counts = NULL;
    if (resets) {
        pool_.count.allocated_peak = pool_.count.allocated;
        pool_.count.reserved_peak = pool_.count.reserved;
    }
    long long now[] = {pool_.count.allocated, pool_.count.allocated_peak, pool_.count.reserved, pool_.count.reserved_peak,
                       pool_.count.hits, pool_.count.misses, pool_.count.released, (long long)pool_.limit};
    unlock_pool();
    counts = Py_BuildValue("(LLLLLLLL)", now[0], now[1], now[2], now[3], now[4], now[5], now[6], now[7]);
    return counts;
}
#endif

PyMethodDef wk_pool_methods[] = {
    {"new_array", new_array_method, METH_VARARGS, "new_array(shape, dtype): array with unset elements; a large one uses the pool."},
    {"new_zeros", new_zeros_method, METH_VARARGS, "new_zeros(shape, dtype): array of zeros; a large one uses the pool."},
#ifdef HAS_MMAP
    {"empty_cache", empty_cache_method, METH_NOARGS, "empty_cache(): Give the idle blocks back to the system."},
    {"pool_counts", pool_counts_method, METH_O,
     "pool_counts(reset_peaks): bytes allocated, their peak, bytes reserved, their peak; hits, misses, released blocks; limit in bytes."},
#endif
    {NULL, NULL, 0, NULL},
};

/* Steps of a recorded program, one after another, without Python code between them. See wengert/program/execution.py. */
#include "wk_apply.h"
#include "wk_pool.h"
#include "wk_whole.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "wengert.kernels.native.steps"
enum { STEPS_BETWEEN_SIGNALS = 64 };

/* What a step runs: a kernel or a function of whole arrays, by its number; a fused program; a copy; a function; the sum to a shape.
 * RUN_NEW runs nothing: it puts a new array into its slot, of the shape and dtype of the array that stands for the program.
 * RUN_C runs a C function of a program, given by make_c_call. */
enum { RUN_KERNEL, RUN_PROGRAM, RUN_COPY, RUN_CALL, RUN_SUM, RUN_NEW, RUN_C };

/* slots: the inputs, then the outputs. */
typedef struct {
    int kind, kernel, n_inputs, n_outputs, slots[WK_MAX_OPERANDS];
    PyObject *program;  /* a capsule of make_program, a function, or an array; the step holds a reference */
    PyObject *fallback; /* a function for operands that the kernel or function does not accept, or NULL; the step holds a reference */
} Step;

/* A C function of a program, which another library holds: function(pointers to the arena, and to the arrays in the slots). */
typedef struct {
    void (*function)(void *const *memory);
    PyObject *arena;
    int n, slots[];
} CCall;

#define C_CALL "wengert.kernels.native.c_call"

typedef struct {
    Py_ssize_t n;
    int n_slots; /* one more than the highest slot */
    Py_ssize_t current; /* the step that runs, or that ran last */
    Step steps[];
} Steps;

static void free_steps(PyObject *capsule) {
    Steps *steps = PyCapsule_GetPointer(capsule, CAPSULE);
    for (Py_ssize_t i = 0; i < steps->n; i++) {
        Py_XDECREF(steps->steps[i].program);
        Py_XDECREF(steps->steps[i].fallback);
    }
    free(steps);
}

static int read_slots(Steps *steps, Step *step, PyObject *numbers, int first) {
    int n = (int)PyTuple_GET_SIZE(numbers);
    if (first + n > WK_MAX_OPERANDS) {
        PyErr_SetString(PyExc_ValueError, "a step has too many operands");
        return -1;
    }
    for (int k = 0; k < n; k++) {
        long slot = PyLong_AsLong(PyTuple_GET_ITEM(numbers, k));
        if (slot < 0 || slot > 1 << 30) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a slot has a negative number");
            return -1;
        }
        step->slots[first + k] = (int)slot;
        if (slot >= steps->n_slots) steps->n_slots = (int)slot + 1;
    }
    return n;
}

static int read_step(Steps *steps, Step *step, PyObject *given) {
    PyObject *program, *inputs, *outputs, *fallback;
    if (!PyArg_ParseTuple(given, "iiOO!O!O", &step->kind, &step->kernel, &program, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                          &fallback)) {
        return -1;
    }
    step->n_inputs = read_slots(steps, step, inputs, 0);
    if (step->n_inputs < 0) return -1;
    step->n_outputs = read_slots(steps, step, outputs, step->n_inputs);
    if (step->n_outputs < 0) return -1;
    int expected = -1, n_outputs = 1, has_program = program != Py_None;
    if (step->kind == RUN_KERNEL && step->kernel >= WK_WHOLE) expected = wk_whole_inputs(step->kernel);
    else if (step->kind == RUN_KERNEL && step->kernel >= 0 && step->kernel < wk_n_kernels) expected = wk_kernels[step->kernel].n_inputs;
    if (step->kind == RUN_COPY) expected = 1;
    if (step->kind == RUN_SUM) expected = 2;
    if (step->kind == RUN_NEW && PyArray_CheckExact(program)) expected = 0;
    if (step->kind == RUN_PROGRAM) {
        const WkProgram *fused = wk_program_of(program);
        if (fused == NULL) return -1;
        expected = fused->kernel.n_inputs;
        n_outputs = fused->kernel.n_outputs;
    }
    if (step->kind == RUN_CALL && PyCallable_Check(program)) {
        expected = step->n_inputs;
        n_outputs = step->n_outputs;
    }
    if (step->kind == RUN_C) {
        const CCall *call = PyCapsule_GetPointer(program, C_CALL);
        if (call == NULL) return -1;
        expected = n_outputs = 0;
        for (int k = 0; k < call->n; k++) {
            if (call->slots[k] >= steps->n_slots) steps->n_slots = call->slots[k] + 1;
        }
    }
    if (step->n_inputs != expected || step->n_outputs != n_outputs || (fallback != Py_None && !PyCallable_Check(fallback))) {
        PyErr_SetString(PyExc_ValueError, "no such step, or another number of operands");
        return -1;
    }
    if (has_program) step->program = Py_NewRef(program);
    if (fallback != Py_None) step->fallback = Py_NewRef(fallback);
    return 0;
}

static PyObject *make_steps(PyObject *module, PyObject *given) {
    (void)module;
    if (!PyTuple_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of steps");
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(given);
    Steps *steps = calloc(1, sizeof(Steps) + (size_t)n * sizeof(Step));
    if (steps == NULL) return PyErr_NoMemory();
    steps->n = n;
    PyObject *capsule = PyCapsule_New(steps, CAPSULE, free_steps);
    if (capsule == NULL) {
        free(steps);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (read_step(steps, &steps->steps[i], PyTuple_GET_ITEM(given, i)) < 0) {
            Py_DECREF(capsule);
            return NULL;
        }
    }
    return capsule;
}

/* Copy an array into another one of the same shape. Return -1 on an error. */
static int copy_into(PyObject *target, PyObject *source) {
    if (!PyArray_CheckExact(target) || !PyArray_CheckExact(source)) {
        PyErr_Format(PyExc_TypeError, "a step copies %.100s into %.100s, and not an array into an array", Py_TYPE(source)->tp_name,
                     Py_TYPE(target)->tp_name);
        return -1;
    }
    PyArrayObject *to = (PyArrayObject *)target, *from = (PyArrayObject *)source;
    if (!PyArray_SAMESHAPE(to, from)) {
        PyErr_SetString(PyExc_ValueError, "the result of a step has another shape");
        return -1;
    }
    if (PyArray_IS_C_CONTIGUOUS(to) && PyArray_IS_C_CONTIGUOUS(from) && PyArray_TYPE(to) == PyArray_TYPE(from) &&
        PyArray_ISNUMBER(to) && PyArray_ISBEHAVED(to) && PyArray_ISBEHAVED_RO(from)) {
        memmove(PyArray_BYTES(to), PyArray_BYTES(from), (size_t)PyArray_NBYTES(to));
        return 0;
    }
    return PyArray_CopyInto(to, from);
}

/* Copy the result of a function, an array or a tuple of arrays, into the outputs. Takes the reference. Return -1 on an error. */
static int take_results(const Step *step, PyObject *result, PyObject *const *operands) {
    if (result == NULL) return -1;
    int failed = 0, is_tuple = step->n_outputs != 1;
    if (is_tuple && (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) != step->n_outputs)) {
        PyErr_SetString(PyExc_ValueError, "a function has another number of results");
        failed = 1;
    }
    for (int k = 0; !failed && k < step->n_outputs; k++) {
        PyObject *given = is_tuple ? PyTuple_GET_ITEM(result, k) : result, *out = operands[step->n_inputs + k];
        if (given == out) continue; /* it was offered */
        PyObject *array = PyArray_CheckExact(given) ? Py_NewRef(given) : PyArray_FromAny(given, NULL, 0, 0, 0, NULL);
        failed = array == NULL || copy_into(out, array) < 0;
        Py_XDECREF(array);
    }
    Py_DECREF(result);
    return failed ? -1 : 1;
}

/* Return the result of a kernel or function, or None if it does not accept its operands. What C code allocates is the output itself. */
static PyObject *run_function(const Step *step, PyObject *const *operands) {
    PyObject *out = operands[step->n_inputs], *result;
    int is_pointwise = step->kind == RUN_KERNEL && step->kernel < WK_WHOLE;
    if (is_pointwise) {
        result = wk_apply_kernel(&wk_kernels[step->kernel], operands, out);
        if (result != Py_None) return result;
        Py_DECREF(result);
        return wk_apply_kernel(&wk_kernels[step->kernel], operands, NULL); /* out holds it in another order */
    }
    int calls = step->kind == RUN_CALL;
    if (step->n_outputs == 1 && (!calls || PyCFunction_CheckExact(step->program))) wk_offer(out);
    if (calls) result = PyObject_Vectorcall(step->program, operands, (size_t)step->n_inputs, NULL);
    else if (step->kind == RUN_SUM) result = PyTuple_CheckExact(operands[1]) ? wk_reduce_to(operands[0], operands[1]) : Py_NewRef(Py_None);
    else result = wk_run_whole(step->kernel, operands);
    wk_offer(NULL);
    return result;
}

static void free_c_call(PyObject *capsule) {
    CCall *call = PyCapsule_GetPointer(capsule, C_CALL);
    Py_XDECREF(call->arena);
    free(call);
}

static PyObject *make_c_call(PyObject *module, PyObject *args) {
    PyObject *address, *arena, *slots;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!", &address, &PyArray_Type, &arena, &PyTuple_Type, &slots)) return NULL;
    void *function = PyLong_AsVoidPtr(address);
    if (function == NULL) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no function has the address 0");
    Py_ssize_t n = PyTuple_GET_SIZE(slots);
    CCall *call = calloc(1, sizeof(CCall) + (size_t)n * sizeof(int));
    if (call == NULL) return PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < n; k++) {
        long slot = PyLong_AsLong(PyTuple_GET_ITEM(slots, k));
        if (slot < 0 || slot > 1 << 30) {
            free(call);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a slot has the number %ld", slot);
        }
        call->slots[k] = (int)slot;
    }
    memcpy(&call->function, &function, sizeof function);
    call->n = (int)n;
    call->arena = Py_NewRef(arena);
    PyObject *capsule = PyCapsule_New(call, C_CALL, free_c_call);
    if (capsule == NULL) {
        Py_DECREF(arena);
        free(call);
    }
    return capsule;
}

/* Run a C function. Return 0, with nothing written, if an array is not aligned. */
static int run_c(const CCall *call, PyObject *const *slots) {
    enum { FEW = 64 };
    void *few[FEW], **memory = call->n < FEW ? few : malloc(((size_t)call->n + 1) * sizeof *memory);
    if (memory == NULL) return PyErr_NoMemory(), -1;
    memory[0] = PyArray_DATA((PyArrayObject *)call->arena);
    int accepted = 1;
    for (int k = 0; k < call->n && accepted; k++) {
        accepted = PyArray_CheckExact(slots[call->slots[k]]);
        PyArrayObject *array = accepted ? (PyArrayObject *)slots[call->slots[k]] : NULL;
        accepted = accepted && PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
        if (accepted) memory[k + 1] = PyArray_DATA(array);
    }
    if (accepted) call->function(memory);
    if (memory != few) free(memory);
    return accepted;
}

/* Run a step. Return 1, 0 if it does not accept its operands, -1 on an error. */
static int run_step(const Step *step, PyObject *list) {
    PyObject **slots = ((PyListObject *)list)->ob_item;
    if (step->kind == RUN_C) return run_c(PyCapsule_GetPointer(step->program, C_CALL), slots);
    PyObject *operands[WK_MAX_OPERANDS];
    for (int k = 0; k < step->n_inputs + step->n_outputs; k++) operands[k] = slots[step->slots[k]];
    if (step->kind == RUN_COPY) return copy_into(operands[1], operands[0]) < 0 ? -1 : 1;
    if (step->kind == RUN_PROGRAM) {
        int done = wk_apply_in_place(&wk_program_of(step->program)->kernel, operands, operands + step->n_inputs);
        if (done || step->fallback == NULL) return done;
        return take_results(step, PyObject_Vectorcall(step->fallback, operands, (size_t)step->n_inputs, NULL), operands);
    }
    if (step->kind == RUN_NEW) {
        PyArrayObject *like = (PyArrayObject *)step->program;
        PyObject *array = wk_new_array(PyArray_NDIM(like), PyArray_DIMS(like), PyArray_TYPE(like));
        return array == NULL || PyList_SetItem(list, step->slots[0], array) < 0 ? -1 : 1;
    }
    PyObject *result = run_function(step, operands);
    if (result == Py_None && step->fallback != NULL) {
        Py_DECREF(result);
        result = PyObject_Vectorcall(step->fallback, operands, (size_t)step->n_inputs, NULL);
    } else if (result == Py_None) {
        Py_DECREF(result);
        return 0;
    }
    return take_results(step, result, operands);
}

static PyObject *run_steps(PyObject *module, PyObject *args) {
    PyObject *capsule, *slots;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &slots)) return NULL;
    Steps *steps = PyCapsule_GetPointer(capsule, CAPSULE);
    if (steps == NULL) return NULL;
    for (Py_ssize_t i = 0; i < steps->n; i++) {
        if (PyList_GET_SIZE(slots) < steps->n_slots) { /* asked each time: the GIL may be let go in between */
            PyErr_SetString(PyExc_ValueError, "there are too few slots");
            return NULL;
        }
        if (i % STEPS_BETWEEN_SIGNALS == STEPS_BETWEEN_SIGNALS - 1 && PyErr_CheckSignals() < 0) return NULL;
        steps->current = i;
        int done = run_step(&steps->steps[i], slots);
        if (done < 0) return NULL;
        if (!done) return PyLong_FromSsize_t(i);
    }
    return PyLong_FromSsize_t(steps->n);
}

static PyObject *current_step(PyObject *module, PyObject *capsule) {
    (void)module;
    const Steps *steps = PyCapsule_GetPointer(capsule, CAPSULE);
    return steps == NULL ? NULL : PyLong_FromSsize_t(steps->current);
}

PyMethodDef wk_steps_methods[] = {
    {"make_steps", make_steps, METH_O,
     "make_steps(steps): steps for run_steps. Each is a tuple (kind, kernel, program, slots of inputs, slots of outputs, fallback). Kind "
     "0 is a kernel, 1 a program of make_program, 2 a copy, 3 a function, given in the place of the program, 4 the sum of an array to "
     "a shape, 5 a new array like the one in the place of the program, 6 a function of make_c_call, without slots of the step. "
     "fallback: a function for operands that a kernel does not accept, or None."},
    {"make_c_call", make_c_call, METH_VARARGS,
     "make_c_call(address, arena, slots): a C function for make_steps, which gets pointers to the arena, and to the arrays in the slots."},
    {"current_step", current_step, METH_O, "current_step(steps): number of the step that ran last, for messages about its error."},
    {"run_steps", run_steps, METH_VARARGS,
     "run_steps(steps, slots): run each step on the arrays and numbers in the list slots. Returns the number of steps before the "
     "first that does not accept its operands. The caller must not change slots meanwhile."},
    {NULL, NULL, 0, NULL},
};

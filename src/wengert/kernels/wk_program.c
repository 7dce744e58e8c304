/* Programs: several kernels as one pass over memory. See wengert/ops/program.py. */
#include "wk_apply.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "wengert.kernels.native.program"

void wk_run_steps(const WkProgram *program, int is_f64, char **places, char *registers, npy_intp step, npy_intp n) {
    npy_intp size = is_f64 ? sizeof(double) : sizeof(float);
    int n_operands = program->kernel.n_inputs + program->kernel.n_outputs;
    npy_intp inner[WK_MAX_INPUTS + 1], outer[WK_MAX_INPUTS + 1] = {0};
    for (int s = 0; s < program->n_steps; s++) {
        const WkKernel *kernel = program->steps[s].kernel;
        char *data[WK_MAX_INPUTS + 1];
        for (int k = 0; k <= kernel->n_inputs; k++) {
            int place = program->steps[s].places[k];
            int number = place - n_operands; /* of the register */
            data[k] = number < 0 ? places[place] : registers + number * step;
            inner[k] = number >= 0 && number < program->n_constants && !kernel->contiguous ? 0 : size;
        }
        kernel->loops[is_f64](data, inner, outer, n, 1);
    }
}

static void free_program(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, CAPSULE)); }

/* A list of ints or floats. -1: it is none, or too long. */
static int read_constants(WkProgram *program, PyObject *constants) {
    Py_ssize_t n = PyTuple_GET_SIZE(constants);
    if (n > program->n_registers) return -1;
    for (Py_ssize_t i = 0; i < n; i++) program->constants[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(constants, i));
    program->n_constants = (int)n;
    return PyErr_Occurred() ? -1 : 0;
}

/* Steps as tuples: (kernel, places of its inputs ..., place of its output). */
static int read_steps(WkProgram *program, PyObject *steps) {
    int n_places = program->kernel.n_inputs + program->kernel.n_outputs + program->n_registers;
    if (PyTuple_GET_SIZE(steps) > WK_MAX_STEPS) return -1;
    program->n_steps = (int)PyTuple_GET_SIZE(steps);
    for (int s = 0; s < program->n_steps; s++) {
        PyObject *step = PyTuple_GET_ITEM(steps, s);
        if (!PyTuple_Check(step) || PyTuple_GET_SIZE(step) < 1) return -1;
        long kernel = PyLong_AsLong(PyTuple_GET_ITEM(step, 0));
        if (kernel < 0 || kernel >= wk_n_kernels || PyTuple_GET_SIZE(step) != wk_kernels[kernel].n_inputs + 2) return -1;
        program->steps[s].kernel = &wk_kernels[kernel];
        program->kernel.cost += wk_kernels[kernel].cost;
        for (int k = 0; k <= wk_kernels[kernel].n_inputs; k++) {
            long place = PyLong_AsLong(PyTuple_GET_ITEM(step, k + 1));
            if (place < 0 || place >= n_places) return -1;
            program->steps[s].places[k] = (unsigned char)place;
        }
    }
    return 0;
}

static PyObject *make_program(PyObject *module, PyObject *args) {
    int n_inputs, n_outputs, n_registers;
    PyObject *constants, *steps;
    (void)module;
    if (!PyArg_ParseTuple(args, "iiiO!O!", &n_inputs, &n_outputs, &n_registers, &PyTuple_Type, &constants, &PyTuple_Type, &steps)) {
        return NULL;
    }
    if (n_inputs < 1 || n_outputs < 1 || n_inputs + n_outputs > WK_MAX_OPERANDS || n_registers < 0 || n_registers > WK_MAX_REGISTERS) {
        Py_RETURN_NONE;
    }
    WkProgram *program = calloc(1, sizeof *program);
    if (program == NULL) return PyErr_NoMemory();
    program->kernel = (WkKernel){"program", n_inputs, 1, 1, 1, {NULL, NULL}, n_outputs, program};
    program->n_registers = n_registers;
    if (read_constants(program, constants) < 0 || read_steps(program, steps) < 0) {
        free(program);
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    PyObject *capsule = PyCapsule_New(program, CAPSULE, free_program);
    if (capsule == NULL) free(program);
    return capsule;
}

static PyObject *run_program(PyObject *module, PyObject *args) {
    PyObject *capsule, *inputs;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &inputs)) return NULL;
    const WkProgram *program = PyCapsule_GetPointer(capsule, CAPSULE);
    if (program == NULL) return NULL;
    if (PyTuple_GET_SIZE(inputs) != program->kernel.n_inputs) {
        PyErr_SetString(PyExc_ValueError, "another number of inputs");
        return NULL;
    }
    return wk_apply_kernel(&program->kernel, ((PyTupleObject *)inputs)->ob_item, NULL);
}

PyMethodDef wk_program_methods[] = {
    {"make_program", make_program, METH_VARARGS,
     "make_program(n_inputs, n_outputs, n_registers, constants, steps): a program, or None where it is too long. A step is a "
     "tuple of a kernel, the places of its inputs, and that of its output; places are the inputs, the outputs, the registers, "
     "the first of which hold the constants."},
    {"run_program", run_program, METH_VARARGS,
     "run_program(program, inputs): an array, a tuple of them for several outputs, or None where it does not take the inputs."},
    {NULL, NULL, 0, NULL},
};

/* Programs: run several kernels as one pass over memory. See wengert/ops/program.py. */
#include "wk_apply.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "wengert.kernels.native.program"

/* Whether a place is a register that holds a constant. */
static int is_constant(const WkProgram *program, int place) {
    int number = place - program->kernel.n_inputs - program->kernel.n_outputs; /* of the register */
    return number >= 0 && number < program->n_constants;
}

/* Run the steps first to last - 1, one after the other, on the elements begin to end - 1 of a block. */
static void run_singly(const WkProgram *program, int first, int last, int is_f64, char **places, npy_intp begin, npy_intp end) {
    npy_intp size = is_f64 ? sizeof(double) : sizeof(float);
    npy_intp inner[WK_MAX_INPUTS + 1], outer[WK_MAX_INPUTS + 1] = {0};
    for (int s = first; s < last; s++) {
        const WkKernel *kernel = program->steps[s].kernel;
        char *data[WK_MAX_INPUTS + 1];
        for (int k = 0; k <= kernel->n_inputs; k++) {
            int place = program->steps[s].places[k];
            inner[k] = is_constant(program, place) && !kernel->contiguous ? 0 : size;
            data[k] = places[place] + begin * inner[k];
        }
        kernel->loops[is_f64](data, inner, outer, end - begin, 1);
    }
}

void wk_run_steps(const WkProgram *program, int is_f64, char **operands, char *registers, npy_intp step, npy_intp n) {
    int n_operands = program->kernel.n_inputs + program->kernel.n_outputs;
    char *places[WK_MAX_OPERANDS + WK_MAX_REGISTERS];
    for (int k = 0; k < n_operands; k++) places[k] = operands[k];
    for (int k = 0; k < program->n_registers; k++) places[n_operands + k] = registers + k * step;
    for (int i = 0; i < program->n_stages; i++) {
        int first = program->stages[i].first, last = program->stages[i].last, n_links = program->stages[i].n_links;
        npy_intp done = 0;
        if (n_links > 0) done = wk_chains[is_f64](program->links + program->stages[i].first_link, places, n);
        if (done < n) run_singly(program, first, last, is_f64, places, done, n);
    }
}

static void free_program(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, CAPSULE)); }

/* Read the constants, a tuple of ints or floats. Return -1 if there are more than registers, or if one is no number. */
static int read_constants(WkProgram *program, PyObject *constants) {
    Py_ssize_t n = PyTuple_GET_SIZE(constants);
    if (n > program->n_registers) return -1;
    for (Py_ssize_t i = 0; i < n; i++) program->constants[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(constants, i));
    program->n_constants = (int)n;
    return PyErr_Occurred() ? -1 : 0;
}

/* Read the steps, tuples (kernel, places of its inputs ..., place of its output). Return -1 if one is not valid, or if there are
 * too many. */
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

/* -- chains --------------------------------------------------------------------------------------------------------- */

/* The kernels that a link can run: its action if the running value is the first operand, and if it is the second (reversed).
 * They are looked up by role, or by name if a kernel has no role: the name of a kernel that has several roles depends on the
 * order in which the operations are registered. */
static const struct {
    const char *role;
    int action, reversed;
} actions[] = {
    {"add", WK_ADD, WK_ADD},   {"sub", WK_SUB, WK_RSUB},   {"rsub", WK_RSUB, WK_SUB},       {"mul", WK_MUL, WK_MUL},
    {"_div", WK_DIV, WK_RDIV}, {"copy", WK_LOAD, WK_LOAD}, {"neg", WK_NEGATE, WK_NEGATE}, {"square", WK_SQUARE, WK_SQUARE},
    {"reciprocal", WK_RECIPROCAL, WK_RECIPROCAL},
};
#define N_ACTIONS (sizeof actions / sizeof *actions)
static int action_kernels[N_ACTIONS];

const char *wk_find_action_kernels(void) {
    for (size_t i = 0; i < N_ACTIONS; i++) {
        int found = wk_find_role(actions[i].role);
        action_kernels[i] = found >= 0 ? found : wk_find_kernel(actions[i].role);
        if (action_kernels[i] < 0) return actions[i].role;
    }
    return NULL;
}

/* Index in actions of what step s does, -1 if no link can do it. */
static int find_action(const WkProgram *program, int s) {
    for (size_t i = 0; i < N_ACTIONS; i++) {
        if (program->steps[s].kernel == &wk_kernels[action_kernels[i]]) return (int)i;
    }
    return -1;
}

/* Whether the value of step s must be in memory: it is an output, or a step other than the next one of the chain takes it, or the
 * next one takes it twice and is no product. */
static int is_stored(const WkProgram *program, int s, int last) {
    int place = program->steps[s].places[program->steps[s].kernel->n_inputs];
    for (int t = s + 1; t < program->n_steps; t++) {
        int n = program->steps[t].kernel->n_inputs, uses = 0;
        for (int k = 0; k < n; k++) uses += program->steps[t].places[k] == place;
        if (uses > 0 && (t > s + 1 || t >= last || (uses > 1 && actions[find_action(program, t)].action != WK_MUL))) return 1;
        if (program->steps[t].places[n] == place) return 0;
    }
    return place < program->kernel.n_inputs + program->kernel.n_outputs;
}

static WkLink *add_link(const WkProgram *program, WkLink *link, int action, int place) {
    *link = (WkLink){(unsigned char)action, (unsigned char)place, is_constant(program, place) ? 0 : -1};
    return link + 1;
}

/* Add the links of step s. running: the place whose value the CPU's registers hold. */
static WkLink *add_step(const WkProgram *program, WkLink *link, int s, int last, int running) {
    const unsigned char *places = program->steps[s].places;
    int row = find_action(program, s), n = program->steps[s].kernel->n_inputs;
    int second = n == 2 && places[1] == running && places[0] != running;
    if (!second && places[0] != running) link = add_link(program, link, WK_LOAD, places[0]);
    int action = second ? actions[row].reversed : actions[row].action;
    if (action == WK_MUL && places[0] == places[1]) action = WK_SQUARE;
    if (action != WK_LOAD) link = add_link(program, link, action, n == 2 && !second ? places[1] : places[0]);
    return is_stored(program, s, last) ? add_link(program, link, WK_STORE, places[n]) : link;
}

/* Divide the steps into stages: chains of arithmetic, and steps that run one by one. */
static void find_chains(WkProgram *program) {
    WkLink *link = program->links;
    for (int s = 0; s < program->n_steps;) {
        int first = s, chained = find_action(program, s) >= 0;
        WkLink *start = link;
        while (s < program->n_steps && (find_action(program, s) >= 0) == chained) s++;
        for (int t = first, running = -1; chained && t < s; t++) {
            link = add_step(program, link, t, s, running);
            running = program->steps[t].places[program->steps[t].kernel->n_inputs];
        }
        if (chained) link = add_link(program, link, WK_END, 0);
        program->stages[program->n_stages].first = (short)first;
        program->stages[program->n_stages].last = (short)s;
        program->stages[program->n_stages].first_link = (short)(start - program->links);
        program->stages[program->n_stages].n_links = (short)(link - start);
        program->n_stages++;
    }
}

/* -- for Python ----------------------------------------------------------------------------------------------------- */

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
    find_chains(program);
    PyObject *capsule = PyCapsule_New(program, CAPSULE, free_program);
    if (capsule == NULL) free(program);
    return capsule;
}

const WkProgram *wk_program_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, CAPSULE); }

static PyObject *run_program(PyObject *module, PyObject *args) {
    PyObject *capsule, *inputs;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &inputs)) return NULL;
    const WkProgram *program = wk_program_of(capsule);
    if (program == NULL) return NULL;
    if (PyTuple_GET_SIZE(inputs) != program->kernel.n_inputs) {
        PyErr_SetString(PyExc_ValueError, "another number of inputs");
        return NULL;
    }
    return wk_apply_kernel(&program->kernel, ((PyTupleObject *)inputs)->ob_item, NULL);
}

/* Return the number of rows done: all, or those before the first that is not accepted. */
static PyObject *update_by_program(PyObject *module, PyObject *args) {
    PyObject *capsule, *rows, *numbers, *updated;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!O!", &capsule, &PyList_Type, &rows, &PyTuple_Type, &numbers, &PyTuple_Type, &updated)) return NULL;
    const WkProgram *program = wk_program_of(capsule);
    if (program == NULL) return NULL;
    const Py_ssize_t n_numbers = PyTuple_GET_SIZE(numbers), n_arrays = program->kernel.n_inputs - n_numbers;
    int n_outputs = program->kernel.n_outputs, places[WK_MAX_OPERANDS];
    if (n_arrays < 0 || PyTuple_GET_SIZE(updated) != n_outputs) {
        PyErr_SetString(PyExc_ValueError, "another number of inputs or outputs");
        return NULL;
    }
    for (int k = 0; k < n_outputs; k++) {
        long place = PyLong_AsLong(PyTuple_GET_ITEM(updated, k));
        if (place < 0 || place >= n_arrays) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no input %ld", place);
        places[k] = (int)place;
    }
    PyObject *inputs[WK_MAX_OPERANDS], *outputs[WK_MAX_OPERANDS];
    for (Py_ssize_t k = 0; k < n_numbers; k++) inputs[n_arrays + k] = PyTuple_GET_ITEM(numbers, k);
    Py_ssize_t done = 0;
    for (; done < PyList_GET_SIZE(rows); done++) { /* the size is read anew: the GIL may be let go in between */
        PyObject *row = Py_NewRef(PyList_GET_ITEM(rows, done));
        int accepted = PyTuple_CheckExact(row) && PyTuple_GET_SIZE(row) == n_arrays;
        if (accepted) {
            for (Py_ssize_t k = 0; k < n_arrays; k++) inputs[k] = PyTuple_GET_ITEM(row, k);
            for (int k = 0; k < n_outputs; k++) outputs[k] = inputs[places[k]];
            accepted = wk_apply_in_place(&program->kernel, inputs, outputs);
        }
        Py_DECREF(row);
        if (accepted < 0) return NULL;
        if (!accepted) break;
    }
    return PyLong_FromSsize_t(done);
}

/* Return the stages of a program, for tests. */
static PyObject *program_stages(PyObject *module, PyObject *capsule) {
    (void)module;
    const WkProgram *program = wk_program_of(capsule);
    if (program == NULL) return NULL;
    PyObject *stages = PyList_New(0);
    for (int i = 0; stages != NULL && i < program->n_stages; i++) {
        PyObject *stage = Py_BuildValue("(ii)", program->stages[i].last - program->stages[i].first, program->stages[i].n_links);
        if (stage == NULL || PyList_Append(stages, stage) < 0) Py_CLEAR(stages);
        Py_XDECREF(stage);
    }
    return stages;
}

PyMethodDef wk_program_methods[] = {
    {"make_program", make_program, METH_VARARGS,
     "make_program(n_inputs, n_outputs, n_registers, constants, steps): a program, or None if it is too long. A step is a "
     "tuple of a kernel, the places of its inputs, and the place of its output. The places are the inputs, the outputs, and "
     "the registers. The first registers hold the constants."},
    {"run_program", run_program, METH_VARARGS,
     "run_program(program, inputs): an array, or a tuple of arrays for several outputs. None if the inputs are not accepted."},
    {"update_by_program", update_by_program, METH_VARARGS,
     "update_by_program(program, rows, numbers, updated): for each row, a tuple of arrays, run the program on the arrays and the "
     "numbers, and write the results into the row's arrays at the places `updated`. The program reads no element of an input after "
     "it has written the element of an output. Returns the number of rows before the first that is not accepted."},
    {"program_stages", program_stages, METH_O,
     "program_stages(program): (number of steps, number of links) of each stage; only the steps of a chain have links."},
    {NULL, NULL, 0, NULL},
};

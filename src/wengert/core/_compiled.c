/* The one library of the compiled core. As a module, it lists the modules that it contains.
 *
 * Each module keeps its init function, PyInit_op and so on, and wengert._finder creates the modules with these functions. There is
 * one library instead of one per module, because opening a library costs more than initialising most of these modules.
 */
#include <Python.h>

#include "wk_override.h"

int wk_overriding_ = 0;

static int fill(PyObject *module) { return PyModule_AddStringConstant(module, "modules", WK_CORE_MODULES); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "wengert.core._compiled",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&definition); }

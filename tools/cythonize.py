"""Translate modules of the core to C: `python cythonize.py <src> <build folder> <module> ...`.

One process translates all modules, as importing Cython takes longer than translating most of them. A C file is written only
if its text has changed, so that after an edit the compiler runs for the changed modules alone.

Names of files are relative to src/, so that tracebacks say wengert/core/node.py wherever the core was built. Types come from
the .pxd files alone: with annotation typing, `x: int` would mean a Python int.

A function that Python can call refuses None for an argument of a class or a built-in type. A parameter that callers in Python may
leave at None is an `object` in the .pxd. Calls within the core pass None on without a check, and fields may hold it, so reading a
field of None raises AttributeError (nonecheck, which costs 1 % of a chain of small operations) and does not end the process.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from Cython.Compiler import Main, Options

# Cython 3.3 gives away x when an element of a list comprehension cannot be appended for lack of memory. The code around this
# helper then gives x away a second time.
WRONG_HELPER = """    int result = PyList_Append(list, x);
    Py_DECREF(x);
    return result;
"""
RIGHT_HELPER = """    if (PyList_Append(list, x) < 0) return -1;
    Py_DECREF(x);
    return 0;
"""
DIRECTIVES = {
    "annotation_typing": False, "binding": True, "allow_none_for_extension_args": False, "nonecheck": True,
    "embedsignature": True, "embedsignature.format": "clinic",  # for methods without binding: inspect.signature reads it
}  # fmt: skip


def translate(name: str, folder: Path) -> None:
    """Write folder/<name>.c. Exit with status 1 if Cython reports an error."""
    target, fresh = folder / f"{name}.c", folder / f"{name}.c.new"
    options = Options.CompilationOptions(
        output_file=str(fresh), language_level="3str", compiler_directives={**Options.get_directive_defaults(), **DIRECTIVES}
    )
    if Main.compile_single(f"wengert/core/{name}.py", options, full_module_name=f"wengert.core.{name}").num_errors:
        sys.exit(1)
    text = fresh.read_text(encoding="utf-8")
    if "__Pyx_ListComp_AppendAndDecref(PyObject* list, PyObject* x) {" in text:
        fresh.write_text(text.replace(WRONG_HELPER, RIGHT_HELPER), encoding="utf-8")
    if target.exists() and target.read_bytes() == fresh.read_bytes():
        fresh.unlink()
    else:
        fresh.replace(target)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    for module in sys.argv[3:]:
        translate(module, Path(sys.argv[2]))

"""Backends offer what docs/backends.md lists, and operations name NumPy only for what touches no elements."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import standin
from wengert.backends import cupy, numpy

ROOT = Path(__file__).parents[2]

# Attributes of NumPy that name a dtype, a number, a limit, an error state or a question about shapes: they touch no elements.
WITHOUT_ELEMENTS = {
    "bool_", "broadcast_shapes", "complex64", "complex128", "complexfloating", "dtype", "errstate", "finfo", "float16", "float32",
    "float64", "floating", "generic", "iinfo", "inf", "int32", "int64", "integer", "intp", "nan", "ndarray", "ndindex", "newaxis", "number",
    "pi", "prod", "result_type", "ufunc", "uint8", "uint64",
}  # fmt: skip

# Other uses of NumPy in each file of wengert/ops. This list shrinks. The reasons: tables and index arithmetic that depend on sizes
# alone are computed in main memory and copied (pad, resize, resampling, pool, windows, ctc, segments); data of the user become
# NumPy's arrays first (create, nested); functions that host.py lists; tracing (fuse, program); what kernels are compared with (device_kernels, expressions).
USES = {
    "arguments": 1, "attention": 3, "choice": 1, "create": 22, "ctc": 13, "device_kernels": 2, "eigen": 1, "einsum": 2, "expressions": 3, "faces": 2,
    "fft": 3,
    "fuse": 16, "index": 2, "indices": 1, "least_squares": 1,
    "linear_maps": 9, "matrices": 7, "matrix_equations": 5, "nested": 4, "older": 1, "pad": 5, "plain_special": 47,
    "pool_arguments": 5, "program": 4, "queries": 1, "random": 2, "resampling": 28, "resize": 23, "scipy_ufuncs": 22,
    "segments": 5, "signal_windows": 16, "statistics": 1, "stochastic": 1, "strided": 8,
    "trigonometric_transforms": 1,
}  # fmt: skip


def names_of_tables() -> set[str]:
    """Return the names that docs/backends.md lists in its table."""
    rows = [line.split("|")[1] for line in (ROOT / "docs" / "backends.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)", row)}


def test_backends_offer_what_the_page_lists():
    listed = names_of_tables()
    assert len(listed) > 25
    own = set(vars(cupy)) | {"asarray", "array", "from_dlpack"}  # these three are CuPy's own
    assert listed <= own, listed - own
    assert listed <= set(dir(standin)), listed - set(dir(standin))
    assert {"name", "ndarray", "start", "device_of", "current", "to_host", "from_host", "cast", "sum_to_size", "shares_memory"} <= set(dir(numpy))


def uses_of_numpy() -> dict[str, int]:
    """Return how often each file of wengert/ops names NumPy for what touches elements."""
    found: dict[str, int] = {}
    for path in sorted((ROOT / "src" / "wengert" / "ops").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                if node.attr not in WITHOUT_ELEMENTS:
                    found[path.stem] = found.get(path.stem, 0) + 1
    return found


def test_operations_name_numpy_for_nothing_new():
    grown = {name: count for name, count in uses_of_numpy().items() if count > USES.get(name, 0)}
    assert not grown, f"take xp, or backend_of(x) of wengert.backends.selection: {grown}"

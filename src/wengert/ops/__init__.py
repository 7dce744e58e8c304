"""The operations. Importing this package registers them all; `registry` says how they are written."""

from importlib import import_module as _import_module

_FAMILIES = (
    "arithmetic", "pointwise", "choice", "compare", "complex", "logic", "special", "reduce", "extrema", "scan",
    "moments", "softmax", "shape", "expand", "strided", "rearrange", "index", "gather", "scatter", "scatter_reduce",
    "masks", "sorting", "join", "linalg", "einsum", "factor", "nn", "activation", "loss", "create", "random",
)  # fmt: skip

for _family in _FAMILIES:
    _import_module(f"wengert.ops.{_family}")

from wengert.ops.registry import OPS, functions, methods  # noqa: E402

__all__ = ["OPS", "functions", "methods"]

"""The families of operations, and how the late ones are registered. `late`, which is generated, lists their names.

`import wengert` registers FAMILIES. Each of LATE_FAMILIES is registered when a program first asks for something in it.
Registering a family means importing its module. Modules of families import the registry, so they are imported by name.
"""

from __future__ import annotations

from functools import cache

from wengert._forks import import_late
from wengert.ops import late

FAMILIES = (
    "arithmetic", "pointwise", "trigonometry", "piecewise", "choice", "compare", "reduce", "extrema", "softmax", "shape", "expand",
    "strided", "index", "join", "linalg", "create", "random",
)  # fmt: skip
LATE_FAMILIES = (
    "nn", "activation", "binary", "complex", "logic", "special", "scan", "moments", "inplace_views", "rearrange",
    "gather", "scatter", "scatter_reduce", "masks", "sorting", "older", "copies", "index_reduce", "short_time",
    "signal_windows", "native", "segments", "low_rank", "queries", "recurrent", "layer_functions", "einsum", "factor",
    "matrix_functions", "running", "statistics", "histograms", "masked", "fft", "loss", "conv", "pool", "norm", "pad",
    "resize", "grid", "attention", "distance", "bags", "margin_loss", "ctc", "stochastic_activation",
    "fractional_pool", "multi_head", "linear_loss", "eigen", "decomposition", "least_squares", "ldl", "bessel",
    "polynomials", "probability", "beta", "storages",
)  # fmt: skip


def register(family: str) -> None:
    """Register the operations of a family, if they are not registered yet."""
    import_late(f"wengert.ops.{family}")


def register_family_of(operation: str) -> bool:
    """Register the late family that holds an operation. Returns False if no late family does."""
    family = _families_of_operations().get(operation)
    if family is not None:
        register(family)
    return family is not None


@cache
def _families_of_operations() -> dict[str, str]:
    """Return the late family of each operation, by the operation's name."""
    return {name: family for family, names in late.OPERATIONS.items() for name in names.split()}


@cache
def late_functions(namespace: str) -> dict[str, str]:
    """Return the late family of each public function in a namespace, by the function's name."""
    return {name: family for family, names in late.FUNCTIONS[namespace].items() for name in names.split()}

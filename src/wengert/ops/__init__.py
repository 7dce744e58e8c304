"""The operations. Importing this package registers them; `registry` says how they are written.

Families that only a namespace shows, `fft` say, are registered when that namespace is first used, or when a rule or a
composite asks F for one of their operations: `import wengert` does not pay for them. They declare no methods. Those of
nn.functional may be in the package itself as well, conv2d say, which looks there for names that it does not know.
"""

from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from typing import Any as _Any

_FAMILIES = (
    "arithmetic", "pointwise", "choice", "compare", "complex", "logic", "special", "reduce", "extrema", "scan",
    "moments", "softmax", "shape", "inplace_views", "expand", "strided", "rearrange", "index", "gather", "scatter",
    "scatter_reduce", "masks", "sorting", "join", "linalg", "einsum", "factor", "matrix_functions", "nn", "activation",
    "loss", "create", "random", "running", "statistics", "older",
)  # fmt: skip
_LATE_FAMILIES = {
    "fft": ("fft",),
    "nn.functional": (
        "conv", "pool", "norm", "pad", "resize", "grid", "attention", "distance", "bags", "margin_loss", "ctc",
    ),
    "linalg": ("eigen", "decomposition", "least_squares"),
    "special": ("bessel", "polynomials", "probability"),
}

for _family in _FAMILIES:
    _import_module(f"wengert.ops.{_family}")

from wengert.ops.registry import OPS, functions as _functions, methods  # noqa: E402


def load(namespace: str) -> None:
    """Registers the families that come with a namespace, if it has any and they are not there yet."""
    for family in _LATE_FAMILIES.get(namespace, ()):
        _import_module(f"wengert.ops.{family}")


def load_all() -> None:
    """Registers every family."""
    for namespace in _LATE_FAMILIES:
        load(namespace)


def functions(namespace: str) -> dict[str, _Callable[..., _Any]]:
    """The public functions of a namespace: "" for wengert itself, "nn.functional", "linalg"..."""
    load(namespace)
    return _functions(namespace)


__all__ = ["OPS", "functions", "load", "load_all", "methods"]

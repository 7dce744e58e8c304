"""The operations. Importing this package registers them; `registry` says how they are written.

Families that only a namespace shows, `fft` say, and those of the package itself that are rarely used, are registered when
they are first asked for: by the namespace, by the package, which looks there for names that it does not know, or by
a rule or composite that asks F for one of their operations. `import wengert` does not pay for them. The methods that
they declare are listed here, as class Tensor is made before.
"""

from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from typing import Any as _Any

_FAMILIES = (
    "arithmetic", "binary", "pointwise", "trigonometry", "piecewise", "choice", "compare", "complex", "logic", "special",
    "reduce", "extrema", "scan", "moments", "softmax", "shape", "inplace_views", "expand", "strided", "rearrange", "index",
    "gather", "scatter", "scatter_reduce", "masks", "sorting", "join", "linalg", "nn", "activation", "create", "random",
    "older",
)  # fmt: skip
_LATE_FAMILIES = {
    "package": (
        "copies", "index_reduce", "short_time", "signal_windows", "native", "segments", "low_rank", "queries",
        "recurrent", "layer_functions", "einsum", "factor", "matrix_functions", "running", "statistics", "histograms",
    ),
    "signal.windows": ("signal_windows",),
    "masked": ("masked",),
    "fft": ("fft",),
    "nn.functional": (
        "loss", "conv", "pool", "norm", "pad", "resize", "grid", "attention", "distance", "bags", "margin_loss", "ctc",
        "stochastic_activation", "fractional_pool", "multi_head", "linear_loss", "layer_functions",
    ),
    "linalg": ("factor", "eigen", "decomposition", "least_squares", "ldl"),
    "special": ("bessel", "polynomials", "probability", "beta"),
}
_LATE_METHODS: dict[str, tuple[str, ...]] = {
    "copies": ("narrow_copy",),
    "factor": ("det", "inverse", "logdet", "matrix_power", "slogdet"),
    "index_reduce": ("as_strided_scatter", "fill_diagonal_", "index_reduce", "index_reduce_", "nonzero_static"),
    "low_rank": ("triangular_solve",),
    "matrix_functions": (
        "cholesky", "cholesky_inverse", "cholesky_solve", "cross", "geqrf", "lu", "lu_solve", "matrix_exp", "orgqr", "ormqr",
        "pinverse", "qr", "svd",
    ),
    "queries": (
        "dim_order", "get_device", "is_conj", "is_neg", "is_nonzero", "is_pinned", "is_set_to", "is_shared", "map2_",
        "new_empty_strided", "pin_memory", "share_memory_", "to_dense",
    ),
    "running": ("cummax", "cummin", "diff", "logcumsumexp"),
    "short_time": ("istft", "stft"),
    "statistics": (
        "corrcoef", "cov", "dist", "frexp", "hash_tensor", "histc", "histogram", "mode", "nanmean", "nanquantile", "quantile",
        "renorm", "renorm_",
    ),
}  # fmt: skip

for _family in _FAMILIES:
    _import_module(f"wengert.ops.{_family}")

from wengert.ops.registry import OPS, functions as _functions, inplace_functions, methods as _methods  # noqa: E402


def load(namespace: str) -> None:
    """Registers the families that come with a namespace, if it has any and they are not there yet."""
    for family in _LATE_FAMILIES.get(namespace, ()):
        _import_module(f"wengert.ops.{family}")


def load_all() -> None:
    """Registers every family."""
    for namespace in _LATE_FAMILIES:
        load(namespace)


def methods() -> dict[str, _Callable[..., _Any]]:
    """Everything that the operations give class Tensor."""
    late = {name: _late_method(name, family) for family, names in _LATE_METHODS.items() for name in names}
    return late | _methods()


def _late_method(name: str, family: str) -> _Callable[..., _Any]:
    found: _Callable[..., _Any] | None = None

    def method(self: _Any, *args: _Any, **kwargs: _Any) -> _Any:
        nonlocal found
        if found is None:
            _import_module(f"wengert.ops.{family}")
            found = _methods()[name]
        return found(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"wengert.{name} as a method."
    return method


def late_function(name: str) -> _Callable[..., _Any] | None:
    """The package's function of this name, of a family that is registered late, or an in-place form; None if there is none."""
    found = inplace_functions("").get(name) if name.endswith("_") else None
    if found is not None:
        return found
    for namespace in _LATE_FAMILIES:
        load(namespace)
        found = _functions("").get(name)
        if found is not None:
            return found
    return None


def __getattr__(name: str) -> _Any:
    if name == "aten":
        return _import_module("wengert.ops.aten")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def functions(namespace: str) -> dict[str, _Callable[..., _Any]]:
    """The public functions of a namespace: "" for wengert itself, "nn.functional", "linalg"..."""
    load(namespace)
    return _functions(namespace) | (inplace_functions(namespace) if namespace else {})


__all__ = ["OPS", "functions", "inplace_functions", "late_function", "load", "load_all", "methods"]

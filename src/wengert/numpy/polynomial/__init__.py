"""numpy.polynomial for arrays with a history: its modules, functions and classes take coefficients that require grad.

See Note [NumPy's polynomials].

>>> import wengert.numpy as np
>>> c = np.array([1.0, 2.0, 3.0]).requires_grad_()
>>> np.polynomial.Chebyshev(c).deriv()(0.5).backward()
>>> c.grad
array([0., 1., 2.])
"""

# Note [NumPy's polynomials]
# NumPy's functions of polynomials make arrays of coefficients, and do not hand themselves over to other classes. But the modules
# are written in Python, in terms of NumPy's public functions. So the code of each module runs a second time here, with
# wengert.numpy in the place of NumPy: names, results and errors are NumPy's, of every version. See docs/adr/0045.
#
# The code fills arrays in place and reads what it has written: v[i] = v[i - 1] * x. A product saves its operands, and a later
# write into the same memory would be found. So the arrays that it fills are of a class whose elements and slices are copies.

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import wengert.numpy as _namespace
from wengert.numpy.arrays import ndarray

_MODULES = ("polyutils", "_polybase", "polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
_CLASSES = {
    "Polynomial": "polynomial", "Chebyshev": "chebyshev", "Legendre": "legendre", "Hermite": "hermite", "HermiteE": "hermite_e",
    "Laguerre": "laguerre",
}  # fmt: skip


def _eigvals(a: Any) -> Any:
    """Eigenvalues in memory of their own: NumPy's code sorts them in place, and their derivative reads them as they were."""
    return _namespace.linalg.eigvals(a).copy()


class _Filled(ndarray):
    """An array that is filled in place. What is read from it is a copy."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index).copy()


def _as_class(x: Any, cls: type) -> Any:
    """Return an array that holds the tensor of x, as an array of this class."""
    found: Any = object.__new__(cls)
    found._tensor = x._tensor
    return found


def _filled(name: str) -> Callable[..., Any]:
    return lambda *args, **kwargs: _as_class(getattr(_namespace, name)(*args, **kwargs), _Filled)


def _returning_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with results that are arrays like all others."""

    def plain(x: Any) -> Any:
        if isinstance(x, _Filled):
            return _as_class(x, ndarray)
        return tuple([plain(item) for item in x]) if type(x) is tuple else x

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return plain(function(*args, **kwargs))

    return run


class _Numpy(ModuleType):
    """The namespace that the code of NumPy's modules sees: wengert.numpy but for these functions."""

    empty, zeros, ones = staticmethod(_filled("empty")), staticmethod(_filled("zeros")), staticmethod(_filled("ones"))
    linalg = SimpleNamespace(eigvals=_eigvals, lstsq=lambda *args, **kwargs: _namespace.linalg.lstsq(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(_namespace, name)


def _undispatched(*_arguments: Any, **_settings: Any) -> Any:
    """Return a decorator that leaves functions as they are, in the place of the one that hands them over to other classes."""
    return lambda function: function


def _import(name: str, scope: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
    """Import for the code of NumPy's modules: NumPy is wengert.numpy, and the modules beside them are those of this package."""
    if level:
        return SimpleNamespace(**{n: globals()[n] for n in names}) if not name else globals()[name]
    if name == "numpy":
        return _Numpy("numpy")
    if name == "numpy._core.overrides":
        return SimpleNamespace(array_function_dispatch=_undispatched)
    return builtins.__import__(name, scope, local, names, level)


def _run(name: str) -> ModuleType:
    """Run the code of a module of numpy.polynomial. Return the module of this package."""
    spec: Any = find_spec(f"numpy.polynomial.{name}")
    module = ModuleType(f"{__name__}.{name}", spec.loader.get_code(spec.name).co_consts[0])
    module.__package__ = __name__
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    exec(spec.loader.get_code(spec.name), module.__dict__)
    for function_name, function in list(vars(module).items()):
        if isinstance(function, FunctionType) and function.__module__ == module.__name__:
            setattr(module, function_name, _returning_arrays(function))
    return module


for _name in _MODULES:
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _run(_name)
for _name, _module in _CLASSES.items():
    globals()[_name] = getattr(globals()[_module], _name)

__all__ = [*_CLASSES, *[_name for _name in _MODULES if not _name.startswith("_")]]  # noqa: PLE0604

"""What the submodules of wengert.scipy share: which function runs for which arguments, and what the page of functions is made of.

A submodule stands in for SciPy's of the same name. `dir()` of both lists the same names.

- Without a tensor among the arguments, SciPy's function is called, and its result is returned as it is.
- With a tensor, a function that has an implementation here runs it: it returns tensors with SciPy's values, dtypes and
  shapes, which differentiate to any order, backward and forward.
- With tensors that are not differentiated, any other function of SciPy runs on their memory. Arrays in its result become tensors.
- With a tensor that requires grad or a dual tensor, such a function raises ConversionError, which names the function.

A submodule begins with

    from wengert.scipy._frame import Submodule as _Submodule

    _module = _Submodule("special", globals())    # _module.scipy is scipy.special, whose names this module has
    __getattr__, __dir__ = _module.lookups()

and registers its functions:

    @_module.differentiates("gammaln")        # without names: the name of the function, without leading underscores
    def _gammaln(x):                          # SciPy's parameters, or some of them, under SciPy's names and in SciPy's order
        return ...                            # called with a tensor among the arguments only

    @_module.differentiates(always=True)      # called without tensors too: a function among the arguments may close over them
    def _quad(func, a, b, args=()):
        return ...

    @_module.replaces                         # a class of SciPy that has a subclass here
    class PPoly(_module.scipy.PPoly): ...

    _module.constant("The result counts elements.", "rankdata", ...)    # runs on the memory of all tensors: there is no derivative
    _module.refuse("Use solve_ivp instead.", "ode", ...)                # a hint for the error of a function without implementation

Arguments that an implementation does not take must have SciPy's default values, or ArgumentError is raised if a tensor is
differentiated, and SciPy's function runs otherwise. The same happens if an implementation returns
NotImplemented. `overwrite_a=` and the like, `workers=` and `check_finite=` may have any value.
`operands(x, y)` makes tensors of the arguments, with the dtype that NumPy computes in: integers become float64, and a Python number
does not change the dtype. Classes and constants of SciPy are SciPy's own, unless the submodule defines the name.

SUBMODULES lists the submodules that have been loaded. docs/scipy-functions.md is written from it, by tests/scipy_page.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, dtype_of, holds_tensor, memory, tensor
from wengert.array_protocol import (
    _is_differentiated as is_differentiated,
    _requires_grad as requires_grad,
    _signature as signature_of,
    _tensor as as_tensor,
)
from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase
from wengert.core.views import bump

SUBMODULES: dict[str, Submodule] = {}

# Parameters of SciPy's functions that say how a result is computed, never what it is.
_HOW = frozenset({"workers", "check_finite"})


class Submodule:
    """A submodule of SciPy, with our functions in it. name: "special", or "spatial.distance". members: globals() of ours."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.name = name
        self.scipy = import_late(f"scipy.{name}")
        self.members = members
        self.functions: dict[str, Callable[..., Any]] = {}  # the registered implementations
        self.constants: dict[str, list[str]] = {}  # reason -> functions without a derivative
        self.refused: dict[str, list[str]] = {}  # hint -> functions that refuse
        SUBMODULES[name] = self

    def differentiates(self, *names: str, always: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register an implementation under SciPy's names. Names that this version of SciPy lacks are left out.

        always: it runs without a tensor among the arguments, too.
        """

        def register(ours: Callable[..., Any]) -> Callable[..., Any]:
            for name in names or (ours.__name__.lstrip("_"),):
                theirs = getattr(self.scipy, name, None)
                if theirs is not None:
                    self.functions[name] = ours
                    kind = _ImplementedAlways if always else _Implemented
                    self.members[name] = _public(kind(f"scipy.{self.name}.{name}", theirs, ours), ours)
            return ours

        return register

    def replaces(self, ours: type) -> type:
        """Register a subclass of a class of SciPy, which has its name."""
        self.functions[ours.__name__] = self.members[ours.__name__] = ours
        return ours

    def constant(self, reason: str, *names: str) -> None:
        """Register functions whose results have no derivative, such as integers and conditions."""
        self.constants.setdefault(reason, []).extend([name for name in names if hasattr(self.scipy, name)])

    def refuse(self, hint: str, *names: str) -> None:
        """Register a hint of what to write in place of functions that have no implementation."""
        self.refused.setdefault(hint, []).extend([name for name in names if hasattr(self.scipy, name)])

    def lookups(self) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
        """Return (__getattr__, __dir__) of the module. SciPy's public names that it does not define come from SciPy."""

        def getattr_(name: str) -> Any:
            if name == "__all__":
                return self.public_names()
            if name.startswith("_") or not hasattr(self.scipy, name):
                raise AttributeError(f"module 'wengert.scipy.{self.name}' has no attribute {name!r}")
            found = self.members[name] = self._borrowed(name)
            return found

        return getattr_, self.public_names

    def public_names(self) -> list[str]:
        return sorted({*self.scipy.__all__, *self.functions})

    def _borrowed(self, name: str) -> Any:
        theirs = getattr(self.scipy, name)
        if not callable(theirs) or isinstance(theirs, type) or not hasattr(theirs, "__name__"):
            return theirs
        qualified = f"scipy.{self.name}.{name}"
        if any(name in names for names in self.constants.values()):
            return _public(_Constant(qualified, theirs), theirs)
        hint = next((hint for hint, names in self.refused.items() if name in names), None)
        return _public(_Borrowed(qualified, theirs, hint), theirs)


class LinAlgError(errors.SingularMatrixError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite: the error of wengert's operations and of SciPy's functions at once."""


# -- what is called -------------------------------------------------------------------------------------------------------


class _Borrowed:
    """A function of SciPy without an implementation here. hint: what to write instead, or None."""

    def __init__(self, name: str, theirs: Callable[..., Any], hint: str | None = None) -> None:
        self.name = name
        self.theirs = theirs
        self.hint = hint

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensor((*args, *kwargs.values())):
            return self.theirs(*args, **kwargs)
        if is_differentiated((*args, *kwargs.values())):
            kind = "Tensor that requires grad" if requires_grad((*args, *kwargs.values())) else "a dual Tensor, which has a tangent"
            raise errors.no_array_of(kind, self.name, self.hint)
        return on_memory(self.theirs, args, kwargs)


class _Constant(_Borrowed):
    """A function of SciPy whose result has no derivative."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensor((*args, *kwargs.values())):
            return self.theirs(*args, **kwargs)
        with set_recording(False):
            return as_results(self.theirs(*detached(args), **{name: detached(x) for name, x in kwargs.items()}))


class _Implemented:
    """A function of SciPy with an implementation here."""

    def __init__(self, name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
        self.name = name
        self.theirs = theirs
        self.ours = ours

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensor((*args, *kwargs.values())):
            return self.theirs(*args, **kwargs)
        given, unknown = None, ["these settings"]
        if len(args) > self.positional or not self.names.issuperset(kwargs):
            given = self._given(args, kwargs)
            unknown = sorted(set(given) - self.names) or unknown
        try:
            if given is None:
                found = self.ours(*args, **kwargs)
            else:
                found = self.ours(**given) if self.names.issuperset(given) else NotImplemented
        except errors.SingularMatrixError as error:
            raise LinAlgError(str(error)) from None
        if found is not NotImplemented:
            return found
        if is_differentiated((*args, *kwargs.values())):
            raise errors.ArgumentError(
                f"{self.name} cannot be called with {', '.join(unknown)} on a Tensor that requires grad or has a tangent. "
                "Hint: leave these arguments out, or detach the tensor first."
            )
        return on_memory(self.theirs, args, kwargs)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by SciPy's names, without those that have SciPy's default values or do not change the result."""
        if self.signature is None:
            return {**dict(zip(self.parameters, args, strict=False)), **kwargs}
        bound = self.signature.bind(*args, **kwargs).arguments
        defaults = {name: p.default for name, p in self.signature.parameters.items()}
        for name, p in self.signature.parameters.items():
            if p.kind is p.VAR_KEYWORD and name in bound:
                bound |= bound.pop(name)
        return {
            name: x
            for name, x in bound.items()
            if name in self.names or not (x is defaults.get(name) or _is_how(name) or _same(x, defaults.get(name)))
        }

    @cached_property
    def signature(self) -> Any:
        """SciPy's signature, or None for a ufunc and the like."""
        try:
            found = None if isinstance(self.theirs, np.ufunc) else signature_of(self.theirs)
        except ValueError:
            return None
        return None if found is None or any(p.kind is p.VAR_POSITIONAL for p in found.parameters.values()) else found

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return dict(signature_of(self.ours).parameters)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the arguments that our function takes."""
        if any(p.kind is p.VAR_KEYWORD for p in self.parameters.values()) and self.signature is not None:
            return frozenset(self.signature.parameters)
        return frozenset(name for name, p in self.parameters.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))

    @cached_property
    def positional(self) -> int:
        """How many arguments have the same position in both functions."""
        mine = [p for p in self.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        if any(p.kind is p.VAR_POSITIONAL for p in mine):
            return 10**6
        if self.signature is None:
            return len(mine)
        same = 0
        for a, b in zip(mine, self.signature.parameters.values(), strict=False):
            if a.name != b.name or b.kind is b.KEYWORD_ONLY:
                break
            same += 1
        return same


class _ImplementedAlways(_Implemented):
    """A function of SciPy whose implementation here runs for all arguments."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return self.ours(*args, **kwargs)


def _is_how(name: str) -> bool:
    return name in _HOW or name.startswith("overwrite_")


def _same(x: Any, default: Any) -> bool:
    return isinstance(x, (bool, int, float, str)) and x == default


def _public(function: Any, documented: Any) -> Callable[..., Any]:
    """Return the public function that calls function.call. Its docs are those of the documented function."""

    def public(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    call = function.call
    public.__name__ = public.__qualname__ = function.name.rpartition(".")[2]
    public.__module__ = "wengert." + function.name.rpartition(".")[0]
    public.__doc__ = documented.__doc__
    if not isinstance(function.theirs, np.ufunc):
        public.__wrapped__ = function.theirs  # type: ignore[attr-defined]  # for inspect.signature
    return public


# -- arguments and results -------------------------------------------------------------------------------------------------


def operands(*values: Any) -> list[Any]:
    """Return the values as tensors of the dtype that NumPy computes them in: floating or complex.

    Integers and bools become float64, float16 and bfloat16 become float32, and Python numbers take the dtype of the others. Lists
    may hold tensors. None stays None.
    """
    first = values[0]
    if isinstance(first, TensorBase) and first._array.dtype.char in "fdFD":
        for x in values:
            if not isinstance(x, TensorBase) or x._array.dtype is not first._array.dtype:
                break
        else:
            return list(values)
    kinds: list[Any] = []
    for x in values:
        if isinstance(x, TensorBase):
            kinds.append(x._array.dtype)
        elif isinstance(x, (list, tuple)):
            kinds.append(tensor(x)._array.dtype if holds_tensor(x) else np.asarray(x).dtype)
        elif x is not None:
            kinds.append(x if type(x) in (int, float, complex, bool) else np.asarray(x).dtype)
    dtype = np.result_type(*kinds)
    if dtype.kind not in "fc":
        dtype = np.dtype(np.float32 if dtype.kind == "V" else np.float64)
    elif dtype.itemsize == 2:
        dtype = np.dtype(np.float32)
    found = dtype_of(dtype)
    return [x if x is None else tensor(x).to(found) if holds_tensor([x]) else tensor(np.asarray(x, dtype)) for x in values]


def matched(found: Any, wanted: Any) -> list[int]:
    """Return the places in `found`, an array of numbers, that are nearest to each wanted number. Each is taken once."""
    left, order = list(range(len(found))), []
    for value in wanted:
        distances = [abs(found[i] - value) for i in left]
        order.append(left.pop(int(np.argmin(distances))))
    return order


def as_results(found: Any) -> Any:
    """Return a result of SciPy's with each array and NumPy number in it, and in its tuples and lists, as a tensor."""
    if isinstance(found, (list, tuple)):
        parts = [as_results(x) for x in found]
        if type(found) in (list, tuple):
            return type(found)(parts)
        return found._make(parts) if hasattr(found, "_make") else found
    return as_tensor(found)


def on_memory(theirs: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of SciPy on the memory of tensors that are not differentiated. Arrays in its result become tensors.

    SciPy may write into out=, and is not allowed to write into its other arguments.
    """
    out = kwargs.get("out")
    kwargs = {name: memory(x) for name, x in kwargs.items() if not name.startswith("overwrite_")}
    found = theirs(*[memory(x) for x in args], **kwargs)
    if isinstance(out, TensorBase):
        bump(out)
        return out
    return as_results(found)


__all__ = ["SUBMODULES", "Submodule", "as_results", "holds_tensor", "is_differentiated", "matched", "on_memory", "operands"]

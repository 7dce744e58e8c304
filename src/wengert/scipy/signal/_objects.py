"""Linear systems as objects: lti, dlti, TransferFunction, ZerosPolesGain and StateSpace of tensors.

Called without tensors, these classes make SciPy's objects. Called with tensors, they make a TensorSystem, which has the same
methods and attributes, but for sums and products of StateSpace objects. isinstance() counts both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from wengert._forks import import_late
from wengert.array_functions.table import holds_tensor, w
from wengert.scipy._frame import operands
from wengert.scipy.signal._designs import normalize, tf2zpk
from wengert.scipy.signal._responses import bode, dbode, dfreqresp, freqresp
from wengert.scipy.signal._systems import (
    System,
    abcd_normalize,
    coefficients_of,
    cont2discrete,
    dimpulse,
    dlsim,
    dstep,
    impulse,
    lsim,
    matrices_of,
    parts_of,
    ss2zpk,
    step,
)

__all__ = ["StateSpace", "TransferFunction", "ZerosPolesGain", "dlti", "lti"]

theirs: Any = import_late("scipy.signal")
_NAMES = {2: ("num", "den"), 3: ("zeros", "poles", "gain"), 4: ("A", "B", "C", "D")}


class TensorSystem(System):
    """A linear system of tensors. dt: the step of a discrete system, None for a continuous one."""

    def __init__(self, parts: tuple[Any, ...], dt: Any = None) -> None:
        if len(parts) not in _NAMES:
            raise ValueError("a system has 2, 3 or 4 parts: (num, den), (zeros, poles, gain) or (A, B, C, D)")
        if len(parts) == 3:
            zeros, poles, gain = operands(*parts)
            super().__init__((w.atleast_1d(zeros), w.atleast_1d(poles), gain), dt)
        else:
            super().__init__(tuple((normalize if len(parts) == 2 else abcd_normalize)(*parts)), dt)

    def __getattr__(self, name: str) -> Any:
        names = _NAMES[len(self.parts)] if name in ("num", "den", "gain", "A", "B", "C", "D", "zeros", "poles") else ()
        if name in names:
            return self.parts[names.index(name)]
        if name in ("zeros", "poles"):
            return getattr(self.to_zpk(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        named = [f"{name}={x!r}" for name, x in zip(_NAMES[len(self.parts)], self.parts, strict=True)]
        return f"{type(self).__name__}({', '.join([*named, f'dt={self.dt!r}'])})"

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return int(self.parts[1].shape[1]) if len(self.parts) == 4 else 1

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        if len(self.parts) == 4:
            return int(self.parts[2].shape[0])
        return int(self.parts[0].shape[0]) if len(self.parts) == 2 and self.parts[0].ndim > 1 else 1

    def to_tf(self) -> TensorSystem:
        """Return the system as (num, den)."""
        return TensorSystem(tuple(coefficients_of(self.parts)), self.dt)

    def to_zpk(self) -> TensorSystem:
        """Return the system as (zeros, poles, gain)."""
        forms: dict[int, Any] = {2: tf2zpk, 3: lambda *zpk: zpk, 4: ss2zpk}
        return TensorSystem(tuple(forms[len(self.parts)](*self.parts)), self.dt)

    def to_ss(self) -> TensorSystem:
        """Return the system as (A, B, C, D)."""
        return TensorSystem(tuple(matrices_of(self.parts)), self.dt)

    def to_discrete(self, dt: Any, method: str = "zoh", alpha: Any = None) -> TensorSystem:
        """Return the discrete system in place of a continuous one. See cont2discrete."""
        *parts, step = cont2discrete(self, dt, method, alpha)
        return TensorSystem(tuple(parts), step)

    def impulse(self, *args: Any, **kwargs: Any) -> Any:
        """Return (times, impulse response). See impulse and dimpulse."""
        return (impulse if self.dt is None else dimpulse)(self, *args, **kwargs)

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """Return (times, step response). See step and dstep."""
        return (step if self.dt is None else dstep)(self, *args, **kwargs)

    def output(self, *args: Any, **kwargs: Any) -> Any:
        """Return the response to an input. See lsim and dlsim."""
        return (lsim if self.dt is None else dlsim)(self, *args, **kwargs)

    def bode(self, *args: Any, **kwargs: Any) -> Any:
        """Return (frequencies, magnitude, phase). See bode and dbode."""
        return (bode if self.dt is None else dbode)(self, *args, **kwargs)

    def freqresp(self, *args: Any, **kwargs: Any) -> Any:
        """Return (frequencies, response). See freqresp and dfreqresp."""
        return (freqresp if self.dt is None else dfreqresp)(self, *args, **kwargs)


# Functions of systems: continuous ones, and discrete ones, whose names begin with a d.
FUNCTIONS = (
    "bode", "cont2discrete", "dbode", "dfreqresp", "dimpulse", "dlsim", "dstep", "freqresp", "impulse", "lsim", "step",
)  # fmt: skip


def taking_objects(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a system as one that takes a TensorSystem, too: as the tuple of its parts."""
    discrete = function.__name__.startswith("d")

    @wraps(function)
    def call(system: Any, *args: Any, **kwargs: Any) -> Any:
        return function(parts_of(system, discrete) if isinstance(system, TensorSystem) else system, *args, **kwargs)

    return call


class _Kind(type):
    """The type of a class of SciPy's systems that makes a TensorSystem if it is given tensors."""

    size: int | None  # how many parts a system of the class has, or None if any
    theirs: type

    def __call__(cls, *system: Any, **kwargs: Any) -> Any:
        is_ours = len(system) == 1 and isinstance(system[0], TensorSystem)
        if not (is_ours or holds_tensor((*system, *kwargs.values()))):
            return cls.theirs(*system, **kwargs)
        dt = kwargs.pop("dt", True if cls is dlti else None)
        if kwargs or (cls is lti and dt is not None):
            raise ValueError(f"{cls.__name__} takes no argument by name but dt, and lti takes none")
        found = system[0] if is_ours else TensorSystem(system, dt)
        if cls.size is None or len(found.parts) == cls.size:
            return found
        if not is_ours:
            raise ValueError(f"{cls.__name__} takes {cls.size} parts, but {len(system)} were given")
        return {2: found.to_tf, 3: found.to_zpk, 4: found.to_ss}[cls.size]()

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, TensorSystem):
            return isinstance(instance, cls.theirs)
        is_kind = {lti: instance.dt is None, dlti: instance.dt is not None}.get(cls, True)  # type: ignore[call-overload]
        return bool(is_kind) and cls.size in (None, len(instance.parts))


class lti(metaclass=_Kind):
    """A continuous linear system. See scipy.signal.lti."""

    size, theirs = None, theirs.lti


class dlti(metaclass=_Kind):
    """A discrete linear system with the step dt. See scipy.signal.dlti."""

    size, theirs = None, theirs.dlti


class TransferFunction(metaclass=_Kind):
    """A linear system as (num, den). See scipy.signal.TransferFunction."""

    size, theirs = 2, theirs.TransferFunction


class ZerosPolesGain(metaclass=_Kind):
    """A linear system as (zeros, poles, gain). See scipy.signal.ZerosPolesGain."""

    size, theirs = 3, theirs.ZerosPolesGain


class StateSpace(metaclass=_Kind):
    """A linear system as (A, B, C, D). See scipy.signal.StateSpace."""

    size, theirs = 4, theirs.StateSpace

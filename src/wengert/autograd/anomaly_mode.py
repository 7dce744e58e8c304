"""Anomaly detection: find the operation that produces a NaN or an infinite value."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors
from wengert.core import anomaly
from wengert.core.anomaly import Settings

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"]

CHECKS = ("backward", "forward+backward")


class detect_anomaly:
    """Context manager: a backward pass that produces a NaN raises, and errors in a pass show the stack of the forward.

    check_nan: False only adds the stacks. check: "forward+backward" also checks the result of every operation of the
    forward; a backward pass, or the end of the block, then raises for the first operation that produced a NaN, with its
    line, statistics of its inputs and the chain of operations to the loss. inf: check for infinite values too. All
    threads are affected. Slow: for debugging.

    Raises AnomalyError, a RuntimeError, in passes inside the block; TypeError unless check_nan is a bool; ValueError for
    another check.

    >>> import warnings, wengert
    >>> x = wengert.tensor([0.0, 1.0], requires_grad=True)
    >>> warnings.simplefilter("ignore")
    >>> with wengert.autograd.detect_anomaly():
    ...     (x / x).sum().backward()
    Traceback (most recent call last):
    wengert.errors.AnomalyError: Function 'DivBackward0' returned nan values in its 1th output. ...
    """

    def __init__(self, check_nan: bool = True, *, check: str = "backward", inf: bool = False) -> None:
        if check not in CHECKS:
            raise errors.OptionError(f"detect_anomaly(check=...) takes one of {list(CHECKS)}, but got {check!r}")
        self.check_nan = check_nan
        self.check = check
        self.inf = inf
        self._before: Any = None  # (the settings to restore, the pair before)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        check_flag(self.check_nan, "check_nan", 2)
        settings = Settings(True, self.check_nan, self.check != "backward", bool(self.inf))
        self._before = anomaly.settings(), self._before
        try:
            anomaly.apply(settings)
        except BaseException:  # no memory, or an interrupt
            self._restore()
            raise

    def _restore(self) -> None:
        before, self._before = self._before
        anomaly.apply(before)

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        try:
            found = anomaly.unreported() if self.check != "backward" else None
            anomaly.forget_found()
        finally:
            self._restore()
        if kind is None and found is not None:
            try:
                raise found
            finally:
                del found  # the traceback refers to this frame: without del, the two are a reference cycle


class set_detect_anomaly:
    """Switch anomaly detection on or off, as a function; or for a block, as a context manager.

    check_nan: False only adds stacks to errors. Raises TypeError for arguments that are no bools.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        check_flag(mode, "enabled", 1)
        check_flag(check_nan, "check_nan", 2)
        self._before = anomaly.settings()
        anomaly.apply(Settings(mode, check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        anomaly.apply(self._before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return anomaly.settings().enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, if it is on, checks for NaN."""
    return anomaly.settings().check_nan


def check_flag(value: Any, name: str, position: int) -> None:
    """Raise TypeError unless value is a bool."""
    if not isinstance(value, bool):
        raise errors.ArgumentError(
            f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {type(value).__name__}"
        )


def __dir__() -> list[str]:
    return sorted(__all__)

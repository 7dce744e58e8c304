"""Anomaly detection: finding where a NaN, or an infinite value, comes from."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors
from wengert.core import anomaly
from wengert.core.anomaly import Settings

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"]

CHECKS = ("backward", "forward+backward")


class detect_anomaly:
    """In this block, a backward pass that makes a NaN raises, and any error in one shows the whole stack of its forward.

    check_nan: False only shows stacks. check: "forward+backward" looks at the result of every operation as well; a backward
    pass (or the end of the block) then raises for the first one that made a NaN: with its line, statistics of its inputs and
    the chain from there to the loss. inf: infinite values count, too. All threads are affected. Slow: for debugging.

    Raises AnomalyError, a RuntimeError, from the passes inside; TypeError for a check_nan that is no bool; ValueError for
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
        self._before: list[Settings] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        check_flag(self.check_nan, "check_nan", 2)
        self._before.append(anomaly.settings())
        anomaly.apply(Settings(True, self.check_nan, self.check != "backward", bool(self.inf)))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        error = anomaly.unreported() if self.check != "backward" else None
        anomaly.forget_found()
        anomaly.apply(self._before.pop())
        if kind is None and error is not None:
            try:
                raise error
            finally:
                del error  # its traceback has this frame, and the two would keep each other alive


class set_detect_anomaly:
    """Switches anomaly detection on or off at once: for good as a plain call, until the end of a with block.

    check_nan: False only shows stacks. Raises TypeError for arguments that are no bools.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        check_flag(mode, "enabled", 1)
        check_flag(check_nan, "check_nan", 2)
        self._before = anomaly.settings()
        anomaly.apply(Settings(mode, check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        anomaly.apply(self._before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return anomaly.settings().enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether it looks for NaN, where it is on."""
    return anomaly.settings().check_nan


def check_flag(value: Any, name: str, position: int) -> None:
    """Raises TypeError for what is no bool."""
    if not isinstance(value, bool):
        raise errors.ArgumentError(
            f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {type(value).__name__}"
        )

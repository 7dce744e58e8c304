"""Outcomes of calls, as text that is the same for torch and for wengert: what a call printed, raised or warned."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

_HINT = re.compile(r"\sHint: ")  # wengert's
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def outcome(call: Callable[[], Any]) -> str:
    """Return the repr of the result, or the built-in class and the text of the error, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(call())
        except Exception as error:
            name = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
            found = f"{name}: {_HINT.split(str(error))[0]}"
    found += "".join(f" | {w.category.__name__}: {w.message}" for w in caught)
    return _ADDRESS.sub("0x", found).replace("wengert.", "torch.")


def outcomes(program: Callable[[Any, Callable[..., None]], None], torch: Any) -> list[str]:
    """Run program(torch, note), which calls note(f, *args) for each call. Return the outcomes, numbered."""
    found: list[str] = []
    program(torch, lambda f, *args, **kwargs: found.append(f"{len(found)} {outcome(lambda: f(*args, **kwargs))}"))
    return found


def assert_same_outcomes(program: Callable[[Any, Callable[..., None]], None], first: Any, second: Any) -> None:
    """Fail for the first outcome that differs between two libraries."""
    for mine, theirs in zip(outcomes(program, first), outcomes(program, second), strict=True):
        assert mine == theirs

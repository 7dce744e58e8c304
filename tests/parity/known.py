"""Known differences from torch: a reason, and the condition under which it excuses a difference."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Difference(str):
    """Text of a difference of numbers, with the elements that differ: ours and torch's, one-dimensional."""

    ours: np.ndarray
    theirs: np.ndarray

    @classmethod
    def of(cls, ours: np.ndarray, theirs: np.ndarray, different: np.ndarray) -> Difference:
        place = tuple(int(i) for i in np.argwhere(different)[0])
        found = cls(f"{ours[place]} at {place}, torch {theirs[place]} ({different.sum()} of {different.size})")
        found.ours, found.theirs = ours[different], theirs[different]
        return found


# (where: the sample and its dtypes; text: a Difference, or what else is wrong) -> whether the reason is about this difference.
Condition = Callable[[str, str], bool]


class Known(NamedTuple):
    """Why a result differs from torch's, and the condition that a difference fulfils which has this reason."""

    reason: str
    condition: Condition

    def excuses(self, where: str, text: str) -> bool:
        return self.condition(where, text)


def anywhere(where: str, text: str) -> bool:
    """Accept any difference of the aspect, because the result is undefined or has no number to compare with."""
    return True


def known_in(reason: str, entries: str, *aspects: str, only: Condition = anywhere) -> dict[tuple[str, str], Known]:
    """One reason for each aspect of each of the entries, whose names are separated by spaces."""
    return {(entry, aspect): Known(reason, only) for entry in entries.split() for aspect in aspects}


def torch_is_nan(where: str, text: str) -> bool:
    """Whether each element that differs is NaN in torch."""
    return isinstance(text, Difference) and bool(np.isnan(text.theirs).all())


def torch_is_zero(where: str, text: str) -> bool:
    """Whether each element that differs is 0 in torch."""
    return isinstance(text, Difference) and not text.theirs.any()


def one_is_zero(where: str, text: str) -> bool:
    """Whether each element that differs is 0 in torch or here."""
    return isinstance(text, Difference) and not (text.theirs * text.ours).any()


def torch_is_not_finite(where: str, text: str) -> bool:
    """Whether each element that differs is infinite or NaN in torch."""
    return isinstance(text, Difference) and not np.isfinite(text.theirs).any()


def one_is_not_finite(where: str, text: str) -> bool:
    """Whether each element that differs is infinite or NaN, in torch or here."""
    return isinstance(text, Difference) and not (np.isfinite(text.theirs) & np.isfinite(text.ours)).any()


def one_not_finite_or_zero(where: str, text: str) -> bool:
    """Whether each element that differs is infinite, NaN or 0, in torch or here."""
    if not isinstance(text, Difference):
        return False
    return not (np.isfinite(text.theirs) & np.isfinite(text.ours) & (text.theirs != 0) & (text.ours != 0)).any()


def indices_alone(where: str, text: str) -> bool:
    """Whether the tensor that differs holds indices."""
    return isinstance(text, Difference) and text.theirs.dtype == np.int64


def within(tolerance: float) -> Condition:
    """Each element that differs is that close to torch's, relative to it or to 1."""

    def condition(where: str, text: str) -> bool:
        return isinstance(text, Difference) and np.allclose(text.ours, text.theirs, rtol=tolerance, atol=tolerance)

    return condition


def zero_or_within(tolerance: float) -> Condition:
    """Each element that differs is 0 in torch, or that close to torch's."""

    def condition(where: str, text: str) -> bool:
        if not isinstance(text, Difference):
            return False
        other = text.theirs != 0
        return bool(np.allclose(text.ours[other], text.theirs[other], rtol=tolerance, atol=tolerance))

    return condition


def says(pattern: str) -> Condition:
    """The text of the difference, which may be an error's, has the pattern."""
    return lambda where, text: bool(re.search(pattern, text))


def sample(pattern: str) -> Condition:
    """The description of the sample has the pattern."""
    return lambda where, text: bool(re.search(pattern, where))

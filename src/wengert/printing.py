"""The printed form of tensors: torch's, to the character.

`format_tensor` turns an array into text; `set_printoptions` says how much of it. One format serves all its numbers:

- floats that are all whole print as `1.`; otherwise with `precision` decimals;
- scientific notation, where the largest and smallest magnitudes are far apart or beyond what decimals show well;
- columns as wide as the widest number; a vector is broken into lines of at most `linewidth` characters;
- of a tensor with more than `threshold` elements only `edgeitems` at either end of each dimension are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite, prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from . import dtypes

Array: TypeAlias = "np.ndarray[Any, Any]"


# ----------------------------------------------------------------------------------------------------------------------
# Options
# ----------------------------------------------------------------------------------------------------------------------


class PrintOptions(NamedTuple):
    """How tensors print; see `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: Final = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=float("inf")),
}

# One immutable tuple, replaced as a whole: a thread that prints while another sets options sees all or none of them.
_options = PrintOptions()


def get_printoptions() -> dict[str, Any]:
    """The options of `set_printoptions`, by name."""
    return _options._asdict()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, in all threads. What is not given stays, but for sci_mode, which goes back to None.

    precision: digits after the point (4). threshold: number of elements above which a tensor is summarised (1000).
    edgeitems: elements shown at either end of a summarised dimension (3). linewidth: characters a line (80). profile:
    "default", "short" or "full", which set the four above; each can be set beside it. sci_mode: whether to use
    scientific notation; None decides from the numbers.

    Raises ValueError for an unknown profile or a negative number.

    >>> import wengert
    >>> wengert.set_printoptions(precision=2)
    >>> wengert.tensor([1.2345])
    tensor([1.23])
    >>> wengert.set_printoptions(profile="default")
    """
    global _options
    new = _options
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"unknown profile {profile!r}; there are {', '.join(map(repr, _PROFILES))}")
        new = _PROFILES[profile]
    if threshold is not None and not threshold >= 0:
        raise ValueError(f"threshold must be a number that is not negative, but got {threshold!r}")
    for name, value in (("precision", precision), ("edgeitems", edgeitems), ("linewidth", linewidth)):
        if value is not None and not (isinstance(value, (int, np.integer)) and value >= 0):
            raise ValueError(f"{name} must be an integer that is not negative, but got {value!r}")
    _options = PrintOptions(
        precision=new.precision if precision is None else precision,
        threshold=new.threshold if threshold is None else threshold,
        edgeitems=new.edgeitems if edgeitems is None else edgeitems,
        linewidth=new.linewidth if linewidth is None else linewidth,
        sci_mode=sci_mode,
    )


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions` for the time of a with block."""
    global _options
    before = _options
    set_printoptions(**{"sci_mode": before.sci_mode, **options})
    try:
        yield
    finally:
        _options = before


# ----------------------------------------------------------------------------------------------------------------------
# Numbers
# ----------------------------------------------------------------------------------------------------------------------


class _Format:
    """The format that the numbers of one tensor share."""

    def __init__(self, numbers: Sequence[Any], floating: bool, options: PrintOptions) -> None:
        """numbers: all that will be printed, as Python numbers."""
        self.floating = floating
        self.precision = options.precision
        self.whole = True  # print floats as `1.`
        self.scientific = False
        if not floating:
            self.width = max(len(str(x)) for x in numbers)
            return
        self.width = 1
        # Zeros, infinities and NaN have a say in neither the format nor the width: they are put into what results.
        finite = [x for x in numbers if x != 0 and isfinite(x)]
        if not finite:
            return
        self.whole = all(x.is_integer() for x in finite)
        smallest, largest = min(map(abs, finite)), max(map(abs, finite))
        self.scientific = largest / smallest > 1000.0 or largest > 1e8 or (not self.whole and smallest < 1e-4)
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        self.width = max(len(self._number(x)) for x in finite)

    def _number(self, x: Any) -> str:
        if not self.floating:
            return str(x)
        if self.scientific:
            return f"{x:.{self.precision}e}"
        if self.whole:
            return f"{x:.0f}." if isfinite(x) else f"{x:.0f}"
        return f"{x:.{self.precision}f}"

    def __call__(self, x: Any) -> str:
        """x, in a column of the common width."""
        return self._number(x).rjust(self.width)


class _ComplexFormat:
    """The format of complex numbers: one for the real parts, one for the imaginary parts."""

    def __init__(self, numbers: Sequence[complex], options: PrintOptions) -> None:
        self.real = _Format([x.real for x in numbers], True, options)
        self.imag = _Format([x.imag for x in numbers], True, options)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, x: complex) -> str:
        imag = self.imag(x.imag).lstrip() + "j"
        sign = "" if imag[0] in "+-" else "+"
        return self.real(x.real) + sign + imag


# ----------------------------------------------------------------------------------------------------------------------
# Arrays
# ----------------------------------------------------------------------------------------------------------------------


def _python_numbers(array: Array) -> Array:
    """The array in a dtype whose tolist() gives Python numbers, without rounding: float64 holds all shorter floats."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array.astype(np.float64, copy=False) if dtypes.is_floating_point(array.dtype) else array


def _edges(array: Array, edgeitems: int) -> Array:
    """The elements that a summary shows: the outer ones of every dimension that is long enough to be shortened."""
    shown = [
        [*range(edgeitems), *range(size - edgeitems, size)] if size > 2 * edgeitems else range(size)
        for size in array.shape
    ]
    return array[np.ix_(*shown)]  # one copy of what is shown, however large the array


def _nested(numbers: Any, shortened: Sequence[bool], indent: int, form: Any, options: PrintOptions) -> str:
    """Nested lists of numbers as text. shortened: for each dimension, whether it lacks its middle."""
    if not shortened:
        return str(form(numbers))
    middle = options.edgeitems if shortened[0] else None
    if len(shortened) == 1:
        items = [form(x) for x in numbers]
        if middle is not None:
            items.insert(middle, " ...")
        per_line = max(1, (options.linewidth - indent) // (form.width + 2))
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        separator = ",\n" + " " * (indent + 1)
    else:
        lines = [_nested(x, shortened[1:], indent + 1, form, options) for x in numbers]
        if middle is not None:
            lines.insert(middle, "...")
        separator = "," + "\n" * (len(shortened) - 1) + " " * (indent + 1)
    return "[" + separator.join(lines) + "]"


def _contents(array: Array, indent: int, options: PrintOptions) -> str:
    """The numbers of an array that is not empty."""
    shortened = [False] * array.ndim
    if array.size > options.threshold:
        if options.edgeitems == 0 and shortened:
            return "[...]"
        shortened = [size > 2 * options.edgeitems for size in array.shape]
        array = _edges(array, options.edgeitems)
    array = _python_numbers(array)
    flat = array.ravel().tolist()
    complex_, floating = array.dtype.kind == "c", array.dtype.kind == "f"
    form = _ComplexFormat(flat, options) if complex_ else _Format(flat, floating, options)
    return _nested(array.tolist(), shortened, indent, form, options)


def format_tensor(
    array: Array,
    *,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    device: str | None = None,
    tangent: str | None = None,
    prefix: str = "tensor(",
    is_parameter: bool = False,
) -> str:
    """The text that stands for a tensor.

    array: its values, any shape and dtype. grad_fn_name: the name of its node; None for a leaf. device: its device if
    that is worth showing ("cuda:0"); None for the CPU. tangent: the printed tangent of a dual tensor. prefix:
    "tensor(", or the name of a subclass and a parenthesis. is_parameter: whether "Parameter containing:" goes above.

    >>> print(format_tensor(np.ones((2, 2), np.float32), requires_grad=True))
    tensor([[1., 1.],
            [1., 1.]], requires_grad=True)
    """
    options = _options
    indent = len(prefix)
    d = dtypes.from_numpy_dtype(array.dtype)
    default = dtypes.get_default_dtype()
    usual = [default]
    suffixes = [f"device='{device}'"] if device is not None else []
    if prod(array.shape) == 0:
        contents = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
    else:
        contents = _contents(array, indent, options)
        if options.edgeitems == 0:  # the numbers may not show the shape
            suffixes.append(f"size={tuple(array.shape)}")
        # These need no suffix where numbers show what they are.
        usual += [default.to_complex(), dtypes.int64, dtypes.bool_]
    if d not in usual:
        suffixes.append(f"dtype={d!r}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = _with_suffixes(prefix + contents, suffixes, indent, options.linewidth)
    return f"Parameter containing:\n{text}" if is_parameter else text


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int, linewidth: int) -> str:
    """text with the suffixes and the closing parenthesis, each on a new line where the last would become too long."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"

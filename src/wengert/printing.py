"""The printed form of tensors, equal to torch's to the character.

`format_tensor` formats an array, and `set_printoptions` sets how. All numbers of a tensor share one format:

- if all floats are integers they print as `1.`, otherwise with `precision` decimals;
- scientific notation is used if the magnitudes are far apart, very large or very small;
- columns are as wide as the widest number, and lines have at most `linewidth` characters;
- a tensor with more than `threshold` elements shows only `edgeitems` at either end of each dimension.
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
    """Options for printing tensors; see `set_printoptions`."""

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

# One immutable tuple, replaced as a whole, so that a thread never sees some of the new options and some of the old.
_options = PrintOptions()


def get_printoptions() -> dict[str, Any]:
    """Return the current options of `set_printoptions` as a dict."""
    return _options._asdict()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, in all threads. Options that are None stay as they are, except sci_mode, which becomes None.

    precision: digits after the point (4). threshold: number of elements above which a tensor is summarised (1000).
    edgeitems: elements shown at either end of a summarised dimension (3). linewidth: characters per line (80). profile:
    "default", "short" or "full", which set these four options; options given beside it override it. sci_mode: whether to
    use scientific notation; None decides by the numbers.

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
    """Context manager: `set_printoptions` for a with block."""
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
    """Common format of the numbers of one tensor."""

    def __init__(self, numbers: Sequence[Any], floating: bool, options: PrintOptions) -> None:
        """numbers: all numbers to print, as Python numbers."""
        self.floating = floating
        self.precision = options.precision
        self.whole = True  # print floats as `1.`
        self.scientific = False
        if not floating:
            self.width = max(len(str(x)) for x in numbers)
            return
        self.width = 1
        # Zeros, infinities and NaN influence neither the format nor the width.
        finite = [x for x in numbers if x != 0 and isfinite(x)]
        if not finite:
            return
        self.whole = all(x.is_integer() for x in finite)
        smallest, largest = min(map(abs, finite)), max(map(abs, finite))
        self.scientific = largest / smallest > 1000.0 or largest > 1e8 or (not self.whole and smallest < 1e-4)
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        self.width = max(len(self._format_number(x)) for x in finite)

    def _format_number(self, x: Any) -> str:
        if not self.floating:
            return str(x)
        if self.scientific:
            return f"{x:.{self.precision}e}"
        if self.whole:
            return f"{x:.0f}." if isfinite(x) else f"{x:.0f}"
        return f"{x:.{self.precision}f}"

    def __call__(self, x: Any) -> str:
        """Format x, right-justified to the common width."""
        return self._format_number(x).rjust(self.width)


class _ComplexFormat:
    """Common format of complex numbers: one format for the real parts and one for the imaginary parts."""

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
    """Cast the array, without rounding, to a dtype whose tolist() gives Python numbers."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array.astype(np.float64, copy=False) if dtypes.is_floating_point(array.dtype) else array


def _summary_elements(array: Array, edgeitems: int) -> Array:
    """Return the elements that a summary shows: the outer ones of each dimension longer than 2 * edgeitems."""
    shown = [
        [*range(edgeitems), *range(size - edgeitems, size)] if size > 2 * edgeitems else range(size)
        for size in array.shape
    ]
    return array[np.ix_(*shown)]  # copies only the elements that are shown


def _format_nested(numbers: Any, shortened: Sequence[bool], indent: int, form: Any, options: PrintOptions) -> str:
    """Format nested lists of numbers. shortened: for each dimension, whether its middle is left out."""
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
        lines = [_format_nested(x, shortened[1:], indent + 1, form, options) for x in numbers]
        if middle is not None:
            lines.insert(middle, "...")
        separator = "," + "\n" * (len(shortened) - 1) + " " * (indent + 1)
    return "[" + separator.join(lines) + "]"


def _format_contents(array: Array, indent: int, options: PrintOptions) -> str:
    """Format the numbers of an array that is not empty."""
    shortened = [False] * array.ndim
    if array.size > options.threshold:
        if options.edgeitems == 0 and shortened:
            return "[...]"
        shortened = [size > 2 * options.edgeitems for size in array.shape]
        array = _summary_elements(array, options.edgeitems)
    array = _python_numbers(array)
    flat = array.ravel().tolist()
    complex_, floating = array.dtype.kind == "c", array.dtype.kind == "f"
    form = _ComplexFormat(flat, options) if complex_ else _Format(flat, floating, options)
    return _format_nested(array.tolist(), shortened, indent, form, options)


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
    """Return the printed form of a tensor.

    array: the values, any shape and dtype. grad_fn_name: the name of the tensor's node, None for a leaf. device: the name
    of a device to print, None for the CPU. tangent: the printed tangent of a dual tensor, or None. prefix: "tensor(", or
    the name of a subclass and a parenthesis. is_parameter: put "Parameter containing:" on a line above.

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
        contents = _format_contents(array, indent, options)
        if options.edgeitems == 0:  # the numbers may not show the shape
            suffixes.append(f"size={tuple(array.shape)}")
        # The printed numbers identify these dtypes, so they need no suffix.
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
    """Append the suffixes and the closing parenthesis. A suffix goes on a new line if the last line would be too long."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"

"""The words of a refusal: which call asked for the array of a tensor that is differentiated, and what to write instead.

NumPy's functions in C have no frames of their own. So the call is read from the line of
the program that runs, and the function is looked up there by its name.
"""

from __future__ import annotations

import ast
import sys
from linecache import getline
from types import FrameType, ModuleType
from typing import Any

from wengert import errors
from wengert.core.node import is_internal

_INTEGERS = "It takes integers, bits or dates, which have no derivative. Detach the tensor first."
_WRITES = "An array cannot hold the history of what is written. Write into a tensor, such as np.zeros_like(x)."
_ARRAY = "An array of NumPy's holds no history. Write np.array([x, y], like=x), which is a tensor, or np.stack or np.concatenate."
_DRAWS = (
    "NumPy's draws have no derivative in their parameters. Write loc + scale * rng.normal(size=n), or draw from "
    "wengert.distributions, such as Normal(loc, scale).rsample()."
)
_MASKED = "Masked arrays hold no history. Write np.where(mask, 0.0, x), or use wengert.masked."
_CALLS = "It calls the function with numbers. Call the function with the whole tensor, or write np.stack([f(v) for v in x])."

# Names of functions -> what to write instead. A name that ends in a point stands for a module or a class.
INSTEAD: dict[str, str] = {
    name: hint
    for hint, names in {
        _ARRAY: "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix bmat require frombuffer "
        "from_dlpack fromiter matrix",
        "An array of NumPy's holds no history. Write np.concatenate or np.column_stack; r_ and c_ of wengert.numpy differentiate.":
            "AxisConcatenator.",
        "An array of NumPy's holds no history. Write like=x as the last argument: the result is a tensor.": "full arange",
        _WRITES: "out copyto put place putmask put_along_axis fill_diagonal",
        _INTEGERS: "invert bitwise_count bitwise_invert bitwise_not bitwise_and bitwise_or bitwise_xor left_shift right_shift "
        "bitwise_left_shift bitwise_right_shift packbits unpackbits gcd lcm ix_ isnat bincount",
        "It counts elements between edges. np.bincount(places, weights=x) has a derivative in the weights.":
            "histogram histogram_bin_edges histogram2d histogramdd",
        "It writes a file or a text. Detach the tensor first.":
            "save savez savez_compressed savetxt format_float_positional format_float_scientific",
        "The distance to the next number is constant between jumps. Detach the tensor first.": "spacing",
        "Write the window as np.i0(beta * np.sqrt(1 - t**2)) / np.i0(beta).": "kaiser",
        "Write np.vstack.": "row_stack",
        _CALLS: "vectorize.",
        "It goes through the memory of arrays. Loop over the tensor instead.": "nditer nditer. broadcast ndenumerate. flatiter.",
        "Write x.as_strided(size, stride), where strides count elements, or np.lib.stride_tricks.sliding_window_view.":
            "as_strided lib.stride_tricks.as_strided",
        _DRAWS: "random.",
        _MASKED: "ma.",
        "It holds text, no numbers.": "char. strings.",
        "Its fields are memory of NumPy's. Keep tensors in a dict.": "fromarrays fromrecords recarray. record.",
        "numpy.polynomial keeps coefficients in arrays of NumPy's. Call the function of this name in wengert.numpy.polynomial.":
            "polynomial.",
    }.items()
    for name in names.split()
}  # fmt: skip


def hint_of(name: str) -> str | None:
    """Return what to write instead of a function of NumPy, named without the leading "numpy."; None if this is not known."""
    if name in INSTEAD:
        return INSTEAD[name]
    return next((hint for known, hint in INSTEAD.items() if known.endswith(".") and f"{name}.".startswith(known)), None)


def no_derivative(what: str, name: str, call: str) -> errors.ConversionError:
    """Return the error for a function of NumPy without a derivative.

    what: the kind of tensor. name: the function's name. call: the function and its settings, as the message names them."""
    return errors.no_array_of(what, call, hint_of(name))


def no_array_of(what: str) -> errors.ConversionError:
    """Return the error for a tensor that another library asks for its array. what: the kind of tensor."""
    asked_by, hint = _describe_call()
    return errors.no_array_of(what, None, hint, asked_by)


def _describe_call() -> tuple[str, str | None]:
    """Return a sentence on the call that asks for an array, and what to write instead."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    inner = None  # the outermost frame of NumPy's own code
    while frame is not None and _package_of(frame) == "numpy":
        inner, frame = frame, frame.f_back
    if frame is None:
        return "", None
    code, name = _expression(frame), ""
    if inner is not None:
        name = public_name(inner.f_globals.get("__name__", ""), inner.f_code.co_qualname)
    elif code:
        name = _name_of_callee(code, frame)
    what = f"numpy.{name}" if name else ""
    if code:
        code = code if len(code) <= 80 else f"{code[:77]}..."
        what = f"{what}, called as `{code}`," if what else f"`{code}`"
    where = f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"
    return f"{what or 'This line'} asked for an array, at {where}.", hint_of(name)


def _package_of(frame: FrameType) -> str:
    module: str = frame.f_globals.get("__name__", "")
    return module.partition(".")[0]


def _expression(frame: FrameType) -> str:
    """Return the source of the expression that a frame is computing, on one line; "" if it cannot be read."""
    positions = list(frame.f_code.co_positions())
    line, last, start, end = positions[frame.f_lasti // 2] if frame.f_lasti >= 0 else (None,) * 4
    if line is None or last is None or start is None or end is None:
        return ""
    rows = [getline(frame.f_code.co_filename, number, frame.f_globals).encode() for number in range(line, last + 1)]
    rows[-1] = rows[-1][:end]
    rows[0] = rows[0][start:]
    return " ".join(b"".join(rows).decode(errors="replace").split())


def _name_of_callee(code: str, frame: FrameType) -> str:
    """Return the public name of the function of NumPy that an expression calls, without "numpy."; "" if it calls another one.

    Only names, modules and objects of NumPy are looked at, so that no code of the user's runs."""
    try:
        call = ast.parse(code, mode="eval").body
    except SyntaxError:  # a statement
        return ""
    if not isinstance(call, ast.Call):
        return ""
    path: list[str] = []
    node = call.func
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    found: Any = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    for attribute in reversed(path):
        if isinstance(found, ModuleType):
            found = vars(found).get(attribute)
        elif type(found).__module__.partition(".")[0] == "numpy":
            found = getattr(type(found), attribute, None)
        else:
            return ""
    owner = getattr(found, "__objclass__", found)
    module: Any = getattr(owner, "__module__", None) or type(getattr(found, "__self__", None)).__module__
    name: Any = getattr(found, "__qualname__", None) or getattr(found, "__name__", "")
    return public_name(str(module), name) if str(module).partition(".")[0] == "numpy" else ""


def public_name(module: str, name: str) -> str:
    """Return the name of a function as users write it after "numpy.". module, name: its __module__ and __qualname__."""
    parts = module.split(".")[1:]
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    public = parts[:private]
    if public == ["lib"] or public[:1] == ["matrixlib"]:
        public = []
    elif public[:1] in (["ma"], ["random"]):
        public = public[:1]
    return ".".join([*public, name.removesuffix(".__call__").removesuffix(".__init__").removesuffix(".__getitem__")])


__all__ = ["INSTEAD", "hint_of", "no_array_of", "no_derivative", "public_name"]

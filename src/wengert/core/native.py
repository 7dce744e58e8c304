"""Plain-Python twins of the C helpers in the wk_ headers, for the uncompiled core. They state what each one means.

(Those of wk_tls.h are in modes.py, beside the state.)
"""

from __future__ import annotations

import sys
import weakref
from types import CodeType
from typing import Any

import numpy as np


def wk_init_numpy() -> None:
    """Compiled, loads NumPy's C API into a module; each one that includes wk_array.h needs it for itself."""


def is_ndarray(x: Any) -> bool:
    """A NumPy array proper: no subclass, no other library's array."""
    return type(x) is np.ndarray


def is_row_major(x: Any) -> bool:
    """A NumPy array whose elements lie in memory one after the other, in row-major order."""
    return type(x) is np.ndarray and x.flags.c_contiguous


def as_array(x: Any) -> Any:
    """x, or the 0-d array of a NumPy scalar: NumPy gives scalars where other libraries give 0-d arrays."""
    return x if isinstance(x, np.ndarray) else np.asarray(x)


def is_inexact(x: Any) -> bool:
    """A NumPy array of a floating or complex dtype that NumPy itself has (bfloat16 is not)."""
    return type(x) is np.ndarray and x.dtype.kind in "fc"


def is_complex(x: Any) -> bool:
    """A NumPy array of a complex dtype."""
    return type(x) is np.ndarray and x.dtype.kind == "c"


def same_inexact(x: Any, y: Any) -> bool:
    """Two NumPy arrays of one floating or complex dtype: nothing to promote."""
    return type(x) is np.ndarray and type(y) is np.ndarray and x.dtype is y.dtype and x.dtype.kind in "fc"


def has_shape(x: Any, shape: tuple[int, ...]) -> bool:
    """A NumPy array of exactly this shape."""
    return type(x) is np.ndarray and x.shape == shape


def may_have_nan(x: Any) -> bool:
    """Not a NumPy array without NaN."""
    return type(x) is not np.ndarray or x.dtype.kind != "f" or bool(np.isnan(x).any())


def has_meta(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """A NumPy array of exactly this shape and dtype."""
    return type(x) is np.ndarray and x.dtype is dtype and x.shape == shape


def same_strides(x: Any, y: Any) -> bool:
    """Two NumPy arrays of one shape that lie in memory the same way."""
    return type(x) is np.ndarray and type(y) is np.ndarray and x.strides == y.strides


def owns_data(x: Any) -> bool:
    """A NumPy array that owns its memory; memory of the kernels' pool belongs to the array whose base is its Buffer."""
    return type(x) is np.ndarray and (x.base is None or type(x.base).__name__ == "Buffer")


def is_spare(x: Any) -> bool:
    """A large array that nobody but the caller has or can look into: it may take a result."""
    return False


def row_of(x: Any, i: int) -> Any:
    """x[i, ...]: a view, 0-d where x is a vector."""
    return x[i, ...]


def wk_make_view(layout: int, x: Any, params: dict[str, Any] | None) -> Any:
    """The view of x that an operation of this layout (Op.layout) makes, or None: then its forward does."""
    return None


def wk_view_back(layout: int, ct: Any, values: list[Any]) -> Any:
    """The cotangent of x from that of such a view, or None: then its rule makes it."""
    return None


def add_element(x: Any, index: Any, value: Any) -> bool:
    """x[index] += value, where that is one element of a vector; else nothing, and False."""
    if x.ndim != 1 or type(index) is not int:
        return False
    x[index] += value.item()  # a number: a third of the cost of adding arrays
    return True


def wk_init_native() -> None:
    """Compiled, finds the kernels of wengert.kernels.native; each module that includes wk_native.h needs it for itself."""


def wk_apply1(kernel: int, x: Any) -> Any:
    """A compiled kernel of one operand, as a new array; None where it does not take x. Uncompiled there are none."""


def wk_apply2(kernel: int, x: Any, y: Any) -> Any:
    """The same of two operands."""


def wk_apply_list(kernel: int, operands: list[Any]) -> Any:
    """The same of any operands."""


def wk_apply_into(kernel: int, operands: list[Any], out: Any) -> bool:
    """The same, written into out; False where the kernel does not take them."""
    return False


def fill_floats(x: Any, value: Any) -> bool:
    """x[...] = value, for an array of float32 or float64 and a float, or an int that it holds; else nothing, and False."""
    return False


def wk_apply_rule(kernel: int, operands: bytes, ct: Any, values: list[Any], over: bool) -> Any:
    """The same of operands chosen by their places: 0 is ct, 1 the first of values. over: ct may take the result."""


def wk_sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """x summed to the shape that broadcasting made into x's, as a new array, or None."""


def wk_is_whole(kernel: int) -> bool:
    """Whether a kernel is a function of whole arrays: one that takes a single kind of operands, as two matrices."""
    return False


def wk_sum(x: Any, y: Any) -> Any:
    """x + y as a new array, or None."""


def wk_add_into(x: Any, y: Any) -> bool:
    """x += y, where a kernel can; else nothing, and False."""
    return False


def wk_dereference(reference: Any) -> Any:
    """What a weak reference refers to; None once that is gone."""
    return reference()


def wk_reference(x: Any) -> Any:
    """A weak reference."""
    return weakref.ref(x)


def wk_offer_buffer(cls: type) -> None:
    """Fills the buffer slot of a class. A Python class has __buffer__ for that, from Python 3.12 on."""


def wk_new_instance(base: type, cls: type) -> Any:
    """An instance of cls with no __init__ run. base: its core class, whose allocator the C twin calls directly."""
    return base.__new__(cls)  # type: ignore[call-overload]


def wk_find_code(files: dict[str, bool], package: str, skip: int) -> tuple[CodeType, int]:
    """Code object and instruction offset of the innermost frame outside the package; files caches which file is inside.

    skip: how many frames above this one are the package's own for sure; looking at each costs time.
    """
    frame = sys._getframe(skip)
    while True:
        name = frame.f_code.co_filename
        internal = files.get(name)
        if internal is None:
            internal = files[name] = name.startswith(package)
        if not internal or frame.f_back is None:
            return frame.f_code, frame.f_lasti
        frame = frame.f_back


def wk_new_aside() -> Any:
    """See Note [Set aside] in collector.py: uncompiled, nothing is set aside."""
    return None


def wk_share_aside(aside: Any) -> None:
    """Lets a module set objects aside in the one list."""


def wk_set_aside(x: Any) -> None:
    """Keeps a new object from the collections of young ones."""


def wk_reveal() -> None:
    """Shows the collector what is set aside."""

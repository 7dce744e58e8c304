"""Plain-Python twins of the C helpers in the wk_ headers, for the uncompiled core. They state what each one means.

(Those of wk_tls.h are in modes.py, beside the state.)
"""

from __future__ import annotations

import operator
import sys
import weakref
from types import CellType, CodeType
from typing import Any

import numpy as np

from wengert.backends.selection import others


def wk_init_numpy() -> None:
    """Compiled, loads NumPy's C API into a module; each one that includes wk_array.h needs it for itself."""


_overriding = False


def wk_overriding() -> bool:
    """Whether public callables ask `override`: see Note [Overrides]."""
    return _overriding


def wk_begin_overriding() -> None:
    global _overriding
    _overriding = True


def is_ndarray(x: Any) -> bool:
    """Whether x is a NumPy array proper: no subclass, no other library's array."""
    return type(x) is np.ndarray


def is_row_major(x: Any) -> bool:
    """Whether x is a contiguous NumPy array in row-major order."""
    return type(x) is np.ndarray and x.flags.c_contiguous


def same_layout(x: Any, y: Any) -> bool:
    """Whether x and y are NumPy arrays of one dtype, shape and strides."""
    both = type(x) is np.ndarray and type(y) is np.ndarray
    return both and x.dtype == y.dtype and x.shape == y.shape and x.strides == y.strides


def first_filled(containers: list[Any]) -> int:
    """Return the number of the first of these dicts, lists and sets that is not empty. -1: all are."""
    return next((i for i, x in enumerate(containers) if len(x)), -1)


def still_holds(container: Any, keys: Any, values: tuple[Any, ...], by_name: bool) -> bool:
    """Whether a cell, list or dict holds exactly these objects, at these keys. by_name: whether a dict has them at these keys,
    among others. A container of another type holds what it held only if it was, and is, empty."""
    if by_name:
        return all(key in container and container[key] is value for key, value in zip(keys, values, strict=True))
    if isinstance(container, CellType):
        try:
            return container.cell_contents is values[0]
        except ValueError:  # it is empty
            return False
    if type(container) is list:
        return len(container) == len(values) and all(map(operator.is_, container, values))
    if type(container) is dict:
        same = len(container) == len(values) and all(map(operator.is_, container.values(), values))
        return same and all(map(operator.is_, container, keys))
    return not values and not len(container)


_on_call: Any = None  # the profile function of wk_watch_calls


def wk_watch_calls(kinds: dict[int, int], tell: Any, tensor_type: type) -> None:
    """Set a profile function that passes on few calls: see watch_calls in recorder.py."""
    global _on_call

    def on_call(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "return", "c_call"):
            kind = kinds.get(id(frame.f_code), 3)
            gives_data = event == "return" and argument is not None and not isinstance(argument, tensor_type)
            if kind & (2 if event == "c_call" else 5 if gives_data else 1):
                tell(frame, event, argument)

    _on_call = None if tell is None else on_call
    sys.setprofile(_on_call)


def wk_hold_calls(held: bool) -> None:
    """Pass on no calls, or pass them on again."""
    sys.setprofile(None if held else _on_call)


def as_array(x: Any) -> Any:
    """Return x, or the 0-d array of a NumPy scalar: NumPy gives scalars where other libraries give 0-d arrays."""
    return x if type(x) is np.ndarray or type(x) in others else np.asanyarray(x)


def is_inexact(x: Any) -> bool:
    """Whether x is a NumPy array of one of NumPy's own floating or complex dtypes, to which bfloat16 does not belong."""
    return type(x) is np.ndarray and x.dtype.kind in "fc" and x.dtype.isnative


def is_complex(x: Any) -> bool:
    """Whether x is a NumPy array of a complex dtype."""
    return type(x) is np.ndarray and x.dtype.kind == "c"


def is_real(x: Any) -> bool:
    """Whether x is a NumPy array of a dtype that is not complex."""
    return type(x) is np.ndarray and x.dtype.kind != "c"


def same_inexact(x: Any, y: Any) -> bool:
    """Whether x and y are NumPy arrays of one floating or complex dtype: nothing to promote."""
    return type(x) is np.ndarray and type(y) is np.ndarray and x.dtype is y.dtype and x.dtype.kind in "fc"


def has_shape(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether x is a NumPy array of exactly this shape."""
    return type(x) is np.ndarray and x.shape == shape


def may_have_nan(x: Any) -> bool:
    """Whether x may hold a NaN: False only for a NumPy array without NaN."""
    return type(x) is not np.ndarray or x.dtype.kind != "f" or bool(np.isnan(x).any())


def has_meta(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether x is a NumPy array of exactly this shape and dtype."""
    return type(x) is np.ndarray and x.dtype is dtype and x.shape == shape


def same_strides(x: Any, y: Any) -> bool:
    """Whether x and y, of one shape, are NumPy arrays with the same strides."""
    return type(x) is np.ndarray and type(y) is np.ndarray and x.strides == y.strides


def owns_data(x: Any) -> bool:
    """Whether x is a NumPy array that owns its memory. Memory of the pool belongs to the array whose base is its Buffer."""
    return type(x) is np.ndarray and (x.base is None or type(x.base).__name__ == "Buffer")


def is_spare(x: Any) -> bool:
    """Whether x is a large array that nobody but the caller refers to, so that it may take a result. See docs/adr/0019."""
    return False


def row_of(x: Any, i: int) -> Any:
    """Return the view x[i, ...], 0-d if x is a vector."""
    return x[i, ...]


def wk_make_view(layout: int, x: Any, params: dict[str, Any] | None) -> Any:
    """Return the view of x that an operation of this layout (Op.layout) makes, or None: then its forward makes it."""
    return None


def wk_view_back(layout: int, ct: Any, values: list[Any]) -> Any:
    """Return the cotangent of x, given the cotangent of such a view, or None: then the operation's rule makes it."""
    return None


def add_element(x: Any, index: Any, value: Any) -> bool:
    """Add value to x[index] if x is a vector and index an int. False if not."""
    if x.ndim != 1 or type(index) is not int:
        return False
    x[index] += value.item()  # a number: a third of the cost of adding arrays
    return True


def wk_init_native() -> None:
    """Compiled, finds the kernels of wengert.kernels.native; each module that includes wk_native.h needs it for itself."""


def wk_apply1(kernel: int, x: Any) -> Any:
    """Return the result of a compiled kernel of one operand, or None if it does not take x. Uncompiled, there are no kernels."""


def wk_apply2(kernel: int, x: Any, y: Any) -> Any:
    """Return the result of a compiled kernel of two operands, or None."""


def wk_apply_list(kernel: int, operands: list[Any]) -> Any:
    """Return the result of a compiled kernel of any operands, or None."""


def wk_apply_into(kernel: int, operands: list[Any], out: Any) -> bool:
    """Write the result of a compiled kernel into out. False if it does not take the operands."""
    return False


def fill_floats(x: Any, value: Any) -> bool:
    """Fill an array of float32 or float64 with a float, or with an int that the dtype holds. False for anything else."""
    return False


def wk_apply_rule(kernel: int, operands: bytes, ct: Any, values: list[Any], over: bool) -> Any:
    """Return the result of a rule's kernel, or None. operands: 0 for ct, 1 for the first value. over: ct may take the result."""


def wk_sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Return x summed to a shape that broadcasts to x's, as a new array, or None."""


def wk_is_whole(kernel: int) -> bool:
    """Whether a kernel is a function of whole arrays: one that takes a single kind of operands, as two matrices."""
    return False


def wk_sum(x: Any, y: Any) -> Any:
    """Return x + y as a new array, or None."""


def wk_add_into(x: Any, y: Any) -> bool:
    """Add y into x if a kernel can. False if none can."""
    return False


wk_reference = weakref.ref
wk_dereference = operator.call  # the object that a weak reference refers to; None once the object is gone


def wk_offer_buffer(cls: type) -> None:
    """Fill the buffer slot of a class. A Python class has __buffer__ for that, from Python 3.12 on."""


def wk_new_instance(base: type, cls: type) -> Any:
    """Return an instance of cls without running __init__. base: its core class, whose allocator the C twin calls directly."""
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


def wk_new_spared() -> Any:
    """Return the lists of Note [Untracked] in collector.py. Uncompiled, all objects are tracked, and there are none."""
    return None


def wk_share_spared(spared: Any) -> None:
    """Let a module untrack objects."""


WK_TENSOR, WK_NODE, WK_VIEW = range(3)


def wk_spare(x: Any, link: Any, kind: int) -> None:
    """Untrack a new object, unless something alive may tie it into a cycle."""


def wk_forget(link: Any) -> None:
    """Take an object that is being freed out of its list."""


def wk_may_cycle(value: Any) -> bool:
    """Whether a value is of a kind that the collector knows, and no tuple of others."""
    return True


def wk_is_own_attribute(x: Any, name: str, cls: type) -> bool:
    """Whether an attribute that was set is no property of cls: it lies in x's __dict__, or may lie in a slot of a subclass."""
    return type(x).__basicsize__ != cls.__basicsize__ or name in vars(x)


def wk_set_attribute(x: Any, name: str, value: Any) -> None:
    """Set an attribute, as object.__setattr__ does."""
    object.__setattr__(x, name, value)


def wk_reveal() -> None:
    """Track all untracked objects."""


def wk_count_attachment(change: int) -> None:
    """Count an attachment (1), or the end of one (-1)."""

"""InputBuffer sums the cotangents that arrive at a node during a pass. ReadCotangent is the cotangent of a read."""

from __future__ import annotations

if False:
    import cython
from typing import Any

import numpy as np

from wengert import _shim as cython
from wengert.backends.selection import backend_of, others

if not cython.compiled:
    from wengert.core.native import is_complex, is_ndarray, wk_init_numpy

wk_init_numpy()


@cython.final
@cython.no_gc  # alive during a run only, which takes it off its node: no cycle lasts
@cython.freelist(256)
@cython.binding(False)
@cython.cclass
class InputBuffer:
    """The state of one node in one run: the number of cotangents still to come, and the sum of those that came, per output.

    It hangs on the node while the run lasts. A node that another run holds already (a backward pass inside a backward
    pass, another thread) keeps that run's buffer; ours is then in GraphTask.displaced.
    """

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = ("captures", "cotangent", "dependencies", "needed", "others", "owned", "task", "untaken")
        task: Any  # the GraphTask
        dependencies: int
        needed: bool
        cotangent: Any  # of output 0
        owned: bool  # nobody else sees that array: it may be added to in place
        others: dict[int, Any] | None  # output number -> (cotangent, owned), for the other outputs
        captures: list[tuple[int, int]] | None  # (output number, position in GraphTask.results)
        untaken: Any  # Places where no branch was taken to which the cotangent of output 0 belongs, or None; see Note [Untaken]

        def __new__(cls, *_: Any, **__: Any) -> Any:
            self = object.__new__(cls)
            self.task = self.cotangent = self.others = self.captures = self.untaken = None
            self.dependencies = 0
            self.needed = True
            self.owned = False
            return self


def cotangent_of(buffer: InputBuffer, nr: int) -> Any:
    """The sum that arrived at one output, or None."""
    if nr == 0:
        return buffer.cotangent
    if buffer.others is None:
        return None
    held = buffer.others.get(nr)
    return None if held is None else held[0]


def set_cotangent(buffer: InputBuffer, nr: int, value: Any) -> None:
    """Replace the sum that arrived at one output by what a hook returned, which may be anybody's."""
    if nr == 0:
        buffer.cotangent = value
        buffer.owned = False
        if buffer.untaken is not None:  # where the hook has left 0, nothing has come to depend on the branch
            buffer.untaken = None if value is None else buffer.untaken.still(value)
    else:
        if buffer.others is None:
            buffer.others = {}
        buffer.others[nr] = (value, False)


@cython.final
@cython.binding(False)
@cython.cclass
class ReadCotangent:
    """The cotangent of a read (x[i], a slice, a gather): value at index of zeros.

    It is added into the source's buffer in place, so n reads of a vector cost n, not n times its length.
    repeats: whether index may name an element twice.
    """

    if not cython.compiled:
        __slots__ = ("index", "repeats", "value")

    def __init__(self, value: Any, index: Any, repeats: bool) -> None:
        self.value = value
        self.index = index
        self.repeats = repeats


def dense_of(read: ReadCotangent, shape: tuple[int, ...], dtype: Any, face: Any) -> Any:
    """Return a read's cotangent in full: an array, or a tensor if the face makes tensors, that is 0 where nothing was read."""
    whole = zeros_beside(read.value, shape, dtype, face)
    face.add_at(whole, read.index, read.value, read.repeats)
    return whole


def zeros_beside(value: Any, shape: tuple[int, ...], dtype: Any, face: Any) -> Any:
    """Return zeros, an array or a tensor as the face makes them, on the device of value."""
    if others:
        array = getattr(value, "_array", value)
        backend = backend_of(array)
        if type(array) in others:
            with backend.current(backend.device_of(array)):
                zeros = backend.zeros(shape, dtype)
            return zeros if array is value else face.clone(zeros)
    return face.zeros(shape, dtype)


def conj_of(x: Any) -> Any:
    """F.conj on raw arrays: the complex conjugate; what is real, arrays and numbers, as it is."""
    if is_ndarray(x):
        return x.conj() if is_complex(x) else x
    if others and type(x) in others:
        return x.conj() if x.dtype.kind == "c" else x
    return x.conjugate() if isinstance(x, (complex, np.complexfloating)) else x

"""The two faces of F: the operations on raw arrays and the operations on tensors. The registry fills both.

Besides the operations, the array face has the few functions that the engine needs to add cotangents. F on
values of a trace is Operations in core/trace.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import set_array_faces, to_device
from wengert.core.buffers import ReadCotangent, conj_of
from wengert.core.engine import set_faces
from wengert.core.forward import cast_array, run_on, set_device_kernels
from wengert.core.tensor import wrap
from wengert.kernels import find_kernel, memory, native
from wengert.ops.add_at import add_at
from wengert.ops.families import register_family_of


def _of_late_family(face: Any, name: str) -> Any:
    """Return an operation of a late family, and register the family."""
    register_family_of(name)
    found = vars(face).get(name)
    if found is None:
        raise AttributeError(f"no operation is named {name!r}")
    return found


class ArrayOps:
    """F in an ordinary backward pass: takes raw arrays and returns raw arrays."""

    is_tensor = False
    backend: Any = numpy_backend

    asarray = staticmethod(np.asarray)
    zeros = staticmethod(memory.new_zeros)
    copy = staticmethod(memory.copy)
    clone = staticmethod(memory.copy)
    copy_like = staticmethod(memory.copy_like)
    sum_to_size = staticmethod(numpy_backend.sum_to_size)
    cast = staticmethod(cast_array)
    add_at = staticmethod(add_at)

    @staticmethod
    def read_cotangent(ct: Any, *, shape: tuple[int, ...], index: Any, repeats: bool = False) -> Any:
        """Return the cotangent of x, which has this shape, given the cotangent of x[index].

        repeats: whether index may name an element twice."""
        return ReadCotangent(ct, index, repeats)

    def __getattr__(self, name: str) -> Any:
        return _of_late_family(self, name)


class DeviceOps(ArrayOps):
    """F in an ordinary backward pass on the arrays of another library than NumPy.

    Each operation is made when a rule first asks for it."""

    copy = clone = staticmethod(lambda x: x.copy("K"))

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.asarray, self.zeros, self.sum_to_size = backend.asarray, backend.zeros, backend.sum_to_size

    def __getattr__(self, name: str) -> Any:
        getattr(array_face, name)  # registers the family
        op = WITHOUT_ARRAY_FORM.get(name)
        found = getattr(array_face, name) if op is None else partial(op.fn, self) if hasattr(op, "fn") else self._form_of(op)
        setattr(self, name, found)
        return found

    def _form_of(self, op: Any) -> Any:
        """Return an operation as a function of raw arrays. A variadic input comes as one sequence."""

        def run(*inputs: Any, **params: Any) -> Any:
            if op.variadic >= 0:
                inputs = (*inputs[: op.variadic], *inputs[op.variadic])
            return run_on(self.backend, op, to_device(inputs, self.backend), params)

        return run


# The operations whose function on the array face is made of their forward. Those of the others take arrays of any library.
WITHOUT_ARRAY_FORM: dict[str, Any] = {}


def _load_device_kernels() -> Any:
    return import_late("wengert.ops.device_kernels")  # only programs that use a GPU need it


class TensorOps:
    """F under create_graph: takes tensors and returns tensors. Operations are recorded."""

    is_tensor = True

    def __getattr__(self, name: str) -> Any:
        return _of_late_family(self, name)

    @staticmethod
    def tensor(value: Any, dtype: Any) -> Any:
        """Return a constant as a tensor."""
        return wrap(np.asarray(value, dtype))


def array_form(op: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a forward as a function of the array face. A variadic input comes as one sequence, as on the tensor face.

    A pointwise operation runs its kernel, if it has one for its inputs alone: the last bits are then those of the operation on
    tensors, and of recorded passes."""
    fixed = op.variadic
    if fixed < 0:
        kernel = find_kernel(op.name, True) if op.kind == "pointwise" else None
        if kernel is None or kernel[1] != op.input_names:
            return partial(forward, numpy_backend)
        return _kernel_form(kernel[0], forward)

    def run(*inputs: Any, **params: Any) -> Any:
        return forward(numpy_backend, *inputs[:fixed], *inputs[fixed], **params)

    return run


def _kernel_form(kernel: int, forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of raw arrays that runs a kernel, or the forward where the kernel does not take the arguments."""

    def run(*inputs: Any, **params: Any) -> Any:
        found = None if params else native.apply(kernel, inputs)
        return forward(numpy_backend, *inputs, **params) if found is None else found

    return run


array_face = ArrayOps()
tensor_face = TensorOps()
array_face.conj = conj_of  # type: ignore[attr-defined]
set_faces(array_face, tensor_face)
set_array_faces(array_face, DeviceOps)
set_device_kernels(_load_device_kernels)

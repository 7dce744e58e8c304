"""ndarray: an array with NumPy's methods and defaults that records what is computed from it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.array_functions.shapes import in_memory_order, reversed_axes
from wengert.array_functions.table import Namespace, detached
from wengert.core.tensor import TensorBase
from wengert.core.views import bump
from wengert.numpy.functions import as_function, is_differentiated, memory_to_write, run, ufunc
from wengert.numpy.holding import Holder, set_array_class, unwrap, wrap, wrapped
from wengert.numpy.indexing import flatiter, read, write
from wengert.ops import OPS

w = Namespace("")
_OPERANDS = (Holder, TensorBase, np.ndarray, np.generic, Number, list, tuple)
_API_VERSIONS = (None, "2021.12", "2022.12", "2023.12", "2024.12")


# -- operators ---------------------------------------------------------------------------------------------------------


def _operator(function: np.ufunc, quick: str | None = None, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return a binary operator. quick: the operation that runs it if both operands are real and of one floating dtype."""
    call: ufunc = as_function(function)
    operation = None if quick is None else getattr(w, quick)

    def operator(self: Any, other: Any) -> Any:
        kind = type(other)
        if operation is not None:
            x = self._tensor
            dtype = x._array.dtype
            if kind is ndarray:
                y = other._tensor
                if dtype is y._array.dtype and dtype.kind == "f":
                    try:
                        return wrap(operation(x, y))
                    except errors.ShapeError:
                        pass  # the ufunc raises NumPy's error
            elif (kind is float or (kind is int and -(2**53) < other < 2**53)) and dtype.char == "d":
                return wrap(operation(other, x) if reflected else operation(x, other))
        if not isinstance(other, _OPERANDS) or getattr(other, "__array_ufunc__", True) is None:
            return NotImplemented
        return call(other, self) if reflected else call(self, other)

    return operator


def _inplace(function: np.ufunc, quick: str | None = None) -> Callable[[Any, Any], Any]:
    """Return an in-place operator. quick: the in-place method that runs it if both operands are real and of one floating dtype."""
    call: ufunc = as_function(function)

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        found: list[Any] = []
        value, x = unwrap(other, found), self._tensor
        dtype = x._array.dtype
        if not is_differentiated([x, *found]):
            function(x._array, detached(value), out=(memory_to_write(x),))
            bump(x)
        elif quick is not None and dtype.kind == "f" and _has_dtype(value, dtype):
            getattr(x, quick)(value)
        else:
            result = call(self.copy("K"), other)  # the derivative may need the values before the write
            if not np.can_cast(result.dtype, dtype, "same_kind"):
                raise TypeError(
                    f"Cannot cast ufunc '{function.__name__}' output from {result.dtype!r} to {dtype!r} with casting rule "
                    "'same_kind'"
                )
            if result.shape != self.shape:
                raise ValueError(
                    f"non-broadcastable output operand with shape {self.shape} doesn't match the broadcast shape {result.shape}"
                )
            x.copy_(result._tensor)
        return self

    return operator


def _has_dtype(value: Any, dtype: np.dtype) -> bool:
    return type(value) in (int, float) if not isinstance(value, TensorBase) else value._array.dtype == dtype


def _method(name: str, place: int = 0) -> Callable[..., Any]:
    """Return a method that calls the function of NumPy with this name. place: the array's place among its arguments."""
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return run(function, (*args[:place], self, *args[place:]), kwargs)

    method.__name__ = name
    method.__doc__ = f"Call np.{name} on this array."
    return method


class ndarray(Holder):
    """An array with NumPy's methods, attributes and defaults that records what is computed from it. It can be differentiated.

    Make one with wengert.numpy.array, zeros, arange and the like. wengert.asarray(x) returns the tensor that it holds: both have
    one memory, one history and one gradient. requires_grad, grad and backward() are the tensor's; shape and dtype NumPy's.

    ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None) makes one as numpy.ndarray does.

    >>> import wengert.numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> x.requires_grad = True
    >>> (x * x).sum().backward()
    >>> x.grad
    array([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 2000
    __hash__ = None  # type: ignore[assignment]  # as NumPy's arrays

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return wrapped(np.ndarray(*args, **kwargs))

    # -- shape, dtype and memory -------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension. Assigning a shape keeps the memory."""
        found: tuple[int, ...] = self._tensor._array.shape
        return found

    @shape.setter
    def shape(self, shape: Any) -> None:
        if self._tensor.requires_grad and self._tensor.is_leaf:
            raise RuntimeError("a leaf that requires grad keeps its shape. Hint: use x = x.reshape(shape).")
        view = self._tensor._array.view()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 has one for this assignment
            view.shape = shape  # raises what NumPy raises, also where only a copy would have the shape
        self._tensor = self.reshape(shape)._tensor

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        found: int = self._tensor._array.ndim
        return found

    @property
    def size(self) -> int:
        """The number of elements."""
        found: int = self._tensor._array.size
        return found

    @property
    def dtype(self) -> np.dtype:
        """The dtype, as a numpy.dtype."""
        found: np.dtype = self._tensor._array.dtype
        return found

    itemsize = property(lambda self: self._tensor._array.itemsize, doc="Bytes of an element.")
    nbytes = property(lambda self: self._tensor._array.nbytes, doc="Bytes of all elements.")
    strides = property(lambda self: self._tensor._array.strides, doc="Bytes from an element to the next, for each dimension.")
    flags = property(lambda self: self._tensor._array.flags, doc="What NumPy says about the memory.")
    data = property(lambda self: self._tensor.numpy().data, doc="The memory. Raises RuntimeError if the array requires grad.")
    ctypes = property(lambda self: self._tensor.numpy().ctypes, doc="The memory for ctypes. Raises RuntimeError as data does.")
    device = property(lambda self: "cpu", doc="The device of the memory, as the Array API names it.")

    @property
    def base(self) -> Any:
        """The array whose memory this one views, or None."""
        found = self._tensor._base
        return None if found is None else wrap(found)

    @property
    def T(self) -> Any:
        """The array with its dimensions in reverse order: a view."""
        return wrap(reversed_axes(self._tensor))

    @property
    def mT(self) -> Any:
        """The array with its last two dimensions exchanged: a view."""
        return run(np.matrix_transpose, (self,), {})

    @property
    def real(self) -> Any:
        """The real parts: a view. A real array returns itself."""
        return wrap(w.real(self._tensor)) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary parts: a view. Zeros for a real array."""
        return wrap(w.imag(self._tensor)) if self.dtype.kind == "c" else wrapped(np.zeros(self.shape, self.dtype))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value

    @property
    def flat(self) -> Any:
        """The elements in row-major order, to loop over, index and write to."""
        return flatiter(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    # -- gradients -----------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether what is computed from the array is recorded."""
        found: bool = self._tensor.requires_grad
        return found

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._tensor.requires_grad = value

    @property
    def grad(self) -> Any:
        """The gradient that backward() has added up, or None."""
        found = self._tensor.grad
        return None if found is None else wrap(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._tensor.grad = unwrap(value, [])

    grad_fn = property(lambda self: self._tensor.grad_fn, doc="The node that made the array, or None.")
    is_leaf = property(lambda self: self._tensor.is_leaf, doc="Whether the array is not the result of a recorded operation.")

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set requires_grad, and return the array."""
        self._tensor.requires_grad_(requires_grad)
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of this array in grad, though it is no leaf."""
        self._tensor.retain_grad()

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this array to the grad of the leaves of its graph. See Tensor.backward."""
        given = [inputs] if isinstance(inputs, (Holder, TensorBase)) else inputs
        self._tensor.backward(_cotangent(gradient, self), retain_graph, create_graph, inputs=unwrap(given, []))

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call hook with the gradient of this array in each backward pass. What it returns replaces the gradient."""
        return self._tensor.register_hook(lambda grad: unwrap(hook(wrap(grad)), []))

    def detach(self) -> Any:
        """Return an array of the same memory, without history."""
        return wrap(self._tensor.detach())

    # -- conversions ---------------------------------------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        """Return one element as a Python number: the only one, or that at a flat index or a multi-index."""
        return self._tensor.numpy(force=True).item(*index)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._tensor.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """Return the elements as bytes. Raises RuntimeError if the array requires grad."""
        found: bytes = self._tensor.numpy().tobytes(order)
        return found

    def tofile(self, file: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file. See numpy.ndarray.tofile."""
        self._tensor.numpy().tofile(file, sep, format)

    def dump(self, file: Any) -> None:
        """Pickle the values to a file."""
        self._tensor.numpy().dump(file)

    def dumps(self) -> bytes:
        """Return the values as a pickle of a NumPy array."""
        found: bytes = self._tensor.numpy().dumps()
        return found

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True, *, device: Any = None
    ) -> Any:
        """Return the array cast to a dtype. The derivative of a cast between floating dtypes is a cast; ints have none."""
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise TypeError(f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule '{casting}'")
        if not is_differentiated([self._tensor]):
            if wanted == self.dtype and not copy:
                return self
            return wrapped(self._tensor._array.astype(wanted, order, copy=True))
        found = self._tensor.to(dtypes.from_numpy_dtype(wanted), copy=copy)
        return self if found is self._tensor else wrap(in_memory_order(found, order))

    def copy(self, order: str = "C") -> Any:
        """Return a copy in memory of its own. It stays in the graph."""
        return wrap(in_memory_order(self._tensor.clone(), order))

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return a view of the memory, as another dtype if one is given. A view of another dtype has no derivative."""
        if dtype is None or (isinstance(dtype, builtins_type) and issubclass(dtype, Holder)):
            return self[...]
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self[...]
        if is_differentiated([self._tensor]):
            raise TypeError(f"x.view({wanted!r}) has no derivative: it reads the bits of {self.dtype!r} as other numbers.")
        self._tensor._array.view(wanted)  # raises what NumPy raises
        return wrap(OPS["_view_dtype"].function(self._tensor, dtype=wanted))

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array itself. Raises ValueError for another device than "cpu"."""
        if device != "cpu" or stream is not None:
            raise ValueError(f"Unsupported device {device!r}: wengert.numpy has only 'cpu', and no streams")
        return self

    def byteswap(self, inplace: bool = False) -> Any:
        """Return the array with the bytes of each element reversed. Raises RuntimeError if the array requires grad."""
        return wrapped(self._tensor.numpy().byteswap(inplace))

    def getfield(self, dtype: Any, offset: int = 0) -> Any:
        """Return a part of the bytes of each element. Raises RuntimeError if the array requires grad."""
        return wrapped(self._tensor.numpy().getfield(dtype, offset).copy())

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Set flags of the memory. See numpy.ndarray.setflags."""
        self._tensor._array.setflags(write, align, uic)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found: np.ndarray = self._tensor.__array__(dtype, copy)
        return found

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return wengert.numpy, which has the functions of the Array API."""
        if api_version not in _API_VERSIONS:
            raise ValueError(f"wengert.numpy follows the Array API of 2024.12, not {api_version!r}")
        return sys.modules["wengert.numpy"]

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        for x in inputs:
            if hasattr(type(x), "__array_ufunc__") and not isinstance(x, _OPERANDS):
                return NotImplemented
        return as_function(function)._run(method, inputs, settings)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not all(issubclass(t, (Holder, TensorBase, np.ndarray)) for t in types):
            return NotImplemented
        return run(function, args, kwargs)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        settings = {name: unwrap(x, []) for name, x in (kwargs or {}).items()}
        result = function(*[unwrap(x, []) for x in args], **settings)
        return result if function is w.asarray else wrapped(result)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        return self._tensor.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        found: tuple[int, int] = self._tensor.__dlpack_device__()
        return found

    def __reduce__(self) -> Any:
        return wrap, (self._tensor,)

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: dict) -> Any:
        from copy import deepcopy

        return wrap(deepcopy(self._tensor, memo))

    # -- Python's protocols --------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = repr(self._tensor.numpy(force=True))
        if self._tensor.requires_grad:
            node = self._tensor.grad_fn
            text = f"{text[:-1]}, {'requires_grad=True' if node is None else f'grad_fn=<{type(node).__name__}>'})"
        return text

    def __str__(self) -> str:
        return str(self._tensor.numpy(force=True))

    def __format__(self, spec: str) -> str:
        return format(self._tensor.numpy(force=True)[()] if self.ndim == 0 else self, spec) if self.ndim == 0 or spec else str(self)

    def __len__(self) -> int:
        return len(self._tensor._array)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    def __bool__(self) -> bool:
        return bool(self._tensor._array)

    def __int__(self) -> int:
        return int(self._tensor._array)

    def __float__(self) -> float:
        return float(self._tensor) if self.ndim == 0 else float(self._tensor.numpy())

    def __complex__(self) -> complex:
        return complex(self._tensor) if self.ndim == 0 else complex(self._tensor.numpy())

    def __index__(self) -> int:
        return self._tensor._array.__index__()

    def __getitem__(self, index: Any) -> Any:
        return wrap(read(self._tensor, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        write(self._tensor, index, value)

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self.item(), ndigits) if self.ndim == 0 else run(np.round, (self, ndigits or 0), {})

    def __divmod__(self, other: Any) -> Any:
        return as_function(np.divmod)(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return as_function(np.divmod)(other, self)

    def __neg__(self) -> Any:
        return as_function(np.negative)(self)

    def __pos__(self) -> Any:
        return as_function(np.positive)(self)

    def __abs__(self) -> Any:
        return as_function(np.absolute)(self)

    def __invert__(self) -> Any:
        return as_function(np.invert)(self)

    # -- methods whose arguments are not those of the function ----------------------------------------------------------------

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """Return the array with another shape: a view if its memory allows one."""
        if order == "C" and copy is None:
            try:
                return wrap(w.reshape(self._tensor, shape))
            except (RuntimeError, TypeError):
                pass  # NumPy's function raises NumPy's error
        settings = {} if copy is None else {"copy": copy}
        return run(np.reshape, (self, shape[0] if len(shape) == 1 else shape), {"order": order, **settings})

    def transpose(self, *axes: Any) -> Any:
        """Return a view with the axes in another order; in reverse order if none is given."""
        order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return run(np.transpose, (self, order), {})

    def flatten(self, order: Any = "C") -> Any:
        """Return a copy as a vector."""
        return run(np.ravel, (self, order), {}).copy()

    def conj(self) -> Any:
        """Return the complex conjugate. A real array returns itself."""
        return as_function(np.conjugate)(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def fill(self, value: Any) -> None:
        """Write a number into all elements."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sort the array in place."""
        self[...] = run(np.sort, (self, axis), {"kind": kind, "stable": stable} if stable is not None else {"kind": kind})

    def partition(self, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None) -> None:
        """Partition the array in place: element kth comes to its place in sorted order, smaller ones before it."""
        self[...] = run(np.partition, (self, kth, axis, kind), {})

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place; new elements are 0. Raises RuntimeError if the array requires grad."""
        values = np.array(self._tensor.numpy())
        values.resize(*shape, refcheck=False)
        self._tensor = w.from_numpy(values)


builtins_type = type

# The names of functions that are methods too, with the place of the array among their arguments.
_METHODS = """
    all any argmax argmin argpartition argsort choose clip cumprod cumsum diagonal dot max mean min nonzero prod put ravel
    repeat round searchsorted squeeze std sum swapaxes take trace var
"""
for _name in _METHODS.split():
    setattr(ndarray, _name, _method(_name))
ndarray.compress = _method("compress", 1)  # type: ignore[attr-defined]

# Operators: the ufunc, and the operation for operands of one floating dtype.
_ARITHMETIC: dict[str, tuple[np.ufunc, str | None]] = {
    "add": (np.add, "add"), "sub": (np.subtract, "sub"), "mul": (np.multiply, "mul"), "truediv": (np.true_divide, "div"),
    "floordiv": (np.floor_divide, None), "mod": (np.remainder, None), "pow": (np.power, None), "matmul": (np.matmul, None),
    "and": (np.bitwise_and, None), "or": (np.bitwise_or, None), "xor": (np.bitwise_xor, None),
    "lshift": (np.left_shift, None), "rshift": (np.right_shift, None),
}  # fmt: skip
for _name, (_function, _quick) in _ARITHMETIC.items():
    setattr(ndarray, f"__{_name}__", _operator(_function, _quick))
    setattr(ndarray, f"__r{_name}__", _operator(_function, _quick, reflected=True))
    setattr(ndarray, f"__i{_name}__", _inplace(_function, None if _quick is None else f"{_quick}_"))
for _name, _function in {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _operator(_function))


def _cotangent(gradient: Any, array: Any) -> Any:
    """Return the gradient that backward starts from as a tensor."""
    found = unwrap(gradient, [])
    if found is None or isinstance(found, TensorBase):
        return found
    return w.as_tensor(np.broadcast_to(found, array.shape).astype(array.dtype))


set_array_class(ndarray)

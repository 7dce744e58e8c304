"""Tensor: the core's TensorBase with the operations of OPS, conversion and printing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import device_name, on_device, to_host
from wengert.conversions import ConversionMembers
from wengert.core import watched
from wengert.core.hooks import RemovableHandle, warn_if_has_hooks
from wengert.core.leaf_gradient import GradientMembers, set_accumulator_aside
from wengert.core.leaving import has_tangent, warn_of_number
from wengert.core.legacy import LegacyMembers, set_volatile
from wengert.core.mirrors import CONJUGATE, NEGATIVE, is_mirror, physical_of, refuse_mirror, relation_of
from wengert.core.modes import DUAL, flags
from wengert.core.node import note_cut
from wengert.core.override import disabled_torch_function, set_plain_class
from wengert.core.passes import backward as run_backward
from wengert.core.reading import ReadableBase, set_readers
from wengert.core.subclass import SubclassMembers, prepare, set_alias
from wengert.core.tensor import (
    IS_INFERENCE,
    IS_VOLATILE,
    RETAINS_GRAD,
    TensorBase,
    counter_of,
    is_differentiable,
    make_volatile,
    refresh_view,
    set_tensor_class,
    wrap,
    wrap_as,
)
from wengert.devices import legacy_type
from wengert.dtypes import dtype as _dtype
from wengert.kernels.memory import address_of, offset_of, owner_of
from wengert.layouts import strided
from wengert.ops import OPS, OperationMethods
from wengert.ops.dims import as_dim
from wengert.ops.interception import register_overridable_class
from wengert.sizes import Size

set_readers(OPS["_select"], OPS["__getitem__"].function)


class Tensor(ReadableBase, OperationMethods, ConversionMembers, GradientMembers, LegacyMembers, SubclassMembers):  # type: ignore[misc]
    """A multi-dimensional array that records what is computed from it, so that it can be differentiated.

    Make one with wengert.tensor(data), from_numpy(array), zeros(...), randn(...). Its memory is a NumPy array.

    >>> import wengert
    >>> x = wengert.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Make a tensor as torch always has: Tensor(2, 3) is an uninitialised 2x3 tensor, Tensor([1, 2]) holds 1 and 2."""
        from wengert.ops.create import legacy_tensor

        prepare(cls)
        return legacy_tensor(cls, args, options)

    # -- shape and dtype ----------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return tuple.__new__(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension. Raises IndexError for a dimension out of range."""
        if dim is None:
            return tuple.__new__(Size, self._array.shape)
        ndim = self._array.ndim
        try:
            return self._array.shape[dim]
        except (TypeError, IndexError):
            raise errors.dim_out_of_range(as_dim(dim), ndim) from None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    @property
    def dtype(self) -> _dtype:
        """The element type."""
        return dtypes.from_numpy_dtype(self._array.dtype)

    is_mps = False
    is_xpu = False
    is_sparse = False
    is_sparse_csr = False
    is_mkldnn = False
    is_nested = False
    is_quantized = False
    is_meta = False

    @property
    def layout(self) -> Any:
        """The layout of the elements: strided."""
        return strided

    @property
    def name(self) -> Any:
        """None. Tensors have no names, as in torch since 1.0."""
        return None

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._array.itemsize

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    def stride(self, dim: int | None = None) -> Any:
        """The stride of each dimension, or of one dimension, in elements."""
        steps = tuple([s // self._array.itemsize for s in self._array.strides])
        return steps if dim is None else steps[dim]

    def is_contiguous(self) -> bool:
        """Whether the elements are in memory in row-major order, without gaps."""
        return bool(self._array.flags.c_contiguous)

    def data_ptr(self) -> int:
        """The address of the first element, or 0 if there is none."""
        return address_of(physical_of(self)) if self._array.size else 0

    def storage_offset(self) -> int:
        """Number of elements between the start of the underlying memory and the first element of this tensor."""
        array = physical_of(self)
        return offset_of(array, owner_of(array)) // array.itemsize

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point dtype."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
        return self.permute(tuple(range(self._array.ndim - 1, -1, -1)))

    @property
    def real(self) -> Any:
        """The real parts, as a view. A real tensor returns itself."""
        return OPS["real"].function(self)

    @real.setter
    def real(self, value: Any) -> None:
        OPS["real"].function(self).copy_(value)

    @property
    def imag(self) -> Any:
        """The imaginary parts, as a view. Raises RuntimeError if the tensor is real."""
        return OPS["imag"].function(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        OPS["imag"].function(self).copy_(value)

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two dimensions exchanged. A 0-d tensor is returned itself."""
        if not self._array.ndim:
            return self
        if self._array.ndim < 2:
            raise RuntimeError(
                f"tensor.mT is only supported on matrices or batches of matrices. Got {self._array.ndim}-D tensor."
            )
        return self.transpose(-2, -1)

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
        if self._array.ndim not in (0, 2):
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {self._array.ndim}-D tensor."
            )
        return self.T.conj() if self.is_complex() else self.T

    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of a matrix or a batch of matrices."""
        return self.mT.conj() if self.is_complex() else self.mT

    # -- gradients -----------------------------------------------------------------------------------------------------

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        **old: Any,
    ) -> None:
        """Add the gradients of this tensor with respect to the leaves of its graph to their .grad.

        gradient: the cotangent to start from, of this tensor's shape. It may be left out if the tensor has one element.
        See wengert.autograd.backward for the other arguments and the errors. old: grad_variables= and grad_tensors= are
        older names of gradient=, retain_variables= of retain_graph=.
        """
        if old:
            gradient, retain_graph = _rename_old(gradient, retain_graph, old)
        run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @property
    def data(self) -> Tensor:
        """A tensor of the same memory, without history. It has its own version counter, so writes through it go unnoticed."""
        result = wrap(physical_of(self))
        result._flags |= self._flags & IS_INFERENCE
        if self._requires_grad:
            note_cut(".data", self)
        return _reflected(self, result)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and not is_differentiable(value._array):
            raise errors.RequiresGradError("data set to a tensor that requires gradients must be floating point or complex dtype")
        held, new = self._array, value._array
        if new.shape != held.shape or new.dtype != held.dtype or device_name(new) != device_name(held):
            set_accumulator_aside(self)
        if is_mirror(self):
            self._view.physical = None
        self._array = value._array
        self._meta = None

    def detach(self) -> Tensor:
        """Return a tensor of the same memory, without history. Both see writes through either, and so does the version check."""
        result = wrap(physical_of(self))
        result._counter = counter_of(self)
        result._flags = self._flags & IS_INFERENCE  # in inference mode too, because it must count the writes
        result = _reflected(self, result)
        if self._flags & IS_VOLATILE:
            make_volatile(result)
        elif self._requires_grad:
            note_cut("detach()", self)
        return result

    def detach_(self) -> Tensor:
        """Cut this tensor from its history. It becomes a leaf that requires no gradient. Raises RuntimeError for a view."""
        if self._view is not None:
            raise errors.InplaceError("Can't detach views in-place. Use detach() instead.")
        if self._flags & IS_VOLATILE:
            return self
        if self._requires_grad:
            note_cut("detach_()", self)
        if self._grad_fn is not None:
            self._leaf_hooks = self._backward_hooks
        self._grad_fn = None
        self._output_nr = 0
        self._requires_grad = False
        self._flags &= ~RETAINS_GRAD
        return self

    # -- values --------------------------------------------------------------------------------------------------------

    def item(self) -> Any:
        """Return the only element as a Python number. Raises RuntimeError if there is not exactly one element."""
        if self._array.size != 1:
            raise errors.ConversionError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        if self._requires_grad:
            note_cut("item()", self)
        number = to_host(self._array).item()
        return number if watched.number_observer is None else watched.number_observer(self, number)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers, or as a number if the tensor is 0-d."""
        if self._requires_grad:
            note_cut("tolist()", self)
        refresh_view(self)
        return to_host(self._array).tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return a NumPy array that shares the tensor's memory. Raises RuntimeError if the tensor requires grad or is dual.

        Each call returns a new array, so a change of its shape or dtype leaves the tensor as it is.

        force=True detaches the tensor first.
        """
        if not force:
            self._check_array_may_be_taken()
            self._check_on_host()
        if self._requires_grad:
            note_cut("numpy()", self)
        if not isinstance(self._array, np.ndarray):
            return to_host(self._array)
        if self._view is not None:
            if force and is_mirror(self):
                return self._array.copy()
            refuse_mirror(self, "call numpy()")
        return self._array.view()

    def _check_array_may_be_taken(self, error: Callable[[str], Exception] | None = None) -> None:
        """Raise RuntimeError if the tensor requires grad or is dual: an array has neither gradient nor tangent.

        error: returns the error, given the kind of tensor; errors.no_array_of if None."""
        if self.requires_grad:
            raise (error or errors.no_array_of)("Tensor that requires grad")
        if has_tangent(self):
            raise (error or errors.no_array_of)("a dual Tensor, which has a tangent")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._check_array_may_be_taken(_array_is_asked_for)
        self._check_on_host()
        refresh_view(self)
        if dtype is not None and np.dtype(dtype) != self._array.dtype:
            if copy is False:
                raise ValueError("a copy is needed to change the dtype, and copy=False forbids it")
            return self._array.astype(dtype)
        if is_mirror(self) and not copy:
            if copy is False:
                refuse_mirror(self, "call numpy()")
            values = self._array.copy()
            values.flags.writeable = False  # a write would not reach the base
            return values
        return self._array.copy() if copy else self._array.view()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        _load_array_protocol()
        return Tensor.__array_ufunc__(self, ufunc, method, *inputs, **settings)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        _load_array_protocol()
        return Tensor.__array_function__(self, function, types, args, kwargs)

    def _exported(self) -> np.ndarray:
        """Return the array for other libraries. Raise BufferError if the tensor requires grad, is dual, or is a conjugate view."""
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if has_tangent(self):
            raise BufferError("Can't export dual tensors, which have a tangent, use tensor.detach()")
        if is_mirror(self):
            raise BufferError("Can't export tensors with the conjugate or negative bit set, use resolve_conj() and resolve_neg()")
        return self._array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._exported().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __buffer__(self, flags: int) -> memoryview:
        self._check_on_host()
        return memoryview(self._exported())

    def __bool__(self) -> bool:
        if self._array.size != 1:
            what = "more than one value" if self._array.size else "no values"
            raise errors.ConversionError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._array.item())

    __nonzero__ = __bool__  # Python 2's name

    def __int__(self) -> int:
        return int(self._number())

    __long__ = __int__

    def __float__(self) -> float:
        warn_of_number(self)
        return float(self._number())

    def __complex__(self) -> complex:
        warn_of_number(self)
        return complex(self._number())

    def _number(self) -> Any:
        """Return item(). Raise ValueError if there is not exactly one element."""
        if self._array.size != 1:
            raise errors.ScalarConversionError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise errors.DtypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise errors.DtypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise errors.DtypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (TensorBase, int, float, complex, np.generic)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any())

    def __reversed__(self) -> Tensor:
        return self if self._array.ndim == 0 else self.flip(0)

    # -- printing ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from wengert.printing import format_tensor

        try:
            node = self.grad_fn
            name = None if node is None else type(node).__name__
        except errors.InplaceError:  # a view that may no longer be used, because its base was written
            name = "Invalid"
        tangent = None
        if flags() & DUAL:
            from wengert.core.dual import tangent_of

            tangent = tangent_of(self)
        text = format_tensor(
            to_host(self._array),
            device=None if self.device.type == legacy_type() else str(self.device),
            requires_grad=self._requires_grad and not self.volatile,
            grad_fn_name=name,
            tangent=None if tangent is None else f"{tangent}",
            prefix=f"{type(self).__name__}(" if _is_printed_by_name(type(self)) else "tensor(",
        )
        return f"Parameter({text})" if "_is_param" in self.__dict__ else text

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    # -- copies --------------------------------------------------------------------------------------------------------

    def __copy__(self) -> Any:
        """Return a copy. The copy of a leaf is a leaf of the same memory. The copy of a result or a dual tensor is a clone."""
        if self.grad_fn is None and not has_tangent(self):
            rebuild, arguments = self.__reduce_ex__(4)
            return rebuild(*arguments)
        result = self.clone()
        result.__dict__.update(self.__dict__)
        return result

    def __deepcopy__(self, memo: dict) -> Any:
        from copy import deepcopy

        if self.grad_fn is not None:
            raise errors.ConversionError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
                "Hint: use .detach().clone() for the values, or .clone() for a copy that stays in the graph."
            )
        self._check_no_tangent("deepcopy")
        if id(self) in memo:
            return memo[id(self)]
        with on_device(device_name(self._array)):
            result = wrap_as(type(self), self._array.copy(order="K"))
        result._requires_grad = self._requires_grad
        result._flags = self._flags & IS_VOLATILE
        memo[id(self)] = result
        result._grad = deepcopy(self._grad, memo)
        result.__dict__.update(deepcopy(self.__dict__, memo))
        return result

    def _check_no_tangent(self, protocol: str) -> None:
        """Raise RuntimeError if the tensor is dual."""
        if has_tangent(self):
            raise errors.ConversionError(f"Dual tensors do not support the {protocol} protocol. Hint: detach() gives the values.")

    def __reduce_ex__(self, protocol: Any) -> tuple:
        self._check_no_tangent("pickle")
        if self._leaf_hooks:
            warn_if_has_hooks(self)
        # A result of an operation loses its history and becomes a leaf.
        cls = None if type(self) is Tensor else type(self)  # under compat.install() the class has another name
        return _rebuild, (cls, self._array, self.requires_grad, dict(self.__dict__), self.volatile)


def _is_printed_by_name(cls: type) -> bool:
    return cls is not Tensor and cls.__torch_function__ is not disabled_torch_function


def _reflected(tensor: Any, plain: Any) -> Any:
    """Return the view of `plain` that a mirror is of its base's memory, or `plain` itself if the tensor is no mirror."""
    relation = relation_of(tensor)
    for name, bit in (("_conj", CONJUGATE), ("_neg_view", NEGATIVE)):
        plain = OPS[name].function(plain) if relation & bit else plain
    return plain


def _rename_old(gradient: Any, retain_graph: Any, old: dict) -> tuple[Any, Any]:
    """Return (gradient, retain_graph) of Tensor.backward. old: arguments under the names of torch 0.1 to 0.3."""
    from wengert.core.spellings import take_old

    given: dict = {}
    for name, value in (("gradient", gradient), ("retain_graph", retain_graph)):
        if value is not None:
            given[name] = value
    renames = {"grad_variables": "gradient", "grad_tensors": "gradient", "retain_variables": "retain_graph"}
    take_old("backward", given, old, renames)
    return given.get("gradient"), given.get("retain_graph")


def _rebuild(cls: type | None, array: np.ndarray, requires_grad: bool, attributes: dict, volatile: bool = False) -> Any:
    """Rebuild a pickled tensor. cls: None for Tensor itself."""
    cls = Tensor if cls is None else cls
    tensor = wrap_as(cls, array)
    prepare(cls)
    tensor._requires_grad = requires_grad
    if volatile:
        set_volatile(tensor, True)
    tensor.__dict__.update(attributes)
    return tensor


def _array_is_asked_for(what: str) -> Exception:
    from wengert.array_functions.refusals import no_array_of  # loaded for the first error

    return no_array_of(what)


def _load_array_protocol() -> None:
    """Load array_protocol, and put its functions in the places of the methods that NumPy calls."""
    from wengert.array_protocol import array_function, array_ufunc

    Tensor.__array_ufunc__, Tensor.__array_function__ = array_ufunc, array_function  # type: ignore[method-assign]


set_tensor_class(Tensor)
set_plain_class(Tensor)
register_overridable_class(Tensor)
set_alias(OPS["alias"], Tensor)

__all__ = ["RemovableHandle", "Tensor"]

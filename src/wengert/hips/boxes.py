"""ArrayBox: the tensors that functions under differentiation get, with NumPy's operators. Box: the other traced values.

Note [Boxes]
HIPS autograd wraps the arguments of a differentiated function in boxes. Here the box of an array or a number is a tensor of the
class ArrayBox: it is on the tape like any other tensor, and functions of wengert take it. Its class only says that operators,
indexing and the functions of wengert.hips.numpy answer in NumPy's way. A result that has a history becomes an ArrayBox; any
other result is a NumPy array, as under HIPS. The class is set after the operation has run, so that operations know nothing of it
and pay nothing.

Values of classes that programs register with Box.register are no arrays. Such a box holds its value in _value, and in _node a
Handle, which stands for it on the tape; see tape.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from wengert import errors
from wengert.array_functions.table import rebuilt
from wengert.core.leaving import has_tangent
from wengert.core.override import disabled_torch_function
from wengert.core.tensor import TensorBase, wrap
from wengert.tensor import Tensor


class Box:
    """A traced value that is no array. Subclasses belong to the types that they are registered for."""

    __slots__ = ("_node", "_trace", "_value")
    type_mappings: ClassVar[dict[type, type]] = {}
    types: ClassVar[set[type]] = set()

    def __init__(self, value: Any, trace: int, node: Any) -> None:
        self._value = value
        self._node = node
        self._trace = trace

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return f"Autograd {type(self).__name__} with value {self._value!s}"

    @classmethod
    def register(cls, value_type: type) -> None:
        """Let values of this type be traced in boxes of this class."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = cls
        Box.type_mappings[cls] = cls


def value_of(x: Any) -> Any:
    """Return x with boxes and tensors replaced by their values, also in tuples, lists and dicts. 0-d values are NumPy's scalars."""
    if isinstance(x, TensorBase):
        if x._view is None and not x._requires_grad and type(x._array) is np.ndarray:
            return x._array.view() if x._array.ndim else x._array[()]
        array = x.numpy(force=True)  # type: ignore[attr-defined]  # a TensorBase is a Tensor
        return array if array.ndim else array[()]
    if isinstance(x, Box):
        return value_of(x._value)
    if isinstance(x, (tuple, list)):
        return rebuilt(x, [value_of(item) for item in x])
    if type(x) is dict:
        return {key: value_of(item) for key, item in x.items()}
    return x


def is_traced(x: Any) -> bool:
    """Whether x is a tensor that is differentiated, or a box, or a tuple, list or dict that holds one."""
    if isinstance(x, TensorBase):
        return x._requires_grad or has_tangent(x)
    if isinstance(x, (tuple, list)):
        for item in x:  # noqa: SIM110  # any() of a generator takes three times as long
            if is_traced(item):
                return True
        return False
    return is_traced(list(x.values())) if type(x) is dict else isinstance(x, Box)


def boxed(found: Any, given: Iterable[Any] = ()) -> Any:
    """Return a result with a history as an ArrayBox, and any other as NumPy's array or scalar.

    given: the arguments of the function. A tensor among them that the function returns keeps its class.
    """
    if isinstance(found, TensorBase):
        if not (found._requires_grad or has_tangent(found)):
            return value_of(found)
        if type(found) is Tensor:
            for x in given:
                if found is x:
                    return found
            found.__class__ = ArrayBox
        return found
    if isinstance(found, (tuple, list)):
        return rebuilt(found, [boxed(x, given) for x in found])
    return found


class Size(int):
    """The number of elements of a box, NumPy's x.size. Called, it is torch's x.size()."""

    _shape: Any

    def __call__(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of a dimension."""
        return self._shape if dim is None else self._shape[dim]


class ArrayBox(Tensor):
    """An array or number under differentiation: a tensor with NumPy's operators. See Note [Boxes].

    Comparisons give NumPy arrays, which have no derivative. x += y makes a new box, as HIPS does; x[i] = y writes in place.
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # operations return plain tensors, and nobody is asked
    __hash__ = object.__hash__

    @property
    def _value(self) -> Any:
        """The value as NumPy's array or scalar, without history."""
        return value_of(self)

    @property
    def size(self) -> Size:
        """The number of elements."""
        found = Size(self._array.size)
        found._shape = self.shape
        return found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        return boxed(super().__array_ufunc__(ufunc, method, *inputs, **settings), inputs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return boxed(super().__array_function__(function, types, args, kwargs), args)

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([_box(x) for x in super().__iter__()])

    def __getitem__(self, index: Any) -> Any:
        if _is_numpys_index(index):
            places = np.arange(self._array.size).reshape(self._array.shape)[value_of(index)]
            found = Tensor.__getitem__(self.ravel(), places.ravel()).reshape(places.shape)
        else:
            found = Tensor.__getitem__(self, index)
        if type(found) is Tensor:
            found.__class__ = ArrayBox
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except errors.InplaceError as error:  # a leaf, or a view of one: an argument of the function
            raise TypeError(
                "'ArrayBox' object does not support item assignment: it is an argument of the function that is differentiated. "
                "Hint: write into a copy, x.copy()."
            ) from error

    def __float__(self) -> float:
        raise TypeError("float() argument must be a string or a real number, not 'ArrayBox'. Hint: x._value is the value of x.")

    def __str__(self) -> str:
        return f"Autograd ArrayBox with value {self._value!s}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError("unsupported format string passed to ArrayBox.__format__")
        return str(self)

    def tolist(self) -> Any:
        """Return nested lists of boxes."""
        return [x.tolist() if x.ndim else x for x in self] if self.ndim else self


def _is_numpys_index(index: Any) -> bool:
    """Whether NumPy and torch may differ: steps below 0, and arrays of integers beside numbers."""
    if type(index) is slice:
        return index.step is not None and index.step < 0
    if type(index) is not tuple:
        return False
    has_array = has_number = False
    for item in index:
        if type(item) is slice:
            if item.step is not None and item.step < 0:
                return True
        elif isinstance(item, (list, np.ndarray, TensorBase)):
            has_array = True
        elif item is not None and item is not Ellipsis:
            has_number = True
    return has_array and has_number


# Operators of Tensor whose results become boxes. x += y is x = x + y: HIPS never writes into an array that it differentiates.
_UNARY = "neg pos abs"
_BINARY = "add radd sub rsub mul rmul truediv rtruediv pow rpow mod rmod matmul rmatmul"
_COMPARISONS = "eq ne lt le gt ge"


def _box(found: Any) -> Any:
    """Return the result of an operator as a box, also if it has no history: derivative rules compute with boxes, too."""
    if type(found) is Tensor:
        found.__class__ = ArrayBox
    return found


def _operator(run: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        found = run(self, other)
        if type(found) is Tensor:
            found.__class__ = ArrayBox
        return found

    return operator


def _comparison(name: str) -> Callable[..., Any]:
    def compare(self: Any, other: Any) -> Any:
        return getattr(np.asarray(value_of(self)), name)(value_of(other))

    return compare


def _view(name: str) -> property:
    """Return the property of Tensor with this name as one that gives boxes."""
    get = getattr(Tensor, name).fget
    return property(lambda self: _box(get(self)))


ArrayBox.T, ArrayBox.real = _view("T"), _view("real")  # type: ignore[assignment, method-assign]
_imag = Tensor.imag.fget  # type: ignore[attr-defined]
ArrayBox.imag = property(lambda self: _box(_imag(self)) if self.is_complex() else np.zeros(self.shape))  # type: ignore[assignment, method-assign]
for _name in _UNARY.split():
    setattr(ArrayBox, f"__{_name}__", (lambda run: lambda self: _box(run(self)))(getattr(Tensor, f"__{_name}__")))
for _name in _BINARY.split():
    setattr(ArrayBox, f"__{_name}__", _operator(getattr(Tensor, f"__{_name}__")))
for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "matmul"):
    setattr(ArrayBox, f"__i{_name}__", getattr(ArrayBox, f"__{_name}__"))
for _name in _COMPARISONS.split():
    setattr(ArrayBox, f"__{_name}__", _comparison(f"__{_name}__"))


def new_variable(array: np.ndarray) -> Any:
    """Return a leaf of the tape that holds this array."""
    found = wrap(array)
    found.requires_grad = True
    found.__class__ = ArrayBox
    return found

"""Errors from inside an operation, put into words about its arguments.

Operations do not check the types of their arguments before they run, because that would cost time in every call. If a call fails
with an error that no line of the package has raised on purpose, `explained` looks for the argument that does not fit and returns
torch's error for it. See docs/adr/0026.
"""

from __future__ import annotations

import dis
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert._forks import OPTIONAL, missing_library
from wengert.backends.selection import is_array
from wengert.core.op import MISSING, Op, public_name
from wengert.core.tensor import TensorBase
from wengert.core.trace import Traced
from wengert.core.watched import own_code
from wengert.generator import Generator

_VARARGS = 0x04
_RAISE = dis.opmap["RAISE_VARARGS"]
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_LIBRARIES = (_PACKAGE, os.path.dirname(np.__path__[0]) + os.sep, os.path.dirname(os.__file__) + os.sep)

# Errors whose classes torch raises too, and SystemError, which NumPy raises if an allocation fails.
# All others stand for a mistake inside.
_FIT = (ValueError, RuntimeError, IndexError, BufferError, Warning, OSError, SystemError)
_UNFIT = (RecursionError, UnicodeError, TypeError)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, (TensorBase, Traced)) or is_array(x) or hasattr(type(x), "__array_interface__")


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex, np.generic)) or (_is_tensor(x) and getattr(x, "ndim", 0) == 0)


def _is_operand(x: Any) -> bool:
    return _is_tensor(x) or _is_number(x)


def _is_int(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) or (_is_tensor(x) and getattr(x, "ndim", 0) == 0)


def _is_ints(x: Any) -> bool:
    return _is_int(x) or is_array(x) or (isinstance(x, Sequence) and all(map(_is_int, x)))


def _is_bool(x: Any) -> bool:
    return isinstance(x, (bool, int, np.bool_))


def _is_tensors(x: Any) -> bool:
    return _is_tensor(x) or (isinstance(x, Sequence) and all(map(_is_operand, x)))


def _is_string(x: Any) -> bool:
    return isinstance(x, str)


def _is_dtype(x: Any) -> bool:
    return isinstance(x, (dtypes.dtype, np.dtype, type, str))


def _is_size(x: Any) -> bool:
    """Whether x is an int, or a sequence of ints and None, which stands for the size of the input."""
    return _is_ints(x) or (isinstance(x, Sequence) and all(n is None or _is_int(n) for n in x))


def _is_anything(x: Any) -> bool:
    return True


Kind = tuple[str, Callable[[Any], bool]]
_TENSOR: Kind = ("Tensor", _is_tensor)
_OPERAND: Kind = ("Tensor", _is_operand)
_NUMBER: Kind = ("Number", _is_number)
_INT: Kind = ("int", _is_int)
_INTS: Kind = ("tuple of ints", _is_ints)
_OPTIONAL: Kind = ("Tensor", lambda x: x is None or _is_tensor(x))
_ANYTHING: Kind = ("", _is_anything)
_BOOL: Kind = ("bool", _is_bool)
_STRING: Kind = ("str", _is_string)
_KIND_OF_NAMES: list[tuple[str, Kind]] = [
    (
        "input self x tensor mask index indices mat1 mat2 mat vec vec1 vec2 batch1 batch2 tensor1 tensor2 input1 input2 x1 x2",
        _TENSOR,
    ),
    ("weight target A B grid theta query key", _TENSOR),
    ("mask1 anchor positive negative log_probs targets LU_data LU_pivots tau offsets", _TENSOR),
    ("bias running_mean running_var", _OPTIONAL),
    ("other exponent condition values end src source var", _OPERAND),
    ("alpha beta eps p lambd threshold margin negative_slope momentum delta", _NUMBER),
    ("min max", ("Number", _is_operand)),
    ("dim0 dim1 dim2 diagonal offset k n start length chunks step groups dimension", _INT),
    ("dim axis dims", ("int", _is_ints)),
    ("size sizes shape shifts kernel_size stride dilation normalized_shape", _INTS),
    ("destination split_size pad output_padding split_sizes s", _INTS),
    ("output_size", ("tuple of ints", _is_size)),
    ("padding", ("tuple of ints", lambda x: isinstance(x, str) or _is_ints(x))),
    ("repeats", ("tuple of ints", lambda x: _is_tensor(x) or _is_ints(x))),
    ("keepdim training unbiased largest sorted descending upper left unitriangular transpose", _BOOL),
    ("tensors", ("tuple of Tensors", _is_tensors)),
    ("equation", _STRING),
    ("reduction", ("str", lambda x: isinstance(x, (str, int)))),  # torch.kl_div and its like take the number of a reduction
    ("ord", _ANYTHING),
    ("dtype", ("torch.dtype", _is_dtype)),
]
_KINDS: dict[str, Kind] = {name: kind for names, kind in _KIND_OF_NAMES for name in names.split()}
# Parameters whose names mean something else in an operation.
_KIND_IN_OPERATIONS: list[tuple[str, str, Kind]] = [
    ("__getitem__ _read read_cotangent", "index", _ANYTHING),
    ("select select_copy select_scatter", "index", _INT),
    ("index_put", "indices", _ANYTHING),
    ("hsplit vsplit dsplit tensor_split", "indices", _INTS),
    ("movedim moveaxis", "source", _INTS),
    ("tensordot _share", "dim dims", _ANYTHING),
    ("div where bucketize searchsorted", "input", _OPERAND),
    ("native_batch_norm native_layer_norm native_group_norm", "weight", _OPTIONAL),
    ("_weigh_frequencies", "weight", _OPERAND),
    ("norm linalg_cond", "p", _ANYTHING),
    ("normal", "mean std", _OPERAND),
    ("gumbel_softmax", "tau", _NUMBER),
    ("_dirichlet_grad", "alpha", _OPERAND),
    ("local_response_norm", "k", _NUMBER),
    ("rrelu", "upper", _NUMBER),
    ("_hankel_transform", "offset bias", _NUMBER),
    ("_linear_map", "map", _ANYTHING),
]
_KINDS_IN: dict[tuple[str, str], Kind] = {
    (operation, name): kind
    for operations, names, kind in _KIND_IN_OPERATIONS
    for operation in operations.split()
    for name in names.split()
}
_BY_DEFAULT: dict[type, Kind] = {bool: _BOOL, int: _NUMBER, float: _NUMBER, str: _STRING}
_LISTED = (
    TensorBase, Generator, Traced, np.ndarray, np.generic, np.dtype, dtypes.dtype, str, int, float, complex, tuple, list, slice,
)  # fmt: skip


class Signature:
    """What `explained` needs to know of a function: its name, its parameters in order, and which of them are tensors.

    tensors: number of leading parameters that take tensors or numbers. variadic: position of a sequence of tensors, or -1.
    strict: whether a number may not stand for the first tensor.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[str],
        defaults: Mapping[str, Any],
        tensors: int,
        variadic: int = -1,
        strict: bool = False,
    ) -> None:
        self.name, self.parameters, self.defaults = name, parameters, defaults
        self.tensors, self.variadic, self.strict = tensors, variadic, strict

    def kind(self, position: int, name: str) -> Kind | None:
        """Return the kind of a parameter, or None if nothing is known of it."""
        operation = self.name.removeprefix("nn.functional_")
        known = _KINDS_IN.get((operation if operation.endswith("__") else operation.removesuffix("_"), name))
        if known is not None:
            return known
        if 0 <= position == self.variadic:
            return _KINDS["tensors"]
        if 0 <= position < self.tensors:
            return _TENSOR if self.strict and position == 0 else _OPERAND
        if name in _KINDS:
            return _KINDS[name]
        return _BY_DEFAULT.get(type(self.defaults.get(name)))

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[int, str, Any]]:
        """Yield (position, name, value) for each argument. The position is -1 if the argument was given by its name."""
        for i, value in enumerate(args):
            yield i, self.parameters[i] if i < len(self.parameters) else "", value
        for name, value in kwargs.items():
            yield -1, name, value


def explained(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> Exception | None:
    """Return the error to raise in place of one that a call has raised, or None if that one says enough."""
    if isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
        return missing_library(f"{errors.called(signature.name)}()", error.name)  # the outermost call says its name last
    if isinstance(error, errors.ArgumentError) and not str(error).startswith(f"{errors.called(signature.name)}()"):
        return _wrong_argument(signature, args, kwargs)  # it names an operation inside
    if isinstance(error, errors.WengertError) or _is_of_call(error) or _is_deliberate(error):
        return None
    if isinstance(error, IndexError) and all(_is_known(value) for _, _, value in signature.bound(args, kwargs)):
        return None  # of NumPy, for an index that another thread has changed
    found = _wrong_argument(signature, args, kwargs)
    if found is not None:
        found.__suppress_context__ = True
        return found
    if _is_of_user(error):
        return None
    if isinstance(error, _FIT) and not isinstance(error, _UNFIT):
        return None
    return errors.wrong_arguments(signature.name, _types(args, kwargs))


def explained_operation(op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> Exception | None:
    """Return what `explained` does for a call of a registered operation."""
    n = len(op.input_names)
    defaults = {**op.input_defaults, **{name: value for name, value in op.defaults.items() if value is not MISSING}}
    names = (*op.input_names, *op.param_names)
    return explained(Signature(op.name, names, defaults, n, op.variadic, op.kind != "pointwise"), args, kwargs, error)


def explained_function(
    name: str, function: Callable[..., Any], skip: int, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception
) -> Exception | None:
    """Return what `explained` does for a call of a Python function. skip: number of leading parameters that are no arguments."""
    code: Any = own_code(function)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given: Any = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(given) : code.co_argcount], given, strict=True)) | (
        function.__kwdefaults__ or {}
    )
    names = names[skip:]
    first = 1 if names and names[0] not in _KINDS and names[0] not in defaults and not code.co_flags & _VARARGS else 0
    return explained(Signature(name, names, defaults, first), args, kwargs, error)


def _wrong_argument(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception | None:
    """Return torch's error for the first argument of a wrong type, or for an int that no 64 bits hold, or None."""
    name = signature.name
    for position, parameter, value in signature.bound(args, kwargs):
        where = position if position >= 0 or parameter not in signature.parameters else list(signature.parameters).index(parameter)
        kind = signature.kind(where, parameter)
        if kind is None or (value is None and parameter in signature.defaults and signature.defaults[parameter] is None):
            if kind is None and value is not None and not _is_known(value):
                return errors.wrong_arguments(name, _types(args, kwargs))
            continue
        if not _is_right(kind, value):
            shown = public_name(parameter) if where < signature.tensors else parameter
            return errors.wrong_argument_type(name, shown, position if position >= 0 else None, type(value), kind[0])
    for _, _, value in signature.bound(args, kwargs):
        if any(isinstance(x, int) and not -(2**63) <= x < 2**63 for x in (value if isinstance(value, (tuple, list)) else (value,))):
            return errors.IntOverflowError("Overflow when unpacking long long")
    return None


def _is_known(value: Any) -> bool:
    """Whether some operation takes a value of this type."""
    return isinstance(value, _LISTED) or callable(value) or type(value).__module__.startswith("wengert")


def _is_right(kind: Kind, value: Any) -> bool:
    try:
        return kind[1](value)
    except Exception:  # of a method of the user's object
        return False


def _types(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The types of arguments, as torch lists them: Tensor, dim=str."""
    return ", ".join([type(x).__name__ for x in args] + [f"{name}={type(x).__name__}" for name, x in kwargs.items()])


def _last(error: Exception) -> Any:
    """The innermost entry of an error's traceback, or None."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry


def _is_deliberate(error: Exception) -> bool:
    """Whether a `raise` statement of the package has raised the error."""
    entry = _last(error)
    if entry is None or not entry.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return False
    code = entry.tb_frame.f_code.co_code
    return 0 <= entry.tb_lasti < len(code) and code[entry.tb_lasti] == _RAISE and not isinstance(error, (AssertionError, KeyError))


def _is_of_call(error: Exception) -> bool:
    """Whether Python has refused the number or the names of the arguments. Its words name the function."""
    return type(error) is TypeError and any(
        words in str(error)
        for words in ("required positional", "required keyword-only", "unexpected keyword", "positional arg", "multiple values")
    )


def _is_of_user(error: Exception) -> bool:
    """Whether the error comes from the user's code, such as a function that the operation calls."""
    entry = error.__traceback__
    while entry is not None:
        name = entry.tb_frame.f_code.co_filename
        if os.path.isabs(name) and not name.startswith(_LIBRARIES):
            return True
        entry = entry.tb_next
    return False

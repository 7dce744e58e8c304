"""Data types and type promotion.

A `dtype` names a NumPy dtype and prints, pickles and compares as torch's does: `repr(float32)` is `torch.float32`. There
is one object per type, so `x.dtype is float32` is the fastest test. `resolve` determines the dtype in which an operation
is computed; nothing else in the package does. See Note [Type promotion].
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from functools import reduce
from typing import Any, Final, TypeAlias

import numpy as np

from . import errors
from ._forks import import_late

# Names that wengert exports. It adds bool, int and float, which would hide Python's builtins in this module.
__all__ = [
    "bfloat16", "can_cast", "cdouble", "cfloat", "complex64", "complex128", "double", "dtype", "finfo", "float16",
    "float32", "float64", "get_default_dtype", "half", "iinfo", "int8", "int16", "int32", "int64", "long",
    "promote_types", "result_type", "set_default_dtype", "short", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

NumpyDtype: TypeAlias = "np.dtype[Any]"
DtypeLike: TypeAlias = "dtype | np.dtype[Any] | type | str | None"
Dtype: TypeAlias = "dtype"  # for use inside the class, where `dtype` is the property

# Categories, in ascending rank.
BOOL: Final = 0
INT: Final = 1
FLOAT: Final = 2
COMPLEX: Final = 3


class dtype:
    """The type of a tensor's elements.

    There is one object per type (`float32`, `int64`, ...). NumPy accepts a `dtype` wherever it takes its own, and the two
    compare equal.

    Attributes: `itemsize` (bytes per element), `is_floating_point`, `is_complex`, `is_signed`, `dtype` (NumPy's dtype).

    >>> import numpy as np
    >>> import wengert
    >>> wengert.float32
    torch.float32
    >>> wengert.float32 == np.float32, np.zeros(2, dtype=wengert.float64).dtype
    (True, dtype('float64'))
    """

    __slots__ = (
        "_hash", "_numpy", "c_name", "category", "index", "is_complex", "is_floating_point", "is_signed", "itemsize",
        "name", "scalar_name",
    )  # fmt: skip

    def __init__(self, index: int, name: str, category: int, itemsize: int, c_name: str) -> None:
        self.index = index  # this type's bit in the masks of `resolve`
        self.name = name  # "float32"
        self.category = category
        self.itemsize = itemsize
        self.scalar_name = errors.scalar_name(name)  # "Float", for messages and for "torch.FloatTensor"
        self.c_name = c_name  # "float", for messages about overflow
        self.is_floating_point = category == FLOAT
        self.is_complex = category == COMPLEX
        self.is_signed = category != BOOL and not name.startswith("uint")
        self._numpy: NumpyDtype | None = None if name == "bfloat16" else np.dtype(name)
        # NumPy's hash, so that either kind of dtype finds the other in a dict. bfloat16's hash would load ml_dtypes.
        self._hash = hash(self._numpy) if self._numpy is not None else hash(name)

    @property
    def dtype(self) -> NumpyDtype:
        """The NumPy dtype. For bfloat16 it comes from the package ml_dtypes, which is imported at the first use."""
        if self._numpy is None:
            _load_bfloat16()
        assert self._numpy is not None
        return self._numpy

    def to_real(self) -> Dtype:
        """Return the dtype of the real part: float32 for complex64, float64 for complex128, self for all others."""
        if self.category != COMPLEX:
            return self
        return float32 if self is complex64 else float64

    def to_complex(self) -> Dtype:
        """Return the complex dtype of the same precision. Raises RuntimeError for bool and integer types.

        For float16 and bfloat16 it is complex64: there is no 32-bit complex type here (torch has an experimental one).
        """
        if self.category == COMPLEX:
            return self
        if self.category == FLOAT:
            return complex128 if self is float64 else complex64
        raise errors.UnsupportedDtypeError(f"Unknown Complex ScalarType for {self.scalar_name}")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if isinstance(other, np.dtype) or (isinstance(other, type) and issubclass(other, np.generic)):
            try:
                return _known_dtype(np.dtype(other)) is self
            except TypeError:  # np.integer and other abstract classes are no dtype
                return False
        return False if isinstance(other, dtype) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    # Copies and unpickled dtypes are the same object.
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _by_name, (self.name,)

    def __copy__(self) -> Dtype:
        return self

    def __deepcopy__(self, memo: object) -> Dtype:
        return self


# Within a category a later type outranks an earlier one, except for the pairs that `promote_types` names.
DTYPES: Final = tuple(
    dtype(index, *row)
    for index, row in enumerate(
        (
            ("bool", BOOL, 1, "bool"),
            ("uint8", INT, 1, "uint8_t"),
            ("int8", INT, 1, "int8_t"),
            ("int16", INT, 2, "int16_t"),
            ("int32", INT, 4, "int"),
            ("int64", INT, 8, "int64_t"),
            ("uint16", INT, 2, "uint16_t"),
            ("uint32", INT, 4, "uint32_t"),
            ("uint64", INT, 8, "uint64_t"),
            ("float16", FLOAT, 2, "c10::Half"),
            ("bfloat16", FLOAT, 2, "c10::BFloat16"),
            ("float32", FLOAT, 4, "float"),
            ("float64", FLOAT, 8, "double"),
            ("complex64", COMPLEX, 8, "c10::complex<float>"),
            ("complex128", COMPLEX, 16, "c10::complex<double>"),
        )
    )
)

(bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
 float16, bfloat16, float32, float64, complex64, complex128) = DTYPES  # fmt: skip

# torch's aliases.
short, int_, long = int16, int32, int64
half, float_, double = float16, float32, float64
cfloat, cdouble = complex64, complex128

# Arrays may have these types, but they do not promote with other integers, as in torch.
_WIDE_UNSIGNED: Final = (uint16, uint32, uint64)


# ----------------------------------------------------------------------------------------------------------------------
# From and to NumPy
# ----------------------------------------------------------------------------------------------------------------------

_BY_NAME: dict[str, dtype] = {d.name: d for d in DTYPES}
_FROM_NUMPY: dict[NumpyDtype, dtype] = {d.dtype: d for d in DTYPES if d is not bfloat16}
_FROM_PYTHON: dict[type, dtype] = {builtins.bool: bool_, int: int64, float: float64, complex: complex128}


def from_numpy_dtype(numpy_dtype: NumpyDtype) -> dtype:
    """Return the `dtype` of a NumPy dtype. It is one dict look-up, because `Tensor.dtype` calls it.

    Raises TypeError for a type that no tensor can have (object, string, datetime, longdouble, structured), ValueError for
    a type in foreign byte order.
    """
    found = _FROM_NUMPY.get(numpy_dtype)
    return found if found is not None else _from_unusual_numpy_dtype(numpy_dtype)


def _from_unusual_numpy_dtype(numpy_dtype: NumpyDtype) -> dtype:
    found = _known_dtype(numpy_dtype)
    if found is not None:
        return found
    if not numpy_dtype.isnative and numpy_dtype.newbyteorder("=") in _FROM_NUMPY:
        raise errors.ElementError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported. Hint: convert it first, with array.astype(array.dtype.newbyteorder('='))."
        )
    raise errors.DtypeError(
        f"can't convert np.ndarray of type {numpy_dtype.type.__module__}.{numpy_dtype.type.__name__}. The only supported "
        "types are: float64, float32, float16, bfloat16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
        "uint16, uint8, and bool."
    )


def _known_dtype(numpy_dtype: NumpyDtype) -> dtype | None:
    found = _FROM_NUMPY.get(numpy_dtype)
    if found is None and numpy_dtype.type.__name__ == "bfloat16":
        _load_bfloat16()
        found = _FROM_NUMPY.get(numpy_dtype)
    return found


def as_dtype(x: DtypeLike) -> dtype:
    """Return the `dtype` that x names. Raises TypeError if there is none.

    x: a `dtype`; a NumPy dtype or scalar type; Python's bool, int, float or complex, which mean bool, int64, float64 and
    complex128, as in NumPy and torch; a name such as "float32"; or None for the default dtype.
    """
    if isinstance(x, dtype):
        return x
    if x is None:
        return _default
    if isinstance(x, np.dtype):
        return from_numpy_dtype(x)
    if isinstance(x, type):
        if x in _FROM_PYTHON:
            return _FROM_PYTHON[x]
        if issubclass(x, np.generic):
            return from_numpy_dtype(np.dtype(x))
    elif isinstance(x, str) and x.removeprefix("torch.") in _BY_NAME:
        return _BY_NAME[x.removeprefix("torch.")]
    raise errors.DtypeError(f"argument 'dtype' must be a dtype such as torch.float32 or np.float32, not {x!r}")


def as_numpy_dtype(x: DtypeLike) -> NumpyDtype:
    """Return the NumPy dtype that x names; see `as_dtype`."""
    return x.dtype if isinstance(x, dtype) else as_dtype(x).dtype


def _by_name(name: str) -> dtype:
    return _BY_NAME[name]


def _load_bfloat16() -> None:
    """Import ml_dtypes and add its bfloat16 to the tables."""
    scalar: type = import_late("ml_dtypes").bfloat16
    numpy_dtype: NumpyDtype = np.dtype(scalar)
    bfloat16._numpy = numpy_dtype
    _FROM_NUMPY[numpy_dtype] = bfloat16
    _SCALAR_BITS[scalar] = _FLOAT_BIT
    _ARRAY_BITS[numpy_dtype] = 1 << bfloat16.index


# ----------------------------------------------------------------------------------------------------------------------
# Default dtype
# ----------------------------------------------------------------------------------------------------------------------

_default: dtype = float32


def get_default_dtype() -> dtype:
    """Return the default dtype, that of tensors made from Python floats and of integers converted to floats.

    It is float32 unless set_default_dtype has changed it."""
    return _default


def set_default_dtype(d: DtypeLike) -> None:
    """Set the default dtype of all threads.

    d: float16, bfloat16, float32 or float64, as a dtype or NumPy dtype. Raises TypeError for any other dtype.
    """
    global _default, _resolved
    if not isinstance(d, (dtype, np.dtype)) and not (isinstance(d, type) and issubclass(d, np.generic)):
        raise errors.DtypeError("invalid dtype object: only floating-point types are supported as the default type")
    new = as_dtype(d)
    if not new.is_floating_point:
        raise errors.DtypeError("only floating-point types are supported as the default type")
    _default = new
    # A new dict instead of clearing the old one: a thread that is filling the old dict must not write into the new.
    _resolved = {}


def get_default_complex_dtype() -> dtype:
    """Return the dtype of tensors made from complex numbers: complex128 if the default is float64, else complex64."""
    return _default.to_complex()


def python_number_dtype(value: builtins.bool | complex | np.generic) -> dtype:
    """Return the dtype of a tensor made from a number: bool, int64, the default dtype or the default complex dtype."""
    if isinstance(value, (builtins.bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    return get_default_complex_dtype() if isinstance(value, (complex, np.complexfloating)) else _default


# ----------------------------------------------------------------------------------------------------------------------
# Promotion
# ----------------------------------------------------------------------------------------------------------------------
#
# Note [Type promotion]
#
# Two types promote to the type of the higher category (bool < int < float < complex), or, within a category, to the wider
# type. int64 with float16 is float16. float64 with complex64 is complex128, which keeps the precision of both.
#
# Operands have three classes: tensors with dimensions, 0-d tensors, Python numbers. Each class is promoted on its own. A
# lower class then changes the result of a higher class only if its category is higher, never because it is wider. So
# `float32_vector * 2.5` and `float32_vector * float64_scalar_tensor` stay float32, while `int_vector * 2.5` has the
# default dtype. Python floats count as the default dtype, Python ints as int64. NumPy scalars (np.float64(2)) count as
# Python numbers: reductions of NumPy arrays return them, and they would silently widen float32 computations otherwise.
#
# The result depends on the set of (class, type) pairs, not on their order or number. `resolve` collects the pairs as the
# bits of one integer, which is the key of one dict look-up.
#
# Beyond torch: uint16, uint32 and uint64 promote with complex types and with lower classes. Different from torch: float16
# with a complex number is complex64, because there is no complex32.

# Promotion kinds of operations.
SAME: Final = 0  # the promoted type: add, mul, maximum, where, cat
INT_TO_FLOAT: Final = 1  # bools and integers become the default dtype: div, sin
INT_TO_INT64: Final = 2  # bools and integers become int64: sum, prod, cumsum
COMPARE: Final = 3  # computed in the promoted type, with a bool result: eq, lt
NONE: Final = 4  # each operand keeps its type, and `resolve` is not called: gather, embedding

# Bits of an operand: 0 to 15 for a tensor with dimensions, 16 to 31 for a 0-d tensor, by dtype.index; then numbers.
_ZERO_DIM_SHIFT: Final = 16
_BOOL_BIT: Final = 1 << 32
_INT_BIT: Final = 1 << 33
_FLOAT_BIT: Final = 1 << 34
_COMPLEX_BIT: Final = 1 << 35
_KIND_SHIFT: Final = 36

_ARRAY_BITS: dict[NumpyDtype, int] = {numpy_dtype: 1 << d.index for numpy_dtype, d in _FROM_NUMPY.items()}
_SCALAR_BITS: dict[type, int] = {builtins.bool: _BOOL_BIT, int: _INT_BIT, float: _FLOAT_BIT, complex: _COMPLEX_BIT}
for _codes, _bit in (
    ("?", _BOOL_BIT),
    (np.typecodes["AllInteger"], _INT_BIT),
    (np.typecodes["Float"], _FLOAT_BIT),
    (np.typecodes["Complex"], _COMPLEX_BIT),
):
    _SCALAR_BITS.update((np.dtype(_code).type, _bit) for _code in _codes)

_resolved: dict[int, NumpyDtype] = {}


def resolve(kind: int, operands: Iterable[Any]) -> NumpyDtype:
    """Return the NumPy dtype in which an operation on these operands is computed.

    kind: SAME, INT_TO_FLOAT, INT_TO_INT64 or COMPARE. operands: arrays or tensors (anything with `dtype` and `ndim`),
    Python numbers and NumPy scalars, in any order and number.

    Raises RuntimeError for types that do not promote (uint16, uint32, uint64 with other integers), TypeError for an
    object that is no operand.
    """
    resolved = _resolved
    mask = 0
    for x in operands:
        bit = _SCALAR_BITS.get(type(x))
        mask |= _array_bit(x) if bit is None else bit
    key = mask | kind << _KIND_SHIFT
    found = resolved.get(key)
    if found is None:
        found = resolved[key] = _apply_kind(kind, _promote_operands(mask)).dtype
    return found


def resolve_inplace(kind: int, operands: Iterable[Any]) -> NumpyDtype:
    """`resolve` for an operation that writes its result into the first operand, an array.

    Raises RuntimeError if the result has a higher category than that array's type, because a cast would lose values.
    """
    operands = tuple(operands)
    result = resolve(kind, operands)
    output = operands[0].dtype
    if kind != COMPARE and result is not output:
        check_can_write(result, output)
    return result


def check_can_write(result: NumpyDtype, output: NumpyDtype) -> None:
    """Raise RuntimeError unless a result of one dtype may be written into an array of another; see `can_cast`."""
    if not can_cast(result, output):
        raise errors.PromotionError(
            f"result type {errors.scalar_name(result)} can't be cast to the desired output type "
            f"{errors.scalar_name(output)}"
        )


def _array_bit(x: Any) -> int:
    try:
        bit = _ARRAY_BITS[x.dtype]
        return bit if x.ndim else bit << _ZERO_DIM_SHIFT
    except (KeyError, AttributeError, TypeError):
        return _unusual_bit(x)


def _unusual_bit(x: Any) -> int:
    """Bit of an operand that is not in the tables: bfloat16 before ml_dtypes is imported, a subclass of a number."""
    for number, bit in ((builtins.bool, _BOOL_BIT), (int, _INT_BIT), (float, _FLOAT_BIT), (complex, _COMPLEX_BIT)):
        if isinstance(x, number):
            return bit
    found = getattr(x, "dtype", None)
    if not isinstance(found, (dtype, np.dtype)):
        raise errors.DtypeError(f"expected an array or a number, but got {type(x).__name__}")
    bit = 1 << as_dtype(found).index
    if isinstance(x, np.generic):
        return _FLOAT_BIT  # a bfloat16 scalar; all other scalars are in the table
    return bit if x.ndim else bit << _ZERO_DIM_SHIFT


def _promote_operands(mask: int) -> dtype:
    """Return the promoted type of the operands that the bits of mask represent."""
    dimensioned = [d for d in DTYPES if mask >> d.index & 1]
    zero_dim = [d for d in DTYPES if mask >> d.index + _ZERO_DIM_SHIFT & 1]
    python = ((_BOOL_BIT, bool_), (_INT_BIT, int64), (_FLOAT_BIT, _default), (_COMPLEX_BIT, _default.to_complex()))
    numbers = [d for bit, d in python if mask & bit]
    # The lowest class comes first: _override decides whether it changes the next one.
    classes = [reduce(promote_types, members) for members in (numbers, zero_dim, dimensioned) if members]
    if not classes:
        raise errors.DtypeError("expected at least one operand to promote")
    return reduce(_promote_classes, classes)


def _promote_classes(lower: dtype, higher: dtype) -> dtype:
    """Return the promoted type of `lower`, the type of a lower class of operands, and `higher`, that of a higher class."""
    if lower.category <= higher.category:
        return higher
    if higher.category == FLOAT:  # lower is complex; the higher class determines the precision
        return higher.to_complex()
    return lower


def _apply_kind(kind: int, d: dtype) -> dtype:
    if kind == NONE:
        raise ValueError("operations of promotion kind NONE have no common dtype")
    if d.category <= INT:
        if kind == INT_TO_FLOAT:
            return _default
        if kind == INT_TO_INT64:
            return int64
    return d


def promote_types(type1: DtypeLike, type2: DtypeLike) -> dtype:
    """Return the type to which two types promote; see Note [Type promotion].

    Raises RuntimeError for uint16, uint32 or uint64 with another integer type or bool.

    >>> import wengert
    >>> wengert.promote_types(wengert.int64, wengert.float16)
    torch.float16
    >>> wengert.promote_types(wengert.float64, wengert.complex64)
    torch.complex128
    """
    a, b = as_dtype(type1), as_dtype(type2)
    if a is b:
        return a
    low, high = (a, b) if (a.category, a.index) < (b.category, b.index) else (b, a)
    if high.category <= INT:
        if low in _WIDE_UNSIGNED or high in _WIDE_UNSIGNED:
            raise errors.PromotionError(
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                f"{errors.scalar_name(a)} and {errors.scalar_name(b)}. Hint: convert one of them first, with "
                ".to(torch.int64) for instance."
            )
        return int16 if low is uint8 and high is int8 else high
    if high.category == FLOAT:
        return float32 if low is float16 and high is bfloat16 else high
    return complex128 if low is float64 else high


def result_type(*operands: Any) -> dtype:
    """Return the dtype of the result of an arithmetic operation on tensors, arrays and numbers.

    See Note [Type promotion].

    >>> import numpy as np
    >>> import wengert
    >>> wengert.result_type(wengert.ones(2), 2.5), wengert.result_type(np.ones(2, np.int64), 2.5)
    (torch.float32, torch.float32)
    """
    for i, operand in enumerate(operands):
        if not hasattr(operand, "ndim") and not isinstance(operand, (builtins.bool, int, float, complex, np.generic)):
            raise errors.wrong_argument_type("result_type", "tensor", i, type(operand), "Tensor or Number")
    return from_numpy_dtype(resolve(SAME, operands))


def can_cast(from_: DtypeLike, to: DtypeLike) -> builtins.bool:
    """Whether a result of dtype from_ may be written into a tensor of dtype to.

    It may unless the category falls (complex to float, float to int, any type to bool). The width does not matter.

    >>> import wengert
    >>> wengert.can_cast(wengert.float64, wengert.float16), wengert.can_cast(wengert.float32, wengert.int64)
    (True, False)
    """
    return as_dtype(from_).category <= as_dtype(to).category


# ----------------------------------------------------------------------------------------------------------------------
# Python numbers as arrays
# ----------------------------------------------------------------------------------------------------------------------

_INFINITY: Final = float("inf")


def scalar_to_array(value: Any, numpy_dtype: NumpyDtype) -> np.ndarray[Any, Any]:
    """Convert a Python number to a 0-d array, as an operand of arithmetic.

    A number out of range wraps around or becomes infinite: `uint8_tensor * -1` multiplies by 255, as in torch. See
    `checked_scalar` for fills and stores. Raises OverflowError for an int outside [-2**63, 2**64) if numpy_dtype is an
    integer type.
    """
    kind = numpy_dtype.kind
    if kind in "iu":
        try:
            return np.array(value, numpy_dtype)
        except OverflowError:
            return np.array(_wrap_around(value, numpy_dtype), numpy_dtype)
    # A number in the range of float16 overflows in no type, so there is no warning to silence, which is slow.
    if kind == "f":
        small = -65504.0 <= value <= 65504.0
    else:
        small = kind == "b" or (abs(value.real) <= 65504.0 and abs(value.imag) <= 65504.0)
    if small:
        return np.array(value, numpy_dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(value, numpy_dtype)


def checked_scalar(value: Any, numpy_dtype: NumpyDtype, overflows: builtins.bool = False) -> np.ndarray[Any, Any]:
    """Convert a Python number to a 0-d array, as a value to store (fill_, full, assignment, where, clamp).

    Integer types truncate fractions, and a negative integer may wrap around in an unsigned type (-1 is 255 in uint8), as
    in torch. Raises RuntimeError for a number that the type cannot hold: one that is too large, NaN or an infinity for an
    integer type, a complex number for a real type.

    overflows: whether a number too large for float16 or bfloat16 becomes an infinity, as in x[index] = number.
    """
    d = from_numpy_dtype(numpy_dtype)
    if d.category == BOOL:
        return np.array(builtins.bool(value), numpy_dtype)
    if d.category != COMPLEX and isinstance(value, (complex, np.complexfloating)):
        if value.imag != 0:
            raise errors.value_overflow(d.c_name)
        value = value.real
    if d.category == INT:
        return np.array(_checked_int(value, d), numpy_dtype)
    largest = finfo(d).max
    if any(largest < abs(part) < _INFINITY for part in (value.real, value.imag)):
        if not overflows or numpy_dtype.itemsize > 2 or (isinstance(value, builtins.int) and abs(value) >= 2**63):
            raise errors.value_overflow(d.c_name)
        with np.errstate(over="ignore"):
            return np.array(value, numpy_dtype)
    return np.array(value, numpy_dtype)


def _checked_int(value: Any, d: dtype) -> int:
    info = iinfo(d)
    lowest = -info.max if not d.is_signed and isinstance(value, (int, np.integer)) else info.min
    if not lowest <= value <= info.max:  # also true of NaN
        raise errors.value_overflow(d.c_name)
    return _wrap_around(int(value), d.dtype)


def _wrap_around(value: int, numpy_dtype: NumpyDtype) -> int:
    """Return value modulo 2**bits, in the range of an integer type."""
    if not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    bits = 8 * numpy_dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if numpy_dtype.kind == "i" and value >> bits - 1 else value


# ----------------------------------------------------------------------------------------------------------------------
# Queries about types
# ----------------------------------------------------------------------------------------------------------------------


def is_floating_point(numpy_dtype: NumpyDtype) -> builtins.bool:
    """Whether this NumPy dtype is a real floating type: float16, bfloat16, float32, float64."""
    return numpy_dtype.kind == "f" or (numpy_dtype.kind == "V" and _known_dtype(numpy_dtype) is bfloat16)


def is_complex(numpy_dtype: NumpyDtype) -> builtins.bool:
    """Whether this NumPy dtype is complex."""
    return numpy_dtype.kind == "c"


def is_differentiable(numpy_dtype: NumpyDtype) -> builtins.bool:
    """Whether tensors of this NumPy dtype can require gradients: floating and complex types."""
    return numpy_dtype.kind == "c" or is_floating_point(numpy_dtype)


def legacy_type_name(d: DtypeLike, device_type: str = "cpu") -> str:
    """Return the name of torch's legacy tensor class: torch.FloatTensor, torch.cuda.LongTensor."""
    place = "" if device_type == "cpu" else f"{device_type}."
    return f"torch.{place}{as_dtype(d).scalar_name}Tensor"


class finfo:
    """Limits of a floating type. type: a floating dtype; a complex one means its real part, None the default dtype.

    Attributes: `bits`, `eps` (the distance from 1.0 to the next number), `max`, `min` (= -max), `tiny` and
    `smallest_normal` (the smallest positive normal number), `resolution` (10**-digits, with the number of decimal digits
    that are always right), `dtype` (its name). Raises TypeError for other types.

    >>> import wengert
    >>> wengert.finfo(wengert.float32).eps
    1.1920928955078125e-07
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: DtypeLike = None) -> None:
        d = _info_type(type, "finfo").to_real()
        if not d.is_floating_point:
            raise errors.DtypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d!r}'"
            )
        fraction_bits, exponent, digits = _FLOAT_FORMATS[d.name]
        self.bits: int = 8 * d.itemsize
        self.dtype: str = d.name
        self.eps: float = 2.0**-fraction_bits
        self.max: float = (2.0 - self.eps) * 2.0**exponent
        self.min: float = -self.max
        self.tiny: float = 2.0 ** (1 - exponent)
        self.smallest_normal: float = self.tiny
        self.resolution: float = float(f"1e-{digits}")

    def __eq__(self, other: object) -> builtins.bool:
        return self.dtype == other.dtype if isinstance(other, finfo) else NotImplemented

    def __hash__(self) -> int:
        return hash((finfo, self.dtype))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


# fraction bits, largest exponent, decimal digits
_FLOAT_FORMATS: Final = {
    "float16": (10, 15, 3),
    "bfloat16": (7, 127, 2),
    "float32": (23, 127, 6),
    "float64": (52, 1023, 15),
}


class iinfo:
    """Limits of an integer type.

    Attributes: `bits`, `min`, `max` (Python ints), `dtype` (its name). Raises TypeError for other types.

    >>> import wengert
    >>> wengert.iinfo(wengert.int16).max
    32767
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: DtypeLike) -> None:
        d = _info_type(type, "iinfo")
        if d.category > INT:
            raise errors.DtypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{d!r}'")
        if d is bool_:
            raise errors.DtypeError("torch.bool is not supported by torch.iinfo")
        self.bits: int = 8 * d.itemsize
        self.dtype: str = d.name
        self.max: int = 2 ** (self.bits - d.is_signed) - 1
        self.min: int = -self.max - 1 if d.is_signed else 0

    def __eq__(self, other: object) -> builtins.bool:
        return self.dtype == other.dtype if isinstance(other, iinfo) else NotImplemented

    def __hash__(self) -> int:
        return hash((iinfo, self.dtype))

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _info_type(x: DtypeLike, function: str) -> dtype:
    if x is not None and not isinstance(x, (dtype, np.dtype, type)):
        raise errors.wrong_argument_type(function, "type", 0, type(x), "torch.dtype")
    return as_dtype(x)

"""The types of the package's public names.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator as Generator
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor

_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from wengert import autograd as autograd
from wengert.autograd.grad_mode import enable_grad as enable_grad
from wengert.autograd.grad_mode import inference_mode as inference_mode
from wengert.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from wengert.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from wengert.autograd.grad_mode import no_grad as no_grad
from wengert.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from wengert.devices import device as device
from wengert.devices import get_default_device as get_default_device
from wengert.devices import set_default_device as set_default_device
from wengert.dtypes import *
from wengert.generator import Generator as Generator
from wengert.generator import default_generator as default_generator
from wengert.generator import get_rng_state as get_rng_state
from wengert.generator import initial_seed as initial_seed
from wengert.generator import manual_seed as manual_seed
from wengert.generator import seed as seed
from wengert.generator import set_rng_state as set_rng_state
from wengert.layouts import *
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor
bool: _dtype
float: _dtype
int: _dtype
newaxis: None
__version__: str
from wengert import __config__ as __config__
from wengert import amp as amp
from wengert import compat as compat
from wengert import cpu as cpu
from wengert import cuda as cuda
from wengert import dask as dask
from wengert import distributions as distributions
from wengert import fft as fft
from wengert import func as func
from wengert import hips as hips
from wengert import hub as hub
from wengert import linalg as linalg
from wengert import masked as masked
from wengert import multiprocessing as multiprocessing
from wengert import nn as nn
from wengert import numpy as numpy
from wengert import optim as optim
from wengert import profiler as profiler
from wengert import random as random
from wengert import scipy as scipy
from wengert import serialization as serialization
from wengert import signal as signal
from wengert import special as special
from wengert import storage as storage
from wengert import testing as testing
from wengert import utils as utils
from wengert.errors import OutOfMemoryError as OutOfMemoryError
from wengert.amp.autocast_mode import autocast as autocast
from wengert.amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from wengert.compiler import compile as compile
from wengert.control_flow import cond as cond
from wengert.threads import empty_cache as empty_cache
from wengert.autograd import explain as explain
from wengert.amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from wengert.amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from wengert.amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from wengert.threads import get_num_interop_threads as get_num_interop_threads
from wengert.threads import get_num_threads as get_num_threads
from wengert.autograd import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from wengert.autograd import is_anomaly_enabled as is_anomaly_enabled
from wengert.amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from wengert.amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from wengert.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from wengert.serialization import load as load
from wengert.threads import memory_stats as memory_stats
from wengert.ops.program import pointwise as pointwise
from wengert.threads import reset_peak_memory_stats as reset_peak_memory_stats
from wengert.serialization import save as save
from wengert.amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from wengert.amp.autocast_mode import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from wengert.amp.autocast_mode import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from wengert.amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from wengert.amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from wengert.amp.autocast_mode import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from wengert.threads import set_num_interop_threads as set_num_interop_threads
from wengert.threads import set_num_threads as set_num_threads
from wengert.printing import set_printoptions as set_printoptions
from wengert.autograd.vmap import vmap as vmap
from wengert.control_flow import while_loop as while_loop
from wengert import _C as _C
from wengert import _dynamo as _dynamo
from wengert import _tensor as _tensor
from wengert import _vmap_internals as _vmap_internals
from wengert import accelerator as accelerator
from wengert import backends as backends
from wengert import compiler as compiler
from wengert import distributed as distributed
from wengert import functional as functional
from wengert import functorch as functorch
from wengert import futures as futures
from wengert import jit as jit
from wengert import mps as mps
from wengert import onnx as onnx
from wengert import overrides as overrides
from wengert import types as types
from wengert import version as version
from wengert import xpu as xpu
from wengert.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from wengert.settings import compiled_with_cxx11_abi as compiled_with_cxx11_abi
from wengert.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from wengert.settings import get_device_module as get_device_module
from wengert.settings import get_float32_matmul_precision as get_float32_matmul_precision
from wengert.settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from wengert.settings import is_warn_always_enabled as is_warn_always_enabled
from wengert.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from wengert.settings import set_float32_matmul_precision as set_float32_matmul_precision
from wengert.settings import set_flush_denormal as set_flush_denormal
from wengert.settings import set_warn_always as set_warn_always
from wengert.settings import use_deterministic_algorithms as use_deterministic_algorithms
def is_tensor(obj: object) -> _bool:
    """Whether obj is a tensor."""

def add(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """x + alpha * y, with broadcasting. x, y: tensors or numbers of any dtype."""
def sub(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
def rsub(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """y - alpha * x: `sub` with the operands exchanged."""
def mul(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
def div(input: Tensor, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
def floor_divide(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x / y rounded down, with broadcasting; integers give integers. Raises RuntimeError for an integer division by zero."""
def remainder(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x - y * floor(x / y), as Python's %: the result has the sign of y. Raises RuntimeError for an integer division by zero."""
def fmod(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x - y * trunc(x / y), as C's fmod: the result has the sign of x. Raises RuntimeError for an integer division by zero."""
def pow(input: _Operand, exponent: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x ** exponent, with broadcasting. x, exponent: tensors or numbers."""
def float_power(input: Tensor, exponent: _Operand, *, out: Any = None) -> Tensor:
    """input ** exponent, computed in float64, or in complex128 if either is complex."""
def addcmul(input: _Operand, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1, out: Tensor | None = None) -> Tensor:
    """x + value * tensor1 * tensor2, with broadcasting. value: a number, truncated to an integer if x is integral."""
def addcdiv(input: _Operand, tensor1: _Operand, tensor2: _Operand, *, value: _Operand = 1, out: Tensor | None = None) -> Tensor:
    """x + value * tensor1 / tensor2, with broadcasting. value: a number."""
def lerp(input: _Operand, end: _Operand, weight: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x + weight * (end - x): exactly x at weight 0, exactly end at weight 1. x, end: floating or complex."""
def neg(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Negative of each element, -x. Raises RuntimeError for bool x."""
def positive(input: Tensor, *, out: Any = None) -> Tensor:
    """Return the tensor itself, +input. Raises RuntimeError for a bool tensor."""
def abs(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Absolute value of each element; the real magnitude for complex x."""
def sign(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Sign of each element: -1 if x < 0, 1 if x > 0, 0 if x is 0 or NaN. Raises RuntimeError for complex x; see `sgn`."""
def sgn(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Sign of real and complex numbers: x / abs(x), 0 at 0."""
def clone(input: Tensor, memory_format: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Copy x into new memory of the same layout. memory_format is accepted and has no effect."""
def square(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Square of each element, x * x; bools become int64."""
def sqrt(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Square root of each element; NaN for negative real x."""
def rsqrt(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Reciprocal square root, 1 / sqrt(x); inf at 0."""
def reciprocal(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Reciprocal of each element, 1 / x."""
def exp(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Exponential of each element, e**x."""
def exp2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Power of two, 2**x."""
def expm1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """e**x - 1, accurate near x = 0 too."""
def log(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Natural logarithm; -inf at 0, NaN for negative real x."""
def log2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 2; -inf at 0, NaN for negative real x."""
def log10(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 10; -inf at 0, NaN for negative real x."""
def log1p(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x), accurate near x = 0 too."""
def sigmoid(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x."""
def sin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Sine of x in radians."""
def cos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Cosine of x in radians."""
def tan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Tangent of x in radians."""
def asin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
def acos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
def atan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
def sinc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0."""
def sinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic sine of x."""
def cosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic cosine of x."""
def tanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent of x."""
def asinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
def acosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
def atanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
def relu(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Rectified linear unit: x where x > 0, else 0; NaN stays NaN."""
def floor(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Largest integer <= x, in x's dtype."""
def ceil(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Smallest integer >= x, in x's dtype."""
def trunc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Round x towards zero, in x's dtype."""
def round(input: _Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals."""
def frac(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Fractional part x - trunc(x), with the sign of x. Raises RuntimeError for integers and bools."""
def nan_to_num(input: _Operand, nan: _float = 0.0, posinf: Any = None, neginf: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Replace NaN by nan, inf by posinf and -inf by neginf; in a complex x in each part."""
def deg2rad(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Convert degrees to radians."""
def rad2deg(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Convert radians to degrees."""
def maximum(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger of x and y, element by element, with broadcasting; NaN where x or y is NaN."""
def minimum(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller of x and y, element by element, with broadcasting; NaN where x or y is NaN."""
def fmax(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger of x and y, element by element, with broadcasting. If one is NaN, the result is the other one."""
def fmin(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller of x and y, element by element, with broadcasting. If one is NaN, the result is the other one."""
def clamp(input: Tensor, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """input clipped to [min, max], with broadcasting; max where min > max."""
def clamp_min(input: _Operand, min: _Operand, *, out: Tensor | None = None) -> Tensor:
    """max(x, min), element by element, with broadcasting. min: a number or a tensor."""
def clamp_max(input: _Operand, max: _Operand, *, out: Tensor | None = None) -> Tensor:
    """min(x, max), element by element, with broadcasting. max: a number or a tensor."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]:
    """input where condition is True, else other, with broadcasting."""
@overload
def where(condition: Tensor, input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor: ...
def fill(input: Tensor, value: _Operand) -> Tensor:
    """A new tensor of input's shape and dtype with value in every element. value: a number or a 0-d tensor."""
def eq(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x equals y, element by element, with broadcasting: a bool tensor. NaN differs from every value, also NaN."""
def ne(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
def lt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
def le(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
def gt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
def ge(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether |x - y| <= atol + rtol * |y| or x equals y, element by element, with broadcasting: a bool tensor."""
def allclose(input: Tensor, other: _Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False, *, out: Any = None) -> _bool:
    """Whether all elements of input and other are close: all(isclose(...)) as a Python bool. Parameters as in `isclose`."""
def equal(input: Tensor, other: _Operand, *, out: Any = None) -> _bool:
    """Whether input and other have the same shape and equal elements: a Python bool."""
@overload
def sum(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum over dim."""
@overload
def sum(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def nansum(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum over dim that counts NaN as 0. Arguments: as `sum`. Raises RuntimeError for complex x."""
@overload
def nansum(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def mean(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Mean over dim."""
@overload
def mean(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def prod(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Product over one dimension, or over all if dim is None."""
@overload
def prod(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def all(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements over dim are nonzero; NaN is nonzero. True if there are no elements."""
@overload
def all(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def any(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element over dim is nonzero; NaN is nonzero. False if there are no elements."""
@overload
def any(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """Number of nonzero elements over dim (an int, a tuple, or None for all dimensions), int64. x: any shape and dtype."""
@overload
def count_nonzero(input: Tensor, *, axis: _int | Sequence[_int] | None, out: Tensor | None = None) -> Tensor: ...
@overload
def amax(input: Tensor, dim: _int | Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest element along dim. x: any shape, any real dtype. NaN counts as largest."""
@overload
def amax(input: Tensor, *, axis: _int | Sequence[_int], keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def amin(input: Tensor, dim: _int | Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Smallest element along dim. x: any shape, any real dtype. NaN counts as smallest."""
@overload
def amin(input: Tensor, *, axis: _int | Sequence[_int], keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
def aminmax(input: Tensor, *, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, out: Any = None) -> return_types.aminmax:
    """Smallest and largest element along dim, as a named tuple (min, max). dim: an int, or None for all."""
@overload
def max(input: Tensor) -> Tensor:
    """Largest element: max() of all, max(dim, keepdim=False) along one dimension, max(other) of each pair of elements."""
@overload
def max(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> return_types.max: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
@overload
def min(input: Tensor) -> Tensor:
    """Smallest element: min() of all, min(dim, keepdim=False) along one dimension, min(other) of each pair of elements."""
@overload
def min(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> return_types.min: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
@overload
def argmax(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index, as int64, of the first largest element along dim, or in the flattened tensor if dim is None."""
@overload
def argmax(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def argmin(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index, as int64, of the first smallest element along dim, or in the flattened tensor if dim is None."""
@overload
def argmin(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def median(input: Tensor) -> Tensor:
    """Median; of an even number of elements the lower of the two middle ones. NaN if an element is NaN."""
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> return_types.median: ...
@overload
def nanmedian(input: Tensor) -> Tensor:
    """`median` of the elements that are not NaN; NaN if all elements are NaN."""
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> return_types.nanmedian: ...
@overload
def logsumexp(input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(x))) over dim, without overflow; -inf for no elements."""
@overload
def logsumexp(input: Tensor, *, axis: _int | Sequence[_int], keepdims: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Softmax exp(x) / sum(exp(x)) over one dimension."""
@overload
def softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of softmax over one dimension, accurate where the softmax is close to 0 or 1. Arguments: as `softmax`."""
@overload
def log_softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def reshape(input: Tensor, *sizes: _int | Sequence[_int], shape: _int | Sequence[_int] | None = None) -> Tensor:
    """Return input with another shape: a view if its memory allows one, else a copy. A size of -1 is inferred."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Merge the dimensions from start_dim to end_dim into one: a view if the memory allows one, else a copy."""
def ravel(input: Tensor, *, out: Any = None) -> Tensor:
    """Flatten input to one dimension: a view if the memory allows one, else a copy."""
@overload
def unflatten(input: Tensor, dim: _int, sizes: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """Split one dimension into several of the given sizes; a size of -1 is inferred. input: any shape and dtype."""
@overload
def unflatten(input: Tensor, *, axis: _int, sizes: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def numel(input: Tensor) -> _int:
    """Number of elements."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """View of x with dimensions dim0 and dim1 exchanged. Derivative: the cotangent with dim0 and dim1 exchanged."""
def swapaxes(input: Tensor, axis0: _int, axis1: _int, *, out: Any = None) -> Tensor:
    """NumPy's name of transpose(dim0, dim1). Derivative: as transpose."""
def swapdims(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor:
    """Another name of transpose(dim0, dim1). Derivative: as transpose."""
def t(input: Tensor) -> Tensor:
    """Transpose of a matrix; vectors and 0-d tensors are returned as they are. A view."""
def adjoint(input: Tensor, *, out: Any = None) -> Tensor:
    """Conjugate transpose of the last two dimensions: a view. Of a 0-d tensor the conjugate."""
@overload
def permute(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """View of x with its dimensions in another order, x.permute(2, 0, 1). dims: each dimension once."""
@overload
def permute(input: Tensor, *dims: _int) -> Tensor: ...
def movedim(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """View of input with dimensions `source` moved to `destination`; the others keep their order."""
@overload
def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """View of x with a dimension of size 1 inserted at dim; -1 inserts it at the end."""
@overload
def unsqueeze(input: Tensor, *, axis: _int) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """View of x without its dimensions of size 1."""
@overload
def squeeze(input: Tensor, *, axis: _int | Sequence[_int] | None) -> Tensor: ...
@overload
def atleast_1d(tensor: Tensor) -> Tensor:
    """Return each tensor with at least one dimension: a 0-d tensor becomes a view of shape (1,)."""
@overload
def atleast_1d(first: Tensor, second: Tensor, *others: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensor: Tensor) -> Tensor:
    """Return each tensor with at least two dimensions, as a view with new dimensions in front if it has fewer."""
@overload
def atleast_2d(first: Tensor, second: Tensor, *others: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensor: Tensor) -> Tensor:
    """Return each tensor with at least three dimensions: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1), as in NumPy."""
@overload
def atleast_3d(first: Tensor, second: Tensor, *others: Tensor) -> tuple[Tensor, ...]: ...
@overload
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Tuple of the slices of x along a dimension, views without that dimension."""
@overload
def unbind(input: Tensor, *, axis: _int) -> tuple[Tensor, ...]: ...
def broadcast_to(input: Tensor, size: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """x.expand(size). Derivative: the cotangent summed over the broadcast dimensions."""
def broadcast_tensors(*tensors: Tensor, out: Any = None) -> tuple[Tensor, ...]:
    """Expand tensors to the shape to which they broadcast. Returns a tuple of views."""
def broadcast_shapes(*shapes: Sequence[_int]) -> Size:
    """Shape to which tensors of the given shapes broadcast. Raises RuntimeError if they do not broadcast."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """View of the diagonals of the matrices in dimensions dim1 and dim2, as a new last dimension."""
def diagonal_copy(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """Copy of diagonal(). Derivative: the cotangent on the diagonals, 0 elsewhere."""
def as_strided(input: Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None) -> Tensor:
    """View of the memory of input with any size and strides."""
@overload
def select(input: Tensor, dim: _int, index: _int, *, out: Any = None) -> Tensor:
    """View of input at one index along dim, without this dimension. index: an int or a 0-d tensor of ints."""
@overload
def select(input: Tensor, *, axis: _int, index: _int, out: Any = None) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: _int, start: _int, length: _int, *, out: Any = None) -> Tensor:
    """View of input[start:start + length] along dim. start: an int or a 0-d tensor of ints; negative counts from the end."""
@overload
def narrow(input: Tensor, *, axis: _int, start: _int, length: _int, out: Any = None) -> Tensor: ...
def index_put(input: Tensor, indices: Any, values: Any, accumulate: _bool = False, *, out: Any = None) -> Tensor:
    """A copy of input with values written at indices, as x[indices] = values does."""
@overload
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Concatenate a sequence of tensors along a dimension, in their promoted dtype."""
@overload
def cat(tensors: Sequence[Tensor], *, axis: _int, out: Tensor | None = None) -> Tensor: ...
@overload
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Stack a sequence of tensors of one shape along a new dimension dim, in their promoted dtype."""
@overload
def stack(tensors: Sequence[Tensor], *, axis: _int, out: Tensor | None = None) -> Tensor: ...
def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Concatenate tensors along dimension 1, or vectors along dimension 0."""
def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Concatenate tensors along dimension 0. 0-d tensors and vectors count as rows."""
def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Concatenate tensors along dimension 2, after atleast_3d."""
def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Concatenate tensors along dimension 1. 0-d tensors and vectors count as columns."""
def split(tensor: Tensor, split_size_or_sections: _int | Sequence[_int] | None = None, dim: _int = 0, *, split_size: _int | Sequence[_int] | None = None) -> tuple[Tensor, ...]:
    """Split a tensor along dim into parts of one size, the last of which may be smaller, or of the sizes in a list."""
def split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """Split input along dim into parts of the sizes in split_sizes: a tuple of views, as from `split`."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """Split input along dim into at most `chunks` parts of one size, the last of which may be smaller."""
def unsafe_split(tensor: Tensor, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """`split` whose parts may be written in place."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """`chunk` whose parts may be written in place: see `unsafe_split`. Derivative: the cotangents, concatenated."""
def tensor_split(input: Tensor, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, dim: _int = 0, *, indices: Any = None, sections: Any = None, out: Any = None) -> tuple[Tensor, ...]:
    """Split input along dim into a number of nearly equal parts, or at the given indices: a tuple of views."""
def hsplit(input: Tensor, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None, out: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along dimension 1, or dimension 0 of a vector. A number of parts must divide the size, else RuntimeError."""
def vsplit(input: Tensor, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None, out: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along dimension 0. A number of parts must divide the size, else RuntimeError. input: at least 2-D."""
def dsplit(input: Tensor, indices_or_sections: _int | Sequence[_int] | Tensor | None = None, *, indices: Any = None, sections: Any = None, out: Any = None) -> tuple[Tensor, ...]:
    """`tensor_split` along dimension 2. A number of parts must divide the size, else RuntimeError. input: at least 3-D."""
def matmul(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Matrix product x @ y of vectors (n), matrices (n, m) and batches (..., n, m), whose batch dimensions broadcast."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices. x: (n, k), mat2: (k, m), of one dtype; returns (n, m)."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix and a vector. x: (n, k), vec: (k), of one dtype; returns (n)."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of two vectors' elements. x, tensor: (n), of one dtype; returns a 0-d tensor."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`dot` of conj(x) with other. x, other: (n), of one dtype; returns a 0-d tensor."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of two batches of matrices. x: (b, n, k), mat2: (b, k, m), of one dtype; returns (b, n, m)."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * x + alpha * (mat1 @ mat2)."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * x + alpha * (mat @ vec). mat: (n, k), vec: (k); x broadcasts to the result, (n). All of one dtype."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * x + alpha * (batch1 @ batch2)."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * x + alpha * (the sum of batch1 @ batch2 over the batch)."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * x + alpha * outer(vec1, vec2). vec1: (n), vec2: (m); x broadcasts to the result, (n, m)."""
def outer(input: Tensor, vec2: Any, *, out: Any = None) -> Tensor:
    """Outer product: result[i, j] = input[i] * vec2[j]. input: (n), vec2: (m), of any dtypes; returns (n, m)."""
def inner(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """Sums of products over the last dimensions: input (*a, k) and other (*b, k) give (*a, *b)."""
def tensordot(a: Tensor, b: Tensor, dims: _int | Sequence[_int] | tuple[Sequence[_int], Sequence[_int]] | Sequence[Sequence[_int]] | Tensor = 2, *, out: Any = None) -> Tensor:
    """Sums of products over pairs of dimensions of a and b."""
def trace(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the diagonal of a matrix. x: (n, m), else RuntimeError; returns a 0-d tensor."""
def kron(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """Kronecker product: each element of input is replaced by the element times other. Sizes multiply."""
def tensor(data: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A new tensor with a copy of data."""
def as_tensor(data: Any, dtype: _Dtype | None = None, device: _device | str | None = None) -> Tensor:
    """Convert data to a tensor, without a copy if possible."""
def asarray(obj: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, copy: Any = None, requires_grad: _bool = False) -> Tensor:
    """Convert obj to a tensor."""
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array: a write to one changes the other."""
def from_dlpack(ext_tensor: Any, *, device: _device | str | None = None, copy: Any = None) -> Tensor:
    """A tensor that shares the memory of another library's object, through DLPack. copy=True copies instead."""
def frombuffer(buffer: Any, *, dtype: _Dtype | None, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> Tensor:
    """A vector that shares the memory of a buffer, such as a bytearray or memoryview."""
def scalar_tensor(s: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A 0-d tensor of a number. dtype: the default dtype unless given."""
def zeros(*sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of zeros: zeros(2, 3) or zeros((2, 3)). dtype: the default dtype unless given."""
def ones(*sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of ones: ones(2, 3) or ones((2, 3)). dtype: the default dtype unless given."""
def empty(*sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """An uninitialised tensor: empty(2, 3) or empty((2, 3)). dtype: the default dtype unless given."""
def full(size: _int | Sequence[_int], fill_value: _Number, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of shape size, filled with fill_value. dtype: the dtype of fill_value unless given."""
def eye(n: _int, m: Any = None, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """(n, m) matrix with ones on the diagonal and zeros elsewhere. m: n unless given."""
def zeros_like(input: Tensor, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of zeros of input's shape. dtype: input's dtype unless given."""
def ones_like(input: Tensor, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of ones of input's shape. dtype: input's dtype unless given."""
def empty_like(input: Tensor, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """An uninitialised tensor of input's shape. dtype: input's dtype unless given."""
def full_like(input: Tensor, fill_value: _Number, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """A tensor of input's shape, filled with fill_value. dtype: input's dtype unless given."""
def arange(*bounds: Any, start: _int = 0, end: Any = None, step: _int = 1, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """start, start + step, ... up to end, without end: arange(end), arange(start, end) or arange(start, end, step)."""
def range(start: _int = 0, end: Any = None, step: _int = 1, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """start, start + step, ... up to end, end included; range(end) begins at 0."""
def linspace(start: _int, end: Any, steps: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included."""
def logspace(start: _int, end: Any, steps: Any, base: _float = 10.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """`steps` numbers from base**start to base**end, both included, with equal ratios. Other parameters as in `linspace`."""
def tril_indices(row: Any, col: Any, offset: _int = 0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Indices of the lower triangle of a (row, col) matrix: (2, k), the row indices above the column indices."""
def triu_indices(row: Any, col: Any, offset: _int = 0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Indices of the upper triangle of a (row, col) matrix: (2, k), the row indices above the column indices."""
def meshgrid(*tensors: Tensor, indexing: Any = None, out: Any = None) -> tuple[Tensor, ...]:
    """Coordinate grids of n vectors: a tuple of n views of n dimensions. The i-th holds the i-th vector along dimension i."""
def rand(*sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return uniform random numbers from [0, 1): rand(2, 3) or rand((2, 3))."""
def randn(*sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return random numbers from the normal distribution of mean 0 and variance 1: randn(2, 3) or randn((2, 3))."""
def randint(*bounds: Any, low: _int = 0, high: Any = None, size: Sequence[_int] | None = None, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return uniform random integers from [low, high): randint(low, high, size), or randint(high, size) with low = 0."""
def randperm(n: _int, *, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return a random permutation of 0, ..., n - 1, in int64 unless dtype is given. Raises RuntimeError for n < 0."""
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """rand() with the shape of a tensor, and its dtype unless dtype is given."""
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """randn() with the shape of a tensor, and its dtype unless dtype is given."""
def randint_like(input: Tensor, low: Any = None, high: Any = None, *, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """randint(low, high), or randint(high), with the shape of a tensor, and its dtype unless dtype is given."""
def bernoulli(input: Tensor, p: _float | Tensor | None = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Draw 1 with probability input, else 0, for each element, in input's dtype."""
def normal(mean: Tensor | _float = 0.0, std: Tensor | _float = 1.0, size: _int | Sequence[_int] | None = None, *, generator: Generator | None = None, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Draw from normal distributions: normal(mean, std), normal(mean), or normal(mean=0.0, std=1.0, size=(2, 3))."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Tensor:
    """Bilinear form of two rows with each of k matrices: input1 @ weight[i] @ input2 + bias[i]."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08, *, out: Any = None) -> Tensor:
    """Cosine of the angle between x1 and x2 along dim: sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))."""
def layer_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = True, *, out: Any = None) -> Tensor:
    """Layer normalisation: (input - mean) / sqrt(variance + eps) * weight + bias over the last dimensions."""
def rms_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None, eps: _float | None = None, *, out: Any = None) -> Tensor:
    """Root mean square normalisation: input / sqrt(mean(input**2) + eps) * weight over the last dimensions."""
def selu(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """1.0507 * `elu`(input, alpha=1.6733). These constants keep activations normalised. input: any shape, floating."""
def celu(input: Tensor, alpha: _Number = 1.0, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > 0, alpha * (exp(input / alpha) - 1) elsewhere. input: any shape, floating."""
def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor:
    """input where input > 0, weight * input elsewhere. input: any shape, floating."""
def threshold(input: Tensor, threshold: Any, value: _Operand, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > threshold, value elsewhere. input: any shape, any real dtype."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Any = None) -> Tensor:
    """input where |input| > lambd, else 0. input: any shape, floating."""
def atan2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
def hypot(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """sqrt(x**2 + y**2), without overflow in the squares."""
def logaddexp(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """log(exp(x) + exp(y)), without overflow in the exponentials."""
def logaddexp2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """log2(2**x + 2**y), without overflow in the powers."""
def xlogy(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * log(y); 0 where x is 0 and y is not NaN."""
def copysign(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """|x| with the sign of y, which may be a signed zero."""
def ldexp(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * 2**y, with broadcasting."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 where x < 0, 1 where x > 0, values where x is 0."""
def nextafter(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The next floating-point number after x towards y. Raises RuntimeError for integers."""
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Greatest common divisor. x, y: integers, else RuntimeError."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Least common multiple. x, y: integers, else RuntimeError."""
def conj(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex conjugate of each element: a view, which shows writes into input and passes writes on to input."""
def resolve_conj(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of a conjugate view, in memory of its own. Any other tensor is returned itself."""
def resolve_neg(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of a negated view, such as x.conj().imag, in memory of its own. Any other tensor is returned itself."""
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex conjugate of each element, as a copy. A real tensor is returned itself."""
def real(input: Tensor, *, out: Any = None) -> Tensor:
    """Real part of each element: a view. A real tensor is returned itself."""
def imag(input: Tensor, *, out: Any = None) -> Tensor:
    """Imaginary part of each element: a view. Raises RuntimeError for a real tensor."""
def angle(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Angle of each complex number in radians, from -pi to pi. Of a real x 0, or pi where x < 0; NaN stays NaN."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """real + 1j * imag, with broadcasting. real, imag: floating, of one dtype; float16 gives complex64."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """abs * exp(1j * angle), with broadcasting. abs, angle (radians): floating, of one dtype; float16 gives complex64."""
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the imaginary part of each element is 0: a bool tensor."""
def view_as_real(input: Tensor) -> Tensor:
    """View of a complex x, (...), as (..., 2): the last dimension holds real and imaginary part. RuntimeError for a real x."""
def view_as_complex(input: Tensor) -> Tensor:
    """View of x, (..., 2), as complex numbers (...): the last dimension of x holds real and imaginary part."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is NaN: a bool tensor."""
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is infinite: a bool tensor."""
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN: a bool tensor."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is +inf: a bool tensor."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is -inf: a bool tensor."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is negative, -0.0 included: a bool tensor."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is 0: a bool tensor."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether x and y are both nonzero, element by element, with broadcasting: a bool tensor."""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether x or y is nonzero, element by element, with broadcasting: a bool tensor."""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one of x and y is nonzero, element by element, with broadcasting: a bool tensor."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Invert every bit. x: integers or bools, else RuntimeError."""
def bitwise_and(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Bits that are set in x and in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
def bitwise_or(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Bits that are set in x or in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
def bitwise_xor(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Bits that are set in exactly one of x and y, with broadcasting. x, y: integers or bools, else RuntimeError."""
def bitwise_left_shift(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Shift the bits of x left by y; 0 where y < 0 or y >= the number of bits. x, y: integers or bools, else RuntimeError."""
def bitwise_right_shift(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Shift the bits of x right by y, keeping the sign. x, y: integers or bools, else RuntimeError."""
def erf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
def erfc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Complementary error function, 1 - erf(x), accurate where it is tiny too."""
def erfinv(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse error function: the number whose erf is x. inf at 1, -inf at -1, NaN outside [-1, 1]."""
def lgamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ..."""
def digamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Digamma function: the derivative of the logarithm of the gamma function."""
def polygamma(n: Tensor, input: Any, *, out: Any = None) -> Tensor:
    """Polygamma function: the n-th derivative of digamma. n: an int >= 0; RuntimeError otherwise."""
def mvlgamma(input: _Operand, p: _float, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension p."""
def igamma(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised lower incomplete gamma function P(x, y): the integral of t**(x - 1) exp(-t) from 0 to y, over gamma(x)."""
def igammac(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised upper incomplete gamma function 1 - igamma(x, y), accurate where it is tiny too."""
def i0(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 0."""
def logit(input: _Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None."""
@overload
def cumsum(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running sum along one dimension."""
@overload
def cumsum(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def cumprod(input: Tensor, dim: _int, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running product along one dimension."""
@overload
def cumprod(input: Tensor, *, axis: _int, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def var(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None, out: Any = None) -> Tensor:
    """Variance over dim: the sum of squared distances from the mean, divided by n - correction."""
def std(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None, out: Any = None) -> Tensor:
    """Standard deviation over dim: the square root of `var`. Arguments: as `var`."""
def var_mean(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return the tuple (`var`, `mean`) over dim. Arguments: as `var`."""
def std_mean(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Number | None = None, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return the tuple (`std`, `mean`) over dim. Arguments: as `var`."""
def norm(input: Tensor, p: _Number | _str | None = 'fro', dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, dtype: _Dtype | None = None, *, out: Any = None) -> Tensor:
    """p-norm of the elements over dim: (sum of |x|**p)**(1 / p)."""
@overload
def flip(input: Tensor, dims: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """Copy of x with the order of elements reversed along dims, x.flip(0, 1). Derivative: the cotangent, flipped back."""
@overload
def flip(input: Tensor, *dims: _int, out: Tensor | None = None) -> Tensor: ...
def fliplr(input: Tensor, *, out: Any = None) -> Tensor:
    """Reverse the columns: x.flip(1). Raises RuntimeError for less than two dimensions."""
def flipud(input: Tensor, *, out: Any = None) -> Tensor:
    """Reverse the rows: x.flip(0). Raises RuntimeError for a 0-d tensor. Derivative: the cotangent, flipped back."""
def roll(input: Tensor, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """Copy of x with its elements shifted along dims; elements shifted beyond the end re-enter at the start."""
def rot90(input: Tensor, k: _int = 1, dims: _int | Sequence[_int] = ..., *, out: Tensor | None = None) -> Tensor:
    """Copy of x rotated by k quarter turns in the plane of two dimensions, from the first towards the second."""
@overload
def tile(input: Tensor, dims: Sequence[_int]) -> Tensor:
    """Repeat input along its dimensions, x.tile(2) or x.tile((2, 1)); see `repeat`."""
@overload
def tile(input: Tensor, *dims: _int) -> Tensor: ...
def repeat_interleave(input: Tensor, repeats: _int | Sequence[_int] | Tensor | None = None, dim: _int | Sequence[_int] | None = None, *, output_size: _int | None = None, out: Any = None) -> Tensor:
    """Repeat each slice of input along dim, copies in a row; if dim is None, each element of the flattened input."""
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """Matrices in dimensions dim1 and dim2 of the result, with the last dimension of x on a diagonal and 0 elsewhere."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Any = None) -> Tensor:
    """Copy of a diagonal of a matrix; or, for a vector, the matrix with the vector on a diagonal."""
def diagflat(input: Tensor, offset: _int = 0, *, out: Any = None) -> Tensor:
    """Matrix with the elements of the flattened input on a diagonal. Derivative: the cotangent's diagonal."""
def block_diag(*tensors: Tensor, out: Any = None) -> Tensor:
    """Block diagonal matrix: the matrices along the diagonal, 0 elsewhere."""
def cartesian_prod(*tensors: Tensor, out: Any = None) -> Tensor:
    """All combinations of one element of each vector, as rows. One vector is returned itself."""
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False, *, out: Any = None) -> Tensor:
    """All combinations of r elements of a vector, as rows, in the order of itertools.combinations."""
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Lower triangle of each matrix in the last two dimensions of x; 0 above the diagonal."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Upper triangle of each matrix in the last two dimensions of x; 0 below the diagonal."""
@overload
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Any = None) -> Tensor:
    """Slices of input along dim that index names. index: a vector of int64 or int32, >= 0; may repeat."""
@overload
def index_select(input: Tensor, *, axis: _int, index: Tensor, out: Any = None) -> Tensor: ...
@overload
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Any = None) -> Tensor:
    """result[i][j] = input[index[i][j]][j] for dim 0, input[i][index[i][j]] for dim 1, and so on."""
@overload
def gather(input: Tensor, *, axis: _int, index: Tensor, sparse_grad: _bool = False, out: Any = None) -> Tensor: ...
def take_along_dim(input: Tensor, indices: Any, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """gather() with input and indices broadcast against each other in all dimensions but dim."""
def take(input: Tensor, index: Tensor, *, out: Any = None) -> Tensor:
    """Elements of the flattened input at index. The result has index's shape."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor:
    """Indices of the nonzero elements, as int64: (k, ndim), or if as_tuple a tuple of ndim vectors (k)."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def argwhere(input: Tensor) -> Tensor:
    """Indices of the nonzero elements, as int64: (k, ndim), as `nonzero` gives them."""
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: _Operand | None = None, *, value: _Operand | None = None, reduce: _str | None = None, out: Any = None) -> Tensor:
    """Return a copy of input with src written at index along dim."""
@overload
def scatter(input: Tensor, *, axis: _int, index: Tensor, src: _Operand | None = None, value: _Operand | None = None, reduce: _str | None = None, out: Any = None) -> Tensor: ...
@overload
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of input with src added at index along dim. A repeated index adds each of its values."""
@overload
def scatter_add(input: Tensor, *, axis: _int, index: Tensor, src: Tensor, out: Any = None) -> Tensor: ...
@overload
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1, out: Any = None) -> Tensor:
    """Return a copy of input with alpha * source added to its slices `index` along dim."""
@overload
def index_add(input: Tensor, *, axis: _int, index: Tensor, source: Tensor, alpha: _Number = 1, out: Any = None) -> Tensor: ...
@overload
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of input with its slices `index` along dim replaced by those of source."""
@overload
def index_copy(input: Tensor, *, axis: _int, index: Tensor, source: Tensor, out: Any = None) -> Tensor: ...
@overload
def index_fill(input: Tensor, dim: _int, index: Tensor, value: _Operand, *, out: Any = None) -> Tensor:
    """Return a copy of input with value in its slices `index` along dim."""
@overload
def index_fill(input: Tensor, *, axis: _int, index: Tensor, value: _Operand, out: Any = None) -> Tensor: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False, *, out: Any = None) -> Tensor:
    """Return a copy of input with source written, or added if accumulate, at index into the flattened input."""
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of input with input.select(dim, index) replaced by src, of that slice's shape."""
def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: Any = None, step: _int = 1, *, out: Any = None) -> Tensor:
    """Return a copy of input with its slice start:end:step along dim replaced by src, of that slice's shape."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of x with x.diagonal(offset, dim1, dim2) replaced by src, of that diagonal's shape."""
@overload
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True, out: Any = None) -> Tensor:
    """Return a copy of input with src reduced into it at index along dim."""
@overload
def scatter_reduce(input: Tensor, *, axis: _int, index: Tensor, src: Tensor, reduce: _str, include_self: _bool = True, out: Any = None) -> Tensor: ...
def masked_fill(input: Tensor, mask: Tensor, value: _Operand) -> Tensor:
    """Return a copy of input with value where mask is True."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of input with the elements of source, in row-major order, where mask is True."""
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """Return the elements of input where mask is True, as a vector in row-major order."""
@overload
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: Any = None, out: Any = None) -> return_types.sort:
    """Sort input along a dimension: a named tuple (values, indices). The order is stable."""
@overload
def sort(input: Tensor, *, axis: _int, descending: _bool = False, stable: Any = None, out: Any = None) -> return_types.sort: ...
def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """Sort input along its first dimension. Derivative: the cotangent, moved back to the original order."""
@overload
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, stable: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Indices that sort x along a dimension, int64, in a stable order. x: any real dtype."""
@overload
def argsort(input: Tensor, *, axis: _int, descending: _bool = False, stable: _bool = False, out: Tensor | None = None) -> Tensor: ...
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: Any = None) -> return_types.topk:
    """The k largest elements along a dimension, in order: a named tuple (values, indices)."""
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Any = None) -> return_types.kthvalue:
    """The k-th smallest element along a dimension, counted from 1: a named tuple (values, indices)."""
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: _bool = False, right: _bool = False, side: Any = None, sorter: Any = None, out: Any = None) -> Tensor:
    """Index at which to insert each element of input into a sorted sequence so that it stays sorted."""
def bucketize(input: Tensor, boundaries: Any, *, out_int32: _bool = False, right: _bool = False, out: Any = None) -> Tensor:
    """Index of the bucket of each element of input: searchsorted(boundaries, input) for a vector of boundaries."""
@overload
def unique(input: Tensor, sorted: _bool = True, *, dim: _int | None = None) -> Tensor:
    """Distinct elements of input, or distinct slices along dim, in ascending order. Not differentiable."""
@overload
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
@overload
def unique_consecutive(input: Tensor, *, dim: _int | None = None) -> Tensor:
    """Merge runs of equal elements of the flattened input, or of equal slices along dim. Not differentiable."""
@overload
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
def isin(elements: Tensor, test_elements: Any, *, assume_unique: _bool = False, invert: _bool = False, out: Any = None) -> Tensor:
    """Whether each of elements is among test_elements: a bool tensor of the shape of elements. Not differentiable."""
def bincount(input: Tensor, weights: Any = None, minlength: _int = 0) -> Tensor:
    """Count the occurrences of each number 0, 1, ... in a vector of integers >= 0, or sum their weights."""
def unravel_index(indices: Tensor, shape: _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """Convert indices into a flattened tensor to indices into a tensor of the given shape: a tuple, one per dimension."""
def gesv(input: Tensor, A: Tensor) -> tuple[Tensor, Tensor]:
    """Return (X, LU) with A @ X = input, where LU holds the LU factors of A, without history. Today: linalg.solve(A, B)."""
def potrf(input: Tensor, upper: _bool = True) -> Tensor:
    """Cholesky factor of a symmetric, positive definite matrix: U with U^T @ U = input, or L with L @ L^T = input."""
def set_default_tensor_type(t: Tensor) -> None:
    """Set the default dtype and device to those of a tensor type: "torch.DoubleTensor", "torch.cuda.FloatTensor" or its class."""
def typename(obj: Tensor) -> _str:
    """Return a tensor's type name, such as "torch.FloatTensor", or the name of another object's class."""
def alias_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of input. Derivative: the cotangent."""
def detach_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of input.detach(), which has no history. Not differentiable."""
def as_strided_copy(input: Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None, *, out: Any = None) -> Tensor:
    """A copy of as_strided(). Derivative: each element of input gets the sum of the cotangents of its copies."""
def expand_copy(input: Tensor, size: _int | Sequence[_int], *, implicit: _bool = False, out: Any = None) -> Tensor:
    """A copy of expand(). Derivative: the cotangent summed to input's shape."""
def permute_copy(input: Tensor, dims: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """A copy of permute(). Derivative: the cotangent with the dimensions in their old order."""
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor:
    """A copy of transpose(). Derivative: the cotangent with the two dimensions exchanged."""
def t_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of t(). Derivative: the transpose of the cotangent."""
@overload
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Any = None) -> Tensor:
    """A copy of select(). Derivative: the cotangent at index, 0 elsewhere."""
@overload
def select_copy(input: Tensor, *, axis: _int, index: _int, out: Any = None) -> Tensor: ...
@overload
def slice_copy(input: Tensor, dim: _int = 0, start: _int | None = None, end: Any = None, step: _int = 1, *, out: Any = None) -> Tensor:
    """A copy of input[start:end:step] along dim. Derivative: the cotangent in the slice, 0 elsewhere."""
@overload
def slice_copy(input: Tensor, *, axis: _int, start: _int | None = None, end: Any = None, step: _int = 1, out: Any = None) -> Tensor: ...
@overload
def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *, out: Any = None) -> Tensor:
    """A copy of narrow(). Derivative: the cotangent in the part, 0 elsewhere."""
@overload
def narrow_copy(input: Tensor, *, axis: _int, start: _int, length: _int, out: Any = None) -> Tensor: ...
def split_copy(input: Tensor, split_size: _int | Sequence[_int], dim: _int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the parts that split() gives for one split_size: a tuple. Derivative: the cotangents, concatenated."""
def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the parts that split_with_sizes() gives: a tuple. Derivative: the cotangents, concatenated."""
@overload
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the slices that unbind() gives: a tuple. Derivative: the cotangents, stacked along dim."""
@overload
def unbind_copy(input: Tensor, *, axis: _int, out: Any = None) -> tuple[Tensor, ...]: ...
@overload
def squeeze_copy(input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """A copy of squeeze(). Derivative: the cotangent in input's shape."""
@overload
def squeeze_copy(input: Tensor, *, axis: _int | Sequence[_int] | None, out: Any = None) -> Tensor: ...
@overload
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Any = None) -> Tensor:
    """A copy of unsqueeze(). Derivative: the cotangent in input's shape."""
@overload
def unsqueeze_copy(input: Tensor, *, axis: _int, out: Any = None) -> Tensor: ...
def unfold_copy(input: Tensor, dimension: _int, size: _int | Sequence[_int], step: _int, *, out: Any = None) -> Tensor:
    """A copy of Tensor.unfold(): all windows along a dimension."""
def view_copy(input: Tensor, size: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """A copy of view(). size: a shape or a dtype. Derivative: the cotangent in input's shape."""
def view_as_real_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of view_as_real(). Derivative: the pairs of the cotangent as complex numbers."""
def view_as_complex_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of view_as_complex(). Derivative: the real and imaginary parts of the cotangent."""
@overload
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True, out: Any = None) -> Tensor:
    """A copy of input in which slice index[i] along dim is reduced with slice i of source."""
@overload
def index_reduce(input: Tensor, *, axis: _int, index: Tensor, source: Tensor, reduce: _str, include_self: _bool = True, out: Any = None) -> Tensor: ...
def as_strided_scatter(input: Tensor, src: Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None, *, out: Any = None) -> Tensor:
    """A copy of input in which the elements of as_strided(size, stride, storage_offset) are replaced by src."""
def nonzero_static(input: Tensor, size: _int | Sequence[_int], fill_value: _Number = -1, *, out: Tensor | None = None) -> Tensor:
    """Indices of the nonzero elements, as in `nonzero`: (size, ndim). Rows beyond size are cut, missing ones get fill_value."""
def stft(input: Tensor, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: Any = None, return_complex: Any = None, align_to_window: Any = None, *, out: Any = None) -> Tensor:
    """Short-time Fourier transform: the Fourier transforms of frames of n_fft elements times a window."""
def istft(input: Tensor, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: _bool = True, normalized: _bool = False, onesided: Any = None, length: _int | None = None, return_complex: _bool = False, *, out: Any = None) -> Tensor:
    """Inverse short-time Fourier transform: the signal whose stft is closest to input, by least squares."""
def bartlett_window(window_length: Any, periodic: _bool = True, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Bartlett window of window_length elements, periodic unless periodic=False; see signal.windows.bartlett."""
def blackman_window(window_length: Any, periodic: _bool = True, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Blackman window, 0.42 - 0.5 cos t + 0.08 cos 2t; see signal.windows.blackman. Arguments: as bartlett_window."""
def hamming_window(window_length: Any, periodic: _bool = True, alpha: _Number = 0.54, beta: _Number = 0.46, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Hamming window, alpha - beta cos t; see signal.windows.hamming. Other arguments: as bartlett_window."""
def hann_window(window_length: Any, periodic: _bool = True, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Hann window, (1 - cos t) / 2; see signal.windows.hann. Arguments: as bartlett_window."""
def kaiser_window(window_length: Any, periodic: _bool = True, beta: _Number = 12.0, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Kaiser window, I0(beta sqrt(1 - x**2)) / I0(beta) with x from -1 to 1; see signal.windows.kaiser."""
def native_layer_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor, bias: Tensor | None, eps: _float, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Return (layer_norm, mean, 1 / sqrt(variance + eps)). The last two have the normalised dims with size 1."""
def native_group_norm(input: Tensor, weight: Tensor, bias: Tensor | None, N: Any, C: Any, HxW: Any, group: Any, eps: _float, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Return (group_norm, mean, 1 / sqrt(variance + eps)). The last two have the shape (N, group)."""
def native_batch_norm(input: Tensor, weight: Tensor, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Return (batch_norm, mean, 1 / sqrt(variance + eps)). The last two have the shape (C,) in training; otherwise they are empty."""
def native_dropout(input: Tensor, p: _float, train: Any, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (dropout, mask). The mask is True where an element was kept. Derivative: the factor of each element."""
def native_channel_shuffle(input: Tensor, groups: _int, *, out: Any = None) -> Tensor:
    """Return channel_shuffle(input, groups). Derivative: the cotangent with the channels in their old order."""
@overload
def frobenius_norm(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Any = None) -> Tensor:
    """Square root of the sum of squares over dim: norm(input, "fro", dim). Derivative: as norm."""
@overload
def frobenius_norm(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Any = None) -> Tensor: ...
@overload
def nuclear_norm(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Any = None) -> Tensor:
    """Sum of the singular values of matrices in two dims, by default the last two. Derivative: as linalg.matrix_norm with "nuc"."""
@overload
def nuclear_norm(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, out: Any = None) -> Tensor: ...
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0, *, out: Any = None) -> Tensor:
    """Norm of order pow over all dims except dim. The reduced dims keep size 1. dim -1 means the norm of all elements."""
def grid_sampler_2d(input: Tensor, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any, *, out: Any = None) -> Tensor:
    """Return grid_sample() of images. Modes are numbers: see grid_sampler. Derivative: as grid_sample."""
def grid_sampler_3d(input: Tensor, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any, *, out: Any = None) -> Tensor:
    """Return grid_sample() of volumes. Modes are numbers: see grid_sampler. Derivative: as grid_sample."""
def affine_grid_generator(theta: Tensor, size: _int | Sequence[_int], align_corners: Any, *, out: Any = None) -> Tensor:
    """Return nn.functional.affine_grid, without default arguments. Derivative: as nn.functional.affine_grid."""
def segment_reduce(data: Tensor, reduce: _str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: _int = 0, unsafe: _bool = False, initial: Any = None, out: Any = None) -> Tensor:
    """Reduce each of n consecutive segments of a dimension."""
def svd_lowrank(A: Tensor, q: _int = 6, niter: _int = 2, M: Any = None, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Approximate singular value decomposition of rank q: (U, S, V) with A - M close to U @ diag(S) @ V^H."""
def pca_lowrank(A: Tensor, q: Any = None, center: _bool = True, niter: _int = 2, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: `svd_lowrank` of A, (..., m, n), minus the mean of each column if center."""
def lobpcg(A: Tensor, k: _int | None = None, B: Any = None, X: Any = None, n: _int | None = None, iK: Any = None, niter: Any = None, tol: Any = None, largest: Any = None, method: Any = None, tracker: Any = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """The k largest eigenvalues of a symmetric A, or of A x = value * B x, and their eigenvectors; smallest if largest=False."""
def triangular_solve(input: Tensor, A: Any, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: Any = None) -> return_types.triangular_solve:
    """X with A @ X = input, or A^T @ X = input if transpose, for a triangular A, as a named tuple (solution, copy of A)."""
def is_complex(input: Tensor) -> Tensor:
    """Whether the dtype is complex."""
def is_floating_point(input: Tensor) -> Tensor:
    """Whether the dtype is floating."""
def is_signed(input: Tensor) -> Tensor:
    """Whether the dtype has negative numbers."""
def is_inference(input: Tensor) -> Tensor:
    """Whether the tensor was made in inference mode."""
def is_nonzero(input: Tensor) -> Tensor:
    """Whether the single element is not zero. Raises RuntimeError unless the tensor has one element."""
def is_conj(input: Tensor) -> Tensor:
    """Whether the tensor is a conjugate view, as x.conj() and x.mH are of a complex x."""
def is_neg(input: Tensor) -> Tensor:
    """Whether the tensor is a negated view, as x.conj().imag is."""
def get_device(input: Tensor) -> Tensor:
    """Return the index of the tensor's device: -1 for the CPU."""
def is_same_size(input: Tensor, other: _Operand) -> _bool:
    """Whether two tensors have the same shape."""
def detach(input: Tensor) -> Tensor:
    """Return a tensor on the same memory without history: Tensor.detach."""
def detach_(input: Tensor) -> Tensor:
    """Remove the history of a tensor: Tensor.detach_. In-place form of detach."""
def empty_strided(size: _int | Sequence[_int], stride: _int | Sequence[_int], *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return an uninitialised tensor of the given size and strides. stride: one per dimension, in elements."""
def empty_permuted(size: _int | Sequence[_int], physical_layout: Any, *, dtype: _Dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, out: Tensor | None = None) -> Tensor:
    """Return an uninitialised tensor without gaps in memory, whose dimensions are laid out in the given order."""
def rnn_tanh(input: Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """h' = tanh(W x + U h), in num_layers layers; returns (outputs, final states, ...)."""
def rnn_relu(input: Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """h' = relu(W x + U h), in num_layers layers; returns (outputs, final states, ...)."""
def gru(input: Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Gated recurrent units, in num_layers layers; returns (outputs, final states, ...)."""
def lstm(input: Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any, *, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory, in num_layers layers; returns (outputs, final states, ...)."""
def rnn_tanh_cell(input: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *, out: Any = None) -> Tensor:
    """One step of rnn_tanh: tanh(w_ih x + b_ih + w_hh h + b_hh)."""
def rnn_relu_cell(input: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *, out: Any = None) -> Tensor:
    """One step of rnn_relu: relu(w_ih x + b_ih + w_hh h + b_hh). Arguments: as rnn_tanh_cell."""
def gru_cell(input: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *, out: Any = None) -> Tensor:
    """One step of gru: return the next state, given input and the state hx."""
def lstm_cell(input: Tensor, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """One step of lstm: return the next states (h, c), given input and hx = (h, c)."""
def dropout(input: Tensor, p: _float, train: Any, *, out: Any = None) -> Tensor:
    """nn.functional.dropout. Derivative: the factor of each element, 0 or 1 / (1 - p) if train, else 1."""
def dropout_(input: Tensor, p: _float, train: Any, *, out: Any = None) -> Tensor:
    """In-place form of dropout. Derivative: as in dropout."""
def feature_dropout(input: Tensor, p: _float, train: Any, *, out: Any = None) -> Tensor:
    """nn.functional.dropout of whole channels, (n, channels, ...). An input with fewer than 3 dimensions drops elements."""
def embedding(weight: Tensor, indices: Any, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False, *, out: Any = None) -> Tensor:
    """nn.functional.embedding with weight first. A negative padding_idx means None. Derivative: as in nn.functional.embedding."""
def kl_div(input: Tensor, target: Tensor, reduction: _int = 0, *, log_target: _bool = False, out: Any = None) -> Tensor:
    """nn.functional.kl_div with reduction as a number. Derivative: as in nn.functional.kl_div."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: Any, full: Any, eps: _float, reduction: Any, *, out: Any = None) -> Tensor:
    """nn.functional.poisson_nll_loss with reduction as a number. Derivative: as in nn.functional.poisson_nll_loss."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 0, *, out: Any = None) -> Tensor:
    """nn.functional.hinge_embedding_loss with reduction as a number. Derivative: as in nn.functional.hinge_embedding_loss."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0, *, out: Any = None) -> Tensor:
    """nn.functional.cosine_embedding_loss with reduction as a number. Derivative: as in nn.functional.cosine_embedding_loss."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0, *, out: Any = None) -> Tensor:
    """nn.functional.margin_ranking_loss with reduction as a number. Derivative: as in nn.functional.margin_ranking_loss."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2.0, eps: _float = 1e-06, swap: _bool = False, reduction: _int = 0, *, out: Any = None) -> Tensor:
    """nn.functional.triplet_margin_loss with reduction as a number. Derivative: as in nn.functional.triplet_margin_loss."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Any = None, reduction: _int = 0, *, out: Any = None) -> Tensor:
    """nn.functional.binary_cross_entropy_with_logits with reduction as a number."""
def ctc_loss(log_probs: Tensor, targets: Any, input_lengths: Any, target_lengths: Any, blank: _int = 0, reduction: _int = 0, zero_infinity: _bool = False, *, out: Any = None) -> Tensor:
    """nn.functional.ctc_loss with reduction as a number. Derivative: as in nn.functional.ctc_loss."""
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """nn.functional.adaptive_max_pool1d with return_indices=True. Derivative: as in nn.functional.adaptive_max_pool1d."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor | None, pad: _int = 0, *, out: Any = None) -> Tensor:
    """conv1d of input, (length, batch, channels), with weight, (width, channels, outputs). Derivative: as in conv1d."""
@overload
def einsum(equation: _str, *operands: Tensor | Sequence[Tensor], out: Any = None) -> Tensor:
    """Sum of products of the operands' elements, given by an equation: einsum("ij,jk->ik", a, b) is a @ b."""
@overload
def einsum(operand: Tensor, *operands_and_dims: Any, out: Any = None) -> Tensor: ...
def inverse(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse of a matrix, or of each matrix of a batch: `linalg.inv`."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinant of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex; returns (...)."""
def slogdet(A: Tensor, *, out: Any = None) -> return_types.slogdet:
    """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet)."""
def logdet(input: Tensor, *, out: Any = None) -> Tensor:
    """Natural logarithm of the determinant; NaN where a real determinant is negative."""
def matrix_power(A: Tensor, n: _int, *, out: Any = None) -> Tensor:
    """A @ A @ ... @ A with n factors; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k)."""
def cholesky(input: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor:
    """`linalg.cholesky`: lower triangular L with L @ L^H = input, or L^H if upper. Derivative: as linalg.cholesky."""
def cholesky_solve(B: Tensor, L: Any, upper: _bool = False, *, out: Any = None) -> Tensor:
    """Solve A @ X = B for X, given the Cholesky factor L of A: A = L @ L^H, or L^H @ L if upper."""
def cholesky_inverse(L: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor:
    """Return the inverse of A, given its Cholesky factor L: A = L @ L^H, or L^H @ L if upper. L: (..., n, n)."""
def matrix_exp(A: Tensor, *, out: Any = None) -> Tensor:
    """`linalg.matrix_exp`: the exponential of a matrix. Derivative: as linalg.matrix_exp."""
def pinverse(input: Tensor, rcond: _float = 1e-15, *, out: Any = None) -> Tensor:
    """`linalg.pinv`: the pseudo-inverse. Singular values <= rcond times the largest one count as zero."""
def qr(input: Tensor, some: _bool = True, *, out: Any = None) -> return_types.qr:
    """`linalg.qr` as a named tuple (Q, R), reduced if some, else complete. Derivative: as linalg.qr."""
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Any = None) -> return_types.svd:
    """`linalg.svd` as a named tuple (U, S, V), with V in place of V^H."""
def cross(input: Tensor, other: _Operand, dim: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """`linalg.cross`: the cross product along dim. Derivative: as linalg.cross."""
def vander(x: Tensor, N: Any = None, increasing: _bool = False, *, out: Any = None) -> Tensor:
    """Vandermonde matrix of a vector: `linalg.vander` with its columns reversed, powers falling, unless increasing."""
def chain_matmul(*matrices: Any, out: Any = None) -> Tensor:
    """`linalg.multi_dot` with each matrix as an argument of its own. One matrix alone is returned as it is."""
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, *, out: Any = None) -> tuple[Tensor, ...]:
    """`linalg.lu_factor_ex` as a tuple (LU, pivots), or (LU, pivots, info) if get_infos. Derivative: as linalg.lu."""
def lu_solve(input: Tensor, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Tensor:
    """`linalg.lu_solve` with the right-hand sides as the first argument. Derivative: as linalg.lu_solve."""
def lu_unpack(LU_data: Tensor, LU_pivots: Any, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: Any = None) -> return_types.lu_unpack:
    """Return a named tuple (P, L, U) with A = P @ L @ U, given LU_data and LU_pivots from `linalg.lu_factor` of A."""
def geqrf(input: Tensor, *, out: Any = None) -> return_types.geqrf:
    """LAPACK's QR decomposition, as a named tuple (a, tau): a of input's shape (..., m, n), tau of shape (..., min(m, n))."""
def orgqr(input: Tensor, tau: Any, *, out: Any = None) -> Tensor:
    """`linalg.householder_product`: the first columns of Q, given the reflections of `geqrf`."""
def ormqr(input: Tensor, tau: Any, other: _Operand, left: _bool = True, transpose: _bool = False, *, out: Any = None) -> Tensor:
    """Compute Q @ other, or other @ Q if not left, for the square Q of a QR decomposition; with Q^H if transpose."""
@overload
def cummax(input: Tensor, dim: _int, *, out: Any = None) -> return_types.cummax:
    """Running maximum along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
@overload
def cummax(input: Tensor, *, axis: _int, out: Any = None) -> return_types.cummax: ...
@overload
def cummin(input: Tensor, dim: _int, *, out: Any = None) -> return_types.cummin:
    """Running minimum along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
@overload
def cummin(input: Tensor, *, axis: _int, out: Any = None) -> return_types.cummin: ...
@overload
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the running sum of exponentials along a dimension, without overflow."""
@overload
def logcumsumexp(input: Tensor, *, axis: _int, out: Tensor | None = None) -> Tensor: ...
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Any = None, append: Any = None, *, out: Any = None) -> Tensor:
    """n-th differences of neighbours along a dimension; for bools, whether neighbours differ."""
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: _int = -1, out: Any = None) -> Tensor:
    """Integral of y along a dimension by the trapezoidal rule."""
def trapz(y: Tensor, x: Any = None, *, dx: Any = None, dim: _int = -1, out: Any = None) -> Tensor:
    """Older name of `trapezoid`. Derivative: as trapezoid."""
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: _int = -1, out: Any = None) -> Tensor:
    """Running integral of y along a dimension by the trapezoidal rule; has one element less than y along dim."""
def gradient(input: Tensor, *, spacing: Any = None, dim: _int | Sequence[_int] | None = None, edge_order: _int = 1, out: Any = None) -> tuple[Tensor, ...]:
    """Tuple of the slopes of input along each of dim, by central differences, and one-sided differences at the ends."""
@overload
def hash_tensor(input: Tensor, dim: _int | Sequence[_int] | None = None, *, keepdim: _bool = False, mode: _int = 0, out: Tensor | None = None) -> Tensor:
    """Hash of the elements over dim: the bitwise exclusive or of their 64-bit words, uint64."""
@overload
def hash_tensor(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, mode: _int = 0, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmean(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Mean over dim of the elements that are not NaN; NaN if there are none."""
@overload
def nanmean(input: Tensor, *, axis: _int | Sequence[_int] | None, keepdims: _bool = False, dtype: _Dtype | None = None, out: Any = None) -> Tensor: ...
def quantile(input: Tensor, q: Any, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Any = None) -> Tensor:
    """q-th quantiles along a dimension, or of all elements if dim is None; NaN if an element is NaN."""
def nanquantile(input: Tensor, q: Any, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Any = None) -> Tensor:
    """`quantile` of the elements that are not NaN. Derivative: as quantile."""
@overload
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Any = None) -> return_types.mode:
    """Most frequent element along a dimension and the index of its last occurrence: a named tuple (values, indices)."""
@overload
def mode(input: Tensor, *, axis: _int, keepdims: _bool = False, out: Any = None) -> return_types.mode: ...
def histc(input: Tensor, bins: _int = 100, min: _Operand | None = 0, max: _Operand | None = 0, *, out: Any = None) -> Tensor:
    """Histogram: count the elements in each of `bins` equal intervals from min to max. Not differentiable."""
def histogram(input: Tensor, bins: _int = 100, *, range: Any = None, weight: Tensor | None = None, density: _bool = False, out: Any = None) -> return_types.histogram:
    """Histogram: count the elements in each interval, or sum their weights; a named tuple (hist, bin_edges)."""
def cov(input: Tensor, *, correction: _Number | None = 1, fweights: Any = None, aweights: Any = None, out: Any = None) -> Tensor:
    """Covariance matrix of n variables with m observations each."""
def corrcoef(input: Tensor, *, out: Any = None) -> Tensor:
    """Correlation coefficients: covariances divided by the standard deviations, clamped to [-1, 1]."""
def dist(input: Tensor, other: _Operand, p: _float = 2, *, out: Any = None) -> Tensor:
    """p-norm of input - other, shapes that broadcast. Derivative: as `norm`; 0 where input equals other."""
def renorm(input: Tensor, p: _float, dim: _int, maxnorm: Any, *, out: Any = None) -> Tensor:
    """Scale each slice of input along dim whose p-norm is above maxnorm down to maxnorm."""
def frexp(input: Tensor, *, out: Any = None) -> return_types.frexp:
    """Named tuple (mantissa, exponent) with input = mantissa * 2**exponent and 1/2 <= |mantissa| < 1."""
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: _bool = False) -> return_types.histogramdd:
    """Number of points in each box of a grid, or the sum of their weights, as a named tuple (hist, bin_edges)."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv1d in its input, plus bias."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv2d in its input, plus bias."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv3d in its input, plus bias."""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: _int | Sequence[_int], padding: _int | Sequence[_int], dilation: _int | Sequence[_int], transposed: Any, output_padding: _int | Sequence[_int], groups: _int, *, out: Any = None) -> Tensor:
    """Convolution, or transposed convolution if `transposed`, in input.ndim - 2 dimensions. Parameters as in `conv2d`."""
def avg_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, *, out: Any = None) -> Tensor:
    """Average pooling: the mean of each window."""
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `max_pool1d` with return_indices=True."""
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, out: Any = None) -> Tensor:
    """Adaptive pooling: the mean of each of output_size regions that cover the input."""
def batch_norm(input: Tensor, weight: Tensor, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: Any, *, out: Any = None) -> Tensor:
    """`nn.functional.batch_norm` with its arguments in the order of torch.batch_norm."""
def group_norm(input: Tensor, num_groups: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enabled: _bool = True, *, out: Any = None) -> Tensor:
    """Group normalisation: (input - mean) / sqrt(variance + eps) * weight + bias, over each group of channels of an item."""
def instance_norm(input: Tensor, weight: Tensor, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: Any, momentum: _float, eps: _float, cudnn_enabled: Any, *, out: Any = None) -> Tensor:
    """`nn.functional.instance_norm` with its arguments in the order of torch.instance_norm."""
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: _Operand = 0, *, out: Tensor | None = None) -> Tensor:
    """Pad x with a constant."""
def pixel_shuffle(input: Tensor, upscale_factor: Any, *, out: Tensor | None = None) -> Tensor:
    """Rearrange (..., c * r * r, h, w) to (..., c, h * r, w * r), where r is upscale_factor."""
def pixel_unshuffle(input: Tensor, downscale_factor: Any, *, out: Tensor | None = None) -> Tensor:
    """Rearrange (..., c, h * r, w * r) to (..., c * r * r, h, w), where r is downscale_factor: inverse of `pixel_shuffle`."""
def channel_shuffle(input: Tensor, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Interleave the groups of channels of x: the first channel of each group, then the second of each, and so on."""
def grid_sampler(input: Tensor, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any, *, out: Any = None) -> Tensor:
    """`nn.functional.grid_sample` with numbers for the modes."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False, *, out: Any = None) -> Tensor:
    """p-norm of x1 - x2 + eps over the last dimension. x1, x2: floating, shapes that broadcast."""
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary', *, out: Any = None) -> Tensor:
    """p-norms of the differences between all rows of x1, (..., n, m), and of x2, (..., k, m): (..., n, k)."""
def pdist(input: Tensor, p: _float = 2.0, *, out: Any = None) -> Tensor:
    """p-norms of the differences between all pairs of rows of input, (n, m), as a vector."""
def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set each element with probability p to the limit of `selu` at minus infinity, then scale and shift all elements."""
def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """`alpha_dropout` of whole channels. input: (n, channels, ...)."""
def multinomial(input: Tensor, num_samples: Any, replacement: _bool = False, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Draw num_samples indices, as int64, with probabilities proportional to the weights in each row of input."""
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw from Poisson distributions with the rates in input, in input's dtype. The sample has no history."""
def binomial(count: Tensor, prob: Any, generator: Generator | None = None) -> Tensor:
    """Draw from binomial distributions: the number of successes in count trials of probability prob."""
def _standard_gamma(input: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Draw from gamma distributions of shape parameter x and scale 1. x: floating, >= 0."""
def _standard_gamma_grad(x: Tensor, y: Any, *, out: Any = None) -> Tensor:
    """Derivative, in the shape parameter x, of a sample y of a gamma distribution with its quantile held fixed."""
def _sample_dirichlet(input: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Draw from Dirichlet distributions with concentrations x along the last dimension; each sample sums to 1."""
def _dirichlet_grad(x: Tensor, alpha: _Number, total: Any, *, out: Any = None) -> Tensor:
    """Derivative of an element x of a Dirichlet sample in its concentration alpha, quantile held fixed, divided by 1 - x."""
def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Randomised leaky ReLU: input where input > 0, else input times a slope."""
class FloatTensor(Tensor): ...
class DoubleTensor(Tensor): ...
class HalfTensor(Tensor): ...
class LongTensor(Tensor): ...
class IntTensor(Tensor): ...
class ShortTensor(Tensor): ...
class CharTensor(Tensor): ...
class ByteTensor(Tensor): ...
class BoolTensor(Tensor): ...
class BFloat16Tensor(Tensor): ...
def subtract(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools."""
def multiply(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """x * y, with broadcasting. x, y: tensors or numbers of any dtype."""
def divide(input: Tensor, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
def true_divide(input: Tensor, other: _Operand, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype."""
def negative(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Negative of each element, -x. Raises RuntimeError for bool x."""
def absolute(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Absolute value of each element; the real magnitude for complex x."""
def arcsin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
def arccos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
def arctan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
def arcsinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
def arccosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
def arctanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
def fix(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Round x towards zero, in x's dtype."""
def clip(input: Tensor, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """input clipped to [min, max], with broadcasting; max where min > max."""
def not_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
def less(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
def less_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
def greater(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
def greater_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
def moveaxis(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int], *, out: Any = None) -> Tensor:
    """View of input with dimensions `source` moved to `destination`; the others keep their order."""
@overload
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Concatenate a sequence of tensors along a dimension, in their promoted dtype."""
@overload
def concat(tensors: Sequence[Tensor], *, axis: _int, out: Tensor | None = None) -> Tensor: ...
@overload
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Concatenate a sequence of tensors along a dimension, in their promoted dtype."""
@overload
def concatenate(tensors: Sequence[Tensor], *, axis: _int, out: Tensor | None = None) -> Tensor: ...
def row_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Concatenate tensors along dimension 0. 0-d tensors and vectors count as rows."""
def ger(input: Tensor, vec2: Any, *, out: Any = None) -> Tensor:
    """Outer product: result[i, j] = input[i] * vec2[j]. input: (n), vec2: (m), of any dtypes; returns (n, m)."""
def arctan2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi."""
def abs_(input: Tensor) -> Tensor:
    """Absolute value of each element; the real magnitude for complex x."""
def acos_(input: Tensor) -> Tensor:
    """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
def acosh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    """beta * x + alpha * (mat @ vec). mat: (n, k), vec: (k); x broadcasts to the result, (n). All of one dtype."""
def alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor:
    """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1."""
def arccosh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1."""
def arcsin_(input: Tensor) -> Tensor:
    """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
def arcsinh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
def arctan_(input: Tensor) -> Tensor:
    """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
def arctanh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
def as_strided_(input: Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: Any = None) -> Tensor:
    """In-place form of as_strided: turn this tensor into a view of its memory and return it."""
def asin_(input: Tensor) -> Tensor:
    """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1."""
def asinh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
def atan_(input: Tensor) -> Tensor:
    """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x."""
def atanh_(input: Tensor) -> Tensor:
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1."""
def ceil_(input: Tensor) -> Tensor:
    """Smallest integer >= x, in x's dtype."""
def celu_(input: Tensor, alpha: _Number = 1.0) -> Tensor: ...
def clamp_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """In-place form of clamp."""
def clamp_max_(input: Tensor, max: _Operand) -> Tensor:
    """min(x, max), element by element, with broadcasting. max: a number or a tensor."""
def clamp_min_(input: Tensor, min: _Operand) -> Tensor:
    """max(x, min), element by element, with broadcasting. min: a number or a tensor."""
def clip_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """In-place form of clamp."""
def conj_physical_(input: Tensor) -> Tensor:
    """Complex conjugate of x. A real x is copied."""
def cos_(input: Tensor) -> Tensor:
    """Cosine of x in radians."""
def cosh_(input: Tensor) -> Tensor:
    """Hyperbolic cosine of x."""
def deg2rad_(input: Tensor) -> Tensor:
    """Convert degrees to radians."""
def erf_(input: Tensor) -> Tensor:
    """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
def erfc_(input: Tensor) -> Tensor:
    """Complementary error function, 1 - erf(x), accurate where it is tiny too."""
def exp2_(input: Tensor) -> Tensor:
    """Power of two, 2**x."""
def exp_(input: Tensor) -> Tensor:
    """Exponential of each element, e**x."""
def expm1_(input: Tensor) -> Tensor:
    """e**x - 1, accurate near x = 0 too."""
def feature_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor: ...
def fill_(input: Tensor, value: _Operand) -> Tensor:
    """Write value, a number or a 0-d tensor, into every element of this tensor, and return the tensor."""
def fix_(input: Tensor) -> Tensor:
    """Round x towards zero, in x's dtype."""
def floor_(input: Tensor) -> Tensor:
    """Largest integer <= x, in x's dtype."""
def frac_(input: Tensor) -> Tensor:
    """Fractional part x - trunc(x), with the sign of x. Raises RuntimeError for integers and bools."""
def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """Greatest common divisor. x, y: integers, else RuntimeError."""
def i0_(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind and order 0."""
def index_put_(input: Tensor, indices: Any, values: Any, accumulate: _bool = False) -> Tensor:
    """In-place form of index_put."""
def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """Least common multiple. x, y: integers, else RuntimeError."""
def ldexp_(input: Tensor, other: _Operand) -> Tensor:
    """x * 2**y, with broadcasting."""
def log10_(input: Tensor) -> Tensor:
    """Logarithm to base 10; -inf at 0, NaN for negative real x."""
def log1p_(input: Tensor) -> Tensor:
    """log(1 + x), accurate near x = 0 too."""
def log2_(input: Tensor) -> Tensor:
    """Logarithm to base 2; -inf at 0, NaN for negative real x."""
def log_(input: Tensor) -> Tensor:
    """Natural logarithm; -inf at 0, NaN for negative real x."""
def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None."""
def nan_to_num_(input: Tensor, nan: _float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Replace NaN by nan, inf by posinf and -inf by neginf; in a complex x in each part."""
def neg_(input: Tensor) -> Tensor:
    """Negative of each element, -x. Raises RuntimeError for bool x."""
def negative_(input: Tensor) -> Tensor:
    """Negative of each element, -x. Raises RuntimeError for bool x."""
def rad2deg_(input: Tensor) -> Tensor:
    """Convert radians to degrees."""
def reciprocal_(input: Tensor) -> Tensor:
    """Reciprocal of each element, 1 / x."""
def relu_(input: Tensor) -> Tensor:
    """Rectified linear unit: x where x > 0, else 0; NaN stays NaN."""
def resize_as_(input: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """Change the shape of the tensor in place to that of the_template; see resize_."""
def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals."""
def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor: ...
def rsqrt_(input: Tensor) -> Tensor:
    """Reciprocal square root, 1 / sqrt(x); inf at 0."""
def selu_(input: Tensor) -> Tensor: ...
def sigmoid_(input: Tensor) -> Tensor:
    """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x."""
def sin_(input: Tensor) -> Tensor:
    """Sine of x in radians."""
def sinc_(input: Tensor) -> Tensor:
    """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0."""
def sinh_(input: Tensor) -> Tensor:
    """Hyperbolic sine of x."""
def sqrt_(input: Tensor) -> Tensor:
    """Square root of each element; NaN for negative real x."""
def square_(input: Tensor) -> Tensor:
    """Square of each element, x * x; bools become int64."""
def tan_(input: Tensor) -> Tensor:
    """Tangent of x in radians."""
def tanh_(input: Tensor) -> Tensor:
    """Hyperbolic tangent of x."""
def threshold_(input: Tensor, threshold: Any, value: _Operand) -> Tensor: ...
def trunc_(input: Tensor) -> Tensor:
    """Round x towards zero, in x's dtype."""
def xlogy_(input: Tensor, other: _Operand) -> Tensor:
    """x * log(y); 0 where x is 0 and y is not NaN."""
def zero_(input: Tensor) -> Tensor:
    """Write 0 into every element of this tensor, and return the tensor."""

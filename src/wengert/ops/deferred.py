"""Arrays on devices that wait to be computed, so that a forward or a rule starts few kernels.

A forward of several functions, run as it stands, starts a kernel for each. Here it gets a backend whose arrays are Deferred: a
function of elements only extends an expression of ops/fuse.py. The expression is computed, by one kernel, where something else
needs the array: a view, a product, the end of the forward. A sum of an expression is one kernel, too. Kernels are kept by the
form of their expression, and numbers are operands, so that a layer compiles its kernels once.

An expression that two kernels need is computed in both: arithmetic costs less than a pass over memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import count
from threading import local
from typing import Any

import numpy as np

from wengert.backends import selection
from wengert.backends.kernels import Kernel
from wengert.core.buffers import ReadCotangent
from wengert.core.trace import UntraceableError, Value, in_order
from wengert.ops import fuse
from wengert.ops.expressions import make_kernel

MAX_OPERANDS, MAX_VALUES = 12, 40  # of an expression
_DTYPES = frozenset(map(np.dtype, ("float16", "float32", "float64")))
_BOOL = np.dtype(np.bool_)
_PLAIN_NUMBERS = frozenset({0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0})  # part of a form; others are operands
_ELEMENTWISE = fuse.elementwise_functions()
_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "and": "bitwise_and", "or": "bitwise_or",
}  # fmt: skip
_SIGNS = {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}
_OTHER_OPERATORS = ("floordiv", "mod", "matmul", "xor", "lshift", "rshift")

_names = count()  # of the inputs of expressions
_kernels: dict[Any, Kernel] = {}  # by the form of the expression
_thread = local()  # .pending: arrays of the running forward that are not computed


class Deferred:
    """An array of a backend, or an expression of arrays.

    array: the array, None as long as it is not computed. value: the expression, None if none was asked for yet. number_dtype: the
    dtype of the numbers of the expression, which for a condition is not its own dtype. is_own: whether no view of the array can
    exist, so that it need not be written in place. made: the function and the inputs of a condition and of a number, which have
    no kernel. is_number: whether it is a number. size_of_value: (operands, values) of the expression, at most."""

    __slots__ = ("array", "dtype", "is_number", "is_own", "made", "number_dtype", "shape", "size_of_value", "value", "xp")

    def __init__(self, xp: Any, array: Any = None, is_own: bool = False) -> None:
        self.xp, self.array, self.is_own, self.is_number = xp, array, is_own, False
        self.value: Any = None
        self.made: Any = None
        if array is not None:
            self.shape, self.dtype, self.number_dtype = array.shape, array.dtype, array.dtype
            self.size_of_value = 1, 1

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)

    @property
    def real(self) -> Any:
        return self if self.dtype.kind != "c" else self.xp.lifted(self.computed().real, False)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an array on a device meets NumPy")

    __array_ufunc__ = None

    def expression(self) -> Value:
        """Return the expression: an input, if the array is computed."""
        if self.value is None:
            self.value = _input(self.array)
        found: Value = self.value
        return found

    def computed(self) -> Any:
        """Return the array. Compute it if that was not done."""
        if self.array is None:
            if self.made is not None:
                function, inputs = self.made
                self.array = getattr(self.xp.backend, function)(*_plain(inputs))
            else:
                self.array = _run(self.xp.backend, self.value, self.number_dtype)
            self.value, self.made, self.is_own, self.size_of_value, self.is_number = None, None, True, (1, 1), False
        return self.array

    def become(self, other: Deferred) -> None:
        """Take the content of another one, which may be made of this one."""
        if other.made is not None and any(x is self for x in other.made[1]):
            before = Deferred(self.xp)
            before.become(self)
            other.made = other.made[0], tuple([before if x is self else x for x in other.made[1]])
        for name in Deferred.__slots__:
            setattr(self, name, getattr(other, name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.computed(), name)
        self.is_own = False
        return self.xp.wrapped(found) if callable(found) else self.xp.lifted(found, False)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return self.xp.sum(self, axis, dtype, out, keepdims)

    def reshape(self, *shape: Any) -> Any:
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if wanted == self.shape and self.array is None:
            return self
        found = self.computed().reshape(wanted)
        self.is_own = False
        return self.xp.lifted(found, False)

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Any:
        if np.dtype(dtype) == self.dtype and (not copy or self.array is None):
            return self
        return self.xp.lifted(self.computed().astype(dtype), True)

    def __getitem__(self, key: Any) -> Any:
        found = self.computed()
        self.is_own = False
        return self.xp.lifted(found[_plain(key)], False)

    def __setitem__(self, key: Any, value: Any) -> None:
        value = _plain(value)
        compute_pending()
        self.computed()[_plain(key)] = value
        self.value = None

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __bool__(self) -> bool:
        return bool(self.computed())

    def __int__(self) -> int:
        return int(self.computed())

    def __index__(self) -> int:
        return operator.index(self.computed())

    def __float__(self) -> float:
        return float(self.computed())

    __hash__ = object.__hash__


def _operator(function: str, method: str) -> Callable[..., Any]:
    def run(self: Deferred, *others: Any) -> Any:
        return self.xp.apply(function, (*others, self) if method.startswith("__r") else (self, *others), method)

    return run


def _operator_in_place(function: str, method: str) -> Callable[..., Any]:
    def run(self: Deferred, other: Any) -> Any:
        if self.array is None or self.is_own:
            found = self.xp.apply(function, (self, other), f"__{method}__") if function else NotImplemented
            if type(found) is Deferred and found.dtype == self.dtype and found.shape == self.shape:
                self.become(found)
                return self
        other = _plain(other)
        compute_pending()
        self.array = getattr(operator, f"i{method}")(self.computed(), other)
        self.value = None
        return self

    return run


for _method in (*_OPERATORS, *_OTHER_OPERATORS):
    _function = _OPERATORS.get(_method, "")
    for _prefix in ("", "r"):
        if _method not in ("lt", "le", "gt", "ge", "eq", "ne") or not _prefix:
            setattr(Deferred, f"__{_prefix}{_method}__", _operator(_function, f"__{_prefix}{_method}__"))
    setattr(Deferred, f"__i{_method}__", _operator_in_place(_function, _method))
for _method, _function in _SIGNS.items():
    setattr(Deferred, f"__{_method}__", _operator(_function, f"__{_method}__"))


class DeferringBackend:
    """A backend whose arrays are Deferred ones of another backend."""

    ndarray = Deferred

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.name = backend.name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.backend, name)
        if name in _ELEMENTWISE:
            result: Any = _Function(self, name, found)
        elif name in ("lib", "linalg", "fft"):
            result = _Part(self, found)
        elif isinstance(found, type) or not callable(found):
            return found
        else:
            result = self.wrapped(found)
        setattr(self, name, result)
        return result

    def current(self, index: int) -> Any:
        return self.backend.current(index)

    def lifted(self, x: Any, is_own: bool) -> Any:
        """Return a result of the backend with Deferred in place of its arrays."""
        if type(x) is self.backend.ndarray:
            return Deferred(self, x, is_own)
        if isinstance(x, (tuple, list)):
            parts = [self.lifted(y, False) for y in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        return x

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the backend as one of Deferred arrays, which are computed before."""

        def run(*args: Any, out: Any = None, **settings: Any) -> Any:
            for x in args:
                if type(x) is Deferred:
                    x.is_own = False
            given, named = _plain(args), {name: _plain(x) for name, x in settings.items()}
            if out is None:
                return self.lifted(function(*given, **named), False)
            compute_pending()
            function(*given, out=_plain(out), **named)
            return out

        return run

    def apply(self, function: str, inputs: Sequence[Any], method: str = "") -> Any:
        """Return a function of elements of the inputs. method: Python's operator that asks for it."""
        found = self._expression(function, inputs) if function else None
        if found is not None:
            return found
        given = _plain(tuple(inputs))
        if method.startswith("__r") and method not in ("__rshift__",):
            method = f"__{method[3:]}"
        if method:
            return self.lifted(getattr(operator, method)(*given), True)
        return self.lifted(getattr(self.backend, function)(*given), True)

    def _expression(self, function: str, inputs: Sequence[Any]) -> Deferred | None:
        """Return a function of elements as an expression; None if it has no such form."""
        inputs = [Deferred(self, x) if type(x) is self.backend.ndarray else x for x in inputs]
        arrays = [x for x in inputs if type(x) is Deferred]
        number_dtype = arrays[0].number_dtype if arrays else None
        for x in inputs:
            is_array = type(x) is Deferred and x.number_dtype == number_dtype and x.number_dtype in _DTYPES and x.size
            is_number = type(x) in (int, float, bool) or (isinstance(x, np.floating) and x.dtype == number_dtype)
            if not is_array and not is_number:
                return None
        if not arrays or all(x.is_number for x in arrays):
            return None
        try:
            shape = np.broadcast_shapes(*[x.shape for x in arrays])
            value = self._value(function, inputs)
        except (UntraceableError, ValueError):  # ValueError: the backend says what is wrong with the shapes
            return None
        if type(value) is not Value:
            return None
        operands, values = (sum(sizes) + len(inputs) for sizes in zip(*[x.size_of_value for x in arrays], strict=True))
        if operands > MAX_OPERANDS or values > MAX_VALUES:  # counted with those that two inputs have in common
            form, found = _form_of(value)
            operands, values = len(found), len(form)
        if operands > MAX_OPERANDS or values > MAX_VALUES:
            if any(x.computed().dtype != number_dtype for x in arrays):
                return None  # a condition, which has no kernel
            operands, values, value = len(inputs), len(inputs), self._value(function, inputs)
        result = Deferred(self)
        result.value, result.number_dtype, result.shape = value, number_dtype, shape
        result.size_of_value = operands, values
        result.dtype = number_dtype
        if fuse.is_condition(value):
            result.dtype, result.made = _BOOL, (function, tuple(inputs))
        _thread.pending.append(result)
        return result

    def _value(self, function: str, inputs: Sequence[Any]) -> Any:
        """Return a function of elements of Deferred arrays and numbers as an expression."""
        given = [x.expression() if type(x) is Deferred else _number(x, function) for x in inputs]
        return fuse.scalar_function(function, given)

    def sum(self, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return a sum. That of an expression is one kernel."""
        is_expression = type(x) is Deferred and x.array is None and x.made is None  # conditions and numbers have no kernel
        given = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = tuple([i % max(1, x.ndim) for i in given])
        if not is_expression or not axes or out is not None or dtype not in (None, x.dtype):
            return self.wrapped(self.backend.sum)(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
        total = _run(self.backend, x.value, x.number_dtype, axes)
        if keepdims:
            total = total.reshape(tuple([1 if i in axes else n for i, n in enumerate(x.shape)]))
        return Deferred(self, total, True)

    def dot(self, x: Any, y: Any) -> Any:
        """Return a product. That of two vectors of which one is an expression is one kernel."""
        vectors = type(x) is type(y) is Deferred and x.ndim == y.ndim == 1 and (x.array is None or y.array is None)
        if vectors and x.dtype == y.dtype and (found := self._expression("multiply", (x, y))) is not None:
            return self.sum(found)
        return self.wrapped(self.backend.dot)(x, y)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if type(x) is Deferred and dtype in (None, x.dtype):
            return x
        if isinstance(x, (int, float, np.integer, np.floating)) and dtype in _DTYPES:
            found = Deferred(self)
            found.shape, found.dtype, found.number_dtype, found.size_of_value = (), np.dtype(dtype), np.dtype(dtype), (1, 1)
            found.value, found.made, found.is_number = _input(float(x)), ("asarray", (float(x), dtype)), True
            return found
        return self.lifted(self.backend.asarray(_plain(x), dtype), False)

    def ascontiguousarray(self, x: Any) -> Any:
        return x if type(x) is Deferred and x.array is None else self.wrapped(self.backend.ascontiguousarray)(x)

    def copyto(self, target: Any, value: Any, where: Any = True) -> None:
        if type(target) is Deferred and target.array is None and where is not True:
            found = self._expression("where", (where, value, target))
            if found is not None and found.shape == target.shape:
                target.become(found)
                return
        value, where = _plain(value), _plain(where)
        compute_pending()
        self.backend.copyto(_plain(target), value, where=where)
        if type(target) is Deferred:
            target.value = None

    def cast(self, x: Any, dtype: Any) -> Any:
        return x if type(x) is Deferred and x.dtype == dtype and x.array is None else self.wrapped(self.backend.cast)(x, dtype)


class _Function:
    """A function of elements of the backend, and its methods, such as reduce."""

    def __init__(self, xp: DeferringBackend, name: str, found: Any) -> None:
        self._xp, self._name, self._found = xp, name, found

    def __call__(self, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        if settings:
            return self._xp.wrapped(self._found)(*inputs, out=out, **settings)
        if out is None:
            return self._xp.apply(self._name, inputs)
        target = out[0] if isinstance(out, tuple) else out
        if type(target) is Deferred and (target.array is None or target.is_own):
            found = self._xp._expression(self._name, inputs)
            if found is not None and found.shape == target.shape and found.dtype == target.dtype:
                target.become(found)
                return target
        self._xp.wrapped(self._found)(*inputs, out=target)
        if type(target) is Deferred:
            target.value = None
        return target

    def reduce(self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        if self._name == "add":
            return self._xp.sum(x, axis, dtype, out, keepdims)
        settings = {} if dtype is None else {"dtype": dtype}
        return self._xp.wrapped(self._found.reduce)(x, axis=axis, out=out, keepdims=keepdims, **settings)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._found, name)
        return self._xp.wrapped(found) if callable(found) else found


class _Part:
    """A module of the backend, such as linalg."""

    def __init__(self, xp: DeferringBackend, module: Any) -> None:
        self._xp, self._module = xp, module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return self._xp.wrapped(found) if callable(found) else _Part(self._xp, found)


def _input(operand: Any) -> Value:
    """Return an input of expressions for an array or a number."""
    found: Value = fuse.new_input(next(_names))
    found.params = {"operand": operand}
    return found


def _number(x: float, function: str) -> Any:
    """Return a number as a part of the expression if it is common or decides its form, else as an input."""
    x = float(x)
    return x if function == "power" or x in _PLAIN_NUMBERS or x - x != 0.0 else _input(x)


def _plain(x: Any) -> Any:
    """Return arguments with computed arrays in place of Deferred ones."""
    if type(x) is Deferred:
        return x.computed()
    if isinstance(x, (tuple, list)):
        parts = [_plain(y) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if type(x) is ReadCotangent:
        return ReadCotangent(_plain(x.value), _plain(x.index), x.repeats)
    return x


def compute_pending() -> None:
    """Compute all expressions of the running forward, before an array that they may read is written."""
    pending, _thread.pending = _thread.pending, []
    for x in pending:
        if x.array is None and x.value is not None:
            x.computed()


def _run(backend: Any, value: Value, dtype: Any, axes: tuple[int, ...] | None = None) -> Any:
    """Return the array of an expression, or its sum over axes."""
    form, operands = _form_of(value)
    function, *inputs = form[-1]
    if axes is None and len(form) == len(operands) + 1 and function in _ELEMENTWISE and all(type(x) is int for x in inputs):
        return getattr(backend, function)(*[operands[form[x][1]] for x in inputs])
    kernel = _kernels.get(form)
    if kernel is None:
        kernel = _kernels[form] = _kernel_of(form)
    if axes is None:
        return backend.run_kernel(kernel, operands, dtype)[0]
    return backend.run_sum(kernel, operands, dtype, axes)


def _form_of(value: Value) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the form of an expression, which says nothing of its operands, and the operands.

    A form lists the values: (None, number of the operand), or (function, *inputs). An input is the number of a value, or the text
    of a constant."""
    places: dict[Any, int] = {}  # of the entries of the form
    numbers: dict[Value, int] = {}  # of the values of the expression
    operands: dict[Any, tuple[int, Any]] = {}
    for v in in_order([value]):
        if v.function is None:
            x = v.params["operand"]
            key = id(x) if type(x) is not float else v
            entry: tuple[Any, ...] = None, operands.setdefault(key, (len(operands), x))[0]
        else:
            entry = v.function, *[numbers[x] if type(x) is Value else repr(x) for x in v.inputs]
        numbers[v] = places.setdefault(entry, len(places))
    return tuple(places), [x for _, x in operands.values()]


def _kernel_of(form: tuple[tuple[Any, ...], ...]) -> Kernel:
    """Return the kernel of a form."""
    values: list[Value] = []
    for function, *inputs in form:
        if function is None:
            values.append(fuse.new_input(inputs[0]))
        else:
            values.append(fuse.new_scalar(function, [values[x] if type(x) is int else float(x) for x in inputs]))
    names = [v.name for v in values if v.function is None]
    return make_kernel("fused", values, [values[-1]], names)


# -- running forwards and rules ----------------------------------------------------------------------------------------

_backends: dict[Any, DeferringBackend] = {}


def deferring(backend: Any) -> DeferringBackend:
    """Return the backend of Deferred arrays of a backend."""
    found = _backends.get(backend)
    if found is None:
        found = _backends[backend] = DeferringBackend(backend)
    selection.others[Deferred] = found
    return found


def run(xp: DeferringBackend, function: Callable[..., Any], face: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
    """Return function(face, *inputs, **params), a forward on xp or a rule on a face of xp, run on Deferred arrays."""
    before, _thread.pending = getattr(_thread, "pending", None), []
    try:
        given = {name: xp.lifted(x, False) for name, x in params.items()}
        return _plain(function(face, *[xp.lifted(x, False) for x in inputs], **given))
    finally:
        _thread.pending = before


def run_formula(backend: Any, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Return function(*arrays), a formula of elements, computed by one kernel."""
    xp = deferring(backend)
    return run(xp, lambda _, *given: function(*given), None, arrays, {})

"""NumPy's functions and ufuncs on arrays with a history.

Note [How a function runs]
If an argument is differentiated, or the function makes a view, the table that also serves NumPy's own functions on tensors runs it
(array_functions/ and array_protocol.py), on operands that are cast as NumPy casts them. Everything else runs in NumPy itself, on
the memory of the arrays. So values, dtypes and errors are NumPy's, and there is no second implementation of anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.array_functions import FUNCTIONS, PLAIN
from wengert.array_functions.table import detached, rebuilt
from wengert.array_protocol import UFUNCS, run_function, run_ufunc
from wengert.core.leaving import has_tangent
from wengert.core.modes import DUAL, flags
from wengert.core.tensor import TensorBase
from wengert.core.views import bump
from wengert.numpy.holding import Holder, unwrap, wrapped

# Functions that return views, or may: only the table's views pass writes on to the history of their base.
VIEWS = {
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.broadcast_to, np.diagonal, np.expand_dims, np.flip,
    np.fliplr, np.flipud, np.linalg.diagonal, np.linalg.matrix_transpose, np.matrix_transpose, np.moveaxis, np.permute_dims,
    np.ravel, np.reshape, np.rollaxis, np.rot90, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.squeeze,
    np.imag, np.real, np.swapaxes, np.transpose, np.unstack,
}  # fmt: skip
# Functions that write into their first argument.
WRITES = {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
# Functions that call a function of the user, which gets and returns arrays as the user has them.
_CALLERS = {np.apply_along_axis, np.apply_over_axes, np.piecewise}
_WIDE = frozenset("dD")
_FLOATS = frozenset("df")


def is_differentiated(tensors: list[Any]) -> bool:
    """Whether one of the tensors requires grad or has a tangent."""
    for x in tensors:  # noqa: SIM110 - a generator takes twice as long
        if x.requires_grad or has_tangent(x):
            return True
    return False


@cache
def _names_up_to_out(function: Any) -> list[str]:
    """Return the names of the arguments of a function as far as out, if it may be given by place, else nothing."""
    from inspect import signature

    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # a builtin function that tells no signature
        return []
    names = [x.name for x in parameters if x.kind is x.POSITIONAL_OR_KEYWORD]
    return names[: names.index("out") + 1] if "out" in names else []


def run(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of NumPy. See Note [How a function runs]. Raises RuntimeError where a gradient would be lost."""
    if len(args) > 2:
        names = _names_up_to_out(function)
        if names and len(args) == len(names):
            args, kwargs = args[:-1], {"out": args[-1], **kwargs}
    found: list[Any] = []
    given = tuple([unwrap(x, found) for x in args])
    settings = {name: unwrap(x, found) for name, x in kwargs.items()}
    if function in _CALLERS:
        given = tuple([_inner(x) if callable(x) else x for x in given])
    if function not in PLAIN and found:
        try:
            if is_differentiated(found):
                return _differentiated(function, given, settings, found, kwargs.get("out"))
            if function in VIEWS and given and isinstance(given[0], TensorBase):
                return wrapped(FUNCTIONS[function](*given, **settings))
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            _raise_as_numpy(function, given, settings, error)
            raise
    return _plain(function, given, settings, kwargs.get("out"), found)


def _raise_as_numpy(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> None:
    """Raise NumPy's error for a call that failed, if NumPy refuses it too."""
    refused = isinstance(error, (errors.ConversionError, errors.ArgumentError, errors.InplaceError))
    if refused or function in _CALLERS | WRITES or kwargs.get("out") is not None or getattr(function, "__name__", "") == "at":
        return
    try:
        with np.errstate(all="ignore"):
            function(*detached(args), **{name: detached(x) for name, x in kwargs.items()})
    except (LookupError, TypeError, ValueError) as theirs:
        raise theirs from error


def _plain(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, tensors: list[Any]) -> Any:
    """Call a function of NumPy on the memory of tensors."""
    targets = targets_of(kwargs.get("out"))
    if function in WRITES and args and isinstance(args[0], TensorBase):
        targets = [args[0]]
        args = (memory_to_write(args[0]), *args[1:])
    settings = {name: _for_writing(x) if name == "out" else detached(x) for name, x in kwargs.items()}
    result = function(*[detached(x) for x in args], **settings)
    for x in targets:
        bump(x)
    return wrapped(with_views(result, tensors)) if out is None else out


def with_views(result: Any, tensors: list[Any]) -> Any:
    """Return a result with a view of the tensor in place of each array on the tensor's memory, so that writes into it are recorded.

    Where the tensor has no such view, such as one of another dtype, the array is read-only.
    """
    if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
        return type(result)([with_views(x, tensors) for x in result])
    if type(result) is not np.ndarray or result.size == 0:
        return result
    for tensor in tensors:
        array = tensor._array
        if result is array:
            return tensor
        if result.base is None or not np.may_share_memory(result, array):
            continue
        steps = [divmod(step, array.itemsize) for step in result.strides]
        if result.dtype != array.dtype or any(rest or step < 0 for step, rest in steps):
            result = result.view()
            result.flags.writeable = False
            return result
        distance = result.__array_interface__["data"][0] - array.__array_interface__["data"][0]
        offset = tensor.storage_offset() + distance // array.itemsize
        return tensor.as_strided(result.shape, [step for step, _ in steps], offset)
    return result


def memory_to_write(tensor: Any) -> np.ndarray:
    """Return the memory of a tensor, to write into. Raises RuntimeError if the tensor requires grad."""
    array: np.ndarray = tensor.numpy()
    return array


def _for_writing(out: Any) -> Any:
    if isinstance(out, tuple):
        return tuple([_for_writing(x) for x in out])
    return memory_to_write(out) if isinstance(out, TensorBase) else out


def _alone(out: Any) -> Any:
    """Return the array of a tuple of one array, as which NumPy names it to other libraries."""
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def targets_of(out: Any) -> list[Any]:
    """Return the tensors among the arrays that out= names."""
    return [x for x in (out if isinstance(out, tuple) else (out,)) if isinstance(x, TensorBase)]


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors that calls a function of the user, written for ndarrays."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return unwrap(function(*[wrapped(x) for x in args], **kwargs), [])

    call.__name__ = getattr(function, "__name__", "call")
    return call


# -- functions that are differentiated -------------------------------------------------------------------------------------


def _differentiated(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Any], out: Any) -> Any:
    """Call a function by the table, with the dtypes that NumPy gives."""
    if kwargs.get("dtype") is not None:
        kwargs["dtype"] = np.dtype(kwargs["dtype"])
    dtypes_of_result = None
    if not all(x._array.dtype.char in _WIDE for x in tensors) and function in FUNCTIONS and function not in _CALLERS | WRITES:
        dtypes_of_result = _dtypes_in_numpy(function, args, kwargs)
        args, kwargs = _widened(args, dtypes_of_result), {name: _widened(x, dtypes_of_result) for name, x in kwargs.items()}
    result = run_function(function, args, kwargs)
    return wrapped(_cast(result, dtypes_of_result)) if out is None else out


_known: dict[Any, Any] = {}


def _signature(x: Any) -> Any:
    """Return what the dtypes of a result follow from: the dtypes and the numbers of dimensions of arrays, the types of others."""
    if isinstance(x, TensorBase):
        return x._array.dtype, x._array.ndim
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype, x.ndim
    if isinstance(x, (list, tuple)):
        return type(x), *[_signature(item) for item in x]
    return (type(x), x) if isinstance(x, (bool, str, np.dtype, type(None))) else type(x)


def _dtypes_in_numpy(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the dtypes of the results, as a tree. NumPy is asked once for each combination of dtypes of the arguments."""
    key = (function, _signature(args), tuple([(name, _signature(x)) for name, x in kwargs.items()]))
    if key not in _known:
        settings = {name: detached(x) for name, x in kwargs.items() if name != "out"}
        try:
            with np.errstate(all="ignore"):
                _known[key] = _tree(function(*detached(args), **settings))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return None  # the table raises what the caller should see
    return _known[key]


def _tree(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype if x.dtype.kind in "fc" else None
    return tuple([_tree(item) for item in x]) if isinstance(x, (list, tuple)) else None


def _cast(x: Any, wanted: Any) -> Any:
    """Return a result with the dtypes of the tree."""
    if isinstance(x, (list, tuple)) and isinstance(wanted, tuple) and len(x) == len(wanted):
        items = [_cast(item, d) for item, d in zip(x, wanted, strict=True)]
        return rebuilt(x, items)
    if isinstance(x, TensorBase) and isinstance(wanted, np.dtype) and x._array.dtype != wanted and x._array.dtype.kind in "fc":
        tensor: Any = x
        return tensor.to(dtypes.from_numpy_dtype(wanted))
    return x


def _widened(x: Any, wanted: Any) -> Any:
    """Return the floating tensors of an argument with the precision of the result, if it has more than they have."""
    if wanted is None or wanted == ():
        return x
    if isinstance(wanted, tuple):
        return _widened(x, wanted[0])
    if isinstance(x, (list, tuple)):
        items = [_widened(item, wanted) for item in x]
        return rebuilt(x, items)
    if isinstance(x, TensorBase) and x._array.dtype.kind in "fc":
        tensor: Any = x
        return tensor.to(dtypes.from_numpy_dtype(np.result_type(x._array.dtype, np.zeros(0, wanted).real.dtype)))
    return x


# -- ufuncs ------------------------------------------------------------------------------------------------------------


class ufunc:
    """A universal function of NumPy on arrays with a history. It is called, and has the methods and attributes of NumPy's."""

    def __init__(self, function: np.ufunc) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._loops: dict[Any, Any] = {}
        self._operation = UFUNCS.get(function.__name__)
        self._is_pythons = set("".join(function.types)) <= set("O->")  # made by frompyfunc
        self._is_quick = function.signature is None and any(x.startswith("d" * function.nin + "->") for x in function.types)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return as_function, (self.__wrapped__,)

    def __call__(self, *inputs: Any, **settings: Any) -> Any:
        """Call the ufunc, with the settings that NumPy takes: out, where, dtype, casting, order."""
        if self._is_quick and not settings:
            quick = self._of_floats(inputs)
            if quick is not None:
                return quick
        if self.__wrapped__.nin < len(inputs) <= self.__wrapped__.nargs:
            out = inputs[self.__wrapped__.nin :]
            inputs, settings["out"] = inputs[: self.__wrapped__.nin], out[0] if len(out) == 1 else out
        return self._run("__call__", inputs, settings)

    def reduce(self, *inputs: Any, **settings: Any) -> Any:
        """Reduce an array along axes. See numpy.ufunc.reduce."""
        return self._run("reduce", inputs, settings)

    def accumulate(self, *inputs: Any, **settings: Any) -> Any:
        """Return running results along an axis. See numpy.ufunc.accumulate."""
        return self._run("accumulate", inputs, settings)

    def reduceat(self, *inputs: Any, **settings: Any) -> Any:
        """Reduce the slices between indices. See numpy.ufunc.reduceat."""
        return self._run("reduceat", inputs, settings)

    def outer(self, *inputs: Any, **settings: Any) -> Any:
        """Apply the ufunc to all pairs of elements. See numpy.ufunc.outer."""
        return self._run("outer", inputs, settings)

    def at(self, *inputs: Any, **settings: Any) -> None:
        """Apply the ufunc in place, at indices. See numpy.ufunc.at."""
        self._run("at", inputs, settings)

    def _run(self, method: str, inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        found: list[Any] = []
        given = tuple([unwrap(x, found) for x in inputs])
        out = settings.get("out")
        if settings:
            settings = {name: unwrap(x, found) for name, x in settings.items()}
        if found and is_differentiated(found):
            if out is not None:
                settings["out"] = settings["out"] if isinstance(out, tuple) else (settings["out"],)
                targets = targets_of(settings["out"])  # the derivative may need the values before the write
                given = tuple([x.clone() if any(x is t for t in targets) else x for x in given])
            wanted = None
            if method in ("__call__", "outer") and "dtype" not in settings and not self._is_pythons:
                wanted = self.loop(given)
                given = tuple([_as_operand(x, dtype) for x, dtype in zip(given, wanted, strict=False)])
            try:
                result = run_ufunc(self.__wrapped__, method, given, settings)
            except (LookupError, RuntimeError, TypeError, ValueError) as error:
                _raise_as_numpy(getattr(self.__wrapped__, method), given, settings, error)
                raise
            if wanted is not None and out is None:
                result = _cast(result, wanted[self.__wrapped__.nin :] if isinstance(result, tuple) else wanted[-1])
            return wrapped(result) if out is None else _alone(out)
        targets = targets_of(settings.get("out"))
        plain: Any = [detached(x) for x in given]
        if method == "at" and isinstance(given[0], TensorBase):
            targets, plain[0] = [given[0]], memory_to_write(given[0])
        settings = {name: _for_writing(x) if name == "out" else detached(x) for name, x in settings.items()}
        result = getattr(self.__wrapped__, method)(*plain, **settings)
        for x in targets:
            bump(x)
        return wrapped(result) if out is None else _alone(out)

    def _of_floats(self, inputs: tuple[Any, ...]) -> Any:
        """Return the result for ndarrays of one floating dtype, which need no cast. None for other inputs, and after an error."""
        tensors, dtype, recorded = [], None, bool(flags() & DUAL)
        for x in inputs:
            if not isinstance(x, Holder):
                return None
            tensor = x._tensor
            found = tensor._array.dtype
            if found is not dtype and (dtype is not None or found.char not in _FLOATS):
                return None
            tensors.append(tensor)
            dtype, recorded = found, recorded or tensor.requires_grad
        if len(tensors) != self.__wrapped__.nin:
            return None
        if not recorded:
            return wrapped(self.__wrapped__(*[tensor._array for tensor in tensors]))
        if self._operation is None:
            return None
        try:
            return wrapped(self._operation(*tensors))
        except (RuntimeError, TypeError):
            return None

    def loop(self, inputs: tuple[Any, ...]) -> tuple[np.dtype, ...]:
        """Return the dtypes to which NumPy casts these inputs, and those of the results. Raises TypeError if there is no loop."""
        key = tuple([_operand_type(x) for x in inputs])
        if key not in self._loops:
            self._loops[key] = self.__wrapped__.resolve_dtypes((*key, *[None] * self.__wrapped__.nout))
        return self._loops[key]


def _operand_type(x: Any) -> Any:
    """Return the dtype of an operand, or int, float or complex for a Python number."""
    if isinstance(x, TensorBase):
        return x._array.dtype
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    return type(x) if type(x) in (int, float, complex) else np.asarray(detached(x)).dtype


def _as_operand(x: Any, dtype: np.dtype) -> Any:
    """Return an operand in the dtype of the loop. Python numbers stay as they are."""
    if type(x) in (int, float, complex):
        return x
    if isinstance(x, TensorBase):
        tensor: Any = x
        return tensor if x._array.dtype == dtype else tensor.to(dtypes.from_numpy_dtype(dtype))
    return x if isinstance(x, (list, tuple)) else np.asarray(x, dtype)


# -- the functions of a namespace ------------------------------------------------------------------------------------------


@cache
def as_function(function: Any) -> Any:
    """Return a function of NumPy as a function of ndarrays."""
    if isinstance(function, np.ufunc):
        return ufunc(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(function, args, kwargs)

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    call.__module__ = "wengert." + (function.__module__ or "numpy").replace("numpy.", "numpy.", 1)
    call.__wrapped__ = function  # type: ignore[attr-defined]  # inspect.signature shows NumPy's
    return call


# -- functions of Python, element by element -------------------------------------------------------------------------------


def frompyfunc(func: Callable[..., Any], nin: int, nout: int, **identity: Any) -> ufunc:
    """Return a ufunc that calls func for each element. See numpy.frompyfunc.

    Where an argument has a history, func gets ndarrays without dimensions, and the results are ndarrays that are differentiated
    through func. Otherwise func gets Python objects, and the results are NumPy's arrays of objects."""
    return ufunc(np.frompyfunc(_inner(func), nin, nout, **identity))


class vectorize(np.vectorize):
    """A function that calls pyfunc for each element. See numpy.vectorize.

    Where an argument has a history, pyfunc gets ndarrays without dimensions, or those of the signature, and the results are
    differentiated through pyfunc."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return arrays with the values of pyfunc at the broadcast arguments."""
        found: list[Any] = []
        given = [unwrap(x, found) for x in args]
        settings = {name: unwrap(x, found) for name, x in kwargs.items()}
        if self.pyfunc is np._NoValue or not is_differentiated(found):
            result = super().__call__(*map(_read, given), **{name: _read(x) for name, x in settings.items()})
            return result if result is self else wrapped(result)
        places = [i for i in range(len(args)) if i not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]

        def call(*elements: Any) -> Any:
            unnamed = {**dict(enumerate(args)), **dict(zip(places, elements, strict=False))}
            return self.pyfunc(*unnamed.values(), **{**kwargs, **dict(zip(names, elements[len(places) :], strict=True))})

        varying = [*[args[i] for i in places], *[kwargs[name] for name in names]]
        if self.signature is not None:
            return self._call_on_cores(call, varying)
        n = len(self.otypes) if self.otypes else 1
        if not self.otypes:
            first = call(*[_first_element(x) for x in varying])
            n = len(first) if isinstance(first, tuple) else 1
        result = frompyfunc(call, len(varying), n)(*varying)
        if not self.otypes:
            return result
        cast = [x.astype(kind) for x, kind in zip(result if n > 1 else (result,), self.otypes, strict=True)]
        return tuple(cast) if n > 1 else cast[0]


    def _call_on_cores(self, call: Callable[..., Any], varying: list[Any]) -> Any:
        """Call a function on the core dimensions of the signature, and join the results along the others."""
        cores, result_cores = self._in_and_out_core_dims  # type: ignore[attr-defined]  # NumPy's attribute
        if len(cores) != len(varying):
            raise TypeError(f"wrong number of positional arguments: expected {len(cores)}, got {len(varying)}")
        arrays: list[Any] = [x if isinstance(x, Holder) else np.asarray(x) for x in varying]
        sizes: dict[str, int] = {}
        for x, core in zip(arrays, cores, strict=True):
            if x.ndim < len(core):
                raise ValueError(f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {core!r}")
            for name, size in zip(core, x.shape[x.ndim - len(core) :], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(f"inconsistent size for core dimension {name!r}: {size} vs {sizes[name]}")
        outer = np.broadcast_shapes(*[tuple(x.shape[: x.ndim - len(core)]) for x, core in zip(arrays, cores, strict=True)])
        if 0 in outer:
            raise ValueError("cannot call `vectorize` with a signature including new output dimensions on size 0 inputs")
        spread = as_function(np.broadcast_to)
        spreads = [spread(x, outer + tuple(x.shape[x.ndim - len(core) :])) for x, core in zip(arrays, cores, strict=True)]
        rows = []
        for place in np.ndindex(*outer):
            row = call(*[x[place] for x in spreads])
            rows.append(row if len(result_cores) > 1 else (row,))
            if len(rows[-1]) != len(result_cores):
                raise ValueError(f"wrong number of outputs from pyfunc: expected {len(result_cores)}, got {len(rows[-1])}")
        joined = []
        for k, items in enumerate(zip(*rows, strict=True)):
            whole = as_function(np.stack)([x if isinstance(x, Holder) else np.asarray(x) for x in items])
            whole = whole.reshape(outer + tuple(whole.shape[1:]))
            joined.append(whole.astype(self.otypes[k]) if self.otypes else whole)
        return tuple(joined) if len(joined) > 1 else joined[0]


def _read(x: Any) -> Any:
    """Return the memory of a tensor without a history. Anything else is returned as it is: NumPy's question for an array raises."""
    return detached(x) if isinstance(x, TensorBase) and not is_differentiated([x]) else x


def _first_element(x: Any) -> Any:
    array: Any = x if isinstance(x, Holder) else np.asarray(x)
    flat = array.reshape(-1)
    if not len(flat):
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return flat[0]


class Grid:
    """np.mgrid, np.ogrid, np.r_ and np.c_: objects that are indexed, and return ndarrays."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, key: Any) -> Any:
        found: list[Any] = []
        items = [unwrap(item, found) for item in (key if isinstance(key, tuple) else (key,))]
        return self._join(items) if is_differentiated(found) else wrapped(self._grid[key])

    def _join(self, items: list[Any]) -> Any:
        """Return r_ or c_ of items of which some are differentiated. NumPy arranges the numbers of the elements."""
        parts, numbers, kinds, count = list[Any](), list[Any](), list[Any](), 0
        for item in items:
            if isinstance(item, str):  # the axis and the number of dims
                numbers.append(item)
                continue
            if isinstance(item, slice):
                item = np.r_[item]
            is_number = isinstance(item, (int, float, complex))
            part: Any = item if isinstance(item, TensorBase) else np.asarray(item)
            size = int(np.prod(part.shape))
            kinds.append(item if is_number else detached(part))
            numbers.append(count if is_number else np.arange(count, count + size).reshape(part.shape))
            parts.append(part.reshape(-1))
            count += size
        together = FUNCTIONS[np.concatenate](parts, dtype=np.result_type(*kinds))
        return wrapped(together[np.asarray(self._grid[tuple(numbers)])])

    def __repr__(self) -> str:
        return repr(self._grid)


def public(module: Any, name: str) -> Any:
    """Return a name of a namespace of NumPy as programs find it in ours: functions take and return ndarrays.

    Raises AttributeError, as NumPy does, if there is no such name."""
    found = getattr(module, name)
    if isinstance(found, type) or not callable(found) or not hasattr(found, "__name__"):
        return Grid(found) if type(found).__name__ in ("MGridClass", "OGridClass", "RClass", "CClass") else found
    return as_function(found)


def lookups(module: Any, namespace: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions __getattr__ and __dir__ of a module that stands in for one of NumPy. namespace: its globals."""

    def find(name: str) -> Any:
        found = public(module, name)
        if not name.startswith("_"):
            namespace[name] = found
        return found

    return find, lambda: namespace["__all__"]


__all__ = ["Grid", "Holder", "as_function", "frompyfunc", "is_differentiated", "lookups", "public", "run", "ufunc", "vectorize"]

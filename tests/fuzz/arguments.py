"""Wrong arguments: each public function and method is called with one, or a few, of its arguments replaced by hostile values.

An answer is right if it is a result, or an error that torch raises too: TypeError, ValueError, RuntimeError, IndexError,
NotImplementedError or MemoryError. Errors from inside are findings: other classes, and the words of Python and NumPy about values
that the caller has never seen. A call that takes over two seconds is a finding too.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import wengert

CALLS = 800
LIMIT = 2.0  # seconds of a call
MEMORY = 3 << 30  # bytes of addresses that the process may have beyond what it has at the start; asking for more is a MemoryError

RIGHT = (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError, MemoryError, BufferError)
WRONG = (AttributeError, RecursionError, SystemError)
INSIDE = (
    "unsupported operand type", "has no attribute", "object is not subscriptable", "ufunc '", "too large to convert to C", "returned a result with an exception set", "NoneType.__format__", "cannot unpack non-iterable",
    "not supported between instances", "referenced before assignment", "not associated with a value",
)  # fmt: skip
TORCHS_OVERFLOWS = ("int too big to convert", "cannot convert float infinity to integer", "int too large to convert to float")
# Words that Python uses for operators, also in a function of the user.
OURS = ("unsupported operand type(s) for", "'<' not", "'>' not", "'<=' not", "'>=' not")


class Hostile:
    """An object whose special methods raise."""

    def _refuse(self, *args: Any) -> Any:
        raise HostileError("this object refuses to be looked at")

    __bool__ = __len__ = __index__ = __float__ = __int__ = __iter__ = __complex__ = _refuse

    def __repr__(self) -> str:
        return "Hostile()"


class HostileError(Exception):
    """Raised by Hostile."""


@cache
def hostile_values() -> list[Any]:
    """The values that replace arguments."""
    return [
        None, (), [], {}, (1, 2), [None], (None, None), "a", "", "sum", b"a", wengert.float32, np.dtype("f4"), float, object(), Hostile(),
        Hostile, -1, 0, 1, 7, -3, 2**31 - 1, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, 2**63, -(2**63), 2**70, (2**70,), (2**31, 2**31),
        (-1, -1), [2**62, 4], True, False, 0.5, -0.5, float("nan"), float("inf"), 1e400, 1j, [1.0, "a"], [[1], [1, 2]], slice(None), ...,
        range(3), {"a": 1}, {1, 2}, iter([1]), len, type, NotImplemented, np.float64(2), np.int8(3), np.array("a"), np.array([None, 1]),
        np.array([object()]), np.array(["a", "b"]), np.array(["2020-01-01"], "M8[D]"), np.ones(3, ">f8"), np.ones(2, "i4,f8"),
        np.ma.masked_array([1.0, 2.0], [True, False]), np.ones((2, 3)), np.zeros(0), wengert.tensor(1.0), wengert.tensor(3),
        wengert.tensor(True), wengert.zeros(0), wengert.zeros(2, 0, 3), wengert.ones(2, 3), wengert.ones(2, dtype=wengert.int8),
        wengert.ones(3, dtype=wengert.bool), wengert.ones(2, dtype=wengert.complex64), wengert.ones(2, 2, dtype=wengert.bfloat16),
        wengert.tensor([-1, 5]), wengert.tensor([2**62]), wengert.tensor([float("nan")]), wengert.ones(2, 2, requires_grad=True),
    ]  # fmt: skip


@cache
def operations() -> list[Any]:
    """The cases of tests/op_samples that users can call."""
    from op_samples.cases import CASES, is_public

    return [case for case in CASES if is_public(case.op)]


def _methods_of(case: Any) -> Iterator[str]:
    """The methods of Tensor that belong to an operation: x.exp, x.exp_."""
    op = case.op
    if op.method:
        yield op.method if isinstance(op.method, str) else op.name
    if getattr(op, "inplace", False):
        yield op.inplace if isinstance(op.inplace, str) else op.name + "_"


# Functions that are no operations, with right arguments. What has an effect on the process that a fuzzer cannot undo is not here.
@cache
def others() -> list[tuple[str, Callable[..., Any], Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]]]:
    """Functions that are no operations: a name, the function, and a function that makes right arguments."""
    w = wengert

    def leaf() -> Any:
        return w.tensor([1.0, 2.0], requires_grad=True)

    def graph() -> Any:
        return (leaf() * 2).exp()

    def square(x: Any) -> Any:
        return (x * x).sum()

    F = w.nn.functional
    table: list[tuple[str, Callable[..., Any], Callable[[], Any]]] = [
        ("autograd.grad", w.autograd.grad, lambda: ((square(x := leaf()), x), {})),
        ("autograd.backward", w.autograd.backward, lambda: ((square(leaf()),), {})),
        ("Tensor.backward", w.Tensor.backward, lambda: ((square(leaf()),), {})),
        ("autograd.functional.jacobian", w.autograd.functional.jacobian, lambda: ((square, leaf()), {})),
        ("autograd.functional.hessian", w.autograd.functional.hessian, lambda: ((square, leaf()), {})),
        ("autograd.functional.vjp", w.autograd.functional.vjp, lambda: ((square, leaf()), {})),
        ("autograd.functional.jvp", w.autograd.functional.jvp, lambda: ((square, leaf(), w.ones(2)), {})),
        ("autograd.functional.hvp", w.autograd.functional.hvp, lambda: ((square, leaf(), w.ones(2)), {})),
        ("autograd.gradcheck", w.autograd.gradcheck, lambda: ((square, (leaf().detach().double().requires_grad_(),)), {})),
        ("func.grad", lambda f, x, *a: w.func.grad(f, *a)(x), lambda: ((square, leaf()), {})),
        ("func.vjp", w.func.vjp, lambda: ((square, leaf()), {})),
        ("func.jvp", w.func.jvp, lambda: ((square, (leaf(),), (w.ones(2),)), {})),
        ("func.jacrev", lambda f, x, *a: w.func.jacrev(f, *a)(x), lambda: ((square, leaf()), {})),
        ("func.vmap", lambda f, x, *a: w.func.vmap(f, *a)(x), lambda: ((w.sin, leaf()), {})),
        ("utils.checkpoint", w.utils.checkpoint.checkpoint, lambda: ((w.sin, leaf()), {"use_reentrant": False})),
        ("Tensor.register_hook", w.Tensor.register_hook, lambda: ((leaf(), print), {})),
        ("Tensor.requires_grad_", w.Tensor.requires_grad_, lambda: ((w.ones(2), True), {})),
        ("Tensor.retain_grad", w.Tensor.retain_grad, lambda: ((graph(),), {})),
        ("Tensor.detach", w.Tensor.detach, lambda: ((graph(),), {})),
        ("Tensor.size", w.Tensor.size, lambda: ((graph(), 0), {})),
        ("Tensor.stride", w.Tensor.stride, lambda: ((graph(), 0), {})),
        ("Tensor.item", w.Tensor.item, lambda: ((w.ones(1),), {})),
        ("Tensor.tolist", w.Tensor.tolist, lambda: ((w.ones(1),), {})),
        ("Tensor.numpy", w.Tensor.numpy, lambda: ((w.ones(1),), {})),
        ("Tensor.to", w.Tensor.to, lambda: ((w.ones(1), w.float64), {})),
        ("Tensor.type", w.Tensor.type, lambda: ((w.ones(1), w.float64), {})),
        ("Tensor", w.Tensor, lambda: ((2, 3), {})),
        ("tensor", w.tensor, lambda: (([1.0, 2.0],), {"dtype": w.float32})),
        ("as_tensor", w.as_tensor, lambda: (([1.0, 2.0],), {"dtype": w.float32})),
        ("from_numpy", w.from_numpy, lambda: ((np.ones(3),), {})),
        ("frombuffer", w.frombuffer, lambda: ((bytearray(16),), {"dtype": w.float32, "count": 2, "offset": 4})),
        ("zeros", w.zeros, lambda: ((2, 3), {"dtype": w.float32})),
        ("full", w.full, lambda: (((2, 3), 1.0), {})),
        ("arange", w.arange, lambda: ((0, 5, 2), {})),
        ("linspace", w.linspace, lambda: ((0, 5, 3), {})),
        ("logspace", w.logspace, lambda: ((0, 5, 3), {})),
        ("eye", w.eye, lambda: ((3, 2), {})),
        ("tril_indices", w.tril_indices, lambda: ((3, 2), {})),
        ("empty_strided", w.empty_strided, lambda: (((2, 3), (3, 1)), {})),
        ("randn", w.randn, lambda: ((2, 3), {})),
        ("randint", w.randint, lambda: ((0, 5, (2, 3)), {})),
        ("randperm", w.randperm, lambda: ((5,), {})),
        ("normal", w.normal, lambda: ((0.0, 1.0, (2,)), {})),
        ("manual_seed", w.manual_seed, lambda: ((3,), {})),
        ("broadcast_shapes", w.broadcast_shapes, lambda: (((2, 1), (3,)), {})),
        ("result_type", w.result_type, lambda: ((w.ones(1), 2), {})),
        ("promote_types", w.promote_types, lambda: ((w.float32, w.int64), {})),
        ("can_cast", w.can_cast, lambda: ((w.float32, w.int64), {})),
        ("device", w.device, lambda: (("cpu",), {})),
        ("set_grad_enabled", w.set_grad_enabled, lambda: ((True,), {})),
        ("Generator", lambda *a: w.Generator().manual_seed(*a), lambda: ((3,), {})),
        ("Size", w.Size, lambda: (((2, 3),), {})),
        ("finfo", w.finfo, lambda: ((w.float32,), {})),
        ("iinfo", w.iinfo, lambda: ((w.int32,), {})),
        ("is_tensor", w.is_tensor, lambda: ((w.ones(1),), {})),
        ("functional.one_hot", F.one_hot, lambda: ((w.tensor([1, 2]), 4), {})),
    ]
    for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "and_", "or_", "lshift", "eq", "lt", "ge"):
        operator = getattr(__import__("operator"), name)
        table.append((f"operator {name}", operator, lambda: ((w.ones(2, 2), 2.0), {})))
    table.append(("x[index]", lambda x, i: x[i], lambda: ((w.ones(3, 4), (0, slice(1, 3))), {})))
    table.append(("x[index] = value", _set_item, lambda: ((w.ones(3, 4), (0, slice(1, 3)), 2.0), {})))
    for name in BUILTINS:
        table.append((name, getattr(__import__("builtins"), name), lambda: ((w.ones(1),), {})))
    return table


BUILTINS = ("int", "float", "complex", "bool", "len", "list")


def _set_item(x: Any, index: Any, value: Any) -> None:
    x[index] = value


def draw(rng: random.Random) -> tuple[str, Callable[..., Any], list[Any], dict[str, Any], int]:
    """Choose a function, and make right arguments for it. The last result is the number of arguments that have to stay: a self."""
    if rng.random() < 0.15:
        name, function, make = rng.choice(others())
        args, kwargs = make()
        return name, function, list(args), dict(kwargs), int(name.startswith(("Tensor.", "operator", "x[", *BUILTINS)))
    case = rng.choice(operations())
    dtype = rng.choice(["f4", "f8", "f8", "c16"]) if case.may_be_complex else rng.choice(["f4", "f8"])
    kept = int(case.name.startswith("__"))
    args = case.wrapped(case.values(dtype, writable=True), rng.random() < 0.4)
    methods = list(_methods_of(case))
    if methods and args and rng.random() < 0.4:
        method = rng.choice(methods)
        return f"Tensor.{method}", getattr(wengert.Tensor, method), args, dict(case.params), kept
    return case.name, case.op.function, args, dict(case.params), kept


def spoil(rng: random.Random, args: list[Any], kwargs: dict[str, Any], kept: int) -> None:
    """Replace an argument, or a few, by hostile values; leave some out and add some."""
    values = hostile_values()
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        how = rng.random()
        if how < 0.06 and len(args) > kept:
            args.pop()
        elif how < 0.12:
            args.append(rng.choice(values))
        elif how < 0.16:
            kwargs[rng.choice(["foo", "out", "dim", "dtype", "input", "keepdim", "generator", "self"])] = rng.choice(values)
        elif kwargs and (len(args) <= kept or rng.random() < 0.5):
            kwargs[rng.choice(list(kwargs))] = rng.choice(values)
        elif len(args) > kept:
            i = rng.randrange(kept, len(args))
            if isinstance(args[i], list) and args[i] and rng.random() < 0.5:
                args[i][rng.randrange(len(args[i]))] = rng.choice(values)
            else:
                args[i] = rng.choice(values)


def verdict(error: BaseException, name: str = "") -> str | None:
    """Say what is wrong with an error of a function of this name, or None."""
    if isinstance(error, HostileError):
        return None
    if isinstance(error, OverflowError) and not isinstance(error, RIGHT):
        return None if str(error) in TORCHS_OVERFLOWS else "a bare OverflowError"
    if isinstance(error, WRONG) and not isinstance(error, wengert.errors.WengertError):
        return f"{type(error).__name__} from inside"
    if not isinstance(error, RIGHT):
        return f"{type(error).__name__} from inside"
    text = str(error)
    if any(words in text for words in INSIDE) and not (
        name.startswith(("operator", "func.", "autograd.functional")) and text.startswith(OURS)
    ):
        return "words from inside"
    return None


def describe(x: Any) -> str:
    """Short text for an argument."""
    if isinstance(x, wengert.Tensor):
        return f"tensor({x.dtype}, {list(x.shape)})"
    if isinstance(x, np.ndarray):
        return f"array({x.dtype}, {list(x.shape)})"
    try:
        text = repr(x)
    except Exception:
        return f"<{type(x).__name__}>"
    return text if len(text) < 80 else text[:77] + "..."


def calls_of(seed: int, calls: int) -> Iterator[tuple[str, Callable[..., Any], list[Any], dict[str, Any]]]:
    """Yield the calls of a seed."""
    rng = random.Random(seed)
    for _ in range(calls):
        name, function, args, kwargs, kept = draw(rng)
        spoil(rng, args, kwargs, kept)
        yield name, function, args, kwargs


def answer(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, BaseException | None, float]:
    """Call a function: the result, the error, and the seconds that it took."""
    began = time.perf_counter()
    result, error = None, None
    try:
        with warnings.catch_warnings(), open(os.devnull, "w") as devnull, contextlib.redirect_stdout(devnull):
            warnings.simplefilter("ignore")
            result = function(*args, **kwargs)
    except Exception as caught:
        error = caught
    return result, error, time.perf_counter() - began


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Restrict the memory of the process, and restore what calls may have changed."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if "asan" not in os.environ.get("LD_PRELOAD", "") and os.path.exists("/proc/self/statm"):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    recursion, enabled, dtype = sys.getrecursionlimit(), wengert.is_grad_enabled(), wengert.get_default_dtype()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        sys.setrecursionlimit(recursion)
        wengert.set_grad_enabled(enabled)
        wengert.set_default_dtype(dtype)


def run(seed: int, calls: int) -> None:
    """Make calls drawn from the seed."""
    with bounded(), np.errstate(all="ignore"):
        for number, (name, function, args, kwargs) in enumerate(calls_of(seed, calls)):
            shown = ", ".join([describe(x) for x in args] + [f"{k}={describe(v)}" for k, v in kwargs.items()])
            _, error, seconds = answer(function, args, kwargs)
            wrong = None if error is None else verdict(error, name)
            if wrong is None and seconds > LIMIT:
                wrong = f"took {seconds:.1f} s"
            if wrong is not None:
                raise AssertionError(f"seed {seed}, call {number}: {name}({shown}): {wrong}: {error!r}") from error

"""Programs in which one allocation of memory fails: the result is right, or MemoryError is raised, and all state is as before.

CPython's `_testcapi.set_nomemory(n, n + 1)` lets the n-th allocation through Python's allocators fail. A Python without `_testcapi`
makes no calls here. NumPy takes the memory of elements from elsewhere; the small objects around them come from Python.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert import Tensor
from wengert.autograd import Function, forward_ad
from wengert.kernels import native
from wengert.nn import functional as F
from wengert.utils.checkpoint import checkpoint

try:
    import _testcapi
except ImportError:
    _testcapi = None

CALLS = 1500
LARGEST = 250  # number of the last allocation that fails; few programs make more
# NumPy's indexing, where() and ufuncs return NULL without an exception at some of their allocations, for which CPython raises
# SystemError. NumPy then does not understand names of dtypes, or reports that structured ones do not support StringDType. CPython's
# warnings return with the exception set, and a lock that it cannot make is a RuntimeError.
NOT_OURS = re.compile(
    r"SystemError: .*(numpy\.\w+|<ufunc '\w+'>|<built-in function where>).* returned NULL without setting|"
    r"SystemError: error return without exception set|"
    r"TypeError: StringDType is not currently supported|TypeError: data type '.*' not understood|RuntimeError: can't allocate lock|"
    r"SystemError: <class '\w*Warning'> returned a result with an exception set"
)


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


def _hooked(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.register_hook(lambda g: 2 * g)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: grads)
    return y.exp()


def _written(x: Tensor, w: Tensor) -> Tensor:
    y = x * 1
    y[0] = w[1]
    y[:, 1].mul_(2)
    y.add_(w).tanh_()
    return y


def _tangent(x: Tensor, w: Tensor) -> Tensor:
    with forward_ad.dual_level():
        out = forward_ad.unpack_dual(forward_ad.make_dual(x, w.detach()).sin() * w)
        assert out.tangent is not None
        return out.primal + out.tangent


def _second(x: Tensor, w: Tensor) -> Tensor:
    return wengert.autograd.grad((x.sin() * w).sum(), x, create_graph=True)[0]


def _without_recording(x: Tensor, w: Tensor) -> Tensor:
    with wengert.no_grad():
        constant = (x * w).relu()
    return constant * x


def _anomaly(x: Tensor, w: Tensor) -> Tensor:
    with ANOMALY:
        return wengert.autograd.grad((x * w).cos().sum(), x, create_graph=True)[0]


INDEX = wengert.tensor([2, 0, 2])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ANOMALY = wengert.autograd.detect_anomaly()  # made here, because warnings.warn itself ends in SystemError
PROGRAMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "arithmetic": lambda x, w: (x * 2 + w) / (w * w + 1) - x,
    "product": lambda x, w: x @ w.T,
    "views": lambda x, w: x.T.reshape(2, -1)[0, 1:].unsqueeze(0).expand(2, -1),
    "chunks": lambda x, w: wengert.cat([x.chunk(2)[0], wengert.stack([w[0], w[1]])]),
    "sums": lambda x, w: x.mean(0) + w.std() + x.logsumexp(1, keepdim=True)[0] + x.amax(),
    "read": lambda x, w: x[INDEX] * w[1:, ::2][0, 0],
    "pairs": lambda x, w: x[INDEX, INDEX],
    "gather": lambda x, w: x.gather(0, INDEX[:, None].expand(3, 4)) + x.index_select(0, INDEX),
    "layers": lambda x, w: F.layer_norm(F.gelu(F.linear(x, w)), (4,)),
    "loss": lambda x, w: F.cross_entropy(x, INDEX.repeat(2)[:4]) + F.mse_loss(x, w),
    "convolution": lambda x, w: F.max_pool1d(F.conv1d(x[None], w[:, :, None].expand(4, 4, 2)), 2),
    "sorted": lambda x, w: x.sort(1)[0] + w.topk(1)[0],
    "einsum": lambda x, w: wengert.einsum("ij,kj->ik", x, w),
    "written": _written,
    "hooks": _hooked,
    "function": lambda x, w: Cube.apply(x) * w,
    "checkpoint": lambda x, w: checkpoint(lambda a, b: (a * b).sin(), x, w, use_reentrant=False, preserve_rng_state=False),
    "tangent": _tangent,
    "second derivative": _second,
    "without recording": _without_recording,
    "anomaly": _anomaly,
    "vjp": lambda x, w: wengert.func.vjp(lambda a: a * w, x)[1](w)[0],
    "copies": lambda x, w: copy.deepcopy(w.detach()) * x.clone().detach().numpy() * x,
    "numpy": lambda x, w: np.add(x, w) * np.exp(w),
    "large": lambda x, w: (x.repeat(60, 60) * 2).sigmoid().reshape(-1, 4),
    "solve": lambda x, w: wengert.linalg.solve(x @ x.T + 10 * wengert.eye(4, dtype=x.dtype), w),
}


def _state() -> tuple[Any, ...]:
    return (
        wengert.is_grad_enabled(), wengert.is_inference_mode_enabled(), wengert.is_anomaly_enabled(), wengert.get_default_dtype(),
        forward_ad._current_level if hasattr(forward_ad, "_current_level") else None,
    )  # fmt: skip


def _run(program: Callable[[Tensor, Tensor], Tensor], x: Tensor, w: Tensor) -> list[Any]:
    """Return the value of a program, and the gradients that a backward pass adds to its leaves."""
    out = program(x, w)
    out.square().sum().backward()
    return [out.detach().numpy(), *[None if leaf.grad is None else leaf.grad.numpy() for leaf in (x, w)]]


def _agree(found: list[Any], expected: list[Any]) -> bool:
    return all((a is None) == (b is None) and (a is None or np.allclose(a, b, rtol=1e-12, atol=1e-12)) for a, b in zip(found, expected, strict=True))


def run(seed: int, calls: int) -> None:
    # Uncompiled, the core is Python code, whose calls need memory, those that restore a mode too: nothing is promised there.
    if _testcapi is None or native is None:
        return
    rng = np.random.default_rng(seed)
    x, w = (wengert.tensor(rng.standard_normal((4, 4)), requires_grad=True) for _ in range(2))
    expected: dict[str, list[Any]] = {}
    before = _state()
    for call in range(calls):
        name = str(rng.choice(sorted(PROGRAMS)))
        program, failing = PROGRAMS[name], int(rng.integers(LARGEST) ** 2 // LARGEST)
        if name not in expected:
            for _ in range(2):  # the first call imports and fills caches
                x.grad = w.grad = None
                expected[name] = _run(program, x, w)
        x.grad = w.grad = None
        found, error = None, None
        _testcapi.set_nomemory(failing, failing + 1)
        try:
            found = _run(program, x, w)
        except MemoryError:
            pass
        except BaseException as wrong:
            error = wrong
        finally:
            _testcapi.remove_mem_hooks()
        here = f"seed {seed}, call {call}: {name}, allocation {failing}"
        if error is not None and not NOT_OURS.match(f"{type(error).__name__}: {error}"):
            raise AssertionError(f"{here}: {type(error).__name__}: {error}") from error
        if found is not None and not _agree(found, expected[name]):
            raise AssertionError(f"{here}: the result is wrong")
        if _state() != before:
            raise AssertionError(f"{here}: modes are {_state()}, before {before}")
        x.grad = w.grad = None
        if not _agree(_run(program, x, w), expected[name]):
            raise AssertionError(f"{here}: the next result is wrong")

"""Instructions that become C as several simpler ones: rows, losses, moved elements, running sums, places of maxima."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import wengert as torch
from loops import each
from wengert.program import c_library

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler")
F = torch.nn.functional


@pytest.fixture(autouse=True)
def quick_compiler(tmp_path, monkeypatch):
    """A cache of the test's own, and a compiler that optimizes little."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(c_library, "_SHORT", 0)


def uniform(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return torch.tensor(np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype))


def gradient(f: Any) -> Any:
    """A function of a matrix: what f gives, and its gradient with other cotangents for each element."""

    def run(x):
        x = x.detach().requires_grad_()
        y = f(x)
        return y.detach(), torch.autograd.grad((y * torch.arange(1.0, 1 + y.numel(), dtype=y.dtype).reshape(y.shape)).sum(), x)[0]

    return run


def masked_writes(x: Any) -> Any:
    y = x.clone()
    y[x > 0.5] = 0.25
    y.masked_fill_(x < -0.5, -2.0)
    return y


MOVES = [
    lambda x: x.flip(0), lambda x: x.flip(0, 1), lambda x: x.roll(2, 0), lambda x: x.roll((-1, 3), (1, 0)), lambda x: x.roll(12, 1),
    lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (0, 1, 2, 0), value=0.5), lambda x: x.repeat(2, 1), lambda x: x.repeat(3, 1, 2),
    lambda x: x.masked_fill(x > 0, 0.5), masked_writes,
]  # fmt: skip
RUNNING = [lambda x: x.cumsum(0), lambda x: x.cumsum(-1), lambda x: x.cumprod(1)]
EXTREMES = [
    lambda x: x.max(1).values, lambda x: x.min(0, keepdim=True).values, lambda x: x.t().max(0).values, lambda x: x.min(-1).values,
]  # fmt: skip
PLACES = [
    lambda x: x.argmax(0), lambda x: x.argmin(1, keepdim=True), lambda x: x.max(1).indices, lambda x: x.t().min(1, keepdim=True).indices
]  # fmt: skip
ROWS = [
    lambda x: x.softmax(1), lambda x: x.log_softmax(0), lambda x: F.layer_norm(x, (7,)), lambda x: x.t().softmax(0),
    lambda x: F.layer_norm(x, (5, 7), x.detach(), x.detach() + 1), lambda x: F.layer_norm(x, (7,), None, x[0]),
    lambda x: x.std(1), lambda x: x.var(0, keepdim=True), lambda x: x.var(1, correction=0), lambda x: torch.linalg.vector_norm(x, dim=1),
]  # fmt: skip


def check(functions: list[Any], x: Any, rtol: float | None) -> Any:
    """Compare one compiled function of all with eager calls. rtol: None if the results are to be equal bit for bit."""

    def run(x):
        return tuple([z for f in functions for y in [f(x)] for z in (y if isinstance(y, tuple) else (y,))])

    expected = run(x)
    compiled = torch.compile(run, backend="c", fullgraph=True)
    for _ in range(2):
        found = compiled(x)
        for a, b in zip(expected, found, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            if rtol is None:
                np.testing.assert_array_equal(b.numpy(), a.numpy())
            else:
                np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=rtol, atol=rtol)
    return {i.kind for i in compiled.recordings[0].executable.instructions}


@pytest.mark.slow
@each("dtype", [np.float32, np.float64])
def test_what_adds_nothing_up_is_bit_for_bit(dtype):
    assert check([*MOVES, *RUNNING, *PLACES, *EXTREMES], uniform(5, 7, dtype=dtype), None) == {"c"}


@pytest.mark.slow
def test_gradients_of_moves_and_extremes():
    check(list(map(gradient, [*MOVES[:-2], *EXTREMES, *RUNNING])), uniform(5, 7), 1e-14)


@pytest.mark.slow
@each("dtype", [np.float32, np.float64])
def test_rows_and_their_gradients(dtype):
    functions = list(map(gradient, [*ROWS, *RUNNING[:2]]))
    assert check(functions, uniform(5, 7, dtype=dtype), 1e-4 if dtype == np.float32 else 1e-12) == {"c"}


def test_the_first_nan_and_the_first_of_equals_are_the_largest():
    x = torch.tensor([[1.0, 3.0, 3.0, 2.0], [np.nan, 5.0, np.nan, 1.0], [-np.inf, -np.inf, -1.0, np.nan], [-0.0, 0.0, -0.0, 0.0]])
    assert check([*EXTREMES, *PLACES], x, None) == {"c"}


CLASSES = torch.tensor([3, 0, 6, 6, 2])


@pytest.mark.slow
@each("dtype", [np.float32, np.float64])
@each("reduction", ["mean", "sum", "none"])
def test_cross_entropy(dtype, reduction):
    def run(x, target):
        x = x.detach().requires_grad_()
        loss = F.cross_entropy(x, target, reduction=reduction)
        return loss.detach(), torch.autograd.grad((loss * loss).sum(), x)[0]

    compiled = torch.compile(run, backend="c", fullgraph=True)
    x = uniform(5, 7, dtype=dtype) * 5
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    for target in (CLASSES, CLASSES.flip(0)):
        for a, b in zip(run(x, target), compiled(x, target), strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=rtol, atol=rtol)
    assert {i.kind for i in compiled.recordings[0].executable.instructions} == {"c", "check"}


def test_classes_that_are_ignored_or_outside_run_without_c():
    held = torch.zeros(())

    def run(x, target):
        held.add_(1.0)
        return F.cross_entropy(x, target)

    compiled = torch.compile(run, backend="c", fullgraph=True)
    x = uniform(5, 7)
    compiled(x, CLASSES)
    ignored = torch.tensor([3, -100, 6, -100, 2])
    expected = F.cross_entropy(x, ignored).item()
    for _ in range(3):
        assert compiled(x, ignored).item() == pytest.approx(expected, rel=1e-12)
    assert compiled(x, CLASSES).item() == pytest.approx(F.cross_entropy(x, CLASSES).item(), rel=1e-12)
    assert held.item() == 5.0 and len(compiled.recordings) == 2  # results of both have other sizes inside
    for outside in (7, -1, 2**40):
        before = held.item()
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(x, torch.tensor([3, 0, outside, 6, 2]))
        assert held.item() == before + 1.0  # as eager calls: the write comes first


def test_a_training_step_of_a_classifier_is_exported_with_checked_classes(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    parameters = list(model.parameters())

    def step(x, target):
        loss = F.cross_entropy(model(x), target)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(g, alpha=0.1)
        return loss.detach()

    compiled = torch.compile(step, fullgraph=True)
    for _ in range(2):
        compiled(uniform(6, 4, dtype=np.float32), torch.arange(6) % 3)
    compiled.to_c(tmp_path / "step")
    assert "Elements are from 0 to 2. If not, the function does nothing." in (tmp_path / "step.h").read_text()
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    for compiler in [c for c in ("gcc", "clang") if shutil.which(c)]:
        subprocess.run([compiler, *flags, "step.c", "step_test.c", "-o", "run", "-lm"], check=True, cwd=tmp_path, timeout=100)
        subprocess.run([tmp_path / "run"], check=True, timeout=100, capture_output=True)

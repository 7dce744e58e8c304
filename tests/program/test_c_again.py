"""Values that C computes where they are read: results stay eager's, and large values take no memory where that costs more."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import wengert as torch
from loops import each

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler")
SIZE = 40 * 30 * 10  # elements of all differences


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def uniform(*shape: int, seed: int = 0, grad: bool = False) -> Any:
    return torch.tensor(np.random.default_rng(seed).uniform(-1, 1, shape), requires_grad=grad)


def compiled(fn: Any, *arguments: Any) -> Any:
    """Compile a function to C. Check its results on copies of the arguments against those of eager calls, in two runs."""
    made = torch.compile(fn, backend="c", fullgraph=True)
    for _ in range(2):
        expected = fn(*[x.detach().clone().requires_grad_(x.requires_grad) for x in arguments])
        found = made(*[x.detach().clone().requires_grad_(x.requires_grad) for x in arguments])
        for x, y in zip(expected, found, strict=True):
            np.testing.assert_allclose(y.numpy(), x.numpy(), rtol=1e-11, atol=1e-300)
    return made


def functions(made: Any) -> list[Any]:
    return [x.function for x in made.recordings[0].executable.instructions if x.kind == "c"]


def arena_bytes(made: Any) -> int:
    return sum(f.source.memory.nbytes for f in functions(made))


def text(made: Any) -> str:
    return "\n".join(f.source.body for f in functions(made))


def test_sums_of_differences_and_their_gradients_need_no_memory_for_the_differences():
    def spread(points, means, scales):
        z = (points[:, None, :] - means) * scales
        terms = (z * z).sum(2)
        value = torch.logsumexp(terms, 1).sum()
        return value.detach(), *torch.autograd.grad(value, (means, scales))

    made = compiled(spread, uniform(40, 10), uniform(30, 10, seed=1, grad=True), uniform(30, 10, seed=2, grad=True))
    assert arena_bytes(made) < 8 * SIZE


@each("reduce", ["sum", "mean", "amax", "amin", "logsumexp", "softmax", "log_softmax"])
@each("dim", [0, 1, 2])
def test_reductions_of_values_that_are_made_in_their_loops(reduce, dim):
    def run(x, y):
        return (getattr(torch, reduce)(x[:, None, :] * y - y, dim),)

    made = compiled(run, uniform(40, 10), uniform(30, 10, seed=1))
    assert arena_bytes(made) < 8 * SIZE


def test_a_value_that_takes_a_function_is_computed_once_if_several_loops_read_it():
    def run(x, y):
        e = torch.exp(x[:, None] - y)
        return e.sum(0), e.sum(1)

    made = compiled(run, uniform(100), uniform(100, seed=1))
    assert text(made).count("vm_exp_f64(") == 1
    assert arena_bytes(made) >= 8 * 100 * 100


def test_a_value_that_takes_a_function_is_made_in_the_loops_of_its_only_reader():
    def run(x, y):
        return (torch.exp(x[:, None] - y).sum(1),)

    made = compiled(run, uniform(100), uniform(100, seed=1))
    assert arena_bytes(made) < 8 * 100 * 100


def test_memory_that_is_written_in_between_is_read_before():
    def run(x, y):
        z = x[:, None] - y
        before = z.sum(0)
        x.mul_(2.0)
        return before, z.sum(1), x + 0

    compiled(run, uniform(100), uniform(100, seed=1))


def test_a_value_with_a_written_part_keeps_its_memory():
    def run(x, y):
        z = x[:, None] - y
        z[3].mul_(5.0)
        z[:, 4] = 1.0
        return z.sum(0), z.sum(1)

    made = compiled(run, uniform(100), uniform(100, seed=1))
    assert arena_bytes(made) >= 8 * 100 * 100


def test_a_value_that_is_also_a_result_keeps_its_memory():
    def run(x, y):
        z = x[:, None] - y
        return z, z.sum(0), z.t().sum(0)

    compiled(run, uniform(100), uniform(100, seed=1))


def test_special_values_are_those_of_memory():
    x, y = uniform(100), uniform(100, seed=1)
    x[3], x[7], y[5] = float("nan"), float("inf"), float("inf")

    def run(x, y):
        z = x[:, None] - y
        return torch.logsumexp(z, 1), z.amax(0), z.amin(1), z.sum(0)

    compiled(run, x, y)


def test_float32_values_are_rounded_as_in_memory():
    def run(x, y):
        z = (x[:, None] * y).double()
        return (z.amax(1),)

    arguments = [torch.tensor(v.numpy().astype(np.float32)) for v in (uniform(100), uniform(100, seed=1))]
    made = torch.compile(run, backend="c", fullgraph=True)
    np.testing.assert_array_equal(made(*arguments)[0].numpy(), run(*arguments)[0].numpy())

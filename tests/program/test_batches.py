"""Products of one matrix with several vectors are one product, and neighbouring copies one copy, with eager's results."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled")


def draw(*shape, dtype=np.float64, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def instructions(fn, *inputs, rtol=1e-11, **options):
    """Names of the instructions of a function, after checking that compiled runs give its results."""
    compiled = torch.compile(fn, fullgraph=True, **options)
    for seed in range(3):
        given = [x + seed for x in inputs]
        expected, found = fn(*given), compiled(*given)
        for a, b in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol, atol=rtol)
    assert compiled.recordings[0].runs == 2
    return [x.name for x in compiled.programs()[0].instructions]


def net(w):
    return lambda x: torch.tanh(w @ x).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_hessian_has_two_products_of_matrices(dtype):
    hessian = torch.func.hessian(net(draw(20, 12, dtype=dtype)))
    rtol = 1e-5 if dtype == np.float32 else 1e-11
    found = instructions(hessian, draw(12, dtype=dtype), rtol=rtol)
    assert found.count("matmul") == 3  # the third one is that of the value
    assert found.count("copy") <= 13  # twelve vectors become the rows of a matrix, and its product's rows the result


def test_sums_in_eager_order_stay_products_with_vectors():
    w, x = draw(20, 12), draw(12)
    fn = torch.func.hessian(net(w))
    compiled = torch.compile(fn, fullgraph=True, options={"exact": True})
    for _ in range(3):
        assert compiled(x).numpy().tobytes() == fn(x).numpy().tobytes()
    assert sum(i.name == "matmul" for i in compiled.programs()[0].instructions) > 12


def test_products_that_need_each_other_stay_apart():
    w = draw(7, 7) / 7

    def fn(x):
        for _ in range(8):
            x = torch.tanh(w @ x)
        return x

    assert instructions(fn, draw(7)).count("matmul") == 8


def test_products_that_partly_need_each_other():
    w = draw(7, 7) / 7

    def fn(x):
        rows = [w @ (x * i) for i in range(1, 7)]
        more = [w @ torch.sin(r) for r in rows[:5]]
        return sum(rows) + sum(more) + more[0] @ w + w @ (more[1] @ w)

    assert instructions(fn, draw(7)).count("matmul") == 5


def test_both_sides_views_and_results():
    w, v = draw(6, 9), draw(9, 9)

    def fn(x):
        columns = [w @ x[:, i] for i in range(5)]
        rows = [x[i, :6] @ w for i in range(5)]
        returned = [v @ x[i] for i in range(5)]
        return (*returned, torch.stack(columns), torch.cat(rows), sum(c.sum() for c in columns))

    found = instructions(fn, draw(9, 9))
    assert found.count("matmul") == 2 + 5  # results have memory of their own


def test_a_matrix_or_a_vector_that_is_written_is_not_read_later():
    def fn(x, w):
        w = w * 1
        total = torch.zeros(5, dtype=torch.float64)
        for _ in range(6):
            total += w @ x
            w[0] += 1
            x = x + total
        return total, x

    instructions(fn, draw(5), draw(5, 5))


def test_infinities_and_nan_of_the_matrix_stay():
    w = draw(6, 6)
    w[1, 2], w[3, 4] = float("inf"), float("nan")
    fn = torch.func.hessian(net(w))
    compiled = torch.compile(fn, fullgraph=True)
    for _ in range(3):
        np.testing.assert_array_equal(np.isnan(compiled(draw(6)).numpy()), np.isnan(fn(draw(6)).numpy()))


def test_a_program_with_joined_products_is_loaded(tmp_path):
    fn = torch.func.hessian(net(draw(20, 12)))
    compiled = torch.compile(fn, fullgraph=True)
    for _ in range(2):
        compiled(draw(12))
    compiled.save(tmp_path / "program")
    loaded = torch.compiler.load(tmp_path / "program")
    assert loaded(draw(12, seed=1)).numpy().tobytes() == compiled(draw(12, seed=1)).numpy().tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    matrices = [draw(5, 5, seed=k) / 4 for k in range(2)]
    plan = [(int(rng.integers(5)), *map(int, rng.integers(0, 1000, 2)), int(rng.integers(2))) for _ in range(40)]

    def fn(x):
        values = [x, x * 2, torch.ones(5, dtype=torch.float64)]
        for kind, i, j, k in plan:
            a, b, m = values[i % len(values)], values[j % len(values)], matrices[k]
            new = m @ a if kind < 2 else a @ m if kind == 2 else torch.sin(a) + b if kind == 3 else a.clone()
            if kind == 4:
                new += b
            values.append(new)
        return (*values[-3:], torch.stack(values).sum(0))

    instructions(fn, draw(5, seed=seed), rtol=1e-9)


def test_copies_that_do_not_follow_each_other_stay():
    x, y = draw(4, 6), draw(4, 6, seed=1)
    instructions(lambda x, y: (torch.stack([x[0], x[1], x[3], y[1]]), torch.cat([x, y], 1), torch.cat([x[1:], x[:1]])), x, y)
    found = instructions(lambda x: torch.stack([x[0], x[1], x[2]]) * 2, x)
    assert found.count("copy") <= 1

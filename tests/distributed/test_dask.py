"""wengert.dask: losses and gradients over chunks are those of all rows at once, also when a worker dies."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'wengert[dask]'")

import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402

import wengert  # noqa: E402
from wengert.dask import map_reduce, value_and_grad  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Dask's own threads and sockets warn at their end
ROWS, COLUMNS = 600, 4


@pytest.fixture(scope="module")
def client():
    """Two workers that are processes. A client that is current, as programs have it."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=True) as client,
    ):
        # The workers import this file's functions by value.
        yield client


def rows(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(dtype)
    return x, (x @ np.arange(COLUMNS) + rng.normal(size=ROWS) > 0).astype(dtype)


def make_loss():
    """A function without a module that a worker would have to import."""

    def loss(params, chunk):
        x, y = chunk
        return wengert.nn.functional.binary_cross_entropy_with_logits(x @ params["w"] + params["b"], y, reduction="sum")

    return loss


def expected(w, b, x, y):
    """The loss and its gradient, by the formulas of logistic regression."""
    z = x @ w + b
    residual = 1 / (1 + np.exp(-z)) - y
    return np.sum(np.logaddexp(0, z) - y * z), x.T @ residual, residual.sum()


@pytest.mark.parametrize("chunk", [ROWS, 100, 7])
def test_arrays_in_chunks_give_the_gradient_of_all_rows(client, chunk):
    x, y = rows()
    w = np.linspace(-1, 1, COLUMNS)
    chunks = da.from_array(x, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)
    value, grads = value_and_grad(make_loss(), {"w": wengert.tensor(w), "b": 0.5}, chunks, split_every=3)
    loss, grad_w, grad_b = expected(w, 0.5, x, y)
    assert np.isclose(value.item(), loss) and np.allclose(grads["w"].numpy(), grad_w) and np.isclose(grads["b"], grad_b)
    assert isinstance(grads["w"], wengert.Tensor) and type(grads["b"]) is float


def test_bags_and_dataframes(client):
    numbers = np.arange(20.0)
    bag = db.from_sequence(numbers.tolist(), npartitions=4)
    value, grad = value_and_grad(lambda p, chunk: (p * wengert.tensor(chunk, dtype=wengert.float64)).square().sum(), 3.0, bag)
    assert np.isclose(value.item(), 9 * np.sum(numbers**2)) and np.isclose(grad, 6 * np.sum(numbers**2))
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"a": numbers, "b": 2 * numbers}), npartitions=3)
    value, grad = value_and_grad(lambda p, chunk: (p[0] * wengert.from_numpy(chunk["a"].to_numpy(copy=True))).sum() * p[1], [np.array(2.0), 5], frame)
    assert np.isclose(value.item(), 10 * numbers.sum()) and np.isclose(grad[0], 5 * numbers.sum()) and grad[1] is None
    chosen, column = frame[frame.a > 4], frame["b"]  # some chunks are empty; a column has chunks of its own kind
    value, grad = value_and_grad(lambda p, chunk: p * wengert.tensor(chunk["a"].to_list(), dtype=wengert.float64).sum(), 2.0, chosen)
    assert np.isclose(grad, numbers[numbers > 4].sum()) and np.isclose(value.item(), 2 * grad)
    value, grad = value_and_grad(lambda p, chunk: p * wengert.tensor(chunk.to_list(), dtype=wengert.float64).sum(), 3.0, column)
    assert np.isclose(grad, 2 * numbers.sum())


def test_map_reduce(client):
    x, _ = rows()
    total, count = map_reduce(
        lambda chunk: (chunk.sum().item(), len(chunk)), lambda a, b: (a[0] + b[0], a[1] + b[1]), da.from_array(x, chunks=(50, -1))
    )
    assert np.isclose(total, x.sum()) and count == ROWS


def test_regression_reaches_the_optimum_of_scikit_learn(client):
    from scipy.optimize import minimize
    from sklearn.linear_model import LogisticRegression

    x, y = rows()
    chunks = da.from_array(x, chunks=(150, -1)), da.from_array(y, chunks=150)

    def objective(v):
        value, (w, b) = value_and_grad(pair_loss, (v[:-1], v[-1:]), chunks)
        return value.item(), np.concatenate([w, b])

    def pair_loss(params, chunk):
        return wengert.nn.functional.binary_cross_entropy_with_logits(chunk[0] @ params[0] + params[1], chunk[1], reduction="sum")

    found = minimize(objective, np.zeros(COLUMNS + 1), jac=True, options={"gtol": 1e-6}).x
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x, y)
    assert np.allclose(found, [*fitted.coef_[0], *fitted.intercept_], rtol=1e-4, atol=1e-5)


def test_a_chunk_is_computed_again_when_its_worker_is_killed(client, tmp_path):
    x, y = rows()
    marker, loss = str(tmp_path / "killed"), make_loss()

    def deadly(params, chunk):
        if not os.path.exists(marker):
            with open(marker, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return loss(params, chunk)

    w = np.ones(COLUMNS)
    value, grads = value_and_grad(deadly, {"w": w, "b": 0.0}, (da.from_array(x, chunks=(60, -1)), da.from_array(y, chunks=60)))
    assert os.path.exists(marker)
    assert np.isclose(value.item(), expected(w, 0.0, x, y)[0]) and np.allclose(grads["w"], expected(w, 0.0, x, y)[1])


def test_bad_arguments_are_refused(client):
    x, y = rows()
    whole = da.from_array(x, chunks=(100, -1))
    with pytest.raises(ValueError, match=r"f must return a tensor of one element, got \(100, 4\)"):
        value_and_grad(lambda p, chunk: chunk * p, 1.0, whole, retries=0)
    with pytest.raises(ValueError, match=r"along its first axis only. Hint: x.rechunk\(\{1: -1\}\)"):
        value_and_grad(make_loss(), 1.0, da.from_array(x, chunks=(100, 2)))
    with pytest.raises(ValueError, match="6, 3 chunks"):
        value_and_grad(make_loss(), 1.0, (whole, da.from_array(y, chunks=200)))
    with pytest.raises(TypeError, match="expected a Dask array, bag or dataframe"):
        value_and_grad(make_loss(), 1.0, x)
    with pytest.raises(TypeError, match="client must be a dask.distributed.Client or an address, got int"):
        value_and_grad(make_loss(), 1.0, whole, client=3)


def test_errors_in_chunks_name_the_chunk(client):
    numbers = da.from_array(np.array([4.0, 2.0, 0.0, 1.0]), chunks=1)
    with pytest.raises(ZeroDivisionError, match="float division by zero") as caught:
        map_reduce(lambda chunk: 1 / chunk.item(), lambda a, b: a, numbers, retries=0)
    assert caught.value.__notes__ == ["This was raised for chunk 2 of 4, counted from 0."]


def test_a_chunk_that_kills_its_workers_is_given_up(client):
    def deadly(chunk):
        if 3 in chunk:
            os.kill(os.getpid(), signal.SIGKILL)
        return len(chunk)

    with pytest.raises(distributed.KilledWorker, match="died while running it"):
        map_reduce(deadly, lambda a, b: a + b, db.from_sequence(range(6), npartitions=3))
    assert map_reduce(len, lambda a, b: a + b, db.from_sequence(range(6), npartitions=3)) == 6

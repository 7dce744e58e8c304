"""Libraries that are written for the Array API take ndarrays as they are: array-api-compat, einops, xarray, scikit-learn, SciPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import wengert
import wengert.numpy as np

X = numpy.array([[0.4, 0.9, 1.3], [1.7, 0.2, 0.1], [0.3, 0.8, 0.5], [2.0, 0.1, 0.4], [0.7, 1.1, 0.6]])


def test_the_namespace_says_what_it_has():
    info = np.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_dtypes()["real floating"] == numpy.float64
    assert list(info.devices()) == ["cpu"]  # a tuple since NumPy 2.5
    assert np.ones(2).__array_namespace__() is np
    assert np.__array_api_version__ == "2024.12"


def test_arguments_of_the_standard_that_numpy_lacks():
    x = np.array([1.0, 3.0, 3.0, 2.0]).requires_grad_()
    assert np.sort(x, descending=True).tolist() == [3.0, 3.0, 2.0, 1.0]
    assert np.argsort(x, descending=True).tolist() == [1, 2, 3, 0]
    assert np.argsort(np.array([[1, 2], [4, 3]]), axis=None, descending=True).tolist() == [2, 3, 1, 0]
    assert np.fft.rfftfreq(4, dtype=np.float32).dtype == np.float32
    assert np.unique_values(np.array([2, 1, 2])).tolist() == [1, 2]
    assert np.linalg.vecdot(np.ones((2, 3)).requires_grad_(), np.ones((2, 3)), axis=0).tolist() == [2.0, 2.0, 2.0]
    assert type(np.finfo(np.float32).eps) is float
    assert np.iinfo(np.arange(3)).max == 2**63 - 1


def test_array_api_compat():
    compat = pytest.importorskip("array_api_compat")
    x = np.array(X).requires_grad_()
    assert compat.array_namespace(x, np.ones(2)) is np
    assert compat.is_array_api_obj(x)
    assert compat.device(x) == "cpu"
    assert compat.size(x) == 15
    assert compat.to_device(x, "cpu") is x


def test_einops():
    einops = pytest.importorskip("einops.array_api")
    x = np.array(X).requires_grad_()
    found = einops.reduce(einops.rearrange(x, "a b -> b a"), "b a -> b", "mean")
    found.backward(numpy.array([1.0, 2.0, 3.0]))
    assert found.tolist() == pytest.approx(X.mean(0).tolist())
    numpy.testing.assert_allclose(numpy.asarray(x.grad), numpy.broadcast_to([0.2, 0.4, 0.6], (5, 3)))
    assert einops.repeat(x, "a b -> a b c", c=2).shape == (5, 3, 2)


def test_xarray():
    xarray = pytest.importorskip("xarray")
    x = np.array(X).requires_grad_()
    data = xarray.DataArray(x, dims=("time", "place"), coords={"place": ["a", "b", "c"]})
    found = ((data - data.mean("time")) ** 2).sum("time").sel(place="b")
    assert type(found.data) is np.ndarray
    found.data.backward()
    numpy.testing.assert_allclose(numpy.asarray(x.grad)[:, 1], 2 * (X[:, 1] - X[:, 1].mean()))
    assert float(x.grad[:, 0].sum()) == 0.0
    plain = xarray.DataArray(X, dims=("time", "place"))
    for ours, theirs in ((data.std(), plain.std()), (data.max("time"), plain.max("time")), (data.cumsum("time"), plain.cumsum("time"))):
        numpy.testing.assert_allclose(numpy.asarray(ours.data.detach()), theirs.data)


def run(program: str) -> None:
    """Run a program in a process of its own: SciPy reads SCIPY_ARRAY_API when it is imported."""
    source = Path(wengert.__file__).parents[1]
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


PREPARED = f"""
import numpy, wengert.numpy as np
X = numpy.array({X.tolist()})
Y = numpy.array([0, 1, 0, 1, 1])

def check(call, *values, is_differentiated=True):
    expected = call(numpy, *values)
    for requires_grad in (False, True):
        arrays = [np.array(v).requires_grad_(requires_grad and v.dtype.kind == "f") for v in values]
        found = call(np, *arrays)
        assert type(found) is np.ndarray and found.requires_grad is requires_grad, found
        numpy.testing.assert_allclose(numpy.asarray(found.detach()), expected, rtol=1e-9, atol=1e-9)
    if not is_differentiated:
        return
    weights = numpy.cos(numpy.arange(expected.size)).reshape(expected.shape)
    (found * weights).sum().backward()
    step = 1e-6 * numpy.sin(1.0 + numpy.arange(values[0].size)).reshape(values[0].shape)
    ends = [(call(numpy, values[0] + s * step, *values[1:]) * weights).sum() for s in (1, -1)]
    numpy.testing.assert_allclose((numpy.asarray(arrays[0].grad) * step).sum(), (ends[0] - ends[1]) / 2, rtol=1e-5, atol=1e-12)
"""


@pytest.mark.slow
def test_scikit_learn():
    pytest.importorskip("sklearn")
    run(
        PREPARED
        + """
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler

sklearn.set_config(array_api_dispatch=True)
for estimator in (StandardScaler(), MinMaxScaler(), MaxAbsScaler()):
    check(lambda xp, x: estimator.fit_transform(x), X)
# These write into what a derivative needs, and backward() says so.
for estimator in (PCA(2, svd_solver="full"), Normalizer(), PolynomialFeatures()):
    check(lambda xp, x: estimator.fit_transform(x), X, is_differentiated=False)
check(lambda xp, x: cosine_similarity(x), X, is_differentiated=False)
check(lambda xp, x: Ridge(solver="svd").fit(x, xp.asarray([1.0, 2.0, 3.0, 5.0, 4.0])).predict(x), X)
check(lambda xp, x: LinearDiscriminantAnalysis().fit(x, xp.asarray(Y)).predict_proba(x), X)
check(lambda xp, x: GaussianNB().fit(x, xp.asarray(Y)).predict_proba(x), X)
check(lambda xp, x: rbf_kernel(x), X)
"""
    )


@pytest.mark.slow
def test_scipy():
    pytest.importorskip("scipy", minversion="1.15")
    pytest.importorskip("array_api_compat", reason="SciPy needs array-api-compat for SCIPY_ARRAY_API")
    run(
        PREPARED
        + """
from scipy import fft, integrate, optimize, special, stats

V = X[:, 0]
for name in ("erf", "expit", "gammaln", "log_ndtr", "i0", "entr"):
    check(lambda xp, v: getattr(special, name)(v), V)
check(lambda xp, v: special.logsumexp(v), V)
check(lambda xp, v: special.softmax(v), V)
check(lambda xp, v: abs(fft.fft(v)), V)
check(lambda xp, v: stats.zscore(v), V)
check(lambda xp, v: stats.skew(v), V)
check(lambda xp, v: stats.kurtosis(v), V)
check(lambda xp, v: stats.pmean(v, 2), V)
check(lambda xp, v: stats.pearsonr(v, v**2).statistic, V)
check(lambda xp, v: stats.ttest_1samp(v, 0.5).statistic, V)
check(lambda xp, v: integrate.trapezoid(v), V)
check(lambda xp, v: optimize.rosen(v), V)
"""
    )

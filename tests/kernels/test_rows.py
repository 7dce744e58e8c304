"""The kernels that take several passes, against NumPy and SciPy in float64."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special

import wengert
from loops import each
from wengert.kernels import native, rows

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)

# Each kind as a NumPy function.
KINDS = {
    rows.SUM: lambda x, **where: x.sum(**where),
    rows.SQUARES: lambda x, **where: (x * x).sum(**where),
    rows.ABSOLUTES: lambda x, **where: abs(x).sum(**where),
    rows.LARGEST: lambda x, **where: x.max(**where),
    rows.SMALLEST: lambda x, **where: x.min(**where),
    rows.MEAN: lambda x, **where: x.mean(**where),
    rows.NORM: lambda x, **where: np.sqrt((x * x).sum(**where)),
}
SHAPES = [
    ((1000,), None), ((9001,), 0), ((7, 5000), 1), ((5000, 7), 0), ((3000, 1), 0), ((300, 300), 0), ((300, 300), 1),
    ((2500, 300), 0), ((4, 33, 65), 1), ((4, 33, 65), (0, 2)), ((5, 6, 7, 8), (1, 3)), ((5, 6, 7, 8), (0, 2)),
    ((5, 1, 7, 1), (1, 2)), ((40000, 3), 0), ((3, 40000, 2), 1), ((2, 3, 4), (0, 1, 2)), ((6000, 16), 1), ((3, 2), 1),
]  # fmt: skip
# In memory, dimensions that are reduced lie on both sides of one that is kept, or the other way round: NumPy's affair.
DECLINED_IN_FORTRAN_ORDER = [((4, 33, 65), 1), ((5, 6, 7, 8), (1, 3)), ((5, 6, 7, 8), (0, 2)), ((3, 40000, 2), 1)]


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture
def threads():
    before = wengert.get_num_threads()
    yield wengert.set_num_threads
    wengert.set_num_threads(before)


def close(found, expected, dtype, factor=1.0):
    tolerance = factor * (3e-6 if dtype == np.float32 else 1e-14)
    scale = max(1.0, float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=10 * tolerance, atol=tolerance * scale)


@each(("shape", "axis"), SHAPES)
@each("kind", KINDS)
def test_reductions(kind, shape, axis, dtype):
    x = RNG.normal(1.0, 1.0, shape).astype(dtype)
    for keepdims in (False, True):
        found = rows.reduce(kind, x, axis, keepdims)
        expected = KINDS[kind](x.astype(np.float64), axis=axis, keepdims=keepdims)
        assert found.dtype == dtype and found.shape == expected.shape
        close(found, expected, dtype)


@each(("shape", "axis"), SHAPES)
def test_reductions_of_other_layouts(shape, axis, dtype):
    x = RNG.normal(size=shape).astype(dtype)
    turned = np.asfortranarray(x)
    found = rows.reduce(rows.SUM, turned, axis, False)
    if (shape, axis) in DECLINED_IN_FORTRAN_ORDER:
        assert found is None
    else:
        close(found, x.sum(axis=axis, dtype=np.float64), dtype, factor=10)
    wide = np.zeros((*shape, 2), dtype)
    wide[..., 0] = x
    assert x.size == 1 or rows.reduce(rows.SUM, wide[..., 0], axis, False) is None  # gaps are NumPy's affair


def test_sums_are_the_same_for_any_number_of_threads(dtype, threads):
    for shape, axis in [((3_000_001,), None), ((2000, 999), 0), ((2000, 999), 1), ((200_000, 7), 0), ((30, 500, 40), 1)]:
        x = RNG.normal(size=shape).astype(dtype)
        found = set()
        for n in (1, 2, 3, 8):
            threads(n)
            found.add(rows.reduce(rows.SUM, x, axis, False).tobytes())
            found.add(rows.reduce(rows.SUM, x, axis, False).tobytes())
        assert len(found) == 1


@pytest.mark.parametrize(("shape", "axis"), [((2**20,), None), ((2**14, 64), 0), ((64, 2**14), 1), ((2**18, 4), 0)])
def test_sums_are_no_less_accurate_than_pairwise_ones(shape, axis):
    """NumPy adds contiguous numbers pairwise, so sums over any axis are compared with its sum over the last dimension."""
    ours, numpys = 0.0, 0.0
    for seed in range(8):
        x = np.random.default_rng(seed).uniform(0, 1, shape).astype(np.float32)
        exact = x.sum(axis=axis, dtype=np.float64)
        pairwise = x.sum() if axis is None else np.ascontiguousarray(np.moveaxis(x, axis, -1)).sum(axis=-1)
        ours += float(np.sum(abs(rows.reduce(rows.SUM, x, axis, False) - exact)))
        numpys += float(np.sum(abs(pairwise - exact)))
    assert ours <= 1.1 * numpys


@pytest.mark.parametrize("kind", [rows.LARGEST, rows.SMALLEST])
def test_extrema_keep_nan_wherever_it_stands(kind, dtype):
    for n in (1, 5, 16, 64, 65, 200, 5000):
        x = RNG.normal(size=(3, n)).astype(dtype)
        for place in {0, n // 2, n - 1}:
            y = x.copy()
            y[1, place] = np.nan
            for array, axis in ((y, 1), (np.ascontiguousarray(y.T), 0)):
                if n > 1:
                    np.testing.assert_array_equal(rows.reduce(kind, array, axis, False), KINDS[kind](array, axis=axis))


def test_extrema_of_infinities(dtype):
    x = np.full((4, 100), -np.inf, dtype)
    x[1, 50], x[2, 3] = np.inf, 0
    np.testing.assert_array_equal(rows.reduce(rows.LARGEST, x, 1, False), x.max(axis=1))
    np.testing.assert_array_equal(rows.reduce(rows.SMALLEST, x, 1, False), x.min(axis=1))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(rows.reduce(rows.SUM, x, 1, False), x.sum(axis=1))


@each(("shape", "axis"), [s for s in SHAPES if not isinstance(s[1], tuple)])
def test_variance(shape, axis, dtype):
    x = RNG.normal(100.0, 1.0, shape).astype(dtype)
    found = rows.variance(x, axis, False, 6.0)
    wide = x.astype(np.float64)
    n = x.size // max(1, wide.sum(axis=axis).size)
    close(found[0], wide.var(axis=axis) * n / 6.0, dtype, factor=30)
    close(found[1], wide.mean(axis=axis, keepdims=True), dtype)


def test_variance_of_equal_elements_is_exactly_0(dtype):
    x = np.full((50, 77), 0.1, dtype)
    for axis in (None, 0, 1):
        assert not rows.variance(x, axis, False, 5.0)[0].any()


@pytest.mark.parametrize("shape", [(1,), (5,), (4097,), (3, 7), (50, 16), (7, 300), (300, 7), (4, 33, 65), (2, 5, 600)])
def test_softmax_and_its_logarithm(shape, dtype):
    x = (5 * RNG.normal(size=shape)).astype(dtype)
    ct = RNG.normal(size=shape).astype(dtype)
    for axis in range(x.ndim):
        for logs, reference in ((False, special.softmax), (True, special.log_softmax)):
            out = rows.softmax(logs, axis, x)
            expected = reference(x.astype(np.float64), axis=axis)
            close(out, expected, dtype)
            weights = np.exp(expected) if logs else expected
            total = (ct * (1 if logs else expected)).sum(axis=axis, keepdims=True)
            close(rows.softmax(logs, axis, ct, out), ct * (1 if logs else expected) - weights * total, dtype, factor=10)


def test_softmax_underflows_gradually(dtype):
    limit = -103.0 if dtype == np.float32 else -744.0
    x = np.array([[0.0, limit, limit - 3, -np.inf] * 8], dtype)
    expected = np.exp(x.astype(np.longdouble)) / 8
    np.testing.assert_allclose(rows.softmax(False, 1, x), expected.astype(dtype), rtol=1e-3, atol=float(np.finfo(dtype).smallest_subnormal))
    assert rows.softmax(False, 1, x)[0, 2] == 0 == rows.softmax(False, 1, x)[0, 3]


def test_softmax_of_infinite_and_nan_elements(dtype):
    x = np.array([[-np.inf] * 3, [np.inf, 0, 1], [np.nan, 0, 1], [-np.inf, 0, 0]], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rows.softmax(False, 1, x)
        sums = rows.logsumexp(x, 1, False)
    assert np.isnan(found[:3]).all()
    np.testing.assert_array_equal(found[3], np.array([0, 0.5, 0.5], dtype))
    np.testing.assert_array_equal(sums[:2], np.array([-np.inf, np.inf], dtype))
    assert np.isnan(sums[2])


@pytest.mark.parametrize("shape", [(6, 3), (6, 100), (3, 5000), (2, 3, 40)])
def test_logsumexp(shape, dtype):
    x = (5 * RNG.normal(size=shape)).astype(dtype)
    close(rows.logsumexp(x, x.ndim - 1, True), special.logsumexp(x.astype(np.float64), axis=-1, keepdims=True), dtype)


@pytest.mark.parametrize("shape", [(6, 3), (40, 10), (6, 100), (300, 5000)])
def test_cross_entropy(shape, dtype):
    x = (5 * RNG.normal(size=shape)).astype(dtype)
    target = RNG.integers(0, shape[1], shape[0])
    losses, probabilities = rows.cross_entropy(x, target)
    expected = special.log_softmax(x.astype(np.float64), axis=1)
    close(losses, -expected[np.arange(len(x)), target], dtype)
    close(probabilities, np.exp(expected), dtype)
    assert rows.cross_entropy(x, np.full(len(x), shape[1])) is None  # no such class: for the caller to tell


@each("shape", [(6, 10), (40, 64), (1000, 33), (3, 5000)])
@each("has_weight", [False, True])
@each("has_bias", [False, True])
def test_layer_norm(shape, has_weight, has_bias, dtype):
    x, ct = (RNG.normal(2.0, 3.0, shape).astype(dtype) for _ in range(2))
    n = shape[1]
    weight = RNG.normal(size=n).astype(dtype) if has_weight else None
    bias = RNG.normal(size=n).astype(dtype) if has_bias else None
    out, mean, rstd = rows.standardize(x, weight, bias, n, 1e-5)
    wide = x.astype(np.float64)
    factor = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    h = (wide - wide.mean(axis=1, keepdims=True)) * factor
    scaled = h if weight is None else h * weight
    close(out, scaled if bias is None else scaled + bias, dtype, factor=5)
    close(mean, wide.mean(axis=1), dtype)
    close(rstd, factor[:, 0], dtype, factor=5)
    of_x, of_weight, of_bias = rows.standardize_cotangent(ct, x, mean, rstd, weight, 7)
    g = ct.astype(np.float64) if weight is None else ct.astype(np.float64) * weight
    expected = (g - g.mean(axis=1, keepdims=True) - h * (g * h).mean(axis=1, keepdims=True)) * factor
    close(of_x, expected, dtype, factor=10)
    close(of_weight, (ct * h).sum(axis=0), dtype, factor=10)
    close(of_bias, ct.sum(axis=0, dtype=np.float64), dtype, factor=10)
    assert rows.standardize_cotangent(ct, x, mean, rstd, weight, 1)[1:] == (None, None)


def test_other_dtypes_and_nothing_to_do_are_declined():
    assert rows.reduce(rows.SUM, np.ones(5, np.int64), None, False) is None
    assert rows.reduce(rows.SUM, np.ones(5, np.complex64), None, False) is None
    assert rows.reduce(rows.SUM, np.ones(5, ">f4"), None, False) is None
    assert rows.reduce(rows.SUM, np.ones((0, 5), np.float32), None, False) is None
    assert rows.reduce(rows.SUM, np.ones((1, 5), np.float32), 0, False) is None
    assert rows.reduce(rows.SUM, np.float32(1), None, False) is None
    assert rows.softmax(False, 0, np.ones(5, np.float16)) is None
    assert rows.softmax(False, 0, np.ones(5, np.float32), np.ones(5)) is None


def test_axes_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="axis 2 is out of range for 2 dims"):
        rows.reduce(rows.SUM, np.ones((2, 3), np.float32), 2, False)
    with pytest.raises(ValueError, match="axis 1 is out of range for 1 dims"):
        rows.softmax(False, 1, np.ones(3, np.float32))

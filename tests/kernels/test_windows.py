"""The kernels over windows of pictures, against loops over the windows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native, windows

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
# kernel, stride, padding, dilation, and how many windows a picture of 9 x 12 has
CASES = [
    ((2, 2), (2, 2), (0, 0), (1, 1)),
    ((3, 2), (1, 2), (1, 0), (1, 1)),
    ((3, 3), (2, 1), (1, 1), (2, 3)),
    ((1, 4), (1, 1), (0, 2), (1, 1)),
]


def count(size, kernel, stride, padding, dilation):
    rows = zip(size, kernel, stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in rows)


def largest_in_windows(picture, kernel, stride, padding, dilation):
    """The largest element of each window and its place: the first of equal ones, or the last NaN."""
    size = picture.shape
    shape = count(size, kernel, stride, padding, dilation)
    best, places = np.empty(shape, picture.dtype), np.empty(shape, np.int64)
    for i, j in np.ndindex(*shape):
        found = None
        for p, q in np.ndindex(*kernel):
            y, x = i * stride[0] - padding[0] + p * dilation[0], j * stride[1] - padding[1] + q * dilation[1]
            if 0 <= y < size[0] and 0 <= x < size[1]:
                value = picture[y, x]
                if found is None or value > found[0] or np.isnan(value):
                    found = value, y * size[1] + x
        best[i, j], places[i, j] = found
    return best, places


@each("dtype", ["float32", "float64"])
@each(("kernel", "stride", "padding", "dilation"), CASES)
@each("special", ["none", "ties", "nan", "minus infinity"])
def test_max_pool(kernel, stride, padding, dilation, special, dtype):
    x = RNG.normal(size=(2, 3, 9, 12)).astype(dtype)
    if special == "ties":
        x = np.round(x)
    if special == "nan":
        x[RNG.uniform(size=x.shape) < 0.1] = np.nan
    if special == "minus infinity":
        x[RNG.uniform(size=x.shape) < 0.8] = -np.inf
    shape = count(x.shape[-2:], kernel, stride, padding, dilation)
    best, places = windows.max_pool(x, kernel, stride, padding, dilation, shape, True)
    for n, c in np.ndindex(2, 3):
        expected = largest_in_windows(x[n, c], kernel, stride, padding, dilation)
        np.testing.assert_array_equal(best[n, c], expected[0])
        np.testing.assert_array_equal(places[n, c], expected[1])


def largest_by_loops(image, windows_at):
    """The largest element of each window, a list of places in the image, and its place there: as above, in any dimensions."""
    best, places = [], []
    for window in windows_at:
        found = None
        for place in window:
            value = image[place]
            if found is None or value > found[0] or np.isnan(value):
                found = value, np.ravel_multi_index(place, image.shape)
        best.append(found[0])
        places.append(found[1])
    return np.array(best), np.array(places)


def windows_by_loops(size, kernel, stride, padding, dilation):
    """The places inside of each window."""
    found = []
    for window in np.ndindex(*count(size, kernel, stride, padding, dilation)):
        rows = list(zip(window, stride, padding, dilation, strict=True))
        taps = [tuple(w * s - p + t * d for t, (w, s, p, d) in zip(tap, rows, strict=True)) for tap in np.ndindex(*kernel)]
        found.append([tap for tap in taps if all(0 <= a < n for a, n in zip(tap, size, strict=True))])
    return found


def picture_with(special, shape, dtype):
    x = RNG.normal(size=shape).astype(dtype)
    if special == "ties":
        x = np.round(x)
    if special == "nan":
        x[RNG.uniform(size=x.shape) < 0.2] = np.nan
    if special == "minus infinity":
        x[RNG.uniform(size=x.shape) < 0.8] = -np.inf
    return x


@pytest.mark.slow
@each("dtype", ["float32", "float64"])
@each(
    ("size", "where"),
    [
        ((30,), ((3,), (2,), (1,), (1,))),
        ((5, 6, 7), ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1))),
        ((5, 6, 7), ((3, 2, 3), (1, 2, 3), (1, 0, 1), (1, 2, 1))),
        ((2, 3, 600), ((2, 1, 3), (1, 1, 1), (1, 0, 0), (1, 1, 2))),
    ],
)
@each("special", ["none", "ties", "nan", "minus infinity"])
def test_max_pool_in_one_and_three_dimensions(size, where, special, dtype):
    x, shape = picture_with(special, (2, *size), dtype), count(size, *where)
    best, places = windows.max_pool(x, *where, shape, True)
    np.testing.assert_array_equal(windows.max_pool(x, *where, shape, False), best)
    assert best.shape == places.shape == (2, *shape)
    for n in range(2):
        expected = largest_by_loops(x[n], windows_by_loops(size, *where))
        np.testing.assert_array_equal(best[n].ravel(), expected[0])
        np.testing.assert_array_equal(places[n].ravel(), expected[1])


@each("dtype", ["float32", "float64"])
@each(("size", "shape"), [((11,), (4,)), ((7, 9), (3, 9)), ((5, 6, 7), (2, 3, 4)), ((2, 3), (5, 1))])
@each("special", ["none", "ties", "nan", "minus infinity"])
def test_max_pool_of_even_stretches(size, shape, special, dtype):
    x, stretches = picture_with(special, (2, 3, *size), dtype), []
    for place in np.ndindex(*shape):
        rows = list(zip(place, size, shape, strict=True))
        sides = [range(j * n // m, -(-(j + 1) * n // m)) for j, n, m in rows]
        stretches.append(list(product(*sides)))
    best, places = windows.max_pool_stretches(x, shape)
    for n, c in np.ndindex(2, 3):
        expected = largest_by_loops(x[n, c], stretches)
        np.testing.assert_array_equal(best[n, c].ravel(), expected[0])
        np.testing.assert_array_equal(places[n, c].ravel(), expected[1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
def test_fill_columns(kernel, stride, padding, dilation, dtype):
    x = RNG.normal(size=(2, 3, 9, 12)).astype(dtype)
    n = count((9, 12), kernel, stride, (0, 0), dilation)
    for padded in (x, np.asfortranarray(x), x[:, :, ::-1]):
        columns = np.zeros((2, 3, *kernel, *n), dtype)
        assert windows.fill_columns(columns, padded, stride, dilation)
        for p, q in np.ndindex(*kernel):
            rows = slice(p * dilation[0], p * dilation[0] + (n[0] - 1) * stride[0] + 1, stride[0])
            across = slice(q * dilation[1], q * dilation[1] + (n[1] - 1) * stride[1] + 1, stride[1])
            np.testing.assert_array_equal(columns[:, :, p, q], padded[:, :, rows, across])


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
def test_add_up_columns_is_the_adjoint(kernel, stride, padding, dilation):
    n = count((9, 12), kernel, stride, padding, dilation)
    columns = RNG.normal(size=(2, 3, *kernel, *n))
    expected = np.zeros((2, 3, 9 + 2 * padding[0], 12 + 2 * padding[1]))
    for p, q in np.ndindex(*kernel):
        for i, j in np.ndindex(*n):
            expected[:, :, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]] += columns[:, :, p, q, i, j]
    expected = expected[:, :, padding[0] : padding[0] + 9, padding[1] : padding[1] + 12]
    for array in (columns, np.moveaxis(np.moveaxis(columns, 0, 3).copy(), 3, 0)):
        np.testing.assert_allclose(windows.add_up_columns(array, (9, 12), stride, padding, dilation), expected)


def test_windows_beyond_the_array_are_refused():
    columns = np.zeros((1, 1, 3, 3, 8, 10), np.float32)
    with pytest.raises(ValueError, match="the windows do not lie in the array"):
        windows.fill_columns(columns, np.zeros((1, 1, 9, 12), np.float32), (1, 1), (1, 1))
    with pytest.raises(ValueError, match="the windows do not lie in the array"):
        windows.fill_columns(columns[..., :7, :], np.zeros((2, 1, 9, 12), np.float32), (1, 1), (1, 1))


def test_add_at_places():
    values = RNG.normal(size=(2, 3, 4, 5))
    places = RNG.integers(0, 42, values.shape)
    expected = np.zeros((2, 3, 42))
    for n, c in np.ndindex(2, 3):
        np.add.at(expected[n, c], places[n, c].ravel(), values[n, c].ravel())
    for size in ((6, 7), (2, 3, 7)):
        flat = values.reshape(2, 3, *values.shape[2:], *(1,) * (len(size) - 2)), places.reshape(2, 3, 4, 5, *(1,) * (len(size) - 2))
        found = windows.add_at_places(*flat, size)
        assert found.shape == (2, 3, *size)
        np.testing.assert_allclose(found.reshape(2, 3, 42), expected)
    found = windows.add_at_places(values.reshape(2, 3, 20), places.reshape(2, 3, 20), (42,))
    np.testing.assert_allclose(found, expected)


def test_results_are_the_same_for_any_number_of_threads():
    x = RNG.normal(size=(64, 8, 30, 30)).astype(np.float32)
    before, found = wengert.get_num_threads(), set()
    try:
        for n in (1, 2, 4):
            wengert.set_num_threads(n)
            best, places = windows.max_pool(x, (3, 3), (2, 2), (1, 1), (1, 1), (15, 15), True)
            found.add(best.tobytes() + places.tobytes() + windows.add_at_places(best, places, (30, 30)).tobytes())
    finally:
        wengert.set_num_threads(before)
    assert len(found) == 1


def convolution_by_loops(x, weight, bias, stride, padding, dilation, shape, groups):
    """The sum over each window, in float64, and the adjoints of its linear part: functions of a cotangent."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    n, (outputs, channels) = len(x), weight.shape[:2]
    out = np.zeros((n, outputs, *shape)) + (0 if bias is None else bias.astype(np.float64)[:, None, None])
    terms = []  # (window, tap and channel, place) that meet inside the picture
    for o, i, j, c, p, q in np.ndindex(outputs, *shape, channels, *weight.shape[2:]):
        y, z = i * stride[0] - padding[0] + p * dilation[0], j * stride[1] - padding[1] + q * dilation[1]
        if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]:
            terms.append(((o, i, j), (o, c, p, q), (o // (outputs // groups) * channels + c, y, z)))

    def adjoints(ct):
        of_x, of_weight = np.zeros(x.shape), np.zeros(weight.shape)
        for (o, i, j), tap, (c, y, z) in terms:
            of_x[:, c, y, z] += weight[tap] * ct[:, o, i, j]
            of_weight[tap] += x[:, c, y, z] @ ct[:, o, i, j]
        return of_x, of_weight

    for (o, i, j), tap, (c, y, z) in terms:
        out[:, o, i, j] += weight[tap] * x[:, c, y, z]
    return out, adjoints


@each("dtype", ["float32", "float64"])
@each(("kernel", "stride", "padding", "dilation"), [*CASES, ((3, 3), (2, 2), (4, 3), (3, 2))])
@each(("groups", "outputs", "bias"), [(1, 7, True), (2, 6, False), (4, 4, True)])
def test_convolutions(kernel, stride, padding, dilation, groups, outputs, bias, dtype):
    x, weight = (RNG.normal(size=s).astype(dtype) for s in ((3, 4, 9, 12), (outputs, 4 // groups, *kernel)))
    bias = RNG.normal(size=outputs).astype(dtype) if bias else None
    shape = count((9, 12), kernel, stride, padding, dilation)
    ct = RNG.normal(size=(3, outputs, *shape)).astype(dtype)
    expected, adjoints = convolution_by_loops(x, weight, bias, stride, padding, dilation, shape, groups)
    of_x, of_weight = adjoints(ct.astype(np.float64))
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-12}
    where = (stride, padding, dilation)
    np.testing.assert_allclose(windows.convolve(x, weight, bias, *where, shape, groups), expected, **tolerance)
    np.testing.assert_allclose(windows.convolve_adjoint(ct, weight, *where, (9, 12), groups), of_x, **tolerance)
    np.testing.assert_allclose(windows.convolve_weight(x, ct, *where, kernel, groups), of_weight, **tolerance)


# More channels, places and pictures than one block has, and numbers that do not divide: against products with numpy's einsum.
@pytest.mark.parametrize("shape", [(1, 70, 33, 31), (37, 3, 7, 5), (2, 300, 5, 4), (3, 2, 1, 1500)])
@pytest.mark.parametrize("outputs", [1, 17, 40])
def test_convolutions_of_several_blocks(shape, outputs):
    x, weight = RNG.normal(size=shape), RNG.normal(size=(outputs, shape[1], 1, 3))
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1))), 3, axis=3)
    ct = RNG.normal(size=(shape[0], outputs, *shape[2:]))
    where = ((1, 1), (0, 1), (1, 1))
    out = windows.convolve(x, weight, None, *where, shape[2:], 1)
    np.testing.assert_allclose(out, np.einsum("nchwt,oct->nohw", view, weight[:, :, 0]), rtol=1e-10, atol=1e-10)
    of_weight = windows.convolve_weight(x, ct, *where, (1, 3), 1)
    np.testing.assert_allclose(of_weight[:, :, 0], np.einsum("nchwt,nohw->oct", view, ct), rtol=1e-9, atol=1e-9)
    of_x = windows.convolve_adjoint(ct, weight, *where, shape[2:], 1)
    np.testing.assert_allclose(np.vdot(of_x, x), np.vdot(ct, out), rtol=1e-9, atol=1e-7)


def test_convolutions_in_one_dimension():
    x, weight = RNG.normal(size=(2, 3, 40)), RNG.normal(size=(4, 3, 5))
    out = windows.convolve(x, weight, None, (2,), (2,), (1,), (20,), 1)
    expected = windows.convolve(x[:, :, None], weight[:, :, None], None, (1, 2), (0, 2), (1, 1), (1, 20), 1)
    np.testing.assert_array_equal(out, expected[:, :, 0])
    assert windows.convolve_weight(x, out, (2,), (2,), (1,), (5,), 1).shape == weight.shape
    assert windows.convolve_adjoint(out, weight, (2,), (2,), (1,), (40,), 1).shape == x.shape


def test_convolutions_are_the_same_for_any_number_of_threads():
    x, weight = (RNG.normal(size=s).astype(np.float32) for s in ((19, 3, 20, 20), (8, 3, 5, 5)))
    where, before = ((1, 1), (2, 2), (1, 1)), wengert.get_num_threads()
    results = []
    try:
        for n in (1, 2, 5):
            wengert.set_num_threads(n)
            out = windows.convolve(x, weight, None, *where, (20, 20), 1)
            adjoint = windows.convolve_adjoint(out, weight, *where, (20, 20), 1)
            results.append((out, adjoint, windows.convolve_weight(x, out, *where, (5, 5), 1)))
    finally:
        wengert.set_num_threads(before)
    for result in results[1:]:
        for one, other in zip(results[0], result, strict=True):
            np.testing.assert_array_equal(one, other)


def test_convolutions_take_views_and_leave_the_rest():
    x, weight = RNG.normal(size=(2, 8, 8, 3)).transpose(0, 3, 1, 2), RNG.normal(size=(4, 3, 3, 6))[..., ::2]
    where = ((1, 1), (1, 1), (1, 1), (8, 8), 1)
    expected = windows.convolve(x.copy(), weight.copy(), None, *where)
    np.testing.assert_array_equal(windows.convolve(x, weight, None, *where), expected)
    for other in (x.astype(np.float16), x.astype(complex), x.astype(">f8"), x[:0], x[:, :, :, :, None]):
        assert windows.convolve(other, weight.astype(other.dtype), None, *where) is None
    assert windows.convolve(x, weight.astype(np.float32), None, *where) is None
    assert windows.convolve(x, weight, None, *where[:-1], 2) is None  # groups that do not fit
    assert windows.convolve_adjoint(expected, weight, (1, 1), (1, 1), (1, 1), (0, 8), 1) is None


def test_convolution_passes_special_values_on():
    """An infinite weight meets the zeros of the padding: NaN at the border, infinite inside."""
    x, weight = np.ones((1, 1, 3, 3), np.float32), np.zeros((1, 1, 3, 3), np.float32)
    weight[0, 0, 0, 0] = np.inf
    out = windows.convolve(x, weight, None, (1, 1), (1, 1), (1, 1), (3, 3), 1)[0, 0]
    np.testing.assert_array_equal(out, [[np.nan] * 3, [np.nan, np.inf, np.inf], [np.nan, np.inf, np.inf]])
    tiny = np.full((1, 1, 1, 2), 1e-42, np.float32)  # subnormal
    out = windows.convolve(tiny, np.ones((1, 1, 1, 2), np.float32), None, (1, 1), (0, 0), (1, 1), (1, 1), 1)
    assert out[0, 0, 0, 0] == np.float32(1e-42) + np.float32(1e-42) > 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation"),
    [
        ((4, 5, 6), (3, 2, 3), (1, 1, 1), (1, 1, 0), (1, 1, 1)),
        ((7, 6, 5), (2, 3, 2), (2, 1, 2), (1, 2, 1), (2, 1, 1)),
        ((3, 20, 300), (2, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1)),  # several blocks to a picture
        ((9, 9, 9), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),  # blocks that end inside a plane
    ],
)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_in_three_dimensions(size, kernel, stride, padding, dilation, groups, dtype):
    """Tap by tap, with NumPy's slices of the padded volume."""
    x, weight = (RNG.normal(size=s).astype(dtype) for s in ((2, 4, *size), (6, 4 // groups, *kernel)))
    shape, bias = count(size, kernel, stride, padding, dilation), RNG.normal(size=6).astype(dtype)
    ct = RNG.normal(size=(2, 6, *shape)).astype(dtype)
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *[(p, p) for p in padding]))
    expected, of_wide, of_weight = np.zeros(ct.shape) + bias[:, None, None, None], np.zeros(wide.shape), np.zeros(weight.shape)
    for tap in np.ndindex(*kernel):
        rows = zip(tap, dilation, shape, stride, strict=True)
        place = (..., *[slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in rows])
        for g in range(groups):
            o, c = slice(g * 6 // groups, (g + 1) * 6 // groups), slice(g * 4 // groups, (g + 1) * 4 // groups)
            factor, seen = weight[(o, slice(None), *tap)], wide[:, c][place]
            expected[:, o] += np.einsum("oc,nczyx->nozyx", factor, seen)
            of_wide[:, c][place] += np.einsum("oc,nozyx->nczyx", factor, ct[:, o])
            of_weight[(o, slice(None), *tap)] = np.einsum("nczyx,nozyx->oc", seen, ct[:, o])
    of_x = of_wide[(..., *[slice(p, p + n) for p, n in zip(padding, size, strict=True)])]
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    where = (stride, padding, dilation)
    np.testing.assert_allclose(windows.convolve(x, weight, bias, *where, shape, groups), expected, **tolerance)
    np.testing.assert_allclose(windows.convolve_adjoint(ct, weight, *where, size, groups), of_x, **tolerance)
    np.testing.assert_allclose(windows.convolve_weight(x, ct, *where, kernel, groups), of_weight, **tolerance)

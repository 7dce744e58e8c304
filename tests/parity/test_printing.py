"""The printed form against torch's repr, on random tensors of every dtype, shape and set of options."""

import random

import numpy as np
import pytest

from loops import each
from wengert import dtypes as D
from wengert.printing import format_tensor, set_printoptions

torch = pytest.importorskip("torch")

OPTIONS = {
    "precision": [0, 1, 2, 4, 6, 10],
    "threshold": [0, 1, 5, 10, 1000, float("inf")],
    "edgeitems": [0, 1, 2, 3, 5],
    "linewidth": [1, 10, 20, 40, 80, 200],
    "sci_mode": [None, True, False],
}
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-310, -1e308, 1000.0, 1001.0, 1e8, 1e-4, 9e-5, 1.0]


@pytest.fixture(autouse=True)
def _restore():
    yield
    reset()


def reset():
    torch.set_printoptions(profile="default")
    set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    D.set_default_dtype(D.float32)


def random_options(rng):
    """Sets the same options in both libraries, and returns them."""
    reset()
    chosen = {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.5}
    if rng.random() < 0.7:
        chosen = {}
    torch.set_printoptions(**chosen)
    set_printoptions(**chosen)
    default = rng.choice([D.float32] * 6 + [D.float64, D.float16])
    torch.set_default_dtype(getattr(torch, default.name))
    D.set_default_dtype(default)
    return chosen, default


def random_shape(rng):
    ndim = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 4, 5])
    if ndim == 1:
        return (rng.choice([0, 1, 2, 5, 13, 40, 200, 2000]),)
    return tuple(rng.choice([0, 1, 2, 3, 5, 7, 8] + [20] * (ndim < 4)) for _ in range(ndim))


def random_floats(rng, generator, shape):
    """Numbers of the kinds that formats differ by: whole, tiny, huge, of many magnitudes, special."""
    numbers = generator.standard_normal(shape)
    kind = rng.randrange(6)
    if kind == 0:
        numbers = numbers * 10 ** rng.uniform(-12, 12)
    elif kind == 1:
        numbers = np.round(numbers * 10 ** rng.uniform(0, 6))
    elif kind == 2:
        numbers = numbers * 10 ** (generator.standard_normal(shape) * rng.choice([1, 3, 50]))
    elif kind == 3:
        numbers = np.round(numbers * 3) / 2
    elif kind == 4:
        numbers = np.zeros(shape)
    if rng.random() < 0.4:
        for value in rng.sample(SPECIAL, 4):
            numbers = np.where(generator.random(shape) < rng.choice([0.1, 0.5]), value, numbers)
    return numbers


def random_array(rng, generator, d, shape):
    if d is D.bool_:
        return generator.random(shape) < rng.choice([0.5, 0.01, 0.99])
    if d.is_complex or d.is_floating_point:
        array = random_floats(rng, generator, shape)
        if d.is_complex:
            array = array + np.multiply(1j, random_floats(rng, generator, shape))
    else:
        high = min(D.iinfo(d).max, 10 ** rng.randint(0, 18))
        low = max(D.iinfo(d).min, -(10 ** rng.randint(0, 18))) if rng.random() < 0.5 else 0
        array = generator.integers(low, high, shape, endpoint=True)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(array).astype(d.dtype)


def to_torch(array, d):
    if d is D.bfloat16:
        return torch.from_numpy(np.asarray(array.astype(np.float32))).to(torch.bfloat16)
    return torch.from_numpy(np.asarray(array))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_random_tensors(seed):
    rng, generator = random.Random(seed), np.random.default_rng(seed)
    for _ in range(150):
        options, default = random_options(rng)
        d, shape = rng.choice(D.DTYPES), random_shape(rng)
        array = random_array(rng, generator, d, shape)
        theirs = to_torch(array, d)
        grad = rng.choice([None, "leaf", "node"]) if d.is_floating_point or d.is_complex else None
        if grad is not None:
            theirs.requires_grad_()
        if grad == "node":
            theirs = theirs.clone()
        if rng.random() < 0.2:
            array, theirs = array.T, theirs.permute(list(range(theirs.dim()))[::-1])
        node = theirs.grad_fn.name() if theirs.grad_fn is not None else None
        ours = format_tensor(array, requires_grad=grad is not None, grad_fn_name=node)
        assert ours == repr(theirs), (options, default, d, shape)


@each("d", D.DTYPES)
@each("shape", [(), (0,), (0, 3), (1,), (2, 3), (2, 0, 3), (2, 2, 2), (1, 1, 1, 1), (1001,)])
def test_each_dtype_in_each_shape(d, shape):
    array = np.ones(shape, d)
    assert format_tensor(array) == repr(to_torch(array, d))


@each("value", [10.0**n for n in range(-12, 13)] + [9.99999e-5, 999.99995, 0.99995, 123456.789])
@each("name", ["float16", "bfloat16", "float32", "float64"])
def test_single_numbers(value, name):
    d = D.as_dtype(name)
    with np.errstate(over="ignore"):
        array = np.array([value], d)
        half = np.array([value / 2], d)
    for shaped in (array, array[0:1].reshape(()), np.concatenate([array, -array, half])):
        assert format_tensor(shaped) == repr(to_torch(shaped, d))


def test_parameters_and_device():
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    assert format_tensor(np.ones((2, 2), np.float32), requires_grad=True, is_parameter=True) == repr(parameter)
    meta = repr(torch.empty(0, 2, device="meta", dtype=torch.float64)).replace("tensor(...", "tensor([]")
    assert format_tensor(np.ones((0, 2)), device="meta") == meta

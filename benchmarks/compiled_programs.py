"""Programs that are timed as eager wengert, as recordings, as C and in jax.jit: the same computations, once in each library.

`wengert` makes a function of tensors, and its arguments, from the library. `jax` makes the same for jax, with jax.jit applied where
a user of jax applies it. Both start from the same numbers, and return the same ones, in the order of tree_flatten of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Made = tuple[Callable[..., Any], tuple[Any, ...]]


class Pair(NamedTuple):
    """A program in two libraries. over_jax, over_eager: aims for the time of jax.jit and of eager calls, over that of the program.

    tolerance: of the relative difference of the results, which sums in another order make."""

    name: str
    title: str
    wengert: Callable[[Any], Made]
    jax: Callable[[Any], Made]
    over_jax: float
    over_eager: float
    tolerance: float


def draw(*shape: int, seed: int, low: float = -1.0, high: float = 1.0, dtype: Any = np.float64) -> np.ndarray:
    """Return uniform numbers."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


# -- small programs ----------------------------------------------------------------------------------------------------


def _chain(x: Any) -> Any:
    y = x
    for _ in range(50):
        y = y * 1.01 + 0.01 * x
    return y.sum()


def chain(torch: Any) -> Made:
    """100 multiplications and additions, and the gradient of their sum."""
    return (lambda x: torch.autograd.grad(_chain(x), x)[0]), (torch.tensor(draw(4, 4, seed=0), requires_grad=True),)


def jax_chain(jax: Any) -> Made:
    return jax.jit(jax.grad(_chain)), (jax.numpy.array(draw(4, 4, seed=0)),)


def _rosenbrock(x: Any) -> Any:
    total = 0.0
    for i in range(9):
        total = total + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def rosenbrock(torch: Any) -> Made:
    """Each element is read as a scalar."""

    def function(x: Any) -> Any:
        value = _rosenbrock(x)
        return value.detach(), torch.autograd.grad(value, x)[0]

    return function, (torch.tensor(draw(10, seed=0), requires_grad=True),)


def jax_rosenbrock(jax: Any) -> Made:
    return jax.jit(jax.value_and_grad(_rosenbrock)), (jax.numpy.array(draw(10, seed=0)),)


def _network(library: Any, array: Any) -> Callable[[Any], Any]:
    weight, bias, scale = array(draw(50, 50, seed=0)), array(draw(50, seed=1)), array(draw(50, seed=2))
    return lambda x: (library.tanh(weight @ x + bias) * scale).sum()


def hessian(torch: Any) -> Made:
    return torch.func.hessian(_network(torch, torch.tensor)), (torch.tensor(draw(50, seed=3)),)


def jax_hessian(jax: Any) -> Made:
    return jax.jit(jax.hessian(_network(jax.numpy, jax.numpy.array))), (jax.numpy.array(draw(50, seed=3)),)


# -- training steps ----------------------------------------------------------------------------------------------------

_RATE = 1e-3


def _layers(sizes: tuple[int, ...]) -> list[np.ndarray]:
    return [
        draw(*shape, seed=i, low=-(shape[0] ** -0.5), high=shape[0] ** -0.5, dtype=np.float32)
        for i, (n_in, n_out) in enumerate(pairwise(sizes))
        for shape in ((n_in, n_out), (1, n_out))
    ]


def _outputs(layers: Any, x: Any, activate: Callable[[Any], Any]) -> Any:
    layers = list(layers)
    while len(layers) > 2:
        weight, bias, *layers = layers
        x = activate(x @ weight + bias)
    return x @ layers[0] + layers[1]


def _step(torch: Any, sizes: tuple[int, ...], activation: str, loss_of: Any, *data: np.ndarray) -> Made:
    parameters = [torch.tensor(layer, requires_grad=True) for layer in _layers(sizes)]
    optimizer = torch.optim.SGD(parameters, lr=_RATE)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(_outputs(parameters, x, getattr(torch, activation)), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, tuple([torch.tensor(x) for x in data])


def _jax_step(jax: Any, sizes: tuple[int, ...], activate: Any, loss_of: Any, *data: np.ndarray) -> Made:
    @jax.jit
    def step(parameters: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: loss_of(_outputs(p, x, activate), y))(parameters)
        return [p - np.float32(_RATE) * g for p, g in zip(parameters, grads, strict=True)], loss

    state = [[jax.numpy.array(layer) for layer in _layers(sizes)]]

    def run(x: Any, y: Any) -> Any:
        state[0], loss = step(state[0], x, y)
        return loss

    return run, tuple(map(jax.numpy.array, data))


_SMALL = (2, 16, 16, 1), draw(16, 2, seed=0, dtype=np.float32), draw(16, 1, seed=1, dtype=np.float32)
_LARGE = (784, 256, 128, 10), draw(64, 784, seed=0, dtype=np.float32), np.arange(64) % 10


def small_step(torch: Any) -> Made:
    sizes, x, y = _SMALL
    return _step(torch, sizes, "tanh", torch.nn.functional.mse_loss, x, y)


def jax_small_step(jax: Any) -> Made:
    sizes, x, y = _SMALL
    return _jax_step(jax, sizes, jax.numpy.tanh, lambda out, y: ((out - y) ** 2).mean(), x, y)


def large_step(torch: Any) -> Made:
    sizes, x, y = _LARGE
    return _step(torch, sizes, "relu", torch.nn.functional.cross_entropy, x, y)


def jax_large_step(jax: Any) -> Made:
    sizes, x, y = _LARGE

    def cross_entropy(out: Any, y: Any) -> Any:
        return -jax.numpy.take_along_axis(jax.nn.log_softmax(out), y[:, None], 1).mean()

    return _jax_step(jax, sizes, jax.nn.relu, cross_entropy, x, y)


# -- loops -------------------------------------------------------------------------------------------------------------

_STEPS = 100


def _recurrent_arrays() -> list[np.ndarray]:
    weights = [draw(64, 64, seed=i, low=-0.1, high=0.1, dtype=np.float32) for i in range(2)]
    return [*weights, draw(64, seed=2, dtype=np.float32), draw(_STEPS, 16, 64, seed=3, dtype=np.float32)]


def recurrent(torch: Any) -> Made:
    *weights, inputs = map(torch.tensor, _recurrent_arrays())
    for p in weights:
        p.requires_grad_()
    weight, recurrent_weight, bias = weights

    def function(inputs: Any) -> Any:
        hidden = torch.zeros(16, 64)
        for x in inputs:
            hidden = torch.tanh(x @ weight + hidden @ recurrent_weight + bias)
        loss = (hidden * hidden).mean()
        return loss.detach(), torch.autograd.grad(loss, weights)

    return function, (inputs,)


def jax_recurrent(jax: Any) -> Made:
    *weights, inputs = map(jax.numpy.array, _recurrent_arrays())

    def loss_of(weights: Any, inputs: Any) -> Any:
        weight, recurrent_weight, bias = weights

        def step(hidden: Any, x: Any) -> Any:
            return jax.numpy.tanh(x @ weight + hidden @ recurrent_weight + bias), None

        hidden, _ = jax.lax.scan(step, jax.numpy.zeros((16, 64), np.float32), inputs)
        return (hidden * hidden).mean()

    function = jax.jit(jax.value_and_grad(loss_of))
    return (lambda inputs: function(weights, inputs)), (inputs,)


_ODE_STEPS, _H = 1000, 0.01


def _rk4(tanh: Any, matrix: Any) -> Callable[[Any, Any], Any]:
    """Return one step of the Runge-Kutta method for y' = tanh(A y) * p - y / 10."""

    def slope(y: Any, p: Any) -> Any:
        return tanh(matrix @ y) * p - 0.1 * y

    def step(y: Any, p: Any) -> Any:
        k1 = slope(y, p)
        k2 = slope(y + 0.5 * _H * k1, p)
        k3 = slope(y + 0.5 * _H * k2, p)
        k4 = slope(y + _H * k3, p)
        return y + _H / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return step


def solver(torch: Any) -> Made:
    """The gradient of the end state's square in the start state and in parameters of the equation."""
    step = _rk4(torch.tanh, torch.tensor(0.3 * draw(12, 12, seed=0)))

    def function(start: Any, p: Any) -> Any:
        y = start
        for _ in range(_ODE_STEPS):
            y = step(y, p)
        value = (y * y).sum()
        return value.detach(), torch.autograd.grad(value, (start, p))

    return function, tuple([torch.tensor(draw(12, seed=i), requires_grad=True) for i in (4, 5)])


def jax_solver(jax: Any) -> Made:
    step = _rk4(jax.numpy.tanh, jax.numpy.array(0.3 * draw(12, 12, seed=0)))

    def value(start: Any, p: Any) -> Any:
        y, _ = jax.lax.scan(lambda y, _: (step(y, p), None), start, None, length=_ODE_STEPS)
        return (y * y).sum()

    return jax.jit(jax.value_and_grad(value, (0, 1))), tuple([jax.numpy.array(draw(12, seed=i)) for i in (4, 5)])


# -- large arrays ------------------------------------------------------------------------------------------------------

_OPTIONS = 1_000_000
_RANGES = ((50, 150), (50, 150), (0.1, 2), (0, 0.05), (0.1, 0.5))  # share price, strike, time, rate, volatility
_GREEKS = (0, 2, 3, 4)


def _price(library: Any, erf: Any) -> Callable[..., Any]:
    def normal_cdf(x: Any) -> Any:
        return 0.5 * (1 + erf(x * 0.7071067811865476))

    def price(spot: Any, strike: Any, time: Any, rate: Any, volatility: Any) -> Any:
        deviation = volatility * library.sqrt(time)
        d1 = (library.log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / deviation
        return spot * normal_cdf(d1) - strike * library.exp(-rate * time) * normal_cdf(d1 - deviation)

    return price


def _markets() -> list[np.ndarray]:
    return [draw(_OPTIONS, seed=i, low=low, high=high, dtype=np.float32) for i, (low, high) in enumerate(_RANGES)]


def prices(torch: Any) -> Made:
    """Prices of options, and their derivatives in share price, time, rate and volatility."""
    price = _price(torch, torch.erf)
    arguments = tuple([torch.tensor(a, requires_grad=i in _GREEKS) for i, a in enumerate(_markets())])

    def function(*arguments: Any) -> Any:
        found = price(*arguments)
        return found.detach(), torch.autograd.grad(found.sum(), [arguments[i] for i in _GREEKS])

    return function, arguments


def jax_prices(jax: Any) -> Made:
    price = _price(jax.numpy, jax.lax.erf)

    def value(*arguments: Any) -> Any:
        found = price(*arguments)
        return found.sum(), found

    @jax.jit
    def function(*arguments: Any) -> Any:
        grads, found = jax.grad(value, _GREEKS, has_aux=True)(*arguments)
        return found, grads

    return function, tuple(map(jax.numpy.array, _markets()))


def _mixture_arrays() -> list[np.ndarray]:
    return [draw(25, seed=1), draw(25, 10, seed=2), draw(25, 10, seed=3), draw(1000, 10, seed=0)]


def _mixture(exp: Any, logsumexp: Any) -> Callable[..., Any]:
    """Return the log-likelihood of a mixture of 25 Gaussians in 10 dimensions."""

    def value(weights: Any, means: Any, scales: Any, points: Any) -> Any:
        z = (points[:, None, :] - means) * exp(scales)
        terms = weights + scales.sum(1) - 0.5 * (z * z).sum(2)
        return logsumexp(terms, 1).sum() - len(points) * logsumexp(weights, 0)

    return value


def mixture(torch: Any) -> Made:
    value = _mixture(torch.exp, torch.logsumexp)
    *leaves, points = map(torch.tensor, _mixture_arrays())
    for leaf in leaves:
        leaf.requires_grad_()

    def function(points: Any) -> Any:
        found = value(*leaves, points)
        return found.detach(), torch.autograd.grad(found, leaves)

    return function, (points,)


def jax_mixture(jax: Any) -> Made:
    function = jax.jit(jax.value_and_grad(_mixture(jax.numpy.exp, jax.nn.logsumexp), (0, 1, 2)))
    *leaves, points = map(jax.numpy.array, _mixture_arrays())
    return (lambda points: function(*leaves, points)), (points,)


# -- attention ---------------------------------------------------------------------------------------------------------

_BATCH, _LENGTH, _WIDTH, _HEADS = 8, 64, 128, 4


def _attention_arrays() -> tuple[list[np.ndarray], np.ndarray]:
    """Return the parameters, scaled as in networks.py, and the sequences."""
    w = _WIDTH
    shapes = [(3 * w, w), (w, w), (4 * w, w), (w, 4 * w)]
    limits = [(3 / s[1]) ** 0.5 for s in shapes]
    weights = [draw(*s, seed=i, low=-a, high=a, dtype=np.float32) for i, (s, a) in enumerate(zip(shapes, limits, strict=True))]
    biases = [np.zeros(s[0], np.float32) for s in shapes]
    norms = [np.ones(w, np.float32), np.zeros(w, np.float32)] * 2
    return [*weights, *biases, *norms], draw(_BATCH, _LENGTH, _WIDTH, seed=9, low=-1.7, high=1.7, dtype=np.float32)


def attention(torch: Any) -> Made:
    functional = torch.nn.functional
    arrays, x = _attention_arrays()
    parameters = [torch.tensor(a, requires_grad=True) for a in arrays]
    optimizer = torch.optim.SGD(parameters, lr=_RATE)
    weights, biases, norms = parameters[:4], parameters[4:8], parameters[8:]

    def step(x: Any) -> Any:
        def linear(y: Any, i: int) -> Any:
            return functional.linear(y, weights[i], biases[i])

        def norm(y: Any, i: int) -> Any:
            return functional.layer_norm(y, (_WIDTH,), *norms[2 * i : 2 * i + 2])

        optimizer.zero_grad()
        parts = linear(norm(x, 0), 0).view(_BATCH, _LENGTH, 3, _HEADS, _WIDTH // _HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts.unbind(0))
        hidden = x + linear(mixed.transpose(1, 2).reshape(_BATCH, _LENGTH, _WIDTH), 1)
        out = hidden + linear(functional.gelu(linear(norm(hidden, 1), 2)), 3)
        loss = (out * out).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, (torch.tensor(x),)


def jax_attention(jax: Any) -> Made:
    numpy = jax.numpy
    arrays, x = _attention_arrays()

    def loss_of(parameters: Any, x: Any) -> Any:
        weights, biases, norms = parameters[:4], parameters[4:8], parameters[8:]

        def linear(y: Any, i: int) -> Any:
            return y @ weights[i].T + biases[i]

        def norm(y: Any, i: int) -> Any:
            centred = y - y.mean(-1, keepdims=True)
            variance = (centred * centred).mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt(variance + np.float32(1e-5)) * norms[2 * i] + norms[2 * i + 1]

        parts = linear(norm(x, 0), 0).reshape(_BATCH, _LENGTH, 3, _HEADS, _WIDTH // _HEADS).transpose(2, 0, 3, 1, 4)
        query, key, value = parts
        chances = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) * np.float32((_WIDTH // _HEADS) ** -0.5))
        mixed = (chances @ value).transpose(0, 2, 1, 3).reshape(_BATCH, _LENGTH, _WIDTH)
        hidden = x + linear(mixed, 1)
        out = hidden + linear(jax.nn.gelu(linear(norm(hidden, 1), 2), approximate=False), 3)
        return numpy.mean(out * out)

    @jax.jit
    def step(parameters: Any, x: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(parameters, x)
        return [p - np.float32(_RATE) * g for p, g in zip(parameters, grads, strict=True)], loss

    state = [[numpy.array(a) for a in arrays]]

    def run(x: Any) -> Any:
        state[0], loss = step(state[0], x)
        return loss

    return run, (numpy.array(x),)


PAIRS = [
    Pair("chain", "chain of 100 multiply/adds, 4 x 4, with gradient", chain, jax_chain, 1.5, 10, 1e-12),
    Pair("rosenbrock", "Rosenbrock of 10 numbers, value and gradient, in scalars", rosenbrock, jax_rosenbrock, 1.5, 10, 1e-12),
    Pair("hessian", "Hessian of a 50-variable tanh net", hessian, jax_hessian, 1.0, 10, 1e-12),
    Pair("small-step", "training step 2-16-16-1, batch 16", small_step, jax_small_step, 1.0, 5, 1e-4),
    Pair("large-step", "training step 784-256-128-10, batch 64", large_step, jax_large_step, 1.0, 1.3, 1e-4),
    Pair("recurrent", "tanh network, 100 steps of 64 units, batch 16", recurrent, jax_recurrent, 1.0, 2, 1e-3),
    Pair("prices", "Black-Scholes and greeks, 1,000,000 float32", prices, jax_prices, 1.0, 2, 1e-2),
    Pair("mixture", "Gaussian mixture, d=10, k=25, n=1,000, and gradients", mixture, jax_mixture, 1.0, 2, 1e-9),
    Pair("solver", "RK4 of a 12-variable ODE, 1,000 steps, with gradient", solver, jax_solver, 1.0, 10, 1e-9),
    Pair("attention", "attention block, 8 x 64 x 128, training step", attention, jax_attention, 0.9, 1.2, 1e-4),
]
MEAN = 1.2, 4.0  # targets of the geometric means of both ratios

"""Activation functions of neural networks. relu, sigmoid and tanh are in pointwise.py."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from wengert import dtypes, errors
from wengert.core.views import call_inplace
from wengert.core.watched import differs_on_arrays
from wengert.kernels import native
from wengert.kernels.memory import new_array
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import raw
from wengert.ops.registry import OPS, composite, general, plain, pointwise
from wengert.ops.scipy_special import special

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": (), "complex": False}
_SQRT_HALF = sqrt(0.5)
_INV_SQRT_2PI = 1.0 / sqrt(2.0 * pi)
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _activate(F: Any, name: str, input: Any, inplace: bool = False, /, **params: Any) -> Any:
    """Run the operation `name` out of place, or in place if `inplace`."""
    if inplace:
        op: Any = OPS[name]
        return call_inplace(op, (input,), {**op.defaults, **params})
    return getattr(F, name)(input, **params)


def _check_floating(name: str, x: Any) -> None:
    """Raise RuntimeError unless x is of a real floating dtype."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(name, x.dtype)


def _accurate_sigmoid(F: Any, x: Any) -> Any:
    """sigmoid(x). If the rule is recorded, its derivative is computed from x: out * (1 - out) loses its digits for large x."""
    return F._recorded_sigmoid(x) if F.is_tensor else F.sigmoid(x)


@pointwise(method=False, namespaces=())
def _recorded_sigmoid(xp, x):
    """sigmoid(x). Derivative: sigmoid(x) * sigmoid(-x)."""
    return xp.reciprocal(1 + xp.exp(-x))


@_recorded_sigmoid.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F._recorded_sigmoid(x) * F._recorded_sigmoid(-x))


@pointwise(method=False, namespaces=())
def _recorded_tanh(xp, x):
    """tanh(x). Derivative: 4 * sigmoid(2 * x) * sigmoid(-2 * x), which keeps its digits for large x, as 1 - out**2 does not."""
    return xp.tanh(x)


@_recorded_tanh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(4 * F._recorded_sigmoid(2 * x) * F._recorded_sigmoid(-2 * x))


# -- linear units ------------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def leaky_relu(F, input, negative_slope=0.01, inplace=False):
    """input where input > 0, negative_slope * input elsewhere. input: any shape, floating.

    Derivative: 1 where input > 0, else negative_slope (also at 0 and NaN)."""
    return _activate(F, "_leaky_relu", input, inplace, negative_slope=negative_slope)


@pointwise(node="LeakyReluBackward0", **_PRIVATE)
def _leaky_relu(xp, x, *, negative_slope=0.01):
    """leaky_relu out of place."""
    _check_floating("leaky_relu_cpu", x)
    return xp.where(x > 0, x, x * negative_slope)


@_leaky_relu.vjp("x", flat=True)
def _(F, ct, x, negative_slope):
    return F.where(x > 0, ct, ct * negative_slope)


@composite(namespaces=("nn.functional",))
def elu(F, input, alpha=1.0, inplace=False):
    """input where input > 0, alpha * (exp(input) - 1) elsewhere. input: any shape, floating.

    Derivative: 1 where input > 0, alpha * exp(input) elsewhere. The derivative at 0 is alpha."""
    return _activate(F, "_elu", input, inplace, alpha=alpha)


@plain(name="nn.functional_relu", namespaces=("nn.functional",))
def relu(input: Any, inplace: bool = False) -> Any:
    """input where input > 0, else 0. input: any shape, any real dtype but bool. inplace: write the result into input.

    Derivative: 1 where input is positive or NaN, else 0."""
    return _relu_into(input) if inplace else OPS["relu"].function(input)


@plain(name="nn.functional_relu_", namespaces=("nn.functional",))
def relu_(input: Any) -> Any:
    """In-place form of relu. Derivative: 1 where input is positive or NaN, else 0."""
    return _relu_into(input)


def _relu_into(input: Any) -> Any:
    op: Any = OPS["relu"]
    return call_inplace(op, (input,), op.defaults)


@composite(namespaces=("", "nn.functional"))
def selu(F, input, inplace=False):
    """1.0507 * `elu`(input, alpha=1.6733). These constants keep activations normalised. input: any shape, floating.

    Derivative: 1.0507 times the derivative of elu."""
    return _activate(F, "_elu", input, inplace, alpha=_SELU_ALPHA, scale=_SELU_SCALE)


@composite(namespaces=("", "nn.functional"))
def celu(F, input, alpha=1.0, inplace=False):
    """input where input > 0, alpha * (exp(input / alpha) - 1) elsewhere. input: any shape, floating.

    Derivative: 1 where input > 0, exp(input / alpha) elsewhere. The derivative at 0 is 1."""
    return _activate(F, "_celu", input, inplace, alpha=alpha)


@pointwise(node="EluBackward0", **_PRIVATE)
def _elu(xp, x, *, alpha=1.0, scale=1.0):
    """scale * elu(x). elu has scale 1, selu another."""
    _check_floating("elu_cpu", x)
    return xp.where(x <= 0, (alpha * scale) * xp.expm1(x), scale * x)


@_elu.vjp("x")
def _(F, ct, x, alpha, scale):
    below = x <= 0
    # exp(x) may overflow where x > 0. The second derivative multiplies it by 0 there, which would give NaN.
    return F.where(below, ct * ((alpha * scale) * F.exp(F.where(below, x, 0.0))), ct * scale)


@pointwise(node="CeluBackward0", **_PRIVATE)
def _celu(xp, x, *, alpha=1.0):
    """celu out of place."""
    _check_floating("celu_cpu", x)
    return xp.where(x <= 0, alpha * xp.expm1(x / alpha), x)


@_celu.vjp("x")
def _(F, ct, x, alpha):
    below = x <= 0
    return F.where(below, ct * F.exp(F.where(below, x, 0.0) / alpha), ct)


@composite(method=True, namespaces=("", "nn.functional"))
def prelu(F, input, weight):
    """input where input > 0, weight * input elsewhere. input: any shape, floating.

    weight: of input's dtype; 0-d, (1) or (channels), the channels being dimension 1 of input. Raises RuntimeError for
    another shape or dtype.

    Derivative: in input 1 where input > 0, else weight. In weight the sum of ct * input over the elements that are not
    positive."""
    if input.dtype != weight.dtype:
        raise errors.UnsupportedDtypeError(
            f"prelu: Type promoting not supported. Got {errors.scalar_name(input.dtype)} and "
            f"{errors.scalar_name(weight.dtype)}"
        )
    if weight.ndim > 1:
        raise errors.ShapeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.ndim == 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape[0] not in (1, channels):
            raise errors.ShapeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.shape[0]} and "
                f"channel size = {channels}."
            )
        weight = F.reshape(weight, shape=(-1,) + (1,) * (input.ndim - 2) if input.ndim > 1 else (1,) * input.ndim)
    return F._prelu(input, weight)


@pointwise(node="PreluKernelBackward0", **_PRIVATE)
def _prelu(xp, x, weight):
    """prelu with a weight that broadcasts to x."""
    _check_floating("prelu_cpu", x)
    return xp.where(x > 0, x, x * weight)


@_prelu.vjp("x", flat=True)
def _(F, ct, x, weight):
    return F.where(x > 0, ct, ct * weight)


@_prelu.vjp("weight", flat=True)
def _(F, ct, x):
    return F.where(x > 0, 0.0, ct * x)


@composite(namespaces=("nn.functional",))
def hardtanh(F, input, min_val=-1.0, max_val=1.0, inplace=False):
    """input clipped to [min_val, max_val]. input: any shape, any real dtype. Raises ValueError if min_val > max_val.

    Derivative: 1 between the bounds, 0 at the bounds and outside."""
    if min_val > max_val:
        raise errors.ElementError("min_val cannot be greater than max_val")
    return _activate(F, "_hardtanh", input, inplace, min_val=min_val, max_val=max_val)


@composite(namespaces=("nn.functional",))
def relu6(F, input, inplace=False):
    """input clipped to [0, 6]. input: any shape, any real dtype.

    Derivative: 1 between the bounds, 0 at the bounds and outside."""
    return _activate(F, "_hardtanh", input, inplace, min_val=0, max_val=6)


@pointwise(node="HardtanhBackward0", **_PRIVATE)
def _hardtanh(xp, x, *, min_val=-1.0, max_val=1.0):
    """hardtanh out of place."""
    if x.dtype.kind == "c":
        raise errors.unsupported_dtype("clamp", x.dtype)
    if x.dtype.kind in "iu":
        if x.dtype.kind == "u" and (min_val < 0 or max_val < 0):
            raise errors.ShapeError("cannot do hardtanh on an unsigned type with negative limits")
        min_val, max_val = int(min_val), int(max_val)
    return xp.minimum(xp.maximum(x, min_val), max_val)


@_hardtanh.vjp("x", flat=True)
def _(F, ct, x, min_val, max_val):
    return F.where((x <= min_val) | (x >= max_val), 0.0, ct)


@composite(namespaces=("", "nn.functional"))
def threshold(F, input, threshold, value, inplace=False):
    """input where input > threshold, value elsewhere. input: any shape, any real dtype.

    Derivative: 1 where input > threshold, else 0."""
    return _activate(F, "_threshold", input, inplace, threshold=threshold, value=value)


@pointwise(node="ThresholdBackward0", **_PRIVATE)
def _threshold(xp, x, *, threshold=0.0, value=0.0):
    """threshold out of place."""
    if x.dtype.kind == "c":
        raise errors.unsupported_dtype("threshold_cpu", x.dtype)
    return xp.where(x <= threshold, x.dtype.type(value) if x.dtype.kind == "f" else xp.asarray(value).astype(x.dtype), x)


@_threshold.vjp("x", flat=True)
def _(F, ct, x, threshold):
    return F.where(x <= threshold, 0.0, ct)


# -- smooth units ------------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def gelu(F, input, approximate="none"):
    """input * Phi(input), where Phi is the standard normal distribution function. input: any shape, floating.

    approximate: "none" computes Phi with erf, "tanh" approximates Phi with tanh. Raises RuntimeError for another value.

    Derivative: Phi(x) + x * phi(x), where phi is the density of the standard normal distribution."""
    if approximate not in ("none", "tanh"):
        raise errors.ShapeError("approximate argument must be either none or tanh.")
    return F._gelu_tanh(input) if approximate == "tanh" else F._gelu(input)


@pointwise(node="GeluBackward0", **_PRIVATE)
def _gelu(xp, x):
    """gelu with erf."""
    _check_floating("GeluKernelImpl", x)
    return x * (0.5 * (1.0 + special("erf", x * _SQRT_HALF)))


@_gelu.vjp("x")
def _(F, ct, x):
    below = 0.5 * (1.0 + F.erf(x * _SQRT_HALF))
    return ct * (below + x * (_INV_SQRT_2PI * F.exp(-0.5 * (x * x))))


_GELU_LINEAR = sqrt(2.0 / pi)
_GELU_CUBIC = 0.044715


@pointwise(node="GeluBackward0", **_PRIVATE)
def _gelu_tanh(xp, x):
    """gelu with tanh."""
    _check_floating("GeluKernelImpl", x)
    return (0.5 * x) * (1.0 + xp.tanh(_GELU_LINEAR * (x + _GELU_CUBIC * (x * x * x))))


@_gelu_tanh.vjp("x")
@differs_on_arrays
def _(F, ct, x):
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which has all its digits far below 0.
    u = (2.0 * _GELU_LINEAR) * (x + _GELU_CUBIC * (x * x * x))
    slope = (2.0 * _GELU_LINEAR) * (1.0 + (3.0 * _GELU_CUBIC) * (x * x))
    s = _accurate_sigmoid(F, u)
    rest = _accurate_sigmoid(F, -u) if F.is_tensor else 1.0 - s
    return ct * (s * (1.0 + x * (rest * slope)))


@composite(namespaces=("nn.functional",))
def silu(F, input, inplace=False):
    """input * sigmoid(input). input: any shape, floating or complex.

    Derivative: s * (1 + x * (1 - s)) with s = sigmoid(x)."""
    return _activate(F, "_silu", input, inplace)


@pointwise(node="SiluBackward0", method=False, namespaces=())
def _silu(xp, x):
    """silu out of place."""
    if x.dtype.kind != "c":
        _check_floating("silu_cpu", x)
    return x / (1.0 + xp.exp(-x))


@_silu.vjp("x")
@differs_on_arrays
def _(F, ct, x):
    s = _accurate_sigmoid(F, x)
    rest = _accurate_sigmoid(F, -x) if F.is_tensor else 1.0 - s
    return ct * F.conj(s * (1.0 + x * rest))


@composite(namespaces=("nn.functional",))
def mish(F, input, inplace=False):
    """input * tanh(log(1 + exp(input))). input: any shape, floating.

    Derivative: t + x * s * (1 - t**2) with s = sigmoid(x), t = tanh(softplus(x))."""
    return _activate(F, "_mish", input, inplace)


@pointwise(node="MishBackward0", **_PRIVATE)
def _mish(xp, x):
    """mish out of place."""
    _check_floating("mish_cpu", x)
    return x * xp.tanh(xp.logaddexp(x, x.dtype.type(0)))


@_mish.vjp("x")
@differs_on_arrays
def _(F, ct, x):
    if F.is_tensor:  # tanh(softplus(x)) in terms of the sigmoid: 1 - t**2 would cancel in the second derivative
        s, rest = _accurate_sigmoid(F, x), _accurate_sigmoid(F, -x)
        square = rest * rest
        t = F.where(x > 0, 1.0 - square, s * (1.0 + rest)) / (1.0 + square)
        return ct * (t + 4.0 * x * s * (rest / (1.0 + square)) ** 2)
    t = F.tanh(F._softplus(x))
    return ct * (t + x * F.sigmoid(x) * (1.0 - t * t))


@composite(namespaces=("nn.functional",))
def softplus(F, input, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * input)) / beta, or input where beta * input > threshold. input: any shape, floating.

    Derivative: sigmoid(beta * input), or 1 where beta * input > threshold."""
    return F._softplus(input, beta=beta, threshold=threshold)


@pointwise(node="SoftplusBackward0", **_PRIVATE)
def _softplus(xp, x, *, beta=1.0, threshold=20.0):
    """softplus with its parameters as keywords."""
    _check_floating("softplus_cpu", x)
    scaled = beta * x
    return xp.where(scaled > threshold, x, xp.log1p(xp.exp(scaled)) / beta)


@_softplus.vjp("x")
def _(F, ct, x, beta, threshold):
    scaled = beta * x
    return F.where(scaled > threshold, ct, ct * _accurate_sigmoid(F, scaled))


@composite(namespaces=("nn.functional",))
def logsigmoid(F, input):
    """log(sigmoid(input)), accurate also for large |input|. input: any shape, floating.

    Derivative: sigmoid(-input)."""
    return F._log_sigmoid(input)


@pointwise(node="LogSigmoidBackward0", **_PRIVATE)
def _log_sigmoid(xp, x):
    """logsigmoid."""
    _check_floating("log_sigmoid_cpu", x)
    return xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.absolute(x)))


@_log_sigmoid.vjp("x")
def _(F, ct, x):
    return ct * _accurate_sigmoid(F, -x)


@composite(namespaces=("nn.functional",))
def softsign(F, input):
    """input / (1 + |input|). input: any shape, floating.

    Derivative: 1 / (1 + |x|)**2."""
    return input / (F.abs(input) + 1)


@composite(namespaces=("nn.functional",))
def tanhshrink(F, input):
    """input - tanh(input). input: any shape, floating.

    Derivative: tanh(x)**2."""
    return F._tanhshrink(input) if raw(input).dtype.kind in "fc" else input - F.tanh(input)


@pointwise(node="SubBackward0", method=False, namespaces=())
def _tanhshrink(xp, x):
    """tanhshrink. Derivative: tanh(x)**2; 1 - (1 - tanh(x)**2) would lose its digits near 0."""
    return x - xp.tanh(x)


@_tanhshrink.vjp("x")
def _(F, ct, x):
    t = F._recorded_tanh(x) if F.is_tensor else F.tanh(x)
    return ct * F.conj(t * t)


@pointwise(complex=False, method=False, namespaces=())
def _gate(xp, x, y):
    """x * sigmoid(y).

    Derivative: with s = sigmoid(y), s in x and x * s * (1 - s) in y."""
    return x / (1.0 + xp.exp(-y))


@_gate.vjp("x")
def _(F, ct, y):
    return ct / (1.0 + F.exp(-y))


@_gate.vjp("y")
def _(F, ct, x, y):
    gate = 1.0 / (1.0 + F.exp(-y))
    return ct * x * (gate * (1.0 - gate))


_GATE, _GATE_OF_SECOND = (-1, -1) if native is None else (native.find("gate"), native.find("gate__y"))


@general(method=False, namespaces=("nn.functional",), complex=False)
def glu(xp, x, *, dim=-1):
    """first * sigmoid(second), where first and second are the two halves of x along dim.

    x: at least 1-D, floating. Raises RuntimeError if the size along dim is odd.

    Derivative: with s = sigmoid(second), s in first and first * s * (1 - s) in second."""
    _check_floating("glu_cpu", x)
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0 or x.shape[dim] % 2:
        raise errors.ShapeError(f"Halving dimension must be even, but dimension {dim} is size {x.shape[dim] if x.ndim else 1}")
    first, second = _halves(x, dim)
    found = None if native is None else native.apply(_GATE, (first, second))
    return first / (1.0 + xp.exp(-second)) if found is None else found


def _halves(x: Any, dim: int) -> tuple[Any, Any]:
    """Return views of the two halves of x along dim."""
    half, before = x.shape[dim] // 2, (slice(None),) * (dim if dim >= 0 else dim + x.ndim)
    return x[(*before, slice(0, half))], x[(*before, slice(half, None))]


@glu.vjp("x")
@differs_on_arrays
def _(F, ct, x, dim):
    if not F.is_tensor and native is not None:
        (first, second), out = _halves(x, dim), new_array(x.shape, x.dtype, x)
        of_first, of_second = _halves(out, dim)
        # Both halves are written into one array: concatenating them would copy each.
        if (
            native.apply(_GATE, (ct, second), of_first) is not None
            and native.apply(_GATE_OF_SECOND, (ct, first, second), of_second) is not None
        ):
            return out
    half = x.shape[dim] // 2
    gate = F.sigmoid(F.narrow(x, dim, half, half))
    return F.cat([ct * gate, ct * F.narrow(x, dim, 0, half) * (gate * (1.0 - gate))], dim=dim)


# -- piecewise units ---------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def hardswish(F, input, inplace=False):
    """input * relu6(input + 3) / 6. input: any shape, floating.

    Derivative: 0 for x <= -3, 1 for x >= 3, x / 3 + 1 / 2 between."""
    return _activate(F, "_hardswish", input, inplace)


@pointwise(node="HardswishBackward0", **_PRIVATE)
def _hardswish(xp, x):
    """hardswish out of place."""
    _check_floating("hardswish_cpu", x)
    return x * xp.minimum(xp.maximum(x + 3, 0), 6) / 6


@_hardswish.vjp("x")
def _(F, ct, x):
    return F.where(x <= -3, 0.0, F.where(x < 3, ct * (x / 3 + 0.5), ct))


@composite(namespaces=("nn.functional",))
def hardsigmoid(F, input, inplace=False):
    """relu6(input + 3) / 6. input: any shape, floating.

    Derivative: 1 / 6 for -3 < x < 3, else 0."""
    return _activate(F, "_hardsigmoid", input, inplace)


@pointwise(node="HardsigmoidBackward0", **_PRIVATE)
def _hardsigmoid(xp, x):
    """hardsigmoid out of place."""
    _check_floating("hardsigmoid_cpu", x)
    return xp.minimum(xp.maximum(x + 3, 0), 6) / 6


@_hardsigmoid.vjp("x", flat=True)
def _(F, ct, x):
    return F.where((x > -3) & (x < 3), ct / 6, 0.0)


@composite(namespaces=("nn.functional",))
def softshrink(F, input, lambd=0.5):
    """sign(input) * max(|input| - lambd, 0). input: any shape, floating. Raises RuntimeError if lambd < 0.

    Derivative: 1 where |input| > lambd, else 0."""
    if not lambd >= 0:
        raise errors.ShapeError(
            f"lambda must be in range [0, {dtypes.finfo(input.dtype).max:g}] for input dtype "
            f"{errors.scalar_name(input.dtype)}, but found {lambd:g}"
        )
    return F._softshrink(input, lambd=lambd)


@pointwise(node="SoftshrinkBackward0", **_PRIVATE)
def _softshrink(xp, x, *, lambd=0.5):
    """softshrink with lambd as a keyword."""
    _check_floating("softshrink_cpu", x)
    return xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, x * 0))


@_softshrink.vjp("x", flat=True)
def _(F, ct, x, lambd):
    return F.where((x >= -lambd) & (x <= lambd), 0.0, ct)


@composite(method=True, namespaces=("", "nn.functional"))
def hardshrink(F, input, lambd=0.5):
    """input where |input| > lambd, else 0. input: any shape, floating.

    Derivative: 1 where |input| > lambd, else 0."""
    return F._hardshrink(input, lambd=lambd)


@pointwise(node="HardshrinkBackward0", **_PRIVATE)
def _hardshrink(xp, x, *, lambd=0.5):
    """hardshrink with lambd as a keyword."""
    _check_floating("hardshrink_cpu", x)
    return xp.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)


@_hardshrink.vjp("x", flat=True)
def _(F, ct, x, lambd):
    return F.where((x >= -lambd) & (x <= lambd), 0.0, ct)

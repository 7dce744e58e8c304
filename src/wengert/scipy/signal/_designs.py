"""Filters from their specification, and the forms in which they are written: coefficients, zeros and poles, sections.

Orders, pairs and signs are SciPy's. Zeros and poles differentiate where they are simple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.array_protocol import _is_differentiated as is_differentiated, _signature as signature_of
from wengert.ops.faces import tensor_face as F
from wengert.scipy._closures import with_values
from wengert.scipy._frame import matched, operands

scipy: Any = import_late("scipy.signal")

_SAME = 1e-6  # distance of zeros or poles that are the same, relative to 1 + |place|


def _complex(x: Any) -> Any:
    """Return places as a complex vector."""
    (x,) = operands(w.as_tensor(np.zeros(0)) if np.size(detached(x)) == 0 else x)
    x = w.atleast_1d(x)
    return x if x.is_complex() else w.complex(x.double(), w.zeros_like(x.double()))


def _number(x: Any) -> Any:
    return operands(x)[0].double()


def _polynomial(roots: Any) -> Any:
    """Return the coefficients of the polynomial with these roots, the first of which is 1."""
    found = w.ones(1, dtype=roots.dtype)
    zero = w.zeros(1, dtype=roots.dtype)
    for i in range(len(roots)):
        found = w.cat([found, zero]) - roots[i] * w.cat([zero, found])
    return found


def polyval(coefficients: Any, x: Any) -> Any:
    """Return the values at complex places x of a polynomial, whose highest power comes first."""
    found = w.zeros_like(x)
    for c in coefficients.to(x.dtype):
        found = found * x + c
    return found


def _like(found: Any, values: Any) -> Any:
    """Return a result with SciPy's values. It is real if these are."""
    values = np.asarray(values)
    return with_values(found if np.iscomplexobj(values) else found.real if found.is_complex() else found, values)


def zpk2tf(z, p, k):
    """Coefficients (b, a) of a filter with these zeros, poles and gain. z: one vector."""
    values = scipy.zpk2tf(*detached((z, p, k)))
    return _like(_number(k) * _polynomial(_complex(z)), values[0]), _like(_polynomial(_complex(p)), values[1])


def _roots(coefficients: Any, theirs: Any) -> Any:
    """Return the roots of a polynomial in SciPy's order, as eigenvalues of its companion matrix. They must be simple."""
    size = len(theirs)
    if not size:
        return w.as_tensor(theirs)
    places = np.flatnonzero(detached(coefficients))
    inner = coefficients[int(places[0]) : int(places[-1]) + 1]
    order = len(inner) - 1
    found = w.complex(w.zeros(size, dtype=inner.dtype), w.zeros(size, dtype=inner.dtype))
    if order:
        below = w.as_tensor(np.eye(order, k=-1)).to(inner.dtype)
        first = w.cat([-inner[1:] / inner[0]])[None]
        values = linalg.eigvals(w.cat([first, below[1:]]) if order > 1 else first)
        found = w.cat([values, found[order:]])
    return _like(found[matched(detached(found), theirs)], theirs)


def tf2zpk(b, a):
    """Zeros, poles and gain of a filter. Derivative: for simple zeros and poles, as eigenvalues of companion matrices."""
    z, p, k = scipy.tf2zpk(*detached((b, a)))
    b, a = [w.atleast_1d(x).double() for x in operands(b, a)]
    lead = [x[int(np.flatnonzero(detached(x))[0])] for x in (b, a)]
    return _roots(b, z), _roots(a, p), with_values(lead[0] / lead[1], np.asarray(k))


def sos2tf(sos):
    """Coefficients (b, a) of the product of second-order sections: (sections, 6)."""
    values = scipy.sos2tf(detached(sos))
    (sos,) = operands(sos)
    found = []
    for side, theirs in ((sos[:, :3], values[0]), (sos[:, 3:], values[1])):
        product = side[0]
        for row in side[1:]:
            product = _times(product, row)
        found.append(with_values(product, theirs))
    return tuple(found)


def _times(a: Any, b: Any) -> Any:
    """Return the product of two polynomials."""
    return F._full_convolution(b, a, method="direct") if len(a) > len(b) else F._full_convolution(a, b, method="direct")


def zpk2sos(z, p, k, pairing=None, *, analog=False):
    """Second-order sections with these zeros, poles and gain: (sections, 6). The pairs are SciPy's, the first has the gain."""
    values = scipy.zpk2sos(*detached((z, p, k)), pairing, analog=analog)
    z, p, k = _complex(z), _complex(p), _number(k)
    left = [list(range(len(z))), list(range(len(p)))]
    rows = []
    for section, row in enumerate(values):
        sides = []
        for places, free, given in ((z, left[0], row[:3]), (p, left[1], row[3:])):
            chosen = []
            for root in np.roots(np.trim_zeros(given, "f")):
                distances = [abs(detached(places)[i] - root) for i in free]
                if distances and min(distances) <= _SAME * (1 + abs(root)):
                    chosen.append(places[free.pop(int(np.argmin(distances)))])
                else:
                    chosen.append(w.as_tensor(np.array(complex(root))))
            found = _polynomial(w.stack(chosen) if chosen else places[:0]).real
            sides.append(w.cat([w.zeros(3 - len(found), dtype=found.dtype), found]))
        rows.append(w.cat([sides[0] * k if section == 0 else sides[0], sides[1]]))
    return with_values(w.stack(rows), values)


def sos2zpk(sos):
    """Zeros, poles and gain of second-order sections: (sections, 6). Derivative: if both zeros and both poles differ."""
    z, p, k = scipy.sos2zpk(detached(sos))
    (sos,) = operands(sos)
    sides: Any = [[], []]
    gain = w.ones((), dtype=sos.dtype)
    for row in sos:
        *places, factor = tf2zpk(row[:3], row[3:])
        gain = gain * factor
        for side, found in zip(sides, places, strict=True):
            side.append(_filled(_complex(found), 0.0, 2 - len(found)))
    return with_values(w.cat(sides[0]), z), with_values(w.cat(sides[1]), p), with_values(gain, np.asarray(k))


def tf2sos(b, a, pairing=None, *, analog=False):
    """Second-order sections of a filter with these coefficients: (sections, 6)."""
    z, p, k = tf2zpk(b, a)
    return zpk2sos(z, p, k, pairing, analog=analog)


# -- transformations of analog filters ----------------------------------------------------------------------------------------


def _ratio(z: Any, p: Any) -> Any:
    """Return the product of z over that of p, which is real because complex places come in pairs."""
    return (w.prod(z) / w.prod(p)).real


def _filled(z: Any, value: Any, count: int) -> Any:
    return w.cat([z, value * w.ones(count, dtype=z.dtype)]) if count else z


def _zpk(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
    """Return a transformation of zeros, poles and gain. change: a function of (z, p, k, *numbers), which are tensors."""
    theirs = getattr(scipy, name)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature_of(theirs).bind(*args, **kwargs)
        bound.apply_defaults()
        z, p, k, *numbers = bound.arguments.values()
        values = theirs(*detached((z, p, k)), *[float(np.asarray(detached(x))) for x in numbers])
        found = change(_complex(z), _complex(p), _number(k), *map(_number, numbers))
        return tuple([_like(x, value) for x, value in zip(found, values, strict=True)])

    run.__name__, run.__doc__ = name, f"Zeros, poles and gain of a transformed filter, as scipy.signal.{name}."
    return run


def _bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> Any:
    rate = 2 * fs
    return _filled((rate + z) / (rate - z), -1.0, len(p) - len(z)), (rate + p) / (rate - p), k * _ratio(rate - z, rate - p)


def _lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any) -> Any:
    return wo * z, wo * p, k * wo ** (len(p) - len(z))


def _lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any) -> Any:
    return _filled(wo / z, 0.0, len(p) - len(z)), wo / p, k * _ratio(-z, -p)


def _both(x: Any, wo: Any) -> Any:
    root = w.sqrt(x * x - wo * wo)
    return w.cat([x + root, x - root])


def _lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    degree = len(p) - len(z)
    return _filled(_both(z * bw / 2, wo), 0.0, degree), _both(p * bw / 2, wo), k * bw**degree


def _lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    degree = len(p) - len(z)
    zeros = _filled(_filled(_both(bw / 2 / z, wo), 1j * wo, degree), -1j * wo, degree)
    return zeros, _both(bw / 2 / p, wo), k * _ratio(-z, -p)


_CHANGES: dict[str, Callable[..., Any]] = {
    "bilinear_zpk": _bilinear_zpk, "lp2lp_zpk": _lp2lp_zpk, "lp2hp_zpk": _lp2hp_zpk, "lp2bp_zpk": _lp2bp_zpk,
    "lp2bs_zpk": _lp2bs_zpk,
}  # fmt: skip


# -- transformations of coefficients ---------------------------------------------------------------------------------------------


def normalize(b, a):
    """Coefficients (b, a) divided by the first one of a. b: a vector, or one for each output in its rows."""
    values = scipy.normalize(*detached((b, a)))
    b, a = [w.atleast_1d(x) for x in operands(b, a)]
    return _like_theirs(b, a, values)


def _like_theirs(b: Any, a: Any, values: Any) -> tuple[Any, Any]:
    """Return coefficients as normalize, without the leading zeros that SciPy leaves out."""
    b, a = b[..., b.shape[-1] - values[0].shape[-1] :].reshape(values[0].shape), a[len(a) - len(values[1]) :]
    return with_values(b / a[0], values[0]), with_values(a / a[0], values[1])


def _substituted(b: Any, a: Any, above: Any, below: Any) -> tuple[Any, Any]:
    """Return the coefficients of a filter with above / below in place of its variable. Both are polynomials of the same length."""
    order = max(len(b), len(a)) - 1
    powers = []
    for factor in (above, below):
        found = [w.ones(1, dtype=factor.dtype)]
        for _ in range(order):
            found.append(_times(found[-1], factor))
        powers.append(found)
    products = [_times(powers[0][j], powers[1][order - j]) for j in range(order + 1)]
    sides = [sum([side[len(side) - 1 - j] * products[j] for j in range(1, len(side))], side[-1] * products[0]) for side in (b, a)]
    return sides[0], sides[1]


def _changed(name: str, factors: Callable[..., Any]) -> Callable[..., Any]:
    """Return a transformation of the coefficients of a filter. factors: a function of the frequencies, see _substituted."""
    theirs = getattr(scipy, name)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature_of(theirs).bind(*args, **kwargs)
        bound.apply_defaults()
        b, a, *numbers = bound.arguments.values()
        values = theirs(*detached((b, a)), *[float(np.asarray(detached(x))) for x in numbers])
        b, a, *numbers = operands(b, a, *numbers)
        polynomials = [operands(list(factor))[0] for factor in factors(*numbers)]
        return _like_theirs(*_substituted(w.atleast_1d(b), w.atleast_1d(a), *polynomials), values)

    run.__name__, run.__doc__ = name, f"Coefficients of a transformed filter, as scipy.signal.{name}."
    return run


_SUBSTITUTIONS: dict[str, Callable[..., Any]] = {
    "lp2lp": lambda wo: ((1.0, 0.0), (0.0, wo)),
    "lp2hp": lambda wo: ((0.0, wo), (1.0, 0.0)),
    "lp2bp": lambda wo, bw: ((1.0, 0.0, wo * wo), (0.0, bw, 0.0)),
    "lp2bs": lambda wo, bw: ((0.0, bw, 0.0), (1.0, 0.0, wo * wo)),
    "bilinear": lambda fs: ((2 * fs, -2 * fs), (1.0, 1.0)),
}


# -- designs ------------------------------------------------------------------------------------------------------------------


def _ripple(decibels: Any) -> Any:
    """Return the square root of 10**(decibels / 10) - 1."""
    return w.sqrt(w.expm1(decibels * (np.log(10.0) / 10)))


def _stretched(poles: Any, mu: Any) -> Any:
    """Return poles on the unit circle moved to an ellipse with half axes sinh(mu) and cosh(mu)."""
    return w.complex(w.sinh(mu) * w.as_tensor(poles.real.copy()), w.cosh(mu) * w.as_tensor(poles.imag.copy()))


def cheb1ap(N, rp):
    """Zeros, poles and gain of the analog Chebyshev filter of the first kind with rp decibels of ripple."""
    values = scipy.cheb1ap(N, float(np.asarray(detached(rp))))
    ripple = _ripple(_number(rp))
    poles = _stretched(scipy.buttap(N)[1], w.asinh(1 / ripple) / N)
    gain = _ratio(-poles, -poles[:0])
    return w.as_tensor(values[0]), with_values(poles, values[1]), with_values(
        gain / w.sqrt(1 + ripple**2) if N % 2 == 0 else gain, np.asarray(values[2]))  # fmt: skip


def cheb2ap(N, rs):
    """Zeros, poles and gain of the analog Chebyshev filter of the second kind with rs decibels of attenuation."""
    values = scipy.cheb2ap(N, float(np.asarray(detached(rs))))
    poles = 1 / _stretched(scipy.buttap(N)[1], w.asinh(_ripple(_number(rs))) / N)
    zeros = _complex(values[0])
    return w.as_tensor(values[0]), with_values(poles, values[1]), with_values(_ratio(-poles, -zeros), np.asarray(values[2]))


def _prototype(name: str, theirs: Any, settings: dict[str, Any]) -> Any:
    """Return zeros, poles and gain of the analog lowpass filter with cutoff 1. Derivative: in the ripple of cheby1 and cheby2."""
    kind = settings.get("ftype", name)
    if kind in ("cheby1", "cheby2"):
        return cheb1ap(settings["N"], settings["rp"]) if kind == "cheby1" else cheb2ap(settings["N"], settings["rs"])
    if is_differentiated(settings.values()):
        raise errors.ArgumentError(
            f"scipy.signal.{name} has no derivative in its ripple and attenuation; cheby1 has one in rp, and cheby2 in rs. "
            "Hint: detach them."
        )
    return theirs(**{key: detached(x) for key, x in settings.items()}, Wn=1.0, btype="lowpass", analog=True, output="zpk")


def _design(name: str) -> Callable[..., Any]:
    """Return a design of SciPy that differentiates in the frequencies Wn and fs, and in the ripple where the poles are formulas."""
    theirs = getattr(scipy, name)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature_of(theirs).bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        frequencies, fs, output, analog, kind = [given.pop(key) for key in ("Wn", "fs", "output", "analog", "btype")]
        plain = {key: detached(x) for key, x in given.items()}
        sizes = np.atleast_1d(detached(frequencies))
        kinds = {"low": "lowpass", "lp": "lowpass", "l": "lowpass", "high": "highpass", "hp": "highpass", "h": "highpass",
                 "band": "bandpass", "bp": "bandpass", "stop": "bandstop", "bs": "bandstop"}  # fmt: skip
        kind = kinds.get(kind.lower(), kind.lower())
        values = theirs(**plain, Wn=detached(frequencies), btype=kind, analog=analog, output="zpk",
                        fs=None if fs is None else float(np.asarray(detached(fs))))  # fmt: skip
        prototype = _prototype(name, theirs, given)
        frequencies = w.atleast_1d(_number(frequencies))
        if not analog:
            frequencies = frequencies if fs is None else 2 * frequencies / _number(fs)
            frequencies = 4.0 * w.tan(np.pi / 2 * frequencies)  # SciPy designs at the rate 2
        z, p, k = _complex(prototype[0]), _complex(prototype[1]), _number(prototype[2])
        if len(sizes) == 1:
            found = (_lp2lp_zpk if kind == "lowpass" else _lp2hp_zpk)(z, p, k, frequencies[0])
        else:
            width, middle = frequencies[1] - frequencies[0], w.sqrt(frequencies[0] * frequencies[1])
            found = (_lp2bp_zpk if kind == "bandpass" else _lp2bs_zpk)(z, p, k, middle, width)
        if not analog:
            z, p, k = found
            found = _bilinear_zpk(z, p, k, _number(2.0))
        z, p, k = [_like(x, value) for x, value in zip(found, values, strict=True)]
        if output == "ba":
            return zpk2tf(z, p, k)
        return zpk2sos(z, p, k, analog=analog) if output == "sos" else (z, p, k)

    run.__name__ = name
    run.__doc__ = f"""Filter of scipy.signal.{name}, in the forms ba, zpk and sos.

    Derivative: in Wn and fs, in rp for the type cheby1, and in rs for cheby2."""
    return run


def _resonance(w0: Any, Q: Any, fs: Any, theirs: Callable[..., Any], **options: Any) -> tuple[Any, Any, Any]:
    """Return (SciPy's coefficients, the angle of a resonance, its width)."""
    values = theirs(*[float(np.asarray(detached(x))) for x in (w0, Q)], fs=float(np.asarray(detached(fs))), **options)
    w0, Q, fs = [x.double() for x in operands(w0, Q, fs)]
    angle = 2 * np.pi * w0 / fs
    return values, angle, angle / Q


def _second_order(values: Any, above: Any, angle: Any, width: Any) -> tuple[Any, Any]:
    """Return a filter of second order with a resonance. above: a function of the gain and the angle, three coefficients."""
    gain = 1 / (1 + w.tan(width / 2))
    below = [w.ones_like(gain), -2 * gain * w.cos(angle), 2 * gain - 1]
    return with_values(w.stack(above(gain, angle)), values[0]), with_values(w.stack(below), values[1])


def iirnotch(w0, Q, fs=2.0):
    """Coefficients (b, a) of a filter that takes out the frequency w0, with a bandwidth of w0 / Q."""
    values, angle, width = _resonance(w0, Q, fs, scipy.iirnotch)
    return _second_order(values, lambda gain, angle: [gain, -2 * gain * w.cos(angle), gain], angle, width)


def iirpeak(w0, Q, fs=2.0):
    """Coefficients (b, a) of a filter that lets the frequency w0 pass, with a bandwidth of w0 / Q."""
    values, angle, width = _resonance(w0, Q, fs, scipy.iirpeak)
    return _second_order(values, lambda gain, _: [1 - gain, w.zeros_like(gain), gain - 1], angle, width)


def iircomb(w0, Q, ftype="notch", fs=2.0, *, pass_zero=False):
    """Coefficients (b, a) of a filter that takes out, or lets pass, the multiples of the frequency w0. Derivative: in Q."""
    values, _, width = _resonance(w0, Q, fs, scipy.iircomb, ftype=ftype, pass_zero=pass_zero)
    order = len(values[0]) - 1
    beta, is_notch = w.tan(order * width / 4), ftype in ("notch", "n")
    first, last = (1.0, 1.0) if is_notch else (beta, -beta)
    sign = -1.0 if is_notch != pass_zero else 1.0
    zeros = w.zeros(order - 1, dtype=beta.dtype)
    sides = []
    for left, right in ((first, sign * last), (1 + beta, sign * (1 - beta))):
        sides.append(w.cat([w.reshape(left / (1 + beta), (1,)), zeros, w.reshape(right / (1 + beta), (1,))]))
    return with_values(sides[0], values[0]), with_values(sides[1], values[1])


DESIGNS = ("iirfilter", "butter", "cheby1", "cheby2", "ellip", "bessel")
FUNCTIONS: tuple[Any, ...] = (
    zpk2tf, tf2zpk, sos2tf, zpk2sos, sos2zpk, tf2sos, normalize, cheb1ap, cheb2ap, iirnotch, iirpeak, iircomb,
    *[_zpk(name, change) for name, change in _CHANGES.items()],
    *[_changed(name, factors) for name, factors in _SUBSTITUTIONS.items()], *[_design(name) for name in DESIGNS],
)  # fmt: skip

"""Filters from their specification, and the forms in which they are written: coefficients, zeros and poles, sections.

Orders, pairs and signs are SciPy's. Zeros and poles differentiate where they are simple.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.array_protocol import _signature as signature_of
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
    zeros = w.zeros(len(a) - 1, dtype=a.dtype)
    rows = [w.cat([zeros[:i], b, zeros[: len(a) - 1 - i]]) for i in range(len(a))]
    return w.sum(a[:, None] * w.stack(rows), 0)


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


def bilinear(b, a, fs=1.0):
    """Coefficients of the digital filter that the bilinear transformation makes of an analog one."""
    values = scipy.bilinear(*detached((b, a)), float(np.asarray(detached(fs))))
    b, a, fs = [x.double() for x in operands(b, a, fs)]
    b, a = w.atleast_1d(b), w.atleast_1d(a)
    order = max(len(b), len(a)) - 1
    found = []
    for side in (b, a):
        total: Any = 0.0
        for j in range(len(side)):  # the power of s = 2 fs (z - 1) / (z + 1)
            product = np.polymul(
                [(-1.0) ** i * comb(j, i) for i in range(j + 1)], [float(comb(order - j, i)) for i in range(order - j + 1)]
            )
            total = total + side[len(side) - 1 - j] * (2 * fs) ** j * w.as_tensor(product)
        found.append(total)
    b, a = found[0] / found[1][0], found[1] / found[1][0]
    return with_values(b[len(b) - len(values[0]) :], values[0]), with_values(a, values[1])


# -- designs ------------------------------------------------------------------------------------------------------------------


def _design(name: str) -> Callable[..., Any]:
    """Return a design of SciPy that differentiates in the frequencies Wn and fs."""
    theirs = getattr(scipy, name)

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature_of(theirs).bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        frequencies, fs, output, analog, kind = [given.pop(key) for key in ("Wn", "fs", "output", "analog", "btype")]
        plain = {key: detached(x) if x is not None else None for key, x in given.items()}
        sizes = np.atleast_1d(detached(frequencies))
        kinds = {"low": "lowpass", "lp": "lowpass", "l": "lowpass", "high": "highpass", "hp": "highpass", "h": "highpass",
                 "band": "bandpass", "bp": "bandpass", "stop": "bandstop", "bs": "bandstop"}  # fmt: skip
        kind = kinds.get(kind.lower(), kind.lower())
        values = theirs(**plain, Wn=detached(frequencies), btype=kind, analog=analog, output="zpk",
                        fs=None if fs is None else float(np.asarray(detached(fs))))  # fmt: skip
        prototype = theirs(**plain, Wn=1.0, btype="lowpass", analog=True, output="zpk")
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
    run.__doc__ = f"""Filter of scipy.signal.{name}, in the forms ba, zpk and sos. Derivative: in Wn and fs."""
    return run


DESIGNS = ("iirfilter", "butter", "cheby1", "cheby2", "ellip", "bessel")
FUNCTIONS: tuple[Any, ...] = (
    zpk2tf, tf2zpk, sos2tf, zpk2sos, bilinear, *[_zpk(name, change) for name, change in _CHANGES.items()],
    *[_design(name) for name in DESIGNS],
)  # fmt: skip

"""Linear systems: their forms, their responses in time, and discrete systems in place of continuous ones.

A system is a tuple as SciPy's, (num, den), (zeros, poles, gain) or (A, B, C, D), with the step dt at the end if it is discrete, or
a system of SciPy's, which has no tensors, or a System.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.signal._designs import normalize, tf2zpk, zpk2tf

__all__ = [
    "abcd_normalize", "cont2discrete", "dimpulse", "dlsim", "dstep", "impulse", "lsim", "place_poles", "ss2tf", "ss2zpk", "step",
    "tf2ss", "zpk2ss",
]  # fmt: skip

theirs: Any = import_late("scipy.signal")


# -- forms -----------------------------------------------------------------------------------------------------------------


class System:
    """The parts of a linear system, and the step dt of a discrete one, None for a continuous one."""

    def __init__(self, parts: tuple[Any, ...], dt: Any) -> None:
        self.parts, self.dt = parts, dt


def parts_of(system: Any, discrete: bool = False) -> tuple[Any, ...]:
    """Return the parts of a system, and dt last if it is discrete."""
    if isinstance(system, System):
        if (system.dt is not None) != discrete:
            raise AttributeError(f"a {'discrete' if discrete else 'continuous'}-time system is needed, and dt is {system.dt}")
        return (*system.parts, *([system.dt] if discrete else []))
    wanted, other = (theirs.dlti, theirs.lti) if discrete else (theirs.lti, theirs.dlti)
    if isinstance(system, other):
        raise AttributeError(f"a {'discrete' if discrete else 'continuous'}-time system is needed, not {type(system).__name__}")
    if not isinstance(system, wanted):
        if len(system) - discrete not in (2, 3, 4):
            raise ValueError("a system has 2, 3 or 4 parts: (num, den), (zeros, poles, gain) or (A, B, C, D)")
        return tuple(system)
    if isinstance(system, theirs.TransferFunction):
        names: tuple[str, ...] = ("num", "den")
    else:
        names = ("zeros", "poles", "gain") if isinstance(system, theirs.ZerosPolesGain) else ("A", "B", "C", "D")
    return (*[getattr(system, name) for name in names], *([system.dt] if discrete else []))


def coefficients_of(parts: Any) -> Any:
    """Return (num, den) of the parts of a system without its dt."""
    if len(parts) == 2:
        return operands(*parts)
    return zpk2tf(*parts) if len(parts) == 3 else ss2tf(*parts)


def matrices_of(parts: Any) -> Any:
    """Return (A, B, C, D) of the parts of a system without its dt."""
    forms: dict[int, Any] = {2: tf2ss, 3: zpk2ss, 4: abcd_normalize}
    return forms[len(parts)](*parts)


def abcd_normalize(A=None, B=None, C=None, D=None):
    """The matrices of a system, with two dimensions. Those that are None are zeros."""
    values = theirs.abcd_normalize(*detached((A, B, C, D)))
    given = operands(A, B, C, D)
    dtype = next(x.dtype for x in given if x is not None)
    return tuple([
        w.as_tensor(np.array(value)).to(dtype) if x is None else x.reshape(np.shape(value))
        for x, value in zip(given, values, strict=True)
    ])  # fmt: skip


def tf2ss(num, den):
    """The system (A, B, C, D) in controller canonical form. num: a vector, or one for each output in its rows."""
    num, den = normalize(num, den)
    num = w.atleast_2d(num)
    order = len(den) - 1
    if num.shape[1] > order + 1:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    num = w.cat([w.zeros((num.shape[0], order + 1 - num.shape[1]), dtype=num.dtype), num], 1)
    D = num[:, :1]
    if not order:
        empty = w.zeros((1, 1), dtype=num.dtype)
        return empty, w.zeros((1, D.shape[1]), dtype=num.dtype), w.zeros((D.shape[0], 1), dtype=num.dtype), D
    A = w.cat([-den[None, 1:], w.as_tensor(np.eye(order - 1, order)).to(num.dtype)])
    return A, w.as_tensor(np.eye(order, 1)).to(num.dtype), num[:, 1:] - D * den[1:], D


def _characteristic(A: Any) -> Any:
    """Return the coefficients of det(s - A), by the recursion of Faddeev and Le Verrier: eigenvalues may be equal."""
    n = A.shape[0]
    eye = w.eye(n, dtype=A.dtype)
    found, product = [w.ones((), dtype=A.dtype)], eye
    for k in range(1, n + 1):
        product = A @ product
        found.append(-w.trace(product) / k)
        product = product + found[-1] * eye
    return w.stack(found)


def ss2tf(A, B, C, D, input=0):
    """The coefficients (num, den) of a system for one of its inputs. num: (outputs, order + 1)."""
    values = theirs.ss2tf(*detached((A, B, C, D)), input)
    A, B, C, D = abcd_normalize(A, B, C, D)
    B, D = B[:, input : input + 1], D[:, input]
    den = _characteristic(A)
    num = w.stack([_characteristic(A - B @ C[k : k + 1]) + (D[k] - 1) * den for k in range(C.shape[0])])
    return with_values(num, values[0]), with_values(den, values[1])


def ss2zpk(A, B, C, D, input=0):
    """Zeros, poles and gain of a system with one output for one of its inputs. Zeros and poles differentiate if they are simple."""
    num, den = ss2tf(A, B, C, D, input)
    if num.shape[0] != 1:
        raise ValueError("a system has zeros, poles and a gain for one output")
    return tf2zpk(num[0], den)


def zpk2ss(z, p, k):
    """The system (A, B, C, D) with these zeros, poles and gain."""
    return tf2ss(*zpk2tf(z, p, k))


# -- responses in time -----------------------------------------------------------------------------------------------------


def _held(A: Any, B: Any, dt: Any, is_linear: bool) -> tuple[Any, Any, Any]:
    """Return (P, Q, R) with x(t + dt) = P x(t) + Q u(t) + R u(t + dt), for inputs that are constant or linear in each step."""
    n, m = B.shape
    rows = [w.cat([A * dt, B * dt], 1), w.zeros((m, n + m), dtype=A.dtype)]
    if is_linear:
        rows = [w.cat([rows[0], w.zeros((n, m), dtype=A.dtype)], 1), w.as_tensor(np.eye(m, n + 2 * m, n + m)).to(A.dtype),
                w.zeros((m, n + 2 * m), dtype=A.dtype)]  # fmt: skip
    found = linalg.matrix_exp(w.cat(rows))
    P, Q = found[:n, :n], found[:n, n : n + m]
    if not is_linear:
        return P, Q, w.zeros_like(B)
    R = found[:n, n + m :]
    return P, Q - R, R


def _states(A: Any, start: Any, inputs: Any) -> Any:
    """Return the states (steps + 1, n) with x[i + 1] = A x[i] + inputs[i]."""
    states = [start]
    for step in inputs:
        states.append(A @ states[-1] + step)
    return w.stack(states)


def lsim(system, U, T, X0=None, interp=True):
    """Output of a continuous system: (T, output, states). U: (times,) or (times, inputs), or 0. T: times with equal steps."""
    matrices = matrices_of(parts_of(system))
    plain = U is None or (np.ndim(detached(U)) == 0 and not np.any(detached(U)))
    A, B, C, D, T, X0, U = operands(*matrices, w.atleast_1d(operands(T)[0]), X0, None if plain else U)
    times = detached(T)
    if times.ndim != 1:
        raise ValueError("T must be a rank-1 array.")
    if times[0] < 0:
        raise ValueError("Initial time must be nonnegative")
    size, (n, m) = len(times), B.shape
    start = w.zeros(n, dtype=A.dtype) if X0 is None else w.broadcast_to(X0, (n,))
    if times[0] > 0:
        start = linalg.matrix_exp(A * T[0]) @ start
    U = w.zeros((size, m), dtype=A.dtype) if plain else U[:, None] if U.ndim == 1 else U
    if U.shape[0] != size:
        raise ValueError("U must have the same number of rows as elements in T.")
    if U.shape[1] != m:
        raise ValueError("System does not define that many inputs.")
    if size > 1:
        if not np.allclose(np.diff(times), times[1] - times[0]):
            raise ValueError("Time steps are not equally spaced.")
        P, Q, R = _held(A, B, T[1] - T[0], interp and not plain)
        states = _states(P, start, U[:-1] @ Q.mT + U[1:] @ R.mT)
    else:
        states = start[None]
    return T, w.squeeze(states @ C.mT + U @ D.mT), w.squeeze(states)


def impulse(system, X0=None, T=None, N=None):
    """Impulse response of a continuous system: (times, output)."""
    matrices = matrices_of(parts_of(system))
    start = w.squeeze(matrices[1]) if X0 is None else w.squeeze(matrices[1] + operands(X0)[0])
    T = _times(matrices, T, N)
    return T, lsim(matrices, 0.0, T, start, False)[1]


def step(system, X0=None, T=None, N=None):
    """Step response of a continuous system: (times, output)."""
    matrices = matrices_of(parts_of(system))
    T = _times(matrices, T, N)
    return T, lsim(matrices, w.ones(len(T), dtype=matrices[0].dtype), T, X0, False)[1]


def _times(matrices: Any, T: Any, N: Any) -> Any:
    """Return times, SciPy's if they are not given."""
    return operands(theirs.impulse(detached(matrices), N=N)[0] if T is None else T)[0]


def dlsim(system, u, t=None, x0=None):
    """Output of a discrete system: (times, output), and the states if the system is (A, B, C, D, dt)."""
    *parts, dt = parts_of(system, discrete=True)
    A, B, C, D, u, x0 = operands(*matrices_of(parts), u, x0)
    u, dt = u[:, None] if u.ndim == 1 else u, operands(dt)[0].double()
    step = float(dt.detach())
    if t is None:
        times = w.as_tensor(np.arange(len(u), dtype=float)) * dt
    else:
        places = np.asarray(detached(t), float)
        count = int(np.floor(places[-1] / step)) + 1
        at = np.linspace(0.0, places[-1], count)
        lower = np.clip(np.searchsorted(places, at, side="right") - 1, 0, max(len(places) - 2, 0))
        share = w.as_tensor((at - places[lower]) / (places[lower + 1] - places[lower])).to(u.dtype)[:, None] if count > 1 else 0.0
        u = u[lower] * (1 - share) + u[np.minimum(lower + 1, len(places) - 1)] * share
        times = w.as_tensor(at)
    start = w.zeros(A.shape[1], dtype=A.dtype) if x0 is None else w.broadcast_to(x0, (A.shape[1],))
    states = _states(A, start, u[:-1] @ B.mT)
    found = states @ C.mT + u @ D.mT
    return (times, found, states) if len(parts) == 4 else (times, found)


def _discrete_response(system: Any, x0: Any, t: Any, n: Any, signal: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return (times, an output for each input) for a signal in one input at a time. signal: a function of the number of times."""
    *parts, dt = parts_of(system, discrete=True)
    matrices, count = matrices_of(parts), 100 if n is None else n
    if t is None:
        t = np.linspace(0, count * float(np.asarray(detached(dt))), count, endpoint=False)
    inputs = matrices[1].shape[1]
    found = []
    for i in range(inputs):
        u = np.zeros((len(t), inputs))
        u[:, i] = signal(len(t))
        found.append(dlsim((*matrices, dt), u, t, x0))
    return found[0][0], tuple([one[1] for one in found])


def dimpulse(system, x0=None, t=None, n=None):
    """Impulse responses of a discrete system: (times, an output (times, outputs) for each input)."""
    return _discrete_response(system, x0, t, n, lambda count: np.arange(count) == 0)


def dstep(system, x0=None, t=None, n=None):
    """Step responses of a discrete system: (times, an output (times, outputs) for each input)."""
    return _discrete_response(system, x0, t, n, np.ones)


# -- discrete systems, and control -----------------------------------------------------------------------------------------


def cont2discrete(system, dt, method="zoh", alpha=None):
    """The discrete system in place of a continuous one, in the same form: (num, den, dt), (z, p, k, dt) or (A, B, C, D, dt).

    method: "gbt" with alpha, "bilinear" or "tustin", "euler" or "forward_diff", "backward_diff", "zoh", "foh" or "impulse".
    Derivative: also in dt and alpha."""
    parts = parts_of(system)
    if len(parts) < 4:
        *found, dt = cont2discrete(matrices_of(parts), dt, method, alpha)
        if len(parts) == 2:
            num, den = ss2tf(*found)
            return num, den, dt
        return *ss2zpk(*found), dt
    A, B, C, D = abcd_normalize(*parts)
    h = operands(dt)[0].double()
    eye = w.eye(A.shape[0], dtype=A.dtype)
    fixed = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0, "backward_diff": 1.0}
    if method == "gbt" or method in fixed:
        if method == "gbt" and alpha is None:
            raise ValueError("Alpha parameter must be specified for the generalized bilinear transform (gbt) method")
        share = operands(fixed.get(method, alpha))[0].double()
        if not 0 <= float(share.detach()) <= 1:
            raise ValueError("Alpha parameter must be within the interval [0,1] for the gbt method")
        left = eye - share * h * A
        P, Q = linalg.solve(left, eye + (1 - share) * h * A), linalg.solve(left, h * B)
        return P, Q, linalg.solve(left.mT, C.mT).mT, D + share * C @ Q, dt
    if method in ("zoh", "foh"):
        P, Q, R = _held(A, B, h, method == "foh")
        return P, Q + P @ R, C, D + C @ R, dt
    if method == "impulse":
        if detached(D).any():
            raise ValueError("Impulse method is only applicable to strictly proper systems")
        P = linalg.matrix_exp(A * h)
        return P, P @ B * h, C, C @ B * h, dt
    raise ValueError(f"Unknown transformation method '{method}'")


def place_poles(A, B, poles, method="YT", rtol=1e-3, maxiter=30):
    """The feedback K with which A - B K has these poles, as scipy.signal.place_poles. gain_matrix is a tensor.

    Derivative: for one input, for which J. Ackermann's formula gives the feedback (1972). With more inputs many feedbacks have the
    same poles, and NotImplementedError is raised."""
    found = theirs.place_poles(*detached((A, B, poles)), method, rtol, maxiter)
    A, B, poles = operands(A, B, poles)
    if B.shape[1] != 1:
        raise NotImplementedError("place_poles has a derivative for one input, B: (n, 1).")
    n, real = A.shape[0], w.real(A)
    reached, wanted = [w.real(B)], w.eye(n, dtype=poles.dtype)
    for k in range(n):
        reached.append(real @ reached[-1])
        wanted = wanted @ (real.to(poles.dtype) - poles[k] * w.eye(n, dtype=poles.dtype))
    last = w.as_tensor(np.eye(1, n, n - 1)).to(real.dtype)
    gain = linalg.solve(w.cat(reached[:-1], 1).mT, last.mT).mT @ w.real(wanted)
    found.gain_matrix = with_values(gain, found.gain_matrix)
    return found

"""Initial value problems. SciPy chooses the steps and computes the values; the same steps, run on tensors, give the derivatives.

Note [Steps on tensors]
An explicit Runge-Kutta method is repeated with its own table of coefficients on the grid that SciPy chose: the derivative is
that of SciPy's numbers with the step sizes fixed, which differs from the derivative of the exact solution by the size of the
tolerance. The implicit methods (Radau, BDF, LSODA) are replaced by Radau IIA of order 5 on their grid, whose equations of each
step are solved by Newton's method and differentiated by the implicit function theorem. In both cases the values are SciPy's.
The places t_eval are points of the grid, so the derivative in them, and in the ends of t_span, is that of a step in its size.
Finite differences of solutions at a tight tolerance agree to about the tolerance of the run; a continuous adjoint would
integrate backward, which is unstable for stiff problems, and would have no second derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.array_protocol import _signature as signature_of
from wengert.autograd.grad_mode import enable_grad, no_grad
from wengert.core.tensor import TensorBase
from wengert.scipy._closures import Parameters, implicit, jacobian, with_values

scipy: Any = import_late("scipy.integrate")

_EXPLICIT = ("RK23", "RK45", "DOP853")

# Radau IIA of order 5: the matrix of the three stages, and their places in the step.
_S6 = np.sqrt(6.0)
_RADAU = np.array([[(88 - 7 * _S6) / 360, (296 - 169 * _S6) / 1800, (-2 + 3 * _S6) / 225],
                   [(296 + 169 * _S6) / 1800, (88 + 7 * _S6) / 360, (-2 - 3 * _S6) / 225],
                   [(16 - _S6) / 36, (16 + _S6) / 36, 1 / 9]])  # fmt: skip
_PLACES = _RADAU.sum(1)

State = Callable[[Any, Any], Any]  # (t, y) -> dy/dt


def _vector(x: Any) -> Any:
    """Return the result of a right side as a tensor: a list of numbers and tensors, or an array, or a tensor."""
    return w.atleast_1d(tensor(x if isinstance(x, TensorBase) or holds_tensor((x,)) else np.asarray(x)))


def _explicit_step(method: str) -> Callable[[State, Any, Any, Any], Any]:
    solver = getattr(scipy, method)
    n = solver.n_stages
    a, b, c = solver.A[:n, :n], solver.B, solver.C

    def step(fun: State, t: Any, y: Any, h: Any) -> Any:
        slopes: list[Any] = []
        for i in range(n):
            shift = [float(a[i, j]) * slopes[j] for j in range(i) if a[i, j]]
            slopes.append(_vector(fun(t + float(c[i]) * h, y + h * sum(shift[1:], shift[0]) if shift else y)))
        parts = [float(weight) * slope for weight, slope in zip(b, slopes, strict=True) if weight]
        return y + h * sum(parts[1:], parts[0])

    return step


def _implicit_step(solution: Callable[[float], Any]) -> Callable[[State, Any, Any, Any], Any]:
    """Return a step of Radau IIA. solution: SciPy's solution between the points, where Newton's method begins."""

    def step(fun: State, t: Any, y: Any, h: Any) -> Any:
        matrix, n = w.as_tensor(_RADAU).to(y.dtype), y.shape[0]

        def stages(z: Any) -> list[Any]:
            return [_vector(fun(t + float(c) * h, y + z[i])).to(y.dtype) for i, c in enumerate(_PLACES)]

        def residual(z: Any) -> Any:
            return z - h * w.matmul(matrix, w.stack(stages(z)))

        def slopes_of(z: Any, _: Any) -> Any:
            """The Jacobian matrix, of those of the stages: their graphs are smaller than that of the residual."""
            with enable_grad():
                found = stages(z)
            rows = w.stack([jacobian(stage, z) for stage in found])
            return w.eye(3 * n, dtype=y.dtype) - h * w.matmul(matrix, rows.reshape(3, -1)).reshape(3 * n, 3 * n)

        now, values, size = float(detached(t)), detached(y), float(detached(h))
        z = np.stack([solution(now + c * size) - values for c in _PLACES])
        slopes = None
        for _ in range(20):
            with no_grad() if slopes is not None else enable_grad():
                x = w.as_tensor(z).clone().requires_grad_(slopes is None)
                found = residual(x)
            if slopes is None:
                with no_grad():
                    slopes = detached(slopes_of(x, found))
            change = np.linalg.solve(slopes, detached(found).reshape(-1)).reshape(z.shape)
            z = z - change
            if np.abs(change).max(initial=0.0) <= 1e-13 * (1.0 + np.abs(values).max(initial=0.0)):
                break
        return y + implicit(residual, z, slopes_of)[2]

    return step


def _states(fun: State, y0: Any, times: list[Any], step: Any) -> list[Any]:
    """Return the states at the points of a grid. times: numbers or tensors."""
    states = [y0]
    for k in range(len(times) - 1):
        states.append(step(fun, times[k], states[k], times[k + 1] - times[k]))
    return states


def _grid(steps: Any, places: Any, given: Any) -> tuple[list[Any], list[int]]:
    """Return the points of SciPy's steps and of the outputs, in order, and the numbers of the outputs among them.

    places: the values of the outputs. given: the outputs as the user gave them, tensors or an array.
    """
    ascending = steps[-1] >= steps[0]
    points = np.union1d(steps, places)
    points = points if ascending else points[::-1]
    index = {float(p): k for k, p in enumerate(points)}
    times: list[Any] = [float(p) for p in points]
    output = [index[float(p)] for p in places]
    if isinstance(given, TensorBase):
        for k, i in enumerate(output):
            times[i] = tensor(given)[k]
    return times, output


class _Problem:
    """Functions of (t, y) of the user's, run on arrays for SciPy. It notes the tensors that the results depend on."""

    def __init__(self, fun: State, t0: Any, y0: Any, tensors: bool, events: tuple[State, ...] = ()) -> None:
        self.fun, self.parameters, self.tensors = fun, Parameters(), tensors
        results = [self._run(function, t0, y0) for function in (fun, *events)]
        if holds_tensor(results) and not tensors:
            self.tensors = True

    def _run(self, fun: State, t: Any, y: Any) -> Any:
        found = fun(t, w.as_tensor(y) if self.tensors else y)
        for x in found if isinstance(found, (list, tuple)) else (found,):
            self.parameters.collect(x)
        return found

    def __call__(self, t: float, y: Any) -> Any:
        found = self._run(self.fun, t, y)
        return np.asarray(detached(_vector(found))) if holds_tensor((found,)) else found

    def event(self, function: State, like: Any) -> State:
        """Return a function of (t, y) as SciPy finds its zeros. like: the event of the user's, with its attributes."""

        def run(t: float, y: Any) -> Any:
            return np.asarray(detached(self._run(function, t, y))).item()

        for name in ("terminal", "direction"):
            if hasattr(like, name):
                setattr(run, name, getattr(like, name))
        return run


class _Dense:
    """The solution between the points of a grid: a step from the point before. It has SciPy's values.

    t: a number or a tensor of at most one dimension. Returns y: (n,) or (n, points). ts, t_min and t_max are SciPy's.
    """

    def __init__(self, fun: State, step: Any, times: list[Any], states: list[Any], theirs: Any) -> None:
        self.fun, self.step, self.times, self.states, self.theirs = fun, step, times, states, theirs
        self.points = np.array([float(np.asarray(detached(t))) for t in times])
        self.ts, self.t_min, self.t_max = theirs.ts, theirs.t_min, theirs.t_max

    def step_to(self, t: Any) -> Any:
        """Return the state at a number or tensor t of no dimension, with the value of the step."""
        place = float(np.asarray(detached(t)))
        ascending = self.points[-1] >= self.points[0]
        before = np.searchsorted(self.points if ascending else -self.points, place if ascending else -place) - 1
        k = int(np.clip(before, 0, max(len(self.points) - 2, 0)))
        return self.step(self.fun, self.times[k], self.states[k], t - self.times[k])

    def __call__(self, t: Any) -> Any:
        places = np.asarray(detached(t), float)
        given = tensor(t) if holds_tensor((t,)) else places
        if places.ndim == 0:
            return with_values(self.step_to(given if isinstance(given, TensorBase) else float(places)), self.theirs(places))
        if places.ndim != 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        found = [self.step_to(given[i]) for i in range(len(places))]
        return with_values(w.stack(found, 1), self.theirs(places))


def _event_times(dense: _Dense, events: list[State], found: Any) -> None:
    """Put tensors in place of the times and states of events. A time solves event(t, y(t)) = 0, so it has its derivative."""

    def value_of(event: State) -> Callable[[Any], Any]:
        return lambda t: tensor(event(t, dense.step_to(t))).reshape(())

    for k, event in enumerate(events):
        times = [implicit(value_of(event), np.asarray(t, float)) for t in found.t_events[k]]
        if times:
            states = with_values(w.stack([dense.step_to(t) for t in times]), found.y_events[k])
            found.t_events[k], found.y_events[k] = w.stack(times), states


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: bool = False, events: Any = None,
    vectorized: bool = False, args: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """Solve dy/dt = fun(t, y, *args) from y0, as scipy.integrate.solve_ivp.

    If fun, events, y0, t_span, t_eval or args hold tensors that are differentiated, the result's y is a tensor (n, points), and
    fun and events get y as a tensor. t is a tensor if t_span or t_eval has tensors, or an event ends the run. t_events and y_events
    hold tensors. sol(t) returns tensors.

    Derivatives: see Note [Steps on tensors]; of the times of events, those of the implicit function.
    """
    given = () if args is None else tuple(args)

    def with_args(function: Any) -> State:
        return lambda t, y: function(t, y, *given)

    right_side = with_args(fun)
    listed = () if events is None else (events,) if callable(events) else tuple(events)
    functions = [with_args(event) for event in listed]
    ends, start = np.asarray(detached(tuple(t_span)), float), np.asarray(detached(y0))
    start = start if np.issubdtype(start.dtype, np.complexfloating) else start.astype(float)
    has_tensors = holds_tensor((t_span, y0, t_eval, given))
    problem = _Problem(right_side, float(ends[0]), np.atleast_1d(start), has_tensors, tuple(functions))
    for x in (*(t_span if not isinstance(t_span, TensorBase) else (t_span,)), y0, t_eval):
        for part in x if isinstance(x, (list, tuple)) else (x,):
            problem.parameters.collect(part)
    places = None if t_eval is None else np.asarray(detached(t_eval), float)
    watched = [problem.event(*pair) for pair in zip(functions, listed, strict=True)] or None
    if not problem.parameters:
        plain: State = problem if problem.tensors else right_side
        return scipy.solve_ivp(plain, ends, start, method, places, dense_output, watched, vectorized, None, **options)
    if not isinstance(method, str):
        raise NotImplementedError("solve_ivp has a derivative for methods with a name. Hint: method='RK45' or 'Radau'.")
    found = scipy.solve_ivp(problem, ends, start, method, places, True, watched, False, None, **options)
    if found.status < 0:
        return found
    stopped = found.status == 1 and t_eval is None
    outputs: Any = found.t if t_eval is None else t_eval[: len(found.t)]
    if t_eval is None and holds_tensor((t_span,)):
        last = w.as_tensor(found.t[-1:]) if stopped else w.reshape(tensor(t_span[1]).double(), (1,))
        outputs = w.cat([w.reshape(tensor(t_span[0]).double(), (1,)), w.as_tensor(found.t[1:-1]), last])
    times, output = _grid(found.sol.ts, found.t, outputs)
    if isinstance(t_span[0], TensorBase):
        times[0] = t_span[0]
    step = _explicit_step(method) if method in _EXPLICIT else _implicit_step(found.sol)
    states = _states(right_side, w.atleast_1d(tensor(y0)).to(w.as_tensor(start).dtype), times, step)
    dense = _Dense(right_side, step, times, states, found.sol)
    _event_times(dense, functions, found)
    y = [states[k] for k in output]
    if stopped:  # the last point is the time of an event
        event, place = next((k, i) for k, t in enumerate(found.t_events) for i in range(len(t)) if detached(t)[i] == found.t[-1])
        outputs = w.cat([w.as_tensor(outputs)[:-1], found.t_events[event][place : place + 1]])
        y[-1] = found.y_events[event][place]
    found.y, found.t = with_values(w.stack(y, 1), found.y), outputs
    found.sol = dense if dense_output else None
    return found


def odeint(func: Any, y0: Any, t: Any, args: Any = (), *settings: Any, **options: Any) -> Any:
    """Solve dy/dt = func(y, t, *args) at the places t, as scipy.integrate.odeint. Returns y: (points, n).

    Derivatives in y0, t, args and the tensors that func closes over. The steps are those that solve_ivp takes with the same
    tolerances: of DOP853, or of LSODA if odeint found the problem stiff. See Note [Steps on tensors].
    """
    given = args if isinstance(args, tuple) else (args,)
    options = dict(signature_of(scipy.odeint).bind(func, y0, t, (), *settings, **options).arguments)
    tfirst, full_output = options.pop("tfirst", False), options.pop("full_output", 0)
    options = {name: x for name, x in options.items() if name not in ("func", "y0", "t", "args")}

    def right_side(time: Any, y: Any) -> Any:
        return func(time, y, *given) if tfirst else func(y, time, *given)

    places, start = np.asarray(detached(t), float), np.atleast_1d(np.asarray(detached(y0), float))
    problem = _Problem(right_side, float(places[0]), start, holds_tensor((y0, t, given)))
    for x in (t, *(y0 if isinstance(y0, (list, tuple)) else (y0,))):
        problem.parameters.collect(x)
    plain: State = problem if problem.tensors else right_side
    if not problem.parameters:
        return scipy.odeint(plain, start, places, full_output=full_output, tfirst=True, **options)
    found, info = scipy.odeint(problem, start, places, full_output=1, tfirst=True, **options)
    tolerances = {name: 1.49012e-8 if options.get(name) is None else options[name] for name in ("rtol", "atol")}
    stiff = bool((np.asarray(info["mused"]) == 2).any())
    run = scipy.solve_ivp(problem, places[[0, -1]], start, "LSODA" if stiff else "DOP853", dense_output=True, **tolerances)
    times, output = _grid(run.sol.ts, places, t)
    y = w.atleast_1d(tensor(y0)).double()
    step = _implicit_step(run.sol) if stiff else _explicit_step("DOP853")
    run_over = _states(right_side, y, times, step)
    states = with_values(w.stack([run_over[k] for k in output]), found)
    return (states, info) if full_output else states


FUNCTIONS: tuple[Any, ...] = (solve_ivp, odeint)

"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd.grad_mode import enable_grad, no_grad
from wengert.ops import function
from wengert.optim._elementwise import check_hyperparameters
from wengert.optim.optimizer import Optimizer
from wengert.tensor import Tensor

__all__ = ["LBFGS"]

_cat: Any = function("", "cat")
_view_as_real: Any = function("", "view_as_real")
_zeros_like: Any = function("", "zeros_like")


class LBFGS(Optimizer):
    """Limited-memory BFGS, for losses that are evaluated several times a step: step(closure) calls the closure again and again.

    J. Nocedal, Updating quasi-Newton matrices with limited storage, 1980. max_iter, max_eval: most iterations and evaluations of
    a step; max_eval is max_iter * 5 // 4 unless given. tolerance_grad, tolerance_change: the step ends if the largest gradient, or
    the change of the parameters or the loss, is at most this. history_size: number of pairs kept. line_search_fn: None, which takes
    lr as the length, or "strong_wolfe". One parameter group; all parameters have one state. Raises ValueError for several groups.

    >>> import wengert
    >>> p = wengert.nn.Parameter(wengert.tensor([1.0, 2.0]))
    >>> optimizer = wengert.optim.LBFGS([p], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((p - 3) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> bool(closure() < 1e-6)
    True
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_hyperparameters(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # -- all parameters as one vector --------------------------------------------------------------------------------------

    def _flat_gradient(self) -> Any:
        gradients = [_zeros_like(p) if p.grad is None else p.grad for p in self._params]
        return _cat([(_view_as_real(g) if g.is_complex() else g).reshape(-1) for g in gradients])

    def _add(self, length: float, direction: Any) -> None:
        """Add length * direction to the parameters."""
        start = 0
        for p in self._params:
            real = _view_as_real(p) if p.is_complex() else p
            real.add_(direction[start : start + real.numel()].view_as(real), alpha=length)
            start += real.numel()

    def _evaluate(self, closure: Callable[[], Any], values: list[Any], length: float, direction: Any) -> tuple[float, Any]:
        """Return the loss and the gradient at values + length * direction, and put the values back."""
        self._add(length, direction)
        loss, gradient = _number(closure()), self._flat_gradient()
        for p, value in zip(self._params, values, strict=True):
            p.copy_(value)
        return loss, gradient

    # -- a step ------------------------------------------------------------------------------------------------------------

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # it needs a closure
        """Iterate until a tolerance or a limit is reached. closure: evaluates the model anew and returns the loss.

        Returns the loss before the step."""
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        lr, line_search = float(group["lr"]), group["line_search_fn"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = _number(first_loss), 1
        state["func_evals"] += 1
        gradient = self._flat_gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss
        direction, length = state.get("d"), state.get("t")
        old_dirs, old_stps, ro, scale = (state.get(name) for name in ("old_dirs", "old_stps", "ro", "H_diag"))
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction, old_dirs, old_stps, ro, scale = gradient.neg(), [], [], [], 1
            else:
                change, moved = gradient.sub(before), direction.mul(length)
                curvature = change.dot(moved)
                if curvature > 1e-10:
                    if len(old_dirs) == group["history_size"]:
                        for history in (old_dirs, old_stps, ro):
                            history.pop(0)
                    old_dirs.append(change)
                    old_stps.append(moved)
                    ro.append(1.0 / curvature)
                    scale = curvature / change.dot(change)
                direction, weights = _direction(gradient, old_dirs, old_stps, ro, scale)
                state["al"] = [*weights, *[None] * (group["history_size"] - len(weights))]
            before, loss_before = gradient.clone(), loss
            length = min(1.0, 1.0 / float(gradient.abs().sum())) * lr if state["n_iter"] == 1 else lr
            slope = gradient.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if line_search is not None:
                if line_search != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                values = [p.clone() for p in self._params]
                loss, gradient, length, calls = _strong_wolfe(
                    lambda x, t, d: self._evaluate(closure, x, t, d),
                    values, length, direction, loss, gradient, slope, tolerance_change=group["tolerance_change"],
                )  # fmt: skip
                self._add(length, direction)
                is_optimal = gradient.abs().max() <= group["tolerance_grad"]
            else:
                self._add(length, direction)
                if iterations != group["max_iter"]:
                    loss = _number(closure())
                    gradient = self._flat_gradient()
                    is_optimal = gradient.abs().max() <= group["tolerance_grad"]
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if iterations == group["max_iter"] or evaluations >= group["max_eval"] or is_optimal:
                break
            least = group["tolerance_change"]
            if direction.mul(length).abs().max() <= least or abs(loss - loss_before) < least:
                break
        state.update(
            d=direction, t=length, old_dirs=old_dirs, old_stps=old_stps, ro=ro, H_diag=scale, prev_flat_grad=before,
            prev_loss=loss_before,
        )  # fmt: skip
        return first_loss


def _number(loss: Any) -> float:
    """Return a loss as a number. Raises TypeError, as float does, for a closure that returns None."""
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


def _direction(gradient: Any, changes: list[Any], moves: list[Any], ro: list[Any], scale: Any) -> tuple[Any, list[Any]]:
    """Return minus the approximate inverse Hessian times the gradient, by the recursion of two loops, and the pairs' weights."""
    found, weights = gradient.neg(), []
    for change, moved, factor in zip(reversed(changes), reversed(moves), reversed(ro), strict=True):
        weights.append(moved.dot(found) * factor)
        found.add_(change, alpha=-float(weights[-1]))
    found = found * scale
    for change, moved, factor, weight in zip(changes, moves, ro, reversed(weights), strict=True):
        found.add_(moved, alpha=float(weight - change.dot(found) * factor))
    return found, weights[::-1]


def _cubic_interpolate(
    x1: float, f1: Any, g1: Any, x2: float, f2: Any, g2: Any, bounds: tuple[float, float] | None = None
) -> float:
    """Minimum within bounds of the cubic polynomial with these values and slopes at two points, or the middle of the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 > x2:
        x1, g1, x2, g2 = x2, g2, x1, g1
    found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    return min(max(found, low), high)


def _strong_wolfe(
    obj_func: Callable[[Any, float, Any], tuple[float, Any]], x: Any, t: float, d: Any, f: float, g: Any, gtd: Any,
    c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[float, Any, float, int]:  # fmt: skip
    """Find a length that fulfils the strong conditions of Wolfe (J. Nocedal and S. Wright, Numerical Optimization, chapter 3).

    obj_func(x, t, d) gives the loss and the gradient at the length t along d. t: first length. f, g, gtd: loss, gradient and
    directional derivative at 0. c1, c2: the constants of sufficient decrease and of curvature. max_ls: most iterations. Returns
    the loss, the gradient, the length and the number of evaluations. Programs import this function under torch's name."""
    size, slope = float(d.abs().max()), float(gtd)
    g = g.clone()
    f_new, g_new = obj_func(x, t, d)
    evaluations, slope_new = 1, float(g_new.dot(d))
    # Widen the interval until it brackets a length that fulfils the conditions.
    previous, iteration, done = (0.0, f, g, slope), 0, False
    points: list[tuple[float, float, Any, float]] = []
    while iteration < max_ls:
        current = (t, f_new, g_new.clone(), slope_new)
        if f_new > f + c1 * t * slope or (iteration > 1 and f_new >= previous[1]):
            points = [previous, current]
            break
        if abs(slope_new) <= -c2 * slope:
            points, done = [current], True
            break
        if slope_new >= 0:
            points = [previous, current]
            break
        bounds = t + 0.01 * (t - previous[0]), t * 10
        t = _cubic_interpolate(previous[0], previous[1], previous[3], t, f_new, slope_new, bounds)
        previous = current
        f_new, g_new = obj_func(x, t, d)
        evaluations, slope_new, iteration = evaluations + 1, float(g_new.dot(d)), iteration + 1
    if iteration == max_ls:
        points = [(0.0, f, g, slope), (t, f_new, g_new, slope_new)]
    # Narrow the interval. The lower point is the one with the smaller loss.
    is_stuck = False
    low, high = (0, 1) if points[0][1] <= points[-1][1] else (1, 0)
    while not done and iteration < max_ls:
        width = abs(points[1][0] - points[0][0])
        if width * size < tolerance_change:
            break
        (t1, f1, _, s1), (t2, f2, _, s2) = points
        t = _cubic_interpolate(t1, f1, s1, t2, f2, s2)
        least, most = min(t1, t2), max(t1, t2)
        margin = 0.1 * (most - least)
        if min(most - t, t - least) < margin:  # too close to an end of the interval
            if is_stuck or t >= most or t <= least:
                t = most - margin if abs(t - most) < abs(t - least) else least + margin
                is_stuck = False
            else:
                is_stuck = True
        else:
            is_stuck = False
        f_new, g_new = obj_func(x, t, d)
        evaluations, slope_new, iteration = evaluations + 1, float(g_new.dot(d)), iteration + 1
        current = (t, f_new, g_new.clone(), slope_new)
        if f_new > f + c1 * t * slope or f_new >= points[low][1]:
            points[high] = current
            low, high = (0, 1) if points[0][1] <= points[1][1] else (1, 0)
            continue
        if abs(slope_new) <= -c2 * slope:
            done = True
        elif slope_new * (points[high][0] - points[low][0]) >= 0:
            points[high] = points[low]
        points[low] = current
    length, loss, gradient, _ = points[low if len(points) > 1 else 0]
    return loss, gradient, length, evaluations

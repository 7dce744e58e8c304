"""Connectionist temporal classification: the probability of a sequence of labels when each label may last any number of steps.

The states of an alignment are the labels with a blank before, between and after them. At each step an alignment stays in
its state, moves to the next one, or skips a blank between two different labels. Two recursions sum over all alignments: one
forward from the first step, one backward from the last (Graves et al., 2006). They run in logarithms, over all items of the
batch and all states at once. They call operations through F, so their derivative is differentiable again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, face_of, to_host
from wengert.kernels import scans
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, composite, general

_LOG_ZERO = -1e30  # stands for log(0) = -inf: the difference of two infinities would be NaN


class _computed_once:
    """Attribute that is computed when it is first read.

    functools.cached_property takes a lock in Python 3.11, which a fork can leave held."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute

    def __get__(self, owner: Any, _: Any) -> Any:
        found = owner.__dict__[self.compute.__name__] = self.compute(owner)
        return found


class States:
    """The labels of each item and the states made of them.

    given: the labels, (n, longest). counts: the number of labels of each item, (n). lengths: the number of steps, (n).
    For the states, all (n, states): labels, their labels; skip, 0 where an alignment may skip the blank before the state,
    else _LOG_ZERO; last, 0 for the two states in which an alignment may end, else _LOG_ZERO."""

    def __init__(self, given: Any, counts: Any, lengths: Any, blank: int) -> None:
        self.given = given
        self.counts = counts
        self.lengths = lengths
        self.blank = blank

    @_computed_once
    def labels(self) -> Any:
        n, longest = self.given.shape
        labels = np.full((n, 2 * longest + 1), self.blank, np.int64)
        labels[:, 1::2] = np.where(np.arange(longest) < self.counts[:, None], self.given, self.blank)
        return labels

    @_computed_once
    def last(self) -> Any:
        behind = np.arange(self.labels.shape[1]) - 2 * self.counts[:, None]
        return np.where((behind == 0) | (behind == -1), 0, _LOG_ZERO)

    @_computed_once
    def skip(self) -> Any:
        differs = np.zeros(self.labels.shape, bool)
        differs[:, 2:] = (self.labels[:, 2:] != self.labels[:, :-2]) & (self.labels[:, 2:] != self.blank)
        return np.where(differs, 0, _LOG_ZERO)

    def for_kernel(self) -> tuple:
        """Arguments of the kernels after the log-probabilities."""
        return self.given, self.lengths, self.counts, self.blank

    def __repr__(self) -> str:
        return f"States({self.given.tolist()}, {self.counts.tolist()}, {self.lengths.tolist()}, {self.blank})"


def _log_add_three(F: Any, first: Any, second: Any, third: Any) -> Any:
    """log(exp(first) + exp(second) + exp(third))."""
    return F.logaddexp(F.logaddexp(first, second), third)


def _shift_states(F: Any, x: Any, by: int) -> Any:
    """Shift x, (n, states), by `by` states. _LOG_ZERO fills the free states."""
    return F.constant_pad_nd(x, pad=(by, -by), value=_LOG_ZERO)


def _at_step(F: Any, scores: Any, t: int) -> Any:
    """Scores of step t: (n, states)."""
    return F.select(scores, dim=0, index=t)


def _scores_of_states(F: Any, log_probs: Any, states: States) -> Any:
    """Log-probability of each state's label at each step: (t, n, states). log_probs: (t, n, classes)."""
    xp = backend_of(log_probs)
    shape = (log_probs.shape[0], *states.labels.shape)
    return F.gather(log_probs, 2, xp.asarray(np.broadcast_to(states.labels, shape)))


def _forward_scores(F: Any, scores: Any, states: States) -> list[Any]:
    """For each step, the log-probability of all paths from the start to each state, this step included: (n, states) each."""
    xp = backend_of(scores)
    dtype = raw(scores).dtype
    start = xp.full(states.labels.shape, _LOG_ZERO, dtype)
    start[:, :2] = 0
    skip = xp.asarray(states.skip.astype(dtype))
    found = [_at_step(F, scores, 0) + start]
    for t in range(1, scores.shape[0]):
        previous = found[-1]
        arriving = _log_add_three(F, previous, _shift_states(F, previous, 1), _shift_states(F, previous, 2) + skip)
        found.append(arriving + _at_step(F, scores, t))
    return found


def _backward_scores(F: Any, scores: Any, states: States) -> list[Any]:
    """For each step, the log-probability of all paths from each state to the end, this step excluded: (n, states) each."""
    xp = backend_of(scores)
    dtype = raw(scores).dtype
    last = xp.asarray(states.last.astype(dtype))
    skip = xp.asarray(states.skip.astype(dtype))
    found: list[Any] = []
    leaving = xp.full(states.labels.shape, _LOG_ZERO, dtype)
    for t in reversed(range(scores.shape[0])):
        if t + 1 < scores.shape[0]:
            following = found[-1] + _at_step(F, scores, t + 1)
            leaving = _log_add_three(F, following, _shift_states(F, following, -1), _shift_states(F, following + skip, -2))
        ends = (states.lengths - 1 == t)[:, None]
        found.append(F.where(xp.asarray(ends), last, leaving) if ends.any() else leaving)
    return found[::-1]


def _log_probability(F: Any, forward: list[Any], states: States) -> Any:
    """Log-probability of all alignments of each item: (n)."""
    xp = backend_of(forward[0])
    total = None
    for t, scores in enumerate(forward):
        ends = states.lengths - 1 == t
        if ends.any():
            ending = F.logsumexp(scores + xp.asarray(states.last.astype(raw(scores).dtype)), dim=1)
            total = F.where(xp.asarray(ends), ending, ending if total is None else total)
    if total is None:  # no item has any steps
        return F.sum(forward[0] * 0, dim=1) + _LOG_ZERO
    return total


@general(promote=NONE, node="CtcLossBackward0", complex=False, method=False, namespaces=())
def _ctc_loss(xp, x, *, states):
    """Negative log-probability of each item's labels: (n). x: log-probabilities, (t, n, classes).

    An item without an alignment has an infinite loss."""
    if x.dtype not in (xp.float32, xp.float64):
        raise errors.unsupported_dtype("ctc_loss_cpu", x.dtype)
    losses = scans.ctc_losses(x, *states.for_kernel())
    if losses is not None:
        return losses.astype(x.dtype, copy=False)
    face = face_of(xp)
    scores = _scores_of_states(face, xp.maximum(x, _LOG_ZERO), states)
    found = _log_probability(face, _forward_scores(face, scores, states), states)
    has_no_steps = states.lengths == 0
    is_empty = xp.asarray(has_no_steps & (states.last[:, 0] == 0))  # neither steps nor labels
    impossible = (found <= _LOG_ZERO / 2) | xp.asarray(has_no_steps)
    return xp.where(is_empty, 0, xp.where(impossible, xp.inf, -found)).astype(x.dtype)


@_ctc_loss.vjp("x")
def _(F, ct, x, out, states):
    xp = backend_of(ct)
    if not F.is_tensor:
        found = scans.ctc_cotangent(x, *states.for_kernel(), ct)
        if found is not None:
            return found
    scores = _scores_of_states(F, F.clamp(x, min=_LOG_ZERO, max=None), states)
    forward, backward = _forward_scores(F, scores, states), _backward_scores(F, scores, states)
    steps = x.shape[0]
    joint = F.stack([a + b for a, b in zip(forward, backward, strict=True)], dim=0)
    possible = xp.isfinite(raw(out))
    counted = (xp.arange(steps)[:, None] < xp.asarray(states.lengths)) & possible
    log_probability = F.where(possible, _log_probability(F, forward, states), 0)
    posteriors = F.where(counted[:, :, None], F.exp(joint - F.unsqueeze(log_probability, dim=-1)), 0)
    values = posteriors * F.unsqueeze(-ct, dim=-1)
    index = (slice(None), xp.arange(states.labels.shape[0])[:, None], xp.asarray(states.labels))
    return F.read_cotangent(values, shape=tuple(x.shape), index=index, repeats=True)


# -- torch's arguments -------------------------------------------------------------------------------------------------


def _checked_lengths(value: Any, n: int, name: str) -> Any:
    """Return lengths as a new int64 vector. Raises RuntimeError unless there are n, and all are at least 0."""
    found = np.array(to_host(raw(value)), np.int64).reshape(-1)
    if found.size != n:
        raise errors.ShapeError(f"{name} must be of size batch_size")
    if n and found.min() < 0:
        raise errors.ShapeError(f"Expected {name} to have value at least 0, but got value {found.min()} {_WHERE}")
    return found


_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _target_rows(targets: Any, counts: Any) -> Any:
    """Return the labels of each item as a row. targets: rows, or one vector with the labels of all items.

    The elements after an item's labels are arbitrary."""
    if targets.ndim > 1:
        if counts.size and counts.max() > targets.shape[1]:
            raise errors.ShapeError(
                f"Expected tensor to have size at least {counts.max()} at dimension 1, but got size {targets.shape[1]} for "
                f"argument #2 'targets' {_WHERE}"
            )
        return np.ascontiguousarray(targets)
    if targets.size != counts.sum():
        raise errors.ShapeError(
            f"Expected tensor to have size {counts.sum()} at dimension 0, but got size {targets.size} for argument #2 "
            f"'targets' {_WHERE}"
        )
    rows = np.zeros((counts.size, counts.max(initial=0)), np.int64)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = targets
    return rows


@composite(namespaces=("nn.functional",))
def ctc_loss(F, log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification loss: -log of the probability of targets, over all alignments with the steps.

    log_probs: (steps, n, classes) or (steps, classes), float32 or float64, as from `log_softmax`. targets: integers,
    (n, longest), or one vector with the labels of all items. input_lengths, target_lengths: n ints, as a tensor or a
    tuple. blank: the class of blanks. reduction: "mean" (each loss is divided by its target's length first), "sum" or
    "none". zero_infinity: a target without an alignment, because it is too long, has loss 0 instead of infinity. Raises
    RuntimeError for sizes and lengths that do not fit.

    Derivative: for each step and class, minus the probability that an alignment is in the class at that step; 0 where the
    loss is infinite. torch adds exp(log_probs) to the derivative. Behind `log_softmax` both give the same gradient."""
    xp = backend_of(log_probs)
    if reduction not in ("mean", "sum", "none"):
        raise errors.ElementError(f"{reduction} is not a valid value for reduction")
    is_batch = log_probs.ndim == 3
    x = log_probs if is_batch else F.unsqueeze(log_probs, dim=1)
    steps, n, classes = x.shape
    lengths = _checked_lengths(input_lengths, n, "input_lengths")
    label_counts = _checked_lengths(target_lengths, n, "target_lengths")
    if not 0 <= blank < classes:
        raise errors.ShapeError("blank must be in label range")
    if lengths.size and lengths.max() > steps:
        raise errors.ShapeError(
            f"Expected input_lengths to have value at most {steps}, but got value {lengths.max()} {_WHERE}"
        )
    labels = to_host(raw(targets)).astype(np.int64, copy=False)
    rows = _target_rows(labels if is_batch or labels.ndim > 1 else labels.reshape(-1), label_counts)
    states = States(rows, label_counts, lengths, blank)
    losses = F._ctc_loss(x, states=states)
    if zero_infinity:
        losses = F.where(raw(losses) == np.inf, 0, losses)
    if reduction == "mean":
        return F.mean(losses / xp.asarray(np.maximum(label_counts, 1).astype(raw(x).dtype)))
    return F.sum(losses) if reduction == "sum" else losses if is_batch else F.squeeze(losses, dim=0)

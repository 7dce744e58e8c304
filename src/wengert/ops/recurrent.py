"""Recurrent networks and their cells: rnn_tanh, rnn_relu, gru, lstm, computed step by step.

The weights of the gates are stacked as in torch: reset, update, new (gru); input, forget, cell, output (lstm).
Derivatives are those of the steps. All steps of a layer of an lstm are one operation, unless hidden states are projected.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, face_of
from wengert.core.watched import differs_on_arrays
from wengert.kernels import scans
from wengert.ops.indices import raw
from wengert.ops.registry import composite, general


def _split_gates(F: Any, sums: Any, count: int, size: int) -> Any:
    """Return the parts of the gates, each of this size, of the last dimension."""
    return F._unsafe_split(sums, sizes=(size,) * count, dim=sums.ndim - 1, node="UnsafeSplitBackward0")


def _tanh_step(F: Any, a: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    return (F.tanh(a + _of_state(F, state, weights)),)


def _relu_step(F: Any, a: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    return (F.relu(a + _of_state(F, state, weights)),)


def _gru_step(F: Any, a: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    b = _of_state(F, state, weights)
    size = state[0].shape[-1]
    of_x, of_h = (_split_gates(F, t, 3, size) for t in (a, b))
    reset, update = F.sigmoid(of_x[0] + of_h[0]), F.sigmoid(of_x[1] + of_h[1])
    new = F.tanh(of_x[2] + reset * of_h[2])
    return (new + update * (state[0] - new),)


def _lstm_step(F: Any, a: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    size = state[1].shape[-1]
    sums = a + _of_state(F, state, weights)
    gates = _split_gates(F, sums, 4, size)
    cell = F.sigmoid(gates[1]) * state[1] + F.sigmoid(gates[0]) * F.tanh(gates[2])
    hidden = F.sigmoid(gates[3]) * F.tanh(cell)
    return (F.linear(hidden, weights.w_hr) if weights.w_hr is not None else hidden), cell


class _Weights(NamedTuple):
    """The weights of one direction of one layer. w_hr projects the hidden state of an lstm."""

    w_ih: Any
    w_hh: Any
    b_ih: Any = None
    b_hh: Any = None
    w_hr: Any = None


def _of_input(F: Any, x: Any, weights: _Weights) -> Any:
    """Return w_ih x + b_ih, the summand of the gates that the input gives."""
    return F.linear(x, weights.w_ih, weights.b_ih)


def _of_state(F: Any, state: tuple[Any, ...], weights: _Weights) -> Any:
    """Return w_hh h + b_hh, the summand of the gates that the state gives."""
    return F.linear(state[0], weights.w_hh, weights.b_hh)


def _split_weights(params: Any, has_biases: bool, has_projections: bool, count: int) -> list[_Weights]:
    """Return the weights of each direction of each layer. Raise RuntimeError unless there are `count` of them."""
    each = 2 + 2 * has_biases + has_projections
    if len(params) != each * count:
        raise errors.ShapeError(f"got an incorrect number of RNN parameters: expected {each * count}, got {len(params)}")
    found = []
    for i in range(count):
        w_ih, w_hh, *rest = params[i * each : (i + 1) * each]
        b_ih, b_hh = rest[:2] if has_biases else (None, None)
        found.append(_Weights(w_ih, w_hh, b_ih, b_hh, rest[-1] if has_projections else None))
    return found


# -- all steps of a layer of an lstm -----------------------------------------------------------------------------------


class _Step(NamedTuple):
    """Rows of one step. first: the place of its first row among the rows of all steps. before: the place of the first row of
    the step before in time; the first `continued` rows have one. The others begin at this step."""

    first: int
    rows: int
    before: int
    continued: int


def _steps_in_time(sizes: Any, backward: bool) -> list[_Step]:
    """Return the steps in the order in which an lstm takes them. sizes: see _run_direction."""
    firsts = [0, *accumulate(sizes)]
    steps, before = [], _Step(0, 0, 0, 0)
    for t in range(len(sizes) - 1, -1, -1) if backward else range(len(sizes)):
        before = _Step(firsts[t], sizes[t], before.first, min(sizes[t], before.rows))
        steps.append(before)
    return steps


def _states_before(F: Any, states: Any, initial: Any, step: _Step) -> Any:
    """Return the states before a step, one for each of its rows. states: those of all steps."""
    begun = F.narrow(initial, 0, step.continued, step.rows - step.continued)
    if step.continued == 0:
        return begun
    continued = F.narrow(states, 0, step.before, step.continued)
    return continued if step.continued == step.rows else F.cat([continued, begun], 0)


@general(
    node="MkldnnRnnLayerBackward0", outputs=("hidden", "cells", "gates"), complex=False, method=False, namespaces=(),
)  # fmt: skip
def _lstm_steps(xp, sums, hidden0, cell0, weight, *, sizes, backward):
    """Hidden states, cells and gates (input, forget, cell, output) after each step: (rows, size), and (rows, 4 size).

    sums: what the input and the biases add to the gates, (rows, 4 size). hidden0, cell0: initial states, (batch, size).
    weight: w_hh, (4 size, size). rows: those of all steps. sizes, backward: see _run_direction."""
    found = scans.lstm_steps(*map(xp.ascontiguousarray, (sums, hidden0, cell0, weight)), sizes, backward)
    if found is not None:
        return found
    F, size = face_of(xp), weight.shape[1]
    hidden, cells = (xp.empty((len(sums), size), sums.dtype) for _ in range(2))
    gates = xp.empty_like(sums)
    for step in _steps_in_time(sizes, backward):
        rows = slice(step.first, step.first + step.rows)
        given = sums[rows] + F.matmul(_states_before(F, hidden, hidden0, step), F.t(weight))
        input, forget, cell, output = (given[:, i * size : (i + 1) * size] for i in range(4))
        parts = [F.sigmoid(input), F.sigmoid(forget), F.tanh(cell), F.sigmoid(output)]
        gates[rows] = F.cat(parts, 1)
        cells[rows] = parts[1] * _states_before(F, cells, cell0, step) + parts[0] * parts[2]
        hidden[rows] = parts[3] * F.tanh(cells[rows])
    return hidden, cells, gates


@_lstm_steps.vjp("sums", "hidden0", "cell0", "weight")
@differs_on_arrays
def _(F, ct, hidden, cells, gates, hidden0, cell0, weight, sizes, backward):
    found = None
    if not F.is_tensor:
        arrays: Any = (*ct, hidden, cells, gates, hidden0, cell0, weight)
        if weight.dtype.itemsize == 2:  # summed over all steps
            arrays = [a if a is None else a.astype(np.float32) for a in arrays]
            ct, (hidden, cells, gates, hidden0, cell0, weight) = tuple(arrays[: len(ct)]), arrays[len(ct) :]
        arrays = [a if a is None or a.flags.c_contiguous else a.copy() for a in arrays]
        found = scans.lstm_steps_cotangent(*arrays, sizes, backward)
    if found is None:
        found = _lstm_cotangents(F, ct, (hidden, cells, gates), (hidden0, cell0), weight, sizes, backward)
    of_sums, of_hidden0, of_cell0, previous = found
    return of_sums, of_hidden0, of_cell0, F.matmul(F.t(of_sums), previous)


def _lstm_cotangents(F: Any, ct: Any, results: Any, initial: Any, weight: Any, sizes: Any, backward: bool) -> tuple[Any, ...]:
    """Return the cotangents of sums, hidden0 and cell0 of _lstm_steps, and the hidden states before each row of sums."""
    size, pieces = weight.shape[1], {}
    of_states = (initial[0] * 0.0, initial[1] * 0.0)  # for each sequence, the cotangents from the step after
    for step in reversed(_steps_in_time(sizes, backward)):
        given = [None if c is None else F.narrow(c, 0, step.first, step.rows) for c in ct]
        hidden_before, cell_before = (
            _states_before(F, states, first, step) for states, first in zip(results[:2], initial, strict=True)
        )
        gates = F.narrow(results[2], 0, step.first, step.rows)
        input, forget, cell, output = (F.narrow(gates, 1, i * size, size) for i in range(4))
        squashed = F.tanh(F.narrow(results[1], 0, step.first, step.rows))
        h, c = (F.narrow(s, 0, 0, step.rows) for s in of_states)
        h = h if given[0] is None else h + given[0]
        c = c if given[1] is None else c + given[1]
        c = c + h * output * (1.0 - squashed * squashed)
        of_gates = F.cat([c * cell, c * cell_before, c * input, h * squashed], 1)
        of_gates = of_gates if given[2] is None else of_gates + given[2]
        slopes = [input * (1.0 - input), forget * (1.0 - forget), 1.0 - cell * cell, output * (1.0 - output)]
        of_sums = of_gates * F.cat(slopes, 1)
        pieces[step.first] = of_sums, hidden_before
        new = F.matmul(of_sums, weight), c * forget
        rest = of_states[0].shape[0] - step.rows
        of_states = new if not rest else tuple(
            [F.cat([n, F.narrow(s, 0, step.rows, rest)], 0) for n, s in zip(new, of_states, strict=True)]
        )  # fmt: skip
    in_order = [pieces[first] for first in sorted(pieces)]
    of_sums, previous = (F.cat(list(rows), 0) for rows in zip(*in_order, strict=True))
    return of_sums, *of_states, previous


def _is_complex(x: Any) -> bool:
    return raw(x).dtype.kind == "c"


def _last_rows(F: Any, states: Any, sizes: list[int], backward: bool) -> Any:
    """Return each sequence's state after its last step. states: those of all steps."""
    xp = backend_of(states)
    if len(sizes) == 1:
        return states
    if backward or sizes[-1] == sizes[0]:
        return F.narrow(states, 0, 0 if backward else states.shape[0] - sizes[0], sizes[0])
    firsts = xp.cumsum(xp.array([0, *sizes]))
    lasts = xp.searchsorted(-xp.array(sizes), -xp.arange(sizes[0]), side="left") - 1
    return F.index_select(states, 0, firsts[lasts] + xp.arange(sizes[0]))


def _run_lstm(
    F: Any, data: Any, sizes: list[int], state: tuple[Any, ...], weights: _Weights, backward: bool
) -> tuple[Any, tuple[Any, ...]]:
    """_run_direction of an lstm without projections, as one operation."""
    bias = weights.b_ih if weights.b_hh is None else weights.b_ih + weights.b_hh
    sums = F.linear(data, weights.w_ih, bias)
    hidden, cells, _ = F._lstm_steps(sums, *state, weights.w_hh, sizes=tuple(sizes), backward=backward)
    return hidden, tuple([_last_rows(F, states, sizes, backward) for states in (hidden, cells)])


# -- layers ------------------------------------------------------------------------------------------------------------


def _run_direction(
    F: Any, step: Any, data: Any, sizes: list[int], state: tuple[Any, ...], weights: _Weights, backward: bool
) -> tuple[Any, tuple[Any, ...]]:
    """Return (outputs, final states) of one direction of a layer.

    data: (sum of sizes, features), the rows of step 0, those of step 1, and so on. sizes: the number of rows of each step,
    not increasing: a sequence that has ended has no row. state: the initial states, each with a row for each sequence."""
    if step is _lstm_step and weights.w_hr is None and not _is_complex(data):
        return _run_lstm(F, data, sizes, state, weights, backward)
    steps = F._unsafe_split(_of_input(F, data, weights), sizes=tuple(sizes), dim=0, node="UnsafeSplitWithSizesBackward0")
    first, ended, outputs = state, [], []
    if backward:
        state = tuple([F.narrow(s, 0, 0, sizes[-1]) for s in first]) if sizes[-1] < sizes[0] else state
    for a in reversed(steps) if backward else steps:
        rows, running = a.shape[0], state[0].shape[0]
        if rows < running:
            ended.append([F.narrow(s, 0, rows, running - rows) for s in state])
            state = tuple([F.narrow(s, 0, 0, rows) for s in state])
        elif rows > running:
            begun = [F.narrow(s, 0, running, rows - running) for s in first]
            state = tuple([F.cat([s, new], 0) for s, new in zip(state, begun, strict=True)])
        state = step(F, a, state, weights)
        outputs.append(state[0])
    if ended:
        state = tuple([F.cat([s, *rows], 0) for s, *rows in zip(state, *reversed(ended), strict=True)])
    return F.cat(outputs[::-1] if backward else outputs, 0), state


def _run_layers(
    F: Any, step: Any, data: Any, sizes: list[int], states: tuple[Any, ...], params: Any, has_biases: bool, num_layers: int,
    dropout: float, train: bool, bidirectional: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Return (outputs of the last layer, final states of all layers, ...), one entry for each state. See _run_direction."""
    directions = 2 if bidirectional else 1
    has_projections = len(states) == 2 and states[0].shape[-1] != states[1].shape[-1]
    weights = _split_weights(params, has_biases, has_projections, directions * num_layers)
    last: list[list[Any]] = [[] for _ in states]
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            state = tuple([F.select(s, dim=0, index=number) for s in states])
            output, state = _run_direction(F, step, data, sizes, state, weights[number], direction == 1)
            outputs.append(output)
            for final, s in zip(last, state, strict=True):
                final.append(s)
        data = outputs[0] if directions == 1 else F.cat(outputs, -1)
        if dropout and train and layer < num_layers - 1:
            data = F.dropout(data, dropout)
    return data, *[F.stack(final, 0) for final in last]


def _run(F: Any, step: Any, has_cell: bool, input: Any, hx: Any, params: Any, *rest: Any) -> tuple[Any, ...]:
    """Sort out the overloads: (input, hx, params, ..., batch_first), or (data, batch_sizes, hx, params, ...)."""
    if isinstance(rest[0], (list, tuple)):
        sizes, states, params = hx.tolist(), params, rest[0]
        return _run_layers(F, step, input, sizes, tuple(states) if has_cell else (states,), params, *rest[1:])
    states = tuple(hx) if has_cell else (hx,)
    *rest, batch_first = rest  # type: ignore[assignment]
    if input.ndim not in (2, 3):
        raise errors.ShapeError(f"Expected input to be 2D or 3D, got {input.ndim}D instead")
    unbatched = input.ndim == 2
    if unbatched:
        input = F.unsqueeze(input, dim=1)
        states = tuple([F.unsqueeze(s, dim=1) for s in states])
    elif batch_first:
        input = F.transpose(input, dim0=0, dim1=1)
    steps, batch, features = input.shape
    data = F.reshape(input, shape=(steps * batch, features))
    output, *final = _run_layers(F, step, data, [batch] * steps, states, params, *rest)
    output = F.reshape(output, shape=(steps, batch, output.shape[-1]))
    if unbatched:
        return tuple([F.squeeze(r, dim=1) for r in (output, *final)])
    return (F.transpose(output, dim0=0, dim1=1) if batch_first else output), *final


_ARGUMENTS = """input: (steps, batch, features), or (batch, steps, features) if batch_first, or (steps, features). hx: the
    initial states, (num_layers * directions, batch, hidden). params: w_ih, w_hh, and b_ih, b_hh if has_biases, for each
    layer and, within a layer, each direction. dropout: probability of dropout between layers, applied if train. Raises
    RuntimeError for another number of params. If hx of lstm is a pair of states of different sizes, params has a w_hr after
    each of these groups, which projects the hidden state. Packed sequences are given as (data, batch_sizes, hx, params,
    has_biases, num_layers, dropout, train, bidirectional), data: (sum of batch_sizes, features)."""


@composite()
def rnn_tanh(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(F, _tanh_step, False, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def rnn_relu(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(F, _relu_step, False, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def gru(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(F, _gru_step, False, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def lstm(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run(F, _lstm_step, True, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


for _op, _what in ((rnn_tanh, "h' = tanh(W x + U h)"), (rnn_relu, "h' = relu(W x + U h)"), (gru, "Gated recurrent units"),
                   (lstm, "Long short-term memory")):  # fmt: skip
    _op.doc = _op.function.__doc__ = f"""{_what}, in num_layers layers; returns (outputs, final states, ...).

    {_ARGUMENTS} Derivative: that of the steps."""


@composite()
def rnn_tanh_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of rnn_tanh: tanh(w_ih x + b_ih + w_hh h + b_hh).

    input: (batch, features), hx: (batch, hidden), w_ih: (hidden, features), w_hh: (hidden, hidden), b_ih, b_hh: (hidden) or
    None; returns (batch, hidden). Derivative: that of the formula."""
    weights = _Weights(w_ih, w_hh, b_ih, b_hh)
    return _tanh_step(F, _of_input(F, input, weights), (hx,), weights)[0]


@composite()
def rnn_relu_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of rnn_relu: relu(w_ih x + b_ih + w_hh h + b_hh). Arguments: as rnn_tanh_cell.

    Derivative: that of the formula."""
    weights = _Weights(w_ih, w_hh, b_ih, b_hh)
    return _relu_step(F, _of_input(F, input, weights), (hx,), weights)[0]


@composite()
def gru_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of gru: return the next state, given input and the state hx.

    input: (batch, features), hx: (batch, hidden), w_ih: (3 hidden, features), w_hh: (3 hidden, hidden), b_ih, b_hh:
    (3 hidden) or None; returns (batch, hidden). Derivative: that of the formula."""
    weights = _Weights(w_ih, w_hh, b_ih, b_hh)
    return _gru_step(F, _of_input(F, input, weights), (hx,), weights)[0]


@composite()
def lstm_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of lstm: return the next states (h, c), given input and hx = (h, c).

    input: (batch, features), h, c: (batch, hidden), w_ih: (4 hidden, features), w_hh: (4 hidden, hidden), b_ih, b_hh:
    (4 hidden) or None. Derivative: that of the formula."""
    weights = _Weights(w_ih, w_hh, b_ih, b_hh)
    if _is_complex(input):
        return _lstm_step(F, _of_input(F, input, weights), tuple(hx), weights)
    states = _run_lstm(F, input, [input.shape[0]], tuple(hx), weights, False)[1]
    return tuple([F.clone(s) for s in states])  # a program may write into them: the derivative needs them as they were

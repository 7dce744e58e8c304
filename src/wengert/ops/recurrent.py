"""Recurrent networks and their cells: rnn_tanh, rnn_relu, gru, lstm, computed step by step.

The weights of the gates are stacked as in torch: reset, update, new (gru); input, forget, cell, output (lstm).
Derivatives are those of the steps.
"""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.ops.registry import composite


def _gate_summands(F: Any, x: Any, h: Any, weights: Any) -> tuple[Any, Any]:
    """Return (w_ih x + b_ih, w_hh h + b_hh), the two summands of the gates.

    weights: (w_ih, w_hh) or (w_ih, w_hh, b_ih, b_hh)."""
    w_ih, w_hh, b_ih, b_hh = weights if len(weights) == 4 else (*weights, None, None)
    return F.linear(x, w_ih, b_ih), F.linear(h, w_hh, b_hh)


def _tanh_step(F: Any, x: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    a, b = _gate_summands(F, x, state[0], weights)
    return (F.tanh(a + b),)


def _relu_step(F: Any, x: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    a, b = _gate_summands(F, x, state[0], weights)
    return (F.relu(a + b),)


def _gru_step(F: Any, x: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    a, b = _gate_summands(F, x, state[0], weights)
    size = state[0].shape[-1]
    of_x, of_h = ([F.narrow(t, -1, i * size, size) for i in range(3)] for t in (a, b))
    reset, update = F.sigmoid(of_x[0] + of_h[0]), F.sigmoid(of_x[1] + of_h[1])
    new = F.tanh(of_x[2] + reset * of_h[2])
    return (new + update * (state[0] - new),)


def _lstm_step(F: Any, x: Any, state: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    a, b = _gate_summands(F, x, state[0], weights)
    size = state[1].shape[-1]
    gates = [F.narrow(a + b, -1, i * size, size) for i in range(4)]
    cell = F.sigmoid(gates[1]) * state[1] + F.sigmoid(gates[0]) * F.tanh(gates[2])
    return F.sigmoid(gates[3]) * F.tanh(cell), cell


def _run_layers(
    F: Any, step: Any, input: Any, states: tuple[Any, ...], params: Any, has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Return (outputs of the last layer at all steps, final states of all layers, ...), one entry for each state."""
    per_direction, directions = (4 if has_biases else 2), (2 if bidirectional else 1)
    if len(params) != per_direction * directions * num_layers:
        raise errors.ShapeError(
            f"got an incorrect number of RNN parameters: expected {per_direction * directions * num_layers}, got {len(params)}"
        )
    if input.ndim not in (2, 3):
        raise errors.ShapeError(f"Expected input to be 2D or 3D, got {input.ndim}D instead")
    unbatched = input.ndim == 2
    if unbatched:
        input, batch_first = F.unsqueeze(input, dim=1), False
        states = tuple([F.unsqueeze(s, dim=1) for s in states])
    xs = list(F.unbind(input, dim=1 if batch_first else 0))
    last: list[list[Any]] = [[] for _ in states]
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            state = tuple([F.select(s, dim=0, index=number) for s in states])
            weights = params[number * per_direction : (number + 1) * per_direction]
            found = []
            for x in reversed(xs) if direction else xs:
                state = step(F, x, state, weights)
                found.append(state[0])
            outputs.append(found[::-1] if direction else found)
            for final, s in zip(last, state, strict=True):
                final.append(s)
        xs = outputs[0] if directions == 1 else [F.cat([a, b], -1) for a, b in zip(*outputs, strict=True)]
        if dropout and train and layer < num_layers - 1:
            xs = [F.dropout(x, dropout) for x in xs]
    output = F.stack(xs, 1 if batch_first else 0)
    results = (output, *[F.stack(final, 0) for final in last])
    return tuple([F.squeeze(r, dim=1) for r in results]) if unbatched else results


_ARGUMENTS = """input: (steps, batch, features), or (batch, steps, features) if batch_first, or (steps, features). hx: the
    initial states, (num_layers * directions, batch, hidden). params: w_ih, w_hh, and b_ih, b_hh if has_biases, for each
    layer and, within a layer, each direction. dropout: probability of dropout between layers, applied if train. Raises
    RuntimeError for another number of params."""


@composite()
def rnn_tanh(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run_layers(F, _tanh_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def rnn_relu(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run_layers(F, _relu_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def gru(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run_layers(F, _gru_step, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@composite()
def lstm(F, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _run_layers(F, _lstm_step, input, tuple(hx), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)


for _op, _what in ((rnn_tanh, "h' = tanh(W x + U h)"), (rnn_relu, "h' = relu(W x + U h)"), (gru, "Gated recurrent units"),
                   (lstm, "Long short-term memory")):  # fmt: skip
    _op.doc = _op.function.__doc__ = f"""{_what}, in num_layers layers; returns (outputs, final states, ...).

    {_ARGUMENTS} Derivative: that of the steps."""


@composite()
def rnn_tanh_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of rnn_tanh: tanh(w_ih x + b_ih + w_hh h + b_hh).

    input: (batch, features), hx: (batch, hidden), w_ih: (hidden, features), w_hh: (hidden, hidden), b_ih, b_hh: (hidden) or
    None; returns (batch, hidden). Derivative: that of the formula."""
    return _tanh_step(F, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


@composite()
def rnn_relu_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of rnn_relu: relu(w_ih x + b_ih + w_hh h + b_hh). Arguments: as rnn_tanh_cell.

    Derivative: that of the formula."""
    return _relu_step(F, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


@composite()
def gru_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of gru: return the next state, given input and the state hx.

    input: (batch, features), hx: (batch, hidden), w_ih: (3 hidden, features), w_hh: (3 hidden, hidden), b_ih, b_hh:
    (3 hidden) or None; returns (batch, hidden). Derivative: that of the formula."""
    return _gru_step(F, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


@composite()
def lstm_cell(F, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of lstm: return the next states (h, c), given input and hx = (h, c).

    input: (batch, features), h, c: (batch, hidden), w_ih: (4 hidden, features), w_hh: (4 hidden, hidden), b_ih, b_hh:
    (4 hidden) or None. Derivative: that of the formula."""
    return _lstm_step(F, input, tuple(hx), (w_ih, w_hh, b_ih, b_hh))

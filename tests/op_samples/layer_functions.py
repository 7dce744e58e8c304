"""Samples and oracles of wengert.ops.layer_functions and recurrent."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample

_REAL = {"complex": False}
_PROBABLE = Data(2, 3, low=0.1, high=0.9)
_SIGNS, _WHOLE = np.array([1.0, -1.0, 1.0], np.float32), np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0]], np.float32)
_CELL = [(2, 3), (2, 4), (4, 3), (4, 4), (4,), (4,)]


def _params(gates, layers, directions, biases):
    """The shapes of all weights of a network of 3 features and states of 2."""
    found = []
    for layer in range(layers):
        for _ in range(directions):
            found += [(gates * 2, 3 if layer == 0 else 2 * directions), (gates * 2, 2)]
            found += [(gates * 2,), (gates * 2,)] if biases else []
    return found


def _net(gates, *states):
    """Two layers in both directions with biases; one layer without, batch first."""
    state = (4, 2, 2)
    deep = list(states) if states else state
    flat = [(1, 2, 2) for _ in states] if states else (1, 2, 2)
    return [
        Sample((3, 2, 3), deep, _params(gates, 2, 2, True), True, 2, 0.0, False, True, False, **_REAL),
        Sample((2, 3, 3), flat, _params(gates, 1, 1, False), False, 1, 0.0, False, False, True, **_REAL),
    ]


SAMPLES = {
    "torch_dropout": [Sample((2, 3), 0.5, True, **_REAL)],
    "feature_dropout": [Sample((2, 3, 2), 0.5, True, **_REAL)],
    "torch_embedding": [Sample((4, 2), np.array([0, 2, 2]), **_REAL), Sample((4, 2), np.array([[0, 2]]), 1, **_REAL)],
    "torch_kl_div": [Sample((2, 3), _PROBABLE, 0, **_REAL), Sample((2, 3), (2, 3), 2, log_target=True, **_REAL)],
    "torch_poisson_nll_loss": [Sample((2, 3), _WHOLE, True, False, 1e-8, 1, **_REAL), Sample(_PROBABLE, _WHOLE, False, False, 1e-8, 0, **_REAL)],
    "torch_hinge_embedding_loss": [Sample((3,), _SIGNS, 2.5, 2, **_REAL)],
    "torch_cosine_embedding_loss": [Sample((3, 2), (3, 2), _SIGNS, 0.1, 0, **_REAL)],
    "torch_margin_ranking_loss": [Sample((3,), (3,), _SIGNS, 0.2, **_REAL), Sample((3,), (3,), _SIGNS, 0.2, 1, **_REAL)],
    "torch_triplet_margin_loss": [Sample((2, 3), (2, 3), (2, 3), 4.0, reduction=2, **_REAL)],
    "torch_binary_cross_entropy_with_logits": [Sample((2, 3), _PROBABLE, None, None, 2, **_REAL), Sample((2, 3), _PROBABLE, **_REAL), Sample((2, 3), _PROBABLE, reduction=1, **_REAL)],
    "torch_adaptive_max_pool1d": [Sample(Data(1, 2, 6, distinct=True), 3, **_REAL)],
    "conv_tbc": [Sample((5, 2, 3), (2, 3, 4), (4,), **_REAL), Sample((4, 1, 2), (3, 2, 2), (2,), 1, **_REAL)],
    "rnn_tanh_cell": [Sample(*_CELL, **_REAL), Sample(*_CELL[:4], **_REAL)],
    "rnn_relu_cell": [Sample(*_CELL, **_REAL)],
    "gru_cell": [Sample((2, 3), (2, 4), (12, 3), (12, 4), (12,), (12,), **_REAL)],
    "lstm_cell": [Sample((2, 3), [(2, 4), (2, 4)], (16, 3), (16, 4), (16,), (16,), **_REAL)],
    "rnn_tanh": _net(1), "rnn_relu": _net(1), "gru": _net(3), "lstm": _net(4, (4, 2, 2), (4, 2, 2)),
}  # fmt: skip

OTHER_STEPS = {"conv_tbc", "rnn_tanh", "rnn_relu", "gru", "lstm", "lstm_cell"}


def _kl_div(x, target, reduction=0, log_target=False):
    losses = np.exp(target) * (target - x) if log_target else target * (np.log(target) - x)
    return losses.sum() if reduction == 2 else losses


def _poisson(x, target, log_input, full, eps, reduction):
    losses = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    return losses.mean() if reduction else losses


def _hinge(x, target, margin, reduction):
    return np.where(target == 1, x, np.maximum(0, margin - x)).sum()


def _cosine(x, y, target, margin, reduction):
    cosine = (x * y).sum(axis=1) / np.sqrt(((x * x).sum(axis=1) + 1e-12) * ((y * y).sum(axis=1) + 1e-12))
    return np.where(target == 1, 1 - cosine, np.maximum(0, cosine - margin))


def _ranking(x, y, target, margin, reduction=0):
    losses = np.maximum(0, -target * (x - y) + margin)
    return losses.mean() if reduction else losses


def _triplet(anchor, positive, negative, margin, reduction):
    near, far = (np.linalg.norm(anchor - other + 1e-6, axis=1) for other in (positive, negative))
    return np.maximum(near - far + margin, 0).sum()


def _with_logits(x, target, weight=None, pos_weight=None, reduction=0):
    p = _sigmoid(x)
    losses = -(target * np.log(p) + (1 - target) * np.log(1 - p))
    return losses.sum() if reduction == 2 else losses.mean() if reduction else losses


def _conv_tbc(x, weight, bias, pad=0):
    x = np.pad(x, [(pad, pad), (0, 0), (0, 0)])
    width = len(weight)
    return np.stack([np.einsum("tbc,tco->bo", x[t : t + width], weight) + bias for t in range(len(x) - width + 1)])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _gru(x, h, w_ih, w_hh, b_ih=0, b_hh=0):
    n = h.shape[-1]
    a, b = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    r, z = _sigmoid(a[:, :n] + b[:, :n]), _sigmoid(a[:, n : 2 * n] + b[:, n : 2 * n])
    new = np.tanh(a[:, 2 * n :] + r * b[:, 2 * n :])
    return (1 - z) * new + z * h


def _lstm(x, hx, w_ih, w_hh, b_ih=0, b_hh=0):
    h, c = hx
    gates = np.split(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=1)
    c = _sigmoid(gates[1]) * c + _sigmoid(gates[0]) * np.tanh(gates[2])
    return _sigmoid(gates[3]) * np.tanh(c), c


def _simple(function):
    return lambda x, h, w_ih, w_hh, b_ih=0, b_hh=0: function(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)


def _network(cell):
    def oracle(x, hx, params, has_biases, layers, dropout, train, both, batch_first):
        pair = isinstance(hx, list)
        xs = list(x.swapaxes(0, 1) if batch_first else x)
        each, directions = 4 if has_biases else 2, 2 if both else 1
        last = []
        for layer in range(layers):
            found = []
            for d in range(directions):
                number = layer * directions + d
                state = [h[number] for h in hx] if pair else hx[number]
                outputs = []
                for step in xs[::-1] if d else xs:
                    state = cell(step, state, *params[number * each : (number + 1) * each])
                    outputs.append(state[0] if pair else state)
                last.append(state)
                found.append(outputs[::-1] if d else outputs)
            xs = [np.concatenate(step, axis=-1) for step in zip(*found)]
        out = np.stack(xs, axis=1 if batch_first else 0)
        return (out, *(np.stack(s) for s in zip(*last))) if pair else (out, np.stack(last))

    return oracle


_tanh, _relu = _simple(np.tanh), _simple(lambda x: np.maximum(x, 0))

ORACLES = {
    "torch_embedding": lambda weight, indices, *_: weight[indices],
    "torch_kl_div": _kl_div,
    "torch_poisson_nll_loss": _poisson,
    "torch_hinge_embedding_loss": _hinge,
    "torch_cosine_embedding_loss": _cosine,
    "torch_margin_ranking_loss": _ranking,
    "torch_triplet_margin_loss": _triplet,
    "torch_binary_cross_entropy_with_logits": _with_logits,
    "torch_adaptive_max_pool1d": lambda x, n: (x.reshape(1, 2, 3, 2).max(-1), x.reshape(1, 2, 3, 2).argmax(-1) + np.arange(3) * 2),
    "conv_tbc": _conv_tbc,
    "rnn_tanh_cell": _tanh,
    "rnn_relu_cell": _relu,
    "gru_cell": _gru,
    "lstm_cell": _lstm,
    "rnn_tanh": _network(_tanh),
    "rnn_relu": _network(_relu),
    "gru": _network(_gru),
    "lstm": _network(_lstm),
}

"""Samples of wengert.ops.norm."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample


def _mean() -> Data:
    return Data(3, grad=False)


def _variance() -> Data:
    return Data(3, low=0.5, grad=False)


SAMPLES = {
    "nn.functional_batch_norm": [
        Sample((4, 3, 2), None, None, (3,), (3,), training=True),
        Sample((4, 3), None, None, training=True, eps=0.1),
        Sample((4, 3, 2), _mean(), _variance(), (3,), (3,)),
        Sample((4, 3, 2), _mean(), _variance()),
        Sample((2, 3, 2, 2), None, None, (3,), None, True),
    ],
    "batch_norm": [
        Sample((4, 3, 2), (3,), (3,), None, None, training=True, momentum=0.1, eps=0.1, cudnn_enabled=False),
        Sample((4, 3, 2), (3,), None, _mean(), _variance(), False, 0.1, 1e-5, True),
    ],
    "_standardize": [
        Sample((2, 4, 3), (4,), (4,), groups=2, eps=0.1, node="NativeGroupNormBackward0"),
        Sample((3, 4, 2), (4,), None, groups=0, eps=0.1, node="NativeBatchNormBackward0"),
    ],
    "_rescale": [Sample((2, 3, 2), Data(3, grad=False), Data(3, grad=False), (3,), (3,))],
    "group_norm": [
        Sample((2, 4, 3), 2, (4,), (4,)),
        Sample((2, 4), 2),
        Sample((2, 6, 2, 2), 3, (6,)),
        Sample((2, 3, 2), 3, eps=0.5),
    ],
    "nn.functional_instance_norm": [
        Sample((2, 3, 4), None, None, (3,), (3,)),
        Sample((2, 3, 2, 2)),
        Sample((2, 3, 4), _mean(), _variance(), (3,), None, False),
    ],
    "instance_norm": [
        Sample((2, 3, 4), (3,), (3,), None, None, use_input_stats=True, momentum=0.1, eps=0.1, cudnn_enabled=False),
    ],
    "local_response_norm": [
        Sample((2, 5, 3), 3),
        Sample((2, 5, 2, 2), 2, 0.5, 1.5, 2.0),
        Sample((1, 2, 3), 5, alpha=0.3),
    ],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _rows(vector, ndim):
    return vector.reshape(-1, *(1,) * (ndim - 2))


def _scaled(out, weight, bias):
    out = out if weight is None else out * _rows(weight, out.ndim)
    return out if bias is None else out + _rows(bias, out.ndim)


def _batch(x, mean=None, variance=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        axis = (0, *range(2, x.ndim))
        mean, variance = x.mean(axis), x.var(axis)
    return _scaled((x - _rows(mean, x.ndim)) / np.sqrt(_rows(variance, x.ndim) + eps), weight, bias)


def _group(x, num_groups, weight=None, bias=None, eps=1e-5):
    items = [
        np.concatenate([(part - part.mean()) / np.sqrt(part.var() + eps) for part in np.split(item, num_groups)])
        for item in x
    ]
    return _scaled(np.array(items), weight, bias)


def _instance(x, mean=None, variance=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    if not use_input_stats:
        return _batch(x, mean, variance, weight, bias, False, momentum, eps)
    return _group(x, x.shape[1], weight, bias, eps)


def _response(x, size, alpha=1e-4, beta=0.75, k=1.0):
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        out[:, c] = x[:, c] / (k + alpha * (near**2).sum(axis=1) / size) ** beta
    return out


ORACLES = {
    "nn.functional_batch_norm": _batch,
    "batch_norm": lambda x, w, b, m, v, training, momentum, eps, cudnn_enabled: _batch(x, m, v, w, b, training, momentum, eps),
    "group_norm": _group,
    "nn.functional_instance_norm": _instance,
    "instance_norm": lambda x, w, b, m, v, use_input_stats, momentum, eps, cudnn_enabled: _instance(
        x, m, v, w, b, use_input_stats, momentum, eps
    ),
    "local_response_norm": _response,
}

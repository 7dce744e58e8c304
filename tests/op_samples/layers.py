"""Samples and oracles of wengert.ops.stochastic_activation, fractional_pool, multi_head and linear_loss."""

from __future__ import annotations

from math import floor

import numpy as np

from op_samples import Data, Sample

_REAL = {"complex": False}
_DRAWS2 = np.array([[[0.3, 0.7], [0.9, 0.1]]])
_DRAWS3 = np.array([[[0.3, 0.7, 0.2]]])
_BLOCKED = np.triu(np.ones((3, 4), bool), 1)
_PADDED = np.array([[False, False, True, True], [False, False, False, True]])
_CLASSES = np.array([0, 2, 1])
_LATE = {"training": False, **_REAL}


def _attention(*inputs, heads=2, **params):
    """Query, key, value of 4 features; projections."""
    joint = [4, heads, (12, 4), (12,), None, None, False, 0.0, (4, 4), (4,)]
    return Sample(*inputs, *joint, **_LATE, **params)


SAMPLES = {
    "rrelu": [Sample((2, 3), **_REAL), Sample((2, 3), 0.1, 0.5, **_REAL)],
    "gumbel_softmax": [Sample((2, 3), **_REAL), Sample((2, 3), tau=0.5, dim=0, **_REAL)],
    "fractional_max_pool2d": [
        Sample(Data(1, 2, 5, 6, distinct=True), 2, output_size=3, _random_samples=_DRAWS2, **_REAL),
        Sample(Data(2, 5, 5, distinct=True), kernel_size=(2, 3), output_ratio=(0.5, 0.5), _random_samples=_DRAWS2, **_REAL),
        Sample(Data(1, 1, 4, 4, distinct=True), 2, output_size=(1, 2), return_indices=True, _random_samples=_DRAWS2[:, :1], **_REAL),
    ],
    "fractional_max_pool2d_with_indices": [
        Sample(Data(1, 2, 5, 6, distinct=True), 2, output_size=3, _random_samples=_DRAWS2, **_REAL),
    ],
    "fractional_max_pool3d": [
        Sample(Data(1, 1, 4, 5, 3, distinct=True), 2, output_size=(2, 3, 1), _random_samples=_DRAWS3, **_REAL),
    ],
    "fractional_max_pool3d_with_indices": [
        Sample(Data(1, 4, 4, 4, distinct=True), kernel_size=(2, 1, 2), output_size=2, _random_samples=_DRAWS3, **_REAL),
    ],
    "multi_head_attention_forward": [
        _attention((3, 2, 4), (4, 2, 4), (4, 2, 4)), _attention((3, 4), (4, 4), (4, 4), attn_mask=_BLOCKED),
        _attention((3, 2, 4), (4, 2, 4), (4, 2, 4), key_padding_mask=_PADDED, average_attn_weights=False),
        Sample((3, 2, 4), (4, 2, 3), (4, 2, 2), 4, 2, None, (12,), None, None, False, 0.0, (4, 4), None, False, None,
               True, None, True, (4, 4), (4, 3), (4, 2), **_REAL),
        Sample((3, 2, 4), (4, 2, 4), (4, 2, 4), 4, 1, (12, 4), None, (1, 1, 4), (1, 1, 4), True, 0.0, (4, 4), (4,), **_LATE),
    ],
    "linear_cross_entropy": [
        Sample((3, 4), (5, 4), _CLASSES, **_REAL), Sample((4,), (5, 4), np.array(1), **_REAL),
        Sample((3, 4), (5, 2, 4), np.array([[0, 1], [2, 3], [4, 0]]), reduction="sum", **_REAL),
        Sample((3, 4), (5, 4), _CLASSES, ignore_index=2, label_smoothing=0.1, reduction="none", **_REAL),
    ],
}  # fmt: skip

OTHER_STEPS = {
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices",
    "multi_head_attention_forward", "rrelu",
}  # fmt: skip


def _fractional(with_indices):
    def oracle(x, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        dims = _random_samples.shape[-1]
        kernel = kernel_size if isinstance(kernel_size, tuple) else (kernel_size,) * dims
        size = x.shape[-dims:]
        output = [int(n * ratio) for n, ratio in zip(size, output_ratio)] if output_size is None else output_size
        output = output if isinstance(output, (tuple, list)) else (output,) * dims
        images = x.reshape(-1, *size)
        values, places = np.zeros((len(images), *output)), np.zeros((len(images), *output), int)
        for image, draws, found, where in zip(images, _random_samples.reshape(-1, dims), values, places, strict=True):
            draws = draws[::-1] if dims == 2 else draws
            for window in np.ndindex(*output):
                corner = []
                for d, i in enumerate(window):
                    step = (size[d] - kernel[d]) / (output[d] - 1) if output[d] > 1 else 0
                    last = i == output[d] - 1
                    corner.append(size[d] - kernel[d] if last else floor((i + draws[d]) * step) - floor(draws[d] * step))
                taps = [tuple(c + t for c, t in zip(corner, tap)) for tap in np.ndindex(*kernel)]
                best = max(taps, key=lambda tap: image[tap])
                found[window], where[window] = image[best], np.ravel_multi_index(best, size)
        shape = (*x.shape[:-dims], *output)
        values, places = values.reshape(shape), places.reshape(shape)
        return (values, places) if with_indices or return_indices else values

    return oracle


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _multi_head(q, k, v, size, heads, joint, bias, bias_k, bias_v, zero, p, out, out_bias, training, key_padding_mask=None,
                need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None,
                v_proj_weight=None, average_attn_weights=True):  # fmt: skip
    """Batch by batch, head by head."""
    unbatched = q.ndim == 2
    q, k, v = (x[:, None] if unbatched else x for x in (q, k, v))
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else np.split(joint, 3)
    biases = np.split(bias, 3) if bias is not None else (0, 0, 0)
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), weights, biases))
    if bias_k is not None:
        k, v = (np.concatenate([x, np.repeat(b, x.shape[1], 1)]) for x, b in ((k, bias_k), (v, bias_v)))
    if zero:
        k, v = (np.concatenate([x, np.zeros((1, *x.shape[1:]))]) for x in (k, v))
    result = np.zeros(q.shape)
    found = np.zeros((q.shape[1], heads, q.shape[0], k.shape[0]))
    part = size // heads
    for n in range(q.shape[1]):
        for h in range(heads):
            at = slice(h * part, (h + 1) * part)
            scores = q[:, n, at] @ k[:, n, at].T / np.sqrt(part)
            if attn_mask is not None:
                scores = np.where(attn_mask, -np.inf, scores)
            if key_padding_mask is not None:
                scores = np.where(key_padding_mask[n], -np.inf, scores)
            found[n, h] = _softmax(scores)
            result[:, n, at] = found[n, h] @ v[:, n, at]
    result = result @ out.T + (0 if out_bias is None else out_bias)
    found = found.mean(axis=1) if average_attn_weights else found
    result, found = (result[:, 0], found[0]) if unbatched else (result, found)
    return (result, found) if need_weights else (result, np.array(np.nan))


def _linear_cross_entropy(x, weight, target, reduction="mean", ignore_index=-100, label_smoothing=0.0):
    scores = np.moveaxis(np.tensordot(np.atleast_2d(x), weight, (1, weight.ndim - 1)), 1, -1)
    log_probs = np.log(_softmax(scores))
    target = target.reshape(scores.shape[:-1])
    losses = -(1 - label_smoothing) * np.take_along_axis(log_probs, target[..., None], -1)[..., 0]
    losses = np.where(target == ignore_index, 0, losses - label_smoothing * log_probs.mean(axis=-1))
    if reduction == "none":
        return losses
    return losses.sum() / ((target != ignore_index).sum() if reduction == "mean" else 1)


ORACLES = {
    "rrelu": lambda x, lower=1 / 8, upper=1 / 3: np.where(x > 0, x, x * (lower + upper) / 2),
    "fractional_max_pool2d": _fractional(False),
    "fractional_max_pool2d_with_indices": _fractional(True),
    "fractional_max_pool3d": _fractional(False),
    "fractional_max_pool3d_with_indices": _fractional(True),
    "multi_head_attention_forward": _multi_head,
    "linear_cross_entropy": _linear_cross_entropy,
}

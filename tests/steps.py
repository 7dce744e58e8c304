"""Steps that small programs have in common; a program takes the library, wengert or torch, as its first argument."""

from __future__ import annotations

from twins import attempt, describe_rebuilt


def start(t, requires_grad=True):
    x = t.arange(1.0, 9.0, dtype=t.float64).view(2, 4)
    return x.clone().requires_grad_(requires_grad)


def facts(t, *tensors):
    """Return description and version of each tensor, for comparison. If a view's node was made again, its name may differ."""
    return [[describe_rebuilt(v, t), "inference" if v.is_inference() else v._version] for v in tensors]


def strides(v):
    """The steps along dimensions of more than one element: nothing can be seen of the others."""
    return [step for step, n in zip(v.stride(), v.shape, strict=True) if n > 1]


def differentiate(t, log, x, *outputs):
    """Log the gradients of a weighted sum of the outputs."""

    def step():
        total = sum((o * t.arange(1.0, o.numel() + 1, dtype=o.dtype).view(o.shape)).sum() * (i + 1) for i, o in enumerate(outputs))
        total.real.backward()

    attempt(log, step)
    log.append(None if x.grad is None or log[-1] != "fine" else x.grad)

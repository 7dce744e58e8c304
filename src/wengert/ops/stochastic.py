"""Stochastic nodes of bernoulli, multinomial and normal: score-function gradients for samples with a reward.

A sample s of p(s; theta) is no smooth function of theta, but the expectation of a reward r(s) is. Its gradient is that of
E[r * log p(s; theta)] with s held fixed (R. J. Williams, Machine Learning 8, 1992). A sample of parameters that require
grad gets a node. The backward pass of the node gives the parameters the gradient of -r * log p, whatever operations
follow the sample; descending it raises the expected reward. sample.reinforce(r) sets r.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import beside, is_array
from wengert.core.dispatch import propagate_volatile
from wengert.core.legacy import StochasticNode
from wengert.core.modes import grad_enabled, set_recording
from wengert.core.node import freed_error, make_meta, make_node_class, next_sequence_nr, record_position
from wengert.core.saved import INPUT, SavedTensor, save, unpack_tensor
from wengert.core.tensor import TensorBase, gradient_edge, is_differentiable, wrap
from wengert.ops.faces import tensor_face
from wengert.ops.indices import raw

__all__ = ["samples_of"]

F: Any = tensor_face  # the operations on tensors: the gradient may be differentiated again


def _reward_type(found: str) -> Exception:
    return errors.GradientTypeError(
        f"mismatch between reward and output type: got {found}, but expected a floating tensor or a number"
    )


class _ScoreNode(StochasticNode):
    """Base class of stochastic nodes, which keep their parameters and samples. Subclasses define the gradient."""

    _values: list[Any] | None = None  # the parameters, SavedTensors or numbers; None after their release
    _samples: Any  # an array

    def _reinforce(self, reward: Any) -> None:
        shape = self._samples.shape
        if isinstance(reward, TensorBase):
            if not dtypes.is_floating_point(reward._array.dtype):
                raise _reward_type(dtypes.legacy_type_name(reward._array.dtype))
            if reward._array.shape != shape:
                raise errors.ElementError(
                    f"got reward of size {list(reward._array.shape)}, but expected a tensor of size {list(shape)}"
                )
            reward = reward._array.copy()
        elif isinstance(reward, bool) or not isinstance(reward, (int, float, np.integer, np.floating)):
            raise _reward_type(type(reward).__name__)
        if self._reward is not None:
            raise errors.GraphError("you can only reinforce a stochastic Function once")
        self._reward = reward

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        if self._values is None:
            raise freed_error(self)
        if self._reward is None:
            raise errors.GraphError(
                f"differentiating stochastic functions requires providing a reward. The samples of {self.name()} have "
                "none. Hint: call .reinforce(reward) on them before the backward pass, or draw them from "
                "probabilities.detach()."
            )
        parameters = [unpack_tensor(v, self) if isinstance(v, SavedTensor) else v for v in self._values]
        reward = self._reward if is_array(self._reward) else np.asarray(self._reward)
        with set_recording(create_graph):
            return self._gradients(wrap(beside(reward, self._samples)), *parameters)

    def _gradients(self, reward: Any, *parameters: Any) -> list[Any]:
        """Return the gradients of -reward * log p(samples) in each parameter."""
        raise NotImplementedError

    def _release(self, position: Any) -> None:
        self._extra = position
        self._values = None
        self._reward = None


class _BernoulliNode(_ScoreNode):
    """log p = s log(p) + (1 - s) log(1 - p)."""

    def _gradients(self, reward: Any, p: Any) -> list[Any]:
        # -1/p for a drawn one, 1/(1-p) for a drawn zero. No divisor is 0: a value of probability 0 is never drawn.
        one = wrap(self._samples != 0)
        return [F.where(one, -reward, reward) / F.where(one, p, 1.0 - p)]


class _MultinomialNode(_ScoreNode):
    """log p = the sum of log(p[s]), where p = weights / sum(weights). The gradient is the one in p."""

    def _gradients(self, reward: Any, weights: Any) -> list[Any]:
        p = weights / F.sum(weights, dim=-1, keepdim=True)
        drawn = wrap(self._samples)
        shares = -reward / F.gather(p, dim=-1, index=drawn)
        return [F.scatter_add(F.zeros_like(p), dim=-1, index=drawn, src=F.cast(shares, dtype=p._array.dtype))]


class _NormalNode(_ScoreNode):
    """log p = -(s - mean)**2 / (2 std**2) - log(std) - log(2 pi) / 2."""

    def _gradients(self, reward: Any, mean: Any, std: Any) -> list[Any]:
        deviations = (wrap(self._samples) - mean) / std
        return [-reward * deviations / std, -reward * (deviations * deviations - 1.0) / std]


_NODE_CLASSES = {
    "bernoulli": make_node_class("BernoulliBackward0", _BernoulliNode),
    "multinomial": make_node_class("MultinomialBackward0", _MultinomialNode),
    "normal": make_node_class("NormalBackward0", _NormalNode),
}


def samples_of(distribution: str, parameters: tuple[Any, ...], array: Any) -> Any:
    """Return the tensor of an array of samples, with a node of the distribution if a parameter requires grad.

    parameters: tensors or numbers."""
    samples = wrap(array)
    if propagate_volatile(parameters, (samples,)) or not grad_enabled():
        return samples
    if not any(isinstance(x, TensorBase) and x.requires_grad for x in parameters):
        return samples
    node: Any = _NODE_CLASSES[distribution]()
    node._edges = tuple([gradient_edge(x) if isinstance(x, TensorBase) else None for x in parameters])
    node._values = [save(x, x._array, INPUT, i) if isinstance(x, TensorBase) else raw(x) for i, x in enumerate(parameters)]
    node._samples = array.copy()
    node._meta = make_meta(array, array.dtype)
    node._seq = next_sequence_nr()
    record_position(node)
    samples._grad_fn = node
    samples._requires_grad = is_differentiable(array)  # int64 samples cannot require grad, but keep their grad_fn
    return samples

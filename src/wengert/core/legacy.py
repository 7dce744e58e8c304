"""Attributes of tensors in torch 0.1 to 0.3 that torch has dropped: volatile, creator, reinforce. Not compiled: rarely used.

Note [Volatile tensors]
One volatile input makes every result of an operation volatile, and nothing that depends on one is recorded. The fast
path looks at nothing of an input but _requires_grad; so a volatile tensor has that set, as if it wanted a gradient, and
IS_VOLATILE in its _flags. Where an operation is about to be recorded, propagate_volatile finds the flag. Everything else
asks the property requires_grad, which is False.
"""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors
from wengert.core.node import Node
from wengert.core.stacks import user_level
from wengert.core.tensor import IS_VOLATILE, TensorBase, make_volatile


class StochasticNode(Node):
    """The node of samples: its gradient comes from a reward, whatever arrives from later operations."""

    _reward: Any = None

    def _reinforce(self, reward: Any) -> None:
        """Take the reward. Raises RuntimeError if there is one already, TypeError or ValueError for a wrong one."""
        raise NotImplementedError


class LegacyMembers:
    """Members of Tensor that torch 0.1 to 0.3 had."""

    __slots__ = ()

    @property
    def volatile(self: Any) -> bool:
        """Whether nothing that depends on this tensor is recorded. Can be set on leaves. Today: torch.no_grad()."""
        return bool(self._flags & IS_VOLATILE)

    @volatile.setter
    def volatile(self: Any, value: bool) -> None:
        warnings.warn(errors.volatile_deprecated(), stacklevel=user_level())
        set_volatile(self, value)

    @property
    def creator(self: Any) -> Node | None:
        """Another name for grad_fn."""
        warnings.warn(errors.renamed(".creator", ".grad_fn"), stacklevel=user_level())
        node: Node | None = self.grad_fn
        return node

    def reinforce(self: Any, reward: Any) -> None:
        """Tell what these samples of bernoulli, multinomial or normal have earned; backward needs it.

        reward: a number or a tensor of this one's shape. The backward pass then gives the probabilities the gradient of
        -reward * log p(sample), which descends where ascent of the expected reward is wanted.

        Raises RuntimeError on other tensors and at a second call, TypeError for rewards that are neither number nor
        floating tensor, ValueError for another shape.
        """
        warnings.warn(
            "reinforce() is what torch 0.1 to 0.3 had; today the loss is -(log_prob(sample) * reward).sum()",
            DeprecationWarning,
            stacklevel=user_level(),
        )
        node = self.grad_fn
        if not isinstance(node, StochasticNode):
            raise errors.GraphError(
                "reinforce() can be only called on outputs of stochastic functions. Hint: those are samples of bernoulli, "
                "multinomial and normal whose parameters require grad."
            )
        node._reinforce(reward)


def set_volatile(tensor: Any, value: bool) -> None:
    """Make a leaf volatile, which ends its requiring grad, or an ordinary one. Raises RuntimeError on non-leaves."""
    if tensor.grad_fn is not None:
        raise errors.RequiresGradError("volatile can only be set on leaf variables. Hint: set it on a detach() of this one.")
    if value:
        make_volatile(tensor)
    elif tensor._flags & IS_VOLATILE:
        tensor._flags &= ~IS_VOLATILE
        tensor._requires_grad = False


def is_volatile(x: Any) -> bool:
    """Whether x is a volatile tensor."""
    return isinstance(x, TensorBase) and (x._flags & IS_VOLATILE) != 0

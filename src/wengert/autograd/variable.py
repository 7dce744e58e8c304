"""Variable, the wrapper class of torch 0.1 to 0.3. Today every tensor is a Variable.

Two old imports work: `from torch.autograd import Variable`, and `from torch.autograd import variable`, which was a module
first and a function later. So this module is callable.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

from wengert import errors
from wengert.core.engine import queue_callback
from wengert.core.legacy import set_volatile
from wengert.core.tensor import TensorBase
from wengert.ops import OPS

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Metaclass that makes every tensor an instance of Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase)


class _Engine:
    """What programs use of torch's engine object: Variable._execution_engine."""

    queue_callback = staticmethod(queue_callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether a checkpointed part may be run again: always, here."""
        return True


class Variable(metaclass=VariableMeta):
    """Variable(data, requires_grad=False, volatile=False): a leaf tensor that shares data's memory.

    volatile: operations that depend on the tensor are not recorded; deprecated, use no_grad(). creator: must be None, as
    for every Variable that a user made.

    Raises TypeError if data is no tensor. Raises RuntimeError if requires_grad is True and data has an integer dtype, or
    volatile is True too.

    >>> import wengert
    >>> from wengert.autograd import Variable
    >>> a = Variable(wengert.ones(1), requires_grad=True)
    >>> isinstance(a, Variable), isinstance(a, wengert.Tensor)
    (True, True)
    """

    _execution_engine = _Engine()

    def __new__(
        cls, data: Any = None, requires_grad: bool = False, volatile: bool = False, creator: None = None
    ) -> Any:
        if creator is not None:
            raise TypeError("creator has to be None: what an operation makes gets its creator from that operation")
        if data is None:
            data = OPS["empty"].function(0)
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        result: Any = data.detach()  # type: ignore[attr-defined]  # a TensorBase is a Tensor
        if volatile:
            warnings.warn(errors.volatile_deprecated(), stacklevel=2)
            if requires_grad:
                raise errors.RequiresGradError("Variable can't be volatile and require_grad at the same time!")
            set_volatile(result, True)
        else:
            result.requires_grad = requires_grad
        return result


class _CallableModule(ModuleType):
    """Class of this module, which makes it callable."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return tensor(data, ...): variable was the name of this function for a while."""
        warnings.warn(
            "torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return OPS["tensor"].function(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule


def __dir__() -> list[str]:
    return sorted(__all__)

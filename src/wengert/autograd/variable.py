"""Variable, the wrapper of torch 0.1 to 0.3: today every tensor is one.

Two imports of those days work: `from torch.autograd import Variable`, and `from torch.autograd import variable`, which
gave a module then and a function later. So this module can be called.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

from wengert import errors
from wengert.core.legacy import set_volatile
from wengert.core.tensor import TensorBase
from wengert.ops import OPS

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Makes every tensor an instance of Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase)


class Variable(metaclass=VariableMeta):
    """Variable(data, requires_grad=False, volatile=False): a tensor that shares data's memory, with a new history.

    volatile: nothing that depends on the tensor will be recorded; deprecated, use no_grad(). creator: None, which is
    what it was for every Variable that a user made.

    Raises TypeError if data is no tensor; RuntimeError if gradients are asked for and data is of an integer dtype, or
    the tensor is to be volatile as well.

    >>> import wengert
    >>> from wengert.autograd import Variable
    >>> a = Variable(wengert.ones(1), requires_grad=True)
    >>> isinstance(a, Variable), isinstance(a, wengert.Tensor)
    (True, True)
    """

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
    """This module's own class."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """variable(data, ...): what tensor(data, ...) gives, under the name it had when Variable became Tensor."""
        warnings.warn(
            "torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return OPS["tensor"].function(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule

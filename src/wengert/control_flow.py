"""torch.cond and torch.while_loop: branches and loops as functions, for programs written for torch.compile.

Operations are recorded as they run, so Python's own `if` and `while` are differentiable too. These functions add torch's
names and checks. Their derivatives are those of the branch that ran and of the steps that ran.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert import errors
from wengert.tensor import Tensor

__all__ = ["cond", "while_loop"]


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """Return true_fn(*operands) if pred, else false_fn(*operands). The other function is not called.

    pred: a number or a tensor with one element. operands: a list or tuple of tensors and nests of tensors. Raises
    RuntimeError for a pred with more elements, TypeError for a branch that is no function.

    >>> import wengert
    >>> x = wengert.tensor(3.0, requires_grad=True)
    >>> wengert.cond(x > 2, lambda x: x * x, lambda x: x, (x,))
    tensor(9., grad_fn=<MulBackward0>)
    """
    if not (callable(true_fn) and callable(false_fn)):
        raise errors.ArgumentError("Expect true_fn and false_fn to be callable.")
    return (true_fn if _truth_value("pred", pred) else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> tuple[Any, ...]:
    """While cond_fn(*values) is true, set values = body_fn(*values); return the final values.

    carried_inputs: the initial values. cond_fn returns a bool or a tensor with one element. body_fn returns a tuple of as
    many values as it takes. Raises RuntimeError if it returns another number, TypeError for arguments that are no
    functions.

    >>> import wengert
    >>> x = wengert.tensor(1.5, requires_grad=True)
    >>> i, power = wengert.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * x), (wengert.tensor(0), wengert.tensor(1.0)))
    >>> power.backward()
    >>> x.grad  # of x ** 3
    tensor(6.7500)
    """
    if not (callable(cond_fn) and callable(body_fn)):
        raise errors.ArgumentError("Expect cond_fn and body_fn to be callable.")
    carried = tuple(carried_inputs)
    while _truth_value("the result of cond_fn", cond_fn(*carried)):
        made = body_fn(*carried)
        if not isinstance(made, (list, tuple)) or len(made) != len(carried):
            raise errors.ShapeError(
                "Expected body_fn_output and carried_inputs to have same number of outputs but got "
                f"{len(made) if isinstance(made, (list, tuple)) else 1} from body_fn for {len(carried)} carried inputs"
            )
        carried = tuple(made)
    return carried


def _truth_value(name: str, value: Any) -> bool:
    """Return the truth value of a number or of a tensor with one element."""
    if not isinstance(value, (bool, int, float, Tensor)) or (isinstance(value, Tensor) and value.numel() != 1):
        raise errors.ShapeError(f"Expected {name} to be bool or single-element tensor, but got {value!r}.")
    return bool(value)

"""Pruning: masks that set elements of parameters to 0."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from wengert.nn.modules._hooks import pop_pre_hook
from wengert.nn.utils.convert_parameters import parameters_to_vector
from wengert.ops import function

_ones_like: Any = function("", "ones_like")
_rand: Any = function("", "rand")
_rand_like: Any = function("", "rand_like")
_topk: Any = function("", "topk")


class BasePruningMethod(ABC):
    """Base of pruning methods: forward pre-hooks that set a parameter to <name>_orig * <name>_mask.

    A subclass defines compute_mask(t, default_mask), and PRUNING_TYPE: "unstructured", "structured" or "global"."""

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask of t, given the mask of what was pruned before."""

    def apply_mask(self, module: Any) -> Any:
        """Return the pruned parameter."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of the module: register <name>_orig, <name>_mask and the hook. Return the hook."""
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        before = _pop_method(module, name)
        if before is not None:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
            default_mask = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = _ones_like(original)
        try:
            mask = method.compute_mask(scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if before is None:
                del module._parameters[name + "_orig"]
                module.register_parameter(name, original)
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """Return t, pruned. importance_scores: what decides instead of t."""
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, _ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned parameter an ordinary one, with its present values."""
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters[self._tensor_name + "_orig"]
        original.data = weight.data
        del module._parameters[self._tensor_name + "_orig"], module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Several pruning methods of one parameter. Each prunes what those before have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        elif len(args) == 1:
            methods = tuple(args[0])
            self._tensor_name = methods[0]._tensor_name
            for method in methods:
                self.add_pruning_method(method)
        elif args:
            self._tensor_name = args[0]._tensor_name
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method of the same parameter. Raises TypeError or ValueError for another."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return default_mask with what the last method prunes of the rest."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            rest: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            kept = mask.sum([d for d in range(t.dim()) if d != dim]) != 0
            rest = (slice(None),) * dim + (kept,)
        elif method.PRUNING_TYPE == "global":
            rest = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        new = mask.clone()
        new[rest] = method.compute_mask(t[rest], default_mask=mask[rest]).to(new.dtype)
        return new


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    number = float(amount)
    if number < 0 or (not isinstance(amount, numbers.Integral) and number > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count_to_prune(amount: Any, size: int) -> int:
    """Return how many of `size` elements the amount means. Raises ValueError for more than there are."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    count = int(amount)
    if count > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return count


class Identity(BasePruningMethod):
    """Prune nothing, but register the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return default_mask."""
        return default_mask


class _ByScore(BasePruningMethod):
    """Prune the elements with the least scores."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return default_mask with 0 at the elements of t with the least scores."""
        count = _count_to_prune(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[_topk(self._scores(t).reshape(-1), k=count, largest=False)[1]] = 0
        return mask


class RandomUnstructured(_ByScore):
    """Prune elements at random."""

    def _scores(self, t: Any) -> Any:
        return -_rand_like(t)  # torch prunes where its random numbers are greatest


class L1Unstructured(_ByScore):
    """Prune the elements of the least absolute values."""

    def _scores(self, t: Any) -> Any:
        return t.detach().abs()


class _Structured(BasePruningMethod):
    """Prune whole slices along dim: those with the least scores."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return default_mask with 0 at the slices of t with the least scores. Raises IndexError for dim out of range."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = _count_to_prune(self.amount, size)
        if count == 0:
            return default_mask
        kept = _topk(self._scores(t), k=size - count, largest=True)[1]
        mask = t.new_zeros(t.shape)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prune slices along dim at random."""

    def _scores(self, t: Any) -> Any:
        return _rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Prune the slices along dim of the least n-norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return t.detach().norm(p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prune what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return default_mask times the given mask."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Register a mask of ones for a parameter. Return the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements of a parameter at random: this many, or this fraction. Return the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements of least absolute value, or least importance: this many, or this fraction. Return the module."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune slices of a parameter along dim at random: this many, or this fraction. Return the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune the slices along dim of the least n-norms: this many, or this fraction. Return the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune what a mask says. Return the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict[Any, Any] | None = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one vector.

    parameters: pairs of a module and a name. importance_scores: tensors by such pairs, which decide instead of the values.
    Raises TypeError for no iterable, or a method that is not unstructured."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = importance_scores or {}
    weights = parameters_to_vector([scores.get(pair, getattr(*pair)) for pair in pairs])
    masks = parameters_to_vector(
        [getattr(module, name + "_mask", _ones_like(getattr(module, name))) for module, name in pairs]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    found = container.compute_mask(weights.detach(), masks)
    start = 0
    for module, name in pairs:
        parameter: Any = getattr(module, name)
        custom_from_mask(module, name, mask=found[start : start + parameter.numel()].view_as(parameter))
        start += parameter.numel()


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one. Return the module. Raises ValueError if it is not pruned."""
    hook = _pop_method(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    return module


def _pop_method(module: Any, name: str) -> Any:
    """Remove the hook that prunes a parameter of the module. Return the hook, or None."""
    return pop_pre_hook(module, lambda hook: isinstance(hook, BasePruningMethod) and hook._tensor_name == name)


def is_pruned(module: Any) -> bool:
    """Whether the module or one below it has a pruned parameter."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())

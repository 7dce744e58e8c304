"""torch.optim.swa_utils: averages of models, and the schedule that goes with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

from wengert.autograd.grad_mode import no_grad
from wengert.dtypes import int64
from wengert.nn.modules.batchnorm import _BatchNorm
from wengert.nn.modules.module import Module
from wengert.ops import function
from wengert.optim._schedules import LRScheduler, _for_groups
from wengert.optim.optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

_tensor: Any = function("", "tensor")


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """Return the function of the exponential moving average of one parameter: (average, parameter, count) -> average."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """Return the function of the equal average of one parameter: (average, parameter, count) -> average."""

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    """Return the function that updates exponential moving averages in place: (averages, parameters, count)."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, p in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(p.to(average.dtype), 1 - decay)
            else:
                average.copy_(average * decay + p * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    """Return the function that updates equal averages in place: (averages, parameters, count)."""

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for average, p in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(p.to(average.dtype), 1 / (float(num_averaged) + 1))
            else:
                average.add_(((p - average) / (num_averaged + 1)).to(average.dtype))

    return swa_update


class AveragedModel(Module):
    """Copy of a model whose parameters are averages of those that update_parameters has seen.

    avg_fn: (average, parameter, count) -> average of one parameter. multi_avg_fn: the same in place for lists of parameters.
    Without both, all updates have the same weight (P. Izmailov and others, Averaging Weights Leads to Wider Optima, 2018).
    use_buffers: average the buffers too, instead of copying them. The buffer n_averaged counts the updates."""

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[Any, Any, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _tensor(0, dtype=int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the average."""
        averages: Any = self.module.parameters()
        params: Any = model.parameters()
        if self.use_buffers:
            averages = itertools.chain(averages, self.module.buffers())
            params = itertools.chain(params, model.buffers())
        pairs = [(average.detach(), p.detach()) for average, p in zip(averages, params, strict=True)]
        if int(self.n_averaged) == 0:
            for average, p in pairs:
                average.copy_(p)
        elif self.avg_fn is not None:
            for average, p in pairs:
                average.copy_(self.avg_fn(average, p, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update([average for average, _ in pairs], [p for _, p in pairs], self.n_averaged)
        if not self.use_buffers:
            for average, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(buffer.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of a model's batch normalisations anew, in one pass over the data.

    loader: gives inputs, or lists and tuples whose first item is the input."""
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # a cumulative average
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rates to swa_lr in anneal_epochs epochs, then constant.

    swa_lr: a number, or one for each group. anneal_strategy: "cos" or "linear". Raises ValueError for other values."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(_for_groups(optimizer, "swa_lr", swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, epoch: int) -> float:
        """Weight of swa_lr in the rate of an epoch."""
        part = max(0.0, min(1.0, epoch / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[Any]:
        self._check_called_by_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, weight = self._weight(max(0, step - 1)), self._weight(step)
        found = []
        for group in self.optimizer.param_groups:
            rate, goal = group["lr"], group["swa_lr"]
            start = goal if before == 1 else (rate - before * goal) / (1 - before)
            found.append(goal * weight + start * (1 - weight))
        return found


def __dir__() -> list[str]:
    return sorted(__all__)

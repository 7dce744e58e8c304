"""GradScaler: losses are scaled up before the backward pass, so that small gradients in float16 do not become 0."""

from __future__ import annotations

import warnings
from collections import abc, defaultdict
from enum import Enum
from typing import Any

from wengert.backends.selection import cuda_is_available
from wengert.core.modes import set_recording
from wengert.dtypes import float16, float32, int32
from wengert.ops import function
from wengert.tensor import Tensor

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What GradScaler has done with an optimizer since its last update()."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _new_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


_filled: Any = function("", "full")
_where: Any = function("", "where")


def _full(value: float, dtype: Any, where: Any = "cpu") -> Any:
    """Return a 0-d tensor on a device."""
    return _filled((), value, dtype=dtype, device=where)


class GradScaler:
    """Scale losses, unscale gradients, and step an optimizer unless a gradient is infinite or NaN.

    device: "cuda" or "cpu"; one for "cuda", the default, is disabled with a warning without a GPU. init_scale: the first factor.
    growth_factor: what it is multiplied by after growth_interval steps with finite gradients. backoff_factor: what it is
    multiplied by after a step with gradients that are not finite. enabled: False makes the methods pass everything through.

    >>> import wengert as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu")
    >>> scaler.scale(w.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    tensor([0.5000, 0.5000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if device == "cuda" and enabled and not cuda_is_available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", UserWarning, stacklevel=2
            )
            self._enabled = False
        if self._enabled:
            _check(growth_factor > 1.0, "The growth factor must be > 1.0.")
            _check(backoff_factor < 1.0, "The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Any = None
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Any = None
            self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_new_optimizer_state)

    def _started(self, name: str) -> Any:
        """Return the scale. Raises AssertionError if nothing was scaled yet. name: of the method."""
        _check(
            self._scale is not None,
            f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) "
            "earlier in the iteration.",
        )
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """Return a tensor times the scale, or the same for each tensor of an iterable. Raises ValueError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = _full(self._init_scale, float32, outputs.device)
                self._growth_tracker = _full(self._init_growth_tracker, int32, outputs.device)
            if outputs.device != self._scale.device:
                return outputs * self._scale.to(outputs.device)
            return outputs * self._scale
        if isinstance(outputs, abc.Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, and look for gradients that are not finite.

        `step` does this itself. Call it before gradients are clipped. Raises RuntimeError on a second call, or after `step`;
        ValueError for gradients in float16; AssertionError if nothing was scaled.
        """
        if not self._enabled:
            return
        scale = self._started("unscale_")
        found = self._per_optimizer_states[id(optimizer)]
        if found["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if found["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found["found_inf_per_device"] = self._unscale_grads(optimizer, scale)
        found["stage"] = OptState.UNSCALED

    def _unscale_grads(self, optimizer: Any, scale: Any, allow_fp16: bool = False) -> dict[Any, Any]:
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for gradient in gradients:
            if not allow_fp16 and gradient.dtype == float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            if gradient.is_complex():
                raise NotImplementedError(
                    "\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for "
                    f"'{'ComplexFloat' if gradient.dtype.itemsize == 8 else 'ComplexDouble'}'"
                )
        factor = scale.double().reciprocal().float()
        wrong: dict[Any, Any] = {}  # by device: whether a gradient is not finite. It stays there, so that nothing waits
        with set_recording(False):
            for gradient in gradients:
                bad = gradient.isfinite().all().logical_not()
                where = gradient.device
                wrong[where] = bad if where not in wrong else wrong[where] | bad
                gradient.mul_(factor.to(where))
        return {where: bad.float() for where, bad in wrong.items()}

    def _check_inf_per_device(self, optimizer: Any) -> dict[Any, Any]:
        found = self._unscale_grads(optimizer, _full(1.0, float32), allow_fp16=True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, unless `unscale_` was called, and step the optimizer if all gradients are finite.

        args, kwargs: of optimizer.step. Returns its result, or None if the step is skipped. Raises RuntimeError for a closure,
        and if it is called twice without `update`; AssertionError if no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._started("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        _check(len(state["found_inf_per_device"]) > 0, "No inf checks were recorded for this optimizer.")
        finite = not any(found.item() for found in state["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs) if finite else None
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Set the scale of the next iteration: smaller after gradients that were not finite, larger after enough good steps.

        new_scale: a float, or a tensor of one float32, that replaces the scale. Raises AssertionError if no gradients were looked
        at since the last call.
        """
        if not self._enabled:
            return
        scale = self._started("update")
        if new_scale is not None:
            self._replace_scale(scale, new_scale)
        else:
            found = [x for s in self._per_optimizer_states.values() for x in s["found_inf_per_device"].values()]
            _check(len(found) > 0, "No inf checks were recorded prior to update.")
            self._adapt(scale, found)
        self._per_optimizer_states = defaultdict(_new_optimizer_state)

    def _adapt(self, scale: Any, found: list[Any]) -> None:
        """Decrease the scale if gradients were not finite, else count the step.

        After growth_interval steps the scale increases, unless it would be infinite. All this is done where the scale lies."""
        bad = found[0].to(scale.device) != 0
        for x in found[1:]:
            bad = bad | (x.to(scale.device) != 0)
        steps, larger = self._growth_tracker + 1, scale * self._growth_factor
        is_due = steps == self._growth_interval
        scale.copy_(_where(bad, scale * self._backoff_factor, _where(is_due & larger.isfinite(), larger, scale)))
        self._growth_tracker.copy_(_where(bad | is_due, steps * 0, steps))

    def _replace_scale(self, scale: Any, new_scale: Any) -> None:
        reason = (
            "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False."
        )
        if not isinstance(new_scale, float):
            is_tensor = isinstance(new_scale, Tensor)
            _check(is_tensor and new_scale.numel() == 1 and not new_scale.requires_grad, reason)
            new_scale = new_scale.item()
        scale.fill_(new_scale)

    def get_scale(self) -> float:
        """Return the scale, 1.0 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of good steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        """Return the number of good steps since the scale last changed."""
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the scale, its factors, its interval and the number of good steps; {} if the scaler is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned. Raises RuntimeError for an empty dict."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            _check(
                len(self._per_optimizer_states) == 0,
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update().",
            )
            state |= {
                "_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker(), "_scale": None,
                "_growth_tracker": None,
            }  # fmt: skip
        return state


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)

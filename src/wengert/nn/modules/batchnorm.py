"""Batch normalisation, and the base of layers that keep running statistics."""

from __future__ import annotations

import sys
from typing import Any

from wengert._forks import import_late
from wengert.autograd.grad_mode import no_grad
from wengert.dtypes import bfloat16, float16
from wengert.nn import functional as F, init
from wengert.nn.modules.lazy import LazyModuleMixin
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import empty_parameter
from wengert.nn.parameter import UninitializedBuffer, UninitializedParameter
from wengert.ops import function

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "SyncBatchNorm"]

_zeros: Any = function("", "zeros")
_ones: Any = function("", "ones")
_tensor: Any = function("", "tensor")
_cat: Any = function("", "cat")


class _NormBase(Module):
    """Base of batch and instance norms: weight and bias, and running mean and variance."""

    _version = 2  # since 2, num_batches_tracked is in state_dict
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, is_there in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, empty_parameter(num_features, device, dtype) if is_there else None)
        if track_running_stats:
            self.register_buffer("running_mean", _zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", _ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", _tensor(0))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1, and the count of batches to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set the running statistics to their start, weight to 1 and bias to 0."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            counted = self.num_batches_tracked
            state_dict[key] = _tensor(0) if counted is None else counted
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    """Base of batch norms. In training the statistics are those of the batch, which also move the running ones; in
    evaluation they are the running ones, if these are tracked."""

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        training, tracks = self.training, self.track_running_stats
        if training and tracks and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the running statistics are means over all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        of_batch = training or (mean is None and var is None)
        if training and not tracks:
            mean = var = None
        return self._normalize(input, mean, var, of_batch, momentum)

    def _normalize(self, input: Any, mean: Any, var: Any, of_batch: bool, momentum: float) -> Any:
        return F.batch_norm(input, mean, var, self.weight, self.bias, of_batch, momentum, self.eps)


def _check_ndim(input: Any, *allowed: int) -> None:
    """Raise ValueError unless the input has one of these numbers of dimensions."""
    if input.ndim not in allowed:
        text = " or ".join(f"{n}D" for n in allowed)
        raise ValueError(f"expected {text} input (got {input.ndim}D input)")


class BatchNorm1d(_BatchNorm):
    """Batch norm of features or sequences. input: (N, C) or (N, C, L). See nn.functional.batch_norm."""

    def _check_input_dim(self, input: Any) -> None:
        _check_ndim(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch norm of images. input: (N, C, H, W). See nn.functional.batch_norm."""

    def _check_input_dim(self, input: Any) -> None:
        _check_ndim(input, 4)


class BatchNorm3d(_BatchNorm):
    """Batch norm of volumes. input: (N, C, D, H, W). See nn.functional.batch_norm."""

    def _check_input_dim(self, input: Any) -> None:
        _check_ndim(input, 5)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A norm whose num_features is the size of dimension 1 of the first input."""

    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _tensor(0)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for value in (self.weight, self.bias, self.running_mean, self.running_var):
            if value is not None:
                value.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """BatchNorm1d whose num_features is found at the first call."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """BatchNorm2d whose num_features is found at the first call."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """BatchNorm3d whose num_features is found at the first call."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch norm whose statistics in training are those of the batches of all ranks of a process group together.

    process_group: the default group if None. The statistics are those of this process if there is no group, or one rank. All ranks
    call forward, and backward. Their batches may have different lengths.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    def _normalize(self, input: Any, mean: Any, var: Any, of_batch: bool, momentum: float) -> Any:
        ranks = sys.modules.get("wengert.distributed")  # nobody has made a group before it is loaded
        group = ranks.process_group.resolve(self.process_group) if ranks is not None and ranks.is_initialized() else None
        if not of_batch or group is None or group.size() == 1:
            return super()._normalize(input, mean, var, of_batch, momentum)
        all_reduce = import_late("wengert.distributed.nn.functional").all_reduce
        dims, shape = [0, *range(2, input.ndim)], [1, -1] + [1] * (input.ndim - 2)
        x = input.float() if input.dtype in (float16, bfloat16) else input
        count = x.numel() // self.num_features
        totals = all_reduce(_cat([x.sum(dims), _tensor([float(count)], dtype=x.dtype)]), group=group)
        total = totals[-1].item()
        if total <= 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        batch_mean = totals[:-1] / total
        centered = x - batch_mean.reshape(shape)
        batch_var = all_reduce(centered.square().sum(dims), group=group) / total
        if mean is not None:
            with no_grad():
                mean.lerp_(batch_mean.to(mean.dtype), momentum)
                var.lerp_((batch_var * (total / (total - 1))).to(var.dtype), momentum)
        result = centered * (batch_var + self.eps).rsqrt().reshape(shape)
        if self.weight is not None:
            result = result * self.weight.reshape(shape)
        if self.bias is not None:
            result = result + self.bias.reshape(shape)
        return result.to(input.dtype)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Return the module with all batch norms in it replaced by SyncBatchNorm, which take over their state."""
        result = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            result = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group
            )
            for name in ("weight", "bias", *module._buffers):
                setattr(result, name, getattr(module, name))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result

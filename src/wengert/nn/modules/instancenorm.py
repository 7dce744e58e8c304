"""Instance normalisation: of each channel of each example."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.nn import functional as F
from wengert.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    """Base of instance norms. `_ndim` is the number of dimensions of an example, with the channels."""

    _ndim: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in (self._ndim, self._ndim + 1):
            raise ValueError(f"expected {self._ndim}D or {self._ndim + 1}D input (got {input.ndim}D input)")

    def _apply_instance_norm(self, input: Any) -> Any:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        dim = input.ndim - self._ndim
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.shape[dim]}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if dim == 0:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

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
        if version is None and not self.track_running_stats:
            found = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                names = " and ".join(f'"{key}"' for key in found)
                kind = self.__class__.__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. If state_dict is "
                    f"a checkpoint saved before 0.4.0, this may be expected because {kind} does not track running stats by "
                    "default since 0.4.0. Please remove these keys from state_dict. If the running stats are actually "
                    f"needed, instead set track_running_stats=True in {kind} to enable them. See the documentation of "
                    f"{kind} for details."
                )
                for key in found:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of sequences. input: (N, C, L) or (C, L). See nn.functional.instance_norm."""

    _ndim = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of images. input: (N, C, H, W) or (C, H, W). See nn.functional.instance_norm."""

    _ndim = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance norm of volumes. input: (N, C, D, H, W) or (C, D, H, W). See nn.functional.instance_norm."""

    _ndim = 4


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm1d whose num_features is found at the first call."""

    _ndim = 2
    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm2d whose num_features is found at the first call."""

    _ndim = 3
    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """InstanceNorm3d whose num_features is found at the first call."""

    _ndim = 4
    cls_to_become = InstanceNorm3d

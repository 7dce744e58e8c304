"""torch.backends.cuda: settings of products and attention on GPUs. They are kept, and nothing reads them here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
    fp32_precision="none",
)
cufft_plan_cache = SimpleNamespace(size=0, max_size=0, clear=lambda: None)
_enabled = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built() -> bool:
    """Whether the package has been built for CUDA: False."""
    return False


def flash_sdp_enabled() -> bool:
    """Return the last value of enable_flash_sdp, or True."""
    return _enabled["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Set what flash_sdp_enabled returns."""
    _enabled["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Return the last value of enable_mem_efficient_sdp, or True."""
    return _enabled["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set what mem_efficient_sdp_enabled returns."""
    _enabled["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Return the last value of enable_math_sdp, or True."""
    return _enabled["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Set what math_sdp_enabled returns."""
    _enabled["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Return the last value of enable_cudnn_sdp, or True."""
    return _enabled["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set what cudnn_sdp_enabled returns."""
    _enabled["cudnn"] = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[Any]:
    """Set the four settings of attention in a with block."""
    before = dict(_enabled)
    _enabled.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _enabled.update(before)


def preferred_linalg_library(backend: Any = None) -> Any:
    """Return backend: there is no choice of libraries."""
    return backend

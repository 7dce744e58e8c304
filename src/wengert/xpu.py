"""torch.xpu for a package that computes on the CPU only: no GPUs of Intel's, as there are none of Apple's."""

from wengert.mps import device_count, empty_cache, is_available, manual_seed, seed, synchronize

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "seed", "synchronize"]

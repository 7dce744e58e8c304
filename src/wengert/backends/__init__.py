"""Array backends: one module per array library, all with the same names. Forwards get a backend as xp.

The other modules of this package are torch.backends: settings that programs make at their top.
"""

from typing import Any

fp32_precision = "none"
_SETTINGS = frozenset({"cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized", "xnnpack"})


def __getattr__(name: str) -> Any:
    if name in _SETTINGS:
        from wengert._forks import import_late

        return import_late(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

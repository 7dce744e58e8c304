"""Densities of scipy.stats for differentiated functions: each distribution is a module."""

from typing import Any

from wengert._forks import import_late as _import_late

_MODULES = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_late(f"wengert.hips.scipy.stats.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_MODULES)

"""Result types of operations with several named results: named tuples that print as torch's.

>>> import wengert
>>> wengert.tensor([3.0, 5.0]).max(0)
torch.return_types.max(
values=tensor(5.),
indices=tensor(1))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class _Results(tuple[Any, ...]):
    """Tuple with named items. A subclass lists the names in `fields`; an instance is made from the results in order."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __init_subclass__(cls, fields: tuple[str, ...], **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.fields = fields
        for position, name in enumerate(fields):
            setattr(cls, name, property(lambda self, i=position: self[i]))

    def __new__(cls, results: Iterable[Any]) -> _Results:
        self = super().__new__(cls, results)
        if len(self) != len(cls.fields):
            raise TypeError(f"torch.return_types.{cls.__name__}() takes {len(cls.fields)} results, not {len(self)}")
        return self

    @property
    def n_fields(self) -> int:
        """Number of results."""
        return len(self.fields)

    n_sequence_fields = n_fields

    def __repr__(self) -> str:
        items = ",\n".join([f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True)])
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), (tuple(self),)


_FIELDS = {
    "max": ("values", "indices"),
    "min": ("values", "indices"),
    "median": ("values", "indices"),
    "nanmedian": ("values", "indices"),
    "mode": ("values", "indices"),
    "kthvalue": ("values", "indices"),
    "sort": ("values", "indices"),
    "topk": ("values", "indices"),
    "cummax": ("values", "indices"),
    "cummin": ("values", "indices"),
    "aminmax": ("min", "max"),
    "slogdet": ("sign", "logabsdet"),
    "linalg_svd": ("U", "S", "Vh"),
    "linalg_eigh": ("eigenvalues", "eigenvectors"),
    "linalg_eig": ("eigenvalues", "eigenvectors"),
    "linalg_qr": ("Q", "R"),
    "qr": ("Q", "R"),
    "svd": ("U", "S", "V"),
    "linalg_lu": ("P", "L", "U"),
    "linalg_lu_factor": ("LU", "pivots"),
    "linalg_lu_factor_ex": ("LU", "pivots", "info"),
    "lu_unpack": ("P", "L", "U"),
    "linalg_lstsq": ("solution", "residuals", "rank", "singular_values"),
    "linalg_cholesky_ex": ("L", "info"),
    "linalg_inv_ex": ("inverse", "info"),
    "linalg_solve_ex": ("result", "info"),
    "linalg_ldl_factor": ("LD", "pivots"),
    "linalg_ldl_factor_ex": ("LD", "pivots", "info"),
    "geqrf": ("a", "tau"),
    "triangular_solve": ("solution", "cloned_coefficient"),
    "frexp": ("mantissa", "exponent"),
    "histogram": ("hist", "bin_edges"),
    "histogramdd": ("hist", "bin_edges"),
}

__all__ = sorted(_FIELDS)  # noqa: PLE0605


def __getattr__(name: str) -> type[_Results]:
    """Make a type at its first use, because a program uses few of them."""
    fields = _FIELDS.get(name)
    if fields is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    namespace = {"__slots__": (), "__module__": __name__, "__doc__": f"The results of {name}: {', '.join(fields)}."}
    made = type(_Results)(name, (_Results,), namespace, fields=fields)
    return globals().setdefault(name, made)  # another thread may have made the type meanwhile


def __dir__() -> list[str]:
    return sorted(__all__)

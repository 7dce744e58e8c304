"""What operations with several named results return: tuples that print as in torch, with items by name too.

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
    """A tuple with named items. `fields` of the subclasses lists the names; made from the results in that order."""

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
        """How many results there are."""
        return len(self.fields)

    n_sequence_fields = n_fields

    def __repr__(self) -> str:
        items = ",\n".join([f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True)])
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), (tuple(self),)


def _named(name: str, *fields: str) -> type[_Results]:
    namespace = {"__slots__": (), "__module__": __name__, "__doc__": f"The results of {name}: {', '.join(fields)}."}
    return type(_Results)(name, (_Results,), namespace, fields=fields)


max = _named("max", "values", "indices")
min = _named("min", "values", "indices")
median = _named("median", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
mode = _named("mode", "values", "indices")
kthvalue = _named("kthvalue", "values", "indices")
sort = _named("sort", "values", "indices")
topk = _named("topk", "values", "indices")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")
aminmax = _named("aminmax", "min", "max")
slogdet = _named("slogdet", "sign", "logabsdet")
linalg_svd = _named("linalg_svd", "U", "S", "Vh")
linalg_eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_qr = _named("linalg_qr", "Q", "R")
qr = _named("qr", "Q", "R")
svd = _named("svd", "U", "S", "V")
linalg_lu = _named("linalg_lu", "P", "L", "U")
linalg_lu_factor = _named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _named("linalg_lu_factor_ex", "LU", "pivots", "info")
lu_unpack = _named("lu_unpack", "P", "L", "U")
linalg_lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_cholesky_ex = _named("linalg_cholesky_ex", "L", "info")
linalg_inv_ex = _named("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = _named("linalg_solve_ex", "result", "info")
linalg_ldl_factor = _named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _named("linalg_ldl_factor_ex", "LD", "pivots", "info")
geqrf = _named("geqrf", "a", "tau")
triangular_solve = _named("triangular_solve", "solution", "cloned_coefficient")
frexp = _named("frexp", "mantissa", "exponent")
histogram = _named("histogram", "hist", "bin_edges")
histogramdd = _named("histogramdd", "hist", "bin_edges")

__all__ = [
    "aminmax", "cummax", "cummin", "frexp", "geqrf", "histogram", "histogramdd", "kthvalue", "linalg_cholesky_ex", "linalg_eig",
    "linalg_eigh", "linalg_inv_ex", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_lstsq", "linalg_lu",
    "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_qr", "linalg_solve_ex", "linalg_svd", "lu_unpack", "max",
    "median", "min", "mode", "nanmedian", "qr", "slogdet", "sort", "svd", "topk", "triangular_solve",
]  # fmt: skip

"""LKJCholesky."""

from __future__ import annotations

import math
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.beta import Beta
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import broadcast_all
from wengert.dtypes import finfo
from wengert.sizes import Size

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Distribution of Cholesky factors of correlation matrices R, whose density is proportional to det(R) ** (concentration - 1).

    dim: size of R, an int >= 2; ValueError for others. concentration: a tensor or a number, > 0; 1 gives the uniform distribution.
    D. Lewandowski, D. Kurowicka and H. Joe, Generating random correlation matrices based on vines, 2009."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expanded = ("concentration", "_beta")
    _kept = ("dim",)
    expand = expand_parameters

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args=validate_args)
        # Squared lengths of the rows left of the diagonal. The first row has none; its number is not used. torch 2.13 draws the
        # rows from the third on from other beta distributions, which do not belong to its log_prob.
        half = F.arange(dim, dtype=self.concentration.dtype, device=self.concentration.device).clamp(min=1) / 2
        self._beta = Beta(half, self.concentration.unsqueeze(-1) + 0.5 * (dim - 1) - half)

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        return Size((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Draw by the onion method: each row has a random direction and a random length."""
        with no_grad():
            square = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = F.randn(self._extended_shape(sample_shape), dtype=square.dtype, device=square.device).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            rows = square.sqrt() * direction
            rest = (1 - rows.square().sum(-1)).clamp(min=finfo(rows.dtype).tiny)
            return rows + rest.sqrt().diag_embed()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, excess = self.dim - 1, self.concentration - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        # det(R) is the product of the squared diagonal, and the Jacobian of R adds a power of each element.
        powers = 2 * excess.unsqueeze(-1) + F.arange(n - 1, -1, -1, dtype=excess.dtype, device=excess.device)
        top = self.concentration + 0.5 * n
        normalizer = 0.5 * n * math.log(math.pi) + F.mvlgamma(top - 0.5, n) - F.lgamma(top) * n
        return (powers * diagonal.log()).sum(-1) - normalizer

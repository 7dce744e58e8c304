"""Parametrisations that keep a weight orthogonal, or divide it by a norm."""

from __future__ import annotations

from typing import Any

from wengert.core.modes import set_recording
from wengert.dtypes import finfo
from wengert.nn import functional as F
from wengert.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from wengert.nn.modules.module import Module
from wengert.nn.utils import parametrize
from wengert.nn.utils.weight_norm import normalized_weight
from wengert.ops import function
from wengert.tensor import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_cat: Any = function("", "cat")
_eye: Any = function("", "eye")
_geqrf: Any = function("", "geqrf")
_householder_product: Any = function("linalg", "householder_product")
_matrix_exp: Any = function("", "matrix_exp")
_mv: Any = function("", "mv")
_norm_except_dim: Any = function("", "norm_except_dim")
_solve: Any = function("linalg", "solve")
_vdot: Any = function("", "vdot")


def _is_orthogonal(q: Any) -> bool:
    n, k = q.shape[-2:]
    identity = _eye(k, dtype=q.dtype)
    eps = 10.0 * n * finfo(q.dtype).eps
    return bool(((q.mH @ q - identity).abs() <= eps).all())


def _make_orthogonal(a: Any) -> Any:
    """Return the Q of a QR decomposition whose R has a positive diagonal."""
    x, tau = _geqrf(a)
    return _householder_product(x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Map any matrix to an orthogonal one. base: the matrix from which the map starts, or None."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        is_wide = X.shape[-2] < X.shape[-1]
        if is_wide:
            X = X.mT
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            A = X.tril(-1)
            tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
            Q = _householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                X = _cat([X, X.new_zeros((*X.shape[:-2], n, n - k))], -1)
            A = X - X.mH
            if self.orthogonal_map == "matrix_exp":
                Q = _matrix_exp(A)
            else:
                identity = _eye(n, dtype=A.dtype)
                Q = _solve(identity - 0.5 * A, identity + 0.5 * A)
            Q = Q[..., :k]
        if "base" in self._buffers:
            Q = self.base @ Q
        return Q.mT if is_wide else Q

    def right_inverse(self, Q: Any) -> Any:
        """Return a matrix that is mapped to Q, or to the orthogonal matrix of its QR decomposition."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        is_wide = Q.shape[-2] < Q.shape[-1]
        start = Q.mT if is_wide else Q
        n, k = start.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            A, tau = _geqrf(start)
            diagonal = A.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0.0] *= -1
            return A.mT if is_wide else A
        if n == k:
            self.base = start.clone() if _is_orthogonal(start) else _make_orthogonal(start)
        else:
            more = start.new_empty((*start.shape[:-2], n, n - k)).normal_()
            self.base = _make_orthogonal(_cat([start, more], -1))
        result = Q.new_zeros(Q.shape)
        result.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return result


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix of the module orthogonal: Q with Q Q^T = 1 or Q^T Q = 1.

    orthogonal_map: "matrix_exp", "cayley" or "householder"; "matrix_exp" if None and the matrix is square or complex, else
    "householder". Raises ValueError for another map, no tensor of this name, or no matrix."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    part = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, part, unsafe=True)
    return module


class _WeightNorm(Module):
    """g * v / |v|, with the norm over all dimensions but dim."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return normalized_weight(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Return the norms of the weight, and the weight."""
        return _norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Make a weight g * v / |v|: original0 is g, original1 is v. dim: that of the norms, all of the weight if None.

    A state_dict with <name>_g and <name>_v, of the older weight_norm, is read, too."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: Any, prefix: str, *_: Any) -> None:
        for i, old in enumerate((f"{prefix}{name}_g", f"{prefix}{name}_v")):
            if f"{prefix}{name}_g" in state_dict or f"{prefix}{name}_v" in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """weight / its largest singular value, estimated by the power method."""

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight.detach())
            h, w = matrix.shape
            self.register_buffer("_u", F.normalize(matrix.new_empty(h).normal_(0, 1), dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(matrix.new_empty(w).normal_(0, 1), dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    def _power_method(self, matrix: Any, n_power_iterations: int) -> None:
        with set_recording(False):
            matrix = matrix.detach()
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(_mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(_mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        return weight / _vdot(self._u.clone(), _mv(matrix, self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        """Return the value: dividing by the norm keeps it if its norm is 1."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, as Miyato et al. do (2018).

    n_power_iterations: steps of the power method at each use in training. dim: the dimension of the outputs, 0, or 1 of a
    transposed convolution. Raises ValueError for no tensor of this name."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module

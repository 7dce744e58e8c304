"""scipy.spatial.transform with rotations that differentiate. See _frame.py."""

from __future__ import annotations

from typing import Any as _Any

import numpy as _np

from wengert import dtypes as _dtypes, errors as _errors
from wengert.array_functions.table import detached as _detached, holds_tensor as _holds_tensor, w as _w
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands

_module = _Submodule("spatial.transform", globals())
__getattr__, __dir__ = _module.lookups()
_scipy: _Any = _module.scipy


def _double(x: _Any) -> _Any:
    return _operands(x)[0].to(_dtypes.float64)


def _product(p: _Any, q: _Any) -> _Any:
    """The product of quaternions (..., 4), the real part last."""
    a, b = p[..., :3], q[..., :3]
    s, t = p[..., 3:], q[..., 3:]
    a, b = _w.broadcast_tensors(a, b)
    return _w.cat([s * b + t * a + _w.cross(a, b, dim=-1), s * t - _w.sum(a * b, -1, keepdim=True)], -1)


class Rotation:
    """Rotations that are given by tensors: unit quaternions (4,) or (n, 4), the real part last.

    It has the methods of SciPy's Rotation whose results differentiate. Without tensors, its constructors return SciPy's Rotation.
    `detach()` returns SciPy's Rotation of a rotation with tensors.
    """

    def __init__(self, quat: _Any, normalize: bool = True) -> None:
        quat = _double(quat)
        if quat.ndim not in (1, 2) or quat.shape[-1] != 4:
            raise ValueError(f"Expected `quat` to have shape (4,) or (N, 4), got {tuple(quat.shape)}.")
        sizes = _w.sqrt(_w.sum(quat * quat, -1, keepdim=True))
        if not _detached(sizes).all():
            raise ValueError("Found zero norm quaternions in `quat`.")
        self._quat = quat / sizes if normalize else quat

    single = property(lambda self: self._quat.ndim == 1)

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return int(self._quat.shape[0])

    def __getitem__(self, index: _Any) -> Rotation:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self._quat[index], False)

    def __getattr__(self, name: str) -> _Any:
        raise AttributeError(f"A rotation with tensors has no {name!r}. Hint: rotation.detach() is SciPy's Rotation.")

    def detach(self) -> _Any:
        """Return SciPy's Rotation, without a history."""
        return _scipy.Rotation.from_quat(_detached(self._quat))

    # -- constructors --------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_quat(quat: _Any, *, scalar_first: bool = False) -> _Any:
        """Return the rotations of quaternions, which need not be of length 1."""
        if not _holds_tensor((quat,)):
            return _scipy.Rotation.from_quat(quat, scalar_first=scalar_first)
        quat = _double(quat)
        return Rotation(_w.cat([quat[..., 1:], quat[..., :1]], -1) if scalar_first else quat)

    @staticmethod
    def from_rotvec(rotvec: _Any, degrees: bool = False) -> _Any:
        """Return the rotations about vectors (3,) or (n, 3), by their lengths. The derivative at 0 is that of the limit."""
        if not _holds_tensor((rotvec,)):
            return _scipy.Rotation.from_rotvec(rotvec, degrees)
        vector = _double(rotvec)
        if vector.ndim not in (1, 2) or vector.shape[-1] != 3:
            raise ValueError(f"Expected `rot_vec` to have shape (3,) or (N, 3), got {tuple(vector.shape)}")
        vector = vector * (_np.pi / 180) if degrees else vector
        squares = _w.sum(vector * vector, -1, keepdim=True)
        small = squares.detach() < 1e-3
        angle = _w.sqrt(_w.where(small, 1.0, squares))
        series = 0.5 - squares / 48 + squares**2 / 3840 - squares**3 / 645120
        cosine = 1 - squares / 8 + squares**2 / 384 - squares**3 / 46080
        parts = vector * _w.where(small, series, _w.sin(angle / 2) / angle), _w.where(small, cosine, _w.cos(angle / 2))
        return Rotation(_w.cat(parts, -1), False)

    @staticmethod
    def from_euler(seq: str, angles: _Any, degrees: bool = False) -> _Any:
        """Return the rotations by angles about axes. seq: as "zyx" (fixed axes) or "ZYX" (moving axes)."""
        if not _holds_tensor((angles,)):
            return _scipy.Rotation.from_euler(seq, angles, degrees)
        angles = _double(angles)
        example = _scipy.Rotation.from_euler(seq, _detached(angles), degrees)  # raises SciPy's errors
        angles = (angles * (_np.pi / 180) if degrees else angles) / 2
        if len(seq) == 1:
            angles = angles.reshape(*_np.shape(example.as_quat())[:-1], 1)
        found: _Any = None
        for k, axis in enumerate(seq.lower()):
            direction = _w.as_tensor(_np.eye(3)["xyz".index(axis)])
            half = angles[..., k : k + 1]
            turn = _w.cat([_w.sin(half) * direction, _w.cos(half)], -1)
            found = turn if found is None else _product(found, turn) if seq.isupper() else _product(turn, found)
        return Rotation(found, False)

    @staticmethod
    def from_matrix(matrix: _Any, **options: _Any) -> _Any:
        """Return the rotations of orthogonal matrices (3, 3) or (n, 3, 3). The derivative is that for orthogonal matrices."""
        if not _holds_tensor((matrix,)):
            return _scipy.Rotation.from_matrix(matrix, **options)
        m = _double(matrix)
        values = _np.asarray(_scipy.Rotation.from_matrix(_detached(m)).as_quat())
        largest = _np.abs(values).argmax(-1)
        trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
        d = [m[..., i, i] for i in range(3)]
        rows = []
        for k in range(3):  # four times the largest component, times each component
            i, j = (k + 1) % 3, (k + 2) % 3
            row: list[_Any] = [None] * 4
            row[k] = 1 - trace + 2 * d[k]
            row[i], row[j] = m[..., i, k] + m[..., k, i], m[..., j, k] + m[..., k, j]
            row[3] = m[..., j, i] - m[..., i, j]
            rows.append(_w.stack(row, -1))
        turns = [m[..., i, j] - m[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))]
        rows.append(_w.stack([*turns, 1 + trace], -1))
        found: _Any = rows[3]
        for k in range(3):
            found = _w.where(_w.as_tensor(largest == k)[..., None], rows[k], found)
        return Rotation(found)

    @staticmethod
    def identity(*args: _Any, **options: _Any) -> _Any:
        """Return SciPy's rotation that changes nothing."""
        return _scipy.Rotation.identity(*args, **options)

    # -- results ---------------------------------------------------------------------------------------------------------------

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> _Any:
        """Return the quaternions. canonical: with a real part that is not negative."""
        found = self._quat
        if canonical:
            found = found * _w.where(found.detach()[..., 3:] < 0, -1.0, 1.0)
        return _w.cat([found[..., 3:], found[..., :3]], -1) if scalar_first else found

    def as_matrix(self) -> _Any:
        """Return the matrices (3, 3) or (n, 3, 3)."""
        x, y, z, s = _w.unbind(self._quat, -1)
        rows = [x * x - y * y - z * z + s * s, 2 * (x * y - z * s), 2 * (x * z + y * s),
                2 * (x * y + z * s), y * y + s * s - x * x - z * z, 2 * (y * z - x * s),
                2 * (x * z - y * s), 2 * (y * z + x * s), z * z + s * s - x * x - y * y]  # fmt: skip
        return _w.stack(rows, -1).reshape(*self._quat.shape[:-1], 3, 3)

    def _half_angle(self) -> tuple[_Any, _Any, _Any]:
        """Return the canonical quaternion, the length of its vector, which is not 0, and where that is small."""
        quat = self.as_quat(canonical=True)
        squares = _w.sum(quat[..., :3] ** 2, -1, keepdim=True)
        small = squares.detach() < 1e-6
        return quat, _w.sqrt(_w.where(small, 1.0, squares)), small

    def as_rotvec(self, degrees: bool = False) -> _Any:
        """Return the vectors (3,) or (n, 3) about which the rotations turn, by their lengths."""
        quat, size, small = self._half_angle()
        squares = _w.sum(quat[..., :3] ** 2, -1, keepdim=True)
        scale = _w.where(small, 2 + squares / 3 + 3 * squares**2 / 20, 2 * _w.atan2(size, quat[..., 3:]) / size)
        return quat[..., :3] * scale * (180 / _np.pi if degrees else 1.0)

    def magnitude(self) -> _Any:
        """Return the angles of the rotations. Where there is no rotation, the derivative is 0."""
        quat, size, small = self._half_angle()
        tiny = 2 * _w.sqrt(_w.sum(quat[..., :3] ** 2, -1, keepdim=True).detach())
        return _w.where(small, tiny, 2 * _w.atan2(size, quat[..., 3:]))[..., 0]

    def apply(self, vectors: _Any, inverse: bool = False) -> _Any:
        """Rotate vectors (3,) or (n, 3)."""
        vectors = _double(vectors)
        if vectors.ndim not in (1, 2) or vectors.shape[-1] != 3:
            raise ValueError(f"Expected input of shape (3,) or (P, 3), got {tuple(vectors.shape)}.")
        matrix = self.as_matrix()
        return _w.matmul(matrix.mT if inverse else matrix, vectors[..., None])[..., 0]

    def inv(self) -> Rotation:
        """Return the inverse rotations."""
        return Rotation(self._quat * _w.as_tensor(_np.array([-1.0, -1.0, -1.0, 1.0])), False)

    def __mul__(self, other: _Any) -> Rotation:
        """Return the rotations by other, and then by self."""
        return Rotation(_product(self._quat, _quat_of(other)))

    def __rmul__(self, other: _Any) -> Rotation:
        return Rotation(_product(_quat_of(other), self._quat))


def _quat_of(rotation: _Any) -> _Any:
    if isinstance(rotation, Rotation):
        return rotation._quat
    if isinstance(rotation, _scipy.Rotation):
        return _w.as_tensor(rotation.as_quat())
    raise _errors.ArgumentError(f"A rotation is multiplied by a rotation, not by {type(rotation).__name__}.")


_module.replaces(Rotation)

"""scipy.spatial.transform with rotations that differentiate. See _frame.py."""

from __future__ import annotations

from typing import Any as _Any

import numpy as _np

from wengert import dtypes as _dtypes, errors as _errors
from wengert.array_functions.table import detached as _detached, holds_tensor as _holds_tensor, linalg as _linalg, w as _w
from wengert.scipy._closures import with_values as _with_values
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


def _turned(axes: list[_Any], halves: _Any, is_intrinsic: bool) -> _Any:
    """Return the quaternions of turns about axes, one after the other. halves: half of the angles, (..., number of axes)."""
    found: _Any = None
    for k, axis in enumerate(axes):
        half = halves[..., k : k + 1]
        turn = _w.cat([_w.sin(half) * axis, _w.cos(half)], -1)
        found = turn if found is None else _product(found, turn) if is_intrinsic else _product(turn, found)
    return found


class _Either(type):
    """The class of classes that SciPy's objects without tensors are instances of, too."""

    theirs: _Any

    def __instancecheck__(cls, x: object) -> bool:
        return super().__instancecheck__(x) or isinstance(x, cls.theirs)


class Rotation(metaclass=_Either):
    """Rotations that are given by tensors: unit quaternions (4,) or (n, 4), the real part last.

    It has the methods of SciPy's Rotation whose results differentiate. Without tensors, its constructors return SciPy's Rotation.
    `detach()` returns SciPy's Rotation of a rotation with tensors.
    """

    theirs = _scipy.Rotation

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
        axes = [_w.as_tensor(_np.eye(3)["xyz".index(axis)]) for axis in seq.lower()]
        return Rotation(_turned(axes, angles, seq.isupper()), False)

    @staticmethod
    def from_davenport(axes: _Any, order: str, angles: _Any, degrees: bool = False) -> _Any:
        """Return the rotations by angles about axes (3,) or (k, 3), which need not be those of the coordinates."""
        example = _scipy.Rotation.from_davenport(_detached(axes), order, _detached(angles), degrees)
        if not _holds_tensor((axes, angles)):
            return example
        axes, angles = _w.atleast_2d(_double(axes)), _double(angles)
        angles = (angles * (_np.pi / 180) if degrees else angles) / 2
        angles = angles.reshape(*_np.shape(example.as_quat())[:-1], len(axes))
        axes = axes / _w.sqrt(_w.sum(axes * axes, -1, keepdim=True))
        return Rotation(_turned(list(axes), angles, order.startswith("i")), False)

    @staticmethod
    def from_mrp(mrp: _Any) -> _Any:
        """Return the rotations of modified Rodrigues parameters (3,) or (n, 3): axes times tan(angle / 4)."""
        if not _holds_tensor((mrp,)):
            return _scipy.Rotation.from_mrp(mrp)
        mrp = _double(mrp)
        if mrp.ndim not in (1, 2) or mrp.shape[-1] != 3:
            raise ValueError(f"Expected `mrp` to have shape (3,) or (N, 3), got {tuple(mrp.shape)}")
        squares = _w.sum(mrp * mrp, -1, keepdim=True)
        return Rotation(_w.cat([2 * mrp, 1 - squares], -1) / (1 + squares), False)

    @staticmethod
    def concatenate(rotations: _Any) -> _Any:
        """Return the rotations in a list as one sequence."""
        rotations = [rotations] if isinstance(rotations, Rotation) else list(rotations)
        if all(isinstance(one, _scipy.Rotation) for one in rotations):
            return _scipy.Rotation.concatenate(rotations)
        return Rotation(_w.cat([_w.atleast_2d(_quat_of(one)) for one in rotations]), False)

    @staticmethod
    def align_vectors(a: _Any, b: _Any, weights: _Any = None, return_sensitivity: bool = False) -> _Any:
        """Return the rotation that turns the vectors b (n, 3) nearest to a, and the root of the weighted sum of squares left.

        Derivative: by the singular value decomposition of W. Kabsch (1978). There must be more than one vector, without infinite
        weights. The sensitivity, if it is asked for, is an array."""
        theirs = _scipy.Rotation.align_vectors(*_detached((a, b, weights)), return_sensitivity)
        if not _holds_tensor((a, b, weights)):
            return theirs
        a, b, weights = [_w.atleast_2d(_double(x)) if x is not None else None for x in (a, b, weights)]
        shares = _w.ones(len(a), dtype=a.dtype) if weights is None else weights[0]
        if len(a) < 2 or _np.isinf(_detached(shares)).any():
            raise NotImplementedError("align_vectors has a derivative for two vectors or more, and finite weights.")
        u, s, vh = _linalg.svd((shares[:, None] * a).mT @ b)
        sign = _np.array([1.0, 1.0, _np.sign(_np.linalg.det(_detached(u)) * _np.linalg.det(_detached(vh)))])
        signs = _w.as_tensor(sign)
        left = _w.sum(shares * _w.sum(a * a + b * b, 1)) - 2 * _w.sum(s * signs)
        inside = left.detach() > 0
        rssd = _w.where(inside, _w.sqrt(_w.where(inside, left, 1.0)), 0.0)
        return (Rotation.from_matrix((u * signs) @ vh), _with_values(rssd, _np.asarray(theirs[1])), *theirs[2:])

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

    identity = staticmethod(_scipy.Rotation.identity)  # SciPy's rotations without tensors
    random = staticmethod(_scipy.Rotation.random)
    create_group = staticmethod(_scipy.Rotation.create_group)

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

    def as_mrp(self) -> _Any:
        """Return the modified Rodrigues parameters (3,) or (n, 3): axes times tan(angle / 4)."""
        quat = self.as_quat(canonical=True)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False) -> _Any:
        """Return the angles (3,) or (n, 3) about axes. seq: as "zyx" (fixed axes) or "ZYX" (moving axes).

        Derivative: by the formulas of E. Bernardes and S. Viollet (2022). In gimbal lock, where the first and the third axis are
        parallel, there is none, and NotImplementedError is raised."""
        values = self.detach().as_euler(seq, False, suppress_warnings=suppress_warnings)
        axes = ["xyz".index(axis) for axis in (seq.lower() if seq.islower() else seq.lower()[::-1])]
        i, j, k = axes
        is_symmetric = i == k
        k = 3 - i - j if is_symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        x, y, z, real = self._quat[..., i], self._quat[..., j], sign * self._quat[..., k], self._quat[..., 3]
        a, b, c, d = (real, x, y, z) if is_symmetric else (real - y, x + z, y + real, z - x)
        sizes = a * a + b * b, c * c + d * d
        if min(float(_detached(size).min(initial=1.0)) for size in sizes) < 1e-14:
            raise NotImplementedError("as_euler has no derivative in gimbal lock. Hint: choose other axes, or as_rotvec.")
        half_sum, half_difference = _w.atan2(b, a), _w.atan2(d, c)
        second = 2 * _w.atan2(_w.sqrt(sizes[1]), _w.sqrt(sizes[0]))
        third = half_sum + half_difference
        parts = [half_sum - half_difference, second, third if is_symmetric else sign * third]
        angles = _with_values(_w.stack(parts if seq.islower() else parts[::-1], -1), values)
        return angles * (180 / _np.pi) if degrees else angles

    def mean(self, weights: _Any = None) -> Rotation:
        """Return the mean of the rotations: the eigenvector of the largest eigenvalue of the mean of q q^T.

        Derivative: that of the eigenvector, if the eigenvalue is simple."""
        quat = _w.atleast_2d(self._quat)
        shares = _w.ones(len(quat), dtype=quat.dtype) if weights is None else _double(weights)
        if bool((_detached(shares) < 0).any()):
            raise ValueError("`weights` must be non-negative.")
        return Rotation(_linalg.eigh((shares[:, None] * quat).mT @ quat)[1][:, -1], False)

    def approx_equal(self, other: _Any, atol: _Any = None, degrees: bool = False) -> _Any:
        """Return whether the rotations are near to others, as SciPy."""
        other = other.detach() if type(other) is Rotation else other
        return self.detach().approx_equal(other, atol, degrees)

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

    def __pow__(self, n: _Any) -> Rotation:
        """Return the rotations n times, about the same axes by n times the angles. n: a number."""
        return Rotation.from_rotvec(_operands(n)[0] * self.as_rotvec())

    def __mul__(self, other: _Any) -> Rotation:
        """Return the rotations by other, and then by self."""
        return Rotation(_product(self._quat, _quat_of(other)))

    def __rmul__(self, other: _Any) -> Rotation:
        return Rotation(_product(_quat_of(other), self._quat))


def _quat_of(rotation: _Any) -> _Any:
    if isinstance(rotation, _scipy.Rotation):
        return _w.as_tensor(rotation.as_quat())
    if isinstance(rotation, Rotation):
        return rotation._quat
    raise _errors.ArgumentError(f"A rotation is multiplied by a rotation, not by {type(rotation).__name__}.")


def _with_tensors(rotation: _Any) -> Rotation:
    return rotation if type(rotation) is Rotation else Rotation(_quat_of(rotation), False)


class Slerp:
    """SciPy's Slerp with derivatives in the rotations and in the times.

    times: increasing, (n,). rotations: as many. Between two, the rotation goes on about one axis at a constant rate."""

    def __new__(cls, times: _Any, rotations: _Any) -> _Any:
        if isinstance(rotations, _scipy.Rotation) and not _holds_tensor((times,)):
            return _scipy.Slerp(times, rotations)
        return super().__new__(cls)

    def __init__(self, times: _Any, rotations: _Any) -> None:
        rotations = _with_tensors(rotations)
        plain = rotations.detach()
        self._theirs = _scipy.Slerp(_detached(times), plain)  # raises SciPy's errors
        self.times, self.rotations = _double(times), rotations
        self.rotvecs = (rotations[:-1].inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: _Any) -> Rotation:
        """Return the rotations at times between the first and the last: a number or a vector."""
        self._theirs(_detached(times))
        at = _double(times)
        flat, known = at.reshape(-1), _detached(self.times)
        place = _np.clip(_np.searchsorted(known, _detached(flat), side="right") - 1, 0, len(known) - 2)
        share = (flat - self.times[place]) / (self.times[place + 1] - self.times[place])
        found = self.rotations[place] * Rotation.from_rotvec(share[:, None] * self.rotvecs[place])
        return found if at.ndim else found[0]


class RotationSpline(_scipy.RotationSpline):
    """SciPy's RotationSpline. It has no derivative in the rotations and times."""

    def __init__(self, times: _Any, rotations: _Any) -> None:
        if type(rotations) is Rotation or _holds_tensor((times,)):
            raise NotImplementedError("RotationSpline has no derivative. Hint: Slerp has one.")
        super().__init__(times, rotations)


# -- rigid transforms ------------------------------------------------------------------------------------------------------


def _drift(rotvec: _Any) -> _Any:
    """Return the matrices (..., 3, 3) that turn the velocity of a screw motion into its translation: the mean of its rotations."""
    x, y, z = _w.unbind(rotvec, -1)
    zero = _w.zeros_like(x)
    cross = _w.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*x.shape, 3, 3)
    eye = _w.as_tensor(_np.eye(3)).expand(*x.shape, 3, 3)
    block = _w.cat([_w.cat([cross, eye], -1), _w.zeros(*x.shape, 3, 6, dtype=cross.dtype)], -2)
    return _linalg.matrix_exp(block)[..., :3, 3:]


class RigidTransform(metaclass=_Either):
    """A rotation and then a translation, given by tensors. It has the methods of SciPy's whose results differentiate.

    matrix: (4, 4) or (n, 4, 4). Without tensors, the constructors return SciPy's RigidTransform, as `detach()` does."""

    theirs: _Any = getattr(_scipy, "RigidTransform", ())

    def __init__(self, matrix: _Any, normalize: bool = True) -> None:
        matrix = _double(matrix)
        if matrix.ndim not in (2, 3) or matrix.shape[-2:] != (4, 4):
            raise ValueError(f"Expected `matrix` to have shape (4, 4), or (N, 4, 4), got {tuple(matrix.shape)}.")
        if _np.abs(_detached(matrix)[..., 3, :] - [0, 0, 0, 1]).max() > 1e-12:
            raise ValueError("Expected the last row of the matrices to be exactly [0, 0, 0, 1].")
        self.rotation, self.translation = Rotation.from_matrix(matrix[..., :3, :3]), matrix[..., :3, 3]

    @classmethod
    def _made(cls, rotation: _Any, translation: _Any) -> RigidTransform:
        found = super().__new__(cls)
        found.rotation, found.translation = _with_tensors(rotation), _double(translation)
        quat, moved = found.rotation._quat, found.translation
        if moved.ndim not in (1, 2) or moved.shape[-1] != 3:
            raise ValueError(f"Expected `translation` to have shape (3,), or (N, 3), got {tuple(moved.shape)}.")
        shape = _np.broadcast_shapes(quat.shape[:-1], moved.shape[:-1])
        found.rotation, found.translation = Rotation(_w.broadcast_to(quat, (*shape, 4)), False), _w.broadcast_to(moved, (*shape, 3))
        return found

    single = property(lambda self: self.translation.ndim == 1)

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single transform has no len().")
        return int(self.translation.shape[0])

    def __getitem__(self, index: _Any) -> RigidTransform:
        if self.single:
            raise TypeError("Single transform is not subscriptable.")
        return RigidTransform._made(self.rotation[index], self.translation[index])

    def detach(self) -> _Any:
        """Return SciPy's RigidTransform, without a history."""
        return self.theirs.from_components(_detached(self.translation), self.rotation.detach())

    @staticmethod
    def from_matrix(matrix: _Any) -> _Any:
        """Return the transforms of matrices (4, 4) or (n, 4, 4)."""
        return RigidTransform(matrix) if _holds_tensor((matrix,)) else RigidTransform.theirs.from_matrix(matrix)

    @staticmethod
    def from_rotation(rotation: _Any) -> _Any:
        """Return transforms that rotate."""
        if isinstance(rotation, _scipy.Rotation):
            return RigidTransform.theirs.from_rotation(rotation)
        return RigidTransform._made(rotation, _np.zeros(3))

    @staticmethod
    def from_translation(translation: _Any) -> _Any:
        """Return transforms that translate by (3,) or (n, 3)."""
        if not _holds_tensor((translation,)):
            return RigidTransform.theirs.from_translation(translation)
        return RigidTransform._made(_scipy.Rotation.identity(), translation)

    @staticmethod
    def from_components(translation: _Any, rotation: _Any) -> _Any:
        """Return transforms that rotate, and then translate."""
        if isinstance(rotation, _scipy.Rotation) and not _holds_tensor((translation,)):
            return RigidTransform.theirs.from_components(translation, rotation)
        return RigidTransform._made(rotation, translation)

    @staticmethod
    def from_exp_coords(exp_coords: _Any) -> _Any:
        """Return the transforms of exponential coordinates (6,) or (n, 6): a rotation vector, and a velocity."""
        if not _holds_tensor((exp_coords,)):
            return RigidTransform.theirs.from_exp_coords(exp_coords)
        x = _double(exp_coords)
        return RigidTransform._made(Rotation.from_rotvec(x[..., :3]), _w.matmul(_drift(x[..., :3]), x[..., 3:, None])[..., 0])

    @staticmethod
    def from_dual_quat(dual_quat: _Any, *, scalar_first: bool = False) -> _Any:
        """Return the transforms of dual quaternions (8,) or (n, 8), which need not be of length 1."""
        if not _holds_tensor((dual_quat,)):
            return RigidTransform.theirs.from_dual_quat(dual_quat, scalar_first=scalar_first)
        x = _double(dual_quat)
        real, dual = [_w.cat([q[..., 1:], q[..., :1]], -1) if scalar_first else q for q in (x[..., :4], x[..., 4:])]
        size = _w.sqrt(_w.sum(real * real, -1, keepdim=True))
        rotation = Rotation(real)
        dual = dual / size
        dual = dual - _w.sum(dual * rotation._quat, -1, keepdim=True) * rotation._quat
        return RigidTransform._made(rotation, 2 * _product(dual, rotation.inv()._quat)[..., :3])

    @staticmethod
    def identity(*args: _Any, **options: _Any) -> _Any:
        """Return SciPy's transform that changes nothing."""
        return RigidTransform.theirs.identity(*args, **options)

    def as_components(self) -> tuple[_Any, Rotation]:
        """Return (translation, rotation)."""
        return self.translation, self.rotation

    def as_matrix(self) -> _Any:
        """Return the matrices (4, 4) or (n, 4, 4)."""
        above = _w.cat([self.rotation.as_matrix(), self.translation[..., None]], -1)
        last = _w.as_tensor(_np.array([[0.0, 0.0, 0.0, 1.0]])).expand(*above.shape[:-2], 1, 4)
        return _w.cat([above, last], -2)

    def as_exp_coords(self) -> _Any:
        """Return the exponential coordinates (6,) or (n, 6): a rotation vector, and a velocity."""
        rotvec = self.rotation.as_rotvec()
        return _w.cat([rotvec, _linalg.solve(_drift(rotvec), self.translation[..., None])[..., 0]], -1)

    def as_dual_quat(self, *, scalar_first: bool = False) -> _Any:
        """Return the dual quaternions (8,) or (n, 8)."""
        real = self.rotation._quat
        dual = 0.5 * _product(_w.cat([self.translation, _w.zeros_like(self.translation[..., :1])], -1), real)
        parts = [_w.cat([q[..., 3:], q[..., :3]], -1) if scalar_first else q for q in (real, dual)]
        return _w.cat(parts, -1)

    def apply(self, vector: _Any, inverse: bool = False) -> _Any:
        """Transform vectors (3,) or (n, 3)."""
        vector = _double(vector)
        return self.rotation.apply(vector - self.translation, True) if inverse else self.rotation.apply(vector) + self.translation

    def inv(self) -> RigidTransform:
        """Return the inverse transforms."""
        return RigidTransform._made(self.rotation.inv(), -self.rotation.apply(self.translation, True))

    def __mul__(self, other: _Any) -> RigidTransform:
        """Return the transforms by other, and then by self."""
        return RigidTransform._made(self.rotation * other.rotation, self.apply(other.translation))

    def __rmul__(self, other: _Any) -> RigidTransform:
        return RigidTransform._made(other.rotation, other.translation) * self

    def __pow__(self, n: _Any) -> RigidTransform:
        """Return the transforms n times. n: a number."""
        return RigidTransform.from_exp_coords(_operands(n)[0] * self.as_exp_coords())


for _class in (Rotation, Slerp, RotationSpline):
    _module.replaces(_class)
if hasattr(_scipy, "RigidTransform"):
    _module.replaces(RigidTransform)

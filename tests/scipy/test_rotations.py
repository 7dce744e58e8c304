"""wengert.scipy.spatial.transform: rotations of tensors, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial.transform

import wengert as w
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.scipy.spatial import transform
from wengert.scipy.spatial.transform import Rotation

Theirs = scipy.spatial.transform.Rotation
RNG = np.random.default_rng(19)
VECTORS, POINTS = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))


def leaf(x):
    return w.tensor(x, requires_grad=True)


def check(function, *arrays, rtol=1e-10):
    """Compare function(Rotation class, *arrays) with SciPy, and its derivatives with finite differences."""
    inputs = [leaf(x) for x in arrays]
    np.testing.assert_allclose(function(Rotation, *inputs).detach().numpy(), function(Theirs, *arrays), rtol=rtol, atol=rtol / 100)
    assert gradcheck(lambda *x: function(Rotation, *x), inputs, check_forward_ad=True)
    assert gradgradcheck(lambda *x: function(Rotation, *x), inputs)


@pytest.mark.parametrize("vectors", [VECTORS, VECTORS[0], np.zeros(3), 1e-3 * VECTORS[1]], ids=["many", "one", "none", "small"])
def test_vectors(vectors):
    check(lambda R, v: R.from_rotvec(v).as_matrix(), vectors)
    check(lambda R, v: R.from_rotvec(v).as_rotvec(), vectors)
    check(lambda R, v, p: R.from_rotvec(v).apply(p), vectors, POINTS)
    check(lambda R, v, p: R.from_rotvec(v).apply(p, inverse=True), vectors, POINTS[0])


@pytest.mark.parametrize("seq", ["zyx", "ZYX", "xzx", "XYX"])
def test_euler_angles(seq):
    check(lambda R, a: R.from_euler(seq, a).as_matrix(), VECTORS)
    check(lambda R, a: R.from_euler(seq, a, degrees=True).as_quat(canonical=True), 40 * VECTORS[0])
    check(lambda R, a: R.from_euler("z", a).as_matrix(), np.array(0.4))


def test_quaternions_products_and_angles():
    quats = RNG.normal(size=(4, 4))
    check(lambda R, q: R.from_quat(q).as_matrix(), quats)
    check(lambda R, q: R.from_quat(q, scalar_first=True).as_quat(canonical=True, scalar_first=True), quats)
    check(lambda R, q: (R.from_quat(q) * R.from_quat(q[::-1]) if isinstance(q, np.ndarray)
                        else R.from_quat(q) * R.from_quat(w.flip(q, (0,)))).as_matrix(), quats)  # fmt: skip
    check(lambda R, q: R.from_quat(q).inv().magnitude(), quats)
    check(lambda R, q: R.from_quat(q)[1:3].as_rotvec(degrees=True), quats)
    check(lambda R, q: (Theirs.from_euler("z", 0.3) * R.from_quat(q)).as_matrix() if R is Theirs
          else (R.from_quat(q).__rmul__(Theirs.from_euler("z", 0.3))).as_matrix(), quats)  # fmt: skip


def test_matrices():
    """Each of the four branches, along rotations."""
    for vector in (np.array([0.3, 0.2, 0.1]), np.array([3.0, 0.2, 0.1]), np.array([0.1, 3.0, 0.2]), np.array([0.1, 0.2, 3.0])):
        check(lambda R, v: R.from_matrix(R.from_rotvec(v).as_matrix()).as_rotvec(), vector)


def test_plain_and_bad_rotations():
    assert isinstance(Rotation.from_rotvec(VECTORS), Theirs)
    rotation = Rotation.from_rotvec(leaf(VECTORS))
    assert isinstance(rotation.detach(), Theirs) and len(rotation) == 3
    assert isinstance(rotation, Rotation) and isinstance(rotation.detach(), Rotation)
    with pytest.raises(AttributeError, match="detach"):
        rotation.as_davenport(np.eye(3), "e")
    with pytest.raises(ValueError, match="zero norm"):
        Rotation.from_quat(leaf(np.zeros(4)))
    with pytest.raises(ValueError, match="shape"):
        Rotation.from_rotvec(leaf(np.zeros(4)))
    with pytest.raises(ValueError, match="seq"):
        Rotation.from_euler("xyq", leaf(np.zeros(3)))
    vector = leaf(np.zeros(3))
    assert np.array_equal(grad(Rotation.from_rotvec(vector).magnitude(), vector)[0].numpy(), np.zeros(3))


@pytest.mark.parametrize("seq", ["zyx", "ZYX", "xzx", "XYX", "yxz", "YZX"])
def test_euler_angles_of_rotations(seq):
    check(lambda R, v: R.from_rotvec(v).as_euler(seq), VECTORS)
    check(lambda R, v: R.from_rotvec(v).as_euler(seq, degrees=True), -2 * VECTORS[1])
    locked = Rotation.from_euler(seq, leaf(np.array([0.3, 0.0 if seq[0] == seq[2] else np.pi / 2, 0.4])))
    with pytest.raises(NotImplementedError, match="gimbal lock"):
        locked.as_euler(seq, suppress_warnings=True)


def test_parameters_axes_and_powers():
    check(lambda R, m: R.from_mrp(m).as_matrix(), VECTORS)
    check(lambda R, v: R.from_rotvec(v).as_mrp(), VECTORS[0])
    axes = np.array([[1.0, 0.2, 0.0], [0.0, 0.0, -2.0]])
    axes[0] -= axes[1] * (axes[0] @ axes[1]) / 4
    for order in ("e", "i"):
        check(lambda R, a, o=order: R.from_davenport(axes, o, a).as_matrix(), VECTORS[:, :2])
        check(lambda R, a, o=order: R.from_davenport(axes[:1], o, a, degrees=True).as_matrix(), 40 * VECTORS[0, :1])
    check(lambda R, v: (R.from_rotvec(v) ** 0.3).as_matrix(), VECTORS)
    check(lambda R, v: R.concatenate([R.from_rotvec(v), R.from_rotvec(2 * v[0])]).as_matrix(), VECTORS)


@pytest.mark.slow
def test_means_and_alignments():
    shares = np.array([0.3, 1.2, 0.7])
    check(lambda R, v, s: R.from_rotvec(v).mean(s).as_matrix(), VECTORS, shares)
    check(lambda R, v: R.from_rotvec(v).mean().as_matrix(), VECTORS)
    more = RNG.normal(size=(5, 3))
    for sign in (1.0, -1.0):  # the nearest orthogonal matrix is a rotation, or a reflection
        check(lambda R, a, b: R.align_vectors(a, b)[0].as_matrix(), more, sign * (more + 0.3 * VECTORS[[0, 1, 2, 0, 1]]))
        check(lambda R, a, s: R.align_vectors(a, more, s)[1], sign * (more + 0.3 * VECTORS[[0, 1, 2, 0, 1]]), np.arange(1.0, 6.0))
    with pytest.raises(NotImplementedError, match="two vectors"):
        Rotation.align_vectors(leaf(VECTORS[:1]), VECTORS[1:2])
    assert bool(Rotation.from_rotvec(leaf(VECTORS[0])).approx_equal(Theirs.from_rotvec(VECTORS[0] + 1e-9), 1e-6))


def test_interpolated_rotations():
    times, at = np.array([0.0, 1.0, 3.0]), np.array([0.2, 1.0, 2.9])

    def spherical(R, v, t, at):
        kind = scipy.spatial.transform if R is Theirs else transform
        return kind.Slerp(t, R.from_rotvec(v))(at).as_matrix()

    check(spherical, VECTORS, times, at[[0, 2]])
    check(lambda R, v: spherical(R, v, times, 1.7), VECTORS)
    assert type(transform.Slerp(times, Theirs.from_rotvec(VECTORS))) is scipy.spatial.transform.Slerp
    with pytest.raises(ValueError, match="within the range"):
        transform.Slerp(times, Rotation.from_rotvec(leaf(VECTORS)))(9.0)
    with pytest.raises(NotImplementedError, match="Slerp"):
        transform.RotationSpline(times, Rotation.from_rotvec(leaf(VECTORS)))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(scipy.spatial.transform, "RigidTransform"), reason="SciPy has RigidTransform since 1.16")
def test_rigid_transforms():
    coordinates = RNG.normal(size=(2, 6))

    def of(R):
        return (scipy.spatial.transform if R is Theirs else transform).RigidTransform

    for x in (coordinates[0], np.zeros(6)):
        check(lambda R, x: of(R).from_exp_coords(x).as_matrix(), x)
        check(lambda R, x: of(R).from_exp_coords(x).as_exp_coords(), x)
    check(lambda R, x, p: of(R).from_exp_coords(x).inv().apply(p), coordinates, POINTS[:2])
    check(lambda R, x, p: of(R).from_exp_coords(x).apply(p, inverse=True), coordinates[0], POINTS)
    check(lambda R, x: (of(R).from_exp_coords(x) * of(R).from_exp_coords(2 * x[0])).as_matrix(), coordinates)
    check(lambda R, x: (of(R).from_exp_coords(x) ** 0.4).as_matrix(), coordinates[0], rtol=1e-6)  # SciPy's powers have 8 digits
    for first in (True, False):
        check(lambda R, x, s=first: of(R).from_dual_quat(of(R).from_exp_coords(x).as_dual_quat(scalar_first=s), scalar_first=s).as_matrix(), coordinates[0])
        check(lambda R, x, s=first: of(R).from_exp_coords(x).as_dual_quat(scalar_first=s), 0.3 * coordinates[0])
    check(lambda R, v, t: of(R).from_components(t, R.from_rotvec(v))[1].as_matrix(), VECTORS, POINTS)
    check(lambda R, v: of(R).from_rotation(R.from_rotvec(v)).as_matrix(), VECTORS)
    check(lambda R, t: of(R).from_translation(t).as_matrix(), POINTS)
    check(lambda R, x: of(R).from_matrix(of(R).from_exp_coords(x).as_matrix()).as_components()[0], coordinates[0])
    found = transform.RigidTransform.from_translation(leaf(POINTS))
    assert isinstance(found, transform.RigidTransform) and isinstance(found.detach(), transform.RigidTransform) and len(found) == 3
    with pytest.raises(ValueError, match=r"shape \(4, 4\)"):
        transform.RigidTransform.from_matrix(leaf(np.eye(3)))

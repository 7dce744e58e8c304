"""wengert.scipy.spatial.transform: rotations of tensors, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial.transform

import wengert as w
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.scipy.spatial.transform import Rotation

Theirs = scipy.spatial.transform.Rotation
RNG = np.random.default_rng(19)
VECTORS, POINTS = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))


def leaf(x):
    return w.tensor(x, requires_grad=True)


def check(function, *arrays):
    """Compare function(Rotation class, *arrays) with SciPy, and its derivatives with finite differences."""
    inputs = [leaf(x) for x in arrays]
    np.testing.assert_allclose(function(Rotation, *inputs).detach().numpy(), function(Theirs, *arrays), rtol=1e-10, atol=1e-12)
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
    with pytest.raises(AttributeError, match="detach"):
        rotation.as_mrp()
    with pytest.raises(ValueError, match="zero norm"):
        Rotation.from_quat(leaf(np.zeros(4)))
    with pytest.raises(ValueError, match="shape"):
        Rotation.from_rotvec(leaf(np.zeros(4)))
    with pytest.raises(ValueError, match="seq"):
        Rotation.from_euler("xyq", leaf(np.zeros(3)))
    vector = leaf(np.zeros(3))
    assert np.array_equal(grad(Rotation.from_rotvec(vector).magnitude(), vector)[0].numpy(), np.zeros(3))

"""What holds for all submodules of wengert.scipy: which function runs, what it returns, what it refuses."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.fft
import scipy.special

import wengert
import wengert.scipy
from wengert.autograd import forward_ad
from wengert.scipy import _frame


def test_submodules_are_loaded_when_they_are_named():
    code = "import sys, wengert, wengert.scipy; assert 'scipy' not in sys.modules; from wengert import scipy; scipy.special; import scipy.special"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "special" in dir(wengert.scipy)
    with pytest.raises(AttributeError, match="has no attribute 'specials'"):
        getattr(wengert.scipy, "specials")  # noqa: B009


def test_a_submodule_lists_the_names_of_scipys():
    import wengert.scipy.special as special

    assert set(scipy.special.__all__) <= set(dir(special))
    assert special.SpecialFunctionWarning is scipy.special.SpecialFunctionWarning
    with pytest.raises(AttributeError, match="scipy.special"):
        getattr(special, "no_such_function")  # noqa: B009


@pytest.fixture
def submodule():
    """A submodule that is not registered for other tests."""
    members: dict[str, object] = {}
    before = dict(_frame.SUBMODULES)
    module = _frame.Submodule("fft", members)
    yield module
    _frame.SUBMODULES.clear()
    _frame.SUBMODULES.update(before)


def test_a_function_without_implementation(submodule):
    getattr_, _ = submodule.lookups()
    submodule.refuse("Use dct instead.", "idst")
    dst, idst, x = getattr_("dst"), getattr_("idst"), np.array([1.0, 2.0, 4.0])
    assert isinstance(dst(x), np.ndarray)
    found = dst(wengert.tensor(x))
    assert isinstance(found, wengert.Tensor) and np.array_equal(found.numpy(), scipy.fft.dst(x))
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad.*scipy\.fft\.dst has no derivative"):
        dst(wengert.tensor(x, requires_grad=True))
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match=r"dual Tensor.*scipy\.fft\.idst .* Use dct instead"):
        idst(forward_ad.make_dual(wengert.tensor(x), wengert.ones(3).double()))


def test_a_function_with_a_constant_result_takes_tensors_that_require_grad(submodule):
    submodule.constant("The result is an integer.", "next_fast_len")
    getattr_, _ = submodule.lookups()
    assert getattr_("next_fast_len")(7) == 7


def test_an_implementation_runs_if_there_is_a_tensor(submodule):
    calls = []

    @submodule.differentiates("dst")
    def _dst(x, type=2, norm=None):
        calls.append((type, norm))
        return x * 2

    dst, x = submodule.members["dst"], wengert.ones(3, requires_grad=True)
    assert np.array_equal(dst(np.ones(3)), scipy.fft.dst(np.ones(3))) and calls == []
    assert dst(x, 3, norm="ortho").requires_grad and calls == [(3, "ortho")]
    dst(x, 1, None, -1, norm="ortho", workers=2)  # the arguments in the places where ours has none have SciPy's defaults
    assert calls[1:] == [(1, "ortho")]
    with pytest.raises(wengert.errors.ArgumentError, match="orthogonalize"):
        dst(x, orthogonalize=True)
    found = dst(wengert.ones(3), orthogonalize=True)  # not differentiated: SciPy's function runs
    assert isinstance(found, wengert.Tensor) and len(calls) == 2


def test_operands_have_the_dtype_that_numpy_computes_in():
    for values, expected in [
        ((wengert.ones(2), 3), wengert.float32),
        ((wengert.ones(2), 3j), wengert.complex64),
        ((wengert.ones(2), np.ones(2)), wengert.float64),
        ((wengert.arange(2),), wengert.float64),
        (([wengert.ones(()), 2.0], None), wengert.float32),
        ((wengert.ones(2).half(), 2), wengert.float32),
    ]:
        assert {x.dtype for x in _frame.operands(*values) if x is not None} == {expected}

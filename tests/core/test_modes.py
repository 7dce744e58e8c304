"""The thread's word of flags, and the quiet in which kernels run."""

import threading
import warnings

import numpy as np
import pytest

import wengert
from lines import line_of
from wengert.autograd import Function
from wengert.core import modes, node as nodes


@pytest.fixture(autouse=True)
def flags():
    before = modes.flags()
    yield before
    modes.set_flags(before)


def test_the_word_is_zero_in_the_ordinary_case():
    assert modes.flags() == 0


@pytest.mark.parametrize(
    ("context", "bits"),
    [
        (wengert.no_grad, modes.NO_GRAD),
        (wengert.inference_mode, modes.INFERENCE | modes.NO_GRAD),
        (wengert.enable_grad, 0),
    ],
)
def test_each_mode_owns_its_bits(context, bits):
    with context():
        assert bits_of_modes() == bits
    assert modes.flags() == 0


def bits_of_modes():
    """The word without the number of the block that switched recording off."""
    return modes.flags() & (1 << modes.BLOCK) - 1


def test_a_block_that_switches_recording_off_has_the_number_of_its_line():
    def enter():
        with wengert.no_grad():  # this line
            return modes.flags() >> modes.BLOCK

    first, again = enter(), enter()
    with wengert.no_grad():
        other = modes.flags() >> modes.BLOCK
        with wengert.enable_grad():
            assert modes.flags() == 0
    assert first == again and len({first, other, 0}) == 3
    assert nodes.locate(*nodes.blocks[first]).startswith(line_of(__file__, "this line"))


def test_leaving_a_mode_restores_the_word_found_not_the_default():
    modes.set_flags(modes.NO_GRAD | 1 << 10)
    with wengert.enable_grad():
        assert modes.flags() == 1 << 10
    with wengert.no_grad():
        assert bits_of_modes() == modes.NO_GRAD | 1 << 10
    assert modes.flags() == modes.NO_GRAD | 1 << 10


def test_single_bits():
    modes.set_flag(1 << 8, True)
    assert modes.flags() == 1 << 8
    modes.set_flag(1 << 8, True)
    modes.set_flag(1 << 9, False)
    assert modes.flags() == 1 << 8
    modes.set_flag(1 << 8, False)
    assert modes.flags() == 0


def test_set_grad_enabled_leaves_other_bits_alone():
    modes.set_flags(1 << 8)
    modes.set_grad_enabled(False)
    assert modes.flags() == 1 << 8 | modes.NO_GRAD and not modes.grad_enabled()
    modes.set_grad_enabled(True)
    assert modes.flags() == 1 << 8 and modes.grad_enabled()


def test_set_recording_nests():
    with modes.set_recording(False):
        with modes.set_recording(True):
            assert modes.grad_enabled()
        assert not modes.grad_enabled()
    assert modes.grad_enabled()


def test_each_thread_has_its_own_word():
    modes.set_flags(modes.NO_GRAD)
    seen = []
    thread = threading.Thread(target=lambda: (seen.append(modes.flags()), modes.set_flags(1 << 8)))
    thread.start()
    thread.join()
    assert seen == [0] and modes.flags() == modes.NO_GRAD


# -- warnings of NumPy ---------------------------------------------------------------------------------------------------------

NOISY = {
    "log of 0": lambda x: x.log(),
    "1 / 0": lambda x: 1 / x,
    "0 / 0": lambda x: x / x,
    "sqrt of negatives": lambda x: (x - 1).sqrt(),
    "overflow": lambda x: (x + 1e300) * 1e300,
    "overflow in a cast": lambda x: (x + 1e300).float(),
}


@pytest.mark.parametrize("case", NOISY)
def test_operations_and_their_gradients_warn_of_nothing(case):
    x = wengert.zeros(2, dtype=wengert.float64, requires_grad=True)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        y = NOISY[case](x)
        y.sum().backward()
        wengert.autograd.grad(NOISY[case](x).sum(), x, create_graph=True)


def test_numpy_warns_again_afterwards():
    wengert.zeros(2).log()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(2))


def test_user_code_in_the_middle_of_a_pass_hears_numpys_warnings():
    def compute():
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(2))
        heard.append(True)

    class Custom(Function):
        @staticmethod
        def forward(ctx, x):
            compute()
            return x * 1

        @staticmethod
        def backward(ctx, g):
            compute()
            return g

    heard = []
    x = wengert.ones(2, requires_grad=True)
    y = Custom.apply(x * 2) * 3
    y.register_hook(lambda g: compute())
    x.register_hook(lambda g: compute())
    x.register_post_accumulate_grad_hook(lambda p: compute())
    y.sum().backward()
    assert len(heard) == 5


def test_an_error_inside_an_operation_ends_the_quiet():
    with pytest.raises(RuntimeError):
        wengert.ones(2) + wengert.ones(3)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(2))


def test_quiet_pairs_nest():
    modes.quiet_enter()
    modes.quiet_enter()
    modes.quiet_exit()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.log(np.zeros(2))
    modes.quiet_exit()
    with pytest.warns(RuntimeWarning):
        np.log(np.zeros(2))


def test_quiet_is_each_threads_own():
    heard = []

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                np.log(np.zeros(2))
            except RuntimeWarning:
                heard.append(True)

    modes.quiet_enter()
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        modes.quiet_exit()
    assert heard == [True]


def test_context_variables_set_in_hooks_are_kept():
    import contextvars

    variable = contextvars.ContextVar("variable", default="unset")
    x = wengert.ones(2, requires_grad=True)
    y = (x * 2).exp()
    y.register_hook(lambda g: variable.set("set in the hook") and None)
    y.sum().backward()
    assert variable.get() == "set in the hook"

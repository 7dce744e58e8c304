"""no_grad, enable_grad, set_grad_enabled and inference_mode: as contexts, decorators and calls; threads; exceptions."""

import functools
import threading

import pytest

import wengert
from snapshots import modes
from wengert import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def recording():
    before = is_grad_enabled()
    yield
    set_grad_enabled(before)


# -- contexts --------------------------------------------------------------------------------------------------------------


def test_recording_is_on_at_first():
    assert is_grad_enabled() and not is_inference_mode_enabled()


def test_no_grad_records_nothing():
    x = leaf(1.0, 2.0)
    with no_grad():
        assert not is_grad_enabled()
        y = x * 2
    assert is_grad_enabled()
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf
    assert (x * y).requires_grad


def test_leaves_made_under_no_grad_may_require_grad():
    with no_grad():
        x = leaf(1.0)
        z = wengert.zeros(2, requires_grad=True)
    assert x.requires_grad and z.requires_grad
    (x * 3).backward()
    assert x.grad.item() == 3.0


def test_enable_grad_inside_no_grad():
    x = leaf(3.0)
    with no_grad():
        with enable_grad():
            y = x * x
        z = x * x
    assert y.requires_grad and not z.requires_grad
    y.backward()
    assert x.grad.item() == 6.0


@pytest.mark.parametrize("mode", [True, False])
def test_set_grad_enabled_as_a_context(mode):
    x = leaf(3.0)
    with set_grad_enabled(mode):
        assert is_grad_enabled() is mode
        assert (x * 2).requires_grad is mode
    assert is_grad_enabled()


def test_set_grad_enabled_as_a_call():
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    assert is_grad_enabled()


def test_set_grad_enabled_kept_and_entered_later():
    guard = set_grad_enabled(False)
    with guard:
        assert not is_grad_enabled()
    assert is_grad_enabled()  # as it was before the call


def test_contexts_nest():
    seen = []
    with no_grad():
        with enable_grad():
            with no_grad():
                seen.append(is_grad_enabled())
            seen.append(is_grad_enabled())
            with set_grad_enabled(False):
                seen.append(is_grad_enabled())
            seen.append(is_grad_enabled())
        seen.append(is_grad_enabled())
    seen.append(is_grad_enabled())
    assert seen == [False, True, False, True, False, True]


@pytest.mark.parametrize("context", [no_grad, enable_grad, inference_mode, lambda: set_grad_enabled(False)])
def test_an_exception_restores_the_mode(context):
    before = modes()
    with pytest.raises(KeyError), context():
        raise KeyError
    assert modes() == before


def test_one_object_may_be_entered_again_inside_itself():
    guard = no_grad()
    with guard:
        with enable_grad(), guard:
            assert not is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_one_object_may_be_used_again():
    guard = no_grad()
    for _ in range(3):
        with guard:
            assert not is_grad_enabled()
        assert is_grad_enabled()


def test_writes_under_no_grad_count():
    x = leaf(1.0, 2.0)
    version = x._version
    with no_grad():
        x.add_(1)
    assert x._version == version + 1 and x.is_leaf and x.requires_grad and x.tolist() == [2.0, 3.0]


# -- decorators ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decorator", [no_grad(), no_grad, inference_mode, inference_mode(), set_grad_enabled(True)])
def test_decorated_function(decorator):
    set_grad_enabled(True)

    @decorator
    def double(x, *, times=2):
        """Doubles."""
        seen.append(is_grad_enabled())
        return x * times

    seen = []
    expected = isinstance(decorator, set_grad_enabled)
    assert is_grad_enabled()
    y = double(leaf(3.0), times=4)
    assert y.requires_grad is expected and y.item() == 12.0 and seen == [expected] and is_grad_enabled()
    assert double.__name__ == "double" and double.__doc__ == "Doubles."


@pytest.mark.parametrize("decorator", [enable_grad(), enable_grad])
def test_decorated_with_enable_grad(decorator):
    @decorator
    def double(x):
        return x * 2

    with no_grad():
        assert double(leaf(3.0)).requires_grad and not is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_acts_in_the_calls_only():
    @set_grad_enabled(False)
    def double(x):
        return x * 2

    assert is_grad_enabled()
    assert not double(leaf(3.0)).requires_grad
    assert is_grad_enabled()


def test_a_decorated_function_that_raises():
    @no_grad()
    def fail():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert is_grad_enabled()


def test_a_decorated_recursive_function():
    @no_grad()
    def depth(n):
        assert not is_grad_enabled()
        return 0 if n == 0 else 1 + depth(n - 1)

    assert depth(50) == 50 and is_grad_enabled()


def test_a_decorated_method():
    class Model:
        @no_grad()
        def forward(self, x):
            return x * 2

        @staticmethod
        @no_grad
        def static(x):
            return x * 2

    assert not Model().forward(leaf(1.0)).requires_grad and not Model.static(leaf(1.0)).requires_grad


def test_a_decorated_partial_object():
    double = no_grad()(functools.partial(lambda times, x: x * times, 2))
    assert not double(leaf(1.0)).requires_grad


def test_the_mode_at_the_call_decides_not_the_mode_at_the_definition():
    with no_grad():

        @enable_grad()
        def double(x):
            return x * 2

    assert double(leaf(1.0)).requires_grad
    with no_grad():
        assert double(leaf(1.0)).requires_grad


# -- generators and coroutines -----------------------------------------------------------------------------------------------


def test_a_generator_has_the_mode_while_it_runs_only():
    @no_grad()
    def work():
        for _ in range(3):
            inside.append(is_grad_enabled())
            yield 1
        inside.append(is_grad_enabled())
        return "done"

    inside, outside = [], []
    for _ in work():
        outside.append(is_grad_enabled())
    assert inside == [False] * 4 and outside == [True] * 3


def test_a_generator_gets_sent_values_and_returns():
    @enable_grad()
    def work():
        got = yield 1
        while got != "stop":
            got = yield (got, is_grad_enabled())
        return "returned"

    with no_grad():
        generator = work()
        assert next(generator) == 1
        assert generator.send("a") == ("a", True)
        assert not is_grad_enabled()
        with pytest.raises(StopIteration) as stop:
            generator.send("stop")
        assert stop.value.value == "returned" and not is_grad_enabled()


def test_a_generator_gets_exceptions_that_are_thrown_in():
    @no_grad()
    def work():
        try:
            yield 1
        except KeyError:
            caught.append(is_grad_enabled())
            yield 2

    caught = []
    generator = work()
    next(generator)
    assert generator.throw(KeyError()) == 2 and caught == [False] and is_grad_enabled()
    with pytest.raises(ValueError, match="unknown"):
        generator.throw(ValueError("unknown"))
    assert is_grad_enabled()


def test_a_generator_closed_early_cleans_up_in_its_mode():
    @no_grad()
    def work():
        try:
            yield 1
        finally:
            cleaned.append(is_grad_enabled())

    cleaned = []
    generator = work()
    next(generator)
    generator.close()
    assert cleaned == [False] and is_grad_enabled()


def test_a_generator_that_changes_the_mode_itself():
    @no_grad()
    def work():
        with enable_grad():
            inside.append(is_grad_enabled())
            yield
            inside.append(is_grad_enabled())

    inside = []
    for _ in work():
        assert is_grad_enabled()
    assert inside[0] is True and is_grad_enabled()


def test_generators_interleave():
    @no_grad()
    def quiet():
        for _ in range(3):
            seen.append(("quiet", is_grad_enabled()))
            yield

    @enable_grad()
    def loud():
        for _ in range(3):
            seen.append(("loud", is_grad_enabled()))
            yield

    seen = []
    for _ in zip(quiet(), loud(), strict=True):
        assert is_grad_enabled()
    assert seen == [("quiet", False), ("loud", True)] * 3


# -- inference mode ----------------------------------------------------------------------------------------------------------


def test_inference_mode_makes_inference_tensors():
    x = leaf(1.0, 2.0)
    with inference_mode():
        assert is_inference_mode_enabled() and not is_grad_enabled()
        y = x * 2
        z = wengert.ones(2)
    assert not is_inference_mode_enabled() and is_grad_enabled()
    assert y.is_inference() and z.is_inference() and not x.is_inference()
    assert not y.requires_grad and y.is_leaf and y.grad_fn is None


def test_inference_mode_false_is_ordinary_mode():
    with inference_mode():
        with inference_mode(False):
            assert not is_inference_mode_enabled()
            y = wengert.ones(2)
        assert is_inference_mode_enabled()
    assert not y.is_inference()
    with inference_mode(mode=False):
        assert is_grad_enabled()


def test_an_inference_tensor_has_no_version():
    with inference_mode():
        y = wengert.ones(2)
        y.add_(1)
    with pytest.raises(RuntimeError, match=r"^Inference tensors do not track version counter\."):
        _ = y._version


def test_an_inference_tensor_must_not_be_written_outside():
    with inference_mode():
        y = wengert.ones(2)
    with pytest.raises(RuntimeError, match=r"^Inplace update to inference tensor outside InferenceMode is not allowed"):
        y.add_(1)
    assert y.tolist() == [1.0, 1.0]
    with inference_mode():
        y.add_(1)
    assert y.tolist() == [2.0, 2.0]


def test_an_inference_tensor_cannot_be_saved():
    x = leaf(1.0, 2.0)
    with inference_mode():
        y = wengert.ones(2, dtype=wengert.float64)
    with pytest.raises(RuntimeError, match=r"^Inference tensors cannot be saved for backward"):
        x * y
    (x + y).sum().backward()  # nothing is saved
    assert x.grad.tolist() == [1.0, 1.0]
    x.grad = None
    (x * y.clone()).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_an_inference_tensor_cannot_require_grad_outside():
    with inference_mode():
        y = wengert.ones(2)
    with pytest.raises(RuntimeError, match=r"^Setting requires_grad=True on inference tensor outside InferenceMode"):
        y.requires_grad_()
    assert not y.requires_grad


def test_ordinary_tensors_may_be_written_in_inference_mode():
    x = wengert.ones(2)
    version = x._version
    with inference_mode():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0] and x._version == version + 1 and not x.is_inference()


def test_a_view_made_in_inference_mode_of_an_ordinary_tensor():
    x = wengert.ones(4)
    with inference_mode():
        view = x.view(2, 2)
    assert not view.is_inference()
    with pytest.raises(RuntimeError, match=r"^A view was created in inference mode and is being modified inplace"):
        view.mul_(wengert.ones(2, 2, requires_grad=True))


def test_enable_grad_inside_inference_mode_records_nothing_of_inference_tensors():
    with inference_mode(), enable_grad():
        assert is_inference_mode_enabled()


# -- threads ---------------------------------------------------------------------------------------------------------------


def test_a_new_thread_records():
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(modes()))
        thread.start()
        thread.join()
        assert not is_grad_enabled()
    assert seen == [(True, False)]


def test_a_threads_mode_is_its_own():
    entered, leave = threading.Event(), threading.Event()
    seen = []

    def work():
        with no_grad():
            entered.set()
            leave.wait(10)
            seen.append(is_grad_enabled())
        seen.append(is_grad_enabled())

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(10)
    assert is_grad_enabled() and (leaf(1.0) * 2).requires_grad
    leave.set()
    thread.join()
    assert seen == [False, True] and is_grad_enabled()


def test_one_decorated_function_in_many_threads():
    @no_grad()
    def inside():
        barrier.wait(10)
        return is_grad_enabled()

    barrier = threading.Barrier(4)
    found = []

    def work():
        for _ in range(20):
            found.append((inside(), is_grad_enabled()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {(False, True)} and len(found) == 80


# -- names -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode"])
def test_the_modes_are_reachable_by_every_name(name):
    from wengert.autograd import grad_mode

    assert getattr(wengert, name) is getattr(wengert.autograd, name) is getattr(grad_mode, name)


def test_set_grad_enabled_prints_its_mode():
    assert repr(set_grad_enabled(True)) == "torch.autograd.grad_mode.set_grad_enabled(mode=True)"


# -- modes that change nothing -----------------------------------------------------------------------------------------------


def test_multithreading_is_noted():
    from wengert.autograd import is_multithreading_enabled, set_multithreading_enabled

    assert is_multithreading_enabled()
    with set_multithreading_enabled(False):
        assert not is_multithreading_enabled()
        with set_multithreading_enabled(True):
            assert is_multithreading_enabled()
        assert not is_multithreading_enabled()
    assert set_multithreading_enabled(False)(is_multithreading_enabled)() is False
    assert is_multithreading_enabled()
    try:
        set_multithreading_enabled(False)
        assert not is_multithreading_enabled()
    finally:
        set_multithreading_enabled(True)


def test_the_layout_policy_leaves_modes_alone():
    with wengert.no_grad(), wengert.autograd.enforce_grad_layout_policy():
        assert not wengert.is_grad_enabled()
    assert wengert.autograd.enforce_grad_layout_policy(False)(wengert.is_grad_enabled)() is True

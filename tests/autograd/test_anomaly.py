"""Anomaly detection: what it finds, what it says, and that it leaves nothing behind. Planted faults are found at their line."""

import gc
import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest

import wengert as torch
from lines import line_of
from wengert import errors
from wengert.autograd import detect_anomaly, set_detect_anomaly
from wengert.core import modes, node as nodes

ENABLED = "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."


@pytest.fixture(autouse=True)
def _off_at_the_end():
    yield
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    assert not nodes.keeps_stacks() and modes.observed() == 0


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def failure(run, **settings):
    """The error that run() raises under detect_anomaly, and the texts of the warnings, without the one about the mode."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError) as info, detect_anomaly(**settings):
            run()
    texts = [str(w.message) for w in caught]
    assert texts[0] == ENABLED and caught[0].filename == __file__
    return info.value, texts[1:]


def finds_nothing(run, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Anomaly Detection")
        with detect_anomaly(**settings):
            run()


class NanBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, ct):
        return ct, ct * float("nan")


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, ct):
        raise ValueError("boom")


# -- backward passes -------------------------------------------------------------------------------------------------------


def test_nan_from_0_over_0_is_found_at_its_line():
    x = leaf(0.0, 1.0)

    def run():
        (x / x).sum().backward()  # 0/0

    error, texts = failure(run)
    where = line_of(__file__, "0/0") + ", in run"
    assert str(error) == f"Function 'DivBackward0' returned nan values in its 1th output. Its forward was called at {where}."
    assert isinstance(error, errors.AnomalyError)
    (text,) = texts
    assert text.startswith("Error detected in DivBackward0. Traceback of forward call that caused the error:\n  File ")
    assert text.endswith(f'line {where.split(":")[1].split(",")[0]}, in run\n    (x / x).sum().backward()  # 0/0\n')
    assert "wengert/core" not in text and "wengert/autograd" not in text


def test_the_error_has_statistics_and_the_chain_to_the_loss():
    x = leaf(0.0, 4.0)

    def run():
        y = torch.sqrt(x)  # root
        z = y * torch.tensor([0.0, 2.0])  # product
        z.sum().backward()

    error, _ = failure(run)
    notes = error.__notes__
    assert notes[0] == "gradient of its output 0: float32 [2], from 0 to 2, mean 1, 1 zero"
    assert "_saved_result: float32 [2], from 0 to 2, mean 1, 1 zero" in notes
    chain = notes[-1].splitlines()
    assert chain[0] == "from there to the loss:"
    assert chain[1] == f"  SqrtBackward0 ({line_of(__file__, 'root')}, in run)"
    assert chain[2] == f"  MulBackward0 ({line_of(__file__, 'product')}, in run)" and chain[3].startswith("  SumBackward0 (")


def test_a_long_chain_is_shortened():
    x = leaf(0.0)

    def run():
        y = x / x
        for _ in range(50):
            y = y + 1
        y.backward()

    error, _ = failure(run)
    chain = error.__notes__[-1].splitlines()
    assert len(chain) == 14 and chain[7] == "  ... 39 more ..."


def test_without_information_of_the_forward_the_line_is_still_named():
    y = (leaf(0.0) / torch.zeros(1) * 0).sum()
    x = leaf(0.0)
    y = x / x  # outside
    _, texts = failure(lambda: y.backward())
    assert texts[0].startswith(
        "Error detected in DivBackward0. No forward pass information available. Enable detect anomaly during forward pass for "
        f"more information. The forward was called at {line_of(__file__, 'outside')}"
    )


def test_infinite_values_are_found_where_asked_for():
    x = leaf(0.0, 1.0)

    def run():
        torch.log(x).sum().backward()  # 1/0

    finds_nothing(run)
    error, _ = failure(run, inf=True)
    assert str(error).startswith("Function 'LogBackward0' returned inf values in its 0th output.")
    assert line_of(__file__, "1/0") in str(error)


def test_nan_is_not_looked_for_where_that_is_switched_off():
    x = leaf(0.0)
    finds_nothing(lambda: (x / x).backward(), check_nan=False)
    assert np.isnan(x.grad.numpy()).all()


def test_finite_gradients_pass_anomaly_detection():
    x = leaf(1.0, 2.0)
    finds_nothing(lambda: (x[0] * x.exp()).sum().backward(), inf=True, check="forward+backward")
    np.testing.assert_allclose(x.grad.numpy(), [np.e * 2 + np.exp(2), np.exp(2)], rtol=1e-6)


def test_results_of_a_custom_function():
    x, y = leaf(1.0), leaf(1.0)
    error, texts = failure(lambda: NanBackward.apply(x, y).backward())
    assert str(error).startswith("Function 'NanBackwardBackward' returned nan values in its 1th output.")
    assert texts[0].startswith("Error detected in NanBackwardBackward. Traceback")


def test_anomalies_in_results_of_hooks_are_found():
    x = leaf(1.0)
    bad = float("nan")

    def with_tensor_hook():
        y = x * 2
        y.register_hook(lambda ct: ct * bad)
        y.backward()

    def with_node_hook():
        y = x * 2
        y.grad_fn.register_hook(lambda cts, _: tuple(None if ct is None else ct * bad for ct in cts))
        y.backward()

    for run in (with_tensor_hook, with_node_hook, lambda: (x * 2).backward(torch.tensor([bad]))):
        error, _ = failure(run)
        assert str(error).startswith("Function 'MulBackward0' returned nan values in its 0th output.")


def test_any_error_shows_the_stack_of_the_forward():
    x = leaf(1.0)

    def run():
        y = Failing.apply(x)  # fails
        y.backward()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="boom"), detect_anomaly():
            run()
    text = str(caught[1].message)
    assert text.startswith("Error detected in FailingBackward. Traceback of forward call") and "y = Failing.apply(x)" in text
    assert text.count("File ") >= 2, "the whole stack"


def test_a_write_over_a_saved_value():
    x = leaf(1.0)

    def run():
        y = x.exp()  # saved
        y.add_(1)  # overwritten
        y.backward()

    error, texts = failure(run)
    assert isinstance(error, errors.VersionError)
    assert "Hint: the backtrace further above shows the operation that failed to compute its gradient." in str(error)
    assert line_of(__file__, "saved") in str(error) and line_of(__file__, "overwritten") in str(error)
    assert "y = x.exp()" in texts[0]


def test_a_node_that_a_pass_made_names_the_node_that_made_it():
    x = leaf(0.0, 0.0)

    def run():
        y = (x**1.5).sum()  # induced by
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (g * 0.0).sum().backward()

    error, texts = failure(run)
    assert str(error).startswith("Function 'PowBackward0' returned nan values in its 0th output.")
    assert texts[0].startswith("Error detected in PowBackward0.") and "create_graph=True" in texts[0]
    assert texts[1].startswith(
        "\n\nPrevious calculation was induced by PowBackward0. Traceback of forward call that induced the previous calculation:\n"
    )
    assert "# induced by" in texts[1]


def test_the_stack_is_in_the_metadata():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with detect_anomaly():
            y = leaf(1.0) * 2  # kept
    lines = y.grad_fn.metadata["traceback_"]
    assert lines[-1].endswith("y = leaf(1.0) * 2  # kept\n") and len(lines) == len(list(lines))
    assert "traceback_" not in (leaf(1.0) * 2).grad_fn.metadata


# -- forward passes --------------------------------------------------------------------------------------------------------


def test_the_first_operation_is_named_with_its_inputs_and_the_chain():
    x = leaf(-1.0, 4.0)

    def run():
        y = torch.sqrt(x)  # first
        z = torch.where(y > 0, y * 2, torch.zeros(2))  # masks it
        z.sum().backward()

    error, _ = failure(run, check="forward+backward")
    assert str(error) == f"Operation 'sqrt' at {line_of(__file__, 'first')}, in run returned nan values. It is the first that did."
    assert error.__notes__[0] == "input 0: float32 [2], from -1 to 4, mean 1.5"
    chain = error.__notes__[1].splitlines()
    assert chain[1].startswith("  SqrtBackward0 (") and chain[2].startswith("  MulBackward0 (") and chain[-1].startswith("  SumBackward0 (")


@pytest.mark.parametrize(
    ("operation", "values", "name", "kind"),
    [
        (torch.log, (0.0, 1.0), "log", "inf"),
        (torch.exp, (1000.0, 1.0), "exp", "inf"),
        (lambda x: x / x, (0.0, 1.0), "div", "nan"),
    ],
)
def test_infinite_values_of_the_forward(operation, values, name, kind):
    x = leaf(*values)

    def run():
        y = x * 1.0
        z = operation(y)  # planted
        (z * 0).sum().backward()

    error, _ = failure(run, check="forward+backward", inf=True)
    assert str(error).startswith(f"Operation '{name}' at ") and f"returned {kind} values" in str(error)
    if name == "div":
        assert "in <lambda>" in str(error)
    else:
        assert line_of(__file__, "planted") in str(error)


def test_the_earliest_anomaly_that_leads_to_the_loss_is_reported():
    x = leaf(0.0)

    def run():
        unused = x / x
        y = x * 0 / x  # used
        (y + torch.sqrt(x - 1)).backward()
        return unused

    error, _ = failure(run, check="forward+backward")
    assert line_of(__file__, "used") in str(error)


def test_anomalies_that_no_pass_reports_are_reported_at_the_end_of_the_block():
    def run():
        torch.sqrt(torch.tensor([-1.0]))  # unrecorded

    error, _ = failure(run, check="forward+backward")
    assert line_of(__file__, "unrecorded") in str(error) and error.__notes__ == ["input 0: float32 [1], from -1 to -1, mean -1"]


def test_values_that_come_from_outside():
    x = leaf(float("nan"), 1.0)

    def run():
        (x * 2).sum().backward()  # got it

    error, _ = failure(run, check="forward+backward")
    assert f"Operation 'mul' at {line_of(__file__, 'got it')}" in str(error)
    assert "was given values that are not finite" in str(error) and "1 nan" in error.__notes__[0]


def test_a_write_in_place_is_looked_at():
    def run():
        torch.tensor([-1.0]).sqrt_()

    error, _ = failure(run, check="forward+backward")
    assert str(error).startswith("Operation 'sqrt_' at ")


def test_nothing_is_remembered_from_block_to_block():
    failure(lambda: torch.sqrt(torch.tensor([-1.0])), check="forward+backward")
    x = leaf(1.0)
    finds_nothing(lambda: (x * 2).backward(), check="forward+backward")


def test_an_error_of_the_users_own_is_not_replaced():
    def run():
        torch.sqrt(torch.tensor([-1.0]))
        raise RuntimeError("mine")

    error, _ = failure(run, check="forward+backward")
    assert str(error) == "mine"


# -- the switch ------------------------------------------------------------------------------------------------------------


def test_blocks_nest_and_restore():
    def state():
        return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with detect_anomaly():
            assert state() == (True, True)
            with detect_anomaly(check_nan=False):
                assert state() == (True, False)
            with set_detect_anomaly(False):
                assert state() == (False, True)
            assert state() == (True, True)


def test_set_detect_anomaly_as_a_call():
    set_detect_anomaly(True, check_nan=False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


def test_anomaly_mode_holds_for_all_threads():
    seen = []
    with set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append("traceback_" in (leaf(1.0) * 2).grad_fn.metadata))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: set_detect_anomaly("yes"), "argument 'enabled' (position 1) must be bool, not str"),
        (lambda: set_detect_anomaly(True, 1), "argument 'check_nan' (position 2) must be bool, not int"),
        (lambda: detect_anomaly(check_nan="yes").__enter__(), "argument 'check_nan' (position 2) must be bool, not str"),
        (lambda: detect_anomaly(check="forward"), "takes one of ['backward', 'forward+backward'], but got 'forward'"),
    ],
)
def test_wrong_settings(use, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((TypeError, ValueError)) as info:
            use()
    assert text in str(info.value)


# -- no mode needed --------------------------------------------------------------------------------------------------------


def fail_in_tensor_hook(x):
    y = x.exp()  # line of the tensor hook
    y.register_hook(lambda ct: 1 // 0)
    return y


def fail_in_node_hook(x):
    y = x.exp()  # line of the node hook
    y.grad_fn.register_hook(lambda cts, _: 1 // 0)
    return y


def fail_in_prehook(x):
    y = x.exp()  # line of the prehook
    y.grad_fn.register_prehook(lambda cts: 1 // 0)
    return y


def fail_in_function(x):
    return Failing.apply(x)  # line of the function


def fail_by_write(x):
    y = x.exp()  # line of the write
    y.detach().add_(1)
    return y


@pytest.mark.parametrize("make", [fail_in_tensor_hook, fail_in_node_hook, fail_in_prehook, fail_in_function, fail_by_write])
def test_every_error_of_a_backward_pass_names_the_forward_line(make):
    y = make(leaf(1.0))
    with pytest.raises(Exception) as info:
        y.sum().backward()
    mark = "line of the " + make.__name__.removeprefix("fail_in_").removeprefix("fail_by_").replace("_", " ")
    where = f"{line_of(__file__, mark)}, in {make.__name__}"
    if isinstance(info.value, errors.VersionError):
        assert f"It was saved by ExpBackward0 at {where}." in str(info.value)
    else:
        assert info.value.__notes__ == [f"in the backward pass of {y.grad_fn.name()}, recorded at {where}"]


# -- what it leaves behind -------------------------------------------------------------------------------------------------


def divided():
    x = leaf(0.0, 1.0)
    with detect_anomaly():
        (x / x).sum().backward()


def found_by_a_pass():
    x = leaf(0.0, 1.0)
    with detect_anomaly(check="forward+backward", inf=True):
        x.log().sum().backward()


def found_at_the_end():
    with detect_anomaly(check="forward+backward"):
        leaf(-1.0).sqrt()


def failing_function():
    with detect_anomaly():
        Failing.apply(leaf(1.0)).sum().backward()


def finite():
    with detect_anomaly(check="forward+backward"):
        leaf(1.0, 2.0).exp().sum().backward()


@pytest.mark.parametrize("run", [divided, found_by_a_pass, found_at_the_end, failing_function, finite], ids=lambda run: run.__name__)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_is_left_for_the_garbage_collector(run):
    def attempt():
        with suppress(RuntimeError, ValueError):
            run()

    for _ in range(5):  # what is made once: caches, classes of nodes
        attempt()
    gc.disable()  # all that is made from here on stays in the youngest generation
    try:
        before = len(gc.get_objects(generation=0))
        for _ in range(100):
            attempt()
        assert len(gc.get_objects(generation=0)) - before < 20  # less than one object in five runs
    finally:
        gc.enable()

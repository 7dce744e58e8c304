"""What would lose a gradient is refused, with the name of the function; wrong arguments get NumPy's errors."""

import math
import warnings

import numpy
import pytest

import wengert
import wengert.numpy as np
from loops import each

LOST = [
    "np.histogram(x)", "np.save('nowhere.npy', x)", "np.vectorize(float)(x)", "x.tobytes()", "numpy.asarray(x)", "numpy.array([x, x])",
    "x.data", "memoryview(x)", "np.random.default_rng(0).normal(x)", "np.random.normal(x)", "np.from_dlpack(x)", "np.frompyfunc(float, 1, 1)(x)",
    "numpy.fromiter(x, float)", "x.byteswap()", "x.dump('nowhere')", "np.ma.array(x)", "numpy.zeros(3).__iadd__(x)", "np.add(x, x, out=numpy.zeros(3))",
    "np.copyto(numpy.zeros(3), x)", "np.sum(x, out=numpy.zeros(()))", "numpy.zeros(3).__setitem__(0, x[0])", "np.add.at(numpy.zeros(3), [0], x[0])",
    "np.put(numpy.zeros(3), [0], x[0])", "np.block([numpy.zeros(3).astype(object), x])",
]  # fmt: skip


@each("source", LOST)
def test_a_lost_gradient_is_refused(source):
    x = np.array([1.0, 2.0, 3.0]).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((RuntimeError, TypeError, ValueError, BufferError, UserWarning)):
            eval(source, {"np": np, "numpy": numpy, "x": x})


def test_the_error_names_the_function():
    x = np.array([1.0, 2.0]).requires_grad_()
    with pytest.raises(RuntimeError, match=r"numpy\.histogram has no derivative"):
        np.histogram(x)
    with pytest.raises(RuntimeError, match=r"numpy\.random\.normal has no derivative in its parameters"):
        np.random.default_rng(0).normal(x)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 1.0
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x += 1.0


def test_python_numbers_warn():
    x = np.array(0.5).requires_grad_()
    for convert in (float, math.sin, complex):
        with pytest.warns(UserWarning, match="requires_grad=True to a scalar"):
            convert(x)


WRONG = [
    "x.reshape(5)", "x.sum(axis=2)", "np.concatenate([x, np.zeros((2, 2))])", "x @ np.zeros(4)", "x + np.zeros(4)", "np.stack([x, x[:1]])",
    "x.transpose(0, 1)", "np.swapaxes(x, 0, 2)", "np.linalg.inv(x)", "np.expand_dims(x, 4)", "np.sin(x, x, x)", "np.sum(x, axes=1)",
    "np.broadcast_to(x, (2, 2))", "x.squeeze(0)", "np.split(x, 2)", "np.linalg.cholesky(-np.eye(2) * x[0])",
]  # fmt: skip


@each("source", WRONG)
def test_wrong_arguments_are_refused_in_the_words_of_numpy(source):
    with pytest.raises((ValueError, TypeError, IndexError, numpy.linalg.LinAlgError)) as expected:
        eval(source, {"np": numpy, "x": numpy.array([1.0, 2.0, 3.0])})
    for requires_grad in (False, True):
        x = np.array([1.0, 2.0, 3.0]).requires_grad_(requires_grad)
        with pytest.raises(expected.type):
            eval(source, {"np": np, "x": x})


def test_what_has_no_gradient_is_refused_as_by_tensors():
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        np.array([1, 2]).requires_grad_()
    with pytest.raises(RuntimeError, match="does not require grad"):
        np.ones(3).sum().backward()
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        np.ones(3).requires_grad_().backward()


def test_an_array_with_a_history_deep_in_a_list_of_numbers_is_not_lost():
    x = np.array([1.0, 2.0]).requires_grad_()
    np.array([*range(50), x[0], *range(50), 3 * x[1]]).sum().backward()
    assert x.grad.tolist() == [1.0, 3.0]


def test_ragged_nesting():
    x = np.array([1.0, 2.0]).requires_grad_()
    with pytest.raises(ValueError, match="inhomogeneous shape"):
        np.array([x, [1.0]])


def test_other_devices_and_versions():
    x = np.ones(2)
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="cuda"):
        x.to_device("cuda")
    with pytest.raises(ValueError, match="cuda"):
        np.asarray([1.0], device="cuda")
    assert x.__array_namespace__(api_version="2024.12") is np
    with pytest.raises(ValueError, match="2024.12"):
        x.__array_namespace__(api_version="1999.01")


def test_a_leaf_that_requires_grad_keeps_its_shape():
    x = np.ones(4).requires_grad_()
    with pytest.raises(RuntimeError, match="keeps its shape"):
        x.shape = (2, 2)
    with pytest.raises(RuntimeError):
        x.resize(2)


def test_a_write_that_a_derivative_needs_is_caught():
    x = np.ones(2).requires_grad_()
    y = x * 1
    z = (y * y).sum()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    buffer = np.ones(2)
    z = (x * buffer).sum()
    np.sin(buffer, out=buffer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_foreign_operands_take_over():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "other"

    x = np.ones(2)
    assert x + Other() == "other"
    with pytest.raises(TypeError, match="unsupported operand"):
        x + object()
    with pytest.raises(TypeError):
        x += object()
    assert wengert.asarray(x + numpy.float64(1)).tolist() == [2.0, 2.0]


ASKING = {"info", "show_config", "show_runtime", "test"}  # they print


@pytest.mark.parametrize("name", sorted(name for name in dir(numpy) if callable(getattr(numpy, name)) and name not in ASKING))
@pytest.mark.filterwarnings("ignore")
def test_a_write_into_a_view_reaches_the_array_with_its_history(name):
    """Of every public function, in each way that it can be called: its result is a copy, a view with history, or read-only."""
    function = getattr(np, name, None)
    if function is None or isinstance(function, type):
        return
    weight = np.asarray([2.0])
    wengert.asarray(weight).requires_grad_()
    for others in ((), (0,), ((2, 3),), (1,), (0, 1), ("k",)):
        base = np.ones((2, 2, 3))
        try:
            result = function(base, *others)
        except Exception:
            continue
        for view in result if isinstance(result, (tuple, list)) else [result]:
            if not isinstance(view, np.ndarray) or view is base:
                continue
            before = numpy.array(wengert.asarray(base).detach().numpy())
            try:
                view[...] = weight[0] * 3
            except (ValueError, RuntimeError, TypeError):
                continue
            if not numpy.array_equal(wengert.asarray(base).detach().numpy(), before):
                assert wengert.asarray(base.sum()).requires_grad, others
            break

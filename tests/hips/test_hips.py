"""wengert.hips beside HIPS: one tape with tensors, traces, rules that are missing, programs of the command line."""

import subprocess
import sys
import warnings

import numpy as onp
import pytest

import wengert
import wengert.hips.numpy as np
from wengert.hips import checkpoint, elementwise_grad, grad, hessian, jacobian, make_jvp, make_vjp, multigrad_dict
from wengert.hips.core import VSpace, vspace
from wengert.hips.extend import Box, defjvp, defvjp, primitive
from wengert.hips.misc import const_graph, flatten
from wengert.hips.numpy.numpy_boxes import ArrayBox
from wengert.hips.test_util import check_grads
from wengert.hips.tracer import Node, getval, isbox, trace

V = onp.array([0.7, -0.4, 1.1])


# -- one tape --------------------------------------------------------------------------------------------------------------------


def test_boxes_are_tensors_that_functions_of_wengert_take():
    def f(x):
        assert isinstance(x, wengert.Tensor) and isbox(x)
        return np.sum(wengert.nn.functional.softmax(x * 2, dim=0) * np.exp(x))

    share = onp.exp(2 * V) / onp.exp(2 * V).sum()
    expected = share * onp.exp(V) + 2 * share * (onp.exp(V) - (share * onp.exp(V)).sum())
    onp.testing.assert_allclose(grad(f)(V), expected)


def test_tensors_are_boxed_by_functions_of_hips_numpy():
    w = wengert.tensor([1.0, 2.0, 3.0], dtype=wengert.float64, requires_grad=True)
    y = np.sum(np.sin(w) * V)
    assert isinstance(y, ArrayBox)
    assert type(w) is wengert.Tensor
    y.backward()
    onp.testing.assert_allclose(w.grad.numpy(), onp.cos([1.0, 2.0, 3.0]) * V)


def test_a_tensor_as_argument_keeps_its_history():
    w = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    slope = grad(lambda x: x**3)(w)
    slope.backward()
    assert slope.item() == 12.0
    assert w.grad.item() == 12.0


def test_a_tensor_in_the_closure_reaches_its_gradient_through_hips_gradients():
    w = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    slope = grad(lambda x: w * x**3)(wengert.tensor(3.0, dtype=wengert.float64))
    slope.backward()
    assert w.grad.item() == 27.0


def test_results_for_arrays_are_arrays():
    value, found = make_vjp(lambda x: x**2)(V)[1], grad(lambda x: np.sum(x**2))(V)
    assert type(value) is onp.ndarray and type(found) is onp.ndarray
    assert type(grad(lambda x: x**2)(3.0)) is onp.float64
    assert grad(lambda x: np.sum(x**2))(V.astype(onp.float32)).dtype == onp.float32


def test_perturbations_of_nested_derivatives_do_not_mix():
    assert grad(lambda x: x * grad(lambda y: x * y)(2.0))(1.0) == 2.0
    assert grad(lambda x: x * make_jvp(lambda y: x * y)(2.0)(1.0)[1])(3.0) == 6.0
    assert make_jvp(lambda x: x * grad(lambda y: x * y)(2.0))(3.0)(1.0)[1] == 6.0


def test_a_gradient_in_a_container_of_a_box_and_a_number():
    def f(w):
        of_w, of_number = grad(lambda pair: pair[0] ** 2 * pair[1] ** 3)((w, 2.0))
        assert not isbox(grad(lambda pair: pair[0] * pair[1] ** 3)((w, 2.0))[0])  # 8, whatever w is
        return of_w * of_number  # 16 w * 12 w**2

    assert grad(f)(1.5) == pytest.approx(3 * 192 * 1.5**2)


def test_repeated_pull_backs_take_arrays_scalars_and_tensors():
    pull_back, value = make_vjp(lambda x: x**2)(3.0)
    assert value == 9.0
    for seed in (1.0, onp.float64(1.0), onp.ones(()), onp.float32(1.0), wengert.ones((), dtype=wengert.float64)):
        assert float(pull_back(seed)) == 6.0
    seed = onp.ones(3)
    pull_back, _ = make_vjp(lambda x: x * 1.0)(V)
    assert pull_back(seed) is not seed
    assert pull_back(seed).tolist() == [1.0, 1.0, 1.0]


def test_out_can_be_filled_with_boxes():
    def f(x):
        out = np.zeros_like(x)
        for i in range(len(x)):
            out[i] = np.sin(x[i]) * i
        return np.sum(out**2)

    check_grads(f)(V)


def test_arguments_are_not_written():
    given = V.copy()
    with pytest.raises(TypeError, match="does not support item assignment"):
        grad(lambda x: x.__setitem__(0, 5.0))(given)
    make_jvp(lambda x: x + 1)(given)(given)
    assert (given == V).all()


def test_numpys_own_functions_take_boxes():
    found = grad(lambda x: onp.sum(onp.sin(x) * V))(V)
    onp.testing.assert_allclose(found, onp.cos(V) * V)


def test_comparisons_are_arrays_without_history():
    def f(x):
        mask = x > 0
        assert type(mask) is onp.ndarray
        return np.sum(mask * x)

    onp.testing.assert_array_equal(grad(f)(V), V > 0)


def test_sizes_are_numbers_and_can_be_called():
    def f(x):
        assert x.size == 6 and x.size() == (2, 3) and x.size(1) == 3
        return x.sum()

    grad(f)(onp.ones((2, 3)))


# -- indices ---------------------------------------------------------------------------------------------------------------------

INDICES = [
    onp.s_[::-1], onp.s_[1:, ::-2], onp.s_[0, :, [0, 1]], onp.s_[[1, 0], :, 0], onp.s_[..., [2, 0], 1], onp.s_[onp.array([[0], [1]]), [1, 2]],
    onp.s_[:, None, -1, ::-1], onp.s_[1], onp.s_[onp.ones((2, 3), bool)],
]  # fmt: skip


def test_indices_follow_numpy():
    x = onp.arange(24.0).reshape(2, 3, 4)
    for index in INDICES:
        vjp, value = make_vjp(lambda a, index=index: a[index])(x)
        onp.testing.assert_array_equal(value, x[index])
        expected = onp.zeros_like(x)
        expected[index] += 1.0
        onp.testing.assert_array_equal(vjp(onp.ones_like(value)), expected)


# -- operators -------------------------------------------------------------------------------------------------------------------


def test_multigrad_dict_names_all_arguments():
    def f(a, b, *rest, scale=2.0, **more):
        return scale * np.sum(a * b) + rest[0] ** 2 + more["c"] ** 3

    found = multigrad_dict(f)(V, 3.0, 4.0, c=2.0)
    assert list(found) == ["a", "b", "rest", "scale", "more"]
    onp.testing.assert_allclose(found["a"], 6.0 * onp.ones(3))
    assert found["rest"] == (8.0,)
    assert found["more"] == {"c": 12.0}
    onp.testing.assert_allclose(found["scale"], V.sum() * 3.0)


def test_output_without_history_gives_zeros_and_a_warning():
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert grad(lambda x: 3.0)(2.0) == 0.0
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert make_jvp(lambda x: onp.ones(2))(2.0)(1.0)[1].tolist() == [0.0, 0.0]


def test_jacobian_refuses_containers():
    with pytest.raises(TypeError, match="jacobian applies"):
        jacobian(lambda x: (x, x))(V)


def test_jacobian_of_an_empty_output():
    assert jacobian(lambda x: x[:0])(V).shape == (0, 3)


def test_checkpoint_runs_again_and_gives_the_same():
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x) ** 2

    found = grad(lambda x: np.sum(checkpoint(f)(x)))(V)
    assert len(calls) == 2
    onp.testing.assert_allclose(found, onp.sin(2 * V))


def test_names_of_functions_say_what_they_are():
    def energy(x):
        return np.sum(x**2)

    assert grad(energy, 0).__name__ == "grad_of_energy_wrt_argnum_0"
    assert hessian(energy).__name__ == "hessian_of_energy_wrt_argnum_0"
    assert elementwise_grad.__name__ == "elementwise_grad"


# -- rules -----------------------------------------------------------------------------------------------------------------------


def test_missing_rules_are_named():
    @primitive
    def double(x):
        return 2 * x

    with pytest.raises(NotImplementedError, match=r"VJP of double wrt argnums \(0,\) not defined"):
        grad(double)(1.0)
    with pytest.raises(NotImplementedError, match=r"JVP of double wrt argnums \(0,\) not defined"):
        make_jvp(double)(1.0)(1.0)
    with pytest.raises(NotImplementedError, match=r"VJP of lexsort wrt argnums|not defined"):
        grad(lambda x: np.random.normal(x))(1.0)
    with pytest.raises(TypeError, match="Bad VJP 'no' for 'double'"):
        defvjp(double, "no")
    with pytest.raises(TypeError, match="Bad JVP 'no' for 'double'"):
        defjvp(double, "no")


def test_a_rule_for_one_argument_leaves_the_others_without():
    @primitive
    def times(x, y):
        return x * y

    defvjp(times, lambda ans, x, y: lambda g: g * x, argnums=(1,))
    assert grad(lambda y: times(3.0, y))(2.0) == 3.0
    with pytest.raises(NotImplementedError, match="VJP of times wrt argnums"):
        grad(lambda x: times(x, 2.0))(3.0)


def test_primitives_take_and_return_containers():
    @primitive
    def swap(pair):
        return {"first": pair[1] * 2.0, "second": pair[0]}

    defvjp(swap, lambda ans, pair: lambda g: [g["second"], 2.0 * g["first"]])

    def f(x):
        found = swap([x, x**2])
        return np.sum(found["first"] * found["second"])

    check_grads(f, modes=["rev"])(V)


def test_values_of_the_programs_own_classes():
    class Polynomial:
        def __init__(self, weights):
            self.weights = weights

        @primitive
        def at(self, x):
            return sum(w * x**k for k, w in self.weights.items())

    class Polynomials(VSpace):
        def __init__(self, value):
            pass

        def zeros(self):
            return Polynomial({})

        def _add(self, a, b):
            return Polynomial({k: a.weights.get(k, 0.0) + b.weights.get(k, 0.0) for k in {*a.weights, *b.weights}})

    class PolynomialBox(Box):
        at = Polynomial.at

    PolynomialBox.register(Polynomial)
    Polynomials.register(Polynomial)
    defvjp(Polynomial.at, lambda ans, p, x: lambda g: Polynomial({k: g * x**k for k in range(3)}))
    try:
        found = grad(lambda p: p.at(2.0) ** 2 + p.at(1.0))(Polynomial({0: 1.0, 2: 1.0}))
    finally:
        del Box.type_mappings[Polynomial], VSpace.mappings[Polynomial]
    assert {k: float(w) for k, w in found.weights.items()} == {0: 11.0, 1: 21.0, 2: 41.0}


def test_vspace_refuses_what_has_none():
    with pytest.raises(TypeError, match="Can't find vector space for value 3 of type <class 'int'>"):
        vspace(3)


# -- traces ----------------------------------------------------------------------------------------------------------------------


class Steps(Node):
    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.steps = [step for p in parents for step in p.steps] + [(fun.__name__, float(value))]

    def initialize_root(self):
        self.steps = []


def test_traces_call_the_programs_nodes():
    value, node = trace(Steps.new_root(), lambda x: np.sin(x + 1.0) * 2, 0.5)
    assert value == 2 * onp.sin(1.5)
    assert [name for name, _ in node.steps] == ["add", "sin", "multiply"]


def test_a_derivative_is_one_step_of_a_trace():
    def square(x):
        return x**2

    value, node = trace(Steps.new_root(), lambda x: grad(square)(x) + 1.0, 3.0)
    assert value == 7.0
    assert [name for name, _ in node.steps] == ["grad_of_square_wrt_argnum_0", "add"]


def test_const_graph_runs_the_function_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return np.sin(x * y) + y

    repeated = const_graph(f)
    assert [repeated(a, b) for a, b in [(1.0, 2.0), (0.5, 3.0)]] == [onp.sin(2.0) + 2.0, onp.sin(1.5) + 3.0]
    assert len(calls) == 1


def test_getval_gives_the_value_of_a_box():
    seen = []
    grad(lambda x: (seen.append((getval(x), x._value, isbox(x))), x**2)[1])(3.0)
    assert seen == [(3.0, 3.0, True)]


def test_flatten_keeps_the_structure():
    tree = {"b": (1.0, onp.ones((2, 2))), "a": [2.0, {}], "c": ()}
    vector, unflatten = flatten(tree)
    assert vector.tolist() == [2.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    back = unflatten(vector)
    assert back["a"] == [2.0, {}] and back["c"] == () and back["b"][1].shape == (2, 2)


def test_check_grads_finds_a_wrong_rule():
    @primitive
    def wrong(x):
        return x**2

    defvjp(wrong, lambda ans, x: lambda g: g * x)
    with pytest.raises(AssertionError, match=r"\(VJP\) check of wrong failed"):
        check_grads(wrong, modes=["rev"], order=1)(2.0)


# -- the command line --------------------------------------------------------------------------------------------------------------

PROGRAM = """
import autograd.numpy as np
from autograd import grad
import autograd.numpy.random as npr
from autograd.misc.optimizers import adam
import autograd
assert autograd.__name__ == "wengert.hips"
print(grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0])))
"""


def test_programs_run_unchanged(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "wengert", "run", "--hips", str(tmp_path / "program.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "[2. 4.]\n", found.stderr


def test_nothing_warns_in_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_grads(lambda x, y: np.sum(np.exp(x) * y), (0, 1))(V, 2.0)


def test_an_empty_container_has_an_empty_gradient():
    for empty in ([], (), {}):
        with pytest.warns(UserWarning, match="independent of input"):
            assert grad(lambda x: 1.0)(empty) == empty

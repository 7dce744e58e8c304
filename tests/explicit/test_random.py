"""Random numbers: seeds and states, ranges and moments of the distributions, errors, and what the graph sees."""

import pickle
import threading
from contextlib import suppress

import numpy as np
import pytest

import wengert as torch
from wengert.generator import default_generator

N = 20000


def values(tensor):
    return tensor.detach().numpy().tolist()


# -- the numbers of a seed ---------------------------------------------------------------------------------------------


def test_words_are_those_of_the_mersenne_twister():
    """The C++ standard (26.6.6) gives the 10,000th output of MT19937 with the seed 5489."""
    assert int(torch.Generator().manual_seed(5489).words(10000)[-1]) == 4123659995


def test_a_seed_gives_the_numbers_that_tutorials_of_torch_print():
    torch.manual_seed(0)
    assert str(torch.rand(3)) == "tensor([0.4963, 0.7682, 0.0885])"
    torch.manual_seed(0)
    assert str(torch.randn(3)) == "tensor([ 1.5410, -0.2934, -2.1788])"
    torch.manual_seed(0)
    assert torch.randperm(10).tolist() == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]
    torch.manual_seed(42)
    assert str(torch.rand(2, 2)) == "tensor([[0.8823, 0.9150],\n        [0.3829, 0.9593]])"


# -- generators --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers():
    torch.manual_seed(3)
    first = [torch.rand(2), torch.randn(3), torch.randint(9, (2,)), torch.randperm(5)]
    assert torch.initial_seed() == 3
    torch.manual_seed(3)
    again = [torch.rand(2), torch.randn(3), torch.randint(9, (2,)), torch.randperm(5)]
    assert [values(x) for x in first] == [values(x) for x in again]
    assert torch.manual_seed(3) is default_generator


def test_a_state_is_complete():
    torch.rand(3)  # float32: half a draw is left over
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8 and state.dim() == 1
    first = [values(torch.rand(3)), values(torch.randn(2, dtype=torch.float64)), values(torch.randperm(4))]
    torch.set_rng_state(state)
    assert first == [values(torch.rand(3)), values(torch.randn(2, dtype=torch.float64)), values(torch.randperm(4))]


def test_generators_are_independent_of_the_default_one():
    g = torch.Generator().manual_seed(1)
    assert (
        torch.Generator().initial_seed() == 67280421310721 and g.initial_seed() == 1 and g.device == torch.device("cpu")
    )
    state = torch.get_rng_state()
    a = torch.rand(3, generator=g)
    assert values(torch.get_rng_state()) == values(state)
    assert values(a) == values(torch.rand(3, generator=torch.Generator().manual_seed(1)))


def test_seeds_count_modulo_two_to_the_64():
    assert torch.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.Generator().manual_seed(2**64)


def test_seed_draws_a_new_one():
    g = torch.Generator()
    assert g.seed() == g.initial_seed() != torch.Generator().seed()


def test_generator_refuses_a_state_of_another_kind():
    g = torch.Generator()
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        g.set_state(torch.zeros(3))
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        g.set_state(3)
    with pytest.raises(RuntimeError, match="found the input RNG state size to be 3"):
        g.set_state(torch.zeros(3, dtype=torch.uint8))


def test_whoever_holds_the_numpy_generator_sees_a_new_seed():
    g = torch.Generator().manual_seed(1)
    numpy = g.numpy
    first = numpy.random(3).tolist()
    g.manual_seed(1)
    assert g.numpy is numpy and numpy.random(3).tolist() == first


def test_generators_can_be_pickled():
    g = torch.Generator().manual_seed(5)
    torch.rand(1, generator=g)
    h = pickle.loads(pickle.dumps(g))
    assert h.initial_seed() == 5 and values(torch.rand(4, generator=h)) == values(torch.rand(4, generator=g))


def test_something_else_is_no_generator():
    with pytest.raises(TypeError, match=r"expected a wengert.Generator as generator=, but got int"):
        torch.rand(2, generator=3)
    with pytest.raises(RuntimeError, match="Cannot get CUDA generator"):
        torch.Generator("cuda")


def test_threads_draw_different_numbers():
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(values(torch.rand(500, dtype=torch.float64)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 2000


# -- distributions -----------------------------------------------------------------------------------------------------


def moments(x):
    return x.numpy().mean(), x.numpy().std()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rand_is_even_on_zero_to_one(dtype):
    x = torch.rand(N, dtype=dtype).to(torch.float64)
    mean, std = moments(x)
    assert values(x.min()) >= 0 and values(x.max()) < 1
    assert mean == pytest.approx(0.5, abs=0.01) and std == pytest.approx(12**-0.5, abs=0.01)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_randn_is_normal(dtype):
    mean, std = moments(torch.randn(N, dtype=dtype).to(torch.float64))
    assert mean == pytest.approx(0, abs=0.03) and std == pytest.approx(1, abs=0.03)


def test_complex_numbers_have_variance_one():
    x = torch.randn(N, dtype=torch.complex64).numpy()
    assert (
        x.dtype == np.complex64
        and x.real.var() == pytest.approx(0.5, abs=0.03)
        and (abs(x) ** 2).mean() == pytest.approx(1, abs=0.03)
    )
    assert torch.rand(2, 3, dtype=torch.complex128).shape == (2, 3)


def test_randint_covers_its_range_and_no_more():
    x = torch.randint(2, 5, (1000,))
    assert x.dtype is torch.int64 and set(values(x)) == {2, 3, 4}
    assert set(values(torch.randint(2, (100,)))) == {0, 1}
    assert torch.randint(high=3, size=(2, 2), dtype=torch.float32).dtype is torch.float32
    with pytest.raises(RuntimeError, match="random_ expects 'from' to be less than 'to', but got from=3 >= to=2"):
        torch.randint(3, 2, (2,))


def test_randperm_is_a_permutation():
    assert sorted(values(torch.randperm(50))) == list(range(50))


def test_integers_have_no_even_distribution():
    with pytest.raises(RuntimeError, match="\"check_uniform_bounds\" not implemented for 'Long'"):
        torch.rand(2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="\"normal_kernel_cpu\" not implemented for 'Long'"):
        torch.ones(2, dtype=torch.int64).normal_()


def test_bernoulli():
    p = torch.tensor([0.0, 1.0, 0.3]).expand(N, 3)
    x = p.bernoulli().numpy()
    assert x[:, 0].max() == 0 and x[:, 1].min() == 1 and x[:, 2].mean() == pytest.approx(0.3, abs=0.02)
    assert torch.bernoulli(torch.zeros(N), 0.2).numpy().mean() == pytest.approx(0.2, abs=0.02)
    with pytest.raises(RuntimeError, match="Expected p_in >= 0 && p_in <= 1 to be true"):
        torch.tensor([1.5]).bernoulli()
    with pytest.raises(RuntimeError, match="not implemented for 'Long'"):
        torch.tensor([1]).bernoulli()


def test_multinomial_with_replacement_follows_the_weights():
    x = torch.multinomial(torch.tensor([1.0, 0.0, 3.0]), N, replacement=True).numpy()
    counts = np.bincount(x, minlength=3) / N
    assert x.dtype == np.int64 and counts[1] == 0 and counts[2] == pytest.approx(0.75, abs=0.02)


def test_multinomial_without_replacement_draws_each_once():
    rows = torch.multinomial(torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]), 2).numpy()
    assert all(len(set(row)) == 2 for row in rows) and set(rows[1]) == {1, 2}
    first = np.array([values(torch.multinomial(torch.tensor([1.0, 3.0]), 2))[0] for _ in range(2000)])
    assert first.mean() == pytest.approx(0.75, abs=0.05)


@pytest.mark.parametrize(("weights", "count", "message"), [
    ([-1.0, 2.0], 1, "probability tensor contains either `inf`, `nan` or element < 0"),
    ([float("nan"), 2.0], 1, "probability tensor contains either `inf`, `nan` or element < 0"),
    ([0.0, 0.0], 1, r"invalid multinomial distribution \(sum of probabilities <= 0\)"),
    ([1.0, 2.0], 3, r"cannot sample n_sample > prob_dist.size\(-1\) samples without replacement"),
    ([1.0, 2.0], 0, "cannot sample n_sample <= 0 samples"),
    ([1, 2], 1, "multinomial only supports floating-point dtypes"),
    ([[[1.0]]], 1, "prob_dist must be 1 or 2 dim"),
])  # fmt: skip
def test_multinomial_errors(weights, count, message):
    with pytest.raises(RuntimeError, match=message):
        torch.multinomial(torch.tensor(weights), count)


def test_normal_takes_numbers_and_tensors():
    mean, std = moments(torch.normal(3.0, 2.0, (N,)))
    assert mean == pytest.approx(3, abs=0.1) and std == pytest.approx(2, abs=0.1)
    assert values(torch.normal(torch.tensor([1.0, 2.0]), 0.0)) == [1, 2]
    assert torch.normal(torch.zeros(2, 1), torch.ones(3)).shape == (2, 3)
    assert torch.normal(torch.zeros(2, dtype=torch.float64)).dtype is torch.float64
    assert torch.normal(1.0, torch.zeros(2)).shape == (2,)
    with pytest.raises(RuntimeError, match=r"normal expects std >= 0\.0, but found std -1"):
        torch.normal(torch.zeros(2), -1.0)
    with pytest.raises(RuntimeError, match=r"normal expects all elements of std >= 0\.0"):
        torch.normal(0.0, torch.tensor([-1.0]))
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        torch.normal(torch.zeros(2), torch.ones(3))


def test_poisson_and_binomial():
    assert torch.poisson(torch.full((N,), 4.0)).numpy().mean() == pytest.approx(4, abs=0.1)
    assert torch.binomial(torch.full((N,), 10.0), torch.full((N,), 0.3)).numpy().mean() == pytest.approx(3, abs=0.1)
    with pytest.raises(RuntimeError, match="invalid Poisson rate, expected rate to be non-negative"):
        torch.poisson(torch.tensor([-1.0]))


@pytest.mark.parametrize(("fill", "mean", "std"), [
    (lambda x: x.uniform_(), 0.5, 12**-0.5), (lambda x: x.uniform_(-1, 3), 1, 4 / 12**0.5),
    (lambda x: x.normal_(2, 3), 2, 3),
    (lambda x: x.bernoulli_(0.25), 0.25, 0.433), (lambda x: x.exponential_(2), 0.5, 0.5),
    (lambda x: x.geometric_(0.5), 2, 2**0.5),
    (lambda x: x.random_(4), 1.5, 1.118), (lambda x: x.random_(2, 4), 2.5, 0.5),
    (lambda x: x.log_normal_(0, 0.5), 1.133, 0.604),
    (lambda x: x.uniform_(**{"from": 2, "to": 2}), 2, 0), (lambda x: x.bernoulli_(torch.tensor(0.25)), 0.25, 0.433),
])  # fmt: skip
def test_fills(fill, mean, std):
    x = torch.zeros(N)
    assert fill(x) is x and x._version == 1
    found = moments(x)
    assert found[0] == pytest.approx(mean, abs=0.05) and found[1] == pytest.approx(std, abs=0.08)


def test_random_of_a_dtype_covers_it():
    assert set(values(torch.zeros(100, dtype=torch.bool).random_())) == {False, True}
    x = torch.zeros(1000, dtype=torch.uint8).random_().numpy()
    assert x.min() < 10 and x.max() > 245
    assert torch.zeros(1000, dtype=torch.float64).random_().numpy().max() > 2**50
    assert torch.zeros(1000).random_().numpy().max() <= 2**24


def test_uniform_never_reaches_its_upper_bound():
    assert torch.zeros(100000).uniform_(1, np.nextafter(np.float32(1), np.float32(2)).item()).numpy().max() == 1


@pytest.mark.parametrize(("fill", "message"), [
    (lambda x: x.uniform_(2, 1), r"uniform_ expects to return a \[from, to\) range, but found from=2 > to=1"),
    (lambda x: x.normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
    (lambda x: x.exponential_(-1), "exponential_ expects lambda > 0.0, but found lambda=-1"),
    (lambda x: x.random_(3, 2), "random_ expects 'from' to be less than 'to', but got from=3 >= to=2"),
    (lambda x: x.geometric_(1), r"geometric_ expects p to be in \(0, 1\), but got p=1"),
    (lambda x: x.cauchy_(0, 0), "cauchy_ expects sigma > 0.0, but found sigma=0"),
])  # fmt: skip
def test_fill_errors(fill, message):
    with pytest.raises(RuntimeError, match=message):
        fill(torch.zeros(2))


# -- the graph ---------------------------------------------------------------------------------------------------------


def test_samples_have_no_history():
    """Samples of bernoulli, multinomial and normal have a history if their parameters require grad: see tests/eras."""
    p = torch.full((3,), 0.5)
    for sample in (
        torch.bernoulli(p),
        torch.multinomial(p, 2),
        torch.normal(p, p),
        torch.rand_like(p.requires_grad_()),
        torch.poisson(p),
    ):
        assert not sample.requires_grad and sample.grad_fn is None


@pytest.mark.parametrize(("fill", "name"), [
    (lambda x: x.uniform_(), "UniformBackward0"), (lambda x: x.normal_(), "NormalBackward0"),
    (lambda x: x.random_(), "RandomBackward2"),
    (lambda x: x.exponential_(), "ExponentialBackward0"), (lambda x: x.bernoulli_(), "BernoulliBackward2"),
    (lambda x: x.bernoulli_(torch.tensor(0.5)), "BernoulliBackward1"),
])  # fmt: skip
def test_a_fill_cuts_off_the_overwritten_values(fill, name):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    assert type(fill(y).grad_fn).__name__ == name
    (y * y).sum().backward()
    assert values(x.grad) == [0, 0, 0]


def test_a_leaf_that_requires_grad_is_not_filled():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        torch.ones(3, requires_grad=True).normal_()
    with torch.no_grad():
        torch.ones(3, requires_grad=True).normal_()


# -- the namespace torch.random ----------------------------------------------------------------------------------------


def test_the_namespace_is_about_the_default_generator():
    assert torch.random.default_generator is default_generator is torch.default_generator
    assert torch.random.manual_seed(7) is default_generator
    assert torch.random.initial_seed() == torch.initial_seed() == 7
    state = torch.random.get_rng_state()
    a = torch.rand(3)
    torch.random.set_rng_state(state)
    assert values(torch.rand(3)) == values(a)
    assert torch.random.seed() == torch.random.initial_seed()
    assert torch.random.thread_safe_generator() is None


@pytest.mark.parametrize("devices", [None, [], ["cpu"]])
def test_fork_rng_puts_the_state_back(devices):
    torch.manual_seed(3)
    state = values(torch.get_rng_state())
    with suppress(ZeroDivisionError), torch.random.fork_rng(devices):
        torch.manual_seed(4)
        torch.rand(5)
        raise ZeroDivisionError
    assert values(torch.get_rng_state()) == state and torch.initial_seed() == 3
    with torch.random.fork_rng(enabled=False):
        torch.manual_seed(4)
    assert torch.initial_seed() == 4


def test_generators_of_devices():
    for device in (None, "cpu", "cpu:0", torch.device("cpu")):
        assert str(torch.Generator(device=device).device) == "cpu"
    with pytest.raises(RuntimeError, match="Cannot get CUDA generator: no backend for device cuda: .*Hint"):
        torch.Generator(device="cuda:1")
    with pytest.raises(RuntimeError, match="Cannot get CUDA generator"), torch.random.fork_rng([0]):
        pass
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"), torch.random.fork_rng(device_type="foo"):
        pass


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_a_tensor_of_no_dimension_gets_the_number_of_a_vector_of_one(dtype):
    drawn = []
    for shape in ((), (1,)):
        torch.manual_seed(0)
        drawn.append(torch.empty(shape, dtype=getattr(torch, dtype)).uniform_(-3.0, 2.0).item())
    assert drawn[0] == drawn[1] and -3 <= drawn[0].real < 2

"""Random numbers on devices: each has generators of its own, which draw there, without waiting."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

import device_library
import standin
import wengert as torch
from device_library import on_the_stand_in, on_two_devices
from loops import each

F = torch.nn.functional


@pytest.fixture(autouse=True)
def library():
    with device_library.in_use():
        yield


def on(*size, **options):
    return torch.zeros(*size, device="cuda", **options)


DRAWS = {
    "rand": lambda g: torch.rand(50, device="cuda", generator=g),
    "rand of float16": lambda g: torch.rand(50, device="cuda", generator=g, dtype=torch.float16),
    "randn": lambda g: torch.randn(5, 11, device="cuda", generator=g),
    "randn of complex numbers": lambda g: torch.randn(50, device="cuda", generator=g, dtype=torch.complex128),
    "randint": lambda g: torch.randint(-5, 10**12, (50,), device="cuda", generator=g),
    "randperm": lambda g: torch.randperm(50, device="cuda", generator=g),
    "bernoulli": lambda g: torch.bernoulli(on(50) + 0.5, generator=g),
    "normal": lambda g: torch.normal(on(50), on(50) + 2, generator=g),
    "normal of a size": lambda g: torch.normal(1.0, 2.0, (50,), device="cuda", generator=g),
    "multinomial": lambda g: torch.multinomial(on(4, 50) + 1, 20, generator=g),
    "multinomial with replacement": lambda g: torch.multinomial(on(4, 50) + 1, 20, True, generator=g),
    "poisson": lambda g: torch.poisson(on(50) + 20, generator=g),
    "binomial": lambda g: torch.binomial(on(50) + 20, on(50) + 0.5, generator=g),
    "uniform_": lambda g: on(50).uniform_(2, 3, generator=g),
    "normal_": lambda g: on(5, 10).t().normal_(2, 3, generator=g),
    "random_": lambda g: on(50).random_(1000, generator=g),
    "bernoulli_": lambda g: on(50).bernoulli_(0.5, generator=g),
    "exponential_": lambda g: on(50).exponential_(generator=g),
    "geometric_": lambda g: on(50).geometric_(0.1, generator=g),
    "cauchy_": lambda g: on(50).cauchy_(generator=g),
    "log_normal_": lambda g: on(50).log_normal_(generator=g),
    "init": lambda g: torch.nn.init.kaiming_uniform_(on(5, 10), generator=g),
    "rrelu": lambda g: F.rrelu(on(50) - 1, training=True),
    "dropout": lambda g: F.dropout(on(50) + 1, 0.5),
    "dropout2d": lambda g: F.dropout2d(on(2, 50, 3, 3) + 1, 0.5),
    "alpha_dropout": lambda g: F.alpha_dropout(on(50), 0.5, training=True),
    "gumbel_softmax": lambda g: F.gumbel_softmax(on(5, 10)),
    "rand_like": lambda g: torch.rand_like(on(50)),
    "randn_like": lambda g: torch.randn_like(on(5, 10).t()),
    "randint_like": lambda g: torch.randint_like(on(50), 1000),
    "Gamma": lambda g: torch.distributions.Gamma(on(50) + 2, on(50) + 1, validate_args=False).sample(),
    "Dirichlet": lambda g: torch.distributions.Dirichlet(on(5, 10) + 2, validate_args=False).sample(),
}
DEFAULT_ONLY = {"rrelu", "dropout", "dropout2d", "alpha_dropout", "gumbel_softmax", "rand_like", "randn_like", "randint_like", "Gamma", "Dirichlet"}


@each("name", list(DRAWS))
def test_a_seed_gives_the_same_numbers_again(name):
    draw = DRAWS[name]
    torch.manual_seed(5)
    first, next_ones = draw(None), draw(None)
    assert first.is_cuda and not torch.equal(first, next_ones)
    torch.manual_seed(5)
    assert torch.equal(draw(None), first)
    state = torch.cuda.get_rng_state()
    assert torch.equal(draw(None), next_ones)
    torch.cuda.set_rng_state(state)
    assert torch.equal(draw(None), next_ones)
    if name not in DEFAULT_ONLY:
        assert torch.equal(draw(torch.Generator("cuda").manual_seed(5)), first)
        assert torch.equal(draw(None), draw(None)) is False


@on_the_stand_in
@each("name", list(DRAWS))
def test_drawing_waits_for_no_device(name):
    before = standin.waits
    DRAWS[name](None)
    assert standin.waits == before


@each("name", [name for name in DRAWS if name not in DEFAULT_ONLY])
def test_a_generator_of_the_cpu_is_refused_in_torchs_words(name):
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        DRAWS[name](torch.Generator())


def test_a_generator_of_a_gpu_is_refused_on_the_cpu():
    g = torch.Generator("cuda")
    for draw in (lambda: torch.rand(2, generator=g), lambda: torch.ones(2).normal_(generator=g), lambda: torch.randperm(3, generator=g)):
        with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
            draw()


def test_numbers_have_their_distributions():
    torch.manual_seed(1)

    def fits(x, *law):
        return stats.kstest(x.cpu().double().numpy().ravel(), *law).pvalue > 1e-3

    n = 5000
    assert fits(torch.rand(n, device="cuda"), "uniform") and fits(torch.randn(n, device="cuda"), "norm")
    assert fits(on(n).exponential_(2.0), "expon", (0, 0.5)) and fits(on(n).cauchy_(1.0, 2.0), "cauchy", (1, 2))
    assert fits(on(n).log_normal_(0.5, 2.0).log(), "norm", (0.5, 2)) and fits(on(n).uniform_(-3, 5), "uniform", (-3, 8))
    assert fits(torch.normal(on(n) + 3, 2.0), "norm", (3, 2))
    counts = torch.bincount(torch.multinomial(torch.tensor([1.0, 2.0, 0.0, 5.0], device="cuda"), n, True).cpu(), minlength=4)
    assert counts[2] == 0 and stats.chisquare(counts.numpy()[[0, 1, 3]], n * np.array([1, 2, 5]) / 8).pvalue > 1e-3
    weights = torch.tensor([[1.0, 2.0, 0.0, 5.0], [3.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 2.0]], device="cuda")
    for rows in (torch.multinomial(weights, n, True), torch.stack([torch.multinomial(weights, 1)[:, 0] for _ in range(n // 5)], 1)):
        for row, weight in zip(rows.cpu(), weights.cpu().double(), strict=True):
            counts = torch.bincount(row, minlength=4).numpy()
            expected = (weight / weight.sum() * counts.sum()).numpy()
            assert (counts[expected == 0] == 0).all()
            assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3
    counts = torch.bincount(torch.randint(0, 7, (n,), device="cuda").cpu())
    assert stats.chisquare(counts.numpy()).pvalue > 1e-3
    assert abs(F.dropout(on(n) + 1, 0.2).mean().item() - 1) < 0.03
    assert sorted(torch.randperm(100, device="cuda").tolist()) == list(range(100))
    kept = torch.multinomial(on(3, 10) + 1, 10)
    assert all(sorted(row) == list(range(10)) for row in kept.tolist())


@on_two_devices
def test_each_device_has_its_own_stream():
    torch.manual_seed(3)
    a = torch.rand(4, device="cuda:0")
    torch.rand(9)  # the CPU draws from its own
    assert torch.equal(torch.rand(4, device="cuda:1").cpu(), a.cpu())
    assert not torch.equal(torch.rand(4, device="cuda:0"), a)
    with torch.cuda.device(1):
        torch.cuda.manual_seed(8)
        assert torch.cuda.initial_seed() == 8
    assert torch.cuda.initial_seed() == 3
    torch.cuda.manual_seed_all(9)
    assert [g.initial_seed() for g in torch.cuda.default_generators] == [9, 9] and torch.initial_seed() == 3
    states = torch.cuda.get_rng_state_all()
    b = torch.rand(4, device="cuda:1")
    torch.cuda.set_rng_state_all(states)
    assert torch.equal(torch.rand(4, device="cuda:1"), b)
    torch.cuda.seed_all()
    assert torch.cuda.default_generators[0].initial_seed() == torch.cuda.default_generators[1].initial_seed() != 9
    torch.seed()
    assert torch.cuda.initial_seed() == torch.initial_seed()


def test_a_generator_has_a_seed_and_an_offset():
    g = torch.Generator(device="cuda").manual_seed(7)
    assert g.device == torch.device("cuda:0") and g.initial_seed() == 7 and isinstance(g, torch.Generator)
    torch.rand(5, device="cuda", generator=g)
    assert g.get_offset() == 8 and g.get_state().tolist() == [7, *[0] * 7, 8, *[0] * 7] and g.get_state().device.type == "cpu"
    copies = [g.clone_state(), copy.deepcopy(g), pickle.loads(pickle.dumps(g)), torch.Generator("cuda").graphsafe_set_state(g)]
    x = torch.randn(3, device="cuda", generator=g)
    assert all(torch.equal(torch.randn(3, device="cuda", generator=c), x) for c in copies)
    g.set_offset(8)
    assert torch.equal(torch.randn(3, device="cuda", generator=g), x)
    with pytest.raises(RuntimeError, match="offset must be a multiple of 4"):
        g.set_offset(3)
    for wrong in (torch.zeros(5, dtype=torch.uint8), torch.Generator().get_state()):
        with pytest.raises(RuntimeError, match="RNG state is wrong size"):
            g.set_state(wrong)
    for wrong in (torch.zeros(16), torch.zeros(16, dtype=torch.uint8, device="cuda")):
        with pytest.raises(TypeError, match="RNG state must be a torch.ByteTensor"):
            g.set_state(wrong)
    with pytest.raises(RuntimeError, match="no generator of NumPy"):
        _ = g.numpy
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        torch.Generator().get_offset()
    with pytest.raises(ValueError, match="Overflow"):
        g.manual_seed(2**64)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.Generator("cuda:5")
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1


def test_fork_rng_restores_the_devices():
    torch.manual_seed(0)
    x = torch.rand(3, device="cuda")
    for options in ({}, {"devices": [0]}, {"devices": ["cuda:0"]}):
        torch.manual_seed(0)
        with torch.random.fork_rng(**options):
            torch.manual_seed(9)
            torch.rand(5, device="cuda")
        assert torch.equal(torch.rand(3, device="cuda"), x)
    torch.manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.rand(3, device="cuda")
    assert not torch.equal(torch.rand(3, device="cuda"), x)


@each("use_reentrant", [False, True])
def test_a_checkpoint_drops_the_same_elements_again(use_reentrant):
    x = torch.ones(50, device="cuda", requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda x: F.dropout(x, 0.5) * 2, x, use_reentrant=use_reentrant)
    after = torch.cuda.get_rng_state()
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and torch.equal(torch.cuda.get_rng_state(), after)


def test_vmap_draws_as_its_argument_says():
    x = torch.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(lambda x: x + torch.rand(2, device="cuda"))(x)
    same = torch.vmap(lambda x: x + torch.rand(2, device="cuda"), randomness="same")(x)
    assert torch.equal(same[0], same[2])


@on_the_stand_in
def test_probabilities_out_of_range_are_seen_when_the_program_waits():
    for draw in (
        lambda: torch.bernoulli(on(3) + 2), lambda: torch.multinomial(on(3) - 1, 1), lambda: torch.poisson(on(3) - 1),
        lambda: torch.normal(on(3), on(3) - 1), lambda: torch.binomial(on(3) + 2, on(3) + 2), lambda: on(3).bernoulli_(on(3) - 1),
    ):  # fmt: skip
        x = draw()
        with pytest.raises(IndexError, match="in an operation on cuda:0"):
            x.tolist()

"""Random numbers of a seed are torch's: to the bit where they are uniform or whole, to the last places where logarithms enter."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIZES = (0, 1, 2, 7, 15, 16, 17, 31, 40, 1000)


def mkl_draws():
    """Whether torch leaves bernoulli_ and exponential_ to MKL, as on processors of Intel, which draws other numbers."""
    torch.manual_seed(0)
    torch.empty(100).bernoulli_(0.5)
    after = torch.get_rng_state()
    torch.manual_seed(0)
    torch.rand(100, dtype=torch.float64)
    return not torch.equal(after, torch.get_rng_state())


own_kernels = pytest.mark.skipif(mkl_draws(), reason="torch leaves bernoulli_ and exponential_ to MKL on this processor")


def drawn(library, program, seed=0):
    """Results of a program, and the whole number that the generator draws next."""
    library.manual_seed(seed)
    found = program(library)
    results = found if isinstance(found, (list, tuple)) else [found]
    return [*results, library.randint(0, 2**27, (3,))]


def assert_same(program, places=0, seed=0):
    """places: how many units in the last place float results may differ by."""
    for ours, theirs in zip(drawn(wengert, program, seed), drawn(torch, program, seed), strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        assert tuple(ours.shape) == tuple(theirs.shape)
        a, b = (x.detach() for x in (ours, theirs))
        if str(a.dtype) in ("torch.float16", "torch.bfloat16"):
            a, b = a.float(), b.float()
        a, b = a.numpy(), b.numpy()
        if places and a.dtype.kind in "fc":
            step = np.finfo(a.dtype).eps if str(ours.dtype) not in ("torch.float16", "torch.bfloat16") else 2.0**-8
            np.testing.assert_allclose(a, b, rtol=places * step, atol=places * step)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers(n, dtype):
    assert_same(lambda t: t.rand(n, dtype=getattr(t, dtype)))


def test_16_bit_numbers_are_rounded_and_never_one():
    for dtype in ("float16", "bfloat16"):
        assert_same(lambda t: t.rand(20000, dtype=getattr(t, dtype)))  # noqa: B023
        assert (wengert.rand(20000, dtype=getattr(wengert, dtype)) < 1).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers(n, dtype):
    assert_same(lambda t: [t.randn(n, dtype=getattr(t, dtype)), t.randn(n, dtype=getattr(t, dtype))], places=4)


def test_the_second_number_of_a_pair_is_kept_for_the_next_call():
    assert_same(lambda t: [t.randn(1), t.randn(20), t.randn(3, dtype=t.float64), t.empty(1).log_normal_()], places=4)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype):
    def program(t):
        kind = getattr(t, dtype)
        return [t.rand(9, dtype=kind), t.randn(7, dtype=kind), t.randn(30, dtype=kind), t.empty(3, dtype=kind).normal_(1, 2)]

    assert_same(program, places=4)


@pytest.mark.parametrize("bounds", [(0, 10), (-5, 2**28 - 6), (-5, 2**28 - 5), (-(2**40), 2**40), (-(2**63), 2**63 - 1), (3, 4)])
def test_integers(bounds):
    assert_same(lambda t: [t.randint(*bounds, (50,)), t.randint(*bounds, (5,))])


def test_integers_in_other_dtypes():
    kinds = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    assert_same(lambda t: [t.randint(0, 100, (20,), dtype=getattr(t, kind)) for kind in kinds])
    assert_same(lambda t: [t.empty(20, dtype=getattr(t, kind)).random_() for kind in (*kinds, "bool")])
    assert_same(lambda t: [t.empty(20).random_(7), t.empty(20).random_(-3, 9)])


@pytest.mark.parametrize("n", [0, 1, 2, 10, 1000])
def test_permutations(n):
    assert_same(lambda t: t.randperm(n))


@pytest.mark.parametrize("seed", [1, 42, 2**31, 2**32 - 1, 2**32 + 7, 2**63, -1])
def test_seeds(seed):
    assert_same(lambda t: [t.rand(3), t.randperm(9), t.randn(20)], places=4, seed=seed)
    assert wengert.manual_seed(seed).initial_seed() == torch.manual_seed(seed).initial_seed()


def test_a_generator_of_its_own_starts_as_torchs():
    assert_same(lambda t: t.rand(5, generator=t.Generator()))
    assert wengert.Generator().initial_seed() == torch.Generator().initial_seed()


@pytest.mark.parametrize("bounds", [(-2, 3), (0.1, 0.7), (-1 / 28, 1 / 28), (1e6, 1e6 + 1), (2, 2)])
def test_uniform_numbers_between_bounds(bounds):
    assert_same(lambda t: [t.empty(2000).uniform_(*bounds), t.empty(2000, dtype=t.float16).uniform_(*bounds[:0])])
    assert_same(lambda t: t.empty(2000, dtype=t.float64).uniform_(*bounds), places=2)


def test_normal_numbers_of_other_means_and_deviations():
    assert_same(
        lambda t: [
            t.normal(1.0, 2.0, (30,)), t.normal(t.ones(20), t.full((20,), 2.0)), t.normal(t.zeros(5), 3.0), t.empty(40).normal_(1, 5),
        ],
        places=8,
    )  # fmt: skip


LAYOUTS = {
    "transposed": lambda t, dtype: t.zeros(6, 5, dtype=dtype).t(),
    "permuted": lambda t, dtype: t.zeros(2, 3, 4, dtype=dtype).permute(1, 2, 0),
    "every second column": lambda t, dtype: t.zeros(5, 12, dtype=dtype)[:, ::2],
    "permuted rows": lambda t, dtype: t.zeros(4, 3, 5, dtype=dtype)[::2].transpose(0, 2),
    "a number": lambda t, dtype: t.zeros((), dtype=dtype),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_are_filled_in_the_order_of_their_memory(layout):
    def program(t):
        x = LAYOUTS[layout](t, t.float32)
        return [
            x.uniform_().clone(), x.normal_().clone(), x.random_(9).clone(), t.rand_like(x), t.randint_like(x, 5),
            t.bernoulli(x * 0 + 0.5), x.cauchy_().clone(), x.log_normal_().clone(), x.geometric_(0.3).clone(),
        ]  # fmt: skip

    assert_same(program, places=64)


def test_probabilities():
    def program(t):
        p = t.linspace(0, 1, 20)
        return [
            t.bernoulli(p), t.bernoulli(p.double()), t.bernoulli(p.half()), t.empty(20).bernoulli_(p), t.empty(20).bernoulli_(p.double()),
            t.empty(3, 20).bernoulli_(p), t.empty(5, 4).t().bernoulli_(p.reshape(4, 5)),
        ]  # fmt: skip

    assert_same(program)


@own_kernels
@pytest.mark.parametrize("dtype", FLOATS)
def test_quantiles_of_uniform_numbers(dtype):
    def program(t):
        x = t.empty(50, dtype=getattr(t, dtype))
        return [x.exponential_(2).clone(), x.geometric_(0.2).clone(), x.cauchy_(1, 2).clone(), x.log_normal_(0, 0.5).clone()]

    assert_same(program, places=64)


@own_kernels
def test_dropout():
    def program(t):
        F, x, image = t.nn.functional, t.ones(6, 5), t.ones(4, 5, 2, 2)
        return [
            F.dropout(x, 0.3), F.dropout(x.t(), 0.3), t.empty(20).bernoulli_(0.3), F.dropout2d(image, 0.4), F.dropout1d(x, 0.4),
            F.alpha_dropout(x, 0.2, True), F.feature_alpha_dropout(image, 0.2, True), t.empty(9, dtype=t.int64).bernoulli_(0.5),
        ]  # fmt: skip

    assert_same(program, places=2)


@own_kernels
def test_multinomial():
    weights = [[0.1, 0.5, 3, 0, 2, 1], [1, 0, 0, 1e-3, 5, 2]]

    def program(t):
        w = t.tensor(weights)
        return [
            t.multinomial(w[0], 5), t.multinomial(w, 4), t.multinomial(w, 1), t.multinomial(w, 30, True), t.multinomial(w[1].double(), 3),
            t.multinomial(w.half(), 2, True),
        ]  # fmt: skip

    assert_same(program)


@own_kernels
def test_random_activations_and_windows():
    def program(t):
        F = t.nn.functional
        x = t.linspace(-1, 1, 12).reshape(3, 4)
        return [
            F.rrelu(x, training=True), F.gumbel_softmax(x), F.gumbel_softmax(x.t(), hard=True),
            F.fractional_max_pool2d(t.arange(96.0).reshape(2, 3, 4, 4), 2, output_size=2),
            F.fractional_max_pool3d(t.arange(128.0).reshape(2, 4, 4, 4), 2, output_size=2),
        ]  # fmt: skip

    assert_same(program, places=16)


def test_states_go_either_way():
    for draws in (0, 1, 300, 619, 623, 1000):
        torch.manual_seed(3), wengert.manual_seed(3)
        torch.rand(draws), wengert.rand(draws)
        torch.randn(1), wengert.randn(1)
        ours, theirs = wengert.get_rng_state(), torch.get_rng_state()
        np.testing.assert_array_equal(ours.numpy()[:5000], theirs.numpy()[:5000])
        wengert.set_rng_state(wengert.from_numpy(theirs.numpy()))
        torch.set_rng_state(torch.from_numpy(ours.numpy()))
        np.testing.assert_allclose(wengert.randn(3).numpy(), torch.randn(3).numpy(), rtol=1e-6)
        np.testing.assert_array_equal(wengert.rand(700).numpy(), torch.rand(700).numpy())


@pytest.mark.parametrize("kind", ["short", "zeros", "ones", "float", "text"])
def test_wrong_states_are_refused_in_torchs_words(kind):
    def state(t):
        if kind == "text":
            return "state"
        if kind == "short":
            return t.zeros(10, dtype=t.uint8)
        return t.full((5056,), 255 if kind == "ones" else 0, dtype=t.float32 if kind == "float" else t.uint8)

    errors = []
    for library in (wengert, torch):
        with pytest.raises((RuntimeError, TypeError)) as caught:
            library.set_rng_state(state(library))
        errors.append(caught.value)
    ours, theirs = errors
    assert isinstance(ours, type(theirs))
    if kind != "text":
        assert str(ours) == str(theirs)

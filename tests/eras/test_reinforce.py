"""Stochastic nodes: samples that are given a reward, and the gradient of -reward * log p that backward then computes."""

import math

import numpy as np
import pytest
from scipy import stats

import wengert as torch
from wengert.autograd import Variable, backward, grad

pytestmark = pytest.mark.filterwarnings("ignore:reinforce:DeprecationWarning")


def leaf(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def reinforced(sample, reward):
    sample.reinforce(reward)
    return sample


# -- the gradient is that of -reward * log p -------------------------------------------------------------------------------


def slope(log_p, parameters, step=1e-6):
    """The derivative of log_p by each parameter, from central differences."""
    found = np.zeros_like(parameters)
    for i in np.ndindex(parameters.shape):
        moved = []
        for sign in (1, -1):
            shifted = parameters.copy()
            shifted[i] += sign * step
            moved.append(log_p(shifted))
        found[i] = (moved[0] - moved[1]) / (2 * step)
    return found


def test_bernoulli():
    p = leaf([[0.2, 0.5, 0.9], [0.3, 0.6, 0.99]])
    reward = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, 4.0]], dtype=torch.float64)
    s = reinforced(p.bernoulli(), reward)
    backward(s)
    drawn, r = s.detach().numpy(), reward.numpy()
    expected = -slope(lambda q: (r * stats.bernoulli.logpmf(drawn.astype(int), q)).sum(), p.detach().numpy())
    np.testing.assert_allclose(p.grad.numpy(), expected, rtol=1e-7, atol=1e-8)


def test_bernoulli_by_hand():
    """(p - s) / (p (1 - p)) * r: for p = 0.25 and r = 2 it is -8 for a one, 8/3 for a zero."""
    p = leaf([0.25] * 64)
    s = reinforced(p.bernoulli(), 2.0)
    s.backward()
    assert set(s.tolist()) == {0.0, 1.0}
    for drawn, found in zip(s.tolist(), p.grad.tolist(), strict=True):
        assert found == pytest.approx(-8.0 if drawn else 8 / 3)


def test_bernoulli_at_certainty():
    p = leaf([0.0, 1.0])
    s = reinforced(p.bernoulli(), 3.0)
    s.backward()
    assert s.tolist() == [0.0, 1.0] and p.grad.tolist() == [3.0, -3.0]


def test_multinomial_gradient_is_minus_reward_over_probability_at_drawn_elements():
    w = leaf([[1.0, 3.0, 4.0], [0.0, 0.5, 0.5]])
    drawn = torch.multinomial(w, 4, replacement=True)
    reward = torch.tensor([[1.0, -2.0, 3.0, 0.5], [2.0, 2.0, 1.0, 1.0]], dtype=torch.float64)
    reinforced(drawn, reward).backward()
    expected = np.zeros((2, 3))
    p = np.array([[0.125, 0.375, 0.5], [0.0, 0.5, 0.5]])
    for row in range(2):
        for i, r in zip(drawn[row].tolist(), reward[row].tolist(), strict=True):
            expected[row, i] -= r / p[row, i]
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-14)


def test_multinomial_of_a_vector_through_softmax():
    """Of logits the gradient is reward * (softmax - one-hot), whatever constant a normalisation adds."""
    logits = leaf([0.1, -0.4, 1.2])
    action = torch.multinomial(torch.softmax(logits, 0), 1)
    reinforced(action, 2.5).backward()
    p = np.exp(logits.detach().numpy())
    p /= p.sum()
    np.testing.assert_allclose(logits.grad.numpy(), 2.5 * (p - np.eye(3)[action.item()]), rtol=1e-12)


@pytest.mark.parametrize("kind", ["both", "mean", "std", "mean and number", "number and std"])
def test_normal(kind):
    mean, std = leaf([[0.5, -1.0], [2.0, 0.0]]), leaf([[1.0, 0.5], [2.0, 3.0]])
    reward = torch.tensor([[1.0, -2.0], [3.0, 0.5]], dtype=torch.float64)
    given = {
        "both": (mean, std), "mean": (mean, std.detach()), "std": (mean.detach(), std),
        "mean and number": (mean, 0.7), "number and std": (0.3, std),
    }[kind]  # fmt: skip
    s = reinforced(torch.normal(*given), reward)
    backward([s], [None])
    m, d = (x.detach().numpy() if isinstance(x, torch.Tensor) else np.full((2, 2), x) for x in given)
    drawn, r = s.detach().numpy(), reward.numpy()
    by_mean = -slope(lambda x: (r * stats.norm.logpdf(drawn, x, d)).sum(), m)
    by_std = -slope(lambda x: (r * stats.norm.logpdf(drawn, m, x)).sum(), d)
    for parameter, expected in ((mean, by_mean), (std, by_std)):
        if any(x is parameter for x in given):
            np.testing.assert_allclose(parameter.grad.numpy(), expected, rtol=1e-6, atol=1e-7)
        else:
            assert parameter.grad is None


def test_parameters_that_broadcast():
    mean, std = leaf([[0.5], [1.0]]), leaf([1.0, 2.0, 3.0])
    s = reinforced(torch.normal(mean, std), 1.0)
    s.backward()
    z = (s.detach() - mean.detach()) / std.detach()
    np.testing.assert_allclose(mean.grad.numpy(), -(z / std.detach()).sum(1, keepdim=True).numpy())
    np.testing.assert_allclose(std.grad.numpy(), -((z * z - 1) / std.detach()).sum(0).numpy(), atol=1e-15)


def test_the_gradient_can_be_differentiated():
    """-r log p of a one: -r/p, then r/p**2."""
    p = leaf([1.0 - 1e-12])
    s = reinforced(p.bernoulli(), 3.0)
    (first,) = grad(s, p, create_graph=True)
    assert s.item() == 1.0 and first.item() == pytest.approx(-3.0)
    assert grad(first.sum(), p)[0].item() == pytest.approx(3.0)


# -- on average it is the gradient of the expected reward ------------------------------------------------------------------

# Each mean of n estimates is compared with the exact gradient: within 5 standard errors, as estimated from the sample, a
# false alarm has probability below 1e-6 for each number. The seed is fixed.
N = 40_000


def check_mean(estimates, exact):
    mean, error = estimates.mean(0), estimates.std(0, ddof=1) / math.sqrt(len(estimates))
    assert (np.abs(mean - exact) < 5 * error).all(), (mean, exact, error)
    assert (error < 0.1 * np.abs(exact).max()).all()  # a test that could tell


def test_on_average_bernoulli():
    """E[r] of r = (3 if one else 1) is 1 + 2 p: the derivative is 2."""
    p = leaf([0.3] * N)
    s = p.bernoulli()
    reinforced(s, 1.0 + 2.0 * s.detach()).backward()
    check_mean(-p.grad.numpy()[:, None], np.array([2.0]))


def test_on_average_multinomial():
    """Through softmax: dE[r]/dlogit_i = p_i (r_i - E[r])."""
    values = np.array([1.0, 4.0, 2.0])
    logits = torch.tensor([[0.2, -0.3, 0.5]], dtype=torch.float64).expand(N, 3).clone().requires_grad_()
    actions = torch.multinomial(torch.softmax(logits, 1), 1)
    reinforced(actions, torch.from_numpy(values)[actions]).backward()
    p = np.exp([0.2, -0.3, 0.5])
    p /= p.sum()
    check_mean(-logits.grad.numpy(), p * (values - p @ values))


def test_on_average_normal():
    """E[s**2] = mean**2 + std**2: the derivatives are 2 mean and 2 std."""
    mean, std = leaf([0.7] * N), leaf([1.3] * N)
    s = torch.normal(mean, std)
    reinforced(s, s.detach() ** 2).backward()
    check_mean(-np.stack([mean.grad.numpy(), std.grad.numpy()], 1), np.array([1.4, 2.6]))


# -- in a graph ------------------------------------------------------------------------------------------------------------


def test_samples_have_a_node_if_parameters_require_grad():
    p = leaf([0.5, 0.5])
    for sample, name in (
        (p.bernoulli(), "BernoulliBackward0"), (torch.normal(p, 1.0), "NormalBackward0"),
        (torch.bernoulli(torch.ones(2), p), "BernoulliBackward0"),
    ):  # fmt: skip
        assert sample.requires_grad and not sample.is_leaf and sample.grad_fn.name() == name


def test_indices_have_a_node_and_require_no_grad():
    """Row A43: multinomial's samples are integers."""
    p = leaf([0.5, 0.5])
    actions = p.multinomial(1)
    assert actions.dtype is torch.int64 and not actions.requires_grad and not actions.is_leaf
    assert actions.grad_fn.name() == "MultinomialBackward0"
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had"):
        assert actions.creator is actions.grad_fn
    assert actions.grad_fn.next_functions[0][0].variable is p


def test_samples_of_anything_else_have_none():
    p = torch.full((2,), 0.5)
    with torch.no_grad():
        quiet = [leaf([0.5]).bernoulli(), leaf([0.5]).multinomial(1)]
    for sample in (p.bernoulli(), p.multinomial(1), torch.normal(p, p), leaf([0.5]).detach().bernoulli(), *quiet):
        assert sample.grad_fn is None and not sample.requires_grad


def test_several_actions_without_gradients():
    """Row A43: backward(actions, [None] * n), as in the examples of 0.1 to 0.3."""
    w = leaf([[0.1, 0.2], [0.3, -0.1]])
    actions = []
    for state in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        p = torch.softmax(torch.tensor([state], dtype=torch.float64) @ w, 1)
        actions.append(p.multinomial(1))
    for action, reward in zip(actions, [1.0, -1.0, 0.5], strict=True):
        action.reinforce(reward)
    backward(actions, [None for _ in actions])
    expected = np.zeros((2, 2))
    for state, action, reward in zip([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], actions, [1.0, -1.0, 0.5], strict=True):
        p = np.exp(np.array(state) @ w.detach().numpy())
        p /= p.sum()
        expected += reward * np.outer(state, p - np.eye(2)[action.item()])
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-12, atol=1e-15)


def test_reinforce_ignores_gradients_through_later_operations():
    x, y = leaf([0.0]), leaf([1.0])
    z = reinforced(torch.normal(x + 2, 2.0), 3.0)
    (z * y * 100).sum().backward()
    assert y.grad.item() == pytest.approx(100 * z.item())
    assert x.grad.item() == pytest.approx(-3.0 * (z.item() - 2) / 4)


def test_samples_of_samples():
    x = leaf([0.3, 0.6])
    b = x.bernoulli()
    first = torch.normal(b, 1.0)
    last = torch.normal(first, 2.0)
    for sample, reward in ((b, 1.0), (first, 2.0), (last, 3.0)):
        sample.reinforce(reward)
    last.backward()
    s, p = b.detach().numpy(), x.detach().numpy()
    np.testing.assert_allclose(x.grad.numpy(), (p - s) / (p * (1 - p)), rtol=1e-12)


def test_a_passed_sample_is_freed_and_can_be_kept():
    p = leaf([0.5])
    s = reinforced(p.bernoulli(), 1.0)
    s.backward(retain_graph=True)
    s.backward()
    assert abs(p.grad.item()) == 4.0
    with pytest.raises(RuntimeError, match="second time"):
        s.backward()


def test_parameters_written_since_are_noticed():
    p = leaf([0.5]) * 1
    s = reinforced(p.bernoulli(), 1.0)
    p.mul_(0.5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        s.backward()


def test_the_reward_is_copied():
    p, reward = leaf([0.5]), torch.ones(1)
    s = reinforced(p.bernoulli(), reward)
    reward.zero_()
    s.backward()
    assert abs(p.grad.item()) == 2.0


# -- what is refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [
    lambda p: p.bernoulli(), lambda p: p.multinomial(2), lambda p: torch.normal(p, 1.0),
])  # fmt: skip
def test_a_missing_reward(draw):
    p = leaf([0.5, 0.5])
    w = leaf([1.0, 1.0])
    s = draw(p)
    text = r"^differentiating stochastic functions requires providing a reward.*reinforce.*\.detach\(\)"
    with pytest.raises(RuntimeError, match=text):
        backward(s)
    if s.requires_grad:
        with pytest.raises(RuntimeError, match=text):
            (s * w).sum().backward()
    assert p.grad is None
    (s.detach() * w).sum().backward()  # what the message says to do


def test_a_sample_that_needs_no_gradient_needs_no_reward():
    w = leaf([1.0])
    (torch.tensor([0.5]).bernoulli() * w).sum().backward()
    p = leaf([0.5])
    grad((p.bernoulli() * w).sum(), w)  # never reaches the sample


@pytest.mark.parametrize(("reward", "error", "text"), [
    ("3", TypeError, "^mismatch between reward and output type: got str"),
    (None, TypeError, "got NoneType"),
    (True, TypeError, "got bool"),
    ([1.0, 2.0], TypeError, "got list"),
    (torch.ones(2).long(), TypeError, "got torch.LongTensor"),
    (torch.ones(3), ValueError, r"^got reward of size \[3\], but expected a tensor of size \[2\]$"),
    (torch.ones(2, 1), ValueError, r"size \[2, 1\]"),
])  # fmt: skip
def test_wrong_rewards(reward, error, text):
    p = leaf([0.5, 0.5])
    s = p.bernoulli()
    with pytest.raises(error, match=text):
        s.reinforce(reward)
    s.reinforce(1)  # nothing was taken
    s.backward()


@pytest.mark.parametrize("reward", [2, 2.0, np.float32(2), torch.tensor([2.0, 2.0]), torch.tensor([2.0, 2.0]).half()])
def test_right_rewards(reward):
    p = leaf([0.5, 0.5], torch.float32)
    reinforced(p.bernoulli(), reward).backward()
    assert p.grad.abs().tolist() == [4.0, 4.0] and p.grad.dtype is torch.float32


def test_a_second_reward():
    s = reinforced(leaf([0.5]).bernoulli(), 1.0)
    with pytest.raises(RuntimeError, match="^you can only reinforce a stochastic Function once$"):
        s.reinforce(1.0)


@pytest.mark.parametrize("make", [
    lambda: torch.ones(1), lambda: leaf([1.0]), lambda: leaf([1.0]) * 2, lambda: torch.ones(1).bernoulli(),
    lambda: leaf([0.5]).bernoulli().detach(),
])  # fmt: skip
def test_reinforce_is_refused_on_a_tensor_that_was_not_sampled(make):
    with pytest.raises(RuntimeError, match=r"^reinforce\(\) can be only called on outputs of stochastic functions"):
        make().reinforce(1.0)


def test_the_call_warns_at_the_users_line():
    s = Variable(torch.tensor([0.5]), requires_grad=True).bernoulli()
    with pytest.warns(DeprecationWarning, match=r"today the loss is -\(log_prob\(sample\) \* reward\)") as caught:
        s.reinforce(1.0)
    assert caught[0].filename == __file__

"""Programs with distributions, seeded: the losses that they print are those of torch."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402


def assert_same_losses(program, tolerance=1e-4):
    found = []
    for library in (wengert, torch):
        library.manual_seed(0)
        found.append(program(library))
    np.testing.assert_allclose(*found, rtol=tolerance, atol=tolerance / 10)
    return found[0]


def test_policy_gradient():
    """REINFORCE on a bandit with four arms."""

    def program(t):
        logits = t.zeros(4, requires_grad=True)
        payoff, rewards = t.tensor([0.1, 0.2, 1.0, 0.3]), []
        optimizer = t.optim.Adam([logits], lr=0.1)
        for _ in range(60):
            policy = t.distributions.Categorical(logits=logits)
            arm = policy.sample((16,))
            reward = payoff[arm] + 0.1 * t.randn(16)
            loss = -(policy.log_prob(arm) * (reward - reward.mean())).mean() - 0.01 * policy.entropy()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rewards.append(reward.mean().item())
        return rewards

    rewards = assert_same_losses(program)
    assert np.mean(rewards[-10:]) > np.mean(rewards[:10]) + 0.2


def test_variational_autoencoder():
    def program(t):
        data = (t.rand(64, 1) > t.linspace(0, 1, 12)).float()
        encoder = t.nn.Sequential(t.nn.Linear(12, 16), t.nn.Tanh(), t.nn.Linear(16, 4))
        decoder = t.nn.Sequential(t.nn.Linear(2, 16), t.nn.Tanh(), t.nn.Linear(16, 12))
        optimizer = t.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
        prior, losses = t.distributions.Normal(t.zeros(2), t.ones(2)), []
        for _ in range(40):
            loc, scale = encoder(data).chunk(2, dim=-1)
            posterior = t.distributions.Normal(loc, t.nn.functional.softplus(scale))
            likelihood = t.distributions.Bernoulli(logits=decoder(posterior.rsample()))
            divergence = t.distributions.kl_divergence(posterior, prior).sum(-1)
            loss = (divergence - likelihood.log_prob(data).sum(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    losses = assert_same_losses(program, 1e-3)
    assert losses[-1] < losses[0] - 1


def test_normalizing_flow():
    """Coupling layers of a user's own Transform class, fitted to a curved cloud by maximum likelihood."""

    def program(t):
        d = t.distributions

        class Coupling(d.Transform):
            domain = codomain = d.constraints.real_vector
            bijective = True

            def __init__(self, net, first):
                super().__init__(cache_size=1)
                self.net, self.first = net, first

            def _parts(self, x):
                fixed = x[..., :1] if self.first else x[..., 1:]
                return (fixed, x[..., 1:] if self.first else x[..., :1], *self.net(fixed).chunk(2, dim=-1))

            def _join(self, fixed, moved):
                return t.cat([fixed, moved] if self.first else [moved, fixed], -1)

            def _call(self, x):
                fixed, moved, log_scale, shift = self._parts(x)
                return self._join(fixed, moved * log_scale.exp() + shift)

            def _inverse(self, y):
                fixed, moved, log_scale, shift = self._parts(y)
                return self._join(fixed, (moved - shift) * (-log_scale).exp())

            def log_abs_det_jacobian(self, x, y):
                return self._parts(x)[2].sum(-1)

        nets = [t.nn.Sequential(t.nn.Linear(1, 8), t.nn.Tanh(), t.nn.Linear(8, 2)) for _ in range(2)]
        base = d.Independent(d.Normal(t.zeros(2), t.ones(2)), 1)
        x = t.randn(100, 1)
        data = t.cat([x, x**2 + 0.1 * t.randn(100, 1)], -1)
        optimizer = t.optim.Adam([p for net in nets for p in net.parameters()], lr=0.02)
        losses = []
        for _ in range(60):
            flow = d.TransformedDistribution(base, [Coupling(net, i == 0) for i, net in enumerate(nets)])
            loss = -flow.log_prob(data).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert tuple(flow.rsample((3,)).shape) == (3, 2)
        return losses

    losses = assert_same_losses(program, 1e-3)
    assert losses[-1] < losses[0] - 0.5


def test_hamiltonian_monte_carlo():
    """Scale and location of normal data, in unconstrained coordinates."""

    def program(t):
        d = t.distributions
        data = 1.5 + 0.7 * t.randn(50, dtype=t.float64)
        to_scale = d.biject_to(d.constraints.positive)

        def potential(q):
            loc, scale = q[0], to_scale(q[1])
            prior = d.Normal(0.0, 10.0).log_prob(loc) + d.Exponential(1.0).log_prob(scale)
            return -(prior + to_scale.log_abs_det_jacobian(q[1], scale) + d.Normal(loc, scale).log_prob(data).sum())

        def gradient(q):
            q = q.detach().requires_grad_()
            return t.autograd.grad(potential(q), q)[0]

        q, samples, step = t.zeros(2, dtype=t.float64), [], 0.03
        for _ in range(60):
            p = d.Normal(t.zeros(2, dtype=t.float64), 1.0).sample()
            new, momentum = q, p - step / 2 * gradient(q)
            for i in range(8):
                new = new + step * momentum
                momentum = momentum - (step if i < 7 else step / 2) * gradient(new)
            rise = potential(new) - potential(q) + (momentum.square().sum() - p.square().sum()) / 2
            if t.rand((), dtype=t.float64).log() < -rise:
                q = new
            samples.append(q[0].item())
        return samples

    samples = assert_same_losses(program, 1e-6)
    assert abs(np.mean(samples[20:]) - 1.5) < 0.3


def test_concrete_relaxation():
    """Gradients through relaxed categorical samples find the best of four columns."""

    def program(t):
        logits = t.zeros(4, requires_grad=True)
        optimizer, costs = t.optim.SGD([logits], lr=1.0), []
        for _ in range(50):
            sample = t.distributions.RelaxedOneHotCategorical(t.tensor(0.5), logits=logits).rsample((8,))
            cost = (sample * t.tensor([1.0, 0.2, 0.7, 0.9])).sum(-1).mean()
            optimizer.zero_grad()
            cost.backward()
            optimizer.step()
            costs.append(cost.item())
        return costs

    costs = assert_same_losses(program, 1e-3)
    assert costs[-1] < costs[0]


def test_variational_posterior_of_a_coin():
    """Gradients through beta samples, compared with the exact posterior: torch approximates these gradients."""
    for library in (wengert, torch):
        library.manual_seed(0)
        d = library.distributions
        flips = d.Bernoulli(0.7).sample((40,))
        log_parameters = library.zeros(2, requires_grad=True)
        optimizer = library.optim.Adam([log_parameters], lr=0.2)
        for _ in range(80):
            posterior = d.Beta(*log_parameters.exp())
            p = posterior.rsample((16,))
            likelihood = d.Bernoulli(p.unsqueeze(-1)).log_prob(flips).sum(-1).mean()
            loss = d.kl_divergence(posterior, d.Beta(1.0, 1.0)) - likelihood
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        heads = flips.sum().item()
        found = posterior.mean.item()
        assert abs(found - (1 + heads) / 42) < 0.04

"""
A derivative of your own
========================

Kepler's equation, M = E - e sin E, gives a planet's place E from the time M. It is solved by iteration. To
differentiate the iterations would cost time and memory; the theorem of implicit functions gives the derivative from
the solution alone. A ``Function`` says so.
"""

import matplotlib.pyplot as plt
import numpy as np

import wengert as torch
from wengert.autograd import Function, gradcheck, gradgradcheck


class Kepler(Function):
    """E(M, e). From M = E - e sin E follow dE/dM = 1 / (1 - e cos E) and dE/de = sin E / (1 - e cos E)."""

    @staticmethod
    def forward(ctx, mean, eccentricity):
        m, e = mean.detach().numpy(), eccentricity.detach().numpy()
        place = m + e * np.sin(m)
        for _ in range(50):
            step = (place - e * np.sin(place) - m) / (1 - e * np.cos(place))
            place = place - step
            if abs(step).max() < 1e-14:
                break
        result = torch.from_numpy(np.asarray(place))
        ctx.save_for_backward(result, eccentricity)
        return result

    @staticmethod
    def backward(ctx, gradient):
        place, e = ctx.saved_tensors
        share = gradient / (1 - e * place.cos())
        return share, (share * place.sin()).sum_to_size(e.shape)


# %%
# ``backward`` is made of tensors, so it can be differentiated as well. Differences confirm the first and the second
# derivative:

mean = torch.linspace(0.1, 6.0, 7, dtype=torch.float64).requires_grad_()
e = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
print(gradcheck(Kepler.apply, (mean, e)), gradgradcheck(Kepler.apply, (mean, e)))

# %%
# An orbit is now fitted to directions in the sky that were observed with errors.

rng = np.random.default_rng(3)
times = np.sort(rng.uniform(0, 12.0, 40))


def position(period, start, e, size, times):
    place = Kepler.apply(2 * np.pi * (times - start) / period, e)
    return size * torch.stack([place.cos() - e, (1 - e**2).sqrt() * place.sin()])


truth = [torch.tensor(value, dtype=torch.float64) for value in (5.0, 0.7, 0.65, 1.0)]
observed = position(*truth, torch.from_numpy(times)) + torch.from_numpy(0.04 * rng.normal(size=(2, 40)))

period, start, e, size = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (4.9, 0.5, 0.4, 0.8))
optimizer = torch.optim.Adam([period, start, e, size], lr=0.01)
for _ in range(600):
    loss = (position(period, start, e, size, torch.from_numpy(times)) - observed).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("found", [round(value.item(), 3) for value in (period, start, e, size)], "true", [value.item() for value in truth])

orbit = position(period, start, e, size, torch.linspace(0, 1, 300, dtype=torch.float64) * period.detach() + start.detach()).detach()
plt.figure(figsize=(5, 4))
plt.plot(*observed, ".", color="0.5", label="observed")
plt.plot(*orbit, label="fitted orbit")
plt.plot(0, 0, "o", color="orange", markersize=12, label="sun")
plt.axis("equal")
plt.legend()
plt.tight_layout()
plt.show()

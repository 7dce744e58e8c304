"""
Hamiltonian Monte Carlo
=======================

A sampler that knows the gradient of the density takes long steps and still stays where the density is high. The
density here is bent like a banana, which is hard for samplers that walk at random.
"""

import matplotlib.pyplot as plt
import numpy as np

import wengert as torch
from wengert.func import grad


def log_density(point):
    x, y = point
    return -(x**2) / 8 - (y - x**2 / 4) ** 2 / 0.5


slope = grad(log_density)

# %%
# A particle starts at the last sample with a random momentum and moves for a while, uphill in the density against its
# momentum. The leapfrog method keeps its energy almost constant; what it loses decides whether the end is accepted.


def move(point, momentum, step=0.25, count=12):
    momentum = momentum + step / 2 * slope(point)
    for _ in range(count - 1):
        point = point + step * momentum
        momentum = momentum + step * slope(point)
    point = point + step * momentum
    return point, momentum + step / 2 * slope(point)


def energy(point, momentum):
    return (momentum @ momentum / 2 - log_density(point)).item()


torch.manual_seed(0)
point, samples, accepted = torch.zeros(2), [], 0
for _ in range(1500):
    momentum = torch.randn(2)
    proposed, ended = move(point, momentum)
    if np.log(torch.rand(()).item()) < energy(point, momentum) - energy(proposed, ended):
        point, accepted = proposed, accepted + 1
    samples.append(point.numpy())
samples = np.array(samples)
x = samples[:, 0]
print(f"accepted {accepted / len(samples):.0%}; mean of x {x.mean():.2f} (exactly 0), variance {x.var():.2f} (exactly 4)")

# %%
# One path from the middle of the banana, and all samples on the density.

path = [torch.tensor([0.0, 0.0])]
momentum = torch.tensor([1.2, -0.2])
for _ in range(30):
    following, momentum = move(path[-1], momentum, 0.1, 2)
    path.append(following)
path = torch.stack(path).numpy()

x, y = np.meshgrid(np.linspace(-6, 6, 120), np.linspace(-2.5, 9, 120))
plt.figure(figsize=(7, 4))
plt.contourf(x, y, np.exp(log_density((x, y))), 12, cmap="Blues")
plt.plot(*samples.T, ".", markersize=2, color="0.2", alpha=0.6, label="samples")
plt.plot(*path.T, "-", color="C3", label="a path")
plt.xlim(-6, 6)
plt.ylim(-2.5, 9)
plt.legend()
plt.tight_layout()
plt.show()

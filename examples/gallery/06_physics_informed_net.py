"""
A net that solves a differential equation
=========================================

A beam on an elastic bed bends under a load: u'''' + 4 u = f(x), clamped at both ends. A net with one input takes the
place of u. Its loss is how badly it fails the equation, which has a fourth derivative in it: derivatives of any order
are a loop.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_bvp

import wengert as torch
from wengert import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def load(x):
    return 60 * np.exp(-60 * (x - 0.35) ** 2)


net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))


def bending(x):
    """u and its slope vanish at 0 and 1, whatever the net says."""
    return (x * (1 - x)) ** 2 * net(x)


def derivative(y, x, order):
    for _ in range(order):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return y


# %%
# The points at which the equation is tried are the same in each step, so L-BFGS works.

x = torch.linspace(0, 1, 60)[:, None].requires_grad_()
force = torch.from_numpy(load(x.detach().numpy()))
optimizer = torch.optim.LBFGS(
    net.parameters(), max_iter=400, line_search_fn="strong_wolfe", tolerance_grad=1e-9, tolerance_change=1e-12
)
losses = []


def closure():
    optimizer.zero_grad()
    u = bending(x)
    loss = (derivative(u, x, 4) + 4 * u - force).square().mean()
    loss.backward()
    losses.append(loss.item())
    return loss


optimizer.step(closure)
print(f"loss {losses[0]:.0f} at first, {losses[-1]:.1e} after {len(losses)} passes")

# %%
# SciPy's solver of boundary value problems agrees.

exact = solve_bvp(
    lambda x, y: np.vstack([y[1:], load(x)[None] - 4 * y[:1]]),
    lambda a, b: np.array([a[0], a[1], b[0], b[1]]),
    np.linspace(0, 1, 50),
    np.zeros((4, 50)),
)
places = np.linspace(0, 1, 200)
found = bending(torch.from_numpy(places)[:, None]).detach().numpy()[:, 0]
print(f"largest difference {abs(found - exact.sol(places)[0]).max():.1e}, largest value {abs(found).max():.1e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
left.semilogy(losses)
left.set_xlabel("pass")
left.set_ylabel("loss")
right.plot(places, exact.sol(places)[0], color="0.7", linewidth=5, label="solve_bvp")
right.plot(places, found, "C3", label="net")
right.set_xlabel("x")
right.set_ylabel("bending")
right.legend()
figure.tight_layout()
plt.show()
torch.set_default_dtype(torch.float32)

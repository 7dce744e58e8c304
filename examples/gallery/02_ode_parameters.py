"""
Parameters of a differential equation
=====================================

Hares and lynxes follow the equations of Lotka and Volterra. From noisy counts we find the four rates: the solution of
the equation is a program, and its derivative by the rates comes from the program.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import wengert as torch

# %%
# The solver is the classical method of Runge and Kutta. Nothing in it knows of derivatives.


def rates_of_change(state, rates):
    hares, lynxes = state
    growth, hunting, feeding, death = rates
    return torch.stack([hares * (growth - hunting * lynxes), lynxes * (feeding * hares - death)])


def solve(start, rates, step, count):
    states = [start]
    for _ in range(count):
        y = states[-1]
        k1 = rates_of_change(y, rates)
        k2 = rates_of_change(y + step / 2 * k1, rates)
        k3 = rates_of_change(y + step / 2 * k2, rates)
        k4 = rates_of_change(y + step * k3, rates)
        states.append(y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return torch.stack(states)


step, count = 0.1, 150
start = torch.tensor([1.5, 1.0], dtype=torch.float64)
truth = torch.tensor([1.1, 0.6, 0.4, 0.9], dtype=torch.float64)
rng = np.random.default_rng(1)
counted = solve(start, truth, step, count).numpy()[::5] * np.exp(0.08 * rng.normal(size=(count // 5 + 1, 2)))

# %%
# The loss compares logarithms, because the counts have relative errors. One backward pass through all 150 steps gives
# the gradient by the rates, and SciPy's BFGS uses it. The rates are positive, so the search goes over their
# logarithms.


def loss(logarithms):
    guess = torch.from_numpy(logarithms).requires_grad_()
    found = solve(start, guess.exp(), step, count)[::5]
    value = (found.log() - torch.from_numpy(np.log(counted))).square().sum()
    value.backward()
    return value.item(), guess.grad.numpy()


fit = minimize(loss, np.log([1.0, 0.5, 0.5, 1.0]), jac=True, method="BFGS")
print("true ", truth.numpy())
print("found", np.exp(fit.x).round(3), "after", fit.nfev, "solutions")

times = np.arange(count + 1) * step
found = solve(start, torch.from_numpy(np.exp(fit.x)), step, count).numpy()
plt.figure(figsize=(7, 3.5))
for column, (name, colour) in enumerate([("hares", "C0"), ("lynxes", "C3")]):
    plt.plot(times, found[:, column], color=colour, label=name)
    plt.plot(times[::5], counted[:, column], "o", color=colour, alpha=0.5)
plt.xlabel("time")
plt.ylabel("thousands")
plt.legend()
plt.tight_layout()
plt.show()

"""
Optimal control
===============

A pendulum hangs from a cart. Which forces on the cart swing it up, so that it stands still on its head after four
seconds? The forces are 80 numbers; the motion that follows from them is a program. Its derivative, and a quasi-Newton
method, find them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import wengert as torch

GRAVITY, LENGTH, BOB, CART = 9.81, 0.5, 0.3, 1.0
STEP, COUNT = 0.05, 80


def acceleration(state, force):
    """State: place and speed of the cart, angle (0 hangs down) and its speed."""
    _, speed, angle, turning = state
    sin, cos = angle.sin(), angle.cos()
    total = CART + BOB * sin**2
    cart = (force + BOB * sin * (LENGTH * turning**2 + GRAVITY * cos)) / total
    bob = -(force * cos + BOB * LENGTH * turning**2 * cos * sin + (CART + BOB) * GRAVITY * sin) / (LENGTH * total)
    return torch.stack([speed, cart, turning, bob])


def motion(forces):
    """States at each step, by the midpoint rule."""
    states = [torch.zeros(4, dtype=torch.float64)]
    for force in forces:
        middle = states[-1] + STEP / 2 * acceleration(states[-1], force)
        states.append(states[-1] + STEP * acceleration(middle, force))
    return torch.stack(states)


# %%
# The last state should be the one upside down; forces cost a little, so that the solution is smooth.

wanted = torch.tensor([0.0, 0.0, np.pi, 0.0], dtype=torch.float64)


def cost(numbers):
    forces = torch.from_numpy(numbers).requires_grad_()
    value = 50 * (motion(forces)[-1] - wanted).square().sum() + 0.01 * STEP * forces.square().sum()
    value.backward()
    return value.item(), forces.grad.numpy()


first = 2 * np.sin(np.arange(COUNT) * STEP * 4)
found = minimize(cost, first, jac=True, method="L-BFGS-B", options={"maxiter": 300})
states = motion(torch.from_numpy(found.x)).numpy()
print(f"after {found.nfev} motions the last state is {states[-1].round(3)}; the largest force is {abs(found.x).max():.1f} newtons")

# %%
# The pendulum at every fourth step, light at first and dark at the end, and the forces.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[2, 1])
for number in range(0, COUNT + 1, 4):
    place, angle = states[number, 0], states[number, 2]
    shade = plt.cm.viridis_r(0.1 + 0.9 * number / COUNT)
    left.plot([place, place + LENGTH * np.sin(angle)], [0, -LENGTH * np.cos(angle)], "o-", color=shade, markersize=4)
left.axhline(0, color="0.8", zorder=0)
left.axis("equal")
left.set_xlabel("metres")
right.step(np.arange(COUNT) * STEP, found.x)
right.set_xlabel("seconds")
right.set_ylabel("force in newtons")
figure.tight_layout()
plt.show()

"""
A Gaussian process
==================

A Gaussian process draws a smooth curve through points, and says how sure it is in between. How smooth, and how noisy
the points are, follows from the points themselves: both maximise the likelihood, of which the gradient goes through a
Cholesky factorisation.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import wengert as torch

rng = np.random.default_rng(2)
inputs = np.sort(rng.uniform(0, 10, 25))
outputs = np.sin(inputs) + 0.5 * np.sin(3 * inputs) + 0.15 * rng.normal(size=25)


def kernel(a, b, height, length):
    return height**2 * torch.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def negative_log_likelihood(parameters, x, y):
    height, length, noise = parameters.exp()
    factor = torch.linalg.cholesky(kernel(x, x, height, length) + noise**2 * torch.eye(len(x), dtype=x.dtype))
    scaled = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
    return 0.5 * (scaled**2).sum() + factor.diagonal().log().sum() + 0.5 * len(x) * np.log(2 * np.pi)


# %%
# Newton's method would need the second derivatives as well. They cost one more line: here a trust-region method takes
# the Hessian, and needs few steps.

x, y = torch.from_numpy(inputs), torch.from_numpy(outputs)
gradient = torch.func.grad(negative_log_likelihood)
hessian = torch.func.hessian(negative_log_likelihood)
fit = minimize(
    lambda p: negative_log_likelihood(torch.from_numpy(p), x, y).item(),
    np.log([1.0, 1.0, 0.3]),
    jac=lambda p: gradient(torch.from_numpy(p), x, y).numpy(),
    hess=lambda p: hessian(torch.from_numpy(p), x, y).numpy(),
    method="trust-exact",
)
height, length, noise = np.exp(fit.x)
print(f"height {height:.2f}, length {length:.2f}, noise {noise:.2f} after {fit.nit} steps")

# %%
# The prediction between the points.

dense = torch.linspace(-0.5, 10.5, 300, dtype=torch.float64)
covariance = kernel(x, x, height, length) + noise**2 * torch.eye(25, dtype=torch.float64)
across = kernel(dense, x, height, length)
mean = across @ torch.linalg.solve(covariance, y)
variance = height**2 - (across * torch.linalg.solve(covariance, across.T).T).sum(1)
spread = 2 * variance.clamp(min=0).sqrt()

plt.figure(figsize=(7, 3.5))
plt.fill_between(dense.numpy(), (mean - spread).numpy(), (mean + spread).numpy(), alpha=0.25, label="two standard deviations")
plt.plot(dense.numpy(), mean.numpy(), label="mean")
plt.plot(dense, dense.sin() + 0.5 * (3 * dense).sin(), "--", color="0.6", label="the curve that was sampled")
plt.plot(inputs, outputs, "k.", label="points")
plt.legend()
plt.tight_layout()
plt.show()

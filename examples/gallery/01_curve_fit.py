"""
A curve fitted with its uncertainty
===================================

A decay with an oscillation is fitted to noisy points. Least squares needs the derivative of each residual by each
parameter, a Jacobian. The same Jacobian gives the covariance of the parameters.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import wengert as torch
from wengert.func import jacfwd

rng = np.random.default_rng(0)
times = np.linspace(0, 10, 80)
noise = 0.08


def model(parameters, times):
    amplitude, rate, frequency, phase = parameters
    return amplitude * np.exp(-rate * times) * np.cos(frequency * times + phase)


truth = np.array([1.0, 0.25, 2.4, 0.5])
points = model(truth, times) + noise * rng.normal(size=times.size)

# %%
# The model is written with NumPy, and runs on arrays and tensors. There are four parameters and eighty residuals, so
# forward mode, which goes once through the model for each parameter, is the cheaper way to the Jacobian.


def residuals(parameters):
    return model(parameters, times) - points


def jacobian(parameters):
    return jacfwd(lambda p: model(p, torch.from_numpy(times)))(torch.from_numpy(parameters)).numpy()


fit = least_squares(residuals, x0=[0.8, 0.1, 2.2, 0.0], jac=jacobian)
covariance = np.linalg.inv(fit.jac.T @ fit.jac) * 2 * fit.cost / (times.size - 4)
names, errors = ("amplitude", "rate", "frequency", "phase"), np.sqrt(np.diag(covariance))
for name, value, error, true in zip(names, fit.x, errors, truth, strict=True):
    print(f"{name:10} {value:.3f} +- {error:.3f}   true {true}")

# %%
# The uncertainty of the curve at each time is the covariance, seen through the derivative of the model at that time.

dense = np.linspace(0, 10, 400)
slopes = jacfwd(lambda p: model(p, torch.from_numpy(dense)))(torch.from_numpy(fit.x)).numpy()
spread = np.sqrt(np.einsum("ti,ij,tj->t", slopes, covariance, slopes))
curve = model(fit.x, dense)

plt.figure(figsize=(7, 3.5))
plt.plot(times, points, ".", color="0.5", label="points")
plt.plot(dense, curve, label="fit")
plt.fill_between(dense, curve - 2 * spread, curve + 2 * spread, alpha=0.3, label="two standard deviations")
plt.xlabel("time")
plt.legend()
plt.tight_layout()
plt.show()

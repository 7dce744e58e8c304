"""A Kalman filter: the likelihood of positions that were measured along a track with random accelerations."""

import numpy as np

START = np.array([0.3, 0.8])  # standard deviations of the acceleration and of the measurement


def measurements():
    rng = np.random.default_rng(0)
    return np.cumsum(np.cumsum(0.5 * rng.normal(size=40))) + rng.normal(size=40)


def program(noise):
    """Minus the logarithm of the likelihood."""
    F, H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    G = np.array([[0.5], [1.0]])
    Q, R = noise[0] ** 2 * (G @ G.T), noise[1] ** 2 * np.eye(1)
    x, P, loss = np.zeros(2), 10.0 * np.eye(2), 0.0
    for z in measurements():
        x, P = F @ x, F @ P @ F.T + Q
        S, error = H @ P @ H.T + R, z - H @ x
        gain = np.linalg.solve(S, H @ P).T
        loss = loss + 0.5 * (error @ np.linalg.solve(S, error) + np.log(np.linalg.det(2 * np.pi * S)))
        x, P = x + gain @ error, P - gain @ H @ P
    return loss

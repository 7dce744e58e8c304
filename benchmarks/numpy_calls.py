"""Time NumPy's functions on tensors beside torch's spelling of the same: what the NumPy name costs.

    python benchmarks/numpy_calls.py [name ...]

Tensors of four float64 that require grad. Rounds take turns; the least counts. "NumPy's own" is the time that NumPy takes to hand
a call to an object that does nothing. docs/numpy-functions.md has the table.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import wengert as torch

ROUNDS, CALLS = 400, 100

m = torch.tensor(np.array([[2.0, 0.5], [0.25, 1.5]]), requires_grad=True)
x, y = [torch.tensor(np.array(v), requires_grad=True) for v in ([0.1, 0.4, 0.7, 0.9], [1.0, 2.0, 0.5, 1.5])]
c = torch.tensor([True, False, True, False])
array = np.array([1.0, 2.0, 3.0, 4.0])

CASES = {
    "np.sum(x)": "torch.sum(x)", "np.sum(m, axis=0)": "torch.sum(m, dim=0)", "np.mean(m, axis=1)": "torch.mean(m, dim=1)",
    "np.max(m, axis=1)": "torch.amax(m, dim=1)", "np.std(x)": "torch.std(x, correction=0)", "np.exp(x)": "torch.exp(x)",
    "np.add(x, y)": "torch.add(x, y)", "array * x": "torch.mul(x, array)", "np.concatenate([x, y])": "torch.cat([x, y])",
    "np.stack([x, y])": "torch.stack([x, y])", "np.where(c, x, y)": "torch.where(c, x, y)", "np.dot(x, y)": "torch.dot(x, y)",
    "np.matmul(m, m)": "torch.matmul(m, m)", 'np.einsum("ij,jk->ik", m, m)': 'torch.einsum("ij,jk->ik", m, m)',
    "np.linalg.solve(m, m)": "torch.linalg.solve(m, m)", "np.linalg.norm(x)": "torch.linalg.norm(x)",
    "np.linalg.inv(m)": "torch.linalg.inv(m)", "np.reshape(x, (2, 2))": "torch.reshape(x, (2, 2))",
    "np.transpose(m)": "torch.transpose(m, 0, 1)",
    "np.clip(x, 0.3, 0.6)": "torch.clip(x, 0.3, 0.6)", "np.cumsum(x)": "torch.cumsum(x, 0)",
    "np.outer(x, y)": "torch.outer(x, y)", "np.tensordot(m, m, 1)": "torch.tensordot(m, m, 1)",
    "np.expand_dims(m, 0)": "torch.unsqueeze(m, 0)", "np.diag(x)": "torch.diag(x)", "np.trace(m)": "torch.trace(m)",
    "np.fft.fft(x)": "torch.fft.fft(x)", "np.sort(x)": "torch.sort(x)[0]", "np.zeros_like(x)": "torch.zeros_like(x)",
    "np.diff(x)": "torch.diff(x)", "np.take(x, [0, 2])": "x[[0, 2]]",
}  # fmt: skip


class Silent:
    """An operand to which NumPy hands its functions, and which does nothing."""

    def __array_function__(self, function, types, args, kwargs):
        return None

    def __array_ufunc__(self, ufunc, method, *inputs, **settings):
        return None


def _timer(call: str, operands: dict) -> object:
    space = {"np": np, "torch": torch, "array": array, "clock": time.process_time_ns, **operands}
    exec(f"def run():\n start = clock()\n for _ in range({CALLS}):\n  {call}\n return clock() - start", space)
    return space["run"]


def main(names: list[str]) -> None:
    """Print a row of the table for each call."""
    torch.set_num_threads(1)
    print("| call | microseconds | more than torch's spelling | NumPy's own |\n|---|---|---|---|")
    tensors, silent = {"x": x, "y": y, "m": m, "c": c}, dict.fromkeys("xymc", Silent())
    for call, spelling in CASES.items():
        if names and not any(name in call for name in names):
            continue
        runs = [_timer(call, tensors), _timer(spelling, tensors), _timer(call, silent)]
        least = [float("inf")] * 3
        for _ in range(ROUNDS):
            least = [min(known, run()) for known, run in zip(least, runs)]
        ours, theirs, handed = (1e-3 * found / CALLS for found in least)
        print(f"| `{call}` | {ours:.1f} | {ours - theirs:.1f} | {handed:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

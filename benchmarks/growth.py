"""Growth of costs: of an operation with its elements, of a graph with its nodes. `run.py --only growth` prints it.

A high cost at the start is overhead. A step upwards means that data no longer fits a cache, or that threads start too early
or too late.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from measure import compare, time_rounds
from programs import chain

SIZES = (10, 1_000, 100_000, 10_000_000)
NODES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)

Operation = Callable[[ModuleType, Any, Any], Any]

# name, the operation, the second operand's shape in terms of the first's (n // 10, 10)
OPERATIONS: list[tuple[str, Operation, str]] = [
    ("x * y", lambda torch, x, y: x * y, "same"),
    ("x + row", lambda torch, x, y: x + y, "row"),
    ("x[:, ::2] * y[:, ::2]", lambda torch, x, y: x[:, ::2] * y[:, ::2], "same"),
    ("x.t() * y.t()", lambda torch, x, y: x.t() * y.t(), "same"),
    ("exp", lambda torch, x, y: torch.exp(x), "none"),
    ("tanh", lambda torch, x, y: torch.tanh(x), "none"),
    ("relu", lambda torch, x, y: torch.relu(x), "none"),
    ("sum", lambda torch, x, y: x.sum(), "none"),
    ("softmax of rows of 10", lambda torch, x, y: torch.softmax(x, 1), "none"),
]


def prepare(torch: ModuleType, operation: Operation, other: str, size: int) -> Callable[[], np.ndarray]:
    """Return the operation with its gradients on `size` elements, shape (size // 10, 10), float32."""
    rng = np.random.default_rng(0)
    shape = (size // 10, 10)
    leaves = [torch.tensor(rng.uniform(-1, 1, shape).astype(np.float32), requires_grad=True)]
    if other != "none":
        shape = shape if other == "same" else shape[1:]
        leaves.append(torch.tensor(rng.uniform(-1, 1, shape).astype(np.float32), requires_grad=True))
    x, y = leaves[0], leaves[-1]
    cotangent = torch.ones(operation(torch, x, y).shape)

    def program() -> np.ndarray:
        for leaf in leaves:
            leaf.grad = None
        operation(torch, x, y).backward(cotangent)
        return x.grad.numpy()

    return program


def measure_elements(libraries: dict[str, ModuleType], rounds: int) -> list[dict[str, Any]]:
    """Yield seconds of forward and backward for each operation and size, and the ratio if torch is installed."""
    results = []
    for name, operation, other in OPERATIONS:
        for size in SIZES:
            programs = {label: prepare(library, operation, other, size) for label, library in libraries.items()}
            values = [program() for program in programs.values()]
            np.testing.assert_allclose(values[0], values[-1], rtol=1e-4, atol=1e-6, err_msg=f"{name}, {size}: results differ")
            results.append({"operation": name, "elements": size, **_times(programs, rounds)})
    return results


def measure_nodes(libraries: dict[str, ModuleType], rounds: int) -> list[dict[str, Any]]:
    """Yield seconds for each length of a chain of multiply/adds on a 2-vector, and the ratio if torch is installed."""
    results = []
    for nodes in NODES:
        programs = {label: chain(library, (2,), nodes, "none") for label, library in libraries.items()}
        results.append({"nodes": nodes, **_times(programs, min(rounds, 3) if nodes > 100_000 else rounds)})
    return results


def _times(programs: dict[str, Callable[[], np.ndarray]], rounds: int) -> dict[str, float]:
    times = time_rounds(programs, rounds, True)
    result = {label: min(seconds) for label, seconds in times.items()}
    if "torch" in times:
        result["ratio"], result["low"], result["high"] = compare(times["torch"], times["wengert"])
    return result

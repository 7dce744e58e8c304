"""The uncompiled core beside other libraries that differentiate NumPy's functions in Python: HIPS autograd and MyGrad.

    pip install autograd mygrad
    WENGERT_PURE=1 python benchmarks/python_libraries.py

Each program uses the functions of its library. A library that is not installed is left out. The columns after the times are
the library's time over wengert's (above 1: wengert is faster), as in run.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import compare, format_seconds, time_rounds

import wengert
from wengert import __config__

try:
    import autograd.numpy as autograd_numpy

    import autograd
except ImportError:
    autograd = None
try:
    import mygrad
except ImportError:
    mygrad = None

Program = Callable[[], Any]
ROUNDS = 15
rng = np.random.default_rng(0)


def programs_of(write: Callable[[Any], Callable[..., Any]], arrays: list[np.ndarray]) -> dict[str, Program]:
    """Return programs for the gradients of one function, by library. write(module) returns the function of the arrays."""
    tensors = [wengert.tensor(x, requires_grad=True) for x in arrays]
    forward = write(wengert)

    def program() -> list[np.ndarray]:
        for t in tensors:
            t.grad = None
        forward(*tensors).backward()
        return [t.grad.numpy() for t in tensors]

    programs: dict[str, Program] = {"wengert": program}
    if autograd is not None:
        gradient = autograd.grad(write(autograd_numpy), argnum=tuple(range(len(arrays))))
        programs["autograd"] = lambda: list(gradient(*arrays))
    if mygrad is not None:
        programs["mygrad"] = mygrad_program(write(mygrad), [mygrad.tensor(x) for x in arrays])
    return programs


def mygrad_program(forward: Callable[..., Any], tensors: list[Any]) -> Program:
    def program() -> list[np.ndarray]:
        forward(*tensors).backward()
        return [t.grad for t in tensors]

    return program


def chain(xp: Any) -> Callable[..., Any]:
    def forward(x: Any, a: Any, b: Any) -> Any:
        for _ in range(50):
            x = x * a
            x = x + b
        return xp.sum(x)

    return forward


def network(xp: Any) -> Callable[..., Any]:
    inputs: Any = np.linspace(0, 1, 32).reshape(16, 2)
    if xp is wengert:
        inputs = wengert.tensor(inputs)

    def forward(*parameters: Any) -> Any:
        hidden = inputs
        for i in (0, 2):
            hidden = xp.tanh(xp.matmul(hidden, parameters[i]) + parameters[i + 1])
        return xp.sum((xp.matmul(hidden, parameters[4]) + parameters[5]) ** 2)

    return forward


def pointwise(xp: Any) -> Callable[..., Any]:
    return lambda x, y, z: xp.sum(xp.tanh(x * y + z))


def draw(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [rng.uniform(-1, 1, shape) for shape in shapes]


CASES = [
    ("chain of 100 multiply/adds, 4x4, all gradients", chain, draw((4, 4), (4, 4), (4, 4))),
    ("network 2-16-16-1, batch 16, gradients", network, draw((2, 16), (16,), (16, 16), (16,), (16, 1), (1,))),
    ("tanh(x*y+z) over 1,000,000, three gradients", pointwise, draw(*[(1_000_000,)] * 3)),
]


def main() -> None:
    print(f"{__config__.summary()}\n")
    for title, write, arrays in CASES:
        programs = programs_of(write, arrays)
        values = [program() for program in programs.values()]
        for value in values:
            for found, expected in zip(value, values[0], strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-9)
        times = time_rounds(programs, ROUNDS, True)
        cells = [f"wengert {format_seconds(min(times['wengert']))}"]
        for name in [n for n in programs if n != "wengert"]:
            ratio, low, high = compare(times[name], times["wengert"])
            cells.append(f"{name} {format_seconds(min(times[name]))}, {ratio:.2f} ({low:.2f}-{high:.2f})")
        print(title.ljust(50), *cells, sep="  ")


if __name__ == "__main__":
    main()

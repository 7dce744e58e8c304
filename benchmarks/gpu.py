"""Time networks and pointwise functions on a GPU, beside torch.cuda where that is installed: `make bench-cuda`.

The cases are those of `make bench` whose tensors lie on the default device. Each call ends with a number in main memory, so it
counts the work of the GPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import networks
import numpy as np
from measure import compare, format_seconds, time_rounds

import wengert

CASES = {
    "training step of a network 784-256-128-10": networks.prepare_training_step,
    "training step of a network 1024-2048-2048-1000": networks.prepare_large_training_step,
    "log_softmax": networks.prepare_log_softmax,
    "recurrent network": networks.prepare_recurrent_network,
    "attention": networks.prepare_attention,
    "LeNet": networks.prepare_lenet,
}


def prepare_gelu(torch: ModuleType) -> Callable[[], np.ndarray]:
    """gelu of ten million numbers and its gradient: what one kernel for each saves."""
    x = torch.linspace(-3, 3, 10_000_000, requires_grad=True)

    def program() -> np.ndarray:
        x.grad = None
        torch.nn.functional.gelu(x).sum().backward()
        return np.asarray(x.grad[::1_000_000].sum().item())

    return program


CASES["gelu of 10,000,000 numbers"] = prepare_gelu


def libraries() -> dict[str, Any]:
    """Return wengert, and torch if it is installed and has a GPU. Ends the program where wengert has none."""
    if not wengert.cuda.is_available():
        sys.exit("bench-cuda needs a GPU and CuPy, and found none. Hint: pip install 'wengert[cuda]' on a machine with a GPU")
    found = {"wengert": wengert}
    try:
        import torch
    except ImportError:
        return found
    return {**found, "torch": torch} if torch.cuda.is_available() else found


def main() -> None:
    """Print one row for each case."""
    parser = argparse.ArgumentParser(description="Time programs on a GPU.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    chosen = libraries()
    print(f"on {wengert.cuda.get_device_name()}, beside {', '.join(name for name in chosen if name != 'wengert') or 'nothing'}")
    for title, prepare in CASES.items():
        programs = {}
        for name, library in chosen.items():
            library.set_default_device("cuda")
            programs[name] = prepare(library)
        values = [program() for program in programs.values()]
        for value in values:
            np.testing.assert_allclose(value, values[0], rtol=1e-2, atol=1e-4, err_msg=f"{title}: results differ")
        times = time_rounds(programs, rounds, collect=True)
        cells = [format_seconds(min(seconds)) for seconds in times.values()]
        if "torch" in times:
            cells.append("{:.2f} ({:.2f}-{:.2f})".format(*compare(times["torch"], times["wengert"])))
        print(title.ljust(50), *[cell.rjust(18) for cell in cells], flush=True)


if __name__ == "__main__":
    main()

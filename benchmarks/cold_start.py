"""What a library costs before it does any work: megabytes of an installation, time and memory of a program of three lines.

    python benchmarks/cold_start.py                                      # the libraries that this Python has
    python benchmarks/cold_start.py --python jax=/path/to/bin/python     # jax of another environment

The program makes three numbers, and prints the gradient of the sum of their squares. Processes run in turns, so that all meet the
same load, and the median counts. Other programs on the machine add to the time that passes, but not to the processor's. A size is
that of the files of a library and of all that its installation brings, without what Python compiles.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

TENSORS = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True); (x * x).sum().backward(); print(x.grad)"
PROGRAMS = {
    "numpy": "import numpy as np; print(2 * np.array([1.0, 2.0, 3.0]))",
    "wengert": f"import wengert as torch; {TENSORS}",
    "torch": f"import torch; {TENSORS}",
    "jax": "import jax; print(jax.grad(lambda x: (x * x).sum())(jax.numpy.array([1.0, 2.0, 3.0])))",
    "autograd": "import autograd, autograd.numpy as np; print(autograd.grad(lambda x: np.sum(x * x))(np.array([1.0, 2.0, 3.0])))",
}
# Prints the version, and the number and the bytes of the distributions that an installation brings.
SIZE = """
import importlib.metadata as metadata, re, sys
found, waiting = {}, [sys.argv[1]]
while waiting:
    name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
    if name in found:
        continue
    try:
        found[name] = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        continue  # for another system
    waiting += [re.match(r"[\\w.-]+", line)[0] for line in found[name].requires or [] if "extra ==" not in line]
sizes = [file.size or 0 for one in found.values() for file in one.files or [] if file.suffix != ".pyc"]
print(found[next(iter(found))].version, len(found), sum(sizes))
"""


class Cost(NamedTuple):
    """Wall and processor seconds, and the peak of memory in MB, of a process."""

    wall: float
    processor: float
    memory: float


def cost(python: str, program: str) -> Cost:
    """Run a program in a fresh interpreter."""
    begin = time.perf_counter()
    process = subprocess.Popen([python, "-c", program], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{python} -c {program!r} failed")
    return Cost(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description="Costs before any work, as a table.")
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=PATH", help="the Python that has a library")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    pythons = dict.fromkeys(PROGRAMS, sys.executable) | dict(given.split("=", 1) for given in options.python)
    sizes = {}
    for name, python in pythons.items():
        done = subprocess.run([python, "-c", SIZE, name], capture_output=True, text=True)
        if done.returncode == 0:
            sizes[name] = done.stdout.split()
            cost(python, PROGRAMS[name])  # reads the files for the first time
    rounds = [{name: cost(pythons[name], PROGRAMS[name]) for name in sizes} for _ in range(options.rounds)]
    print("| library | packages | installed | processor time | time | peak of memory |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (version, packages, size) in sizes.items():
        wall, processor, memory = (statistics.median(column) for column in zip(*(one[name] for one in rounds), strict=True))
        times = f"{processor:.2f} s | {wall:.2f} s"
        print(f"| {name} {version} | {packages} | {int(size) / 1e6:.0f} MB | {times} | {memory:.0f} MB |")


if __name__ == "__main__":
    main()

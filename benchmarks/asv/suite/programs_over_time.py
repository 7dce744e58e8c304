"""The benchmarks' programs for airspeed velocity, which follows their times and memory from commit to commit.

    pip install asv; cd benchmarks/asv; asv run HEAD~5..HEAD; asv publish; asv preview
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from programs import CASES

import wengert

PROGRAMS = {case.name: case.prepare for case in CASES if case.name != "longest-chain"}


class Programs:
    """Forward and backward of each."""

    params = list(PROGRAMS)
    param_names = ["program"]

    def setup(self, name: str) -> None:
        self.program = PROGRAMS[name](wengert)
        self.program()

    def time_forward_and_backward(self, name: str) -> None:
        self.program()

    def peakmem_forward_and_backward(self, name: str) -> None:
        self.program()


class Import:
    """A fresh interpreter that imports wengert."""

    def time_import(self) -> None:
        subprocess.run([sys.executable, "-c", "import wengert"], check=True)

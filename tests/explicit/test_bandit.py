"""The example examples/bandit.py: it learns from reward alone, and says so when it does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

for _package in ("matplotlib", "tqdm"):
    pytest.importorskip(_package)

SCRIPT = Path(__file__).parents[2] / "examples" / "bandit.py"


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1"])
def test_it_finds_the_best_machine_and_then_another(tmp_path, seed):
    done = run(tmp_path, "--seed", seed)
    assert done.returncode == 0, done.stderr
    shares = [int(share) for share in re.findall(r"(\d+)%", done.stdout)]
    assert len(shares) == 2 and min(shares) >= 85
    assert (tmp_path / "bandit.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_too_short_a_run_is_reported(tmp_path):
    done = run(tmp_path, "--episodes", "20", "--output", "a.png")
    assert done.returncode == 1 and "more --episodes may help" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--episodes", "3"), ("--output", "no/folder/a.png"), ("--seed", "x")])
def test_wrong_options_end_the_script_before_any_work(tmp_path, arguments):
    done = run(tmp_path, *arguments)
    assert done.returncode == 2 and "bandit.py: error" in done.stderr and not list(tmp_path.iterdir())

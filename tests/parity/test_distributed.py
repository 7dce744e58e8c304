"""The same program on two ranks, on torch with gloo and on wengert with MPI: values, messages, averaged gradients."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from distributed_ranks import passes

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).parents[1] / "distributed" / "gloo_program.py"


def on_gloo() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(PROGRAM), "torch"], env=base | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    return "".join([rank.communicate(timeout=120)[0] for rank in ranks])


def lines(text: str) -> dict[tuple[int, str], object]:
    return {(rank, label): found for rank, label, found in map(json.loads, text.splitlines())}


def test_outcomes_are_those_of_torch():
    ours, theirs = lines(passes(PROGRAM, "wengert", 2)), lines(on_gloo())
    assert len(theirs) > 150 and ours.keys() == theirs.keys()
    differences = {key: (ours[key], theirs[key]) for key in theirs if ours[key] != theirs[key]}
    assert differences == {}

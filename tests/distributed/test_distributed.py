"""wengert.distributed: programs on two and four ranks, which assert what they claim against NumPy and differences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from distributed_ranks import launch, launcher, passes

PROGRAMS = Path(__file__).parent / "programs.py"

pytestmark = pytest.mark.slow


def test_calls_of_two_ranks():
    passes(PROGRAMS, "reductions,movements,messages,bad_arguments,derivatives", 2)


def test_different_calls_are_refused_on_all_ranks():
    result = launch(PROGRAMS, "different_calls", 2)
    assert result.stdout.count("passed") == 2, result.stdout + result.stderr


def test_groups_are_parts_of_the_ranks():
    passes(PROGRAMS, "groups", 4)


def test_gradients_are_averaged():
    passes(PROGRAMS, "parallel_modules,hooks_and_uneven_batches", 2)


def test_batch_norms_share_their_statistics():
    passes(PROGRAMS, "synchronized_norms", 2)


def test_more_ranks_train_to_the_losses_of_one():
    losses = [np.array(passes(PROGRAMS, "digits", ranks).split(), float) for ranks in (1, 2, 4)]
    assert len(losses[0]) == 30 and losses[0][-1] < 0.5 < losses[0][0]
    assert np.allclose(losses[1], losses[0], rtol=1e-4) and np.allclose(losses[2], losses[0], rtol=1e-4)


def test_communication_overlaps_the_backward_pass():
    passes(PROGRAMS, "overlap", 2)


def errors_of(result: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"DistBackendError: (.*)", result.stderr)


def test_the_error_names_the_rank_that_skips_a_call():
    result = launch(PROGRAMS, "one_skips", 2)
    (error,) = errors_of(result)
    assert "Timed out waiting 2 seconds for all_reduce" in error and "rank 1 has not called it: its last was call 1, barrier" in error


@pytest.mark.parametrize(("how", "words"), [
    ("raises", "rank 1 has ended with ArithmeticError: on purpose"), ("dies", "rank 1 has ended unexpectedly"), ("returns", "rank 1 has left"),
])  # fmt: skip
def test_all_ranks_get_an_error_when_one_ends(how, words):
    result = launch(PROGRAMS, "one_ends", 3, how, survive=how == "dies")
    found = errors_of(result)
    assert len(found) == 2 and all(words in error for error in found), result.stderr
    assert "ArithmeticError: on purpose" in result.stderr or how != "raises"


def test_a_program_ends_though_its_hub_is_slow_and_its_children_end_first():
    passes(PROGRAMS, "slow_end,forks", 2)


def test_calls_that_nobody_waits_for_are_finished_or_named_at_the_end():
    passes(PROGRAMS, "forgets", 2, "all_reduce")
    (error,) = errors_of(launch(PROGRAMS, "forgets", 2, "irecv"))
    assert "The program is over, and a call can never be finished" in error and "irecv (call 0 of the default group, on rank 1)" in error


@pytest.mark.parametrize("which", ["0", "1"])
def test_a_rank_that_is_stopped_is_named_at_the_end_of_the_others(which):
    (error,) = errors_of(launch(PROGRAMS, "stops", 2, which))
    assert f"waits for rank {which}, which has not answered for 2 seconds" in error


def test_an_end_of_mpi_that_hangs_names_its_place():
    result = launch(PROGRAMS, "finalizes_alone", 2)
    assert result.returncode and "Timeout (0:00:02)" in result.stderr and "in _finalize_mpi" in result.stderr


def test_one_process_needs_no_launcher():
    launcher()
    code = "import wengert as t; d = t.distributed; d.init_process_group('gloo'); x = t.ones(2); d.all_reduce(x); print(x.tolist(), d.get_world_size())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.split("\n")[0] == "[1.0, 1.0] 1"
    env = os.environ | {"WORLD_SIZE": "4", "RANK": "1"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, env=env)
    assert "ValueError: init_process_group: world_size is 4, but it is 1 in MPI" in result.stderr and "mpirun -n 4" in result.stderr

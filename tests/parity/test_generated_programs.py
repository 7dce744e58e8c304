"""Programs that hypothesis draws, of operations, views, writes in place, hooks, Functions and passes, on torch and wengert.

After every step everything that can be seen of every tensor is compared, and what hooks saw; of a step that fails, the
kind of the error and the first line of its message. A program that differs is shrunk to the few steps that matter.
"""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings

import wengert
from drawn_programs import Program, programs
from twins import assert_same

torch = pytest.importorskip("torch")

ci = settings(max_examples=400, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def agree(steps):
    """Run a program in both libraries and compare the logs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = Program(wengert).run(steps), Program(torch).run(steps)
    for n, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        assert_same(a, b, f"log[{n}]")
    assert len(ours) == len(theirs)


@pytest.mark.slow
@given(programs())
@ci
def test_programs_of_all_kinds(steps):
    agree(steps)

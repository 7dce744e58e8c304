"""The library of arrays that tests of devices run on: the strict stand-in, or CuPy on a GPU where WENGERT_TEST_CUDA=1 (`make test-cuda`)."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import pytest

import standin
from wengert.backends import selection

ON_GPU = os.environ.get("WENGERT_TEST_CUDA") == "1"
on_the_stand_in = pytest.mark.skipif(ON_GPU, reason="the stand-in counts how often a program waits, and can be taken away")
on_two_devices = pytest.mark.skipif(ON_GPU and selection.backend_for("cuda").device_count() < 2, reason="there is one GPU")


def a_place() -> str:
    """Return a device for tensors: one that is not the current one, where there are several."""
    return "cuda:1" if selection.backend_for("cuda").device_count() > 1 else "cuda:0"


def in_use() -> AbstractContextManager[None]:
    """Let tensors hold the library's arrays in the block."""
    return nullcontext() if ON_GPU else standin.in_use()

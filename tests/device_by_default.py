"""A plugin of pytest: tests run with the arrays of tests/standin.py, and tensors are made and printed as if `cuda` were the usual device.

    python -m pytest -p device_by_default tests/documents/test_s2.py

tests/documents/test_on_device.py runs the documents with it."""

from __future__ import annotations

import warnings

import pytest

import standin
import wengert
from wengert.backends import selection


def pytest_configure(config: pytest.Config) -> None:
    selection.use(standin)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the function is deprecated
        wengert.set_default_tensor_type("torch.cuda.FloatTensor")

"""A plugin of pytest: tests run with the arrays of tests/standin.py, and tensors are made and printed as if `cuda` were the usual device.

    python -m pytest -p device_by_default tests/documents/test_s2.py

A tensor on a device gives NumPy no array, but tests compare values with NumPy's. So numpy() and np.asarray() give a test a copy. The
package, and the programs in a test's strings, are refused as ever. tests/documents/test_on_device.py runs the documents and other
folders with this plugin."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import standin
import wengert
from wengert.backends import selection

TESTS = str(Path(__file__).parent)
LIBRARIES = (str(Path(np.__file__).parent), __file__)


def is_asked_by_a_test() -> bool:
    """Whether the function that asks for an array, outside NumPy, is one of a test file."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(LIBRARIES):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(TESTS)


def copying(method: Any) -> Any:
    """Return Tensor.numpy or Tensor.__array__ that gives test files a copy of what lies on a device."""

    def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_cuda and is_asked_by_a_test():
            self._check_array_may_be_taken()
            self = self.detach().cpu()
        return method(self, *args, **kwargs)

    return convert


def pytest_configure(config: pytest.Config) -> None:
    selection.use(standin)
    for name in ("numpy", "__array__"):
        setattr(wengert.Tensor, name, copying(getattr(wengert.Tensor, name)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the function is deprecated
        wengert.set_default_tensor_type("torch.cuda.FloatTensor")

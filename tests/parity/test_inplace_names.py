"""In-place forms are functions where torch has them as functions, and nowhere else: programs ask hasattr(torch, name + "_")."""

from __future__ import annotations

from operator import attrgetter

import pytest

import wengert

torch = pytest.importorskip("torch")

# Of layouts and options that are not there.
LACKING = {"": {"embedding_renorm_", "feature_dropout_", "resize_as_sparse_"}}


def inplace_names(package, namespace):
    """The names that end in one underscore, of functions in a namespace."""
    home = attrgetter(namespace)(package) if namespace else package
    names = [name for name in dir(home) if name.endswith("_") and not name.endswith("__") and not name.startswith("_")]
    return {name for name in names if callable(getattr(home, name))}


@pytest.mark.parametrize("namespace", ["", "nn.functional", "linalg", "special", "fft", "masked", "signal.windows"])
def test_inplace_functions_are_torchs(namespace):
    theirs = inplace_names(torch, namespace)
    assert inplace_names(wengert, namespace) == theirs - LACKING.get(namespace, set())


def test_no_method_with_an_underscore_is_a_function_that_torch_has_not():
    """Also of those that dir does not list."""
    methods = {name for name in dir(wengert.Tensor) if name.endswith("_") and not name.startswith("_")}
    assert len(methods) > 150
    assert [name for name in sorted(methods) if hasattr(wengert, name) and not hasattr(torch, name)] == []

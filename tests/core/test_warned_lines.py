"""Warnings of operations stand at the line of the program that called them, on both cores and through any number of functions."""

from __future__ import annotations

import warnings

import pytest

import wengert as torch

X = torch.ones(3, 3)
BYTES = torch.ones(3, dtype=torch.uint8)
CALLS = {
    "a mask of bytes": lambda: X[BYTES],
    "a write at a mask of bytes": lambda: X.clone().__setitem__(BYTES, 1.0),
    "index_put at a mask of bytes": lambda: X.index_put((BYTES,), torch.tensor(1.0)),
    "an index in a list": lambda: X[[0, slice(None)]],
    "softmax without dim": lambda: torch.nn.functional.softmax(X),
    "log_softmax without dim": lambda: torch.nn.functional.log_softmax(X),
    "a layer without dim": lambda: torch.nn.Softmax()(X),
    "a tensor of a tensor": lambda: torch.tensor(X),
    "range": lambda: torch.range(3),
    "meshgrid": lambda: torch.meshgrid(torch.ones(2), torch.ones(2)),
    "cov of one observation": lambda: torch.cov(torch.ones(1, 1)),
    "cov, as a method": lambda: X.cov(correction=9),
    "kl_div": lambda: torch.nn.functional.kl_div(X, X),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_of_the_program(name):
    call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, call.__code__.co_firstlineno)]

"""Compiled functions with indices, masks, orders and other arrays that operations make and keep."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch

ROWS = np.random.default_rng(5).normal(size=(4, 4, 5))


def index(*numbers):
    return torch.tensor(list(numbers))


def assert_replayed(function, *argument_lists, recordings=1):
    """Compare compiled with eager calls, the arguments in turn. recordings: how many there are at the end."""
    compiled = torch.compile(function, fullgraph=True)
    for arguments in argument_lists * 2:
        expected, found = function(*arguments), compiled(*arguments)
        expected, found = [x if isinstance(x, tuple) else (x,) for x in (expected, found)]
        assert len(expected) == len(found)
        for x, y in zip(expected, found, strict=True):
            torch.testing.assert_close(y, x, rtol=1e-12, atol=1e-12, equal_nan=True)
    assert len(compiled.recordings) == recordings
    assert sum(x.runs for x in compiled.recordings) >= len(argument_lists)
    return compiled


def inputs(n=3):
    return [torch.tensor(row, requires_grad=True) for row in ROWS[:n]]


def with_gradient(function):
    def run(x, *others):
        found = function(x, *others)
        return found.detach(), *torch.autograd.grad((found * found).sum(), x)

    return run


KEPT = {
    "sort": lambda x: x.sort(dim=1)[0],
    "sort by rows, descending": lambda x: x.sort(dim=0, descending=True).values,
    "topk": lambda x: x.topk(2).values,
    "max": lambda x: x.max(dim=1).values,
    "min": lambda x: x.min(dim=0)[0],
    "median": lambda x: x.median(dim=1).values,
    "cummax": lambda x: x.cummax(dim=1).values,
    "kthvalue": lambda x: x.kthvalue(2, dim=1).values,
    "quantile": lambda x: x.quantile(0.3, dim=1),
    "gather": lambda x: x.gather(1, index([0, 2], [1, 1], [4, 0], [3, 3])),
    "take_along_dim": lambda x: x.take_along_dim(x.argsort(1), 1),
    "take": lambda x: x.take(index(0, 7, 7)),
    "index_select": lambda x: x.index_select(0, index(2, 0, 2)),
    "a list": lambda x: x[[0, 2]],
    "lists": lambda x: x[[0, 2], [1, 1]],
    "a list of bools": lambda x: x[[True, False, True, True]],
    "an index tensor": lambda x: x[index(3, 3, 0)] * 2,
    "unfold": lambda x: x.unfold(1, 3, 1),
    "diagonal": lambda x: x.diagonal(1),
    "normalize": lambda x: torch.nn.functional.normalize(x),
    "cosine_similarity": lambda x: torch.nn.functional.cosine_similarity(x, x.flip(0)),
    "clamp of norms": lambda x: x / x.norm(dim=1, keepdim=True).clamp_min(1e-3),
    "a branch that is not taken": lambda x: torch.where(x > 0, (x.abs() - x).sqrt(), x),
    "cat and stack": lambda x: torch.cat([x, torch.stack([x[0], x[1]])]),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_gradients_through_kept_indices(name):
    assert_replayed(with_gradient(KEPT[name]), *[(x,) for x in inputs()])


def test_an_index_that_is_a_number_is_a_condition():
    x = inputs(1)[0].detach()
    for function in (lambda x, k: x[k] * 2, lambda x, k: x[0, k] * 2, lambda x, k: x.narrow(0, k, 2) * 2, lambda x, k: x[k:3] * 2):
        assert_replayed(function, (x, torch.tensor(1)), (x, torch.tensor(2)), recordings=2)


def test_a_mask_of_one_element_is_a_condition():
    x = inputs(1)[0].detach()
    assert_replayed(lambda x, k: x[k, 1:] * 2, (x, torch.tensor(True)), (x, torch.tensor(False)), recordings=2)


def test_masks_that_select_as_many_elements_share_a_recording():
    x = inputs(1)[0].detach()
    masks = [torch.tensor(np.arange(20).reshape(4, 5) % 4 == k) for k in range(3)]
    assert_replayed(lambda x, m: x[m] * 2, *[(x, m) for m in masks])
    assert_replayed(lambda x, m: x.masked_select(m) * 2, *[(x, m) for m in masks])
    assert_replayed(lambda x, m: m.nonzero(as_tuple=False) + 1, *[(x, m) for m in masks])


def test_masks_that_select_more_elements_are_recorded_anew():
    x = inputs(1)[0].detach()
    masks = [x > 0.5, x > 10, x > 0]
    assert_replayed(lambda x, m: x[m] * 2, *[(x, m) for m in masks], recordings=3)
    assert_replayed(lambda x, m: x[m.any(1), [1]] * 2, *[(x, m) for m in masks], recordings=len({int(m.any(1).sum()) for m in masks}))


FUNCTIONS = {
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64), x),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)) * 2,
    "unique": lambda x: torch.unique(x, return_inverse=True),
    "unique_consecutive": lambda x: torch.unique_consecutive(x.reshape(-1)),
    "isin": lambda x: torch.isin(x, x[:2]),
    "bincount": lambda x: torch.bincount((x.reshape(-1) > 0).long(), minlength=3),
    "histc": lambda x: torch.histc(x, 4, -1, 1),
    "unravel_index": lambda x: torch.unravel_index(x.argmax(), (4, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_compute_past_dispatch(name):
    assert_replayed(FUNCTIONS[name], *[(x.detach(),) for x in inputs()])


def test_checks_of_values_are_made_in_each_run():
    def loss(x, var):
        return torch.nn.functional.gaussian_nll_loss(x, x * 0, var)

    x = inputs(1)[0].detach()
    compiled = assert_replayed(loss, (x, x.abs()), (x, x * x))
    with pytest.raises(ValueError, match="var has negative"):
        compiled(x, -x.abs())


def test_an_array_of_numpy_among_the_arguments_is_no_constant():
    x, chosen = inputs(1)[0].detach(), np.array([0, 1])
    compiled = torch.compile(lambda x, i: x[i] * 2)
    compiled(x, chosen)
    with pytest.warns(RuntimeWarning, match="runs eagerly"):
        compiled(x, chosen)
    for _ in range(3):
        torch.testing.assert_close(compiled(x, chosen), x[chosen] * 2)
        chosen += 1 if chosen[1] < 3 else -1

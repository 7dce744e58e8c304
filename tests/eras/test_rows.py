"""docs/eras.md, and the rows of it that no other test proves. `python tests/eras/test_rows.py` writes the page anew."""

import ast
import importlib.util
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import wengert as torch
from loops import each
from wengert.autograd import Variable

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "eras.md"


def load_table():
    spec = importlib.util.spec_from_file_location("table", Path(__file__).with_name("table.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["table"] = module
    spec.loader.exec_module(module)
    return module


TABLE = load_table()


# -- the page --------------------------------------------------------------------------------------------------------------


def test_every_row_is_there_once():
    assert [row.number for row in TABLE.ROWS] == list(range(1, 99))


@each("row", TABLE.ROWS)
def test_the_test_that_proves_a_row_exists(row):
    """The suite shows that the test passes. Only rows that need a GPU have none."""
    if not row.test:
        assert row.number in {66, 67, 68} and row.needs == TABLE.GPU
        return
    path, _, name = row.test.partition("::")
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    marks = {ast.unparse(d).removeprefix("pytest.mark.").partition("(")[0] for d in function.decorator_list}
    assert not marks & {"skip", "xfail"}


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == TABLE.render(), "python tests/eras/test_rows.py writes it anew"


# -- rows ------------------------------------------------------------------------------------------------------------------


def test_sizes_as_ints_list_or_tuple():
    for make in (torch.ones, torch.zeros, torch.randn, torch.rand, torch.empty):
        shapes = [make(1), make(3), make([1]), make(1, 1), make((2, 3)), make([2, 3])]
        assert [tuple(x.shape) for x in shapes] == [(1,), (3,), (1,), (1, 1), (2, 3), (2, 3)]
        assert {x.dtype for x in shapes} == {torch.float32}
    assert torch.Tensor([1]).tolist() == [1.0] and torch.Tensor(2, 3).shape == (2, 3)


def test_the_graph_is_made_anew_in_every_iteration():
    """Of a loop whose length and branches depend on the data: the Collatz steps of n, as a product of factors of x."""
    x = Variable(torch.Tensor([2.0]), requires_grad=True)
    for n in (1, 2, 3, 6, 7):
        y, factors, k = x * 1, 0, n
        while k != 1:
            if k % 2:
                y, k = y * x, 3 * k + 1
                factors += 1
            else:
                y, k = y + x, k // 2
        x.grad = None
        y.backward()
        expected = slope_of_collatz(n, 2.0)
        assert x.grad.item() == pytest.approx(expected, rel=1e-6)


def slope_of_collatz(n, x, step=1e-6):
    def value(x):
        y, k = x, n
        while k != 1:
            y, k = (y * x, 3 * k + 1) if k % 2 else (y + x, k // 2)
        return y

    return (value(x + step) - value(x - step)) / (2 * step)


def test_hooks_look_at_keep_and_change_gradients():
    x = Variable(torch.Tensor([1.0, 2.0]), requires_grad=True)
    y = x * 3
    kept = {}
    y.register_hook(lambda grad: kept.update(y=grad))
    y.register_hook(lambda grad: grad.clamp(max=2.5))
    (y * y).sum().backward()
    np.testing.assert_allclose(kept["y"].numpy(), [6.0, 12.0])
    np.testing.assert_allclose(x.grad.numpy(), [7.5, 7.5])


def test_buffers_are_freed_while_the_pass_goes_by():
    """When the pass reaches the middle of a chain, the saved values of the later half are freed."""
    x = torch.ones(4, requires_grad=True)
    y, results, alive = x, [], []
    for step in range(10):
        saved = y.exp()
        results.append(weakref.ref(saved._array))
        y = saved * 0.1
        if step == 4:
            y.register_hook(lambda grad: alive.extend(r() is not None for r in results))
    loss = y.sum()
    del y, saved
    assert [r() is not None for r in results] == [True] * 10
    loss.backward()
    assert alive == [True] * 5 + [False] * 5


if __name__ == "__main__":
    PAGE.write_text(TABLE.render(), encoding="utf-8")

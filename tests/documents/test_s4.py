"""The notebook "autograd" (torch 1.x): every cell, and what it shows."""

import re

import pytest

import wengert
from cells import pretty, run_cell, run_cells

CELLS = [
    (1, "import torch\nfrom torch.autograd import variable", ""),
    (
        2,
        "a = torch.ones((3,4), requires_grad = True)\na",
        "tensor([[1., 1., 1., 1.],\n        [1., 1., 1., 1.],\n        [1., 1., 1., 1.]], requires_grad=True)",
    ),
    (
        3,
        "b = torch.zeros(3,4)\nb",
        "tensor([[0., 0., 0., 0.],\n        [0., 0., 0., 0.],\n        [0., 0., 0., 0.]])",
    ),
    (
        4,
        "c = a+b\nc",
        "tensor([[1., 1., 1., 1.],\n        [1., 1., 1., 1.],\n        [1., 1., 1., 1.]], grad_fn=<AddBackward0>)",
    ),
    (5, "d = c.sum()\nd.backward()", ""),
    (
        6,
        "a.grad",
        "tensor([[1., 1., 1., 1.],\n        [1., 1., 1., 1.],\n        [1., 1., 1., 1.]])",
    ),
    (7, "b.grad", ""),
    (8, "a.requires_grad, b.requires_grad, c.requires_grad", "(True, False, True)"),
    (9, "a.is_leaf, b.is_leaf, c.is_leaf", "(True, True, False)"),
    (10, "c.grad is None", "True"),
    (11, "x = torch.ones(1)", ""),
    (12, "w = torch.ones(1, requires_grad = True)", ""),
    (13, "b = torch.ones(1, requires_grad = True)", ""),
    (14, "y = w*x", ""),
    (15, "z = y+b", ""),
    (16, "x.requires_grad, b.requires_grad, w.requires_grad", "(False, True, True)"),
    (17, "y.requires_grad", "True"),
    (18, "x.is_leaf, b.is_leaf, w.is_leaf", "(True, True, True)"),
    (19, "z.is_leaf, y.is_leaf", "(False, False)"),
    (20, "z.grad_fn", "<AddBackward0 at 0x...>"),
    (21, "y.grad_fn", "<MulBackward0 at 0x...>"),
    (22, "z.grad_fn.next_functions", "((<MulBackward0 at 0x...>, 0), (<AccumulateGrad at 0x...>, 0))"),
    (23, "y.grad_fn.next_functions", "((<AccumulateGrad at 0x...>, 0), (None, 0))"),
    (24, "w.grad_fn, b.grad_fn", "(None, None)"),
    (25, "z.backward(retain_graph=True)", ""),
    (
        26,
        "x = torch.ones((3), requires_grad = True)\nw = torch.randn((3), requires_grad = True)\ny = w*x\nz = sum(y)",
        "",
    ),
    (27, "z.backward()", ""),
    (28, "x.grad, w.grad, y.grad", None),  # random numbers: see test_gradients_of_a_product
]

NON_LEAF_GRAD = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."


@pytest.fixture(scope="module")
def notebook():
    return run_cells(CELLS)


@pytest.mark.parametrize(("number", "shown"), [(n, shown) for n, _, shown in CELLS if shown is not None])
def test_cell_shows(notebook, number, shown):
    # Addresses are shorter here than in the notebook, so that a line may not break; the breaks say nothing.
    assert re.sub(r",\n ", ", ", notebook[number].shown) == re.sub(r",\n ", ", ", shown)


@pytest.mark.parametrize("number", [n for n, *_ in CELLS])
def test_cell_warns_only_of_reading_a_non_leafs_grad(notebook, number):
    warned = notebook[number].warned
    if number in (10, 28):
        assert [category for category, _ in warned] == [UserWarning]
        assert warned[0][1].startswith(NON_LEAF_GRAD)
    else:
        assert warned == []


def test_next_functions_name_the_same_nodes():
    """The notebook shows one address for y.grad_fn and for what z.grad_fn.next_functions begins with."""
    w = wengert.ones(1, requires_grad=True)
    b = wengert.ones(1, requires_grad=True)
    y = w * wengert.ones(1)
    z = y + b
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    assert z.grad_fn.next_functions[1][0] is z.grad_fn.next_functions[1][0]
    assert z.grad_fn.next_functions[1][0].variable is b
    assert y.grad_fn.next_functions[0][0].variable is w


def test_a_long_tuple_of_nodes_breaks_as_in_the_notebook():
    names = {}
    run_cell("import torch\nw = torch.ones(1, requires_grad=True)\nb = torch.ones(1, requires_grad=True)\nz = w * 1 + b", names)
    pairs = names["z"].grad_fn.next_functions
    text = pretty(tuple([(Wide(node), number) for node, number in pairs]))
    assert text == "((<MulBackward0 at 0x7f2b2634ec88>, 0),\n (<AccumulateGrad at 0x7f2b2634f048>, 0))"


class Wide:
    """Prints as the notebook prints a node, with an address as wide as there."""

    def __init__(self, node):
        address = {"MulBackward0": "0x7f2b2634ec88", "AccumulateGrad": "0x7f2b2634f048"}[type(node).__name__]
        self.text = f"<{type(node).__name__} at {address}>"

    def __repr__(self):
        return self.text


def test_gradients_of_a_product():
    """Cells 26 to 28 with the numbers that the notebook drew."""
    cells = run_cells(
        [
            (0, CELLS[0][1]),
            (
                26,
                "x = torch.ones((3), requires_grad = True)\n"
                "w = torch.tensor([0.26584, 1.01907, 0.05573], requires_grad=True)\n"
                "y = w*x\nz = sum(y)",
            ),
            (27, "z.backward()"),
            (28, "x.grad, w.grad, y.grad"),
        ]
    )
    assert cells[28].shown == "(tensor([0.2658, 1.0191, 0.0557]), tensor([1., 1., 1.]), None)"


def test_gradients_of_a_random_product(notebook):
    assert re.fullmatch(
        r"\(tensor\(\[ *-?\d\.\d{4}, +-?\d\.\d{4}, +-?\d\.\d{4}\]\), tensor\(\[1\., 1\., 1\.\]\), None\)",
        notebook[28].shown,
    )


def test_plain_python_shows_nodes_as_objects():
    w = wengert.ones(1, requires_grad=True)
    y = w + 1
    assert re.fullmatch(r"<AddBackward0 object at 0x[0-9a-f]+>", repr(y.grad_fn))
    accumulate, number = y.grad_fn.next_functions[0]
    assert re.fullmatch(r"<AccumulateGrad object at 0x[0-9a-f]+>", repr(accumulate)) and number == 0


def test_display_is_ipythons():
    """cells.pretty, against IPython where it is installed."""
    ipython = pytest.importorskip("IPython.lib.pretty")
    w = wengert.ones(1, requires_grad=True)
    z = w * 1 + wengert.ones(1, requires_grad=True)
    for value in (z, z.grad_fn, z.grad_fn.next_functions, (None, 0), (z.grad_fn,), w.register_hook(print)):
        assert pretty(value) == ipython.pretty(value)


def test_backward_takes_the_arguments_named_in_the_text():
    """retain_graph and create_graph by name; None means the default. (grad_variables= on a tensor is a later issue.)"""
    x = wengert.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True, create_graph=False)
    y.backward(retain_graph=None)
    assert x.grad.tolist() == [4.0, 4.0]

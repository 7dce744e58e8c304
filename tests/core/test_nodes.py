"""Nodes: names, edges, identity, printing, metadata, source positions, life."""

import gc
import re
import weakref

import pytest

import wengert
from lines import line_of
from wengert.autograd.graph import Node, get_gradient_edge, increment_version


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


X = [1.0, 2.0, 3.0]

NAMES = {
    "AddBackward0": lambda x: x + 1,
    "SubBackward0": lambda x: x - 1,
    "RsubBackward1": lambda x: 1 - x,
    "MulBackward0": lambda x: 2 * x,
    "DivBackward0": lambda x: x / 2,
    "NegBackward0": lambda x: -x,
    "PowBackward0": lambda x: x**2,
    "PowBackward1": lambda x: x**x,
    "ExpBackward0": lambda x: x.exp(),
    "SumBackward0": lambda x: x.sum(),
    "SumBackward1": lambda x: x.sum(0),
    "MeanBackward0": lambda x: x.mean(),
    "MeanBackward1": lambda x: x.mean(0),
    "SelectBackward0": lambda x: x[0],
    "SliceBackward0": lambda x: x[1:],
    "IndexBackward0": lambda x: x[wengert.tensor([0, 2])],
    "UnbindBackward0": lambda x: x.unbind(0)[0],
    "ViewBackward0": lambda x: x.view(3, 1),
    "UnsqueezeBackward0": lambda x: x[None],
    "CloneBackward0": lambda x: x.clone(),
    "DotBackward0": lambda x: x @ x,
    "StackBackward0": lambda x: wengert.stack([x, x]),
    "CatBackward0": lambda x: wengert.cat([x, x]),
}


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    node = NAMES[name](leaf(*X)).grad_fn
    assert node.name() == name == type(node).__name__


def test_a_copy_to_another_dtype_is_named_as_in_the_documents():
    assert leaf(1.0).float().grad_fn.name() == "CopyBackwards"
    assert repr(leaf(1.0).float()) == "tensor([1.], grad_fn=<CopyBackwards>)"


def test_names_of_leaves_and_writes():
    x = leaf(*X)
    accumulate = (x * 1).grad_fn.next_functions[0][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad" and type(accumulate).__name__ == "AccumulateGrad"
    base = x * 1
    base[0] = 5.0
    assert base.grad_fn.name() == "torch::autograd::CopySlices" and type(base.grad_fn).__name__ == "CopySlices"


def test_nodes_print_as_torchs():
    x = leaf(*X)
    y = x * 2
    assert re.fullmatch(r"<MulBackward0 object at 0x[0-9a-f]+>", repr(y.grad_fn))
    assert re.fullmatch(r"<AccumulateGrad object at 0x[0-9a-f]+>", repr(y.grad_fn.next_functions[0][0]))
    # IPython prints <MulBackward0 at 0x...> because of this:
    assert type(y.grad_fn).__module__ == "builtins" and type(y.grad_fn).__repr__ is object.__repr__


def test_every_node_is_a_node():
    y = leaf(*X) * 2
    assert isinstance(y.grad_fn, Node) and isinstance(y.grad_fn.next_functions[0][0], Node)


def test_next_functions():
    x, w = leaf(*X), leaf(*X)
    y = x * w
    z = y + 1
    assert z.grad_fn.next_functions == ((y.grad_fn, 0), (None, 0))
    (first, nr), (second, _) = y.grad_fn.next_functions
    assert first.variable is x and second.variable is w and nr == 0
    assert first.next_functions == ()


def test_next_functions_number_the_output():
    a, _, c = leaf(*X).unbind(0)
    assert (a * c).grad_fn.next_functions == ((a.grad_fn, 0), (a.grad_fn, 2))


def test_a_leaf_without_requires_grad_has_no_edge():
    y = leaf(*X) * wengert.ones(3, dtype=wengert.float64)
    assert y.grad_fn.next_functions[1] == (None, 0)


def test_next_functions_of_many_inputs():
    x = leaf(*X)
    y = wengert.cat([x, wengert.ones(3, dtype=wengert.float64), x])
    nodes = [node for node, _ in y.grad_fn.next_functions]
    assert nodes[0] is nodes[2] is not None and nodes[1] is None


def test_nodes_are_the_same_objects_each_time():
    x = leaf(*X)
    y = x * 2
    assert y.grad_fn is y.grad_fn and y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    assert (x * 3).grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]  # one AccumulateGrad a leaf
    assert len({y.grad_fn, y.grad_fn}) == 1


def test_sequence_numbers_grow():
    x = leaf(*X)
    a = x * 2
    b = a + 1
    c = x * 3
    assert a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr() < c.grad_fn._sequence_nr()


def test_metadata_is_the_users_own():
    y = leaf(*X) * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["name"] = "mine"
    assert y.grad_fn.metadata == {"name": "mine"} and (y * 1).grad_fn.next_functions[0][0].metadata["name"] == "mine"


def test_leaves_have_no_node():
    assert leaf(*X).grad_fn is None and wengert.ones(2).grad_fn is None


def test_grad_fn_cannot_be_set():
    with pytest.raises(AttributeError):
        leaf(*X).grad_fn = None


def test_a_node_outlives_its_tensor():
    x = leaf(*X)
    y = x * 2
    node = y.grad_fn
    z = y + 1
    reference = weakref.ref(y)
    del y
    gc.collect()
    assert reference() is None and z.grad_fn.next_functions[0][0] is node


def test_an_accumulate_node_lives_as_long_as_a_graph_needs_it():
    x = leaf(*X)
    y = x * 2
    reference = weakref.ref(y.grad_fn.next_functions[0][0])
    gc.disable()
    try:
        assert reference() is not None
        del y
        assert reference() is None
        assert (x * 2).grad_fn.next_functions[0][0].variable is x
    finally:
        gc.enable()


def test_an_accumulate_node_keeps_its_leaf():
    y = leaf(*X) * 2
    y.sum().backward()
    assert y.grad_fn.next_functions[0][0].variable.grad.tolist() == [2.0] * 3


def test_a_node_knows_where_it_was_called():
    y = leaf(*X) * 2  # the multiplication
    assert y.grad_fn._source() == f"{line_of(__file__, 'the multiplication')}, in test_a_node_knows_where_it_was_called"


def test_the_position_is_the_users_line_not_a_line_of_a_helper():
    x = leaf(*X)
    y = wengert.nn.functional.softmax(x, dim=0)  # the softmax
    assert y.grad_fn._source().startswith(line_of(__file__, "the softmax"))


def test_the_error_of_a_written_value_names_the_forward_line():
    x = leaf(*X)
    y = x * x  # the multiplication that saves
    with wengert.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert f"saved by MulBackward0 at {line_of(__file__, 'the multiplication that saves')}, in " in str(caught.value)


def test_nodes_are_no_roots_of_backward():
    with pytest.raises((TypeError, AttributeError)):
        wengert.autograd.backward([leaf(*X).sum().grad_fn])


def test_gradient_edges_name_node_and_output():
    a, b, c = leaf(*X).unbind(0)
    edge = get_gradient_edge(c)
    assert edge.node is a.grad_fn is b.grad_fn and edge.output_nr == 2
    x = leaf(*X)
    assert get_gradient_edge(x).node is (x * 1).grad_fn.next_functions[0][0]


def test_increment_version_of_one_or_many():
    x, y = wengert.ones(2), wengert.ones(2)
    increment_version(x)
    increment_version([x, y])
    assert (x._version, y._version) == (2, 1)


def test_output_nr():
    a, b, c = leaf(*X).unbind(0)
    assert [t.output_nr for t in (a, b, c)] == [0, 1, 2] and leaf(*X).output_nr == 0

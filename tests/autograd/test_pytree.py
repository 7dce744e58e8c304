"""Trees: containers taken apart and put together."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from wengert.utils._pytree import (
    register_dataclass,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_unflatten,
    treespec_pprint,
)

Pair = namedtuple("Pair", ["first", "second"])

TREES = [
    5,
    None,
    (),
    [1, (2, None), {"b": 3, "a": [4]}],
    Pair(1, [2]),
    OrderedDict(b=1, a=2),
    defaultdict(list, {"a": 1}),
    deque([1, 2], maxlen=3),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_flattened_trees_can_be_unflattened(tree):
    leaves, spec = tree_flatten(tree)
    again = tree_unflatten(leaves, spec)
    assert again == tree
    assert type(again) is type(tree)
    assert tree_flatten(again)[1] == spec


def test_leaves_come_depth_first():
    assert tree_leaves({"b": [1, (2, None)], "a": 3}) == [1, 2, None, 3]


def test_forms_print_as_in_torch():
    spec = tree_flatten({"b": [1, (2, None)], "a": 3})[1]
    assert repr(spec) == (
        "TreeSpec(dict, ['b', 'a'], [TreeSpec(list, None, [*,\n    TreeSpec(tuple, None, [*,\n      *])]),\n  *])"
    )
    assert treespec_pprint(spec) == "{'b': [*, (*, *)], 'a': *}"
    assert repr(tree_flatten(1)[1]) == "*"


def test_map_over_several_trees():
    assert tree_map(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)}) == {"x": (11, 22)}
    assert tree_map(lambda a, b: (a, b), {"x": 1, "y": 2}, {"y": [3], "x": 4}) == {"x": (1, 4), "y": (2, [3])}
    assert tree_map_only(int, lambda a: -a, [1, "a"]) == [-1, "a"]


def test_is_leaf_stops_the_descent():
    assert tree_map(sum, {"a": [1, 2], "b": [3]}, is_leaf=lambda x: isinstance(x, list)) == {"a": 3, "b": 3}


def test_classes_can_be_registered():
    class Box:
        def __init__(self, content):
            self.content = content

    register_pytree_node(Box, lambda box: ([box.content], None), lambda children, _: Box(*children))
    assert tree_map(lambda x: x + 1, [Box(1)])[0].content == 2
    with pytest.raises(ValueError, match="is already registered as pytree node"):
        register_pytree_node(Box, None, None)

    @dataclasses.dataclass
    class Point:
        x: int
        y: list

    register_dataclass(Point)
    assert tree_map(lambda x: x * 2, Point(1, [2])) == Point(2, [4])


def test_trees_of_another_structure_are_refused():
    spec = tree_flatten((1, 2))[1]
    with pytest.raises(ValueError, match="`leaves` has length 1 but the spec refers to a pytree that holds 2 items"):
        tree_unflatten([1], spec)
    with pytest.raises(TypeError, match="Expected `treespec` to be an instance of PyTreeSpec"):
        tree_unflatten([1], 3)
    with pytest.raises(ValueError, match="Node arity mismatch; expected 2, but got 1"):
        tree_map(lambda a, b: a, (1, 2), (3,))

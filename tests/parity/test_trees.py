"""utils._pytree against torch: structures, paths, maps and errors."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from importlib import import_module

import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402

Pair = namedtuple("Pair", "first second")


def paths(torch, note):
    trees = import_module(f"{torch.__name__}.utils._pytree")
    several = [
        {"b": [1, (2, None)], "a": Pair(3, 4), "c": OrderedDict(x=1), "d": deque([1], maxlen=3), "e": defaultdict(list, {"z": 5})},
        3, [], [[1]], torch.Size([1, 2]), Pair([1], {2: 3}),
    ]  # fmt: skip
    for tree in several:
        note(lambda tree=tree: trees.tree_flatten_with_path(tree))
        note(lambda tree=tree: [(trees.keystr(path), trees.key_get(tree, path)) for path, _ in trees.tree_leaves_with_path(tree)])
        note(lambda tree=tree: trees.tree_map_with_path(lambda path, x: f"{trees.keystr(path)} {x}", tree))
        spec = trees.tree_structure(tree)
        note(lambda spec=spec: (spec, spec.num_leaves, spec.num_nodes, spec.num_children, spec.children(), spec.is_leaf()))
        note(lambda spec=spec: spec.child(0))
        if spec.type in (dict, list):  # other texts name the function namedtuple
            note(lambda spec=spec: spec.flatten_up_to([[1]]))
        note(lambda tree=tree, spec=spec: trees.tree_unflatten(trees.tree_leaves(tree), spec))
    note(lambda: trees.tree_map_with_path(lambda path, x, y: (trees.keystr(path), x + y), [1, {"a": 2}], [2, {"a": 5}]))
    note(lambda: trees.tree_map_with_path(lambda path, x, y: 0, [1], [2, 3]))
    note(lambda: trees.tree_flatten_with_path([[1]], is_leaf=lambda x: x == [1]))
    note(lambda: [trees.MappingKey("a").get({"a": 3}), trees.SequenceKey(1).get("ab"), trees.GetAttrKey("real").get(2)])
    note(lambda: (trees.MappingKey("a"), str(trees.MappingKey("a")), trees.MappingKey("a") == trees.MappingKey("a")))


def registered(torch, note):
    trees = import_module(f"{torch.__name__}.utils._pytree")

    class Box:
        def __init__(self, x):
            self.x = x

    class Named(Box):
        pass

    trees.register_pytree_node(Box, lambda b: ([b.x], None), lambda children, _: Box(*children))
    note(lambda: trees.tree_flatten_with_path(Box(3)))
    note(lambda: trees.tree_map(lambda x: x + 1, [Box(3)])[0].x)
    keys = lambda b: ([(trees.GetAttrKey("x"), b.x)], None)  # noqa: E731
    trees.register_pytree_node(Named, lambda b: ([b.x], None), lambda children, _: Named(*children), flatten_with_keys_fn=keys)
    note(lambda: trees.tree_flatten_with_path([Named([3])])[0])
    note(lambda: trees.tree_map_with_path(lambda path, x: trees.keystr(path), Named({"a": 3})).x)


def chosen(torch, note):
    trees = import_module(f"{torch.__name__}.utils._pytree")
    for which in (int, (int, float), int | float, lambda x: x == 1, "a", None):
        note(lambda which=which: trees.tree_map_only(which, lambda x: x + 1, [1, "a", 2.0]))
    note(lambda: trees.tree_map_only_(int, lambda x: x, [1]))
    note(lambda: (trees.tree_all_only(int, lambda x: x > 0, [1, "a"]), trees.tree_any_only(int, lambda x: x > 5, [1, "a"])))
    note(lambda: (trees.tree_all(lambda x: x > 0, [1, [0]]), trees.tree_any(lambda x: x > 0, [1, [0]], is_leaf=lambda x: x == 3)))


def results(torch, note):
    trees = import_module(f"{torch.__name__}.utils._pytree")
    found = torch.tensor([[1.0, 2.0]]).max(1)
    note(lambda: trees.tree_flatten(found))
    note(lambda: trees.tree_map(lambda x: x * 2, found))
    for x in (found, type(found), Pair(1, 2), Pair, torch.Size([1]), (1, 2), 3):
        note(lambda x=x: [trees.is_namedtuple(x), trees.is_namedtuple_class(x), trees.is_namedtuple_instance(x)])
        note(lambda x=x: [trees.is_structseq(x), trees.is_structseq_class(x), trees.is_structseq_instance(x)])


@pytest.mark.parametrize("program", [paths, registered, chosen, results])
def test_trees_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)

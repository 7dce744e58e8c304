"""Trees of Python containers: flattened into their leaves and a structure, and rebuilt from both.

Containers are dicts, OrderedDicts, defaultdicts, lists, tuples, named tuples, deques, and classes registered with
register_pytree_node. Everything else is a leaf, including None.

>>> from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten
>>> leaves, spec = tree_flatten({"a": [1, 2], "b": (3,)})
>>> leaves
[1, 2, 3]
>>> tree_unflatten([leaf * 10 for leaf in leaves], spec)
{'a': [10, 20], 'b': (30,)}
>>> tree_map(str, (1, [2]))
('1', ['2'])
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, NamedTuple

from wengert.sizes import Size

__all__ = [
    "GetAttrKey", "LeafSpec", "MappingKey", "PyTreeSpec", "SequenceKey", "TreeSpec", "is_namedtuple", "is_namedtuple_class",
    "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance", "key_get", "keystr",
    "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten",
    "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_",
    "tree_map_only", "tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten",
    "treespec_pprint",
]  # fmt: skip


class MappingKey(NamedTuple):
    """Place of a child in a dict: str() gives ['key']."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, tree: Any) -> Any:
        """Return the child."""
        return tree[self.key]


class SequenceKey(NamedTuple):
    """Place of a child in a sequence: str() gives [0]."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, tree: Any) -> Any:
        """Return the child."""
        return tree[self.idx]


class GetAttrKey(NamedTuple):
    """Place of a child in an attribute: str() gives .name."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, tree: Any) -> Any:
        """Return the child."""
        return getattr(tree, self.name)


class _Container(NamedTuple):
    """Functions of a container class: flatten an instance into (children, context), and rebuild it from these.

    keys: the places of the children, or None."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]
    keys: Callable[[Any], list[Any]] | None = None


class TreeSpec:
    """Structure of a tree. type: the class of its root, None for a leaf. context: what flatten returned beside the children."""

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_leaves: int = 1 if type is None else sum([child.num_leaves for child in children_specs])

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.type is None

    @property
    def num_nodes(self) -> int:
        """Number of containers and leaves."""
        return 1 + sum([child.num_nodes for child in self.children_specs])

    @property
    def num_children(self) -> int:
        """Number of children of the root."""
        return len(self.children_specs)

    def children(self) -> list[TreeSpec]:
        """Return the structures of the children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """Return the structure of one child."""
        return self.children_specs[index]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the subtrees of tree at the leaves of this structure. Raises ValueError if tree has another structure."""
        return _leaves_up_to(self, tree)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        if self.type is not other.type or len(self.children_specs) != len(other.children_specs):
            return False
        if self.type in (dict, OrderedDict, defaultdict):
            return self._by_key() == other._by_key()  # the order of keys makes no difference
        return bool(self.context == other.context) and self.children_specs == other.children_specs

    def _by_key(self) -> dict[Any, TreeSpec]:
        keys = self.context[1] if self.type is defaultdict else self.context
        return dict(zip(keys, self.children_specs, strict=True))

    def __hash__(self) -> int:
        return hash((self.type, len(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        inner = indent + 2
        children = f",\n{' ' * inner}".join([child.__repr__(inner) for child in self.children_specs])
        name = "namedtuple" if is_namedtuple_class(self.type) else self.type.__name__
        return f"TreeSpec({name}, {self.context!r}, [{children}])"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """tree_unflatten(leaves, self)."""
        return tree_unflatten(leaves, self)


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """Structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


def _positions(x: Any) -> list[Any]:
    return [SequenceKey(i) for i in range(len(x))]


def _mapping_keys(x: Any) -> list[Any]:
    return [MappingKey(key) for key in x]


_LEAF = LeafSpec()
_containers: dict[type, _Container] = {
    dict: _Container(
        lambda d: (list(d.values()), list(d)), lambda c, keys: dict(zip(keys, c, strict=True)), _mapping_keys
    ),
    OrderedDict: _Container(
        lambda d: (list(d.values()), list(d)), lambda c, keys: OrderedDict(zip(keys, c, strict=True)), _mapping_keys
    ),
    defaultdict: _Container(
        lambda d: (list(d.values()), [d.default_factory, list(d)]),
        lambda c, context: defaultdict(context[0], zip(context[1], c, strict=True)),
        _mapping_keys,
    ),
    list: _Container(lambda x: (x, None), lambda c, _: list(c), _positions),
    tuple: _Container(lambda x: (list(x), None), lambda c, _: tuple(c), _positions),
    Size: _Container(lambda x: (list(x), None), lambda c, _: tuple(c), _positions),
    deque: _Container(lambda x: (list(x), x.maxlen), lambda c, size: deque(c, maxlen=size), _positions),
}
_named = _Container(lambda x: (list(x), type(x)), lambda c, cls: cls(*c), lambda x: [GetAttrKey(name) for name in x._fields])


def is_namedtuple_class(cls: Any) -> bool:
    """Whether cls is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(x: Any) -> bool:
    """Whether x is a named tuple."""
    return is_namedtuple_class(type(x))


def is_namedtuple(x: Any) -> bool:
    """Whether x is a named tuple or a class of named tuples."""
    return is_namedtuple_class(x if isinstance(x, type) else type(x))


def is_structseq_class(cls: Any) -> bool:
    """Whether cls is a class of results with names, as in wengert.return_types or time.struct_time."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields")


def is_structseq_instance(x: Any) -> bool:
    """Whether x is a tuple of results with names."""
    return is_structseq_class(type(x))


def is_structseq(x: Any) -> bool:
    """Whether x is a tuple of results with names, or a class of such tuples."""
    return is_structseq_class(x if isinstance(x, type) else type(x))


def _container_of(x: Any) -> _Container | None:
    return _container_of_class(type(x))


def _container_of_class(cls: Any) -> _Container | None:
    found = _containers.get(cls)
    if found is not None or not issubclass(cls, tuple):
        return found
    if is_namedtuple_class(cls):
        return _named
    if is_structseq_class(cls):
        return _Container(lambda x: (list(x), None), lambda children, _: cls(children), _positions)
    return found


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None = None,
    **_: Any,
) -> None:
    """Register a class as a container.

    flatten_fn(x) returns (children, context), and unflatten_fn(children, context) returns x. flatten_with_keys_fn(x) returns
    ([(key, child), ...], context), for functions with paths. serialized_type_name: accepted, without effect. Raises ValueError
    for a class that is registered already.
    """
    if cls in _containers:
        raise ValueError(f"{cls} is already registered as pytree node.")
    keys = None
    if flatten_with_keys_fn is not None:

        def keys(x: Any) -> list[Any]:
            return [key for key, _ in flatten_with_keys_fn(x)[0]]

    _containers[cls] = _Container(flatten_fn, unflatten_fn, keys)


def register_dataclass(cls: type) -> None:
    """Register a dataclass as a container of its fields."""
    from dataclasses import fields

    names = [field.name for field in fields(cls)]
    register_pytree_node(
        cls,
        lambda x: ([getattr(x, name) for name in names], names),
        lambda children, context: cls(**dict(zip(context, children, strict=True))),
    )


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a tree is a single leaf. is_leaf: a predicate; containers for which it is true count as leaves."""
    return (is_leaf is not None and is_leaf(tree)) or _container_of(tree) is None


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return (leaves, spec): the leaves of a tree, depth first, and its structure.

    Raises ValueError if containers are nested a thousand deep, or contain themselves."""
    leaves: list[Any] = []
    try:
        return leaves, _collect(tree, leaves, is_leaf)
    except RecursionError:
        raise ValueError("tree_flatten: the containers are nested too deeply, or one contains itself") from None


def _collect(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    container = None if is_leaf is not None and is_leaf(tree) else _container_of(tree)
    if container is None:
        leaves.append(tree)
        return _LEAF
    children, context = container.flatten(tree)
    return TreeSpec(type(tree), context, [_collect(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Build the tree of this structure and these leaves. Raises ValueError for another number of leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _build(iter(leaves), treespec)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    container: Any = _container_of_class(spec.type)
    return container.unflatten([_build(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a tree, depth first."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """Return an iterator over the leaves of a tree."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply func to each leaf of tree, and to the corresponding subtrees of rests; return the tree of the results.

    rests: trees with at least the structure of tree. Raises ValueError for another structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_leaves_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*parts) for parts in zip(leaves, *others, strict=True)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call func for each leaf, as tree_map does, ignore the results and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _selects(chosen: Any) -> Callable[[Any], bool]:
    """Return the predicate of an argument that is a class, a tuple or union of classes, or a predicate."""
    if isinstance(chosen, (type, tuple, UnionType)):
        return lambda x: isinstance(x, chosen)
    if callable(chosen):
        return chosen
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def tree_map_only(
    chosen: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply func to the chosen leaves; the others stay as they are.

    chosen: a class, a tuple or union of classes, or a predicate."""
    selects = _selects(chosen)
    return tree_map(lambda x: func(x) if selects(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(chosen: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call func for the chosen leaves, as tree_map_only does, ignore the results and return the tree itself."""
    tree_map_only(chosen, func, tree, is_leaf=is_leaf)
    return tree


def tree_all(predicate: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether predicate holds for all leaves."""
    return all(predicate(x) for x in tree_leaves(tree, is_leaf))


def tree_any(predicate: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether predicate holds for any leaf."""
    return any(predicate(x) for x in tree_leaves(tree, is_leaf))


def tree_all_only(chosen: Any, predicate: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether predicate holds for all chosen leaves."""
    return all(predicate(x) for x in tree_leaves(tree, is_leaf) if _selects(chosen)(x))


def tree_any_only(chosen: Any, predicate: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether predicate holds for any chosen leaf."""
    return any(predicate(x) for x in tree_leaves(tree, is_leaf) if _selects(chosen)(x))


# -- paths -------------------------------------------------------------------------------------------------------------


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[tuple[Any, ...], Any]]:
    """Return (path, leaf) for each leaf of a tree. path: the places from the root, as MappingKey, SequenceKey and GetAttrKey."""
    return list(_with_paths(tree, (), is_leaf))


def _with_paths(tree: Any, path: tuple[Any, ...], is_leaf: Callable[[Any], bool] | None) -> Iterable[Any]:
    container = None if is_leaf is not None and is_leaf(tree) else _container_of(tree)
    if container is None:
        yield path, tree
        return
    if container.keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    for key, child in zip(container.keys(tree), container.flatten(tree)[0], strict=True):
        yield from _with_paths(child, (*path, key), is_leaf)


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """Return ([(path, leaf), ...], spec): the leaves of a tree with their paths, and its structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply func(path, leaf, ...) to each leaf, as tree_map does."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_leaves_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*leaf, *parts) for leaf, *parts in zip(leaves, *others, strict=True)], spec)


def keystr(kp: tuple[Any, ...]) -> str:
    """Return a path as text: ['a'][0].b"""
    return "".join([str(key) for key in kp])


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """Return the part of a tree at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _leaves_up_to(spec: TreeSpec, tree: Any) -> list[Any]:
    """Return the subtrees of tree at the leaves of spec. Raises ValueError if tree has another structure."""
    if spec.type is None:
        return [tree]
    container = _container_of(tree)
    if container is None or type(tree) is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type}, but got {type(tree)}.")
    children, context = container.flatten(tree)
    if len(children) != len(spec.children_specs):
        raise ValueError(f"Node arity mismatch; expected {len(spec.children_specs)}, but got {len(children)}.")
    if spec.type in (dict, OrderedDict):
        if set(context) != set(spec.context):
            raise ValueError(f"Node keys mismatch; expected {spec.context}, but got {context}.")
        children = [tree[key] for key in spec.context]
    return [leaf for child, part in zip(spec.children_specs, children, strict=True) for leaf in _leaves_up_to(child, part)]


def broadcast_prefix(prefix: Any, tree: Any) -> list[Any] | None:
    """Return one value for each leaf of tree, where a leaf of prefix counts for the whole subtree in its place.

    Returns None if prefix is no prefix of tree."""
    if _container_of(prefix) is None:
        return [prefix] * tree_structure(tree).num_leaves
    if type(prefix) is not type(tree):
        return None
    children, _ = _container_of(prefix).flatten(prefix)  # type: ignore[union-attr]  # it is a container
    parts, _ = _container_of(tree).flatten(tree)  # type: ignore[union-attr]
    if isinstance(prefix, dict):
        if set(prefix) != set(tree):
            return None
        children = [prefix[key] for key in tree]
    if len(children) != len(parts):
        return None
    found: list[Any] = []
    for child, part in zip(children, parts, strict=True):
        values = broadcast_prefix(child, part)
        if values is None:
            return None
        found += values
    return found


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return the structure as text with a * for each leaf: {'a': [*, *]}."""
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))

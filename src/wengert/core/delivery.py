"""Delivery: what a node's rules or user code returned, fitted to the edge it leaves by and handed to the next node.

Broadcasting and promotion are undone here and nowhere else: a cotangent is summed to its edge's shape and cast to its
edge's dtype. Here it is also decided who owns a cotangent's memory. See Note [Ownership].
"""

from __future__ import annotations

if False:
    import cython
from typing import Any

from wengert import _shim as cython
from wengert import errors
from wengert.backends.selection import backend_of, device_name, others
from wengert.core.buffers import ReadCotangent
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.node import Node, TensorMeta, meta_at, next_node, next_nr
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase, wrap

if not cython.compiled:
    from wengert.core.native import as_array, has_meta, owns_data, wk_init_native, wk_init_numpy, wk_sum_to

wk_init_numpy()
wk_init_native()

# Note [Ownership]
# A buffer is added to in place only while nobody else can see its array. So a result is owned if a rule has just made it: the
# result owns its memory, and is neither the cotangent nor a saved value that the rule was given. Two results are never owned:
# a result for several inputs, as it may be one array twice, and a result of user code, which may keep it. A cotangent that a
# hook or a capture has seen is not owned any more (set_cotangent, capture_results). See docs/adr/0005 and 0019.


def deliver_parts(task: GraphTask, node: Node, targets: tuple[int, ...], results: Any) -> None:
    """Hand on the results for several inputs, which may be one object or look into each other: nobody owns them."""
    for j in range(len(targets)):
        deliver_result(task, node, targets[j], None if results is None else results[j], None, None)


def deliver_from(task: GraphTask, node: Node, first: int, results: Any) -> None:
    """Hand on the results for the variadic inputs, which begin at input `first`. Nobody owns them."""
    for j in range(node._n_edges - first):
        deliver_result(task, node, first + j, None if results is None else results[j], None, None)


def deliver_result(task: GraphTask, node: Node, position: int, result: Any, ct: Any, values: Any) -> None:
    """Fit the result for an input to the input's edge, and hand it on if the edge leads anywhere.

    values: what the rule was given besides ct; None where the result may be somebody else's as well.
    """
    behind: Node | None = node._next0 if position == 0 else node._next1 if position == 1 else next_node(node, position)
    if behind is None:
        return
    nr: int = node._nr0 if position == 0 else node._nr1 if position == 1 else next_nr(node, position)
    meta: TensorMeta = behind._meta if nr == 0 else behind._metas[nr]
    if result is ct and meta is node._meta and node._hooks is None:  # what arrived here fits there; a prehook's result may not
        task.arrive(behind, nr, result, False)
    elif has_meta(result, meta.shape, meta.dtype) or is_device_array(result, meta):
        owned: bool = (
            values is not None
            and result is not ct
            and owns_memory(result)
            and not is_among(result, values)
            and not (isinstance(ct, tuple) and is_among(result, ct))
        )
        task.arrive(behind, nr, result, owned)
    elif isinstance(result, ReadCotangent):
        if task.buffer_of(behind).needed:
            task.add(behind, nr, result, False)
        task.arrive(behind, nr, None, False)
    elif result is None:
        task.arrive(behind, nr, None, False)
    elif task.create_graph:
        task.arrive(behind, nr, fit_tensor(task, node, position, result, meta), False)
    else:
        fitted = fit_array(task, node, position, result, meta)
        task.arrive(behind, nr, fitted, fitted is not result and owns_memory(fitted))


def deliver_new(task: GraphTask, node: Node, position: int, result: Any) -> None:
    """Hand on an array that a kernel has just made. Nobody else has it."""
    behind: Node | None = node._next0 if position == 0 else node._next1 if position == 1 else next_node(node, position)
    if behind is None:
        return
    nr: int = node._nr0 if position == 0 else node._nr1 if position == 1 else next_nr(node, position)
    meta: TensorMeta = behind._meta if nr == 0 else behind._metas[nr]
    if has_meta(result, meta.shape, meta.dtype):
        task.arrive(behind, nr, result, True)
        return
    fitted = wk_sum_to(result, meta.shape)  # undoes broadcasting, most often
    if has_meta(fitted, meta.shape, meta.dtype):
        task.arrive(behind, nr, fitted, True)
    else:
        deliver_result(task, node, position, result, None, ())


def owns_memory(x: Any) -> bool:
    """Whether x is an array that owns its memory, on any device."""
    return owns_data(x) or bool(others and type(x) in others and x.flags.owndata)


def is_device_array(x: Any, meta: TensorMeta) -> bool:
    """Whether x is an array on a device with the shape and dtype of meta."""
    return bool(others and type(x) in others and x.shape == meta.shape and x.dtype == meta.dtype)


def is_among(x: Any, values: Any) -> bool:
    """Whether x itself is one of values, or of the tuples among them."""
    for value in values:
        if value is x:
            return True
        if isinstance(value, tuple) and len(value) != 0 and type(value[0]) is not int and is_among(x, value):  # no shape
            return True
    return False


def fit_array(task: GraphTask, node: Node, position: int, value: Any, meta: TensorMeta) -> Any:
    """Undo broadcasting and promotion: sum value to the edge's shape and cast it to the edge's dtype."""
    array = as_array(value)
    quiet_enter()
    try:
        if array.shape != meta.shape:
            if not expandable(meta.shape, array.shape):
                raise errors.invalid_gradient_shape(node.name(), position, array.shape, meta.shape)
            summed = wk_sum_to(array, meta.shape)
            array = backend_of(array).sum_to_size(array, meta.shape) if summed is None else summed
        if meta.dtype is not None and array.dtype != meta.dtype:
            array = backend_of(array).cast(array, meta.dtype)
    finally:
        quiet_exit()
    return array


def fit_tensor(task: GraphTask, node: Node, position: int, value: Any, meta: TensorMeta) -> Any:
    """Undo broadcasting and promotion of a tensor. The operations are recorded."""
    face = task.face
    if not isinstance(value, TensorBase):
        value = face.tensor(value, meta.dtype)
    tensor: TensorBase = value
    if has_meta(tensor._array, meta.shape, meta.dtype):
        return tensor
    shape = tensor._array.shape
    if shape != meta.shape:
        if not expandable(meta.shape, shape):
            raise errors.invalid_gradient_shape(node.name(), position, shape, meta.shape)
        value = face.sum_to_size(value, meta.shape)
    if meta.dtype is not None and tensor._array.dtype != meta.dtype:
        value = face.cast(value, meta.dtype)
    return value


def expandable(shape: tuple[int, ...], desired: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape broadcasts to the desired one."""
    if len(shape) > len(desired):
        return False
    for i in range(1, len(shape) + 1):
        if shape[-i] != desired[-i] and shape[-i] != 1:
            return False
    return True


# -- what user code sees and returns -----------------------------------------------------------------------------------


def dense(task: GraphTask, node: Node, position: int, value: Any) -> Any:
    """Return a result as a hook may see it: in full, and of its edge's shape and dtype."""
    behind: Node | None = next_node(node, position)
    if behind is None or value is None:
        return None
    meta: TensorMeta = meta_at(behind, next_nr(node, position))
    if isinstance(value, ReadCotangent):
        return task.sum_of(None, False, value, False, meta)
    if task.create_graph:
        return fit_tensor(task, node, position, value, meta)
    return fit_array(task, node, position, value, meta)


def as_tensor(value: Any) -> Any:
    """Return a cotangent as user code sees it: a tensor, or None."""
    if value is None or isinstance(value, TensorBase):
        return value
    return wrap(value)


def placed_gradient(given: Any, place: str, index: int, function: str = "") -> Any:
    """Return a gradient from user code on the device where it is expected: a 0-d one is moved.

    function: the name of the node that returned it. Raises RuntimeError for other gradients that lie elsewhere."""
    found = device_name(given._array)
    if found == place:
        return given
    if given._array.ndim:
        raise errors.invalid_gradient_device(function, index, found, place)
    return given.to(place)


def as_value(task: GraphTask, tensor: Any) -> Any:
    """Return the form in which the pass carries a tensor from user code: the tensor itself, or its array."""
    if tensor is None or task.create_graph:
        return tensor
    return tensor._array

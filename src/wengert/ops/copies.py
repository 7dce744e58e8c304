"""Views as copies: permute_copy, split_copy and the rest, for programs that must not share memory."""

from __future__ import annotations

from typing import Any

from wengert.ops.dims import normalize_dim
from wengert.ops.registry import OPS, composite


def _copy_of_view(view: str, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The view of this name, copied; a tuple of copies of one with several results."""
    found = OPS[view].function(input, *args, **kwargs)
    return tuple([part.clone() for part in found]) if isinstance(found, (tuple, list)) else found.clone()


@composite()
def alias_copy(F, input):
    """The input, as a copy. Derivative: the cotangent."""
    return input.clone()


@composite()
def detach_copy(F, input):
    """detach(), as a copy: it has no history."""
    return input.detach().clone()


@composite()
def as_strided_copy(F, input, size, stride, storage_offset=None):
    """as_strided(), as a copy. Derivative: each element gets the sum of the cotangents of the places that show it."""
    return _copy_of_view("as_strided", input, size, stride, storage_offset)


@composite()
def expand_copy(F, input, size, *, implicit=False):
    """expand(), as a copy. Derivative: the cotangent, summed to the input's shape."""
    return _copy_of_view("expand", input, tuple(size))


@composite()
def permute_copy(F, input, dims):
    """permute(), as a copy. Derivative: the cotangent with the dimensions put back."""
    return _copy_of_view("permute", input, dims)


@composite()
def transpose_copy(F, input, dim0, dim1):
    """transpose(), as a copy. Derivative: the cotangent with the two dimensions exchanged."""
    return _copy_of_view("transpose", input, dim0, dim1)


@composite()
def t_copy(F, input):
    """t(), as a copy. Derivative: the transpose of the cotangent."""
    return _copy_of_view("t", input)


@composite()
def select_copy(F, input, dim, index):
    """select(), as a copy. Derivative: the cotangent at index, 0 elsewhere."""
    return _copy_of_view("select", input, dim, index)


@composite()
def slice_copy(F, input, dim=0, start=None, end=None, step=1):
    """input[start:end:step] along dim, as a copy. Derivative: the cotangent in the slice, 0 elsewhere."""
    index = (slice(None),) * normalize_dim(dim, input.ndim)
    return _copy_of_view("__getitem__", input, (*index, slice(start, end, step)))


@composite(method=True)
def narrow_copy(F, input, dim, start, length):
    """narrow(), as a copy. Derivative: the cotangent in the part, 0 elsewhere."""
    return _copy_of_view("narrow", input, dim, start, length)


@composite()
def split_copy(F, input, split_size, dim=0):
    """split() into parts of one size, as copies. Derivative: the cotangents in their places."""
    return _copy_of_view("split", input, split_size, dim)


@composite()
def split_with_sizes_copy(F, input, split_sizes, dim=0):
    """split_with_sizes(), as copies. Derivative: the cotangents in their places."""
    return _copy_of_view("split_with_sizes", input, split_sizes, dim)


@composite()
def unbind_copy(F, input, dim=0):
    """unbind(), as copies. Derivative: the cotangents in their places."""
    return _copy_of_view("unbind", input, dim)


@composite()
def squeeze_copy(F, input, dim=None):
    """squeeze(), as a copy. Derivative: the cotangent in the input's shape."""
    return _copy_of_view("squeeze", input) if dim is None else _copy_of_view("squeeze", input, dim)


@composite()
def unsqueeze_copy(F, input, dim):
    """unsqueeze(), as a copy. Derivative: the cotangent in the input's shape."""
    return _copy_of_view("unsqueeze", input, dim)


@composite()
def unfold_copy(F, input, dimension, size, step):
    """All windows along a dimension as Tensor.unfold has them, as a copy. Derivative: the sum of the cotangents of the
    windows that an element is in."""
    return _copy_of_view("unfold", input, dimension, size, step)


@composite()
def view_copy(F, input, size):
    """view(), of another shape or another dtype, as a copy. Derivative: the cotangent in the input's shape."""
    return _copy_of_view("view", input, size)


@composite()
def view_as_real_copy(F, input):
    """view_as_real(), as a copy. Derivative: the parts of the cotangent as complex numbers."""
    return _copy_of_view("view_as_real", input)


@composite()
def view_as_complex_copy(F, input):
    """view_as_complex(), as a copy. Derivative: the cotangent as pairs of its parts."""
    return _copy_of_view("view_as_complex", input)

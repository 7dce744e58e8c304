"""Copies in place of views: permute_copy, split_copy and the like, for programs that must not share memory.

Each function takes the parameters of its view.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.dims import normalize_dim
from wengert.ops.registry import OPS, composite


def _copy_of_view(view: str, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Copy the result of the view operation named `view`. Several views give a tuple of copies."""
    found = OPS[view].function(input, *args, **kwargs)
    return tuple([part.clone() for part in found]) if isinstance(found, (tuple, list)) else found.clone()


@composite()
def alias_copy(F, input):
    """A copy of input. Derivative: the cotangent."""
    return input.clone()


@composite()
def detach_copy(F, input):
    """A copy of input.detach(), which has no history. Not differentiable."""
    return input.detach().clone()


@composite()
def as_strided_copy(F, input, size, stride, storage_offset=None):
    """A copy of as_strided(). Derivative: each element of input gets the sum of the cotangents of its copies."""
    return _copy_of_view("as_strided", input, size, stride, storage_offset)


@composite()
def expand_copy(F, input, size, *, implicit=False):
    """A copy of expand(). Derivative: the cotangent summed to input's shape."""
    return _copy_of_view("expand", input, tuple(size))


@composite()
def permute_copy(F, input, dims):
    """A copy of permute(). Derivative: the cotangent with the dimensions in their old order."""
    return _copy_of_view("permute", input, dims)


@composite()
def transpose_copy(F, input, dim0, dim1):
    """A copy of transpose(). Derivative: the cotangent with the two dimensions exchanged."""
    return _copy_of_view("transpose", input, dim0, dim1)


@composite()
def t_copy(F, input):
    """A copy of t(). Derivative: the transpose of the cotangent."""
    return _copy_of_view("t", input)


@composite()
def select_copy(F, input, dim, index):
    """A copy of select(). Derivative: the cotangent at index, 0 elsewhere."""
    return _copy_of_view("select", input, dim, index)


@composite()
def slice_copy(F, input, dim=0, start=None, end=None, step=1):
    """A copy of input[start:end:step] along dim. Derivative: the cotangent in the slice, 0 elsewhere."""
    index = (slice(None),) * normalize_dim(dim, input.ndim)
    return _copy_of_view("__getitem__", input, (*index, slice(start, end, step)))


@composite(method=True)
def narrow_copy(F, input, dim, start, length):
    """A copy of narrow(). Derivative: the cotangent in the part, 0 elsewhere."""
    return _copy_of_view("narrow", input, dim, start, length)


@composite()
def split_copy(F, input, split_size, dim=0):
    """Copies of the parts that split() gives for one split_size: a tuple. Derivative: the cotangents, concatenated."""
    return _copy_of_view("split", input, split_size, dim)


@composite()
def split_with_sizes_copy(F, input, split_sizes, dim=0):
    """Copies of the parts that split_with_sizes() gives: a tuple. Derivative: the cotangents, concatenated."""
    return _copy_of_view("split_with_sizes", input, split_sizes, dim)


@composite()
def unbind_copy(F, input, dim=0):
    """Copies of the slices that unbind() gives: a tuple. Derivative: the cotangents, stacked along dim."""
    return _copy_of_view("unbind", input, dim)


@composite()
def squeeze_copy(F, input, dim=None):
    """A copy of squeeze(). Derivative: the cotangent in input's shape."""
    return _copy_of_view("squeeze", input) if dim is None else _copy_of_view("squeeze", input, dim)


@composite()
def unsqueeze_copy(F, input, dim):
    """A copy of unsqueeze(). Derivative: the cotangent in input's shape."""
    return _copy_of_view("unsqueeze", input, dim)


@composite()
def unfold_copy(F, input, dimension, size, step):
    """A copy of Tensor.unfold(): all windows along a dimension.

    Derivative: each element gets the sum of its cotangents over the windows that contain it."""
    return _copy_of_view("unfold", input, dimension, size, step)


@composite()
def view_copy(F, input, size):
    """A copy of view(). size: a shape or a dtype. Derivative: the cotangent in input's shape."""
    return _copy_of_view("view", input, size)


@composite()
def view_as_real_copy(F, input):
    """A copy of view_as_real(). Derivative: the pairs of the cotangent as complex numbers."""
    return _copy_of_view("view_as_real", input)


@composite()
def view_as_complex_copy(F, input):
    """A copy of view_as_complex(). Derivative: the real and imaginary parts of the cotangent."""
    return _copy_of_view("view_as_complex", input)

"""Samples and oracles of wengert.ops.copies: those of the views."""

from __future__ import annotations

import numpy as np

from op_samples import Sample, index, join, shape

_OF = {
    "as_strided_copy": shape, "expand_copy": shape, "permute_copy": shape, "transpose_copy": shape, "t_copy": shape,
    "unbind_copy": shape, "squeeze_copy": shape, "unsqueeze_copy": shape, "unfold_copy": shape, "view_copy": shape,
    "select_copy": index, "narrow_copy": index, "split_with_sizes_copy": join,
}  # fmt: skip

OTHER_STEPS = {*_OF, "alias_copy", "slice_copy", "split_copy"}


def _slice(x, dim=0, start=None, end=None, step=1):
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


SAMPLES = {name: family.SAMPLES[name.removesuffix("_copy")] for name, family in _OF.items()} | {
    "alias_copy": [Sample((2, 3)), Sample(())],
    "detach_copy": [Sample((2, 3))],
    "slice_copy": [Sample((4, 3), 0, 1, 3), Sample((4, 3), dim=-1, start=-2), Sample((4, 3), end=3, step=2), Sample((4,))],
    "split_copy": [Sample((5, 2), 2), Sample((2, 5), split_size=3, dim=-1)],
    "view_as_real_copy": [Sample(np.array([1 + 2j, 3 - 1j]))],
    "view_as_complex_copy": [Sample((3, 2), complex=False)],
}

ORACLES = {name: family.ORACLES[name.removesuffix("_copy")] for name, family in _OF.items()} | {
    "alias_copy": lambda x: x,
    "detach_copy": lambda x: x,
    "slice_copy": _slice,
    "split_copy": lambda x, split_size, dim=0: np.split(x, range(split_size, x.shape[dim], split_size), axis=dim),
    "view_as_real_copy": lambda x: np.stack([x.real, x.imag], axis=-1),
    "view_as_complex_copy": lambda x: x[..., 0] + 1j * x[..., 1],
}

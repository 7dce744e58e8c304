"""Sequences of different lengths: padded to one length, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from wengert import errors
from wengert.core.tensor import TensorBase, wrap
from wengert.ops import function

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_cat: Any = function("", "cat")
_full: Any = function("", "full")
_stack: Any = function("", "stack")
_as_tensor: Any = function("", "as_tensor")


class PackedSequence_(NamedTuple):
    """The fields of PackedSequence."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """Sequences, the longest first: step 0 of all of them, then step 1 of those that have one, and so on.

    data: (sum of the lengths, *). batch_sizes: the number of sequences of each step, int64. sorted_indices: the order of the
    sequences, if they were sorted. unsorted_indices: its inverse. Made by pack_padded_sequence and pack_sequence."""

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self) -> Any:
        """Return the sequences with pinned memory."""
        return self._with_data(self.data.pin_memory())

    def _with_data(self, data: Any) -> Any:
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sequences with data of another dtype or device; the same ones if nothing changes."""
        return self._with_data(self.data.to(*args, **kwargs))

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sequences on a GPU."""
        return self._with_data(self.data.cuda(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sequences in main memory."""
        return self._with_data(self.data.cpu())

    def double(self) -> Any:
        """Return the sequences in float64."""
        return self._with_data(self.data.double())

    def float(self) -> Any:
        """Return the sequences in float32."""
        return self._with_data(self.data.float())

    def half(self) -> Any:
        """Return the sequences in float16."""
        return self._with_data(self.data.half())

    def long(self) -> Any:
        """Return the sequences in int64."""
        return self._with_data(self.data.long())

    def int(self) -> Any:
        """Return the sequences in int32."""
        return self._with_data(self.data.int())

    def short(self) -> Any:
        """Return the sequences in int16."""
        return self._with_data(self.data.short())

    def char(self) -> Any:
        """Return the sequences in int8."""
        return self._with_data(self.data.char())

    def byte(self) -> Any:
        """Return the sequences in uint8."""
        return self._with_data(self.data.byte())

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data are in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Any) -> Any:
    """Return the inverse of a permutation of indices, (n) and int64, or None for None."""
    if permutation is None:
        return None
    return permutation.argsort()


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack padded sequences. input: (T, B, *), or (B, T, *) if batch_first. lengths: the length of each, in (0, T].

    enforce_sorted: require that the longest come first; else sort them. Raises RuntimeError for lengths that are not so
    sorted, not positive, or not B in number. Derivative: the cotangents of the steps, 0 for padding."""
    if not isinstance(lengths, TensorBase):
        lengths = wrap(np.asarray(lengths, np.int64))
    if lengths.is_cuda:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D {lengths.device} "
            f"{errors.scalar_name(lengths._array.dtype)} tensor"
        )
    array, order = lengths._array.astype(np.int64), None
    if not enforce_sorted:
        decreasing = np.argsort(-array, kind="stable")
        array, order = array[decreasing], wrap(decreasing).to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    if array.size != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {array.size} (batch_size={input.shape[1]})"
        )
    if array.size and array.min() <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if (np.diff(array) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
            "need ONNX exportability."
        )
    counts = np.array([(array > step).sum() for step in range(array[0])], np.int64)
    data = _cat([input[step, :count] for step, count in zip(range(input.shape[0]), counts.tolist(), strict=False)])
    return PackedSequence(data, wrap(counts), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """Return (padded sequences, lengths) of packed sequences: the inverse of pack_padded_sequence.

    Returns (T, B, *), or (B, T, *) if batch_first, where T is the largest length or total_length, and int64 of (B). Raises
    ValueError if total_length is less than the largest length. Derivative: the cotangents, packed."""
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    data, rows = sequence.data, []
    for step in data.split(sizes):
        missing = sizes[0] - step.shape[0]
        if missing:
            padding = _full((missing, *step.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
            step = _cat([step, padding])
        rows.append(step)
    if total_length is not None:
        empty = _full((sizes[0], *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
        rows += [empty] * (total_length - longest)
    padded = _stack(rows, 1 if batch_first else 0)
    lengths = wrap(np.array([sum(size > i for size in sizes) for i in range(sizes[0])], np.int64))
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Stack sequences, each (L, *), padded to the largest L. Returns (L, B, *), or (B, L, *) if batch_first.

    padding_side: "right" or "left". Raises RuntimeError for another side, no sequence, or shapes that differ beyond L.
    Derivative: the cotangent of each sequence, without the padding."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    found: list[Any] = list(sequences)
    if not found:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest, rest = max(s.shape[0] for s in found), found[0].shape[1:]
    padded = []
    for s in found:
        if s.shape[1:] != rest:
            shape = [longest, *rest] if len(rest) == s.ndim - 1 else list(rest)
            raise RuntimeError(
                f"output with shape {[s.shape[0], *shape[1:]]} doesn't match the broadcast shape {list(s.shape)}"
            )
        missing = longest - s.shape[0]
        if missing:
            padding = _full((missing, *rest), padding_value, dtype=s.dtype, device=s.device)
            s = _cat([s, padding] if padding_side == "right" else [padding, s])
        padded.append(s)
    return _stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences of a padded tensor, (L, B, *), or (B, L, *) if batch_first, as a list, given their lengths."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:length] for s, length in zip(padded_sequences.unbind(0), _as_tensor(lengths).tolist(), strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences, each (L, *). enforce_sorted: require that the longest come first; else sort them."""
    found = list(sequences)
    return pack_padded_sequence(pad_sequence(found), [s.shape[0] for s in found], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """Return the sequences of a PackedSequence as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

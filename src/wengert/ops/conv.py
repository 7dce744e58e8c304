"""Convolutions and transposed convolutions in one, two and three dimensions; unfold and fold.

Three bilinear operations do the work: the convolution, its adjoint in the input (the transposed convolution) and its
adjoint in the weight. The derivatives of each are among the three. Each is a matrix product of the weight with the windows
of the input laid out as columns. Columns are made block by block, so that they stay in the cache. Kernels compute floats
(kernels/wk_convolution.c). NumPy computes the rest: see Note [Columns].
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from wengert import dtypes, errors
from wengert.backends.selection import device_name, others
from wengert.kernels import windows as kernels
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, bilinear, composite, linear
from wengert.ops.windows import Windows, as_cache_key, as_sizes, sizes_of_argument

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_Key = tuple[tuple[int, ...], Any]  # the shape and dtype of an array

# Note [Columns]: the columns of one item have channels * taps * places elements. The columns of a whole batch would pass
# through main memory twice. Half a megabyte of columns stays in the second-level cache: this measured two to ten times as
# fast for large inputs, and no slower for small ones. If an item has few places, as in the last layers of a network, one
# product per item would be thin. Then one product takes all items of the chunk, their columns side by side. Writing columns
# is faster than adding them up, so with stride 1 the adjoint is computed as a convolution too.
_CHUNK_BYTES = 1 << 19
_FEW_PLACES = 64


# -- on arrays ---------------------------------------------------------------------------------------------------------


def _chunks(n: int, item_bytes: int) -> Iterator[slice]:
    """Yield slices of a batch of n items whose columns, item_bytes each, fit into the cache."""
    step = max(1, _CHUNK_BYTES // max(item_bytes, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _widen_half(xp: Any, x: Any) -> Any:
    """Convert half precision to float32, in which products are computed. Other dtypes stay."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def _split_groups(x: Any, groups: int) -> Any:
    """Reshape (n, groups * channels, ...) to (n, groups, channels, places)."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, prod(x.shape[2:]))


def _columns_buffer(xp: Any, n: int, channels: int, windows: Windows, dtype: Any, side_by_side: bool) -> Any:
    """Allocate the columns of n items: (n, channels, *kernel, *count). If side_by_side, n lies next to count in memory."""
    if not side_by_side:
        return xp.empty((n, channels, *windows.kernel, *windows.count), dtype)
    k = len(windows.kernel)
    buffer = xp.empty((channels, *windows.kernel, n, *windows.count), dtype)
    return buffer.transpose(k + 1, *range(k + 1), *range(k + 2, 2 * k + 2))


def _columns_matrix(columns: Any, groups: int, windows: Windows, side_by_side: bool) -> Any:
    """Reshape columns to matrices: (n, groups, channels / groups * taps, places).

    If side_by_side, (groups, channels / groups * taps, n * places)."""
    n, channels = columns.shape[:2]
    rows = channels // groups * windows.taps
    if not side_by_side:
        return columns.reshape(n, groups, rows, windows.places)
    k = len(windows.kernel)
    return columns.transpose(*range(1, k + 2), 0, *range(k + 2, 2 * k + 2)).reshape(groups, rows, n * windows.places)


def _fits_without_columns(windows: Windows) -> bool:
    """Whether the kernel has one tap, which visits every element once. The input is then equal to its columns."""
    return windows.taps == 1 and windows.count == windows.size and windows.reach == windows.size and not any(windows.padding)


def _add_bias(out: Any, bias: Any) -> Any:
    """Add bias, (channels) or None, to out, (n, channels, ...), in place."""
    if bias is not None:
        out += bias.reshape(-1, *(1,) * (out.ndim - 2))
    return out


def _convolve(xp: Any, x: Any, weight: Any, bias: Any, windows: Windows, groups: int) -> Any:
    """Convolve x, (n, c, *size), with weight, (o, c / groups, *kernel), and add bias, (o) or None: (n, o, *count)."""
    w = windows
    if not _fits_without_columns(w):
        out = kernels.convolve(x, weight, bias, w.stride, w.padding, w.dilation, w.count, groups)
        if out is not None:
            return out
    return _add_bias(_convolve_columns(xp, x, weight, windows, groups), bias)


def _convolve_columns(xp: Any, x: Any, weight: Any, windows: Windows, groups: int) -> Any:
    """Convolve by NumPy's matrix products. See Note [Columns]."""
    dtype, x, weight = x.dtype, xp.factor(x, True), xp.factor(weight, True)
    n, c, o = x.shape[0], x.shape[1], weight.shape[0]
    rows = weight.reshape(groups, o // groups, prod(weight.shape[1:]))
    out = xp.empty((n, groups, o // groups, windows.places), x.dtype)
    if _fits_without_columns(windows):
        xp.matmul(rows, _split_groups(x, groups), out=out)
    else:
        few = windows.places < _FEW_PLACES
        padded, buffer = windows.padded(xp, x), None
        for chunk in _chunks(n, c * windows.taps * windows.places * x.itemsize):
            m = chunk.stop - chunk.start
            if buffer is None or buffer.shape[0] != m:
                buffer = _columns_buffer(xp, m, c, windows, x.dtype, few)
            windows.fill(buffer, padded[chunk])
            columns = _columns_matrix(buffer, groups, windows, few)
            if few:
                product = xp.matmul(rows, columns).reshape(groups, o // groups, m, windows.places)
                out[chunk] = product.transpose(2, 0, 1, 3)
            else:
                xp.matmul(rows, columns, out=out[chunk])
    return out.reshape(n, o, *windows.count).astype(dtype, copy=False)


def _convolve_adjoint(xp: Any, y: Any, weight: Any, windows: Windows, groups: int) -> Any:
    """Apply the adjoint of _convolve in x to y, (n, o, *count); returns (n, c, *size)."""
    w = windows
    if not _fits_without_columns(w):
        found = kernels.convolve_adjoint(y, weight, w.stride, w.padding, w.dilation, w.size, groups)
        if found is not None:
            return found
    opposite = windows.opposite()
    if opposite is not None and y.shape[1] <= 2 * weight.shape[1] * groups:
        return _convolve_columns(xp, y, _opposite_weight(weight, groups), opposite, groups)
    dtype, y, weight = y.dtype, _widen_half(xp, y), _widen_half(xp, weight)
    n, o = y.shape[:2]
    c = weight.shape[1] * groups
    rows = weight.reshape(groups, o // groups, prod(weight.shape[1:])).swapaxes(1, 2)
    y = _split_groups(y, groups)
    if _fits_without_columns(windows):
        return xp.matmul(rows, y).reshape(n, c, *windows.size).astype(dtype, copy=False)
    out = xp.empty((n, c, *windows.size), y.dtype)
    for chunk in _chunks(n, c * windows.taps * windows.places * y.itemsize):
        columns = xp.matmul(rows, y[chunk])
        out[chunk] = windows.add_up(xp, columns.reshape(len(columns), c, *windows.kernel, *windows.count))
    return out.astype(dtype, copy=False)


def _opposite_weight(weight: Any, groups: int) -> Any:
    """Rearrange a weight (outputs, inputs / groups, *kernel) to (inputs, outputs / groups, *reversed kernel)."""
    o, c, *kernel = weight.shape
    split = weight.reshape(groups, o // groups, c, *kernel)[(..., *(slice(None, None, -1),) * len(kernel))]
    return split.swapaxes(1, 2).reshape(groups * c, o // groups, *kernel)


def _convolve_adjoint_in_weight(xp: Any, x: Any, y: Any, windows: Windows, groups: int) -> Any:
    """Apply the adjoint of _convolve in weight to y, (n, o, *count), for the input x; returns (o, c / groups, *kernel)."""
    w = windows
    found = kernels.convolve_weight(x, y, w.stride, w.padding, w.dilation, w.kernel, groups)
    if found is not None:
        return found
    dtype, x, y = x.dtype, _widen_half(xp, x), _widen_half(xp, y)
    n, c, o = x.shape[0], x.shape[1], y.shape[1]
    out = xp.zeros((groups, o // groups, c // groups * windows.taps), x.dtype)
    padded, buffer = windows.padded(xp, x), None
    for chunk in _chunks(n, c * windows.taps * windows.places * x.itemsize):
        m = chunk.stop - chunk.start
        if buffer is None or buffer.shape[0] != m:
            buffer = _columns_buffer(xp, m, c, windows, x.dtype, True)
        windows.fill(buffer, padded[chunk])
        columns = _columns_matrix(buffer, groups, windows, True)
        left = _split_groups(y[chunk], groups).transpose(1, 2, 0, 3).reshape(groups, o // groups, -1)
        out += xp.matmul(left, columns.swapaxes(1, 2))
    return out.reshape(o, c // groups, *windows.kernel).astype(dtype, copy=False)


# -- the three operations ----------------------------------------------------------------------------------------------


def _bias_cotangent(F: Any, ct: Any) -> Any:
    return F.sum(ct, dim=(0, *range(2, ct.ndim)))


@bilinear(own_precision=True, promote=NONE, node="ConvolutionBackward0", added="bias", **_PRIVATE)
def _convolution(xp, x, weight, bias=None, *, windows, groups):
    """Convolution of x, (n, c, *size), with weight, (o, c / groups, *kernel), plus bias, (o) or None: (n, o, *count).

    Derivative: the adjoint in each factor."""
    return _convolve(xp, x, weight, bias, windows, groups)


@bilinear(own_precision=True, promote=NONE, node="ConvolutionBackward0", added="bias", **_PRIVATE)
def _convolution_transposed(xp, x, weight, bias=None, *, windows, groups):
    """Transposed convolution, the adjoint of a convolution in its input, of x, (n, o, *count): (n, c, *size).

    Each element of x, times weight, is added to its window of the result. Derivative: the convolution of ct in x; in weight
    the derivative of the convolution in its weight, with x and ct exchanged."""
    return _add_bias(_convolve_adjoint(xp, x, weight, windows, groups), bias)


@bilinear(own_precision=True, promote=NONE, node="ConvolutionBackwardBackward0", **_PRIVATE)
def _convolution_weight(xp, x, y, *, windows, groups):
    """Adjoint of a convolution in its weight, for the input x and a cotangent y of the output."""
    return _convolve_adjoint_in_weight(xp, x, y, windows, groups)


@_convolution.vjp("x")
def _(F, ct, weight, windows, groups):
    return F._convolution_transposed(ct, F.conj(weight), None, windows=windows, groups=groups)


@_convolution.vjp("weight")
def _(F, ct, x, windows, groups):
    return F._convolution_weight(F.conj(x), ct, windows=windows, groups=groups)


@_convolution_transposed.vjp("x")
def _(F, ct, weight, windows, groups):
    return F._convolution(ct, F.conj(weight), None, windows=windows, groups=groups)


@_convolution_transposed.vjp("weight")
def _(F, ct, x, windows, groups):
    return F._convolution_weight(ct, F.conj(x), windows=windows, groups=groups)


@_convolution_weight.vjp("x")
def _(F, ct, y, windows, groups):
    return F._convolution_transposed(F.conj(y), ct, None, windows=windows, groups=groups)


@_convolution_weight.vjp("y")
def _(F, ct, x, windows, groups):
    return F._convolution(F.conj(x), ct, None, windows=windows, groups=groups)


@_convolution.vjp("bias")
def _(F, ct):
    return _bias_cotangent(F, ct)


@_convolution_transposed.vjp("bias")
def _(F, ct):
    return _bias_cotangent(F, ct)


# -- torch's arguments -------------------------------------------------------------------------------------------------


def _checked_sizes(argument: str, value: Any, dims: int, least: int) -> tuple[int, ...]:
    """Return an argument as a tuple of `dims` ints. Raises RuntimeError for another length, and for values below least."""
    found = sizes_of_argument(value, dims)
    if found is None:
        raise errors.ShapeError(
            f"expected {argument} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {argument}={list(value)}"
        )
    if min(found) < least:
        raise errors.ShapeError(f"{'non-positive' if least else 'negative'} {argument} is not supported")
    return found


class _Operand(NamedTuple):
    """Shape and dtype of an array, for the checks before the computation."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)


def _sides(name: str, values: tuple[int, ...]) -> str:
    """Name the value of each side for a message: (1, 2) as "name_height: 1 name_width: 2"."""
    sides = ("depth", "height", "width")[-len(values) :]
    return " ".join([f"{name}_{side}: {value}" for side, value in zip(sides, values, strict=True)])


def _check_convolution(x: Any, weight: Any, bias: Any, groups: int, transposed: bool) -> None:
    """Raise RuntimeError for shapes and dtypes that do not fit. x has a batch dimension."""
    if dtypes.as_numpy_dtype(x.dtype).kind == "b":
        raise errors.unsupported_dtype("slow_conv2d_cpu", x.dtype)
    if groups <= 0:
        raise errors.ShapeError("non-positive groups is not supported")
    if weight.ndim != x.ndim:
        raise errors.ShapeError(
            f"Expected {len(x.shape)}-dimensional weight for {len(x.shape)}-dimensional input {list(x.shape)}, but got "
            f"{len(weight.shape)}-dimensional weight of size {list(weight.shape)} instead"
        )
    if weight.dtype != x.dtype:
        raise errors.PromotionError(
            f"expected scalar type {errors.scalar_name(x.dtype)} but found {errors.scalar_name(weight.dtype)}"
        )
    if weight.shape[0] < groups:
        raise errors.ShapeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise errors.ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{list(weight.shape)}] instead"
        )
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if x.shape[1] != channels:
        given = "transposed=1" if transposed else f"groups={groups}"
        raise errors.ShapeError(
            f"Given {given}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to have {channels} channels, "
            f"but got {x.shape[1]} channels instead"
        )
    if bias is not None:
        outputs = weight.shape[1] * groups if transposed else weight.shape[0]
        if bias.ndim != 1 or bias.shape[0] != outputs:
            given = "transposed=1, weight" if transposed else "weight"
            raise errors.ShapeError(
                f"Given {given} of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} elements, but "
                f"got bias of size {list(bias.shape)} instead"
            )
        if bias.dtype != x.dtype:
            raise errors.PromotionError(
                f"Input type ({errors.c_name(x.dtype)}) and bias type ({errors.c_name(bias.dtype)}) should be the same"
            )


def _operands(op: str, dims: int, x: _Key, weight: _Key, bias: _Key | None) -> tuple[_Operand, _Operand, _Operand | None]:
    """Return the operands, x with a batch dimension. Raises RuntimeError if x has a wrong number of dimensions."""
    if len(x[0]) not in (dims + 1, dims + 2):
        raise errors.ShapeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {op}, but got input of size: {list(x[0])}"
        )
    batched = x if len(x[0]) == dims + 2 else ((1, *x[0]), x[1])
    return _Operand(*batched), _Operand(*weight), None if bias is None else _Operand(*bias)


def _padding_of(padding: Any, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    """Return (zeros in front, zeros in total) for each dimension. padding: "valid", "same", or an int for each dimension."""
    if not isinstance(padding, str):
        return padding, tuple([2 * p for p in padding])
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if padding != "same":
        raise errors.ShapeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise errors.ShapeError("padding='same' is not supported for strided convolutions")
    total = tuple([d * (k - 1) for k, d in zip(kernel, dilation, strict=True)])
    return tuple([t // 2 for t in total]), total


@lru_cache(maxsize=512, typed=True)
def _windows_of(
    op: str, dims: int, x: _Key, weight: _Key, bias: _Key | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Windows:
    """Return the windows of a convolution with torch's arguments. Raises RuntimeError for arguments that do not fit."""
    arrays = _operands(op, dims, x, weight, bias)
    stride, dilation = _checked_sizes("stride", stride, dims, 1), _checked_sizes("dilation", dilation, dims, 1)
    padding = padding if isinstance(padding, str) else _checked_sizes("padding", padding, dims, 0)
    _check_convolution(*arrays, groups, False)
    size, kernel = arrays[0].shape[2:], arrays[1].shape[2:]
    low, total = _padding_of(padding, kernel, stride, dilation)
    room = tuple([n + t for n, t in zip(size, total, strict=True)])
    extent = tuple([d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)])
    if any(r < e or not k for r, e, k in zip(room, extent, kernel, strict=True)):
        raise errors.ShapeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, room))}). Kernel size: "
            f"({' x '.join(map(str, extent))}). Kernel size can't be greater than actual input size"
        )
    count = tuple([(r - e) // s + 1 for r, e, s in zip(room, extent, stride, strict=True)])
    return Windows(size, kernel, count, stride, low, dilation)


@lru_cache(maxsize=512, typed=True)
def _transposed_windows_of(
    op: str, dims: int, x: _Key, weight: _Key, bias: _Key | None, stride: Any, padding: Any, extra: Any, groups: int, dilation: Any
) -> Windows:
    """Return the windows of a transposed convolution with torch's arguments. Raises RuntimeError for arguments that do not fit.

    extra: the argument output_padding."""
    arrays = _operands(op, dims, x, weight, bias)
    stride, padding = _checked_sizes("stride", stride, dims, 1), _checked_sizes("padding", padding, dims, 0)
    extra, dilation = _checked_sizes("output_padding", extra, dims, 0), _checked_sizes("dilation", dilation, dims, 1)
    _check_convolution(*arrays, groups, True)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise errors.ShapeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"{_sides('output_padding', extra)} {_sides('stride', stride)} {_sides('dilation', dilation)}"
        )
    count, kernel = arrays[0].shape[2:], arrays[1].shape[2:]
    rows = zip(count, kernel, stride, padding, dilation, extra, strict=True)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in rows])
    if min(size) < 0:
        raise errors.ShapeError(
            f"Given input size per channel: ({' x '.join(map(str, count))}). Calculated output size per channel: "
            f"({' x '.join(map(str, size))}). Output size is too small"
        )
    return Windows(size, kernel, count, stride, padding, dilation)


def _key(x: Any) -> _Key:
    """Return shape and dtype of a tensor or an array."""
    array = raw(x)
    return array.shape, array.dtype


def _keys(x: Any, weight: Any, bias: Any) -> tuple[_Key, _Key, _Key | None]:
    """Return shapes and dtypes of the operands. Raises RuntimeError if only some of them lie on a GPU."""
    for other, name in ((weight, "weight"), (bias, "bias")) if others else ():
        if other is not None and raw(other).dtype == raw(x).dtype:
            types = [errors.tensor_type(raw(y).dtype, device_name(raw(y))) for y in (x, other)]
            if types[0] != types[1]:
                raise errors.DeviceError(f"Input type ({types[0]}) and {name} type ({types[1]}) should be the same")
    return _key(x), _key(weight), None if bias is None else _key(bias)


def _call_convolution(F: Any, op: str, dims: int, x: Any, weight: Any, bias: Any, options: tuple[Any, ...]) -> Any:
    """Call the convolution with torch's arguments. options: (stride, padding, dilation, groups)."""
    arrays = _keys(x, weight, bias)
    windows = _windows_of(op, dims, *arrays, *[as_cache_key(o) for o in options])
    if x.ndim == dims + 2:
        return F._convolution(x, weight, bias, windows=windows, groups=options[3])
    return F.squeeze(F._convolution(F.unsqueeze(x, dim=0), weight, bias, windows=windows, groups=options[3]), dim=0)


def _call_transposed(F: Any, op: str, dims: int, x: Any, weight: Any, bias: Any, options: tuple[Any, ...]) -> Any:
    """Call the transposed convolution with torch's arguments. options: (stride, padding, output_padding, groups, dilation)."""
    arrays = _keys(x, weight, bias)
    windows = _transposed_windows_of(op, dims, *arrays, *[as_cache_key(o) for o in options])
    if x.ndim == dims + 2:
        return F._convolution_transposed(x, weight, bias, windows=windows, groups=options[3])
    out = F._convolution_transposed(F.unsqueeze(x, dim=0), weight, bias, windows=windows, groups=options[3])
    return F.squeeze(out, dim=0)


_SPATIAL = {1: "length", 2: "height, width", 3: "depth, height, width"}


def _make_convolution(dims: int) -> Any:
    def convolution(F, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return _call_convolution(F, name, dims, input, weight, bias, (stride, padding, dilation, groups))

    name = f"conv{dims}d"
    convolution.__name__ = convolution.__qualname__ = name
    convolution.__doc__ = f"""Convolution (cross-correlation): sums over windows of input times weight, plus bias.

    input: (n, channels, {_SPATIAL[dims]}) or (channels, {_SPATIAL[dims]}). weight: (outputs, channels / groups, *kernel),
    with one kernel size for each dimension. bias: (outputs) or None. All of one dtype. stride, padding, dilation: an int,
    or one for each dimension. padding may also be "valid", no padding, or "same", which keeps the size and needs stride 1.
    groups: channels and outputs are cut into groups; each group of outputs sees its group of channels only. Raises
    RuntimeError for shapes that do not fit.

    Derivative: in input the transposed convolution of ct with weight. In weight the sums over windows of input times ct. In
    bias the sums of ct over all other dimensions."""
    return composite(namespaces=("", "nn.functional"))(convolution)


def _make_transposed(dims: int) -> Any:
    def convolution(F, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return _call_transposed(
            F, name, dims, input, weight, bias, (stride, padding, output_padding, groups, dilation)
        )

    name = f"conv_transpose{dims}d"
    convolution.__name__ = convolution.__qualname__ = name
    convolution.__doc__ = f"""Transposed convolution, the adjoint of conv{dims}d in its input, plus bias.

    input: (n, channels, {_SPATIAL[dims]}) or (channels, {_SPATIAL[dims]}). weight: (channels, outputs / groups, *kernel),
    with one kernel size for each dimension. bias: (outputs) or None. All of one dtype. Each size becomes
    (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1. Raises RuntimeError for shapes that do
    not fit, and unless output_padding < max(stride, dilation).

    Derivative: in input the convolution of ct with weight. In weight the sums over windows of ct times input. In bias the
    sums of ct over all other dimensions."""
    return composite(namespaces=("", "nn.functional"))(convolution)


conv1d, conv2d, conv3d = (_make_convolution(dims) for dims in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_make_transposed(dims) for dims in (1, 2, 3))


@composite()
def convolution(F, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Convolution, or transposed convolution if `transposed`, in input.ndim - 2 dimensions. Parameters as in `conv2d`.

    Derivative: as in `conv2d` and `conv_transpose2d`."""
    dims = input.ndim - 2
    if transposed:
        options = (stride, padding, output_padding, groups, dilation)
        return _call_transposed(F, "convolution", dims, input, weight, bias, options)
    return _call_convolution(F, "convolution", dims, input, weight, bias, (stride, padding, dilation, groups))


# -- unfold and fold ---------------------------------------------------------------------------------------------------


@linear(promote=NONE, node="Im2ColBackward0", **_PRIVATE)
def _im2col(xp, x, *, windows):
    """Windows of x, (n, c, *size) or (c, *size), as columns: (n, c * taps, places). Derivative: _col2im of ct."""
    items = x if x.ndim == 4 else x[None]
    columns = xp.empty((*items.shape[:2], *windows.kernel, *windows.count), x.dtype)
    if columns.size:
        windows.fill(columns, windows.padded(xp, items))
    return columns.reshape(*x.shape[:-3], x.shape[-3] * windows.taps, windows.places)


@linear(promote=NONE, node="Col2ImBackward0", **_PRIVATE)
def _col2im(xp, x, *, windows):
    """Adjoint of _im2col: each element is the sum of the column entries that _im2col copies from it. Derivative: _im2col of ct."""
    channels = x.shape[-2] // windows.taps
    items = x.reshape(x.shape[0] if x.ndim == 3 else 1, channels, *windows.kernel, *windows.count)
    return windows.add_up(xp, items).reshape(*x.shape[:-2], channels, *windows.size)


@_im2col.vjp("x")
def _(F, ct, windows):
    return F._col2im(ct, windows=windows)


@_col2im.vjp("x")
def _(F, ct, windows):
    return F._im2col(ct, windows=windows)


def _check_fold_sizes(
    kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> None:
    """Raise RuntimeError for values out of range."""
    for argument, name, values in (
        ("kernel size", "kernel", kernel),
        ("stride", "stride", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            raise errors.ShapeError(f"{argument} should be greater than zero, but got {_sides(name, values)}")
    if min(padding) < 0:
        raise errors.ShapeError(f"padding should be non-negative, but got {_sides('pad', padding)}")


@lru_cache(maxsize=256, typed=True)
def _fold_windows(size: tuple[int, ...], kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Windows:
    """Return the windows of fold and unfold over images of this size."""
    kernel, dilation = as_sizes(kernel_size, 2, "kernel_size"), as_sizes(dilation, 2, "dilation")
    padding, stride = as_sizes(padding, 2, "padding"), as_sizes(stride, 2, "stride")
    _check_fold_sizes(kernel, stride, padding, dilation)
    rows = zip(size, kernel, dilation, padding, stride, strict=True)
    count = tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in rows])
    return Windows(size, kernel, count, stride, padding, dilation)


@composite(name="nn.functional_unfold", namespaces=("nn.functional",))
def unfold(F, input, kernel_size, dilation=1, padding=0, stride=1):
    """All windows of an image as columns: (n, c * taps, windows).

    input: (n, c, height, width) or (c, height, width), floating or complex. kernel_size, dilation, padding, stride: an
    int, or two. taps: the product of the two kernel sizes. Raises RuntimeError if no window fits.

    Derivative: `fold` of ct."""
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise errors.ShapeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    windows = _fold_windows(raw(input).shape[-2:], *[as_cache_key(v) for v in (kernel_size, dilation, padding, stride)])
    if min(windows.count) < 1:
        raise errors.ShapeError(
            f"Given input with spatial size {windows.size}, kernel_size={windows.kernel}, dilation={windows.dilation}, "
            f"padding={windows.padding}, calculated shape of the array of sliding blocks as "
            f"{tuple([max(n, 0) for n in windows.count])}, but its components must be at least one."
        )
    return F._im2col(input, windows=windows)


@composite(name="nn.functional_fold", namespaces=("nn.functional",))
def fold(F, input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Add the columns that `unfold` gives back into an image: each element is the sum of its column entries.

    input: (n, c * taps, windows) or (c * taps, windows); returns (n, c, *output_size) or (c, *output_size). Other
    parameters as in `unfold`. Raises RuntimeError if the numbers of taps or windows do not fit.

    Derivative: `unfold` of ct."""
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise errors.ShapeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    size = as_sizes(output_size, 2, "output_size")
    windows = _fold_windows(size, *[as_cache_key(v) for v in (kernel_size, dilation, padding, stride)])
    if input.shape[-2] % windows.taps:
        raise errors.ShapeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={input.shape[-2]} and kernel_size={tuple(windows.kernel)}."
        )
    if input.shape[-1] != windows.places or min(windows.count) < 1:
        rows, columns = [max(n, 0) for n in windows.count]
        raise errors.ShapeError(
            f"Given output_size={windows.size}, kernel_size={windows.kernel}, dilation={windows.dilation}, "
            f"padding={windows.padding}, stride={windows.stride}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {rows} * {columns} = {rows * columns}, but got "
            f"input.size(2)={input.shape[-1]}."
        )
    return F._col2im(input, windows=windows)

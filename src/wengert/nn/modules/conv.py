"""Convolutions and transposed convolutions, with the lazy forms of both."""

from __future__ import annotations

import math
from typing import Any

from wengert.nn import functional as F, init
from wengert.nn.modules.lazy import LazyModuleMixin
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import _ntuple, _reverse_repeat_tuple, empty_parameter
from wengert.nn.parameter import UninitializedParameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """Base of all convolutions. weight: (out_channels, in_channels / groups, *kernel_size), with the channels exchanged if
    transposed; bias: (out_channels). Both start from U(-b, b) with b = 1 / sqrt(number of inputs of one output)."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    ]  # fmt: skip
    _ndim: int  # number of spatial dimensions

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: Any,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._check_arguments(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_of_pad()
        is_lazy = isinstance(self, LazyModuleMixin)
        for name, shape in (("weight", self._weight_shape()), ("bias", out_channels if bias else None)):
            if shape is None:
                value = None
            elif is_lazy:
                value = UninitializedParameter(device=device, dtype=dtype)
            else:
                value = empty_parameter(shape, device, dtype)
            self.register_parameter(name, value)
        self.reset_parameters()

    @staticmethod
    def _check_arguments(
        in_channels: int, out_channels: int, stride: tuple[int, ...], padding: Any, groups: int, padding_mode: str
    ) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'circular', 'replicate'}, but got "
                f"padding_mode='{padding_mode}'"
            )

    def _padding_of_pad(self) -> Any:
        """Return the padding as F.pad takes it: pairs, last dimension first."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        result = [0, 0] * len(self.kernel_size)
        if self.padding == "same":
            sizes = zip(self.dilation, self.kernel_size, strict=True)
            for i, (dilation, size) in enumerate(reversed(list(sizes))):
                total = dilation * (size - 1)
                result[2 * i : 2 * i + 2] = [total // 2, total - total // 2]
        return result

    def _weight_shape(self) -> tuple[int, ...]:
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        return (outer, inner // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if inputs != 0:
                bound = 1 / math.sqrt(inputs)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if isinstance(self.padding, str) or any(self.padding):
            text += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        if any(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


class _Conv(_ConvNd):
    """A convolution. `_function` is that of nn.functional."""

    _function: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = _ntuple(self._ndim)
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride),
            padding if isinstance(padding, str) else sizes(padding), sizes(dilation), False, sizes(0), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        own = self._parameters  # see Note [Weights in forward] in module.py
        if "weight" in own and "bias" in own:
            return self._conv_forward(input, own["weight"], own["bias"])
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Convolution of sequences. input: (N, C, L) or (C, L). See nn.functional.conv1d."""

    _ndim = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of images. input: (N, C, H, W) or (C, H, W). See nn.functional.conv2d."""

    _ndim = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of volumes. input: (N, C, D, H, W) or (C, D, H, W). See nn.functional.conv3d."""

    _ndim = 3
    _function = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution. `_function` is that of nn.functional."""

    _function: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        sizes = _ntuple(self._ndim)
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride), sizes(padding), sizes(dilation), True,
            sizes(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """Return the padding that gives the output this size. Raises ValueError for a size that none gives."""
        if output_size is None:
            return self.output_padding
        output_size = list(output_size)
        n = self._ndim
        if len(output_size) not in (n, input.ndim):
            raise ValueError(
                f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or {input.ndim} elements "
                f"(got {len(output_size)})"
            )
        output_size = output_size[-n:]
        sizes = input.shape[-n:]
        smallest = [
            (size - 1) * self.stride[d] - 2 * self.padding[d] + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d, size in enumerate(sizes)
        ]
        largest = [low + self.stride[d] - 1 for d, low in enumerate(smallest)]
        if any(not low <= size <= high for low, size, high in zip(smallest, output_size, largest, strict=True)):
            raise ValueError(
                f"requested an output size of {tuple(output_size)}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {type(input.shape)(sizes)})"
            )
        return tuple([size - low for low, size in zip(smallest, output_size, strict=True)])

    def forward(self, input: Any, output_size: Any = None) -> Any:
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {self.__class__.__name__}")
        padding = self._output_padding(input, output_size)
        return self._function(
            input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of sequences. input: (N, C, L) or (C, L). See nn.functional.conv_transpose1d."""

    _ndim = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of images. input: (N, C, H, W) or (C, H, W). See nn.functional.conv_transpose2d."""

    _ndim = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of volumes. input: (N, C, D, H, W) or (C, D, H, W). See nn.functional.conv_transpose3d."""

    _ndim = 3
    _function = staticmethod(F.conv_transpose3d)


class _SignatureWithoutChannels:
    """The signature of a lazy class: that of the class that it becomes, without in_channels."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        import inspect  # few programs ask

        if instance is not None:  # a call of a module is a call of forward
            raise AttributeError("__signature__")
        found = inspect.signature(owner.cls_to_become)
        return found.replace(parameters=[p for p in found.parameters.values() if p.name != "in_channels"])


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution whose in_channels is found at the first call. It takes the arguments of the class that it becomes,
    without in_channels."""

    in_channels: int
    groups: int
    weight: Any
    bias: Any
    _ndim: int
    __signature__ = _SignatureWithoutChannels()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        n = self._ndim
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {self.__class__.__name__}, but got input of "
                f"size: {input.shape}"
            )
        module: Any = self
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(module._weight_shape())
        if self.bias is not None:
            self.bias.materialize((module.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    """Conv1d whose in_channels is found at the first call."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    """Conv2d whose in_channels is found at the first call."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    """Conv3d whose in_channels is found at the first call."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    """ConvTranspose1d whose in_channels is found at the first call."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    """ConvTranspose2d whose in_channels is found at the first call."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    """ConvTranspose3d whose in_channels is found at the first call."""

    cls_to_become = ConvTranspose3d

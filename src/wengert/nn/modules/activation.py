"""Activation functions, and MultiheadAttention."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.nn import functional as F, init
from wengert.nn.modules.linear import NonDynamicallyQuantizableLinear
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import empty_parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class _Elementwise(Module):
    """A function of each element that can write its result into its input. `inplace` is what is printed of it."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _extra(self, *named: str) -> str:
        """Return "name=value" for each name, then "inplace=True" if so."""
        text = ", ".join(f"{name}={getattr(self, name)}" for name in named)
        return f"{text}, inplace=True" if self.inplace else text


class Threshold(_Elementwise):
    """input where input > threshold, value elsewhere."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("threshold", "value")


class ReLU(_Elementwise):
    """max(input, 0)."""

    def forward(self, input: Any) -> Any:
        return F.relu(input, self.inplace)


class RReLU(_Elementwise):
    """input where input >= 0, else input times a slope from U(lower, upper) in training, and its mean in evaluation."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("lower", "upper")


class Hardtanh(_Elementwise):
    """input, limited to [min_val, max_val]."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        if min_value is not None:
            warnings.warn(
                "keyword argument `min_value` is deprecated and renamed to `min_val`", FutureWarning, stacklevel=2
            )
            min_val = min_value
        if max_value is not None:
            warnings.warn(
                "keyword argument `max_value` is deprecated and renamed to `max_val`", FutureWarning, stacklevel=2
            )
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("min_val", "max_val")


class ReLU6(Hardtanh):
    """input, limited to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-input))."""

    def forward(self, input: Any) -> Any:
        return input.sigmoid()


class Hardsigmoid(_Elementwise):
    """input / 6 + 1 / 2, limited to [0, 1]."""

    def forward(self, input: Any) -> Any:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """tanh(input)."""

    def forward(self, input: Any) -> Any:
        return input.tanh()


class SiLU(_Elementwise):
    """input * sigmoid(input)."""

    def forward(self, input: Any) -> Any:
        return F.silu(input, self.inplace)


class Mish(_Elementwise):
    """input * tanh(softplus(input))."""

    def forward(self, input: Any) -> Any:
        return F.mish(input, self.inplace)


class Hardswish(_Elementwise):
    """input * hardsigmoid(input)."""

    def forward(self, input: Any) -> Any:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class ELU(_Elementwise):
    """input where input > 0, alpha * (exp(input) - 1) elsewhere."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Any) -> Any:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("alpha")


class CELU(_Elementwise):
    """input where input > 0, alpha * (exp(input / alpha) - 1) elsewhere."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Any) -> Any:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("alpha")


class SELU(_Elementwise):
    """Scaled ELU, with the constants that keep activations normalised."""

    def forward(self, input: Any) -> Any:
        return F.selu(input, self.inplace)


class GLU(Module):
    """a * sigmoid(b) of the two halves a and b of the input along dim."""

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """input times the normal distribution function of input. approximate: "none" or "tanh"."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """input where |input| > lambd, 0 elsewhere."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(_Elementwise):
    """input where input > 0, negative_slope * input elsewhere."""

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Any) -> Any:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._extra("negative_slope")


class LogSigmoid(Module):
    """log(sigmoid(input))."""

    def forward(self, input: Any) -> Any:
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta * input)) / beta, and input itself where beta * input > threshold."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Any) -> Any:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """input, moved towards 0 by lambd."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """input where input > 0, weight * input elsewhere. weight: one slope, or one for each channel, learned."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = empty_parameter(num_parameters, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to the initial one."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """input / (1 + |input|)."""

    def forward(self, input: Any) -> Any:
        return F.softsign(input)


class Tanhshrink(Module):
    """input - tanh(input)."""

    def forward(self, input: Any) -> Any:
        return F.tanhshrink(input)


class _AlongDim(Module):
    """A softmax along dim. If dim is None, it is chosen by the number of dimensions, with a warning."""

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """softmax(-input) along dim."""

    def forward(self, input: Any) -> Any:
        return F.softmin(input, self.dim)


class Softmax(_AlongDim):
    """exp(input), divided by its sum along dim."""

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels. input: (N, C, H, W) or (C, H, W). Raises ValueError for another number of dimensions."""

    def forward(self, input: Any) -> Any:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """log(softmax(input)) along dim."""

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim, _stacklevel=5)


class MultiheadAttention(Module):
    """Attention in num_heads parts of the features. See nn.functional.multi_head_attention_forward.

    query: (L, N, embed_dim), key: (S, N, kdim), value: (S, N, vdim); batch comes first if batch_first; without batch also.
    Weights: in_proj_weight, (3 * embed_dim, embed_dim), or q_, k_ and v_proj_weight if kdim or vdim differ from embed_dim;
    in_proj_bias; out_proj. add_bias_kv: a learned key and value more. add_zero_attn: a key and value of zeros more."""

    __constants__ = ["batch_first"]
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        shapes = {
            "q_proj_weight": None if self._qkv_same_embed_dim else (embed_dim, embed_dim),
            "k_proj_weight": None if self._qkv_same_embed_dim else (embed_dim, self.kdim),
            "v_proj_weight": None if self._qkv_same_embed_dim else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if self._qkv_same_embed_dim else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
            "bias_k": (1, 1, embed_dim) if add_bias_kv else None,
            "bias_v": (1, 1, embed_dim) if add_bias_kv else None,
        }
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else empty_parameter(shape, device, dtype))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Return (output, weights); weights is None unless need_weights."""
        transposed = self.batch_first and query.dim() == 3
        if transposed:  # the projection is one product if query, key and value are one tensor
            found = {id(x): x.transpose(0, 1) for x in (query, key, value)}
            query, key, value = found[id(query)], found[id(key)], found[id(value)]
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (output.transpose(0, 1) if transposed else output), weights

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> tuple[Any, int | None]:
        """Return (mask, kind): kind 1 for a key_padding_mask alone, 2 for an attn_mask, to which the other is added.

        query: (N, L, embed_dim). A mask of kind 2 has shape (N, num_heads, L, L)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2

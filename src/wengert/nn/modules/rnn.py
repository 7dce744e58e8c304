"""Recurrent layers and cells."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

from wengert import errors
from wengert.core.tensor import TensorBase
from wengert.nn import init
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import empty_parameter
from wengert.nn.utils.rnn import PackedSequence
from wengert.ops import function

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_LAYERS: dict[str, Any] = {mode: function("", mode.lower()) for mode in _GATES}
_CELLS: dict[str, Any] = {mode: function("", f"{mode.lower()}_cell") for mode in _GATES}


def apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    """Return the tensor with the indices of dim permuted."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Base of RNN, LSTM and GRU: their weights, and the checks of their inputs.

    Weights of layer k: weight_ih_lk and weight_hh_lk, bias_ih_lk and bias_hh_lk if bias, weight_hr_lk if proj_size; and the
    same with "_reverse" for the other direction. All start from U(-b, b) with b = 1 / sqrt(hidden_size)."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    ]  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout) if isinstance(dropout, numbers.Number) else dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_arguments(dropout)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        gates, hidden = _GATES[mode] * hidden_size, proj_size or hidden_size
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden * directions
            for suffix in [f"_l{layer}", f"_l{layer}_reverse"][:directions]:
                shapes: dict[str, Any] = {"weight_ih": (gates, inputs), "weight_hh": (gates, hidden)}
                if bias:
                    shapes |= {"bias_ih": gates, "bias_hh": gates}
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                for name, shape in shapes.items():
                    setattr(self, name + suffix, empty_parameter(shape, device, dtype))
                self._all_weights.append([name + suffix for name in shapes])
                self._flat_weights_names += self._all_weights[-1]
        self.reset_parameters()

    def _check_arguments(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:  # type: ignore[operator]
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"{name} should be of type int, got: {type(getattr(self, name)).__name__}")
        for name in ("hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def __getstate__(self) -> dict[str, Any]:
        # torch keeps the weights in a list, too, and needs the list when it loads a module.
        return {**self.__dict__, "_flat_weights": self._flat_weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({key: value for key, value in state.items() if key not in ("_flat_weights", "_flat_weight_refs")})

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: on the CPU the weights need not be in one piece of memory."""

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise ValueError or RuntimeError unless the input has the device, dtype, dimensions and features that the layer takes."""
        dtype = self.weight_ih_l0.dtype
        if input.device != self.weight_ih_l0.device:
            raise errors.DeviceError(
                "Input and parameter tensors are not at the same device, found input tensor at "
                f"{input.device} and parameter tensor at {self.weight_ih_l0.device}"
            )
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: input.to({dtype}), or "
                f"convert model: model.to({input.dtype})"
            )
        wanted = 2 if batch_sizes is not None else 3
        if input.ndim != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.ndim}")
        if self.input_size != input.shape[-1]:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """Return the shape of the hidden states for this input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0] if self.batch_first else input.shape[1]
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """Return the shape of the cell states of an LSTM for this input."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_hidden_size(self, hx: Any, expected_hidden_size: Any, msg: str = "Expected hidden size {}, got {}") -> None:
        """Raise RuntimeError unless hx has this shape."""
        if hx.device != self.weight_ih_l0.device:
            raise errors.DeviceError(
                "Input and hidden tensors are not at the same device, found input tensor at "
                f"{self.weight_ih_l0.device} and hidden tensor at {hx.device}"
            )
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise ValueError or RuntimeError for an input or a state of another shape."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Return the states in another order of the sequences."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    # -- forward: an LSTM has two states, the others one ---------------------------------------------------------------

    def _initial_states(self, input: Any, batch_sizes: Any) -> Any:
        return input.new_zeros(self.get_expected_hidden_size(input, batch_sizes))

    def _check_ndim(self, input: Any) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")

    def _check_state_ndim(self, hx: Any, is_batched: bool) -> None:
        if hx.dim() != (3 if is_batched else 2):
            kind, wanted = ("batched 3-D", 3) if is_batched else ("unbatched 2-D", 2)
            raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {hx.dim()}-D tensor")

    def _map_states(self, hx: Any, function: Any) -> Any:
        return function(hx)

    def _run(self, *arguments: Any) -> tuple[Any, Any]:
        """Return (outputs, final states) of the operation, given the arguments that come first."""
        output, hidden = _LAYERS[self.mode](
            *arguments, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional,
            *(() if len(arguments) == 3 else (self.batch_first,)),
        )  # fmt: skip
        return output, hidden

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return (outputs, final states).

        input: (T, N, input_size), or (N, T, input_size) if batch_first, or (T, input_size), or a PackedSequence; then the
        outputs are a PackedSequence, too. hx: the initial states, (num_layers * directions, N, hidden_size), 0 if None; a
        pair (h, c) of an LSTM."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_ndim(input)
        is_batched = input.dim() == 3
        if not is_batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            hx = self._initial_states(input, None)
        else:
            self._check_state_ndim(hx, is_batched)
            if not is_batched:
                hx = self._map_states(hx, lambda state: state.unsqueeze(1))
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx)
        if is_batched:
            return output, hidden
        return output.squeeze(0 if self.batch_first else 1), self._map_states(hidden, lambda state: state.squeeze(1))

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple[Any, Any]:
        data, batch_sizes, order, inverse = input
        hx = self._initial_states(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._run(data, batch_sizes, hx)
        return PackedSequence(output, batch_sizes, order, inverse), self.permute_hidden(hidden, inverse)


class RNN(RNNBase):
    """h' = tanh(W x + b + U h + c), or relu, in num_layers layers. nonlinearity: "tanh" or "relu"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory in num_layers layers. proj_size: size to which hidden states are projected, if not 0."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _initial_states(self, input: Any, batch_sizes: Any) -> Any:
        hidden = input.new_zeros(self.get_expected_hidden_size(input, batch_sizes))
        return hidden, input.new_zeros(self.get_expected_cell_size(input, batch_sizes))

    def _check_state_ndim(self, hx: Any, is_batched: bool) -> None:
        wanted = 3 if is_batched else 2
        if hx[0].dim() != wanted or hx[1].dim() != wanted:
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {wanted}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def _map_states(self, hx: Any, function: Any) -> Any:
        return function(hx[0]), function(hx[1])

    def _run(self, *arguments: Any) -> tuple[Any, Any]:
        output, *states = _LAYERS["LSTM"](
            *arguments, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional,
            *(() if len(arguments) == 3 else (self.batch_first,)),
        )  # fmt: skip
        return output, tuple(states)

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise ValueError or RuntimeError for an input or a state of another shape."""
        self.check_input(input, batch_sizes)
        sizes = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], sizes, "Expected hidden[0] size {}, got {}")
        sizes = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], sizes, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Return the states in another order of the sequences."""
        if permutation is None:
            return hx
        return apply_permutation(hx[0], permutation), apply_permutation(hx[1], permutation)


class GRU(RNNBase):
    """Gated recurrent units in num_layers layers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """Base of cells, which do one step: weight_ih, weight_hh, bias_ih and bias_hh, from U(-b, b) with
    b = 1 / sqrt(hidden_size)."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = empty_parameter((gates, input_size), device, dtype)
        self.weight_hh = empty_parameter((gates, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty_parameter(gates, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _check(self, input: Any, states: tuple[Any, ...], names: tuple[str, ...]) -> None:
        """Raise ValueError or RuntimeError for an input or states of other shapes."""
        for tensor, name in ((input, "input"), *zip(states, names, strict=True)):
            if tensor.dim() not in (1, 2):
                raise ValueError(
                    f"{self._get_name()}: Expected {name} to be 1D or 2D, got {tensor.dim()}D instead"
                )

    def _check_sizes(self, input: Any, states: tuple[Any, ...]) -> None:
        if input.shape[1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {self.input_size}")
        for number, state in enumerate(states):
            if state.shape[0] != input.shape[0]:
                raise RuntimeError(
                    f"Input batch size {input.shape[0]} doesn't match hidden{number} batch size {state.shape[0]}"
                )
            if state.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number} has inconsistent hidden_size: got {state.shape[1]}, expected {self.hidden_size}"
                )

    def _step(self, mode: str, input: Any, hx: Any) -> Any:
        """Return the next state, given a single one."""
        self._check(input, () if hx is None else (hx,), () if hx is None else ("hidden",))
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = input.new_zeros((input.shape[0], self.hidden_size))
        elif not is_batched:
            hx = hx.unsqueeze(0)
        self._check_sizes(input, (hx,))
        state = _CELLS[mode](input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return state if is_batched else state.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of RNN. input: (N, input_size) or (input_size), hx: (N, hidden_size) or (hidden_size), 0 if None."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM. input: (N, input_size) or (input_size), hx: a pair of states, 0 if None. Returns a pair (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if isinstance(hx, TensorBase):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        self._check(input, () if hx is None else tuple(hx), () if hx is None else ("hx[0]", "hx[1]"))
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            state = input.new_zeros((input.shape[0], self.hidden_size))
            hx = (state, state)
        else:
            hx = tuple(hx) if is_batched else tuple([state.unsqueeze(0) for state in hx])
        self._check_sizes(input, hx)
        h, c = _CELLS["LSTM"](input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of GRU. input: (N, input_size) or (input_size), hx: (N, hidden_size) or (hidden_size), 0 if None."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("GRU", input, hx)

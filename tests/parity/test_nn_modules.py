"""Every layer and loss of nn beside torch's: printed form, state_dict, values and gradients in float64."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert

torch = pytest.importorskip("torch")


class Ints:
    """Stands for a tensor of integers in [0, high)."""

    def __init__(self, high, *shape):
        self.high = high
        self.shape = shape


class Signs(Ints):
    """Stands for a tensor of -1 and 1."""

    def __init__(self, *shape):
        self.shape = shape


class Positive(Signs):
    """Stands for a tensor of numbers in (0.1, 0.9)."""


# name: [(arguments, keyword arguments, inputs), ...]; an input is a shape, or stands for other values.
X, IMAGE, VOLUME, SEQUENCE = (4, 6), (2, 4, 6, 6), (2, 4, 5, 6, 5), (2, 4, 9)
ELEMENTWISE = [
    "ReLU", "ReLU6", "Sigmoid", "Hardsigmoid", "Tanh", "SiLU", "Mish", "Hardswish", "SELU", "GLU", "GELU", "Hardshrink",
    "LogSigmoid", "Softplus", "Softshrink", "Softsign", "Tanhshrink", "Identity", "Flatten",
]  # fmt: skip
CASES = {
    **{name: [((), {}, [X])] for name in ELEMENTWISE},
    "Threshold": [((0.1, 20.0), {}, [X])],
    "Hardtanh": [((), {}, [X]), ((-0.3, 0.2), {}, [X])],
    "ELU": [((), {}, [X]), ((0.5,), {}, [X])],
    "CELU": [((), {}, [X]), ((0.5,), {}, [X])],
    "LeakyReLU": [((), {}, [X]), ((0.3,), {}, [X])],
    "PReLU": [((), {}, [X]), ((6, 0.1), {}, [X])],
    "Softmin": [((1,), {}, [X])],
    "Softmax": [((0,), {}, [X])],
    "LogSoftmax": [((-1,), {}, [X])],
    "Softmax2d": [((), {}, [IMAGE]), ((), {}, [IMAGE[1:]])],
    "Linear": [((6, 3), {}, [X]), ((6, 3, False), {}, [(2, 4, 6)])],
    "Bilinear": [((6, 5, 3), {}, [X, (4, 5)]), ((6, 5, 3), {"bias": False}, [X, (4, 5)])],
    "LazyLinear": [((3,), {}, [X])],
    "Conv1d": [((4, 6, 3), {}, [SEQUENCE]), ((4, 6, 3, 2, 1, 2, 2), {"padding_mode": "circular"}, [SEQUENCE])],
    "Conv2d": [
        ((4, 6, 3), {}, [IMAGE]),
        ((4, 6, (3, 2)), {"stride": (1, 2), "padding": (2, 0), "bias": False, "groups": 2}, [IMAGE]),
        ((4, 2, 3), {"padding": "same", "padding_mode": "reflect"}, [IMAGE]),
        ((4, 2, (2, 4)), {"padding": "same", "padding_mode": "replicate", "dilation": (1, 2)}, [(4, 8, 8)]),
    ],
    "Conv3d": [((4, 2, 3), {"padding": 1}, [VOLUME])],
    "ConvTranspose1d": [((4, 2, 3), {"stride": 2, "output_padding": 1}, [SEQUENCE])],
    "ConvTranspose2d": [((4, 2, 3, 2, 1, 1), {"groups": 2}, [IMAGE])],
    "ConvTranspose3d": [((4, 2, 2), {"bias": False, "dilation": 2}, [VOLUME])],
    "LazyConv1d": [((6, 3), {}, [SEQUENCE])],
    "LazyConv2d": [((6, 3), {"bias": False}, [IMAGE])],
    "LazyConv3d": [((6, 3), {}, [VOLUME])],
    "LazyConvTranspose1d": [((6, 3), {}, [SEQUENCE])],
    "LazyConvTranspose2d": [((6, 3), {}, [IMAGE])],
    "LazyConvTranspose3d": [((6, 3), {}, [VOLUME])],
    "BatchNorm1d": [
        ((6,), {}, [X]),
        ((4,), {"momentum": None, "eps": 1e-3}, [SEQUENCE]),
        ((4,), {"affine": False}, [SEQUENCE]),
        ((4,), {"track_running_stats": False, "bias": False}, [SEQUENCE]),
    ],
    "BatchNorm2d": [((4,), {}, [IMAGE])],
    "BatchNorm3d": [((4,), {}, [VOLUME])],
    "SyncBatchNorm": [((4,), {}, [IMAGE])],
    "LazyBatchNorm1d": [((), {}, [X])],
    "LazyBatchNorm2d": [((), {"affine": False}, [IMAGE])],
    "LazyBatchNorm3d": [((), {"track_running_stats": False}, [VOLUME])],
    "InstanceNorm1d": [((4,), {}, [SEQUENCE]), ((4,), {"affine": True, "track_running_stats": True}, [SEQUENCE[1:]])],
    "InstanceNorm2d": [((4,), {"affine": True}, [IMAGE])],
    "InstanceNorm3d": [((4,), {}, [VOLUME])],
    "LazyInstanceNorm1d": [((), {}, [SEQUENCE])],
    "LazyInstanceNorm2d": [((), {}, [IMAGE])],
    "LazyInstanceNorm3d": [((), {}, [VOLUME])],
    "GroupNorm": [((2, 4), {}, [IMAGE]), ((4, 4), {"affine": False}, [SEQUENCE])],
    "LayerNorm": [((6,), {}, [X]), (((4, 9),), {"bias": False, "eps": 0.1}, [SEQUENCE])],
    "RMSNorm": [((6,), {}, [X]), (((4, 9),), {"elementwise_affine": False, "eps": 0.1}, [SEQUENCE])],
    "LocalResponseNorm": [((3, 0.5), {}, [IMAGE])],
    "CrossMapLRN2d": [((3, 0.5), {}, [IMAGE]), ((2, 0.5, 0.5, 2.0), {}, [(2, 7, 3, 3)])],
    "Dropout": [((0.0,), {}, [X])],
    "Dropout1d": [((0.0,), {}, [SEQUENCE])],
    "Dropout2d": [((0.0,), {}, [IMAGE])],
    "Dropout3d": [((0.0,), {}, [VOLUME])],
    "AlphaDropout": [((0.0,), {}, [X])],
    "FeatureAlphaDropout": [((0.0,), {}, [IMAGE])],
    "Embedding": [
        ((7, 3), {}, [Ints(7, 2, 5)]),
        ((7, 3), {"padding_idx": 2, "scale_grad_by_freq": True}, [Ints(7, 5)]),
        ((7, 3), {"max_norm": 0.5, "norm_type": 1.0}, [Ints(7, 5)]),
    ],
    "EmbeddingBag": [
        ((7, 3), {}, [Ints(7, 2, 5)]),
        ((7, 3), {"mode": "sum", "padding_idx": 1}, [Ints(7, 2, 5)]),
        ((7, 3), {"mode": "max"}, [Ints(7, 2, 5)]),
    ],
    "Unflatten": [((1, (2, 3)), {}, [X])],
    "Fold": [(((4, 5), 2), {}, [(2, 8, 12)])],
    "Unfold": [((2,), {"padding": 1, "stride": 2}, [IMAGE])],
    "CosineSimilarity": [((), {}, [X, X])],
    "PairwiseDistance": [((), {}, [X, X]), ((1.0, 1e-3, True), {}, [X, X])],
    "PixelShuffle": [((2,), {}, [IMAGE])],
    "PixelUnshuffle": [((2,), {}, [IMAGE])],
    "ChannelShuffle": [((2,), {}, [IMAGE])],
    "Upsample": [((), {"scale_factor": 2}, [IMAGE]), (((7, 8),), {"mode": "bicubic", "align_corners": True}, [IMAGE])],
    "UpsamplingNearest2d": [((), {"scale_factor": 2}, [IMAGE])],
    "UpsamplingBilinear2d": [(((4, 9),), {}, [IMAGE])],
    **{
        f"{kind}Pad{n}d": [((1, *value), {}, [shape]), (((1, 2) * n, *value), {}, [shape])]
        for kind, value in (("Circular", ()), ("Constant", (2.5,)), ("Reflection", ()), ("Replication", ()), ("Zero", ()))
        for n, shape in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME))
    },
    "MaxPool1d": [((2,), {}, [SEQUENCE])],
    "MaxPool2d": [((2,), {}, [IMAGE]), (((3, 2), 1), {"padding": 1, "dilation": 2, "return_indices": True}, [IMAGE])],
    "MaxPool3d": [((2,), {"ceil_mode": True}, [VOLUME])],
    "MaxUnpool1d": [((2,), {}, [(1, 1, 1), Ints(2, 1, 1, 1)])],
    "MaxUnpool2d": [((2,), {}, [(1, 1, 1, 1), Ints(4, 1, 1, 1, 1)])],
    "MaxUnpool3d": [((2,), {}, [(1, 1, 1, 1, 1), Ints(8, 1, 1, 1, 1, 1)])],
    "AvgPool1d": [((2,), {}, [SEQUENCE]), ((3, 2, 1, True, False), {}, [SEQUENCE])],
    "AvgPool2d": [((2,), {}, [IMAGE]), (((3, 2), 2, 1, True, False, 3), {}, [IMAGE])],
    "AvgPool3d": [((2,), {}, [VOLUME])],
    "LPPool1d": [((2, 3), {}, [SEQUENCE])],
    "LPPool2d": [((2, 3), {"ceil_mode": True}, [IMAGE])],
    "LPPool3d": [((2, 2, 1), {}, [VOLUME])],
    "AdaptiveAvgPool1d": [((3,), {}, [SEQUENCE])],
    "AdaptiveAvgPool2d": [(((None, 4),), {}, [IMAGE])],
    "AdaptiveAvgPool3d": [((2,), {}, [VOLUME])],
    "AdaptiveMaxPool1d": [((3, True), {}, [SEQUENCE])],
    "AdaptiveMaxPool2d": [(((None, 4),), {}, [IMAGE])],
    "AdaptiveMaxPool3d": [((2,), {}, [VOLUME])],
    **{
        name: [((), {}, [X, X]), ((), {"reduction": "sum"}, [X, X])]
        for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "PoissonNLLLoss")
    },
    "NLLLoss": [((), {}, [X, Ints(6, 4)]), ((), {"ignore_index": 2, "reduction": "none"}, [X, Ints(6, 4)])],
    "GaussianNLLLoss": [((), {"full": True}, [X, X, Positive(*X)])],
    "KLDivLoss": [((), {"reduction": "batchmean"}, [X, Positive(*X)])],
    "BCELoss": [((), {}, [Positive(*X), Positive(*X)])],
    "BCEWithLogitsLoss": [((), {}, [X, Positive(*X)])],
    "HingeEmbeddingLoss": [((0.5,), {}, [X, Signs(*X)])],
    "MultiLabelMarginLoss": [((), {}, [X, Ints(6, *X)])],
    "SoftMarginLoss": [((), {}, [X, Signs(*X)])],
    "CrossEntropyLoss": [
        ((), {}, [X, Ints(6, 4)]),
        ((), {"label_smoothing": 0.1, "ignore_index": 3}, [X, Ints(6, 4)]),
        ((), {}, [X, Positive(*X)]),
    ],
    "MultiLabelSoftMarginLoss": [((), {}, [X, Ints(2, *X)])],
    "CosineEmbeddingLoss": [((0.1,), {}, [X, X, Signs(4)])],
    "MarginRankingLoss": [((0.1,), {}, [X, X, Signs(*X)])],
    "MultiMarginLoss": [((2, 0.5), {}, [X, Ints(6, 4)])],
    "TripletMarginLoss": [((), {"swap": True}, [X, X, X])],
    "TripletMarginWithDistanceLoss": [((), {}, [X, X, X])],
    **{
        name: [
            ((3, 4), {}, [(5, 2, 3)]),
            ((3, 4), {"num_layers": 2, "bidirectional": True, "batch_first": True}, [(2, 5, 3)]),
            ((3, 4), {"bias": False}, [(5, 3)]),
        ]
        for name in ("RNN", "LSTM", "GRU")
    },
    "RNNCell": [((3, 4), {}, [(2, 3), (2, 4)]), ((3, 4, False, "relu"), {}, [(2, 3)])],
    "LSTMCell": [((3, 4), {}, [(2, 3)]), ((3, 4, False), {}, [(3,)])],
    "GRUCell": [((3, 4), {}, [(2, 3), (2, 4)]), ((3, 4, False), {}, [(3,)])],
    "MultiheadAttention": [
        ((8, 2), {}, [(3, 2, 8), (4, 2, 8), (4, 2, 8)]),
        ((8, 2), {"kdim": 3, "vdim": 5, "add_bias_kv": True, "batch_first": True}, [(2, 3, 8), (2, 4, 3), (2, 4, 5)]),
        ((8, 4), {"bias": False, "add_zero_attn": True}, [(3, 8), (4, 8), (4, 8)]),
    ],
    "TransformerEncoderLayer": [
        ((8, 2, 16, 0.0), {}, [(3, 2, 8)]),
        ((8, 2, 16, 0.0, "gelu"), {"batch_first": True, "norm_first": True, "bias": False}, [(2, 3, 8)]),
    ],
    "TransformerDecoderLayer": [
        ((8, 2, 16, 0.0), {}, [(3, 2, 8), (4, 2, 8)]),
        ((8, 2, 16, 0.0), {"batch_first": True, "norm_first": True}, [(2, 3, 8), (2, 4, 8)]),
    ],
    "AdaptiveLogSoftmaxWithLoss": [((16, 10, [2, 5]), {"head_bias": True, "div_value": 2.0}, [(4, 16), Ints(10, 4)])],
    "Transformer": [((8, 2, 1, 2, 16, 0.0), {}, [(3, 2, 8), (4, 2, 8)])],
    "LinearCrossEntropyLoss": [((6, 5), {"bias": True}, [X, Ints(5, 4)])],
}


def values(rng, wanted):
    """Return the array that stands for an input."""
    if type(wanted) is Ints:
        return rng.integers(0, wanted.high, wanted.shape)
    if type(wanted) is Signs:
        return rng.choice([-1.0, 1.0], wanted.shape)
    if type(wanted) is Positive:
        return rng.uniform(0.1, 0.9, wanted.shape)
    return rng.standard_normal(wanted)


def flat(values):
    """Return the tensors of nested tuples as a list."""
    return [x for value in values for x in flat(value)] if isinstance(values, tuple) else [values]


def as_numpy(tensor):
    return None if tensor is None else tensor.detach().numpy()


def run(library, name, arguments, options, arrays, wanted, state, training):
    """Return (printed form, state before, outputs, gradients, state after). state: parameters and buffers to load, or None."""
    library.manual_seed(0)
    library.set_default_dtype(library.float64)
    try:
        module = getattr(library.nn, name)(*arguments, **options)
        inputs = [library.from_numpy(array.copy()) for array in arrays]
        if name.startswith("Lazy"):
            module(*inputs)
        if state is not None:
            module.load_state_dict({key: library.from_numpy(value.copy()) for key, value in state.items()})
        before = {key: as_numpy(value).copy() for key, value in module.state_dict().items()}
        module.train(training)
        for place, tensor in enumerate(inputs):
            tensor.requires_grad_(tensor.is_floating_point() and (place == 0 or isinstance(wanted[place], tuple)))
        outputs = module(*inputs)
        outputs = flat(outputs)
        if outputs[0].requires_grad:
            outputs[0].pow(2).sum().backward()
        gradients = [as_numpy(tensor.grad) for tensor in (*inputs, *module.parameters())]
        after = {key: as_numpy(value) for key, value in module.state_dict().items()}
        return repr(module), before, [as_numpy(o) for o in outputs], gradients, after
    finally:
        library.set_default_dtype(library.float32)


# torch computes the gradient of Hardsigmoid with 1 / 6 in float32, and that of CrossMapLRN2d as if its windows were regular.
TOLERANCES = {"Hardsigmoid": 1e-7}
WRONG_GRADIENTS = {"CrossMapLRN2d"}


def assert_close(first, second, what, rtol=1e-9):
    assert (first is None) == (second is None), what
    if first is not None:
        assert first.shape == second.shape, what
        assert first.dtype == second.dtype, what
        np.testing.assert_allclose(first, second, rtol=rtol, atol=1e-12, err_msg=what)


@pytest.mark.parametrize("name", sorted(CASES))
def test_modules_are_those_of_torch(name):
    for number, (arguments, options, wanted) in enumerate(CASES[name]):
        rng = np.random.default_rng(number)
        arrays = [values(rng, w) for w in wanted]
        for training in (True, False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = run(torch, name, arguments, options, arrays, wanted, None, training)
                mine = run(wengert, name, arguments, options, arrays, wanted, theirs[1], training)
            assert mine[0] == theirs[0]
            assert list(mine[1]) == list(theirs[1])
            for key in theirs[1]:
                assert_close(mine[4][key], theirs[4][key], key)
            for kind in (2,) if name in WRONG_GRADIENTS else (2, 3):
                assert len(mine[kind]) == len(theirs[kind])
                for place, (a, b) in enumerate(zip(mine[kind], theirs[kind], strict=True)):
                    what = f"{name} {arguments} {options}: {('output', 'gradient')[kind - 2]} {place}"
                    assert_close(a, b, what, TOLERANCES.get(name, 1e-9))


def initial_state(library, name, arguments, options):
    library.manual_seed(7)
    module = getattr(library.nn, name)(*arguments, **options)
    return {key: as_numpy(value) for key, value in module.state_dict().items()}


@pytest.mark.parametrize("name", sorted(name for name in CASES if not name.startswith("Lazy")))
def test_a_seed_gives_the_initial_values_of_torch(name):
    """To the last places: torch's normal numbers differ by machine."""
    for arguments, options, _ in CASES[name]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine, theirs = (initial_state(library, name, arguments, options) for library in (wengert, torch))
        assert list(mine) == list(theirs)
        for key in mine:
            np.testing.assert_allclose(mine[key], theirs[key], rtol=1e-5, atol=1e-6, err_msg=f"{name} {arguments} {key}")

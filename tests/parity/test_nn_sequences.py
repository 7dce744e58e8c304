"""Packed and padded sequences, recurrent layers over them, and attention with masks: wengert gives what torch gives."""

from __future__ import annotations

import numpy as np
import pytest

import wengert

torch = pytest.importorskip("torch")

LENGTHS = [3, 5, 1, 4]


def both(program, *arguments):
    """Run program(library, ...) in both libraries in float64. Compare what it returns: a list of tensors."""
    found = []
    for library in (wengert, torch):
        library.set_default_dtype(library.float64)
        try:
            found.append([x.detach().numpy() for x in program(library, *arguments)])
        finally:
            library.set_default_dtype(library.float32)
    for mine, theirs in zip(*found, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def values(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def filled(library, module):
    """Fill the parameters with numbers that do not depend on the library."""
    rng = np.random.default_rng(1)
    with library.no_grad():
        for parameter in module.parameters():
            parameter.copy_(library.from_numpy(rng.standard_normal(tuple(parameter.shape)) / 2))
    return module


def packed_layer(library, name, options):
    nn = library.nn
    rnn = nn.utils.rnn
    layer = filled(library, getattr(nn, name)(3, 4, **options))
    x = library.from_numpy(values(5, 4, 3)).requires_grad_()
    packed = rnn.pack_padded_sequence(x, library.tensor(LENGTHS), enforce_sorted=False)
    output, state = layer(packed)
    padded, lengths = rnn.pad_packed_sequence(output, total_length=6)
    states = state if isinstance(state, tuple) else (state,)
    (padded.pow(2).sum() + sum(s.sin().sum() for s in states)).backward()
    return [padded, lengths, *states, x.grad, *[p.grad for p in layer.parameters()]]


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_layers_run_over_packed_sequences(name):
    both(packed_layer, name, {})
    both(packed_layer, name, {"num_layers": 2, "bidirectional": True})
    both(packed_layer, name, {"bidirectional": True, "bias": False})


def test_lstm_projects_its_states():
    both(packed_layer, "LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True})


def given_state(library, name):
    layer = filled(library, getattr(library.nn, name)(3, 4, 2, batch_first=True))
    h = library.from_numpy(values(2, 5, 4)).requires_grad_()
    state = (h, h * 2) if name == "LSTM" else h
    output, _ = layer(library.from_numpy(values(5, 6, 3)), state)
    output.sum().backward()
    return [output, h.grad]


def test_layers_start_from_a_given_state():
    for name in ("RNN", "LSTM", "GRU"):
        both(given_state, name)


def masked_attention(library, kind):
    attention = filled(library, library.nn.MultiheadAttention(8, 2, batch_first=True))
    x = library.from_numpy(values(2, 4, 8)).requires_grad_()
    padding = library.tensor([[False, False, False, True], [False] * 4])
    causal = library.nn.Transformer.generate_square_subsequent_mask(4)
    options = {
        "padding": {"key_padding_mask": padding},
        "bool": {"attn_mask": causal != 0},
        "causal": {"attn_mask": causal, "is_causal": True, "need_weights": False},
        "heads": {"attn_mask": causal.expand(4, 4, 4), "average_attn_weights": False},
    }[kind]
    output, weights = attention(x, x, x, **options)
    output.pow(2).sum().backward()
    return [output, x.grad, *([] if weights is None else [weights]), *[p.grad for p in attention.parameters()]]


def test_attention_takes_masks():
    for kind in ("padding", "bool", "causal", "heads"):
        both(masked_attention, kind)


def masked_transformer(library, norm_first):
    model = library.nn.Transformer(8, 2, 2, 2, 16, 0.0, batch_first=True, norm_first=norm_first)
    filled(library, model)
    source, target = library.from_numpy(values(2, 4, 8)), library.from_numpy(values(2, 3, 8)).requires_grad_()
    padding = library.tensor([[False, False, False, True], [False] * 4])
    causal = model.generate_square_subsequent_mask(3)
    output = model(source, target, tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    output.pow(2).sum().backward()
    return [output, target.grad, *[p.grad for p in model.parameters()]]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformer_takes_masks():
    for norm_first in (False, True):
        both(masked_transformer, norm_first)

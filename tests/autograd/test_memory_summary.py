"""memory_summary: bytes by hand, for graphs small enough to count."""

import json

import pytest

import wengert as torch
from lines import line_of
from wengert.autograd import graph


def test_bytes_by_node_and_line():
    x = torch.ones(256, requires_grad=True)
    h = x * 2
    y = h.exp()  # saves its output
    z = (y * y).sum()  # saves the same array, twice
    summary = graph.memory_summary(z)
    assert summary.total == 1024 and summary.leaves == 0
    assert {n.name: n.bytes for n in summary.nodes} == {"ExpBackward0": 1024, "MulBackward0": 0}
    assert summary.lines[f"{line_of(__file__, 'saves its output')}, in test_bytes_by_node_and_line"] == 1024


def test_leaves_are_counted_apart():
    x, w = torch.ones(8, 16), torch.ones(16, 4, requires_grad=True)
    summary = graph.memory_summary((x @ w).sum())
    assert (summary.total, summary.leaves) == (8 * 16 * 4, 0)
    summary = graph.memory_summary((w * w).sum())
    assert (summary.total, summary.leaves) == (0, 16 * 4 * 4)


def test_views_hold_the_memory_of_their_base():
    x = torch.ones(100, requires_grad=True)
    y = (x * 3)[:10]
    assert graph.memory_summary((y * y).sum()).total == 400


def test_the_peak_counts_gradients_on_their_way():
    x = torch.ones(1000, requires_grad=True)
    loss = (x * 2).exp().sum()
    summary = graph.memory_summary(loss)
    # Of float32: when ExpBackward0 runs, its saved output, the gradient that arrived and the one that it makes.
    assert summary.peak == 3 * 4000 and summary.peak_at.name() == "ExpBackward0"


def test_freed_values_do_not_count_in_the_memory_summary():
    x = torch.ones(10, requires_grad=True)
    loss = x.exp().sum()
    assert graph.memory_summary(loss).total == 40
    loss.backward()
    assert graph.memory_summary(loss).total == 0


def test_custom_functions_and_writes_into_views():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, ct):
            return 2 * ct * ctx.saved_tensors[0]

    x = torch.ones(10, requires_grad=True)
    assert graph.memory_summary(Square.apply(x * 1).sum()).total == 40
    buffer = torch.zeros(20)
    buffer[:10] = x.exp()
    buffer[10:].mul_(x * 2)
    assert graph.memory_summary(buffer.sum()).total >= 80


def test_text_html_and_dict():
    x = torch.ones(256, requires_grad=True)
    summary = graph.memory_summary((x * 2).exp().sum())
    text = str(summary)
    assert text.startswith("held by the graph: 1.00 KB, and of leaves 0 B\nat the peak of a backward pass: 3.00 KB, in ExpBackward0 (")
    assert "1.00 KB  ExpBackward0 [[256]]" in text and ">ExpBackward0</td>" in summary._repr_html_()
    assert json.loads(json.dumps(summary.as_dict()))["nodes"][0]["bytes"] == 1024


def test_a_long_graph():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20000):
        y = y * 1.5
    assert graph.memory_summary(y).total == 0


@pytest.mark.parametrize(("loss", "error"), [(torch.ones(1), RuntimeError), (torch.ones(1, requires_grad=True), RuntimeError), (3.0, TypeError)])
def test_memory_summary_refuses_a_loss_without_a_graph(loss, error):
    with pytest.raises(error):
        graph.memory_summary(loss)

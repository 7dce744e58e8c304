"""Seeing programs: pictures, profiles, and the lines in errors."""

from __future__ import annotations

import pytest

import wengert as torch
from wengert.kernels import native
from wengert.program.loaded import Loaded


def step_of():
    w = torch.ones(3, 3, requires_grad=True)

    def step(x):
        loss = (x @ w).tanh().sum()
        return loss.detach(), *torch.autograd.grad(loss, w)

    compiled = torch.compile(step, fullgraph=True)
    for _ in range(2):
        compiled(torch.ones(2, 3))
    return compiled


@pytest.mark.parametrize("fold", [True, False])
def test_a_program_is_drawn(fold):
    program = step_of().programs()[0]
    drawing = torch.autograd.graph.draw(program, fold=fold)
    names = [node.name for node in drawing.nodes]
    assert {"in0", "matmul"} <= set(names) and any("tanh" in name for name in names)
    read = {number for node in drawing.nodes for number in node.inputs}
    assert read <= {node.number for node in drawing.nodes}
    product = next(node for node in drawing.nodes if node.name == "matmul" and "float32 [2, 3]" in node.shapes)
    inputs = {node.name for node in drawing.nodes if node.number in product.inputs}
    assert "in0" in inputs and not product.is_leaf and product.source.startswith("test_seeing.py:")
    for text in (drawing.svg(), drawing.dot(), drawing.mermaid(), str(drawing)):
        assert "tanh" in text


def test_a_profile_shows_a_program_and_its_instructions():
    compiled = step_of()
    runs = compiled.recordings[0].runs
    with torch.autograd.profiler.profile() as prof:
        compiled(torch.ones(2, 3))
    assert compiled.recordings[0].runs == runs + 1
    rows = {event.name: event.cpu_parent and event.cpu_parent.name for event in prof.function_events}
    (program,) = [name for name in rows if name.startswith("program ")]
    assert rows[program] is None
    if native is not None:
        assert rows["matmul"] == program and any("tanh" in name and parent == program for name, parent in rows.items())


def test_a_profile_of_a_new_kind_of_call_shows_the_operations():
    compiled = step_of()
    with torch.autograd.profiler.profile() as prof:
        compiled(torch.ones(5, 3))
    assert "tanh" in [event.name for event in prof.function_events] and len(compiled.recordings) == 1


def test_an_error_inside_names_the_line():
    def pick(x, i):
        return x[i] * 2

    compiled = torch.compile(pick, fullgraph=True)
    for _ in range(2):
        compiled(torch.ones(3), torch.tensor([0, 2]))
    with pytest.raises(IndexError, match="out of bounds"):  # the function itself raises it
        compiled(torch.ones(3), torch.tensor([0, 7]))
    if native is not None:
        with pytest.raises(IndexError) as caught:
            Loaded(compiled.programs())(torch.ones(3), torch.tensor([0, 7]))
        assert "recorded at test_seeing.py:" in caught.value.__notes__[0]


def test_trace_is_another_name_of_compile():
    traced = torch.jit.trace(lambda x, y: (x * y).sum(), (torch.ones(2), torch.full((2,), 3.0)))
    assert len(traced.programs()) == 1
    assert traced(torch.ones(2), torch.ones(2)).item() == 2.0 and traced.recordings[0].runs == 1
    one = torch.jit.trace(torch.tanh, torch.zeros(2))
    assert one(torch.zeros(2)).tolist() == [0.0, 0.0]
    layer = torch.nn.Linear(2, 2)
    assert torch.jit.trace(layer, torch.ones(1, 2)) is layer

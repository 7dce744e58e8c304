"""Pictures of graphs: what is in the boxes, which arrows there are, and that the texts are well-formed."""

import re
import shutil
import sys
from xml.etree import ElementTree

import pytest

import wengert as torch
from lines import line_of
from wengert import errors
from wengert.autograd import graph


def network():
    x = torch.ones(4, 3)
    params = {"w": torch.ones(3, 2, requires_grad=True), "b": torch.zeros(2, requires_grad=True)}
    loss = ((x @ params["w"] + params["b"]).tanh() ** 2).mean()  # network
    return loss, params


def boxes(drawing):
    return {node.title: node for node in drawing.nodes}


def test_boxes_and_arrows():
    loss, params = network()
    drawing = graph.draw(loss, params)
    assert {node.title for node in drawing.nodes} == {
        "MeanBackward0", "PowBackward0", "TanhBackward0", "AddBackward0", "b", "MmBackward0", "w",
    }  # fmt: skip
    by_title = boxes(drawing)
    assert set(by_title["AddBackward0"].inputs) == {by_title["MmBackward0"].number, by_title["b"].number}
    assert by_title["w"].shapes == ["float32 [3, 2]"] and by_title["w"].is_leaf and by_title["w"].inputs == {}
    assert by_title["TanhBackward0"].bytes == 4 * 2 * 4
    assert by_title["TanhBackward0"].source.startswith(line_of(__file__, "network"))
    assert drawing.nodes[0].title == "MeanBackward0"


def test_a_loop_is_folded():
    w = torch.ones(2, requires_grad=True)
    y = w
    for _ in range(1000):
        y = y * 1.01
        y = y + 1
    drawing = graph.draw(y.sum(), {"w": w})
    assert {node.title for node in drawing.nodes} == {"SumBackward0", "MulBackward0 x1000", "AddBackward0 x1000", "w"}
    mul, add = boxes(drawing)["MulBackward0 x1000"], boxes(drawing)["AddBackward0 x1000"]
    assert mul.inputs == {add.number: 999, boxes(drawing)["w"].number: 1} and add.inputs == {mul.number: 1000}
    assert len(graph.draw(y.sum(), {"w": w}, fold=False).nodes) == 2002


def test_layers_are_folded_with_their_parameters():
    params = {f"layers.{i}.weight": torch.ones(3, 3, requires_grad=True) for i in range(5)}
    y = torch.ones(2, 3)
    for w in params.values():
        y = (y @ w).relu()
    drawing = graph.draw(y.sum(), params)
    titles = {node.title for node in drawing.nodes}
    assert len(titles) == 4 and any(re.fullmatch(r"layers\.\d\.weight, \.\.\., layers\.\d\.weight x5", t) for t in titles)


def test_two_parameters_of_one_operation_are_two_boxes():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    assert {node.title for node in graph.draw(a * b, {"a": a, "b": b}).nodes} == {"MulBackward0", "a", "b"}
    squared = graph.draw(a * a, {"a": a})
    assert squared.nodes[0].inputs == {1: 2} and "x2" in squared.dot and "x2" in squared.mermaid


def test_the_dot_text():
    loss, params = network()
    dot = graph.draw(loss, params).dot
    assert dot.startswith("digraph {\n") and dot.endswith("}\n")
    ids = set(re.findall(r"^  (n\d+) \[label=", dot, re.MULTILINE))
    arrows = re.findall(r"^  (n\d+) -> (n\d+)", dot, re.MULTILINE)
    assert len(ids) == 7 and len(arrows) == 6 and {end for arrow in arrows for end in arrow} <= ids
    assert 'label="w\\nfloat32 [3, 2]"' in dot and "test_drawing.py:" in dot


def test_quotes_and_backslashes_are_escaped():
    w = torch.ones(1, requires_grad=True)
    drawing = graph.draw(w * 2, {'a"b\\c<d>': w})
    assert 'a\\"b\\\\c<d>' in drawing.dot and "a#quot;b\\c&lt;d&gt;" in drawing.mermaid


def test_the_mermaid_text():
    loss, params = network()
    lines = graph.draw(loss, params).mermaid.splitlines()
    assert lines[0] == "flowchart TB"
    assert all(re.fullmatch(r'  n\d+(\(\[".*"\]\)|\[".*"\])|  n\d+ (-->|-- .* -->) n\d+', line) for line in lines[1:])


def test_the_text_form():
    w = torch.ones(2, requires_grad=True)
    text = str(graph.draw((w.exp() * 3).sum(), {"w": w}))
    lines = text.splitlines()
    assert len(lines) == 4 and lines[0].split()[:4] == ["0", "SumBackward0", "float32", "[]"] and "<- 1" in lines[0]
    assert "saved" not in text and "8 B" in lines[2] and lines[3].split() == ["3", "w", "float32", "[2]"]


def test_svg_without_graphviz(monkeypatch):
    w = torch.ones(2, requires_grad=True)
    drawing = graph.draw(w * 2, {"w": w})
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(errors.MissingFeatureError, match="pip install graphviz"):
        drawing.svg()
    assert drawing._repr_html_().startswith("<pre>0  MulBackward0")


@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot of Graphviz is not installed")
def test_svg_with_graphviz(tmp_path):
    pytest.importorskip("graphviz")
    loss, params = network()
    drawing = graph.draw(loss, params)
    root = ElementTree.fromstring(drawing.svg())
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"w", "b", "MmBackward0", "float32 [3, 2]"} <= texts
    drawing.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text().count("<g ") > 7


def test_saving(tmp_path):
    w = torch.ones(2, requires_grad=True)
    drawing = graph.draw(w * 2)
    for ending, text in ((".dot", drawing.dot), (".mmd", drawing.mermaid), (".txt", f"{drawing}\n")):
        drawing.save(tmp_path / f"graph{ending}")
        assert (tmp_path / f"graph{ending}").read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match=r"one of .svg, .html, .dot, .mmd, .txt, but got '.png'"):
        drawing.save("graph.png")


def test_a_leaf_is_drawn_and_a_tensor_without_graph_is_refused():
    w = torch.ones(2, requires_grad=True)
    assert [node.title for node in graph.draw(w, {"w": w}).nodes] == ["w"]
    assert [node.title for node in graph.draw(w).nodes] == ["leaf"]
    with pytest.raises(RuntimeError, match="does not require grad"):
        graph.draw(torch.ones(2))
    with pytest.raises(TypeError):
        graph.draw(3.0)

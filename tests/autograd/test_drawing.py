"""Pictures of graphs: what is in the boxes, which arrows there are, and that the texts are well-formed."""

import re
from xml.etree import ElementTree

import pytest

import wengert as torch
from lines import line_of
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
    assert squared.nodes[0].inputs == {1: 2} and "x2" in squared.dot() and "x2" in squared.mermaid()


def test_the_dot_text():
    loss, params = network()
    dot = graph.draw(loss, params).dot()
    assert dot.startswith("digraph {\n") and dot.endswith("}\n")
    ids = set(re.findall(r"^  (n\d+) \[label=", dot, re.MULTILINE))
    arrows = re.findall(r"^  (n\d+) -> (n\d+)", dot, re.MULTILINE)
    assert len(ids) == 7 and len(arrows) == 6 and {end for arrow in arrows for end in arrow} <= ids
    assert 'label="w\\nfloat32 [3, 2]"' in dot and "test_drawing.py:" in dot


def test_quotes_and_backslashes_are_escaped():
    w = torch.ones(1, requires_grad=True)
    drawing = graph.draw(w * 2, {'a"b\\c<d>': w})
    assert 'a\\"b\\\\c<d>' in drawing.dot() and "a#quot;b\\c&lt;d&gt;" in drawing.mermaid()


def test_the_mermaid_text():
    loss, params = network()
    lines = graph.draw(loss, params).mermaid().splitlines()
    assert lines[0] == "flowchart TB"
    assert all(re.fullmatch(r'  n\d+(\(\[".*"\]\)|\[".*"\])|  n\d+ (-->|-- .* -->) n\d+', line) for line in lines[1:])


def test_the_text_form():
    w = torch.ones(2, requires_grad=True)
    text = str(graph.draw((w.exp() * 3).sum(), {"w": w}))
    lines = text.splitlines()
    assert len(lines) == 4 and lines[0].split()[:4] == ["0", "SumBackward0", "float32", "[]"] and "<- 1" in lines[0]
    assert "saved" not in text and "8 B" in lines[2] and lines[3].split() == ["3", "w", "float32", "[2]"]


SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(drawing):
    """The boxes of a picture: (left, top, right, bottom) of each, by its first line of text."""
    root = ElementTree.fromstring(drawing.svg())
    texts = [t for t in root.iter(f"{SVG}text") if t.get("font-weight") == "bold"]
    found = {}
    for rect, text in zip(root.iter(f"{SVG}rect"), texts, strict=True):
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        found[text.text] = (x, y, x + width, y + height)
    return found


def test_the_picture_has_all_boxes_texts_and_arrows():
    loss, params = network()
    drawing = graph.draw(loss, params)
    root = ElementTree.fromstring(drawing.svg())
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"w", "b", "MmBackward0", "float32 [3, 2]"} <= texts
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arrows) == sum(len(node.inputs) for node in drawing.nodes)
    assert drawing._repr_html_() == drawing.svg()


@pytest.mark.parametrize("make", [network, lambda: wide(40), lambda: chained(60)])
def test_boxes_of_a_picture_do_not_overlap_and_inputs_stand_above(make):
    loss, params = make()
    drawing = graph.draw(loss, params, fold=False)
    root = ElementTree.fromstring(drawing.svg())
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    rects = [[float(rect.get(name)) for name in ("x", "y", "width", "height")] for rect in root.iter(f"{SVG}rect")]
    assert len(rects) == len(drawing.nodes)
    for number, (x, y, w, h) in enumerate(rects):
        assert x >= 0 and y >= -4 and x + w <= width and y + h <= height
        for a, b, c, d in rects[number + 1 :]:
            assert x + w < a or a + c < x or y + h < b or b + d < y
    for path in root.iter(f"{SVG}path"):
        if path.get("marker-end"):
            numbers = [float(x) for x in re.findall(r"-?[\d.]+", path.get("d"))]
            assert numbers[1] < numbers[-1]  # from an input down to its user


def wide(count):
    leaves = [torch.ones(2, requires_grad=True) for _ in range(count)]
    return torch.stack([leaf.exp() for leaf in leaves]).sum(), {f"leaf{i}": leaf for i, leaf in enumerate(leaves)}


def chained(count):
    w = torch.ones(2, requires_grad=True)
    x = w
    for number in range(count):
        x = x * w if number % 7 == 0 else x.sin()
    return x.sum(), {"w": w}


def test_a_folded_loop_has_an_arrow_back():
    w = torch.ones(2, requires_grad=True)
    x = w
    for _ in range(9):
        x = (x * w).sin()
    drawing = graph.draw(x.sum(), {"w": w})
    assert {"SinBackward0 x9", "MulBackward0 x9", "w"} <= set(boxes_of(drawing))
    root = ElementTree.fromstring(drawing.svg())
    assert any(text.text == "x8" for text in root.iter(f"{SVG}text"))


def test_texts_of_a_picture_are_escaped():
    w = torch.ones(1, requires_grad=True)
    assert "<b>&\"" in boxes_of(graph.draw(w * 2, {'<b>&"': w}))


def test_a_large_graph_is_shown_as_a_list():
    loss, params = wide(400)
    drawing = graph.draw(loss, params, fold=False)
    assert drawing._repr_html_().startswith("<pre>0    SumBackward0") and drawing.svg().startswith("<svg")


def test_saving(tmp_path):
    w = torch.ones(2, requires_grad=True)
    drawing = graph.draw(w * 2)
    for ending, text in ((".dot", drawing.dot()), (".mmd", drawing.mermaid()), (".txt", f"{drawing}\n")):
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

"""Pages of graphs: the data in them, groups, times and norms, and that nothing in a name becomes markup. See also
test_page_in_browser.py, which uses the pages as a person does."""

import json
import os
import re
from html.parser import HTMLParser
from importlib import metadata

import numpy as np
import pytest

import wengert as torch
from lines import line_of
from wengert import errors
from wengert.autograd import drawing as drawing_module, graph, profiler
from wengert.autograd.html_table import duration

HOSTILE = "</script><script>document.title='x'</script><!-- \"quoted\" 'n' & é 梯度 ☃ \u2028 {{data}} \\"


class Scripts(HTMLParser):
    """The scripts of a page, and the addresses that its elements load."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.loaded, self.inside = [], [], False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")
        self.loaded += [value for name, value in attributes if name in ("src", "href", "data", "action")]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, text):
        if self.inside:
            self.scripts[-1] += text


def data_of(page):
    scripts = Scripts(page).scripts
    assert len(scripts) == 3
    return json.loads(scripts[0])


def network():
    x = torch.ones(4, 3)
    params = {"fc.weight": torch.ones(3, 2, requires_grad=True), "fc.bias": torch.zeros(2, requires_grad=True)}
    loss = ((x @ params["fc.weight"] + params["fc.bias"]).tanh() ** 2).mean()  # network
    return loss, params


def recurrent(steps):
    w = torch.full((2, 2), 0.5, requires_grad=True)
    h = torch.ones(1, 2)
    for _ in range(steps):
        h = h @ w
        h = h.tanh()
        h = h * 1.5
    return h.sum(), {"w": w}


def groups_of(drawing):
    data = data_of(drawing.html())
    return data["groups"], data["nodes"]


def only(children, kind):
    (found,) = [child for child in children if isinstance(child, dict) and child["kind"] == kind]
    return found


def numbers(group):
    for child in group["children"]:
        yield from numbers(child) if isinstance(child, dict) else (child,)


# -- the page --------------------------------------------------------------------------------------------------------------


def test_a_page_needs_nothing_from_elsewhere():
    loss, params = network()
    page = graph.draw(loss, params).html()
    assert page.startswith("<!DOCTYPE html>") and Scripts(page).loaded == []
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg"}  # the name of SVG, not an address
    assert "default-src 'none'" in page and "url(" not in page.replace("url(#arrow)", "")
    assert "Permission is hereby granted" in page  # of dagre, whose licence asks for it


def test_the_data_of_a_page():
    loss, params = network()
    data = data_of(graph.draw(loss, params).html())
    nodes = {node["title"]: node for node in data["nodes"]}
    assert set(nodes) == {"MeanBackward0", "PowBackward0", "TanhBackward0", "AddBackward0", "fc.bias", "MmBackward0", "fc.weight"}
    tanh = nodes["TanhBackward0"]
    assert tanh["shapes"] == ["float32 [4, 2]"] and tanh["bytes"] == 32 and tanh["source"].startswith(line_of(__file__, "network"))
    assert data["nodes"][tanh["inputs"][0][0]]["title"] == "AddBackward0" and tanh["inputs"][0][1] == 1
    (saved,) = tanh["saved"]
    assert (saved["name"], saved["shape"], saved["dtype"], saved["bytes"]) == ("result", [4, 2], "float32", 32)
    assert saved["values"] == [f"{np.tanh(np.float32(3)):.5g}"] * 6 + ["..."]
    assert saved["statistics"]["min"] == pytest.approx(np.tanh(3)) and "nan" not in saved["statistics"]


def test_names_stay_text():
    w = torch.ones(1, requires_grad=True)
    page = graph.draw(w * 2, {HOSTILE: w}).html()
    data = data_of(page)  # which says that there are three scripts
    assert data["nodes"][1]["title"] == HOSTILE and data["nodes"][1]["parameters"] == [HOSTILE]
    title = graph.draw(w, {HOSTILE: w}).html()
    assert data_of(title)["title"] == f"Graph of {HOSTILE}" and "<title>Graph of &lt;/script&gt;" in title


def test_values_that_are_not_finite_are_data():
    x = torch.tensor([0.0, np.inf, np.nan], requires_grad=True)
    nodes = data_of(graph.draw(x.exp().sum(), {"x": x}, gradients=True).html())["nodes"]
    (saved,) = nodes[1]["saved"]
    assert saved["values"] == ["1", "inf", "nan"] and saved["statistics"] == {"min": 1, "max": 1, "mean": 1, "nan": 1, "inf": 1}
    assert [node["gradient"] for node in nodes if node["title"] == "x"] == ["nan"]


def test_a_gradient_of_zero_is_a_norm():
    x = torch.ones(2, requires_grad=True)
    nodes = data_of(graph.draw((x * 0).sum(), {"x": x}, gradients=True).html())["nodes"]
    assert nodes[2]["title"] == "x" and nodes[2]["gradient"] == 0


def test_page_does_not_show_freed_values():
    loss, params = network()
    before = graph.draw(loss, params)
    loss.backward()
    after = data_of(graph.draw(loss, params).html())
    assert not any("saved" in node for node in after["nodes"]) and after["missing"]["memory"].startswith("the graph holds no memory")
    assert "saved" in data_of(before.html())["nodes"][1]  # a drawing shows what there was when it was made


def test_values_that_hooks_keep_are_left_alone():
    x = torch.ones(3, requires_grad=True)
    unpacked = []
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: unpacked.append(t) or t):
        loss = x.exp().sum()
    graph.draw(loss, {"x": x}).html()
    assert unpacked == []


# -- writing it ------------------------------------------------------------------------------------------------------------


def test_writing_a_page(tmp_path):
    loss, params = network()
    drawing = graph.draw(loss, {"гамма": params["fc.weight"]})
    assert drawing.save(tmp_path / "graph.html") is None
    text = (tmp_path / "graph.html").read_text(encoding="utf-8")
    assert text == drawing.html() == drawing.html()
    drawing.save(tmp_path / "graph.html")  # once more
    drawing.save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_text(encoding="utf-8") == (tmp_path / "graph.html").read_text(encoding="utf-8") == text


def test_a_path_that_cannot_be_written(tmp_path):
    drawing = graph.draw(network()[0])
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "no" / "graph.html"))):
        drawing.save(tmp_path / "no" / "graph.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        drawing.save(tmp_path / "folder.html")
    assert os.listdir(tmp_path) == ["folder.html"]
    with pytest.raises(TypeError, match="not int"):
        drawing.save(1)  # which open() would take for the standard output


def test_a_leaf_has_a_page_and_a_tensor_without_graph_is_refused():
    w = torch.ones(2, requires_grad=True)
    data = data_of(graph.draw(w, {"w": w}).html())
    assert [node["title"] for node in data["nodes"]] == ["w"] and data["groups"]["children"] == [0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        graph.draw(torch.ones(2), gradients=True)


# -- groups ----------------------------------------------------------------------------------------------------------------


def test_every_node_is_in_one_group():
    for make in (network, lambda: recurrent(50)):
        groups, nodes = groups_of(graph.draw(*make()))
        assert sorted(numbers(groups)) == list(range(len(nodes)))


def test_steps_of_a_loop():
    groups, nodes = groups_of(graph.draw(*recurrent(5)))
    loop = only(groups["children"], "loop")
    assert loop["label"] == "loop ×5"
    leaf, *steps = loop["children"]  # what all steps share stands beside them
    assert nodes[leaf]["title"] == "w" and [step["label"] for step in steps] == [f"step {i}" for i in range(1, 6)]
    assert all([nodes[i]["name"] for i in step["children"]] == ["MmBackward0", "TanhBackward0", "MulBackward0"] for step in steps)


def test_loops_in_loops():
    w = torch.ones(2, requires_grad=True)
    y = w
    for _ in range(4):
        for _ in range(5):
            y = y * 1.5
            y = y.sin()
        y = y.cos()
    groups, nodes = groups_of(graph.draw(y.sum(), {"w": w}))
    outer = only(groups["children"], "loop")
    assert outer["label"] == "loop ×4"
    inner = only(outer["children"][1]["children"], "loop")
    assert inner["label"] == "loop ×5" and [nodes[i]["name"] for i in inner["children"][0]["children"]] == ["MulBackward0", "SinBackward0"]


def test_a_long_loop_is_split_into_ranges():
    groups, _ = groups_of(graph.draw(*recurrent(100)))
    loop = only(groups["children"], "loop")
    ranges = loop["children"][1:]
    assert [r["label"] for r in ranges[:2]] == ["steps 1–10", "steps 11–20"] and len(ranges) == 10
    assert [len(r["children"]) for r in ranges] == [10] * 10

    def widest(group):
        inner = [child for child in group["children"] if isinstance(child, dict)]
        return max([len(group["children"]), *map(widest, inner)])

    assert widest(groups_of(graph.draw(*recurrent(2000)))[0]) <= 41


def test_layers():
    loss, params = network()
    groups, nodes = groups_of(graph.draw(loss, params))
    layer = only(groups["children"], "layer")
    assert layer["label"] == "fc" and {nodes[i]["title"] for i in layer["children"]} == {"fc.weight", "MmBackward0", "fc.bias", "AddBackward0"}


def test_layers_of_a_loop_are_named():
    params = {f"layers.{i}.weight": torch.ones(3, 3, requires_grad=True) for i in range(5)}
    y = torch.ones(2, 3)
    for w in params.values():
        y = (y @ w.T).relu()
    groups, nodes = groups_of(graph.draw(y.sum(), params))
    steps = only(groups["children"], "loop")["children"]
    assert [step["label"] for step in steps] == [f"layers.{i}" for i in range(5)]
    assert "layers.2.weight" in {nodes[i]["title"] for i in steps[2]["children"]}


def test_operations_that_differ_are_no_loop():
    w = torch.ones(2, requires_grad=True)
    y = w.exp().sin().cos().tanh().exp().sin()
    groups, _ = groups_of(graph.draw(y.sum(), {"w": w}))
    assert not any(isinstance(child, dict) for child in groups["children"])


def test_a_graph_beyond_the_limit_is_drawn_by_its_boxes(monkeypatch):
    monkeypatch.setattr(drawing_module, "PAGE_LIMIT", 100)
    drawing = graph.draw(*recurrent(50))
    titles = [node["title"] for node in data_of(drawing.html())["nodes"]]
    assert sorted(titles) == sorted([node.title for node in drawing.nodes]) and "TanhBackward0 x50" in titles


# -- times and norms -------------------------------------------------------------------------------------------------------


def test_times_agree_with_the_profile():
    with profiler.profile() as prof:
        loss, params = network()
        loss.backward(retain_graph=True)
    drawing = graph.draw(loss, params, profile=prof)
    by_title = {node.title: node for node in drawing.nodes}
    tanh = by_title["TanhBackward0"]
    times = {event.name: event.self_cpu_time_total for event in prof.function_events}
    assert tanh.forward_us == times["tanh"] > 0 and tanh.backward_us == times["TanhBackward0"] > 0
    assert tanh.time_us == tanh.forward_us + tanh.backward_us and by_title["fc.weight"].time_us is None
    assert f"took {duration(tanh.time_us)}" in drawing.dot() and f"took {duration(tanh.time_us)}" in str(drawing)
    data = data_of(drawing.html())
    (node,) = [node for node in data["nodes"] if node["title"] == "TanhBackward0"]
    assert node["forward"] == tanh.forward_us and "time" not in data["missing"] and "gradient" in data["missing"]
    assert graph.draw(loss, params, profile=prof.function_events).nodes[0].time_us is not None


def test_times_of_folded_nodes_add_up():
    with profiler.profile() as prof:
        loss, params = recurrent(10)
    folded = {node.name: node.time_us for node in graph.draw(loss, params, profile=prof).nodes}
    each = [node.time_us for node in graph.draw(loss, params, profile=prof, fold=False).nodes if node.name == "TanhBackward0"]
    assert len(each) == 10 and folded["TanhBackward0"] == pytest.approx(sum(each))


def test_a_profile_of_something_else_gives_no_times():
    loss, params = network()
    with profiler.profile() as prof:
        torch.ones(2, requires_grad=True).exp()
    drawing = graph.draw(loss, params, profile=prof)
    assert all(node.time_us is None for node in drawing.nodes)
    assert data_of(drawing.html())["missing"]["time"] == "no times: draw(loss, profile=prof), of a block that recorded or ran this graph"


def test_a_profile_that_is_none():
    loss, params = network()
    with pytest.raises(TypeError, match=r"draw\(\): argument 'profile' \(position 3\) must be profiler.profile, not str"):
        graph.draw(loss, params, profile="prof")
    with profiler.profile() as prof, pytest.raises(errors.ProfilerError, match="Profiler didn't finish running"):
        graph.draw(loss, params, profile=prof)


def test_parameters_that_are_none():
    loss, _ = network()
    with pytest.raises(TypeError, match=r"draw\(\): argument 'params' \(position 2\) must be Tensor, or several of them, not int"):
        graph.draw(loss, 3)
    with pytest.raises(TypeError, match=r"draw\(\): argument 'params' \(position 2\) must be Tensor, not int"):
        graph.draw(loss, {"a": 3})


def test_gradient_norms():
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * x
    loss = (y * torch.tensor([1.0, 2.0])).sum()
    drawing = graph.draw(loss, {"x": x}, gradients=True)
    norms = [node.gradient_norm for node in drawing.nodes]
    assert [node.name for node in drawing.nodes] == ["SumBackward0", "MulBackward0", "MulBackward0", "leaf"]
    assert norms == pytest.approx([1.0, np.sqrt(2), np.sqrt(5), np.hypot(6, 16)])
    assert x.grad is None and "gradient norm 17.1" in str(drawing)
    loss.backward()  # the graph is still there
    np.testing.assert_array_equal(x.grad.numpy(), [6, 16])


def test_the_gradient_norm_of_folded_nodes_is_the_largest_of_theirs():
    w = torch.tensor([2.0], requires_grad=True)
    y = w
    for _ in range(3):
        y = y * 3
    folded = {node.name: node.gradient_norm for node in graph.draw(y, {"w": w}, gradients=True).nodes}
    assert folded == {"MulBackward0": 9.0, "leaf": 27.0}


def test_gradient_norms_of_a_freed_graph():
    loss, params = network()
    loss.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        graph.draw(loss, params, gradients=True)


def test_a_drawing_holds_no_part_of_the_graph():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    from weakref import ref

    node = ref(y.grad_fn)
    drawing = graph.draw(y.sum(), {"x": x}, gradients=True)
    del y
    assert node() is None and "ExpBackward0" in drawing.html()


def test_without_the_layout_library_the_error_names_it(monkeypatch):
    loss, params = network()
    drawing = graph.draw(loss, params)

    def distribution(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", distribution)
    with pytest.raises(AttributeError, match=r"^a page is laid out by dagre, and the package XStatic-Dagre, .* pip install wengert\[viz\]"):
        drawing.html()
    assert "flowchart" in drawing.mermaid()

"""explain: each planted fault is named with its kind and its line, and what is sound is left alone."""

import json

import numpy as np
import pytest

import wengert as torch
from lines import line_of
from wengert import errors


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def says(loss, parameter, mark):
    """The record of one parameter, which has to blame the line with this mark."""
    record = torch.explain(loss, {"w": parameter})["w"]
    assert [place.rpartition(",")[0] for place in record.where] == [line_of(__file__, mark)], record.reason
    assert line_of(__file__, mark) in record.reason
    return record


def nothing_done(parameter):
    return parameter.grad is None


# -- sound gradients -------------------------------------------------------------------------------------------------------


def test_a_gradient_is_reported_with_its_norm():
    w, b = leaf(3.0, 4.0), leaf(1.0)
    explanation = torch.explain((w * torch.tensor([3.0, 4.0])).sum() + b, [("w", w), ("b", b)])
    assert [(r.name, r.status, r.norm) for r in explanation] == [("w", "gradient", 5.0), ("b", "gradient", 1.0)]
    assert nothing_done(w) and explanation.failure is None


def test_the_graph_can_still_be_used():
    w = leaf(2.0)
    loss = w.exp()
    torch.explain(loss, w)
    loss.backward()
    np.testing.assert_allclose(w.grad.numpy(), [np.exp(2.0)], rtol=1e-6)


def test_parameters_in_every_form():
    w, b = leaf(1.0), leaf(1.0)
    loss = w * b
    names = [[r.name for r in torch.explain(loss, p)] for p in (w, [w, b], (("w", w), ("b", b)), {"w": w, "b": b})]
    assert names == [["params[0]"], ["params[0]", "params[1]"], ["w", "b"], ["w", "b"]]


def test_a_parameter_that_is_no_leaf():
    w = leaf(1.0)
    h = w * 3
    record = torch.explain(h * 2, {"h": h})["h"]
    assert (record.status, record.norm) == ("gradient", 2.0)


# -- cuts ------------------------------------------------------------------------------------------------------------------


def test_a_detached_parameter():
    w, v = leaf(1.0), leaf(2.0)
    loss = (w.detach() * v).sum()  # detached
    record = says(loss, w, "detached")
    assert record.status == "unreached" and record.reason.startswith("cut off by detach() at ") and record.norm is None


def test_a_cut_by_data():
    w, v = leaf(1.0), leaf(2.0)
    h = w * 3
    loss = (h.data * v).sum()  # data
    assert says(loss, w, "data").reason.startswith("cut off by .data at ")


def test_a_cut_by_data_of_a_temporary_that_is_gone():
    w, v = leaf(1.0), leaf(2.0)
    loss = ((w * 3 + 1).exp().data * v).sum()  # gone
    assert says(loss, w, "gone").reason.startswith("cut off by .data at ")


def test_a_cut_by_no_grad():
    w, v = leaf(1.0), leaf(2.0)
    with torch.no_grad():  # unrecorded
        h = w * 3
    record = says((h * v).sum(), w, "unrecorded")
    assert record.reason.startswith("cut off by no_grad, in which it was used, at ")


def test_a_cut_by_no_grad_after_recorded_operations():
    w, v = leaf(1.0), leaf(2.0)
    h = w.exp()
    with torch.no_grad():
        z = h * 3  # in the block
    assert says((z * v).sum(), w, "in the block").reason.startswith("cut off by no_grad, in which mul() ran, at ")


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)])
def test_recording_inside_of_enable_grad_inside_of_no_grad(mode):
    w = leaf(1.0)
    with mode():
        assert not (w * 2).requires_grad
        with torch.inference_mode(False), torch.enable_grad():
            loss = w * 2
    assert torch.explain(loss, w)[0].status == "gradient"
    loss.backward()
    assert w.grad.item() == 2.0


def test_a_decorated_function_is_named_where_it_is_called():
    w, v = leaf(1.0), leaf(2.0)

    @torch.no_grad()
    def scaled(x):
        return x * 3

    h = scaled(w)  # called here
    assert says((h * v).sum(), w, "called here").status == "unreached"


def test_a_cut_by_an_integer_cast():
    w, v = leaf(1.0), leaf(2.0)
    loss = ((w * 3).long() * v).sum()  # integers
    assert says(loss, w, "integers").reason.startswith("cut off by a cast to torch.int64 at ")


@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize(
    ("take", "what"),
    [
        (lambda w: w.item(), "item()"),
        (lambda w: w.tolist()[0], "tolist()"),
        (lambda w: float(w), "item()"),
        (lambda w: torch.from_numpy(w.numpy(force=True)), "numpy()"),
        (lambda w: torch.from_numpy(w.detach().numpy()), "detach()"),
        (lambda w: w.clone().detach_(), "detach_()"),
    ],
)
def test_explain_names_each_other_way_to_cut_a_graph(take, what):
    w, v = leaf(1.0), leaf(2.0)
    record = torch.explain((v * take(w)).sum(), {"w": w})["w"]
    assert record.status == "unreached" and record.reason.startswith(f"cut off by {what} at {__file__}")


@pytest.mark.parametrize(
    ("take", "name"),
    [
        (lambda w: (w > 0).float(), "gt"),
        (lambda w: w.eq(1.0).to(torch.float32), "eq"),
        (lambda w: w.argmax() + 1.0, "argmax"),
        (lambda w: torch.argsort(w).float(), "argsort"),
        (lambda w: w.isfinite() * 1.0, "isfinite"),
        (lambda w: (w * 2 < w.exp()).float(), "lt"),
    ],
)
def test_cuts_by_operations_without_derivative(take, name):
    w, v = torch.ones(3, requires_grad=True), leaf(2.0)
    taken = take(w)
    record = torch.explain((v * taken).sum(), {"w": w, "v": v})
    assert record["w"].status == "unreached" and record["v"].status == "gradient"
    assert record["w"].reason.startswith(f"cut off by {name}(), which has no derivative, at {__file__}:")


def test_a_comparison_beside_the_graph_is_no_cut():
    w = leaf(2.0)
    loss = w * (w > 0)
    assert torch.explain(loss, {"w": w})["w"].status == "gradient"


def test_comparisons_in_a_pass_that_records_itself_are_no_cuts():
    w, v = leaf(2.0), leaf(3.0)
    torch.autograd.grad(w.abs() ** 2, w, create_graph=True)  # its rules compare
    record = torch.explain(v * 2, {"w": w})["w"]
    assert "which has no derivative" not in record.reason


def test_of_many_cuts_the_latest_come_first():
    w, v = leaf(1.0), leaf(2.0)
    for _ in range(3):
        w.item()  # logging
    loss = (w.data * v).sum()
    record = torch.explain(loss, {"w": w})["w"]
    assert record.reason.startswith("cut off by .data at ") and "; by item() at " in record.reason and len(record.where) == 2


def test_a_cut_elsewhere_is_not_blamed_on_a_sound_parameter():
    w = leaf(1.0)
    loss = w * 2
    loss.detach()
    assert torch.explain(loss, w)[0].status == "gradient"


def test_an_unused_branch():
    w, u = leaf(1.0), leaf(2.0)
    branch = u * 3
    record = torch.explain(w * 2, {"u": u})["u"]
    assert (record.status, record.reason) == ("unreached", "recorded operations use it, but none of them leads to the loss")
    del branch
    assert torch.explain(w * 2, {"u": u})["u"].reason == "no recorded operation that leads to the loss uses it"


def test_explain_says_that_a_tensor_requires_no_grad():
    w = leaf(1.0)
    records = torch.explain(w * 2, {"n": torch.tensor([1, 2]), "x": torch.ones(2)})
    assert [r.status for r in records] == ["requires no grad"] * 2
    assert "dtype is int64" in records["n"].reason and records["x"].reason == "requires_grad is False"


def test_a_loss_without_a_graph():
    w = leaf(1.0)
    explanation = torch.explain((w.detach() * 2).sum(), {"w": w})
    assert "cut off by detach()" in explanation["w"].reason
    assert str(explanation).startswith("The backward pass fails: element 0 of tensors does not require grad")


# -- values ----------------------------------------------------------------------------------------------------------------


class ReturnsNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, ct):
        return None


def test_a_function_that_returns_none():
    w = leaf(1.0)
    h = ReturnsNone.apply(w * 2)  # none
    record = says((h * 3).sum(), w, "none")
    assert record.status == "none" and record.reason.startswith("ReturnsNoneBackward at ") and record.reason.endswith("returned None for it")


def test_exactly_zero_since_a_node():
    w, v = leaf(1.0, 2.0), leaf(1.0, 1.0)
    h = w.exp()
    z = h * torch.zeros(2)  # zero
    record = says((z + v).sum(), w, "zero")
    assert (record.status, record.norm) == ("zero", 0.0) and record.reason.startswith("exactly zero since MulBackward0 at ")


def test_overwritten_in_place():
    w, v = leaf(1.0), leaf(1.0)
    h = w * 2
    h.zero_()  # overwritten
    record = says((h + v).sum(), w, "overwritten")
    assert record.status == "zero" and record.reason.startswith("exactly zero since ZeroBackward0 at ")


def test_a_saved_value_that_was_overwritten():
    w = leaf(1.0)
    h = w.exp()  # saved
    loss = h * 2
    h.add_(1)  # written
    explanation = torch.explain(loss.sum() + (h * h).sum(), {"w": w})
    assert isinstance(explanation.failure, errors.VersionError)
    text = str(explanation)
    assert line_of(__file__, "saved") in text and line_of(__file__, "written") in text
    assert explanation["w"].status == "not measured"


@pytest.mark.parametrize(("power", "status"), [(30, "vanishing"), (-30, "exploding")])
def test_vanishing_and_exploding(power, status):
    w = leaf(1.0)
    h = w
    for _ in range(abs(power)):
        h = h * (0.5 if power > 0 else 2.0)
    big = h * (1e-3 if power > 0 else 1e3)  # steepest
    record = torch.explain(big.sum(), {"w": w})["w"]
    assert record.status == status and f"most at MulBackward0 ({line_of(__file__, 'steepest')}" in record.reason
    assert len(record.path) == abs(power) + 3 and record.path[0][0] == "SumBackward0" and record.path[-1][2] == record.norm
    assert "... 21 more ..." in str(torch.explain(big.sum(), {"w": w}))
    assert torch.explain(big.sum(), w, vanishing=0.0, exploding=1e99)[0].status == "gradient"


@pytest.mark.parametrize(
    ("operation", "value", "node"),
    [(torch.log, 0.0, "LogBackward0"), (lambda x: x / x, 0.0, "DivBackward0"), (torch.exp, 1000.0, "ExpBackward0")],
)
def test_not_finite(operation, value, node):
    w = leaf(value)
    h = w * 1.0
    loss = operation(h).sum()
    record = torch.explain(loss, {"w": w})["w"]
    assert record.status == "not finite" and record.reason.startswith(f"not finite since {node} at {__file__}")


def test_after_the_graph_is_freed():
    w = leaf(1.0)
    loss = w.exp()
    loss.backward()
    explanation = torch.explain(loss, {"w": w})
    assert isinstance(explanation.failure, errors.GraphFreedError) and explanation["w"].status == "not measured"
    assert explanation["w"].norm == pytest.approx(np.e)


# -- what it looks like ----------------------------------------------------------------------------------------------------


def test_text_html_and_records():
    w, u = leaf(3.0), leaf(1.0)
    explanation = torch.explain((w * 2 + u.detach()).sum(), {"w": w, "<u>": u})
    lines = str(explanation).splitlines()
    assert lines[0] == "w    gradient, norm 2" and lines[1].startswith("<u>  unreached: cut off by detach() at ")
    html = explanation._repr_html_()
    assert html.startswith("<table>") and "&lt;u&gt;" in html and "<u>" not in html and html.count("<tr") == 3
    assert json.loads(json.dumps(explanation.as_dicts()))[1]["status"] == "unreached"
    assert repr(explanation) == str(explanation) and len(explanation) == 2


@pytest.mark.parametrize("params", [3.0, [3.0], {"w": None}])
def test_explain_refuses_params_that_are_not_tensors(params):
    with pytest.raises(TypeError):
        torch.explain(leaf(1.0) * 2, params)


# -- it costs little -------------------------------------------------------------------------------------------------------


def test_explain_refuses_a_loss_that_is_not_a_tensor():
    with pytest.raises(TypeError, match=r"explain\(\): argument 'loss' \(position 1\) must be Tensor, not float"):
        torch.explain(3.0, leaf(1.0))


def test_explain_keeps_no_tensor_alive():
    import gc
    import weakref

    w = torch.ones(1000, requires_grad=True)
    h = w * 2
    array = weakref.ref(h.numpy(force=True))
    h.item if h.numel() == 1 else h.detach()
    del h
    gc.collect()
    assert array() is None


def test_few_cuts_are_remembered():
    from wengert.core import node

    w = leaf(1.0)
    for _ in range(1200):
        w.detach()
    assert len(node.cuts) == 1000

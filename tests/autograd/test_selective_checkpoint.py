"""Selective checkpoints: the gradients of the plain program; what the policy names is kept, and the rest computed again."""

from __future__ import annotations

import functools
import threading

import pytest

import wengert
from wengert.autograd import profiler
from wengert.utils.checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)

aten = wengert.ops.aten


def leaf():
    return wengert.tensor([[0.1, 0.5], [-0.3, 0.7]], dtype=wengert.float64, requires_grad=True)


def run(function, *inputs, keep, **options):
    contexts = functools.partial(create_selective_checkpoint_contexts, keep, **options)
    return checkpoint(function, *inputs, use_reentrant=False, context_fn=contexts)


def program(x, w):
    a = (x @ w).sin()
    values, _ = a.max(0)
    return ((a + 1).t().exp() * values).sum() + wengert.nn.functional.softmax(a, dim=1)[0].sum()


NAMES = {
    "nothing": [],
    "product": [aten.mm.default],
    "several": [aten.mm.default, aten.exp.default, aten.add.Tensor],
    "two results": [aten.max.dim],
    "a view": [aten.t.default],
}


@pytest.mark.parametrize("case", NAMES)
def test_gradients_agree_with_the_plain_program(case):
    x, w = leaf(), leaf()
    expected = wengert.autograd.grad(program(x, w), (x, w))
    found = wengert.autograd.grad(run(program, x, w, keep=NAMES[case]), (x, w))
    for f, e in zip(found, expected, strict=True):
        assert wengert.equal(f, e)


@pytest.mark.parametrize("policy", [*CheckpointPolicy, True, False], ids=str)
def test_every_policy_gives_the_gradients_of_the_plain_program(policy):
    x, w = leaf(), leaf()
    expected = wengert.autograd.grad(program(x, w), (x, w))
    found = wengert.autograd.grad(run(program, x, w, keep=lambda *_, **__: policy), (x, w))
    for f, e in zip(found, expected, strict=True):
        assert wengert.equal(f, e)


@pytest.mark.parametrize(("keep", "factor"), [([aten.exp.default], 5.0), ([], 1.0)])
def test_kept_results_are_not_computed_again(keep, factor):
    """A kept result that was changed behind autograd's back shows in the gradient; one that is computed again does not."""
    x, results = leaf(), []

    def part(x):
        results.append(x.exp())
        return (results[-1] ** 2).sum()

    y = run(part, x, keep=keep)
    results[0].data.mul_(factor)
    y.backward()
    # d/dx e^2 by way of e: 2 e for the square, e again for exp.
    wengert.testing.assert_close(x.grad, 2 * (factor * x.detach().exp()) ** 2)


def test_the_policy_is_asked_once_about_each_operation():
    asked = []

    def policy(context, op, *inputs, **parameters):
        assert isinstance(context, SelectiveCheckpointContext) and not context.is_recompute
        asked.append((str(op), op.name(), [tuple(x.shape) for x in inputs if isinstance(x, wengert.Tensor)], parameters))
        return CheckpointPolicy.PREFER_RECOMPUTE

    x = leaf()
    y = run(lambda x: (x @ x).sum(0).detach(), x, keep=policy)
    assert not y.requires_grad
    assert [entry[:3] for entry in asked] == [("aten.mm.default", "aten::mm", [(2, 2), (2, 2)]), ("aten.sum.default", "aten::sum", [(2, 2)])]
    assert asked[1][3]["dim"] in (0, (0,))
    assert aten.detach.default in SAC_IGNORED_OPS


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (lambda x: x @ x, "mm"),
        (lambda x: x @ x[0], "mv"),
        (lambda x: x[0] @ x[1], "dot"),
        (lambda x: x.reshape(1, 2, 2) @ x.reshape(1, 2, 2), "bmm"),
        (lambda x: wengert.nn.functional.linear(x, x, x[0]), "addmm"),
        (lambda x: wengert.nn.functional.max_pool2d(x[None], 2), "max_pool2d_with_indices"),
        (lambda x: wengert.linalg.vector_norm(x), "linalg_vector_norm"),
        (lambda x: x.max(1)[0], "max"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_operations_have_torchs_names(part, name):
    asked = []
    run(part, leaf(), keep=lambda context, op, *_, **__: asked.append(op) or CheckpointPolicy.MUST_SAVE)
    assert getattr(aten, name).default in asked


def test_only_the_thread_of_the_checkpoint_is_looked_at():
    asked = []

    def policy(context, op, *inputs, **parameters):
        asked.append(str(op))
        return CheckpointPolicy.MUST_SAVE

    def part(x):
        thread = threading.Thread(target=lambda: leaf().cos())
        thread.start()
        thread.join()
        return x.sin().sum()

    run(part, leaf(), keep=policy).backward()
    leaf().cos()
    assert asked == ["aten.sin.default", "aten.sum.default"]


def test_beside_a_profiler():
    x, w = leaf(), leaf()
    with profiler.profile() as prof:
        run(program, x, w, keep=[aten.mm.default]).backward()
    names = [event.name for event in prof.function_events]
    assert names.count("matmul") == 2 and "MmBackward0" in names


def test_a_region_is_differentiated_once():
    x = leaf()
    y = run(lambda x: x.sin().exp().sum(), x, keep=[aten.sin.default])
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=r"^Trying to backward an extra time\. You are only allowed to backward once on any"):
        y.backward()


def test_a_kept_result_that_was_written_into_is_found():
    def part(x):
        a = x.exp()
        a.add_(1)
        return a.sin().sum()

    with pytest.raises(RuntimeError, match=r"^Tensor cached during selective activation checkpoint has been mutated"):
        run(part, leaf(), keep=[aten.exp.default]).backward()
    run(part, leaf(), keep=[aten.exp.default], allow_cache_entry_mutation=True).backward()


def test_an_error_in_the_part_leaves_nothing_switched_on():
    def part(x):
        raise KeyError("mine")

    asked = []
    with pytest.raises(KeyError, match="mine"):
        run(part, leaf(), keep=lambda *a, **k: asked.append(a))
    leaf().sin()
    assert asked == []


@pytest.mark.parametrize(
    ("keep", "kind", "text"),
    [
        (3, TypeError, r"^policy_fn_or_list must be either a function or a list of ops\."),
        ([wengert.mm], ValueError, r"^Expected op in `op_list` to be an OpOverload but got: "),
        ([aten.mm], ValueError, r"^Expected op in .* but got: aten\.mm of type .* change it to `torch\.ops\.aten\.mm\.default`\."),
    ],
)
def test_a_wrong_policy_is_refused(keep, kind, text):
    with pytest.raises(kind, match=text):
        create_selective_checkpoint_contexts(keep)


def test_names_of_operations():
    assert repr(aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>" and str(aten.mm) == "aten.mm"
    assert aten.add.Tensor is aten.add.default and aten.add.default is not aten.mm.default
    assert not hasattr(aten, "__wrapped__") and not hasattr(wengert.ops, "prims")

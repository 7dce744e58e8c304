"""Settings, decorators and modules that programs written for torch name at their top, compared with torch."""

from __future__ import annotations

import pytest

import wengert
from twins import assert_same, run

torch = pytest.importorskip("torch")


def get(library, path):
    found = library
    for name in path.split("."):
        found = getattr(found, name)
    return found


# Values are read in order, so that a setting is seen by the next line.
READ = [
    "get_float32_matmul_precision()", "set_float32_matmul_precision('high')", "get_float32_matmul_precision()",
    "set_float32_matmul_precision('highest')", "use_deterministic_algorithms(True, warn_only=True)",
    "are_deterministic_algorithms_enabled()", "is_deterministic_algorithms_warn_only_enabled()", "get_deterministic_debug_mode()",
    "set_deterministic_debug_mode('error')", "get_deterministic_debug_mode()", "set_deterministic_debug_mode('foo')",
    "use_deterministic_algorithms(1)", "set_deterministic_debug_mode(0)", "are_deterministic_algorithms_enabled()",
    "set_warn_always(True)", "is_warn_always_enabled()", "set_warn_always(False)",
    "cuda.is_available()", "cuda.is_initialized()", "cuda.device_count()", "cuda.current_device()", "cuda.synchronize()",
    "cuda.empty_cache()", "cuda.memory_allocated()", "cuda.max_memory_allocated()", "cuda.memory_reserved()", "cuda.get_device_name(0)",
    "cuda.memory_stats()", "cuda.memory_stats_as_nested_dict()", "cuda.get_gencode_flags()", "cuda.is_tf32_supported()",
    "cuda.max_memory_reserved()", "cuda.can_device_access_peer(0, 0)", "cuda.get_device_properties(0)", "cuda.get_rng_state()",
    "cuda.get_per_process_memory_fraction()", "cuda.default_generators", "cuda.is_bf16_supported()", "cuda.get_device_capability()", "cuda.mem_get_info()", "cuda.manual_seed_all(1)", "cuda.manual_seed(1)",
    "cuda.set_device(-1)", "cuda.get_arch_list()", "cuda.get_rng_state_all()", "cuda.initial_seed()", "cuda.seed()", "cuda.init()",
    "backends.cudnn.is_available()", "backends.cudnn.version()", "backends.cudnn.enabled", "backends.cudnn.benchmark",
    "backends.cudnn.deterministic", "backends.cudnn.allow_tf32", "backends.cuda.is_built()", "backends.cuda.flash_sdp_enabled()",
    "backends.cuda.math_sdp_enabled()", "backends.cuda.matmul.allow_tf32", "backends.mps.is_available()", "backends.mps.is_built()",
    "backends.opt_einsum.is_available()", "backends.opt_einsum.enabled", "backends.opt_einsum.strategy", "backends.mkldnn.enabled",
    "accelerator.is_available()", "accelerator.device_count()", "accelerator.current_accelerator()", "accelerator.synchronize()",
    "mps.is_available()", "mps.manual_seed(0)", "xpu.is_available()", "xpu.device_count()", "version.cuda", "version.hip",
    "distributed.is_initialized()", "distributed.get_rank()", "jit.is_scripting()", "jit.is_tracing()", "jit.annotate(int, 3)",
    "jit.isinstance([1, 2], list[int])", "jit.isinstance([1, 'a'], list[int])", "jit.isinstance({'a': 1}, dict[str, int])",
    "jit.isinstance((1, 'a'), tuple[int, str])", "jit.isinstance([1], list)", "compiler.is_compiling()",
    "compiler.is_dynamo_compiling()", "compiler.reset()", "_dynamo.is_compiling()", "_dynamo.reset()", "autograd.forward_ad._current_level",
    "histogram(torch.tensor([1.0, 2.0, 3.0])).hist", "get_device_module('cuda').is_available()", "compiled_with_cxx11_abi()",
    "testing.assert_allclose(torch.ones(2), torch.ones(2))", "_C._log_api_usage_once('x')", "Tensor(2).is_cuda",
    "nn.DataParallel(torch.nn.Identity())(torch.ones(2))", "nn.DataParallel(torch.nn.Linear(2, 2)).device_ids",
]  # fmt: skip


def answer(t, line):
    try:
        return eval("t." + line, {"t": t, "torch": t, "int": int})
    except AssertionError as error:
        return "AssertionError: " + str(error).partition(":")[0]  # wengert goes on with the reason


@pytest.mark.parametrize("expression", [READ], ids=["all"])
def test_settings_answer_as_in_torch(expression):
    for line in expression:
        ours, theirs = [run(answer, t, line) for t in (wengert, torch)]
        assert_same(ours, theirs, line)


def test_settings_of_backends_can_be_set_and_read():
    before = wengert.backends.cudnn.benchmark
    wengert.backends.cudnn.benchmark = True
    wengert.backends.cuda.matmul.allow_tf32 = True
    assert wengert.backends.cudnn.benchmark and wengert.backends.cuda.matmul.allow_tf32
    with wengert.backends.cuda.sdp_kernel(enable_flash=False):
        assert not wengert.backends.cuda.flash_sdp_enabled()
    assert wengert.backends.cuda.flash_sdp_enabled()
    with wengert.backends.cudnn.flags(enabled=False), wengert.backends.mkldnn.flags(enabled=False):
        pass
    wengert.backends.cudnn.benchmark, wengert.backends.cuda.matmul.allow_tf32 = before, False


def test_decorators_leave_programs_as_they_are():
    def double(x):
        return x * 2

    for same in (
        wengert.jit.script, wengert.jit.export, wengert.jit.ignore, wengert.jit.unused, wengert.jit.script_method,
        wengert.compiler.disable, wengert.compile(disable=True), wengert.jit.ignore(drop=True), wengert._dynamo.optimize("eager"),
        wengert._dynamo.disable(recursive=False), wengert._dynamo.allow_in_graph,
    ):  # fmt: skip
        assert same(double) is double
    layer = wengert.nn.Linear(1, 1)
    assert wengert.jit.script(layer) is layer and wengert.jit.trace(layer, wengert.ones(1)) is layer and wengert.compile(layer) is layer
    assert wengert.jit.freeze(layer) is layer and isinstance(wengert.jit.ScriptModule(), wengert.nn.Module)
    assert wengert.jit.fork(double, wengert.ones(1)).wait().tolist() == [2.0]


@pytest.mark.parametrize("refused", [
    lambda: wengert.jit.save(wengert.nn.Identity(), "x.pt"), lambda: wengert.jit.load("x.pt"), lambda: wengert.onnx.export(None),
    lambda: wengert._dynamo.explain(None), lambda: wengert.jit.CompilationUnit(""),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_hint(refused):
    with pytest.raises(wengert.errors.MissingFeatureError, match="Hint: "):
        refused()


def ensemble(t, functorch):
    t.manual_seed(0)
    models = [t.nn.Sequential(t.nn.Linear(3, 2), t.nn.Tanh(), t.nn.Linear(2, 1)) for _ in range(3)]
    func, params = functorch.make_functional(models[0])
    both, same, buffers = functorch.make_functional_with_buffers(t.nn.BatchNorm1d(2).eval())
    stacked, weights, _ = functorch.combine_state_for_ensemble(models)
    x = t.ones(4, 3)
    grads = functorch.grad(lambda p: func(p, x).sum())(params)
    return (
        func(params, x), [p.shape == q.shape for p, q in zip(params, models[0].parameters(), strict=True)], both(same, buffers, t.ones(3, 2)),
        functorch.vmap(stacked, (0, 0, None))(weights, (), x), [g.detach() for g in grads], functorch.jacrev(t.sin)(t.ones(2)),
    )  # fmt: skip


def test_functorch_gives_what_torchs_gives():
    import functorch as theirs

    import wengert.functorch as ours

    assert_same(run(lambda t: ensemble(t, ours), wengert), run(lambda t: ensemble(t, theirs), torch))


def test_functorch_refuses_buffers_in_torchs_words():
    import functorch as theirs

    import wengert.functorch as ours

    found = [run(lambda t, f=f: f.make_functional(t.nn.BatchNorm1d(2)), t) for t, f in ((wengert, ours), (torch, theirs))]
    assert_same(*found)


@pytest.mark.parametrize("name", ["einsum", "norm", "meshgrid", "unique", "stft", "split"])
def test_functional_has_the_functions_of_the_package(name):
    assert getattr(wengert.functional, name) is getattr(wengert, name)


def test_private_homes():
    assert wengert._tensor.Tensor is wengert.Tensor and wengert.types.Tensor is wengert.Tensor
    assert wengert._vmap_internals._vmap is wengert.vmap or callable(wengert._vmap_internals._vmap)
    with wengert.autograd.forward_ad.dual_level():
        assert wengert.autograd.forward_ad._current_level == 0
    assert wengert.autograd.forward_ad._current_level == -1

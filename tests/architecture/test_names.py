"""The public names: what users of torch's autograd look for is there, under the paths where they look for it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import wengert
from loops import each
from wengert.ops import functions, load_all
from wengert.ops.registry import ALIASES, OPS, prefix_of

NAMES = {
    "wengert": """
        Generator Size Tensor autograd device dtype enable_grad finfo float32 float64 get_default_dtype
        get_rng_state iinfo inference_mode initial_seed int64 is_grad_enabled is_inference_mode_enabled
        is_tensor linalg manual_seed nn no_grad promote_types result_type seed set_default_dtype
        set_grad_enabled set_printoptions set_rng_state utils bfloat16 bool cdouble cfloat complex128
        complex64 double float float16 half int int16 int32 int8 long short uint8

        arange as_tensor asarray empty empty_like eye from_numpy full full_like linspace ones ones_like rand
        randint randn randn_like tensor zeros zeros_like FloatTensor DoubleTensor LongTensor ByteTensor

        abs ceil clone cos exp floor log neg positive reciprocal relu round rsqrt sigmoid sign sin sqrt square
        tan tanh trunc add div matmul maximum minimum mul pow sub where allclose argmax argmin eq equal ge gt
        isclose le lt ne amax amin max mean min norm prod sum gather index_select masked_fill flatten permute
        reshape squeeze t transpose unbind unsqueeze cat chunk split stack addmm bmm dot mm mv outer all any
        clamp cumprod cumsum einsum erf log_softmax logsumexp lerp masked_select median movedim narrow nonzero
        repeat_interleave scatter scatter_add select softmax std std_mean take_along_dim tensordot tile tril
        triu var var_mean bernoulli multinomial normal randperm flip roll diag diagonal logical_and isnan
        isfinite conj real imag
    """,
    "wengert.autograd": """
        Function Variable backward enable_grad function grad grad_mode gradcheck gradgradcheck graph
        inference_mode is_multithreading_enabled no_grad set_grad_enabled set_multithreading_enabled variable NestedIOFunction
        enforce_grad_layout_policy
    """,
    "wengert.autograd.anomaly_mode": "detect_anomaly set_detect_anomaly",
    "wengert.autograd.profiler": """
        EventList FormattedTimesMixin FunctionEvent FunctionEventAvg Interval emit_itt emit_nvtx load_nvprof
        parse_nvprof_trace profile record_function
    """,
    "wengert.autograd.profiler_util": "EventList FunctionEvent FunctionEventAvg",
    "wengert.profiler": "ProfilerAction ProfilerActivity profile record_function schedule tensorboard_trace_handler",
    "wengert.autograd.function": "Function FunctionCtx FunctionMeta BackwardCFunction InplaceFunction NestedIOFunction once_differentiable",
    "wengert.autograd.grad_mode": """
        enable_grad enforce_grad_layout_policy inference_mode no_grad set_grad_enabled set_multithreading_enabled
    """,
    "wengert.autograd.graph": """
        GradientEdge Node allow_mutation_on_saved_tensors disable_saved_tensors_hooks get_gradient_edge
        increment_version register_multi_grad_hook save_on_cpu saved_tensors_hooks
    """,
    "wengert.utils": "backcompat checkpoint data dlpack hooks model_zoo",
    "wengert.utils.dlpack": "DLDeviceType from_dlpack to_dlpack",
    "wengert.utils.benchmark": "Compare Measurement TaskSpec Timer ordered_unique select_unit timer trim_sigfig unit_to_english",
    "wengert.utils.model_zoo": "load_url",
    "wengert.hub": "download_url_to_file get_dir help list load load_state_dict_from_url set_dir",
    "wengert.multiprocessing": """
        Pipe Pool Process ProcessContext ProcessExitedException ProcessRaisedException Queue SpawnContext get_all_sharing_strategies
        get_context get_sharing_strategy set_sharing_strategy set_start_method spawn start_processes
    """,
    "wengert.utils.data": """
        BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset RandomSampler Sampler
        SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler dataloader dataset
        default_collate default_convert distributed get_worker_info random_split sampler
    """,
    "wengert.utils.checkpoint": """
        CheckpointError CheckpointFunction check_backward_validity checkpoint checkpoint_sequential
        detach_variable get_device_states noop_context_fn set_checkpoint_debug_enabled
        set_checkpoint_early_stop set_device_states
    """,
    "wengert.autograd.variable": "Variable",
    "wengert.linalg": "vector_norm",
    "wengert.nn": "functional",
    "wengert.nn.functional": """
        cross_entropy dropout embedding linear log_softmax mse_loss nll_loss relu softmax sigmoid tanh
        binary_cross_entropy binary_cross_entropy_with_logits elu gelu kl_div l1_loss layer_norm leaky_relu
        normalize one_hot silu smooth_l1_loss softplus
    """,
    "wengert.utils.hooks": "RemovableHandle unserializable_hook warn_if_has_hooks",
    "wengert.compat": "install uninstall",
    "wengert.amp": "GradScaler autocast custom_bwd custom_fwd is_autocast_available",
    "wengert.cuda.amp": "GradScaler autocast custom_bwd custom_fwd",
    "wengert.cpu.amp": "GradScaler autocast",
    "wengert.cuda": "device_count is_available manual_seed manual_seed_all FloatTensor LongTensor",
    "wengert.testing": "assert_close make_tensor",
    "wengert.__config__": "show",
}

MEMBERS = {
    "Tensor": """
        backward data detach detach_ grad grad_fn is_inference is_leaf output_nr register_hook
        register_post_accumulate_grad_hook requires_grad requires_grad_ retain_grad retains_grad volatile reinforce
        _backward_hooks _post_accumulate_grad_hooks _base _grad _grad_fn _is_view _version H T __array__ __array_priority__ __dlpack__
        __dlpack_device__ __getitem__ __setitem__ __iter__ __len__ __bool__ __float__ __int__ __index__
        __complex__ __deepcopy__ __contains__ __format__ __matmul__ __rmatmul__ __radd__ __rsub__ __rmul__
        __rtruediv__ __rpow__ __iadd__ __neg__ __invert__ __abs__ __eq__ __lt__ __and__ __or__ bool byte char
        clone contiguous cpu cuda data_ptr device dim double dtype element_size expand expand_as float half
        int is_complex is_contiguous is_floating_point item itemsize long mT ndim ndimension nelement
        new_empty new_full new_ones new_tensor new_zeros numel numpy permute reshape shape short size stride
        storage_offset t to tolist type type_as view view_as unbind add_ mul_ copy_ fill_ zero_ clamp_ exp_
        index_put_ masked_fill_ scatter_ uniform_ normal_
    """,
    "grad_fn": """
        name metadata next_functions register_hook register_prehook _sequence_nr __call__ num_inputs num_outputs
        requires_grad
    """,
    "ctx": """
        save_for_backward save_for_forward saved_tensors saved_variables mark_dirty mark_non_differentiable
        mark_shared_storage set_materialize_grads needs_input_grad to_save dirty_tensors non_differentiable
        materialize_grads maybe_clear_saved_tensors saved_for_forward
    """,
    "Generator": "manual_seed seed initial_seed get_state set_state device",
    "dtype": "is_floating_point is_complex is_signed itemsize to_complex to_real",
}


@each(("module", "name"), [(m, name) for m, names in NAMES.items() for name in names.split()])
def test_module_has(module, name):
    assert hasattr(import_module(module), name)


def examples() -> dict[str, Any]:
    x = wengert.ones(2, requires_grad=True)

    class Double(wengert.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, ct):
            return ct * 2

    return {
        "Tensor": wengert.Tensor, "grad_fn": (x * x).grad_fn, "ctx": Double.apply(x).grad_fn,
        "Generator": wengert.Generator(), "dtype": wengert.float32,
    }  # fmt: skip


@each(("thing", "name"), [(t, name) for t, names in MEMBERS.items() for name in names.split()])
def test_object_has(thing, name):
    example = examples()[thing]
    assert hasattr(type(example), name) or hasattr(example, name)


@pytest.mark.parametrize("module", ["wengert.autograd", "wengert.autograd.function", "wengert.autograd.grad_mode",
                                    "wengert.dtypes"])  # fmt: skip
def test_every_name_in_all_exists(module):
    found = import_module(module)
    assert [name for name in found.__all__ if not hasattr(found, name)] == []
    assert len(set(found.__all__)) == len(found.__all__)


def test_submodules_are_reachable_without_importing_them():
    for path in ("nn.functional.softmax", "utils.hooks.RemovableHandle", "autograd.function.once_differentiable"):
        thing: Any = wengert
        for part in path.split("."):
            thing = getattr(thing, part)
        assert callable(thing)


def test_unknown_names_raise_attribute_error_that_names_them():
    with pytest.raises(AttributeError, match="module 'wengert' has no attribute 'tensr'"):
        _ = wengert.tensr
    with pytest.raises(ImportError):
        from wengert import tensr  # noqa: F401


@pytest.mark.parametrize("namespace", ["", "nn.functional", "fft", "linalg", "special"])
def test_functions_know_their_names_and_docs(namespace):
    home: Any = wengert
    for part in filter(None, namespace.split(".")):
        home = getattr(home, part)
    for name, function in functions(namespace).items():
        assert getattr(home, name) is function
        assert function.__doc__ and function.__module__.startswith("wengert")
        assert function.__name__.removeprefix(prefix_of(namespace)) == name or name in ALIASES


LOAD_EACH_FAMILY = """
from wengert import Tensor, ops
from wengert.ops import late
from wengert.ops.families import LATE_FAMILIES
from wengert.ops.registry import ALIASES, OPS
for family in reversed(LATE_FAMILIES):
    names = set(late.OPERATIONS[family].split())
    there = OPS | ALIASES
    methods = ops.load(family)
    added = (set(OPS) | set(ALIASES)) - set(there)
    assert all((OPS | ALIASES)[name] is op for name, op in there.items()), f"{family} registers what is registered already"
    assert added == names, (family, added ^ names)
    assert set(methods) == set(late.METHODS.get(family, "").split()), family
    assert all(vars(ops.OperationMethods)[name] is method for name, method in methods.items())
    for namespace, families in late.FUNCTIONS.items():
        for name in families.get(family, "").split():
            assert ops.function(namespace, name) is not None, (namespace, name)
late = [name for name, member in vars(ops.OperationMethods).items() if type(member) is ops._LateMethod]
assert not late, late
"""


def test_late_families_register_their_listed_names():
    """The lists are generated (`make generate`), but by a process that has all families."""
    subprocess.run([sys.executable, "-c", LOAD_EACH_FAMILY], check=True)


def test_a_method_of_a_late_family_registers_it():
    assert wengert.ones(3).narrow_copy(0, 1, 2).tolist() == [1.0, 1.0]
    assert wengert.Tensor.narrow_copy.__name__ == "narrow_copy"


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["x & y", "True & x", "~x", "x.logical_and_(y)", "OPS['logical_and'].function(x, y)"])
def test_operators_and_in_place_forms_of_a_late_family_register_it(expression):
    code = "import wengert; from wengert.ops import OPS; x, y = wengert.tensor([True, False]), wengert.tensor([True, True]);"
    code += f"assert 'logical_and' not in set(OPS); z = {expression}; assert 'logical_and' in set(OPS); print(z.tolist())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ("[False, True]" if expression == "~x" else "[True, False]")


@pytest.mark.parametrize(
    "question", ["'ctc_loss' in OPS", "OPS.get('ctc_loss') is not None", "OPS['ctc_loss'].name == 'ctc_loss'", "OPS.get('ctc_loss', 1) != 1"]
)
def test_asking_for_an_operation_of_a_late_family_finds_it(question):
    code = f"from wengert.ops import OPS; assert 'ctc_loss' not in set(OPS); print({question})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("name", ["no_such_operation", "absolute", 3, None])  # absolute is an alias
def test_asking_for_an_unknown_operation(name):
    assert name not in OPS and OPS.get(name) is None and OPS.get(name, 7) == 7
    with pytest.raises(KeyError):
        OPS[name]


def test_help_shows_the_function_behind_a_late_method():
    code = "import wengert; print(wengert.Tensor.cumsum.__doc__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "Derivative" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("module", ["wengert", "wengert.nn.functional", "wengert.special", "wengert.linalg"])
def test_names_that_come_late_are_listed_and_imported_by_star(module):
    code = f"import {module} as home; from {module} import *; names = set(dir(home)); found = set(globals());"
    code += "print(*[n for n in ('cumsum', 'cross_entropy', 'erf', 'svd') if n in names and n in found])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    expected = {"wengert": "cumsum erf svd", "wengert.nn.functional": "cross_entropy", "wengert.special": "erf"}
    assert done.stdout.strip() == expected.get(module, "svd")


def test_inplace_forms_are_functions_too():
    x = wengert.tensor([-1.0, 4.0])
    assert wengert.relu_(x) is x and x.tolist() == [0.0, 4.0]
    assert wengert.sqrt_(x) is x and x.tolist() == [0.0, 2.0]
    assert wengert.nn.functional.elu_(x) is x
    for name in ("add_", "matmul_", "copy_", "log_cosh_"):
        assert not hasattr(wengert, name) and name not in dir(wengert)
    assert not hasattr(wengert.nn.functional, "silu_")


def test_every_namespace_that_operations_name_is_a_module():
    load_all()
    for namespace in {n for op in OPS.values() for n in op.namespaces if n}:
        import_module(f"wengert.{namespace}")


def test_no_operation_is_shadowed_by_a_module_or_name_of_the_package():
    """wengert.bool and friends are dtypes; every other operation's name means the operation."""
    shadowed = [name for name, function in functions("").items() if getattr(wengert, name) is not function]
    assert shadowed == []


def test_version():
    assert wengert.__version__ == "0.1.0"


# Modules that users complete names in. Their dir() has no module, type or helper that the sources import.
COMPLETED = """
    wengert amp autograd autograd.forward_ad autograd.function autograd.functional autograd.grad_mode autograd.gradcheck autograd.graph
    autograd.profiler autograd.variable cpu cuda distributions fft func functional hub jit linalg masked mps nn nn.functional nn.init
    nn.modules nn.parallel nn.parameter nn.utils onnx optim optim.lr_scheduler optim.swa_utils overrides profiler random serialization settings
    signal.windows special testing threads types utils utils.checkpoint utils.data utils.dlpack
"""
_CONSTANTS = {"e", "inf", "nan", "pi", "newaxis"}


@each("module", COMPLETED.split())
def test_dir_lists_what_is_public(module):
    home = wengert if module == "wengert" else import_module(f"wengert.{module}")
    names = [name for name in dir(home) if not name.startswith("_")]
    assert len(names) > 1 and not {"np", "sys", "os", "math", "warnings", "Any", "Callable", "annotations", "TYPE_CHECKING", "core", "kernels"} & set(names)
    for name in names:
        value = getattr(home, name)
        defined = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or "wengert"
        assert defined.startswith("wengert") or name in _CONSTANTS or name in getattr(home, "__all__", ()), f"{module}.{name}"

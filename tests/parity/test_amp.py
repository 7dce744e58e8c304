"""Autocast and GradScaler beside torch: the dtypes of all operations, numbers, warnings and errors."""

from __future__ import annotations

import logging
import warnings
from copy import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import standin  # noqa: E402
import wengert  # noqa: E402
from loops import each  # noqa: E402
from op_samples.cases import CASES, Case, by_operation  # noqa: E402
from parity.test_ops import to_torch, torch_function  # noqa: E402
from wengert import dtypes  # noqa: E402
from wengert.core.tensor import wrap  # noqa: E402

NAMES = ("float32", "bfloat16", "float16")

# Operations whose dtypes differ from torch's, and why.
DIFFERENT = {
    # without autocast too
    "complex", "index_put", "pdist", "native_batch_norm", "native_group_norm",
    # torch's result is of 16 bits for some inputs and of float32 for others; here always of float32
    "local_response_norm", "max_pool3d", "mse_loss",
    # here each is one operation, of which torch casts some steps
    "affine_grid", "affine_grid_generator", "einsum", "linalg_pinv", "tensordot",
    # it moves elements, and so keeps the dtype
    "pad",
    # torch refuses float16, or computes in float32, as its library has it
    "lstm",
}  # fmt: skip


def dtypes_of(result: Any) -> list[str]:
    """The dtypes of the tensors in a result."""
    if isinstance(result, (list, tuple)):
        return [name for x in result for name in dtypes_of(x)]
    return [str(result.dtype)] if hasattr(result, "dtype") else []


def inputs_in(case: Case, dtype: str, convert: Any) -> list[Any]:
    def one(x: Any) -> Any:
        if isinstance(x, list):
            return [one(y) for y in x]
        if isinstance(x, np.ndarray):
            return convert(x.copy(), dtype if x.dtype.kind == "f" else None)
        return x

    return [one(x) for x in case.values(np.float32)]


def in_torch(x: np.ndarray, dtype: str | None) -> Any:
    tensor = torch.from_numpy(x)
    return tensor if dtype is None else tensor.to(getattr(torch, dtype))


def here(x: np.ndarray, dtype: str | None) -> Any:
    return wrap(x if dtype is None else x.astype(dtypes.as_numpy_dtype(getattr(wengert, dtype))))


def check_dtypes(case: Case, lowers: tuple[str, ...]) -> None:
    function = torch_function(case.op)
    if function is None or case.name in DIFFERENT or any(0 in data.shape for data in case.data()):
        return
    params = {name: to_torch(value) for name, value in case.params.items()}
    for name in NAMES:
        for lower in lowers:
            with warnings.catch_warnings(), torch.autocast("cpu", dtype=getattr(torch, lower)):
                warnings.simplefilter("ignore")
                try:
                    wanted = dtypes_of(function(*inputs_in(case, name, in_torch), **params))
                except (RuntimeError, TypeError, NotImplementedError, ValueError):
                    continue
            with warnings.catch_warnings(), wengert.autocast("cpu", dtype=getattr(wengert, lower)):
                warnings.simplefilter("ignore")
                found = dtypes_of(case.call(inputs_in(case, name, here)))
            assert found == wanted, f"{case} of {name} under autocast to {lower}"


@pytest.fixture(autouse=True)
def one_thread():
    """Run torch on one thread: on a busy machine its threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@each("case", [cases[0] for cases in by_operation(lambda case: True).values()])
def test_dtypes_of_results(case):
    check_dtypes(case, ("bfloat16",))


@pytest.mark.exhaustive
@pytest.mark.slow
@each("case", CASES)
def test_dtypes_of_results_of_every_sample(case):
    check_dtypes(case, NAMES[1:])


# -- on a GPU: torch runs on fake tensors, which have a device, a shape and a dtype, and no elements ----------------------

FakeTensorMode = pytest.importorskip("torch._subclasses.fake_tensor").FakeTensorMode
# Operations whose dtypes on a GPU differ from torch's. Besides these, torch has Fourier transforms of float16, in complex32.
DIFFERENT_ON_GPU = {"native_group_norm"}


def on_gpu_in_torch(x: Any, dtype: str) -> Any:
    kind = getattr(torch, dtype) if x.dtype.kind == "f" else torch.from_numpy(np.empty(1, x.dtype)).dtype
    return torch.empty(x.shape, dtype=kind, device="cuda")


# torch takes fake tensors of 16 bits in functions of complex numbers and in factorisations, where it refuses other tensors.
REFUSING = (
    "linalg_", "cholesky", "complex", "det", "fft_", "inverse", "logdet", "lu", "nuclear", "pinverse", "polar", "qr", "slogdet", "stft",
    "svd", "triangular",
)  # fmt: skip


def dtypes_here(case: Case, dtype: str) -> list[str] | None:
    """The dtypes of our results under autocast on a GPU. None for a dtype of 16 bits that it refuses as torch does."""
    on_gpu = copy(case)
    on_gpu.params = params_on_gpu(case, lambda x: x.detach().cuda())
    inputs = moved(case.values(np.float32), lambda x: here(x, dtype if x.dtype.kind == "f" else None).cuda())
    with wengert.autocast("cuda", getattr(wengert, lower_of(dtype))):
        try:
            return dtypes_of(on_gpu.call(inputs))
        except (NotImplementedError, RuntimeError):
            if dtype != "float32" and case.name.startswith(REFUSING):
                return None
            raise


def lower_of(dtype: str) -> str:
    """The dtype of autocast for inputs of a dtype."""
    return "bfloat16" if dtype == "bfloat16" else "float16"


def moved(x: Any, convert: Any) -> Any:
    """Return a value with its arrays converted, those in lists and tuples too."""
    if isinstance(x, (list, tuple)):
        return type(x)([moved(y, convert) for y in x])
    return convert(x) if isinstance(x, np.ndarray) else x


def params_on_gpu(case: Case, to: Any) -> dict[str, Any]:
    def place(x: Any) -> Any:
        return [place(y) for y in x] if isinstance(x, list) else to(x) if hasattr(x, "requires_grad") else x

    return {name: place(value) for name, value in case.params.items()}


def torchs_dtypes(case: Case, function: Any, dtype: str) -> list[str] | None:
    """The dtypes of torch's results under autocast on a GPU. None where fake tensors do not work."""

    def fake(x: Any) -> Any:
        return torch.empty(x.shape, dtype=to_torch(x).dtype, device="cuda")

    with FakeTensorMode(allow_non_fake_inputs=True), torch.autocast("cuda", getattr(torch, lower_of(dtype))):
        try:
            params = {name: x if hasattr(x, "device") else to_torch(x) for name, x in params_on_gpu(case, fake).items()}
            found = dtypes_of(function(*moved(case.values(np.float32), lambda x: on_gpu_in_torch(x, dtype)), **params))
        except Exception:
            return None
    return None if "torch.complex32" in found else found


@each("case", [cases[0] for cases in by_operation(lambda case: case.name not in DIFFERENT_ON_GPU).values()])
def test_dtypes_of_results_on_a_gpu(case, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    monkeypatch.setattr(logging.getLogger("torch._subclasses.fake_tensor"), "disabled", True)  # it logs each error that it raises
    function = torch_function(case.op)
    for dtype in NAMES if function is not None else ():
        with warnings.catch_warnings(), standin.in_use():
            warnings.simplefilter("ignore")
            wanted = torchs_dtypes(case, function, dtype)
            found = None if wanted is None else dtypes_here(case, dtype)
        assert found is None or found == wanted, f"{case} of {dtype} under autocast on a GPU"


def test_what_autocast_refuses_on_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with FakeTensorMode(), torch.autocast("cuda"), pytest.raises(RuntimeError) as theirs:
        torch.nn.functional.binary_cross_entropy(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))
    with standin.in_use(), wengert.autocast("cuda"), pytest.raises(RuntimeError) as ours:
        wengert.nn.functional.binary_cross_entropy(wengert.ones(2, device="cuda"), wengert.ones(2, device="cuda"))
    assert str(ours.value) == str(theirs.value)


def twins(*shape: int, seed: int) -> tuple[Any, Any]:
    values = np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(np.float32)
    return torch.tensor(values, requires_grad=True), wengert.tensor(values, requires_grad=True)


def assert_near(ours: Any, theirs: Any, lower: str) -> None:
    """Check that two results are equal but for the rounding of a few steps in the 16-bit dtype."""
    theirs, ours = theirs.detach().double().numpy(), ours.detach().double().numpy()
    size = max(1.0, np.abs(theirs).max())
    assert np.abs(ours - theirs).max() <= 2 * size * torch.finfo(getattr(torch, lower)).eps


@each("lower", NAMES[1:])
def test_values_and_gradients_of_products(lower):
    programs = {
        "matmul": lambda t, a, b: a @ b.t(),
        "linear": lambda t, a, b: t.nn.functional.linear(a, b, b[:, 0]),
        "bmm": lambda t, a, b: t.bmm(a.reshape(2, 3, 4), b.reshape(2, 4, 3)),
        "conv1d": lambda t, a, b: t.nn.functional.conv1d(a.reshape(1, 2, 12), b.reshape(3, 2, 4)),
        "attention": lambda t, a, b: t.nn.functional.scaled_dot_product_attention(a[None], b[None], b[None]),
        "losses": lambda t, a, b: t.nn.functional.mse_loss(a @ b.t(), (a + b) @ b.t()),
        "norm": lambda t, a, b: t.nn.functional.layer_norm(a @ b.t(), (6,)),
    }
    for name, program in programs.items():
        (a, ours_a), (b, ours_b) = twins(6, 4, seed=1), twins(6, 4, seed=2)
        with torch.autocast("cpu", dtype=getattr(torch, lower)):
            theirs = program(torch, a, b)
        with wengert.autocast("cpu", dtype=getattr(wengert, lower)):
            ours = program(wengert, ours_a, ours_b)
        theirs.float().pow(3).sum().backward()
        ours.float().pow(3).sum().backward()
        assert str(ours.dtype) == str(theirs.dtype), name
        for x, y in ((ours, theirs), (ours_a.grad, a.grad), (ours_b.grad, b.grad)):
            assert_near(x, y, lower)


def train(t: Any, lower: str, scaled: bool, model: Any, optimizer: Any) -> list[float]:
    """The losses of a few steps under autocast, then the scales."""
    scaler = t.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=3, enabled=scaled)
    x = t.linspace(-1, 1, 48).reshape(16, 3)
    labels = (x.sum(1) > 0).long()
    losses, scales = [], []
    for step in range(8):
        optimizer.zero_grad()
        with t.autocast("cpu", dtype=getattr(t, lower)):
            loss = t.nn.functional.cross_entropy(model(x), labels)
        scaler.scale(loss * (float("inf") if step == 5 else 1.0) if scaled else loss).backward()
        scaler.unscale_(optimizer)
        t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    return [*losses, *scales]


@each("lower, scaled", [("bfloat16", False), ("float16", True)])
def test_training_has_the_same_curve(lower, scaled):
    results = []
    for t in (torch, wengert):
        t.manual_seed(0)
        model = t.nn.Sequential(t.nn.Linear(3, 8), t.nn.GELU(), t.nn.LayerNorm(8), t.nn.Linear(8, 2))
        results.append(train(t, lower, scaled, model, t.optim.AdamW(model.parameters(), lr=0.05)))
    theirs, ours = results
    assert np.allclose(ours, theirs, rtol=0.02)


def outcome(call: Any) -> tuple[Any, ...]:
    """(The class and the text of the error, or None; the warnings)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = None
        try:
            call()
        except Exception as found:
            error = type(found).__mro__[-4:], str(found)
    return error, [(w.category, str(w.message).split(" (Triggered")[0]) for w in caught]


CALLS = {
    "no string": lambda t: t.autocast(3),
    "unknown device": lambda t: t.autocast("nowhere"),
    "meta": lambda t: t.autocast("meta"),
    "gpu": lambda t: t.autocast("cuda"),
    "float32": lambda t: t.autocast("cpu", dtype=t.float32),
    "mps": lambda t: t.autocast("mps"),
    "old cpu": lambda t: t.cpu.amp.autocast(),
    "old gpu": lambda t: t.cuda.amp.autocast(),
    "old gpu, disabled": lambda t: t.cuda.amp.autocast(enabled=False),
    "scaler for a GPU": lambda t: t.amp.GradScaler(),
    "old scaler for a GPU": lambda t: t.cuda.amp.GradScaler(),
    "old scaler for the CPU": lambda t: t.cpu.amp.GradScaler(),
    "available nowhere": lambda t: t.amp.is_autocast_available("nowhere"),
    "enabled of a number": lambda t: t.is_autocast_enabled(3),
    "dtype of meta": lambda t: t.get_autocast_dtype("meta"),
    "enabled on the CPU": lambda t: t.is_autocast_cpu_enabled(),
    "dtype on the CPU": lambda t: t.get_autocast_cpu_dtype(),
    "dtype on the GPU": lambda t: t.get_autocast_gpu_dtype(),
    "forward of a number": lambda t: t.amp.custom_fwd(device_type=3),
    "old forward": lambda t: t.cuda.amp.custom_fwd(cast_inputs=t.float32),
    "old backward": lambda t: t.cuda.amp.custom_bwd(lambda ctx: None),
}


@each("name", CALLS)
def test_warnings_and_errors(name):
    assert outcome(lambda: CALLS[name](wengert)) == outcome(lambda: CALLS[name](torch))


def test_settings_have_torchs_values():
    for device in ("cpu", "cuda", "mps", "xpu"):
        assert str(wengert.get_autocast_dtype(device)) == str(torch.get_autocast_dtype(device))
        assert wengert.is_autocast_enabled(device) == torch.is_autocast_enabled(device)
        assert wengert.amp.is_autocast_available(device) == torch.amp.is_autocast_available(device)
    assert not wengert.amp.is_autocast_available("meta")
    for name in ("autocast", "custom_fwd", "custom_bwd", "GradScaler", "is_autocast_available"):
        assert name in wengert.amp.__all__ and name in torch.amp.__all__

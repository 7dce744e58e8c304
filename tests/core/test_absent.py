"""Names of torch that are not here say so and what to use; lines that programs begin with are accepted; bare messages get a hint."""

from __future__ import annotations

from importlib import import_module

import pytest

import wengert
import wengert as torch
from wengert.errors import absent


@pytest.mark.parametrize("name", sorted(absent._ADVICE))
def test_absent_names_say_what_to_use(name):
    home, _, last = name.rpartition(".")
    module = import_module(f"wengert.{home}".rstrip("."))
    assert not hasattr(module, last)
    with pytest.raises(AttributeError) as caught:
        getattr(module, last)
    first, hint = str(caught.value).split("\n")
    assert first == f"module {module.__name__!r} has no attribute {last!r}"
    assert hint.startswith(f"Hint: torch.{name} is not part of wengert: ") and hint.endswith(".")
    assert caught.value.name == last and caught.value.obj is module  # from which Python suggests names of similar spelling


@pytest.mark.parametrize("module", ["", "nn", "nn.functional", "linalg", "fft", "special", "utils", "utils.data", "optim", "func", "autograd"])
def test_other_names_get_the_plain_error(module):
    home = import_module(f"wengert.{module}".rstrip("."))
    with pytest.raises(AttributeError) as caught:
        home.no_such_name_at_all  # noqa: B018
    assert str(caught.value) == f"module {home.__name__!r} has no attribute 'no_such_name_at_all'"


def test_lines_that_programs_begin_with_are_accepted(monkeypatch):
    before = torch.get_float32_matmul_precision()
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.backends.cuda.matmul, "allow_tf32", True)
    torch.set_float32_matmul_precision("high")
    torch._C._jit_set_profiling_mode(False)
    torch._C._jit_set_profiling_executor(False)
    torch.cuda.manual_seed_all(0)
    torch.set_float32_matmul_precision(before)
    assert not torch.accelerator.is_available() and not torch.backends.mps.is_available() and not torch.cuda.is_available()
    assert not hasattr(torch._C, "no_such_name")


def _write_leaf():
    torch.ones(2, requires_grad=True).add_(1)


HINTED = [
    (lambda: torch.ones(2).sum().backward(), RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn", "explain"),
    (_write_leaf, RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.", "no_grad"),
    (lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(), RuntimeError, "expected m1 and m2 to have the same dtype, but got: float != double", ".to("),
    (lambda: torch.dot(torch.ones(2), torch.ones(2).double()), RuntimeError,
     "dot : expected both vectors to have same dtype, but found Float and Double", ".to("),
    (lambda: torch.from_numpy([1, 2]), TypeError, "expected np.ndarray (got list)", "tensor("),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "first", "hint"), HINTED)
def test_the_second_line_is_a_hint(call, kind, first, hint):
    with pytest.raises(kind) as caught:
        call()
    lines = str(caught.value).split("\n")
    assert lines[0] == first and len(lines) == 2 and lines[1].startswith("Hint: ") and hint in lines[1]


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        wengert.load(tmp_path / "no_such.pt")

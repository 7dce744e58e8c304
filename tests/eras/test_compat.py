"""import torch meaning this package: install(), `python -m wengert run`, and what is missing."""

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec

import pytest

import wengert
from wengert import compat


@pytest.fixture
def torch_not_imported():
    """Hides torch itself, where some other test has imported it."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "torch"}
    yield
    sys.modules.update(hidden)


@pytest.fixture
def installed(torch_not_imported):
    compat.install()
    yield
    compat.uninstall()


def in_python(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def run_script(tmp_path, source, *arguments):
    script = tmp_path / "script.py"
    script.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "wengert", "run", str(script), *arguments], capture_output=True, text=True, check=False
    )


# -- modules ---------------------------------------------------------------------------------------------------------------


def test_torch_is_this_package(installed):
    import torch
    import torch.nn.functional as F
    from torch import Tensor, nn
    from torch.autograd import Function, Variable, grad, variable
    from torch.autograd.function import once_differentiable
    from torch.utils.hooks import RemovableHandle

    assert Tensor is wengert.Tensor and torch.ones is wengert.ones and Variable is wengert.autograd.Variable
    assert Function is wengert.autograd.Function and grad is wengert.autograd.grad and nn.functional is F
    assert F.relu is wengert.nn.functional.relu and torch.nn.functional is F and torch.float32 is wengert.float32
    assert once_differentiable is wengert.autograd.function.once_differentiable
    assert RemovableHandle is wengert.utils.hooks.RemovableHandle
    assert torch.autograd.grad is grad and torch.__version__.startswith("2.13")
    with pytest.warns(DeprecationWarning, match="use torch.tensor"):
        assert variable([1.0]).tolist() == [1.0]


def test_a_function_hides_the_module_of_its_name(installed):
    import torch
    import torch.autograd.gradcheck
    from torch.autograd.gradcheck import gradcheck

    assert torch.autograd.gradcheck is gradcheck is wengert.autograd.gradcheck


def test_star_imports(installed):
    names = {}
    exec("from torch import *\nfrom torch.autograd import *", names)
    assert names["ones"] is wengert.ones and names["Variable"] is wengert.autograd.Variable


def test_missing_names_fail_at_their_use_with_a_message(installed):
    import torch
    from torch.distributed.rpc import RRef
    from torch.optim import SparseAdam
    from torch.quantization import QuantStub

    for use, name in (
        (lambda: SparseAdam([]), "torch.optim.SparseAdam"),
        (lambda: QuantStub(), "torch.quantization.QuantStub"),
        (lambda: torch.nn.quantized.Linear(2, 3), "torch.nn.quantized"),
        (lambda: torch.sparse_coo_tensor, "torch.sparse_coo_tensor"),
        (lambda: exec("class Stub(QuantStub): pass", {"QuantStub": QuantStub}), "torch.quantization.QuantStub"),
    ):
        with pytest.raises(NotImplementedError, match=rf"^{name} is not part of wengert") as caught:
            use()
        assert isinstance(caught.value, AttributeError)
    assert not isinstance(torch.ones(1), RRef) and not hasattr(torch, "sparse_coo_tensor")


def test_other_missing_modules_stay_missing(installed):
    with pytest.raises(ModuleNotFoundError):
        import torch_geometric_of_nobody  # noqa: F401


def test_install_twice_and_uninstall(torch_not_imported):
    finders = list(sys.meta_path)
    compat.install()
    compat.install()
    assert len(sys.meta_path) == len(finders) + 1
    import torch.autograd

    compat.uninstall()
    assert sys.meta_path == finders and not any(name.split(".")[0] == "torch" for name in sys.modules)
    assert torch.ones(2).sum().item() == 2.0
    compat.uninstall()


@pytest.mark.slow
def test_install_comes_before_torch():
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    done = in_python("import torch, wengert.compat; wengert.compat.install()")
    assert "RuntimeError: torch is imported in this process already" in done.stderr


def test_only_this_process_is_concerned():
    done = in_python("import wengert.compat; wengert.compat.install(); import torch; print(torch.__name__, torch.Tensor.__module__)")
    assert done.stdout.split() == ["torch", "torch"]
    done = in_python("import wengert, sys; print('torch' in sys.modules, 'wengert.compat' in sys.modules)")
    assert done.stdout.split() == ["False", "False"]


def test_classes_of_tensors_say_that_they_are_of_torch(installed, tmp_path):
    import torch

    class Mine(torch.Tensor):
        pass

    tensor, parameter = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    assert [type(x).__module__ for x in (tensor, parameter)] == ["torch", "torch.nn.parameter"]
    assert repr(type(tensor)) == "<class 'torch.Tensor'>" and Mine.__module__ == __name__
    assert repr(tensor) == "tensor([1., 1.])"
    pickled = tmp_path / "pickled"
    pickled.write_bytes(pickle.dumps([tensor, parameter]))
    assert [type(x) for x in pickle.loads(pickled.read_bytes())] == [torch.Tensor, torch.nn.Parameter]
    assert pickle.loads(pickle.dumps(torch.Tensor)) is torch.Tensor
    load = f"import pickle, sys; print(pickle.load(open({str(pickled)!r}, 'rb'))[0], 'torch' in sys.modules)"
    assert in_python(load).stdout == "tensor([1., 1.]) False\n"
    wengert.compat.uninstall()
    assert wengert.Tensor.__module__ == "wengert.tensor" and wengert.nn.Parameter.__module__ == "wengert.nn.parameter"
    assert pickle.loads(pickle.dumps(wengert.Tensor)) is wengert.Tensor


def test_the_package_itself_is_not_changed(installed):
    import torch.utils.tensorboard  # noqa: F401

    assert not hasattr(wengert.utils, "tensorboard")


# -- run -------------------------------------------------------------------------------------------------------------------


def test_a_script_runs_as_python_runs_it(tmp_path):
    (tmp_path / "neighbour.py").write_text("import torch\nvalue = torch.ones(2).sum().item()\n")
    source = (
        "import sys, torch, neighbour\n"
        "print(sys.argv[1:], __name__, __file__ == sys.argv[0], neighbour.value)\n"
        "import pickle\n"
        "class Thing: pass\n"
        "print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)\n"
    )
    done = run_script(tmp_path, source, "--epochs", "3", "--", "-x")
    assert done.stdout.splitlines() == ["['--epochs', '3', '--', '-x'] __main__ True 2.0", "True"], done.stderr


def test_exit_status_and_errors(tmp_path):
    assert run_script(tmp_path, "import sys; sys.exit(3)").returncode == 3
    done = run_script(tmp_path, "import torch\n\ndef f():\n    torch.ones(2) + torch.ones(3)\nf()\n")
    assert done.returncode == 1
    assert 'script.py", line 4, in f' in done.stderr and "must match the size of tensor b" in done.stderr
    assert run_script(tmp_path, "x =\n").returncode == 1


def test_async_is_understood(tmp_path):
    source = "import torch\nprint(torch.ones(1).cpu(async=True).type('torch.DoubleTensor', async=False).dtype)\n"
    assert run_script(tmp_path, source).stdout.strip() == "torch.float64"


def test_a_file_that_is_not_there(tmp_path):
    done = in_python("import runpy, sys; sys.argv[1:] = ['run', 'nowhere.py']; runpy.run_module('wengert', run_name='__main__')")
    assert done.returncode == 1 and "nowhere.py" in done.stderr


def test_usage():
    done = subprocess.run([sys.executable, "-m", "wengert"], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 2 and "COMMAND" in done.stderr

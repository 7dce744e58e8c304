"""hub, multiprocessing and the small modules of utils."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import wengert
from wengert import hub, multiprocessing
from wengert.utils import backcompat, dlpack, model_zoo

# -- hub ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_dir", str(tmp_path / "hub"))
    return tmp_path


def saved(path):
    wengert.save({"weight": wengert.ones(2)}, path)
    return path.as_uri()


def test_a_state_dict_of_a_url_is_kept(folder, capfd):
    url = saved(folder / "model.pth")
    first = hub.load_state_dict_from_url(url, progress=False)
    (folder / "model.pth").unlink()
    second = model_zoo.load_url(url)
    assert first["weight"].tolist() == second["weight"].tolist() == [1.0, 1.0]
    assert os.listdir(folder / "hub" / "checkpoints") == ["model.pth"]
    assert capfd.readouterr().err == f'Downloading: "{url}" to {folder}/hub/checkpoints/model.pth\n'


def test_hash_of_a_file_name_is_compared(folder):
    saved(folder / "model.pth")
    content = (folder / "model.pth").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    good, bad = folder / f"model-{digest[:8]}.pth", folder / "model-00000000.pth"
    good.write_bytes(content)
    bad.write_bytes(content)
    assert "weight" in hub.load_state_dict_from_url(good.as_uri(), str(folder / "kept"), check_hash=True)
    with pytest.raises(RuntimeError, match=rf'^invalid hash value \(expected "00000000", got "{digest}"\)$'):
        hub.load_state_dict_from_url(bad.as_uri(), str(folder / "kept"), check_hash=True)
    assert os.listdir(folder / "kept") == [good.name]
    assert "weight" in hub.load_state_dict_from_url(bad.as_uri(), str(folder / "kept"), file_name="other.pth")


def test_a_missing_file_leaves_nothing(folder):
    with pytest.raises(OSError, match="No such file"):
        hub.load_state_dict_from_url((folder / "none.pth").as_uri())
    assert os.listdir(folder / "hub" / "checkpoints") == []


def test_code_of_a_file_is_not_run(folder):
    import pickle

    (folder / "model.pth").write_bytes(pickle.dumps(os.getcwd))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        hub.load_state_dict_from_url((folder / "model.pth").as_uri(), weights_only=False)


def test_folder_of_downloads(monkeypatch):
    monkeypatch.setattr(hub, "_dir", None)
    monkeypatch.setenv("TORCH_HOME", "/somewhere")
    assert hub.get_dir() == "/somewhere/hub"
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert hub.get_dir() == "/cache/torch/hub"
    hub.set_dir("~/models")
    assert hub.get_dir() == os.path.expanduser("~/models")


@pytest.mark.parametrize("name", ["load", "list", "help"])
def test_code_of_repositories_is_refused(name):
    with pytest.raises(NotImplementedError, match="runs code of a repository"):
        getattr(hub, name)("pytorch/vision", "resnet18")


# -- multiprocessing ---------------------------------------------------------------------------------------------------


def put(i, queue):
    queue.put((i, wengert.ones(2) * i))


def act(i, what):
    if i == 0:
        return
    if what == "error":
        raise ValueError(f"in process {i}")
    if what == "exit":
        sys.exit(3)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the processes of these tests are forked")
class TestProcesses:
    def test_tensors_go_through_queues(self):
        queue = multiprocessing.get_context("fork").SimpleQueue()
        assert multiprocessing.start_processes(put, (queue,), nprocs=2, start_method="fork") is None
        found = dict([queue.get(), queue.get()])
        assert {i: x.tolist() for i, x in found.items()} == {0: [0.0, 0.0], 1: [1.0, 1.0]}

    def test_an_error_is_raised_with_its_traceback(self):
        with pytest.raises(multiprocessing.ProcessRaisedException) as caught:
            multiprocessing.start_processes(act, ("error",), nprocs=2, start_method="fork")
        text = str(caught.value)
        assert text.startswith("\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n")
        assert text.endswith("ValueError: in process 1\n")
        assert caught.value.error_index == 1

    def test_other_ends(self):
        with pytest.raises(multiprocessing.ProcessExitedException, match=r"^process 1 terminated with exit code 3$") as caught:
            multiprocessing.start_processes(act, ("exit",), nprocs=2, start_method="fork")
        assert caught.value.exit_code == 3
        with pytest.raises(multiprocessing.ProcessExitedException, match=r"^process 1 terminated with signal SIGKILL$") as caught:
            multiprocessing.start_processes(act, ("kill",), nprocs=2, start_method="fork")
        assert caught.value.signal_name == "SIGKILL"

    def test_processes_are_joined_later(self):
        context = multiprocessing.start_processes(act, ("nothing",), nprocs=2, join=False, start_method="fork")
        assert len(context.pids()) == len(context.processes) == 2
        while not context.join(timeout=20):
            pass
        assert context.join()

    def test_results_with_history_are_refused(self):
        queue = multiprocessing.get_context("fork").SimpleQueue()
        x = wengert.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
            queue.put(x * 2)
        queue.put(x)
        assert queue.get().requires_grad


SPAWNED = """
import wengert as torch
import wengert.multiprocessing as mp

def work(i, a, b):
    if a == "fail":
        raise ValueError("spawned")
    assert (a + i, b) == (3 + i, "x")

if __name__ == "__main__":
    mp.spawn(work, args=(torch.tensor(3), "x"), nprocs=2, join=True)
    try:
        mp.spawn(work, args=("fail", "x"))
    except mp.ProcessRaisedException as error:
        print(str(error).splitlines()[-1])
"""


RUN = """
import sys
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.tensor(i) ** 2

def work(i, x):
    assert isinstance(x, torch.Tensor) and torch.__name__ == "torch"

if __name__ == "__main__":
    mp.spawn(work, args=(torch.ones(2),), nprocs=1)
    print([x.item() for x in DataLoader(Squares(), num_workers=1, multiprocessing_context=sys.argv[1])])
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_programs_that_are_run_spawn_processes(method, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(RUN)
    done = subprocess.run([sys.executable, "-m", "wengert", "run", str(path), method], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[0, 1, 4, 9]\n", "")


@pytest.mark.slow
def test_spawn(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SPAWNED)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("ValueError: spawned\n", "")


def test_another_start_method_is_warned_of():
    with pytest.warns(FutureWarning, match=r"^This method only supports start_method=spawn \(got: fork\)"):
        multiprocessing.spawn(act, nprocs=0, start_method="fork")


def test_sharing_strategies_are_accepted(monkeypatch):
    monkeypatch.setattr(multiprocessing, "_strategy", "file_descriptor")
    multiprocessing.set_sharing_strategy("file_system")
    assert multiprocessing.get_sharing_strategy() == "file_system"
    with pytest.raises(AssertionError, match="invalid sharing strategy 'none', expected one of"):
        multiprocessing.set_sharing_strategy("none")


# -- utils -------------------------------------------------------------------------------------------------------------


def test_capsules_and_arrays_share_memory():
    x = wengert.arange(3.0)
    dlpack.from_dlpack(dlpack.to_dlpack(x))[0] = 7
    array = np.arange(3.0)
    dlpack.from_dlpack(array)[1] = 9
    copy = dlpack.from_dlpack(array, copy=True)
    copy[2] = 5
    assert x[0] == 7 and array.tolist() == [0.0, 9.0, 2.0]
    assert dlpack.DLDeviceType(array.__dlpack_device__()[0]).name == "kDLCPU"


def test_switches_of_old_warnings():
    assert backcompat.keepdim_warning.enabled is False
    backcompat.keepdim_warning.enabled = True
    assert backcompat.keepdim_warning.enabled and not backcompat.broadcast_warning.enabled
    backcompat.keepdim_warning.enabled = False


def test_a_list_that_contains_itself_is_no_tree():
    items = []
    items.append(items)
    for call in (lambda: wengert.utils._pytree.tree_flatten(items), lambda: wengert.func.vjp(lambda x: x, items)):
        with pytest.raises(ValueError, match="^tree_flatten: the containers are nested too deeply, or one contains itself$"):
            call()

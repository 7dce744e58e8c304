"""safetensors: files of that format go through the library of that name, whose torch module works with this package as torch."""

import os
import subprocess
import sys

import numpy as np
import pytest

import wengert

pytest.importorskip("safetensors")

PROGRAM = """
import sys, torch, safetensors.torch as st
from safetensors import safe_open
path = sys.argv[1]
tensors = {"a": torch.arange(6.0).view(2, 3), "half": torch.ones(3, dtype=torch.bfloat16), "mask": torch.tensor([True, False]),
           "n": torch.tensor(3), "empty": torch.zeros(0, 2)}
st.save_file(tensors, path, metadata={"format": "pt"})
st.save_file({name: tensors[name] for name in ("a", "mask")}, path + ".plain")
for found in (st.load_file(path), st.load_file(path, device="cpu"), st.load(st.save(tensors))):
    assert list(sorted(found)) == sorted(tensors)
    for name, x in tensors.items():
        assert found[name].dtype is x.dtype and found[name].shape == x.shape and found[name].tolist() == x.tolist(), name
    found["a"][0, 0] = 5.0
with safe_open(path, framework="pt", device="cpu") as file:
    assert file.get_tensor("a").tolist() == tensors["a"].tolist() and file.get_slice("a")[1:, :2].tolist() == [[3.0, 4.0]]
x = torch.ones(4)
try:
    st.save_file({"x": x, "y": x[1:]}, path + ".shared")
except RuntimeError as error:
    assert "share memory" in str(error)
else:
    raise AssertionError("shared memory is not seen")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
model[0].bias = torch.nn.Parameter(model[1].weight.data)
st.save_model(model, path + ".model")
other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
other[0].bias = torch.nn.Parameter(other[1].weight.data)
st.load_model(other, path + ".model")
assert all(p.tolist() == q.tolist() for p, q in zip(model.parameters(), other.parameters()))
print("done", torch.__name__)
"""


def run(tmp_path, *command):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, *command, str(script), str(tmp_path / "file")], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert result.stdout.split() == ["done", "torch"], result.stderr
    return tmp_path / "file"


def test_the_torch_module_of_safetensors_works_with_wengert(tmp_path):
    path = run(tmp_path, "-m", "wengert", "run")
    from safetensors.numpy import load_file, save_file

    arrays = load_file(f"{path}.plain")  # safetensors.numpy knows no bfloat16
    assert wengert.from_numpy(arrays["a"]).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and arrays["mask"].tolist() == [True, False]
    save_file({"b": wengert.ones(2, 2).numpy()}, tmp_path / "numpy")
    assert np.array_equal(load_file(tmp_path / "numpy")["b"], np.ones((2, 2)))


@pytest.mark.slow
def test_files_are_those_of_torch(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours, theirs = run(tmp_path / "ours", "-m", "wengert", "run"), run(tmp_path / "theirs")
    assert ours.read_bytes() == theirs.read_bytes()

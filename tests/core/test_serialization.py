"""save and load: what comes back, that NumPy can read the file, and that a file runs nothing."""

import io
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import wengert
from loops import each


def again(obj):
    file = io.BytesIO()
    wengert.save(obj, file)
    file.seek(0)
    return wengert.load(file)


@each(
    "dtype", ["float16", "float32", "float64", "bfloat16", "complex64", "complex128", "bool", "uint8", "int16", "int64"]
)
@each("shape", [(), (3,), (2, 0), (2, 3)])
def test_a_tensor_comes_back(dtype, shape):
    x = wengert.ones(shape).cumsum(-1).to(getattr(wengert, dtype)) if shape else wengert.tensor(1.5).to(getattr(wengert, dtype))
    y = again(x)
    assert y.dtype is x.dtype and y.shape == x.shape and y.tolist() == x.tolist() and not y.requires_grad


def test_requires_grad_stays_and_history_goes():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    for y in again([x, x * 2]):
        assert y.requires_grad and y.is_leaf and y.grad is None
        y.sum().backward()
        assert y.grad.tolist() == [1.0, 1.0]
        with wengert.no_grad():
            y.add_(1)  # its memory is its own, and can be written


def test_views_of_any_layout_are_pickled():
    x = wengert.arange(6.0).view(2, 3)
    for view in (x.t(), x[:, ::2], x.flip(1), x[0].expand(4, 3)):
        assert again(view).tolist() == view.tolist()


def test_nested_containers_are_pickled():
    obj = {
        "state": OrderedDict([("weight", wengert.ones(2)), ("bias", None)]), 3: [1, 2.5, True, "text"],
        "tuple": (float("inf"), 1 - 2j, wengert.float32, wengert.Size([2, 3])), (1, "key"): {},
    }  # fmt: skip
    found = again(obj)
    assert repr(found) == repr(obj) and list(found) == list(obj)
    assert type(found["state"]) is OrderedDict and type(found["tuple"][3]) is wengert.Size
    assert found["tuple"][2] is wengert.float32


def test_one_tensor_in_two_places_is_one_again():
    x = wengert.ones(2)
    first, second, other = again([x, x, x.clone()])
    assert first is second and first is not other


def test_a_state_goes_on_training(tmp_path):
    """As programs do it: parameters by name, in a file with a name."""
    weight = wengert.tensor([1.0, -2.0], requires_grad=True)
    wengert.save({"weight": weight, "epoch": 7}, tmp_path / "state.pt")
    state = wengert.load(str(tmp_path / "state.pt"), map_location="cpu", weights_only=True)
    (state["weight"] ** 2).sum().backward()
    assert state["epoch"] == 7 and state["weight"].grad.tolist() == [2.0, -4.0]


def test_numpy_reads_the_arrays(tmp_path):
    wengert.save([wengert.arange(3.0), wengert.ones(2, 2)], tmp_path / "file")
    with np.load(tmp_path / "file") as arrays:
        assert arrays["0"].tolist() == [0.0, 1.0, 2.0] and arrays["1"].shape == (2, 2)


@pytest.mark.parametrize("obj", [object(), {"f": print}, [np.ones(2)], {1, 2}])
def test_saving_an_object_without_data_is_refused_and_writes_nothing(obj, tmp_path):
    with pytest.raises(TypeError, match=r"^save\(\) takes tensors, numbers"):
        wengert.save(obj, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_files_of_others_are_refused_and_run_nothing():
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("the file has run code",))

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(Bomb()))  # as torch's files are made
    for content in (pickle.dumps(Bomb()), archive.getvalue(), b"", b"PK"):
        with pytest.raises(ValueError, match="^this is no file that wengert.save has written"):
            wengert.load(io.BytesIO(content))


def test_arrays_of_objects_are_not_unpickled():
    file = io.BytesIO()
    wengert.save(wengert.ones(1), file)
    changed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        new.writestr("data.json", old.read("data.json"))
        with new.open("0.npy", "w") as part:
            np.lib.format.write_array(part, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="no file that wengert.save"):
        wengert.load(changed)

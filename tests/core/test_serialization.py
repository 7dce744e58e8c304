"""save and load: what comes back, what a file may name, and that a damaged or hostile file runs nothing and reaches no other memory."""

import collections
import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import wengert
from loops import each

serialization = wengert.serialization


def saved(obj, **options):
    file = io.BytesIO()
    wengert.save(obj, file, **options)
    file.seek(0)
    return file


def again(obj, **options):
    return wengert.load(saved(obj), **options)


def archive(content, **storages):
    """A file of torch's format with this pickle, bytes or an object, and these storages: _0=bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("archive/data.pkl", content if isinstance(content, bytes) else pickle.dumps(content, 2))
        target.writestr("archive/byteorder", "little")
        for name, data in storages.items():
            target.writestr(f"archive/data/{name[1:]}", data)
        target.writestr("archive/version", "3\n")
    file.seek(0)
    return file


def tensor_pickle(offset=0, size=(2,), stride=(1,), count=4, kind=b"FloatStorage", extra=b""):
    """A pickle of one tensor, whose numbers may lie."""
    number = lambda n: b"\x8a\x0a" + int(n).to_bytes(10, "little", signed=True)  # noqa: E731
    numbers = lambda values: b"(" + b"".join(map(number, values)) + b"t"  # noqa: E731
    text = lambda s: b"X" + struct.pack("<I", len(s)) + s  # noqa: E731
    storage = b"(" + text(b"storage") + b"ctorch\n" + kind + b"\n" + text(b"0") + text(b"cpu") + number(count) + b"tQ"
    arguments = b"(" + storage + number(offset) + numbers(size) + numbers(stride) + b"\x89ccollections\nOrderedDict\n)R" + extra + b"t"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R."


# -- what comes back ---------------------------------------------------------------------------------------------------


@each("dtype", [d.name for d in wengert.dtypes.DTYPES])
@each("shape", [(), (3,), (2, 0), (2, 3)])
def test_a_tensor_comes_back(dtype, shape):
    x = (wengert.ones(shape).cumsum(-1) if shape else wengert.tensor(1.5)).to(getattr(wengert, dtype))
    y = again(x)
    assert y.dtype is x.dtype and y.shape == x.shape and (not x.numel() or y.stride() == x.stride()) and y.tolist() == x.tolist() and not y.requires_grad


def test_requires_grad_stays_and_history_goes():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    for y in again([x, x * 2]):
        assert y.requires_grad and y.is_leaf and y.grad is None
        y.sum().backward()
        assert y.grad.tolist() == [1.0, 1.0]
        with wengert.no_grad():
            y.add_(1)  # its memory is its own, and can be written


def test_views_come_back_as_views_of_one_storage():
    x = wengert.arange(6.0).view(2, 3)
    for old in (True, False):
        file = saved([x, x.t(), x[:, ::2], x[0].expand(4, 3), x[1]], _use_new_zipfile_serialization=old)
        whole, *views = found = wengert.load(file)
        for view, copy in zip([x, x.t(), x[:, ::2], x[0].expand(4, 3), x[1]], found, strict=True):
            assert copy.tolist() == view.tolist() and copy.stride() == view.stride() and copy.storage_offset() == view.storage_offset()
        whole[1, 0] = -1
        assert all(view.untyped_storage() is whole.untyped_storage() for view in views) and views[-1][0] == -1


def test_what_strides_cannot_say_is_copied():
    array = np.zeros(3, dtype=[("a", "i1"), ("b", "f4")])
    array["b"] = [1, 2, 3]
    for x in (wengert.from_numpy(np.arange(3.0)[::-1]), wengert.from_numpy(array["b"])):
        assert again(x).tolist() == x.tolist()


def test_conjugates_parameters_buffers_and_attributes_come_back():
    z = wengert.tensor([1 + 2j, 3 - 1j])
    found, part = again([z, z.conj()]), again(z.conj().imag)
    assert found[1].is_conj() and part.is_neg() and found[1].tolist() == z.conj().tolist() and part.tolist() == [-2.0, 1.0]
    found[0][0] = 5j
    assert found[1][0] == -5j
    parameter = wengert.nn.Parameter(wengert.ones(2), requires_grad=False)
    parameter.note = "text"
    buffer = wengert.nn.Buffer(wengert.ones(2), persistent=False)
    p, b = again([parameter, buffer])
    assert type(p) is wengert.nn.Parameter and not p.requires_grad and p.note == "text"
    assert isinstance(b, wengert.nn.Buffer) and not b.persistent


class Labelled(wengert.Tensor):
    """A class of tensors, as users make them."""


def test_classes_of_tensors_are_loaded_if_they_are_allowed():
    x = Labelled([1.0, 1.0])
    x.label = "a"
    with pytest.raises(pickle.UnpicklingError, match="Labelled was not an allowed global by default"):
        again(x)
    with serialization.safe_globals([Labelled]):
        y = again(x)
    assert type(y) is Labelled and y.label == "a" and y.tolist() == [1.0, 1.0]
    assert serialization.get_safe_globals() == []


def test_containers_and_values_come_back():
    obj = {
        "state": OrderedDict([("weight", wengert.ones(2)), ("bias", None)]), 3: [1, 2.5, True, "text \ud800", 2**70, -(2**31)],
        "tuple": (float("inf"), 1 - 2j, wengert.float32, wengert.Size([2, 3]), b"\xff", bytearray(b"a"), {1, 2}),
        (1, "key"): {}, "device": wengert.device("cpu"), "layout": wengert.strided, "counter": collections.Counter("aab"),
    }  # fmt: skip
    for protocol in (2, 3):
        found = wengert.load(saved(obj, pickle_protocol=protocol))
        assert repr(found) == repr(obj) and list(found) == list(obj)
        assert type(found["state"]) is OrderedDict and type(found["tuple"][3]) is wengert.Size
        assert found["tuple"][2] is wengert.float32
    assert repr(wengert.load(saved(obj, pickle_protocol=5), weights_only=False)) == repr(obj)


def test_one_tensor_in_two_places_is_one_again():
    x = wengert.ones(2)
    first, second, other = again([x, x, x.clone()])
    assert first is second and first is not other


def test_a_list_in_itself_comes_back():
    x = [1]
    x.append(x)
    assert again(x)[1][1][0] == 1


def test_a_state_goes_on_training(tmp_path):
    """As programs do it: states of a module, an optimizer and a schedule, in a file with a name."""
    def made():
        wengert.manual_seed(0)
        model = wengert.nn.Sequential(wengert.nn.Linear(2, 3), wengert.nn.BatchNorm1d(3))
        optimizer = wengert.optim.Adam(model.parameters(), lr=0.1)
        return model, optimizer, wengert.optim.lr_scheduler.StepLR(optimizer, 2)

    def train(model, optimizer, schedule):
        for _ in range(3):
            optimizer.zero_grad()
            model(wengert.tensor([[1.0, 2.0], [3.0, 5.0]])).pow(2).sum().backward()
            optimizer.step()
            schedule.step()

    parts = made()
    train(*parts)
    wengert.save({"parts": [part.state_dict() for part in parts], "epoch": 7}, tmp_path / "state.pt")
    found = wengert.load(str(tmp_path / "state.pt"), map_location="cpu", weights_only=True)
    others = made()
    for part, state in zip(others, found["parts"], strict=True):
        part.load_state_dict(state)
    train(*parts)
    train(*others)
    for ours, theirs in zip(parts[0].parameters(), others[0].parameters(), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert found["epoch"] == 7 and found["parts"][0]._metadata == parts[0].state_dict()._metadata


def test_whole_modules_and_generators_need_trust():
    wengert.manual_seed(0)
    model = wengert.nn.Sequential(wengert.nn.Linear(2, 2), wengert.nn.LSTM(2, 2))
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL torch.nn.modules.container.Sequential was not an allowed global"):
        again(model)
    found = again(model, weights_only=False)
    assert repr(found) == repr(model) and found(wengert.ones(1, 2))[0].tolist() == model(wengert.ones(1, 2))[0].tolist()
    source = wengert.Generator().manual_seed(3)
    copy = again(source, weights_only=False)
    assert copy.initial_seed() == 3 and wengert.rand(2, generator=copy).tolist() == wengert.rand(2, generator=source).tolist()


def test_arrays_of_numpy_need_trust():
    with pytest.raises(pickle.UnpicklingError, match="_reconstruct"):
        again(np.ones(2))
    found = again([np.ones(2), np.float32(3)], weights_only=False)
    assert found[0].tolist() == [1.0, 1.0] and found[1] == 3


def test_storages_come_back():
    x = wengert.arange(3.0)
    tensor, storage, bytes_ = again([x, x._typed_storage(), x.untyped_storage()])
    storage[0] = 7
    assert tensor[0] == 7 and type(bytes_) is wengert.UntypedStorage and bytes_ is tensor.untyped_storage()
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as different types"):
        saved([x, x.view(wengert.int32)])


# -- where and how -----------------------------------------------------------------------------------------------------


def test_storages_go_where_map_location_says():
    file = saved({"a": wengert.ones(2)})
    places = []

    def place(storage, location):
        places.append((type(storage), location))
        return storage

    for where in (None, "cpu", wengert.device("cpu"), {"cpu": "cpu"}, place, lambda storage, location: None):
        file.seek(0)
        assert wengert.load(file, map_location=where)["a"].tolist() == [1.0, 1.0]
    assert places == [(wengert.UntypedStorage, "cpu")]
    for where, error in (("cuda", RuntimeError), ({"cpu": "cuda:0"}, RuntimeError), ("nowhere", RuntimeError), (3, TypeError)):
        file.seek(0)
        with pytest.raises(error):
            wengert.load(file, map_location=where)
    gpu = archive(tensor_pickle().replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"), _0=bytes(16))
    with pytest.raises(RuntimeError, match=r"^Attempting to deserialize object on a CUDA device but torch.cuda.is_available\(\) is False"):
        wengert.load(gpu)
    gpu.seek(0)
    assert wengert.load(gpu, map_location="cpu").tolist() == [0.0, 0.0]


def test_a_library_can_have_a_location(monkeypatch):
    monkeypatch.setattr("wengert.serialization._locations._registry", list(serialization._locations._registry))
    serialization.register_package(1, lambda storage: "mine:0", lambda storage, location: storage if location == "mine:0" else None)
    file = saved(wengert.ones(2))
    assert b"mine:0" in file.getvalue() and wengert.load(file).tolist() == [1.0, 1.0]


def test_a_mapped_file_is_not_changed(tmp_path):
    path = tmp_path / "x.pt"
    wengert.save([wengert.arange(3.0), wengert.arange(3), wengert.ones(1, dtype=wengert.complex128)], path)
    before = path.read_bytes()
    x, n, z = wengert.load(path, mmap=True)
    x += 1
    assert x.tolist() == [1.0, 2.0, 3.0] and n.tolist() == [0, 1, 2] and z.tolist() == [1 + 0j] and path.read_bytes() == before
    with pytest.raises(ValueError, match="^f must be a file path in order to use the mmap argument$"):
        wengert.load(saved(1), mmap=True)
    wengert.save(x, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        wengert.load(path, mmap=True)


def test_files_of_any_kind(tmp_path):
    class Plain:  # write alone
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))
            return len(data)

    plain = Plain()
    wengert.save({"a": wengert.ones(2)}, plain)
    assert wengert.load(io.BytesIO(b"".join(plain.parts)))["a"].tolist() == [1.0, 1.0]
    path = tmp_path / "several"
    with open(path, "wb") as file:
        file.write(b"before")
        wengert.save(wengert.ones(1), file, _use_new_zipfile_serialization=False)
        wengert.save(wengert.zeros(1), file, _use_new_zipfile_serialization=False)
    with open(path, "rb") as file:
        file.seek(6)
        assert [wengert.load(file).tolist(), wengert.load(file).tolist()] == [[1.0], [0.0]]
    with open(path, "wb") as file:
        file.write(b"before")
        wengert.save(wengert.ones(1), file)
    with open(path, "rb") as file:
        file.seek(6)
        assert wengert.load(file).tolist() == [1.0]


def test_wrong_files_and_arguments(tmp_path):
    with pytest.raises(FileNotFoundError):
        wengert.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        wengert.load(tmp_path)
    with pytest.raises(RuntimeError, match="^Parent directory .*nowhere does not exist.$"):
        wengert.save(1, tmp_path / "nowhere" / "file")
    with pytest.raises(AttributeError, match="^expected 'f' to be string, path, or a file-like object with a 'write' attribute$"):
        wengert.save(1, 3)
    with pytest.raises(AttributeError, match="^'int' object has no attribute 'seek'. You can only torch.load from a file that is seekable"):
        wengert.load(3)
    with pytest.raises(RuntimeError, match="^Can not safely load weights when explicit pickle_module is specified$"):
        wengert.load(saved(1), weights_only=True, pickle_module=pickle)
    assert wengert.load(saved({1}), pickle_module=pickle) == {1}


def test_an_object_that_cannot_be_pickled_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "file"
    wengert.save(1, path)
    for options in ({}, {"_use_new_zipfile_serialization": False}):
        with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
            wengert.save([wengert.ones(2), lambda: 0], path, **options)
    assert wengert.load(path) == 1


def test_environment_decides_as_in_torch(monkeypatch):
    file = saved(np.float32(1))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert wengert.load(file) == 1
    file.seek(0)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        wengert.load(file)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        wengert.load(file, weights_only=False)


# -- older files -------------------------------------------------------------------------------------------------------


def test_files_of_the_first_format_are_read():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        target.writestr("data.json", '{"format": "wengert 1", "object": ["dict", [["a", ["tensor", 0, "float32", true]]]]}')
        with target.open("0.npy", "w") as part:
            np.lib.format.write_array(part, np.ones(2, np.float32))
    content.seek(0)
    x = wengert.load(content)["a"]
    assert x.tolist() == [1.0, 1.0] and x.requires_grad


def test_files_of_a_big_endian_machine_are_read():
    file = archive(tensor_pickle(count=2), _0=np.array([1, 2], ">f4").tobytes())
    changed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"big" if name.endswith("byteorder") else old.read(name))
    changed.seek(0)
    assert wengert.load(changed).tolist() == [1.0, 2.0]


# -- names in files ----------------------------------------------------------------------------------------------------


class Note:
    """A class of the user."""

    def __init__(self, text):
        self.text = text


def test_allowed_names():
    file = saved([Note("a"), collections.deque([1])])
    names = [f"{__name__}.Note", "collections.deque"]
    assert serialization.get_unsafe_globals_in_checkpoint(file) == names
    with pytest.raises(ValueError, match="Expected input to be a checkpoint returned by torch.save"):
        serialization.get_unsafe_globals_in_checkpoint(saved(1, _use_new_zipfile_serialization=False))
    serialization.add_safe_globals([Note, (collections.deque, "collections.deque")])
    try:
        file.seek(0)
        assert serialization.get_unsafe_globals_in_checkpoint(file) == []
        file.seek(0)
        note, numbers = wengert.load(file)
        assert note.text == "a" and list(numbers) == [1]
    finally:
        serialization.clear_safe_globals()
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError) as refused:
        wengert.load(file)
    assert f"GLOBAL {__name__}.Note was not an allowed global by default. Please use `torch.serialization.add_safe_globals" in str(refused.value)


class Bomb:
    """An object whose pickle ends the test where it is loaded."""

    def __init__(self, function=pytest.fail, arguments=("the file has run code",)):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


@each("function", [pytest.fail, os.system, eval, exec, getattr, print, __import__, wengert.load, pickle.loads, np.load, open])
def test_a_file_runs_nothing(function):
    for content in (archive(Bomb(function, ("1",))).getvalue(), pickle.dumps(Bomb(function, ("1",)), 2)):
        with pytest.raises(pickle.UnpicklingError, match="^Weights only load failed."):
            wengert.load(io.BytesIO(content))


@each("text", [b"cbuiltins\ngetattr\n(ctorch\nTensor\nX\x01\x00\x00\x00atR.", b"ctorch\nTensor\n(K\x01tR.", b"ctorch\nFloatStorage\n(K\x01tR.",
               b"cbuiltins\nbytearray\n(J\xff\xff\xff\x7ftR.", b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x03\x00\x00\x00zip" + b"tR.",
               b"ctorch.nn.parameter\nParameter\n)R.", b"ctorch._tensor\n_rebuild_from_type_v2\n(cbuiltins\nset\nctorch\nTensor\n)NtR.",
               b"ctorch.serialization\nload\n(X\x01\x00\x00\x00atR.", b"ctorch\nload\n(X\x01\x00\x00\x00atR.", b"(itorch\nTensor\n.",
               b"]K\x01b.", b"ctorch\nfloat32\n)R.", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", b"\x82\x01.", b"P0\n.", b"K\x01K\x02s."])  # fmt: skip
def test_names_that_are_allowed_are_not_called_otherwise(text):
    with pytest.raises(pickle.UnpicklingError):
        wengert.load(archive(b"\x80\x02" + text))


# -- numbers that lie --------------------------------------------------------------------------------------------------


@each("options", [{"offset": 3}, {"offset": -1}, {"size": (5,)}, {"size": (-1,)}, {"stride": (4,)}, {"stride": (-1,)}, {"size": (2, 2)},
                  {"size": (2**40, 2**40), "stride": (0, 0)}, {"offset": 2**62}, {"stride": (2**62,)}, {"size": (2**63,)},
                  {"size": (1,) * 70, "stride": (1,) * 70}, {"count": 5}, {"count": 2**60}, {"count": -1}, {"count": 2**70},
                  {"kind": b"Tensor"}, {"kind": b"float32"}, {"size": (2**40,), "stride": (0,), "extra": b"}X\x04\x00\x00\x00conj\x88s"}])  # fmt: skip
def test_a_tensor_lies_in_its_storage(options):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        wengert.load(archive(tensor_pickle(**options), _0=bytes(16)))


def test_a_tensor_may_repeat_its_storage():
    x = wengert.load(archive(tensor_pickle(size=(2**40,), stride=(0,)), _0=bytes(16)))
    assert x.shape == (2**40,) and x[5] == 0
    assert wengert.load(archive(tensor_pickle(size=(0, 5), stride=(9, 9), offset=2**40), _0=bytes(16))).shape == (0, 5)


def test_a_storage_is_not_larger_than_the_file():
    for count in (2**40, 2**55):
        with pytest.raises(RuntimeError):
            wengert.load(archive(tensor_pickle(count=count), _0=bytes(16)))
    old = saved(wengert.ones(4), _use_new_zipfile_serialization=False).getvalue()
    with pytest.raises(RuntimeError, match="unexpected EOF"):
        wengert.load(io.BytesIO(old.replace(b"K\x04N", b"J\xff\xff\xff\x7fN", 1)))
    with pytest.raises(RuntimeError, match="^unexpected EOF, expected 4 more bytes. The file might be corrupted.$"):
        wengert.load(io.BytesIO(old[:-4]))


def test_compressed_entries_are_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("archive/data.pkl", tensor_pickle(count=10**7))
        target.writestr("archive/version", "3\n")
        target.writestr("archive/data/0", bytes(4 * 10**7))
    file.seek(0)
    with pytest.raises(RuntimeError, match="compressed"):
        wengert.load(file)


@pytest.mark.slow
def test_a_deep_key_is_refused():
    """Hashing a tuple recurses in C, and a tuple that holds another twice, in many levels, takes for ever."""
    deep = b")" + b"\x85" * 10**6
    wide = b")" + b"q\x00h\x00\x86" * 200
    for key in (deep, wide):
        for text in (b"}" + key + b"Ns.", b"cbuiltins\nset\n(](" + key + b"etR."):
            with pytest.raises(pickle.UnpicklingError, match="too many items"):
                wengert.load(archive(b"\x80\x02" + text))
    assert wengert.load(archive(b"\x80\x02" + deep + b"."))  # no key: nobody recurses


def test_damaged_archives_say_so():
    whole = saved({"a": wengert.ones(3)}).getvalue()
    for content, text in ((whole[:-10], "failed finding central directory"), (b"PK\x03\x04abc", "not a ZIP archive")):
        with pytest.raises(RuntimeError, match=f"^PytorchStreamReader failed reading zip archive: {text}"):
            wengert.load(io.BytesIO(content))
    with pytest.raises(EOFError):
        wengert.load(io.BytesIO(b""))
    with pytest.raises(pickle.UnpicklingError):
        wengert.load(io.BytesIO(b"hello world"))
    with pytest.raises(RuntimeError):
        wengert.load(io.BytesIO(b"hello world"), weights_only=False)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as target:
        target.writestr("a/b", "c")
    other.seek(0)
    with pytest.raises(RuntimeError, match='^Expected hasRecord'):
        wengert.load(other)
    with pytest.raises(RuntimeError, match="^PytorchStreamReader failed locating file data/0: file not found"):
        wengert.load(archive(tensor_pickle()))


def test_sparse_tensors_are_refused_clearly():
    with pytest.raises(wengert.errors.MissingFeatureError, match="sparse"):
        wengert.load(archive(b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n)R."))
    with pytest.raises(AttributeError, match="torch.nowhere.Thing, which the file needs, is not part of wengert"):
        wengert.load(archive(b"\x80\x02ctorch.nowhere\nThing\n)R."), weights_only=False)

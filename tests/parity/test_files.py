"""Checkpoints go both ways: files of torch are read here, and torch reads files that are written here."""

import collections
import io
import os
import pickle
import struct
import tarfile

import numpy as np
import pytest

import wengert
from loops import each

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")


def passed(source, target, obj, *, weights_only=True, **options):
    """Save obj by one library and load it by the other."""
    file = io.BytesIO()
    source.save(obj, file, **options)
    file.seek(0)
    return target.load(file, weights_only=weights_only)


def text(obj):
    return repr(obj).replace("wengert", "torch")


def both_ways(make, **options):
    """Check that what make(library) returns looks the same after either way."""
    theirs = make(torch)
    expected = text(theirs)
    assert text(passed(torch, wengert, theirs, **options)) == expected
    assert text(passed(wengert, torch, make(wengert), **options)) == expected


def with_attribute(t):
    x = t.nn.Parameter(t.ones(2))
    x.note = 3
    return [x, x.note]


def trained(t):
    t.manual_seed(0)
    model = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    optimizers = [t.optim.Adam(model.parameters(), lr=0.1), t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)]
    schedules = [t.optim.lr_scheduler.OneCycleLR(optimizers[0], 0.1, 10), t.optim.lr_scheduler.StepLR(optimizers[1], 2)]
    return [part.state_dict() for part in [*optimizers, schedules[1]]]


CASES = {
    **{d.name: lambda t, d=d: t.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(t, d.name)) for d in wengert.dtypes.DTYPES},
    "views": lambda t: (lambda x: [x, x[1:], x.t(), x[0].expand(3, 3)])(t.arange(6.0).view(2, 3)),
    "parameter": lambda t: [t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(2), requires_grad=False)],
    "attributes": with_attribute,
    "buffer": lambda t: t.nn.Buffer(t.ones(2)),
    "conjugate": lambda t: t.tensor([1 + 2j, 3]).conj(),
    "negative": lambda t: t.tensor([1 + 2j, 3]).conj().imag,
    "requires_grad": lambda t: [t.ones(2, requires_grad=True), t.ones(2, requires_grad=True).exp().detach()],
    "values": lambda t: {
        "a": t.bfloat16, "b": t.Size([1, 2]), "c": t.device("cpu"), "d": t.strided, (1, 2.5): [None, True, "x", 2**70, -5, 1j, {1}, b"ab"],
        "e": collections.OrderedDict(a=1), "f": collections.Counter("aab"), "g": bytearray(b"x"),
    },
    "sizes": lambda t: [t.zeros(0, 3), t.tensor(3.0), t.ones(1, 3)[:, ::2]],
    "state_dict": lambda t: (lambda s: [list(s), s._metadata])(t.nn.Sequential(t.nn.Linear(2, 1), t.nn.BatchNorm1d(1)).state_dict()),
    "training": trained,
    "generator": lambda t: t.Generator().manual_seed(5).get_state(),
}  # fmt: skip
OLD_FORMAT_HAS_NOT = {"uint16", "uint32", "uint64"}  # torch cannot read what it writes


@each("name", CASES)
def test_data_go_both_ways(name):
    both_ways(CASES[name])
    both_ways(CASES[name], weights_only=False)
    if name not in OLD_FORMAT_HAS_NOT:
        both_ways(CASES[name], _use_new_zipfile_serialization=False)


def test_views_share_memory_after_either_way():
    for source, target in ((torch, wengert), (wengert, torch)):
        x = source.arange(6.0)
        whole, part = passed(source, target, {"whole": x, "part": x[2:]}).values()
        whole[3] = -1
        assert part[1] == -1 and part.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()


def test_training_goes_on_in_the_other_library():
    """Model and optimizer are trained in one, saved, and trained further in both: the numbers agree."""
    def made(t):
        model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 1))
        return model, t.optim.Adam(model.parameters(), lr=0.05)

    def train(t, model, optimizer):
        x = t.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
        for _ in range(3):
            optimizer.zero_grad()
            model(x).pow(2).sum().backward()
            optimizer.step()

    for source, target in ((torch, wengert), (wengert, torch)):
        first = made(source)
        train(source, *first)
        states = passed(source, target, [part.state_dict() for part in first])
        second = made(target)
        for part, state in zip(second, states, strict=True):
            part.load_state_dict(state)
        train(source, *first)
        train(target, *second)
        for p, q in zip(first[0].parameters(), second[0].parameters(), strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=2e-5, atol=1e-7)


def ones(*shape):
    return lambda t: t.ones(*shape)


MODULES = [
    ("Linear", (2, 2), ones(1, 2)), ("Conv2d", (1, 1, 2), ones(1, 1, 3, 3)), ("BatchNorm2d", (2,), ones(2, 2, 3, 3)),
    ("LSTM", (2, 2), ones(3, 1, 2)), ("GRU", (2, 2, 2), ones(3, 1, 2)), ("RNN", (2, 2), ones(3, 1, 2)),
    ("Transformer", (4, 1, 1, 1, 4), None), ("TransformerEncoderLayer", (4, 2, 8, 0.0), ones(3, 1, 4)), ("MultiheadAttention", (4, 2), None),
    ("ReLU", (), ones(2)), ("Embedding", (3, 2), None), ("EmbeddingBag", (3, 2), None), ("Dropout", (), ones(2)), ("LayerNorm", (2,), ones(2, 2)),
    ("GRUCell", (2, 2), ones(1, 2)), ("CrossEntropyLoss", (), None), ("ParameterList", (), None), ("ParameterDict", (), None),
    ("MaxPool2d", (2,), ones(1, 2, 2)), ("Softmax", (1,), ones(2, 2)), ("Unfold", (2,), None), ("GELU", (), ones(2)), ("ModuleDict", (), None),
    ("Flatten", (), ones(2, 2)), ("Bilinear", (1, 1, 1), None), ("PReLU", (), ones(2)), ("Identity", (), ones(2)),
    ("ConvTranspose2d", (1, 1, 2), ones(1, 1, 3, 3)), ("GroupNorm", (1, 2), ones(2, 2)), ("InstanceNorm1d", (2,), ones(1, 2, 3)),
    ("AdaptiveAvgPool2d", (1,), ones(1, 2, 2)), ("ZeroPad2d", (1,), ones(1, 2, 2)), ("NLLLoss", (), None), ("TripletMarginLoss", (), None),
    ("PixelShuffle", (2,), ones(1, 4, 2, 2)), ("AdaptiveLogSoftmaxWithLoss", (2, 5, [2]), None), ("Sequential", (), ones(1)),
]  # fmt: skip


@each("name, arguments, argument", MODULES)
def test_whole_modules_go_both_ways(name, arguments, argument):
    for source, target in ((torch, wengert), (wengert, torch)):
        source.manual_seed(0)
        module = getattr(source.nn, name)(*arguments).eval()
        found = passed(source, target, module, weights_only=False)
        assert repr(found) == repr(module) and type(found) is getattr(target.nn, name)
        ours, theirs = dict(module.state_dict()), dict(found.state_dict())
        assert list(ours) == list(theirs) and all(ours[key].tolist() == theirs[key].tolist() for key in ours)
        if argument is not None:
            results = [m(argument(t)) for t, m in ((source, module), (target, found))]
            first, second = (result[0] if isinstance(result, tuple) else result for result in results)
            np.testing.assert_allclose(first.detach().numpy(), second.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_whole_optimizers_lazy_modules_and_functions_go_both_ways():
    for source, target in ((torch, wengert), (wengert, torch)):
        model = source.nn.Linear(2, 2)
        optimizer = source.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        schedule = source.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
        again, rates = passed(source, target, [optimizer, schedule], weights_only=False)
        assert repr(again) == repr(optimizer) and rates.optimizer is again
        again.step()
        lazy = passed(source, target, source.nn.LazyLinear(2), weights_only=False)
        assert lazy(target.ones(1, 3)).shape == (1, 2)
        assert passed(source, target, source.nn.functional.gelu, weights_only=False) is target.nn.functional.gelu
        generator = passed(source, target, source.Generator().manual_seed(4), weights_only=False)
        assert generator.initial_seed() == 4
        assert target.rand(3, generator=generator).tolist() == target.rand(3, generator=target.Generator().manual_seed(4)).tolist()


def test_files_are_written_as_torch_writes_them(tmp_path):
    import zipfile

    x = {"a": torch.arange(6.0).view(2, 3)}
    torch.save(x, tmp_path / "theirs.pt")
    wengert.save({"a": wengert.arange(6.0).view(2, 3)}, tmp_path / "ours.pt")
    with zipfile.ZipFile(tmp_path / "theirs.pt") as theirs, zipfile.ZipFile(tmp_path / "ours.pt") as ours:
        assert [name.replace("ours", "theirs") for name in ours.namelist()] == theirs.namelist()
        for name in theirs.namelist():
            if not name.endswith("serialization_id"):
                assert ours.read(name.replace("theirs", "ours")) == theirs.read(name), name
        with open(tmp_path / "ours.pt", "rb") as file:
            for entry in ours.infolist():
                file.seek(entry.header_offset + 26)
                lengths = struct.unpack("<HH", file.read(4))
                assert (entry.header_offset + 30 + sum(lengths)) % 64 == 0
    assert torch.load(tmp_path / "ours.pt", mmap=True)["a"].tolist() == wengert.load(tmp_path / "theirs.pt", mmap=True)["a"].tolist()


class Note:
    """A class of the user."""


def program_of_errors(t):
    """What load says to files that it refuses: classes and texts."""
    def outcome(*arguments, **options):
        try:
            return repr(t.load(*arguments, **options))
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ in ("builtins", "_pickle")]
            return kinds[0] if kinds[0] != "ValueError" else "RuntimeError", str(error).replace("This is an internal miniz error. ", "")

    def saved(obj, **options):
        file = io.BytesIO()
        t.save(obj, file, **options)
        file.seek(0)
        return file

    whole = saved({"a": t.ones(3)}).getvalue()
    return [
        outcome(saved(Note())), outcome(saved(print)), outcome(saved(np.float32(1))), outcome(saved(np.arange(2))), outcome(saved(slice(1))),
        outcome(saved(t.nn.Linear(1, 1))), outcome(saved(os.system)), outcome(io.BytesIO(whole[:300])), outcome(io.BytesIO(whole[:-10])),
        outcome(io.BytesIO(b"PK\x03\x04abc")), outcome(io.BytesIO(whole), map_location="cuda"), outcome(io.BytesIO(whole), map_location=3),
        outcome(io.BytesIO(whole), mmap=True), outcome(io.BytesIO(whole), pickle_module=pickle, weights_only=True), outcome("/nowhere/x"), outcome(3),
        outcome(io.BytesIO(saved({"a": t.ones(3)}, _use_new_zipfile_serialization=False).getvalue()[:-4])),
        t.serialization.get_unsafe_globals_in_checkpoint(saved([Note(), t.ones(2)])),
    ]  # fmt: skip


def test_refusals_have_the_words_of_torch():
    for ours, theirs in zip(program_of_errors(wengert), program_of_errors(torch), strict=True):
        assert ours == theirs


def tar_of_early_torch():
    """A tar archive as torch 0.1 has written them: parts named sys_info, storages, tensors and pickle."""
    class Persistent(pickle._Pickler):
        def persistent_id(self, obj):
            return obj.key if isinstance(obj, Key) else None

    class Key:
        def __init__(self, key):
            self.key = key

    parts = {"sys_info": pickle.dumps({"protocol_version": 1000, "little_endian": True}, 2)}
    values = np.arange(6, dtype="<f4")
    storages = pickle.dumps(1, 2) + b"\x80\x02(K\x05X\x03\x00\x00\x00cpuctorch\nFloatStorage\nt."
    parts["storages"] = storages + struct.pack("<q", 6) + values.tobytes() + pickle.dumps([], 2)
    tensor = b"\x80\x02(K\x07K\x05ctorch\nFloatTensor\nt." + struct.pack("<ii", 2, 0) + struct.pack("<qqqqq", 2, 2, 3, 1, 1)
    parts["tensors"] = pickle.dumps(1, 2) + tensor
    content = io.BytesIO()
    Persistent(content, 2).dump({"x": Key(7), "n": 3})
    parts["pickle"] = content.getvalue()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:") as archive:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def test_tar_archives_of_early_torch_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(tar_of_early_torch())
    for t in (torch, wengert):
        found = t.load(path, weights_only=False)
        assert found["n"] == 3 and found["x"].tolist() == [[1.0, 2.0], [4.0, 5.0]]
        with pytest.raises(RuntimeError, match="Cannot use ``weights_only=True`` with files saved in the legacy .tar format"):
            t.load(path)

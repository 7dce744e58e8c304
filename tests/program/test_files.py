"""Files of programs: they run elsewhere, and reading a file executes nothing and trusts nothing."""

from __future__ import annotations

import io
import json
import pickle
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import wengert as torch
from wengert.compiler import ProgramFileError, load
from wengert.program.files import dumps, loads
from wengert.program.loaded import Loaded

MODEL = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
HELD = torch.zeros(2, 3)


def network(x):
    with torch.no_grad():
        return {"probabilities": MODEL(x).softmax(-1), "others": (x.sum(), [x * 2, 3])}


def with_views(x):
    y = torch.stack([x, x * 2], 1).transpose(0, 1)
    z = torch.cat([y[0], y[1, :, :2]], 1)
    z[0, 1:3] = -1.0
    return z, z[:, ::2].sum(0), (x > 0.5).to(torch.int64), x[x.argsort(0)[:, 0]]


def with_gradients(x):
    leaf = x.detach().requires_grad_()
    loss = (MODEL(leaf) ** 2).sum()
    return torch.autograd.grad(loss, [leaf, *MODEL.parameters()])


def with_writes(x):
    HELD.add_(x[:2], alpha=0.5)
    x.mul_(2)
    return HELD.sum(), x


def with_random_numbers(x):
    return torch.nn.functional.dropout(x, 0.5) + torch.rand(3)


def with_branches(x):
    return x * 2 if x.sum() > 0 else x - 1


FUNCTIONS = [network, with_views, with_gradients, with_random_numbers]


def inputs(i=0):
    return torch.tensor(np.random.default_rng(i).normal(size=(5, 3)))


@pytest.fixture(autouse=True)
def in_float64():
    MODEL.double()


def leaves(x):
    if isinstance(x, dict):
        return [y for part in x.values() for y in leaves(part)]
    return [y for part in x for y in leaves(part)] if isinstance(x, (tuple, list)) else [x]


def record(fn, *arguments):
    compiled = torch.compile(fn, fullgraph=True, options={"exact": True})
    for _ in range(2):
        compiled(*arguments)
    return compiled


def assert_equal(found, expected):
    assert type(found) is type(expected)
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_array_equal(a.numpy() if isinstance(a, torch.Tensor) else a, b.numpy() if isinstance(b, torch.Tensor) else b)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_a_loaded_program_gives_what_the_function_gives(fn, tmp_path):
    compiled = record(fn, inputs())
    compiled.save(tmp_path / "program")
    loaded = load(tmp_path / "program")
    for i in range(3):
        torch.manual_seed(i)
        expected = fn(inputs(i))
        torch.manual_seed(i)
        assert_equal(loaded(inputs(i)), expected)
    assert str(loaded.programs()[0]) == str(compiled.programs()[0])


def test_writes_go_to_the_arguments_and_to_the_tensors_of_the_file(tmp_path):
    HELD.zero_()
    record(with_writes, inputs()).save(tmp_path / "program")
    loaded = load(tmp_path / "program")
    (held,) = loaded.tensors
    before, x = held.clone(), inputs()
    total, same = loaded(x)
    assert same is x and held is not HELD
    np.testing.assert_array_equal(x.numpy(), 2 * inputs().numpy())
    np.testing.assert_array_equal(held.numpy(), (before + 0.5 * inputs()[:2].float()).numpy())
    assert total.item() == held.sum().item() and x._version == 1


def test_all_recordings_are_in_the_file(tmp_path):
    compiled = torch.compile(with_branches, fullgraph=True)
    for sign in (1, -1):
        compiled(sign * torch.ones(2))
    compiled.save(tmp_path / "program")
    loaded = load(tmp_path / "program")
    assert loaded(torch.ones(2)).tolist() == [2.0, 2.0] and loaded(-torch.ones(2)).tolist() == [-2.0, -2.0]
    one = Loaded(compiled.programs()[:1])
    with pytest.raises(RuntimeError, match="a condition is another one than in the recorded call"):
        one(torch.ones(2))


def test_other_arguments_are_refused(tmp_path):
    record(network, inputs()).save(tmp_path / "program")
    loaded = load(tmp_path / "program")
    for arguments in ((), (torch.ones(5, 3),), (inputs()[:4],), (3,)):
        with pytest.raises(TypeError, match="no recorded program takes these arguments: expected argument 0"):
            loaded(*arguments)
    assert_equal(loaded(inputs().t().clone().t()), network(inputs()))  # another layout


def test_programs_pickle():
    program = record(network, inputs()).programs()[0]
    found = Loaded([pickle.loads(pickle.dumps(program))])
    assert_equal(found(inputs(4)), network(inputs(4)))


def test_a_file_runs_in_another_process(tmp_path):
    record(with_gradients, inputs()).save(tmp_path / "program")
    np.save(tmp_path / "x.npy", inputs(7).numpy())
    code = f"""if True:
        import numpy as np, wengert
        x = wengert.tensor(np.load({str(tmp_path / 'x.npy')!r}))
        np.savez({str(tmp_path / 'out.npz')!r}, *[y.numpy() for y in wengert.compiler.load({str(tmp_path / 'program')!r})(x)])
        """
    subprocess.run([sys.executable, "-c", code], check=True)
    with np.load(tmp_path / "out.npz") as found:
        for i, x in enumerate(with_gradients(inputs(7))):
            np.testing.assert_array_equal(found[f"arr_{i}"], x.numpy())


def test_what_cannot_be_saved_is_refused(tmp_path):
    optimizer = torch.optim.SGD(MODEL.parameters(), lr=0.0)

    def step(x):
        optimizer.zero_grad()
        MODEL(x).sum().backward()
        optimizer.step()

    compiled = torch.compile(step)
    with pytest.raises(RuntimeError, match="has no recording yet"):
        compiled.save(tmp_path / "program")
    for _ in range(3):
        compiled(inputs())
    with pytest.raises(ProgramFileError, match="step of an optimizer"):
        compiled.save(tmp_path / "program")
    with pytest.raises(ProgramFileError, match="requires grad"):
        record(lambda x: MODEL(x), inputs()).save(tmp_path / "program")
    assert not (tmp_path / "program").exists()


# -- damaged files -----------------------------------------------------------------------------------------------------


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("program.json")), members


def packed(text, members, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("program.json", text if isinstance(text, str) else json.dumps(text))
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def first(described, name):
    return next(x for x in described["programs"][0]["instructions"] if x["name"] == name)


def damage(kind):
    """The file of `network`, changed."""
    described, members = unpacked(dumps(record(network, inputs()).programs()))
    program = described["programs"][0]
    compression = zipfile.ZIP_STORED
    if kind == "other format":
        described["format"] = "recipe"
    elif kind == "later version":
        described["version"] = 99
    elif kind == "unknown operation":
        first(described, "tanh")["op"] = "os.system"
    elif kind == "unknown kind":
        first(described, "tanh")["kind"] = "eval"
    elif kind == "function of another module":
        first(described, "tanh").update(kind="write", function="exec")
    elif kind == "offset":
        first(described, "tanh")["inputs"][0]["value"][1] = 1 << 20
    elif kind == "negative offset":
        first(described, "tanh")["inputs"][0]["value"][1] = -8
    elif kind == "strides":
        first(described, "tanh")["inputs"][0]["value"][3] = [4096, 8]
    elif kind == "shape":
        first(described, "tanh")["outputs"][0]["value"][2] = [5, 400]
    elif kind == "small storage":
        program["storages"][-1]["nbytes"] = 1
    elif kind == "storage number":
        first(described, "tanh")["inputs"][0]["value"][0] = 99
    elif kind == "dtype":
        program["storages"][0]["dtype"] = "object"
    elif kind == "parameter name":
        first(described, "softmax")["params"]["dict"]["fn"] = 3
    elif kind == "missing array":
        members.pop("0.npy")
    elif kind == "array of objects":
        data = io.BytesIO()
        np.save(data, np.array([print], dtype=object), allow_pickle=True)
        members["0.npy"] = data.getvalue()
    elif kind == "compressed":
        compression = zipfile.ZIP_DEFLATED
    elif kind == "no JSON":
        described = "{"
    return packed(described, members, compression)


@pytest.mark.parametrize("kind", [
    "other format", "later version", "unknown operation", "unknown kind", "function of another module", "offset", "negative offset",
    "strides", "shape", "small storage", "storage number", "dtype", "parameter name", "missing array", "array of objects", "compressed",
    "no JSON",
])  # fmt: skip
def test_a_damaged_file_is_refused(kind):
    with pytest.raises(ProgramFileError):
        loads(damage(kind))


def test_a_whole_file_is_read():
    assert len(loads(damage("nothing"))) == 1


@pytest.mark.parametrize("data", [b"", b"PK", b"import os", pickle.dumps(print)])
def test_what_is_no_file_of_programs_is_refused(data):
    with pytest.raises(ProgramFileError):
        loads(data)


def mutated(x, rng):
    """JSON with one of its leaves replaced."""
    if isinstance(x, (dict, list)) and x:
        key = rng.choice(list(x)) if isinstance(x, dict) else rng.randrange(len(x))
        copied = x.copy()
        copied[key] = mutated(x[key], rng)
        return copied
    return rng.choice([None, -1, 0, 1, 3, 8, 1 << 40, "x", "", [], {}, [1], {"value": [0, 0, [1], [8], "float64"]}, True, 1.5])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_files_with_one_change_are_refused_or_run():
    rng = random.Random(0)
    files = [unpacked(dumps(record(fn, inputs()).programs())) for fn in FUNCTIONS]
    refused = 0
    for _ in range(600):
        described, members = rng.choice(files)
        try:
            programs = loads(packed(mutated(described, rng), members))
        except ProgramFileError:
            refused += 1
            continue
        try:
            Loaded(programs)(inputs())
        except Exception as error:
            assert isinstance(error, (TypeError, RuntimeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError))
    assert refused > 200


def test_recordings_that_differ_in_numbers_only_are_not_saved(tmp_path):
    scale = torch.compile(lambda x, factor: x * factor)
    scale(torch.ones(2), 2.0)
    scale.save(tmp_path / "one")
    scale(torch.ones(3), 2.0)
    scale.save(tmp_path / "two")
    assert load(tmp_path / "two")(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    scale(torch.ones(2), 3.0)
    with pytest.raises(ValueError, match=r"takes Python numbers cannot be saved. Hint: pass them as tensors"):
        scale.save(tmp_path / "three")
    assert not (tmp_path / "three").exists()

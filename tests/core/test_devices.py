"""device: where a tensor's data is."""

import copy
import pickle

import pytest

import wengert
from wengert.devices import device


@pytest.mark.parametrize(
    ("made", "type_", "index", "printed"),
    [
        (device("cpu"), "cpu", None, "device(type='cpu')"),
        (device(type="cpu"), "cpu", None, "device(type='cpu')"),
        (device("cpu:0"), "cpu", 0, "device(type='cpu', index=0)"),
        (device("cuda:12"), "cuda", 12, "device(type='cuda', index=12)"),
        (device("cuda", 1), "cuda", 1, "device(type='cuda', index=1)"),
        (device(type="cuda", index=0), "cuda", 0, "device(type='cuda', index=0)"),
        (device(2), "cuda", 2, "device(type='cuda', index=2)"),
        (device(device("cuda:3")), "cuda", 3, "device(type='cuda', index=3)"),
        (device("meta"), "meta", None, "device(type='meta')"),
    ],
)
def test_devices_from_strings_and_indices(made, type_, index, printed):
    assert (made.type, made.index) == (type_, index)
    assert repr(made) == printed
    assert str(made) == (type_ if index is None else f"{type_}:{index}")
    assert device(str(made)) == made


def test_devices_of_equal_type_and_index_are_equal():
    assert device("cuda:1") == device("cuda", 1)
    assert hash(device("cuda:1")) == hash(device("cuda", 1))
    assert device("cpu") != device("cpu:0")
    assert device("cpu") != device("cuda")
    assert device("cpu") != "cpu"  # as in torch


def test_copies_and_pickles_are_equal():
    for made in (device("cpu"), device("cuda:1")):
        assert copy.deepcopy(made) == copy.copy(made) == pickle.loads(pickle.dumps(made)) == made


def test_cannot_be_changed():
    with pytest.raises(AttributeError, match=r"attribute 'index' of 'torch.device' objects is not writable"):
        device("cpu").index = 1
    with pytest.raises(AttributeError):
        del device("cpu").type


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gpu",), "^Expected one of cpu, cuda, .* device type at start of device string: gpu$"),
        (("CPU",), "device type at start of device string: CPU$"),
        (("",), "^Device string must not be empty$"),
        (("cuda:",), "^Invalid device string: 'cuda:'$"),
        (("cuda:x",), "^Invalid device string: 'cuda:x'$"),
        (("cuda:-1",), "^Invalid device string: 'cuda:-1'$"),
        (("cuda:01",), "^Invalid device string: 'cuda:01'$"),
        (("cuda:²",), "^Invalid device string"),
        ((":0",), "^Invalid device string: ':0'$"),
        (("cuda", -1), "^Device index must not be negative$"),
        ((-1,), "^Device index must not be negative$"),
        (("cuda:0", 1), r"^type \(string\) must not include an index because index was passed explicitly: cuda:0$"),
    ],
)
def test_malformed_devices_are_refused(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        device(*arguments)


@pytest.mark.parametrize("given", [None, 1.5, True, ["cpu"]])
def test_wrong_types(given):
    with pytest.raises(TypeError, match=r"device\(\): argument 'type'"):
        device(given)


def test_the_default_device_is_the_cpu():
    for where in (None, "cpu", device("cpu")):
        wengert.set_default_device(where)
        assert wengert.get_default_device() == device("cpu")
    with device("cpu") as entered:
        assert wengert.ones(2).device == entered == device("cpu")


@pytest.mark.parametrize("use", [wengert.set_default_device, lambda where: device(where).__enter__(), lambda where: wengert.ones(2, device=where)])
def test_there_is_no_other_device(use):
    with pytest.raises(RuntimeError, match=r"^no backend for device cuda: wengert computes on the CPU only\. Hint: leave out device="):
        use("cuda")
    with pytest.raises(RuntimeError, match=r"^Expected one of cpu, cuda, .* device type at start of device string: gpu$"):
        use("gpu")
    assert wengert.get_default_device() == device("cpu")

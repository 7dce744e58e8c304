"""Storages: what shares memory, tensors that go along when memory moves, and memory that is gone."""

import gc
import multiprocessing
import os

import numpy as np
import pytest

import wengert
from loops import each


def test_views_share_one_storage():
    x = wengert.arange(12.0).view(3, 4)
    storage = x.untyped_storage()
    for other in (x[1:], x.t(), x.detach(), x.data, x.view(-1)[::2], x.view(wengert.int32), wengert.nn.Parameter(x)):
        assert other.untyped_storage() is storage and other.untyped_storage().data_ptr() == x.data_ptr()
    assert x[1:].storage_offset() == 4 and x[1:].data_ptr() == x.data_ptr() + 16
    assert x.clone().untyped_storage() != storage
    assert storage.nbytes() == 48 and len(storage) == 48 and x._typed_storage().size() == 12


def test_a_write_into_a_storage_shows_in_tensors():
    x = wengert.zeros(3)
    x._typed_storage()[1] = 5.0
    x.untyped_storage()[8:12] = 0
    assert x.tolist() == [0.0, 5.0, 0.0]
    x.untyped_storage().fill_(0)
    assert x.tolist() == [0.0, 0.0, 0.0]
    x[2] = 1.0
    assert x.untyped_storage().tolist() == [0] * 8 + [0, 0, 128, 63]


def test_views_taken_before_growing_share_memory_after_it():
    a = wengert.arange(10)
    v, w, detached = a[5:], a.view(2, 5).t(), a.detach()
    storage = a.untyped_storage()
    assert a.resize_(20) is a and a.shape == (20,) and a[:10].tolist() == list(range(10))
    a[6] = -1
    assert v.tolist() == [5, -1, 7, 8, 9] and w[1, 1] == -1 and detached[6] == -1 and detached.shape == (10,)
    assert storage is v.untyped_storage() is a.untyped_storage() and storage.nbytes() == 160
    v[0] = -2
    a.resize_(40)
    assert a[5] == -2 and w[0, 1] == -2 and a._version == 4


def test_a_view_that_grows_takes_its_base_along():
    base = wengert.arange(10.0)
    view = base[5:]
    view.resize_(8)
    assert view.storage_offset() == 5 and base.untyped_storage().nbytes() == 52
    view[0] = 9
    assert base[5] == 9 and base.shape == (10,)


def test_a_smaller_shape_keeps_the_memory():
    x = wengert.arange(10.0)
    y = x[2:8]
    assert y.resize_(2, 2).tolist() == [[2.0, 3.0], [4.0, 5.0]] and y.untyped_storage() is x.untyped_storage()
    assert x[5:8].resize_(5).tolist() == [5.0, 6.0, 7.0, 8.0, 9.0]  # the memory behind it is the base's
    assert x.resize_(3).untyped_storage().nbytes() == 40 and x.resize_(0).shape == (0,)


def test_a_tensor_without_views_grows_without_a_search(monkeypatch):
    monkeypatch.setattr(gc, "get_objects", None)
    x = wengert.empty(0)
    for n in (3, 30, 300):
        x.resize_(n).fill_(n)
        assert x.shape == (n,) and x[-1] == n


def test_gradients_follow_a_base_that_has_grown():
    base = wengert.zeros(4)
    view = base[1:3]
    base.resize_(8).fill_(0)
    weight = wengert.tensor([2.0, 3.0], requires_grad=True)
    view.copy_(weight)
    (base * wengert.arange(8.0)).sum().backward()
    assert weight.grad.tolist() == [1.0, 2.0] and view.tolist() == [2.0, 3.0]


def test_a_saved_value_knows_that_its_memory_moved():
    x = wengert.ones(3, requires_grad=True)
    y = wengert.ones(3)
    z = x * y
    y.resize_(5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_conjugate_views_go_along():
    x = wengert.tensor([1 + 2j, 3 + 4j])
    mirror = x.conj()
    assert mirror.untyped_storage() is x.untyped_storage()
    x.resize_(3).fill_(1j)
    assert mirror.tolist() == [-1j, -1j]
    mirror[0] = 2j
    assert x[0] == -2j
    with pytest.raises(RuntimeError, match="resize_"):
        mirror.resize_(4)


# -- memory that is gone, and comes back -------------------------------------------------------------------------------


def test_memory_that_is_freed_fails_clearly_and_comes_back():
    x = wengert.arange(4.0)
    view = x[2:]
    storage = x.untyped_storage()
    assert storage.resize_(0) is storage and storage.nbytes() == 0
    assert x.shape == (4,) and view.shape == (2,) and x.dtype is wengert.float32 and x.numel() == 4 and x.data_ptr() == 0
    for use in (
        lambda: x + 1, lambda: x.sum(), lambda: x[0], lambda: view.clone(), lambda: x.tolist(), lambda: repr(x), lambda: x.numpy(),
        lambda: np.asarray(x), lambda: np.sin(x), lambda: view.fill_(1), lambda: x.copy_(wengert.ones(4)), lambda: x.item(),
        lambda: wengert.cat([x, x]), lambda: x @ x, lambda: memoryview(x), lambda: wengert.ones(4).add_(x), lambda: bool((x == x).all()),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError)):
            use()
    with pytest.raises(RuntimeError, match=r"^setStorage: sizes \[2\], strides \[1\], storage offset 2, and itemsize 4 requiring a "):
        view.mul(2)
    storage.resize_(16).fill_(0)
    x += 1
    assert view.tolist() == [1.0, 1.0]


def test_a_tensor_that_still_fits_can_be_used():
    x = wengert.arange(6.0)
    head, tail = x[:2], x[2:]
    x.untyped_storage().resize_(8)
    assert head.tolist() == [0.0, 1.0] and x.untyped_storage() is head.untyped_storage()
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 8"):
        tail.sum()


def test_memory_of_others_is_not_resized():
    array = np.ones(3, np.float32)
    x = wengert.from_numpy(array)
    for grow in (
        lambda: x.resize_(20), lambda: x.untyped_storage().resize_(0), lambda: wengert.empty(0).set_(x.untyped_storage(), 0, (20,)),
        lambda: wengert.frombuffer(bytearray(8), dtype=wengert.float32).resize_(20), lambda: x.untyped_storage().share_memory_(),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="^Trying to resize storage that is not resizable$"):
            grow()
    assert not x.untyped_storage().resizable() and wengert.ones(2).untyped_storage().resizable()
    x[0] = 7
    assert array[0] == 7 and x.resize_(2).tolist() == [7.0, 1.0]  # it fits


def test_an_array_of_the_tensor_keeps_the_old_memory():
    x = wengert.ones(3)
    array = x.numpy()
    x.resize_(6).fill_(2)
    assert array.tolist() == [1.0, 1.0, 1.0]


def test_resizing_is_refused_before_anything_changes():
    x = wengert.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_(4)
    for size in (-1, (2, -1), (2**40, 2**40)):
        y = wengert.ones(3)
        with pytest.raises(RuntimeError):
            y.resize_(size)
        assert y.tolist() == [1.0, 1.0, 1.0] and y._version == 0
    with pytest.raises((RuntimeError, MemoryError)):
        y.resize_(2**57)
    assert y.tolist() == [1.0, 1.0, 1.0]


# -- set_ --------------------------------------------------------------------------------------------------------------


def test_set_takes_each_source():
    source = wengert.arange(6.0)
    x = wengert.ones(2)
    assert x.set_(source) is x and x.is_set_to(source) and x.tolist() == source.tolist()
    x[0] = 9
    assert source[0] == 9
    assert x.set_(source.untyped_storage()).tolist() == source.tolist()
    assert x.set_(source._typed_storage(), 1, (2, 2)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert x.set_(source.untyped_storage(), 1, (2, 2), (1, 2)).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert x.set_(source, storage_offset=2, size=(2,), stride=(2,)).tolist() == [2.0, 4.0] and x.stride() == (2,)
    assert x.set_().shape == (0,)
    x.set_(source.untyped_storage(), 4, (2, 2), (1, 2))
    assert source.untyped_storage().nbytes() == 32 and x[0].tolist()[0] == 4.0 and source[5] == x[1, 0]


def test_set_refuses_what_does_not_fit():
    x = wengert.ones(2)
    storage = wengert.arange(6.0).untyped_storage()
    for arguments in ((wengert.arange(3),), (wengert.arange(3)._typed_storage(),), (storage, -1, (2,)), (storage, 0, (2, 2), (1,)),
                      (storage, 0, (2, -2)), (storage, 0, (2, 2), (-1, 1)), (storage, 0, (2**40, 2**40))):  # fmt: skip
        with pytest.raises(RuntimeError):
            x.set_(*arguments)
    with pytest.raises(TypeError, match="source"):
        x.set_(3)
    leaf = wengert.ones(2, requires_grad=True)
    for tensor in (leaf, leaf * 2):
        with pytest.raises(RuntimeError):
            tensor.set_(wengert.ones(3))
    with wengert.no_grad():
        leaf.set_(wengert.ones(3))
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0, 2.0] and x.tolist() == [1.0, 1.0]


def test_is_set_to_compares_geometry():
    x = wengert.ones(4)[1:]
    assert x.is_set_to(x[:]) and x.is_set_to(x.view(3)) and not x.is_set_to(x[1:]) and not x.is_set_to(wengert.ones(3))
    assert not wengert.ones(2, 2).t().is_set_to(wengert.ones(2, 2))


# -- shared memory -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads
def test_a_forked_process_writes_into_shared_memory():
    x = wengert.zeros(4)
    view = x[2:]
    private = wengert.zeros(4)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared() and view.is_shared()

    def work():
        x[3] = 7
        private[3] = 7

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == 0 and view.tolist() == [0.0, 7.0] and private[3] == 0
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(10)


def test_a_file_is_memory(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    private = wengert.UntypedStorage.from_file(str(path), False, 16)
    private[0:4] = 0xFF
    assert path.read_bytes()[:4] == bytes(4) and private.filename is None
    shared = wengert.UntypedStorage.from_file(path, True, 32)
    assert path.stat().st_size == 32 and shared.is_shared() and shared.filename == str(path)
    wengert.empty(0).set_(shared)[1] = 5.0
    assert np.frombuffer(path.read_bytes(), np.float32)[1] == 5.0
    with pytest.raises(RuntimeError, match=r"size <32> is smaller than the required mapping size <64>"):
        wengert.UntypedStorage.from_file(path, False, 64)
    with pytest.raises(RuntimeError, match=r"unable to open file <.*nowhere> in read-only mode: No such file or directory \(2\)"):
        wengert.UntypedStorage.from_file(tmp_path / "nowhere", False, 1)


# -- classes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_warnings_of_storages(monkeypatch):
    monkeypatch.setattr("wengert.storage._typed._warned", True)


def test_typed_storages_warn_once(monkeypatch):
    monkeypatch.setattr("wengert.storage._typed._warned", False)
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated. It will be removed in the future") as found:
        wengert.ones(2).storage()
    assert found[0].filename == __file__
    wengert.ones(2).storage()


@each("name, values", [("FloatStorage", [1.0, -2.5]), ("LongStorage", [1, 2**40]), ("BoolStorage", [True, False]),
                       ("HalfStorage", [0.5, 2.0]), ("BFloat16Storage", [0.5, 2.0]), ("ComplexFloatStorage", [1j, 2.0])])  # fmt: skip
def test_older_names_make_typed_storages(name, values, no_warnings_of_storages):
    made = getattr(wengert, name)(values)
    assert type(made) is wengert.TypedStorage and isinstance(made, getattr(wengert, name)) and wengert.is_storage(made)
    assert made.tolist() == values and made[1] == values[1] and made[-1] == values[1] and list(made) == values
    assert made.type() == f"torch.{name}" and made.pickle_storage_type() == name
    copy = made.clone()
    made.fill_(0)
    assert copy.tolist() == values and made.tolist() == [0, 0] and made.copy_(copy).tolist() == values
    assert made.untyped().nbytes() == made.nbytes() == 2 * made.element_size()
    assert not isinstance(made, wengert.IntStorage) and wengert.Storage is wengert.FloatStorage


def test_tensors_of_storages_share_their_memory(no_warnings_of_storages):
    storage = wengert.FloatStorage([1, 2])
    for tensor in (wengert.FloatTensor(storage), wengert.Tensor(storage.untyped()), wengert.ones(1).new(storage)):
        tensor[0] += 1
    assert storage.tolist() == [4.0, 2.0]
    with pytest.raises(TypeError):
        wengert.LongTensor(storage)
    assert wengert.tensor(storage).tolist() == [4.0, 2.0] and np.asarray(storage).dtype == np.float32


def test_bytes_of_an_untyped_storage():
    storage = wengert.UntypedStorage([1, 2, 300])
    assert storage.tolist() == [1, 2, 44] and storage[2] == 44 and storage[-1] == 44 and storage[1:].tolist() == [2, 44]
    assert storage.float().tolist() == [1.0, 2.0, 44.0]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"^index {index} out of range for storage of size 3$"):
            storage[index]
    with pytest.raises(TypeError):
        wengert.UntypedStorage(["a"])
    with pytest.raises(RuntimeError):
        wengert.UntypedStorage(-1)
    assert wengert.UntypedStorage.from_buffer(b"abcd", "big", dtype=wengert.int16).tolist() == [98, 97, 100, 99]
    assert wengert.UntypedStorage.from_buffer(b"abcdefgh", "little", 2, 2, dtype=wengert.int16).tolist() == [99, 100, 101, 102]
    with pytest.raises(ValueError):
        wengert.UntypedStorage.from_buffer(b"abc", "little", 0, 2, dtype=wengert.int16)


def test_memory_of_any_layout_has_a_storage():
    """The root need not lie without gaps: NumPy makes such arrays over foreign memory."""
    base = np.arange(24, dtype=np.float32)
    gaps = np.ndarray((3, 2), np.float32, memoryview(base), 4, (32, 8))
    for array in (gaps, base[::-1], np.asfortranarray(base.reshape(4, 6)), base.reshape(4, 6).T, np.array(3, np.float32)):
        x = wengert.from_numpy(array)
        y = wengert.empty(0).set_(x.untyped_storage(), x.storage_offset(), x.shape, [max(s, 0) for s in x.stride()])
        if min(x.stride(), default=0) >= 0:
            assert y.tolist() == x.tolist() and y.is_set_to(x)

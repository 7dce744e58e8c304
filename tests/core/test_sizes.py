"""Size: a tuple that prints as torch's."""

import copy
import pickle
from operator import add

import numpy as np
import pytest

from wengert.sizes import Size


def test_prints_as_torchs():
    assert repr(Size([2, 3])) == str(Size((2, 3))) == "torch.Size([2, 3])"
    assert repr(Size()) == "torch.Size([])"
    assert f"{Size([4])}" == "torch.Size([4])"


def test_is_a_tuple():
    size = Size([2, 3])
    assert size == (2, 3)
    assert hash(size) == hash((2, 3))
    assert {(2, 3): "found"}[size] == "found"
    assert isinstance(size, tuple)
    assert size < (2, 4)
    assert np.zeros(size).shape == size
    first, second = size
    assert (first, second, size[-1], len(size), size.count(3), size.index(3)) == (2, 3, 3, 2, 1, 1)


@pytest.mark.parametrize(("sizes", "numel"), [((), 1), ((5,), 5), ((2, 3), 6), ((4, 0), 0), ((2**40, 2**40), 2**80)])
def test_numel(sizes, numel):
    assert Size(sizes).numel() == numel


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Size([2, 3])[:1], (2,)),
        (Size([2, 3])[::-1], (3, 2)),
        (add(Size([2, 3]), (4,)), (2, 3, 4)),
        (Size([2]) + Size([3]), (2, 3)),
        (add((4,), Size([2, 3])), (4, 2, 3)),
        (Size([2, 3]) * 2, (2, 3, 2, 3)),
        (2 * Size([2]), (2, 2)),
        (Size([2]) * 0, ()),
    ],
)
def test_slices_sums_and_multiples_are_sizes(result, expected):
    assert type(result) is Size
    assert result == expected


def test_size_takes_every_kind_of_integer():
    size = Size([np.int64(3), True, np.array(4)])
    assert size == (3, 1, 4)
    assert [type(n) for n in size] == [int] * 3
    assert Size(iter([1, 2])) == (1, 2)
    assert Size([-1]) == (-1,)


def test_size_refuses_items_that_are_not_integers():
    with pytest.raises(TypeError, match=r"^torch.Size\(\) takes an iterable of 'int' \(item 1 is 'float'\)$"):
        Size([2, 2.0])
    with pytest.raises(TypeError, match="item 1 is 'str'"):
        add(Size([2]), ("a",))
    with pytest.raises(TypeError, match=r"^can only concatenate tuple \(not list\) to torch.Size$"):
        add(Size([2]), [3])
    with pytest.raises(TypeError, match="can't multiply sequence by non-int"):
        Size([2]) * 1.5
    with pytest.raises(TypeError):
        add([3], Size([2]))
    with pytest.raises(TypeError):
        Size(3)


def test_copies_and_pickles_are_sizes():
    for other in (copy.copy(Size([2])), copy.deepcopy(Size([2])), pickle.loads(pickle.dumps(Size([2])))):
        assert type(other) is Size
        assert other == (2,)

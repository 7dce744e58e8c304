"""torch's operator database: what agrees goes on to agree. Here a few samples of each entry; all of them in op_db_table."""

from __future__ import annotations

import pytest

# Its place in torch is private, and it needs packages of its own: make oracle.
op_db = pytest.importorskip("parity.op_db", reason="torch's operator database cannot be imported", exc_type=ImportError)

from parity import op_db_table  # noqa: E402

SAMPLES = 2  # of each entry and dtype


@pytest.fixture(scope="module")
def published() -> dict[str, str]:
    """The word for each entry in docs/parity.md."""
    return op_db_table.published()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(op_db.ENTRIES))
def test_entry_agrees_or_differs_for_a_known_reason(name, published):
    found = op_db.verdict(name, SAMPLES)
    assert not found.unexplained, "differs from torch:\n  " + "\n  ".join(found.unexplained)
    if found.word == "missing":
        assert published[name] == "missing", "was there when docs/parity.md was written"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted({name for name, aspect in op_db.SETTLED}))
def test_known_differences_are_still_there(name):
    """A reason for something that agrees by now is out of date."""
    left = {aspect for entry, aspect in op_db.SETTLED if entry == name}
    for aspect, where, text in op_db.findings(name):
        if aspect in left and op_db.KNOWN[name, aspect].excuses(where, text):
            left.remove(aspect)
        if not left:
            break
    assert not left, f"agrees with torch by now: {sorted(left)}"


def test_enough_entries_agree(published):
    agreeing = [name for name in op_db.AUTOGRAD if published.get(name) == "agrees"]
    assert len(agreeing) >= 450


@pytest.mark.slow
def test_a_wrong_value_is_found(monkeypatch):
    """The comparison can fail: with sin in its place, cos differs in value, gradient and second derivative."""
    import wengert

    monkeypatch.setattr(wengert, "cos", wengert.sin)
    aspects = {finding.aspect for finding in op_db.findings("cos", 2)}
    assert {"value", "gradient", "second"} <= aspects


def test_nan_in_place_of_a_complex_number_is_found():
    import numpy as np

    from wengert.core.tensor import wrap

    number, nan = np.array([1 + 0j]), np.array([complex(np.nan, 0)])
    for ours, theirs in ((nan, number), (number, nan)):
        assert op_db.unlike(wrap(ours), op_db.torch.from_numpy(theirs)) is not None

"""docs/from-torch.md: its programs run and show what they say, what it calls missing is missing, and its links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

import wengert

PAGE = Path(__file__).parents[2] / "docs" / "from-torch.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(title):
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def names_in(text):
    """The names of torch in backquotes."""
    return re.findall(r"`(torch\.[\w.]+)`", text)


def test_programs_show_what_the_page_says():
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "__main__"}, PAGE.name, str(PAGE), 0)
    complaints = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert failed == 0 and tried >= 20, "".join(complaints)


def test_names_that_the_page_says_are_there_are_there():
    names = names_in(section("What is there"))
    assert len(names) > 15
    for name in names:
        assert eval(name, {"torch": wengert}) is not None


def test_names_that_the_page_says_are_missing_are_missing():
    first_column = "\n".join(row.split("|")[1] for row in section("What is missing").splitlines() if row.startswith("|"))
    names = names_in(first_column)
    assert len(names) > 4
    for name in names:
        with pytest.raises(AttributeError):
            eval(name, {"torch": wengert})


@pytest.mark.parametrize("device", ["cuda", "meta"])
def test_devices_that_the_page_says_are_missing_are_refused(device):
    with pytest.raises(RuntimeError, match=f"no backend for device {device}"):
        wengert.zeros(1, device=device)


def test_page_is_short_and_its_links_lead_somewhere():
    assert len(TEXT.splitlines()) <= 200
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert len(links) > 8
    assert [link for link in links if not (PAGE.parent / link).exists()] == []

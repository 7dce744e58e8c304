"""The pages of docs/en and docs/zh: their examples run, show what they say, and are the same in both languages."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.name for path in (DOCS / "en").glob("*.md"))
FLAGS = doctest.ELLIPSIS


def blocks(path):
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [name for name in PAGES if name != "README.md"])
def test_examples_of_pages_print_the_shown_output(language, name):
    source = "\n".join(blocks(DOCS / language / name))
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "__main__"}, name, name, 0)
    complaints = []
    failed, tried = doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=complaints.append)
    assert failed == 0 and tried >= 8, "".join(complaints)


def test_both_languages_have_the_same_pages_with_the_same_code():
    assert len(PAGES) == 13 and sorted(path.name for path in (DOCS / "zh").glob("*.md")) == PAGES
    for name in PAGES:
        assert blocks(DOCS / "en" / name) == blocks(DOCS / "zh" / name), name


@pytest.mark.parametrize("path", [DOCS / language / name for language in ("en", "zh") for name in PAGES], ids=lambda p: f"{p.parent.name}/{p.name}")
def test_page_is_in_its_language_and_its_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    chinese = len(re.findall(r"[\u4e00-\u9fff]", prose))
    assert (chinese > 100) is (path.parent.name == "zh")
    assert text.count("```") == 2 * len(blocks(path)) and text.startswith("# ")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_index_names_every_page():
    for language in ("en", "zh"):
        text = (DOCS / language / "README.md").read_text(encoding="utf-8")
        assert [name for name in PAGES if name != "README.md" and f"({name})" not in text] == []

"""The site: its pages' examples run, every operation has an example on it, and its pages of functions are complete."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import api_pages
import operator_examples
import pytest

import operators_page
from op_samples.cases import is_public
from wengert.ops.registry import OPS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["index.md", "from-jax.md", "teaching.md", "small-machines.md"])
def test_examples_of_pages_print_the_shown_output(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    source = "\n".join(_blocks(text))
    complaints: list[str] = []
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "__main__"}, name, name, 0)
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert failed == 0 and tried > 2, "".join(complaints)


def _blocks(text):
    """The examples of a page. Those in lists are moved to the left."""
    found = re.findall(r"^( *)```(?:python|pycon)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def test_links_of_pages_lead_somewhere():
    for path in DOCS.glob("*.md"):
        links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S))
        missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
        assert missing == [], path.name


def test_the_start_page_leads_to_every_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```{toctree}.*", text, re.DOTALL)[0].splitlines()
    pages = [*DOCS.glob("*.md"), *(DOCS / "en").glob("*.md")]
    names = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in pages)
    assert [name for name in names if name not in listed and name != "index"] == []


@pytest.mark.slow
def test_every_operation_has_an_example_that_runs():
    ops = [op for op in OPS.values() if is_public(op)]
    assert [op.name for op in ops if not operator_examples.example(op)] == []


def test_examples_of_operations_agree_with_numpy():
    shown = operator_examples.example(OPS["cumsum"])
    code = [line.removeprefix(">>> ") for line in shown.splitlines() if line.startswith(">>> ")]
    names = {"torch": operator_examples.wengert}
    for line in code[:-2]:
        exec(line, names)
    assert repr(names["y"]) in shown
    assert names["y"].detach().numpy() == pytest.approx(names["x"].detach().numpy().cumsum(0), rel=1e-6)


@pytest.mark.parametrize("name", ["exp", "sigmoid", "digamma", "special_bessel_j0", "gelu", "floor"])
def test_functions_of_one_number_have_a_curve(name):
    drawing = operator_examples.curve(OPS[name])
    assert drawing.count("<path") == 3 and "NaN" not in drawing and "nan" not in drawing


@pytest.mark.parametrize("name", ["cumsum", "softmax", "matmul", "zeros", "sort", "clone"])
def test_other_functions_have_no_curve(name):
    assert operator_examples.curve(OPS[name]) is None


def test_a_page_of_operators_gets_examples_and_curves():
    name, _ = next(iter(operators_page.SUBJECTS.items()))
    source = [(DOCS / "operators" / f"{name}.md").read_text(encoding="utf-8")]
    before = source[0]
    operator_examples.add_to_page(None, f"operators/{name}", source)
    entries = before.count("\n### ")
    assert source[0].count("```pycon") >= entries and source[0].count("<svg") > 20
    assert re.findall(r"^##+ .*", source[0], re.MULTILINE) == re.findall(r"^##+ .*", before, re.MULTILINE)


@pytest.mark.parametrize("name", list(api_pages.PAGES))
def test_pages_of_classes_and_functions_show_signatures_and_docstrings(name):
    title, modules = api_pages.PAGES[name]
    text = api_pages.page(title, modules)
    assert text.startswith(f"# {title}\n") and text.count("\n### ") > 4
    assert "object at 0x" not in text and "<function" not in text


def test_docstrings_become_markdown():
    assert api_pages.markdown("A *b* and `c_d`.\n\n>>> 1\n1\n\n    code()") == "A \\*b\\* and `c_d`.\n\n```pycon\n>>> 1\n1\n```\n\n```python\ncode()\n```"

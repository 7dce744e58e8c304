"""The programs and claims of README.md and CONTRIBUTING.md, and the form of the decision records."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pages
import pytest

import fuzz
import wengert

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
PROGRAMS = pages.code_blocks(README)


def announced(program: str) -> list[str]:
    """The comments behind a program's print calls."""
    return re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if "mermaid" not in p], ids=["torch", "numpy", "scipy"])
def test_readme_program_prints_the_output_in_its_comments(program):
    assert announced(program) and pages.run(program).splitlines() == announced(program)


@pytest.mark.parametrize("page", [pages.README, pages.PERFORMANCE, pages.RELIABILITY], ids=["README", "performance", "reliability"])
def test_generated_parts_of_pages_are_up_to_date(page):
    assert pages.generate()[page] == page.read_text(), "run make generate"


def test_readme_shows_how_to_install_and_a_program_early():
    start = "\n".join(README.splitlines()[:45])
    assert "pip install ." in start and pages.code_blocks(start)


def section(title: str, end: str) -> str:
    """The text of the README between two lines that begin so."""
    return README.split(f"\n{title}", 1)[1].split(f"\n{end}", 1)[0]


def quoted(text: str, beginning: str) -> list[str]:
    """The code in backquotes that begins so."""
    return [code for code in re.findall(r"`([^`\n]+)`", text) if code.startswith(beginning)]


@pytest.mark.parametrize("name", quoted(section("There:", "Not there:"), "torch."))
def test_name_that_the_readme_says_is_there_is_there(name):
    assert eval(name, {"torch": wengert}) is not None


@pytest.mark.parametrize("name", [n for n in quoted(section("Not there:", "## "), "torch.") if "(" not in n and n != "torch.pointwise"])
def test_name_that_the_readme_says_is_missing_is_missing(name):
    with pytest.raises(AttributeError):
        eval(name, {"torch": wengert})


@pytest.mark.parametrize("call", [c for beginning in ("np.", "torch.") for c in quoted(section("Not there:", "## "), beginning) if "(" in c])
def test_call_that_the_readme_says_is_refused_is_refused(call):
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        eval(call, {"torch": wengert, "np": np, "x": x})


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/adr/README.md"])
def test_links_lead_somewhere(name):
    file = ROOT / name
    links = [link for link in re.findall(r"\]\(([^)]+)\)", file.read_text()) if "://" not in link]
    assert [link for link in links if not (file.parent / link).exists()] == []


def test_files_named_in_the_contributing_guide_exist():
    named = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w./]+)`", CONTRIBUTING)
    assert len(named) > 10
    assert [path for path in named if not list(ROOT.glob(path.rstrip("/") + "*"))] == []


def test_files_named_on_the_page_of_reliability_exist():
    named = re.findall(r"`((?:src|tests|tools)/[\w./]+)`", pages.RELIABILITY.read_text())
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_fuzzers_are_named_on_the_page_of_reliability():
    text = pages.RELIABILITY.read_text()
    assert [name for name in fuzz.names() if f"tests/fuzz/{name}.py" not in text] == []


def test_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"`make ([\w-]+)", README + CONTRIBUTING))
    assert {"demo", "test", "check", "bench"} <= named
    assert [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("0*.md")), ids=lambda path: path.stem)
def test_decision_record_is_short_listed_and_complete(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 60
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["Question", "Decision", "Rejected", "What it costs"]
    assert text.startswith(f"# {path.stem[:4]}. ")
    assert f"({path.name})" in (ROOT / "docs" / "adr" / "README.md").read_text()

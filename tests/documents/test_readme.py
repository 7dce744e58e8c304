"""The code in README.md and CONTRIBUTING.md works when pasted, and prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def announced(block: str) -> list[str]:
    """What the comments behind the print calls say."""
    return re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)


@pytest.mark.parametrize("number", range(2))
def test_readme_code_prints_what_it_says(number):
    block = code_blocks(README)[number]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, f"<README, block {number + 1}>", "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == announced(block)


def test_all_readme_code_is_tested():
    assert len(code_blocks(README)) == 2
    assert README.count("```") == 4
    assert [len(announced(block)) for block in code_blocks(README)] == [3, 1]


def test_readme_shows_what_it_is_how_to_install_and_code_early():
    start = "\n".join(README.splitlines()[:36])
    assert "pip install ." in start
    assert len(code_blocks(start)) >= 1


def test_operation_of_the_contributing_guide_is_right():
    """In a process of its own, as it adds to the registry."""
    (block,) = code_blocks(CONTRIBUTING)
    check = """
import numpy, wengert
function = log_cosh.function
x = wengert.tensor([-2.0, 0.0, 0.5, 800.0], dtype=wengert.float64, requires_grad=True)
y = function(x)
numpy.testing.assert_allclose(y.tolist()[:3], numpy.log(numpy.cosh([-2.0, 0.0, 0.5])), atol=1e-15)
assert y.tolist()[3] == 800.0 - 0.6931471805599453
assert y.grad_fn.name() == "LogCoshBackward0"
x = x.detach()[:3].requires_grad_()
assert wengert.autograd.gradcheck(function, x) and wengert.autograd.gradgradcheck(function, x)
assert function(wengert.tensor([1, 2])).dtype == wengert.float32
"""
    done = subprocess.run([sys.executable, "-c", block + check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/adr/README.md"])
def test_links_lead_somewhere(name):
    file = ROOT / name
    links = [link for link in re.findall(r"\]\(([^)]+)\)", file.read_text()) if "://" not in link]
    assert [link for link in links if not (file.parent / link).exists()] == []


def test_files_named_in_the_contributing_guide_exist():
    named = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w./]+)`", CONTRIBUTING)
    assert len(named) > 10
    assert [path for path in named if not list(ROOT.glob(path.rstrip("/") + "*"))] == []


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

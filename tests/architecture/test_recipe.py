"""CONTRIBUTING's recipe for an operation, followed to the letter in a copy of the tree: nothing that the gate asks for is left out.

The copy has no compiled core, so this needs no compiler. `make generate` gets a stand-in for the environment that it would make.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Tests parametrized by the operation, and tests of all operations together.
CHOSEN = """
    log_cosh or has_an_oracle or has_samples or docstring or of_other_kinds or plans_save or nodes_hold or freed or node_name or
    declared_methods or type_error or dim_out_of_range or out_is_written or out_of_what or up_to_date or say or is_tested or
    are_named or torchs_names or late_families
"""
FILES = [
    "tests/ops", "tests/architecture/test_stub.py", "tests/architecture/test_operators_page.py", "tests/architecture/test_names.py",
    "tests/parity/test_ops.py",
]  # fmt: skip


def recipe() -> tuple[dict[str, str], list[str]]:
    """Return the text to append to each file, and the commands, that "Adding an operation" shows."""
    section = re.search(r"^## Adding an operation\n(.*?)^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M | re.S)
    assert section is not None
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section[1], re.M | re.S)
    texts: dict[str, str] = {}
    for language, block in blocks:
        if language == "python":
            first, _, text = block.partition("\n")
            texts[first.removeprefix("# ")] = text
    (commands,) = [block.split("\n") for language, block in blocks if language == "sh"]
    return texts, [command for command in commands if command]


@pytest.fixture
def copy(tmp_path):
    """A copy of the tree, with an environment that make takes for its own."""
    ignore = shutil.ignore_patterns(".*", "*.so", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, tmp_path, ignore=ignore, dirs_exist_ok=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    stamps = tmp_path / ".venv" / "stamps"
    stamps.mkdir()
    for name in ("venv", "dependencies"):
        (stamps / name).touch()
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": "src", "WENGERT_PURE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_an_operation_added_as_contributing_says_passes_its_tests(copy):
    texts, commands = recipe()
    for file, text in texts.items():
        path = copy / file
        gap = "\n\n" if file.startswith("src") else "\n"
        path.write_text(path.read_text(encoding="utf-8") + gap + text, encoding="utf-8")
    generate, test = commands
    assert "docs/operators" in run(generate.split(), copy)
    run([sys.executable, "-m", "wengert.ops.fuse", "--check"], copy)
    assert test == 'make test ARGS="-k log_cosh"'
    said = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", " ".join(CHOSEN.split()), *FILES], copy)
    assert "passed" in said
    code = "import wengert; x = wengert.zeros(2, requires_grad=True); x.log_cosh().sum().backward(); print(x.grad.tolist())"
    assert run([sys.executable, "-c", code], copy) == "[0.0, 0.0]\n"


def test_the_recipe_names_files_that_exist():
    texts, commands = recipe()
    assert len(texts) == 2 and all((ROOT / file).exists() for file in texts)
    assert commands[0] == "make generate"
    for name in re.findall(r"`(?:src/wengert/|tests/)[\w/.]+`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert (ROOT / name.strip("`")).exists(), name

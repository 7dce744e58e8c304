"""What type checkers say to a user's program: mypy --strict and pyright refuse the lines that are marked, and no others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = "tests/types/user_program.py"
LINES = (ROOT / PROGRAM).read_text(encoding="utf-8").splitlines()
WRONG = [line for line in LINES if line.endswith("# error")]


def run(*arguments: str) -> str:
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=ROOT, env=environment).stdout


def mypy_errors(tmp_path: Path) -> dict[int, str]:
    arguments = ["--strict", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={tmp_path}"]
    found = re.findall(rf"^{PROGRAM}:(\d+): error: (.*)$", run("mypy", *arguments, PROGRAM), re.MULTILINE)
    return {int(line): text for line, text in found}


def pyright_errors(tmp_path: Path) -> dict[int, str]:
    found = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable))["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1: d["message"] for d in found if d["severity"] == "error"}


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_refuse_wrong_calls_and_take_right_ones(checker, tmp_path):
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed: the extra dev has it")
    errors = {"mypy": mypy_errors, "pyright": pyright_errors}[checker](tmp_path)
    said = {LINES[line - 1]: text for line, text in errors.items()}
    assert {line: text for line, text in said.items() if line not in WRONG} == {}
    assert [line for line in WRONG if line not in said] == []


def test_the_program_is_long_enough_to_matter():
    calls = [line for line in LINES if re.search(r"\w\(", line) and not line.startswith(("from", "import", "#"))]
    assert len(calls) >= 300 and len(WRONG) >= 80

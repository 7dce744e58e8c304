"""The examples with modules, examples/digits_nn.py and characters.py: what they promise, and what they say of wrong options."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wengert
from loops import each

for _package in ("matplotlib", "sklearn", "tqdm"):
    pytest.importorskip(_package)

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, *options: str, folder: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def is_png(path: Path) -> bool:
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_default_run_reads_digits_as_well_as_promised(tmp_path):
    done = run("digits_nn", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6122 parameters, 1347 digits to train on, 450 held out" in done.stdout
    assert float(re.search(r"accuracy on held-out digits ([\d.]+)%", done.stdout)[1]) >= 97
    assert "training: 100%" in done.stderr
    assert is_png(tmp_path / "digits_nn.png")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_default_run_writes_as_well_as_promised(tmp_path):
    done = run("characters", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"([\d.]+) bits a character of held-out text", done.stdout)[1]) < 3.2
    assert "training: 100%" in done.stderr
    assert is_png(tmp_path / "characters.png")


@pytest.mark.slow
def test_short_training_of_characters_learns_and_draws(tmp_path, capsys):
    characters = load("characters")
    path = tmp_path / "short.png"
    assert characters.main(["--steps", "10", "--output", str(path)]) == 1
    captured = capsys.readouterr()
    bits = float(re.search(r"([\d.]+) bits a character", captured.out)[1])
    assert 3.2 < bits < 6.2  # 61 kinds of characters, all alike, would be 5.93
    assert "more --steps may help" in captured.err
    assert is_png(path)


def test_batches_hold_the_character_that_follows():
    characters = load("characters")
    wengert.manual_seed(0)
    pieces, following = characters.draw_batch(wengert.arange(500), 7)
    assert pieces.shape == (7, characters.CONTEXT)
    assert wengert.equal(following, pieces + 1)


def test_model_of_characters_does_not_look_ahead():
    characters = load("characters")
    wengert.manual_seed(0)
    model = characters.Model(5).eval()
    text = wengert.randint(5, (1, 12))
    changed = text.clone()
    changed[0, 8:] = (changed[0, 8:] + 1) % 5
    with wengert.no_grad():
        before, after = model(text), model(changed)
    assert wengert.allclose(before[:, :8], after[:, :8], atol=1e-6)
    assert not wengert.allclose(before[:, 8:], after[:, 8:], atol=1e-2)


@each(
    "name, options, message",
    [
        ("digits_nn", ["--epochs", "0"], "argument --epochs: at least 1"),
        ("digits_nn", ["--output", "no/such/folder/x.png"], "no folder for"),
        ("characters", ["--steps", "9"], "argument --steps: at least 10"),
        ("characters", ["--output", "no/such/folder/x.png"], "no folder for"),
    ],
)
def test_bad_options_end_the_script_before_any_work(name, options, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        load(name).main(options)
    captured = capsys.readouterr()
    assert stopped.value.code == 2 and message in captured.err and captured.out == ""

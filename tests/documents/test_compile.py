"""The page docs/compile.md: its programs run as programs, and are recorded, not run eagerly."""

import re
from pathlib import Path

import pytest

import wengert

BLOCKS = re.findall(r"^```python\n(.*?)^```$", (Path(__file__).parents[2] / "docs/compile.md").read_text(encoding="utf-8"), re.M | re.S)


def run(tmp_path, monkeypatch, *blocks):
    path = tmp_path / "program.py"  # recording looks at the source of lines
    path.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names


@pytest.mark.slow
def test_the_program_for_torch_is_recorded_and_learns(tmp_path, monkeypatch):
    names = run(tmp_path, monkeypatch, BLOCKS[0])
    x, y = names["x"], names["y"]
    assert names["step"].programs() and names["predict"].programs()
    assert wengert.nn.functional.mse_loss(names["predict"](x), y) < (y * y).mean() / 4
    names["predict"].save("predict")
    wengert.testing.assert_close(wengert.compiler.load("predict")(x), names["predict"](x), rtol=0, atol=0)


def test_the_program_for_jax_is_recorded_once_and_saved(tmp_path, monkeypatch):
    names = run(tmp_path, monkeypatch, BLOCKS[1])
    before, x, y, rate = names["params"], names["x"], names["y"], names["rate"]
    assert len(names["update"].programs()) == 1
    assert names["value"] < (y * y).mean() / 4
    value, params = names["update"](before, x, y, rate)
    exec(BLOCKS[4], names)
    wengert.testing.assert_close((names["value"], names["params"]), (value, params), rtol=0, atol=0)
    names["update"].to_c("update")
    assert Path("update_test.c").exists()


def test_the_program_with_numbers_is_recorded_twice_and_kept_once(tmp_path, monkeypatch):
    names = run(tmp_path, monkeypatch, "import wengert", BLOCKS[2])
    (program,) = names["descend"].programs()
    assert program.arithmetic is not None
    w = wengert.ones(3)
    for i in range(1000):
        w = w - 0.1 / (i + 1) * 2 * w
    assert names["w"].tolist() == w.tolist()

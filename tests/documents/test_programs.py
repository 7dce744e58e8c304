"""The table of public programs names every program of the list, at the commit of the list."""

import tomllib
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]


def test_every_program_has_a_row_with_its_source():
    programs = tomllib.loads((ROOT / "benchmarks" / "public_programs.toml").read_text())["program"]
    page = (ROOT / "docs" / "programs.md").read_text()
    rows = {cells[1].strip(): unquote(cells[2]) for cells in (line.split("|") for line in page.splitlines() if line.startswith("|"))}
    assert len({program["name"] for program in programs}) == len(programs)
    assert set(rows) - {"program", "---"} == {program["name"] for program in programs}
    for program in programs:
        address = "/".join(part for part in (program["commit"], program.get("folder", ""), program["script"]) if part)
        assert f"https://github.com/{program['repository']}/blob/{address}" in rows[program["name"]]

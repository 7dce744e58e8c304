"""Run the public programs of public_programs.toml on torch and on wengert, and print the table of docs/programs.md.

    python benchmarks/public_programs.py CLONES [--modules FOLDER] [--rounds N] [--only NAME ...] [--write docs/programs.md]

CLONES contains clones of the repositories, each in a folder OWNER+NAME. FOLDER contains modules that programs import and that
are not installed; docs/programs.md lists them. Each program is copied from its commit into a temporary folder, and runs there.
recorded.py records it, N times on each library, in turns; the shortest time of a step counts. If the loss curves differ by more
than 1e-5, torch runs once more with nudged gradients.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

HERE = Path(__file__).parent
ROUNDING = 1e-5  # larger differences are compared with those of nudged gradients
START, END = "<!-- table: written by benchmarks/public_programs.py -->\n", "<!-- end of table -->"


def git_folder(clones: Path, repository: str) -> Path:
    """Return the git directory of a clone, with or without a work tree."""
    clone = clones / repository.replace("/", "+")
    found = [path for path in (clone / ".git", clone / "repo/.git", clone / "repo", clone) if (path / "HEAD").exists()]
    if not found:
        raise FileNotFoundError(f"no clone of {repository} in {clones}")
    return found[0]


def copy_files(git: Path, commit: str, folder: str, target: Path) -> None:
    """Copy a folder of a commit. Files that a partial clone lacks are left out."""
    git_command = ["git", f"--git-dir={git}"]
    names = subprocess.check_output([*git_command, "ls-tree", "-rz", "--name-only", commit, "--", folder or "."], text=True)
    for name in names.rstrip("\0").split("\0"):
        found = subprocess.run([*git_command, "show", f"{commit}:{name}"], capture_output=True, check=False)
        if found.returncode == 0:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(found.stdout)


def write_notebook(path: Path) -> Path:
    """Write the code of a notebook into a script beside it, without the lines for the notebook itself. Returns the script."""
    cells = [cell["source"] for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    lines = "\n\n".join("".join(cell) for cell in cells).split("\n")
    script = path.with_suffix(".nb.py")
    script.write_text("\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines) + "\n")
    return script


def write_pictures(folder: Path, names: list[str]) -> None:
    """Write scikit-learn's sample pictures, 128 x 128."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    for name, pixels in zip(names, load_sample_images().images, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).resize((128, 128)).save(folder / name)


def write_citations(folder: Path) -> None:
    """Write a drawn graph of 1,600 documents in seven classes in the form of the Cora data set, with 100 words."""
    rng, n = np.random.default_rng(0), 1600
    classes, words = rng.integers(0, 7, n), rng.random((7, 100)) < 0.1
    found = (rng.random((n, 100)) < 0.02) | (words[classes] & (rng.random((n, 100)) < 0.6))
    documents = [f"{i}\t" + "\t".join(str(int(word)) for word in row) + f"\tclass{classes[i]}" for i, row in enumerate(found)]
    (folder / "cora.content").write_text("\n".join(documents) + "\n")
    citing = rng.integers(0, n, 3000)
    cited = [rng.choice(np.flatnonzero(classes == classes[i])) if rng.random() < 0.8 else rng.integers(n) for i in citing]
    (folder / "cora.cites").write_text("".join(f"{i}\t{j}\n" for i, j in zip(citing, cited, strict=True)))


def prepare(program: dict[str, Any], clones: Path, root: Path) -> tuple[Path, Path]:
    """Copy a program and its data into root. Returns its folder and its script."""
    copy_files(git_folder(clones, program["repository"]), program["commit"], program.get("tree", ""), root)
    folder = root / program.get("folder", "")
    script = folder / program["script"]
    for name, source in program.get("copies", {}).items():
        repository, commit, path, *lines = source
        git = git_folder(clones, repository)
        text = subprocess.check_output(["git", f"--git-dir={git}", "show", f"{commit}:{path}"], text=True)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(text.split("\n")[slice(*lines)]) if lines else text)
    write_pictures(folder, program.get("pictures", []))
    if "citations" in program:
        write_citations(folder / program["citations"])
    if script.suffix == ".ipynb":
        script = write_notebook(script)
    return folder, script


def record(program: dict[str, Any], clones: Path, modules: list[str], library: str, nudged: bool = False) -> dict[str, Any]:
    """Run a program once, and return its record."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "program"
        folder, script = prepare(program, clones, root)
        paths = [*modules, *[str(root / name) for name in program.get("paths", [])], os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1", "NUDGED": "1" if nudged else "", "RECORD_GRAD": "1" if program.get("grad") else "",
            "OLD": "1" if program.get("old") and library == "torch" else "",
        }  # fmt: skip
        file, start = Path(scratch) / "record.json", [sys.executable, *(["-m", "wengert", "run"] if library == "wengert" else [])]
        for before in program.get("before", []):
            subprocess.run([sys.executable, before], cwd=folder, env=environment, check=True, capture_output=True)
        arguments = [str(file), str(program["steps"]), script.name, *program.get("arguments", [])]
        command = [*start, str(HERE / "recorded.py"), *arguments]
        result = subprocess.run(
            command, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=900, check=False
        )  # fmt: skip
        if file.exists():
            return json.loads(file.read_text())
        return {"losses": [], "seconds": [], "failure": (result.stderr.strip().split("\n") or ["?"])[-1]}


def difference(losses: list[float], others: list[float]) -> float:
    """Return the largest relative difference of two loss curves."""
    n = min(len(losses), len(others))
    a, b = np.array(losses[:n]), np.array(others[:n])
    return float(np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-30))) if n else float("nan")


def step_time(record: dict[str, Any]) -> float:
    """Return the mean processor time between two losses, in seconds, without the first third."""
    seconds = record["seconds"]
    first = len(seconds) // 3
    return (seconds[-1] - seconds[first]) / (len(seconds) - 1 - first) if len(seconds) > first + 1 else float("nan")


def row(program: dict[str, Any], clones: Path, modules: list[str], rounds: int) -> str:
    """Run a program on both libraries and return its row of the table."""
    runs: dict[str, list[dict[str, Any]]] = {"torch": [], "wengert": []}
    for _ in range(rounds):
        for library, records in runs.items():
            records.append(record(program, clones, modules, library))
    theirs, ours = runs["torch"][0], runs["wengert"][0]
    times = {library: min(step_time(x) for x in records) for library, records in runs.items()}
    script = "/".join(part for part in (program.get("folder", ""), program["script"]) if part)
    address = quote(f"{program['repository']}/blob/{program['commit']}/{script}")
    start = f"| {program['name']} | [{program['repository']}: {script}](https://github.com/{address}) at {program['commit'][:7]}"
    start += f" | {len(ours['losses'])} | "
    if ours["failure"] or not ours["losses"]:
        return f"{start} stops: {ours['failure']} | | | |"
    curve = f"{ours['losses'][0]:.4g} to {ours['losses'][-1]:.4g}"
    if len(theirs["losses"]) != len(ours["losses"]):
        return f"{start} {curve} | torch stops: {theirs['failure']} | | {times['wengert'] * 1e3:.2f} ms |"
    found, control = difference(theirs["losses"], ours["losses"]), ""
    if found > ROUNDING:
        nudged = record(program, clones, modules, "torch", nudged=True)
        control = f"{difference(theirs['losses'], nudged['losses']):.0e}"
    return f"{start} {curve} | {found:.0e} | {control} | {times['wengert'] * 1e3:.2f} ms, {times['torch'] / times['wengert']:.1f} |"


def main() -> None:
    """Print the rows, and write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--modules", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    programs = tomllib.loads((HERE / "public_programs.toml").read_text())["program"]
    rows = []
    for program in programs:
        if not options.only or program["name"] in options.only:
            rows.append(row(program, options.clones, options.modules, options.rounds))
            print(rows[-1], flush=True)
    if options.write:
        text = options.write.read_text()
        head, rest = text.split(START)
        names = ["program", "source", "losses", "loss", "difference", "of nudged torch", "step, torch / wengert"]
        table = "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|\n"
        options.write.write_text(head + START + table + "\n".join(rows) + "\n" + rest[rest.index(END) :])


if __name__ == "__main__":
    main()

"""Check what a release would publish: `make release-check`.

python release_check.py <folder>

The source distribution is made of the last commit, and the wheel of the source distribution. Both are checked as files. The wheel
is then installed into two fresh environments. The first has NumPy alone and runs a program. The second has what the tests need, and
runs a part of the tests, as the source distribution has them. The first check that fails ends the run.
CONTRIBUTING.md lists what has to be looked at by hand.
"""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "wengert"
SIZE_LIMIT = 11_000_000  # bytes of the installed files, without what Python compiles
TESTS = ["tests/core", "tests/autograd", "tests/kernels"]
PROGRAM = """
import torch
import wengert

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(x.exp().softmax(0) * x).sum().backward()
assert torch.autograd.gradcheck(lambda x: (x.sin() * x).cumsum(0), x.detach().double().requires_grad_())
assert torch.tensor is wengert.tensor
print(wengert.__version__)
"""


class CheckError(Exception):
    """The release is not as it should be."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command, and return what it printed. Raise CheckError with all of its output if it fails."""
    done = subprocess.run([*map(str, command)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise CheckError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def require(condition: object, message: str) -> None:
    """Raise CheckError with the message if the condition is false."""
    if not condition:
        raise CheckError(message)


def build(folder: Path) -> tuple[Path, Path]:
    """Make the source distribution of the last commit, and the wheel of that. Return both."""
    require(not run("git", "status", "--porcelain"), "a release is made of the last commit: commit what has changed since")
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", folder)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def check_metadata(wheel: Path) -> str:
    """Check what the wheel says about itself. Return its version."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = email.message_from_bytes(archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))))
    version = metadata["Version"]
    require(any(name.endswith("licenses/LICENSE") for name in names), "the licence is not in the wheel")
    require(required(metadata) == ["numpy>=2"], f"an installation would bring {required(metadata)}, not NumPy alone")
    require(f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), f"CHANGELOG.md has no section for {version}")
    missing = stub_names() - {name.removeprefix("wengert/") for name in names}
    require(not missing, f"stubs that are not in the wheel: {sorted(missing)}")
    return version


def required(metadata: Message) -> list[str]:
    """Requirements that no extra asks for."""
    return [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]


def stub_names() -> set[str]:
    """Paths of the stubs below src/wengert, and of the file that tells type checkers about them."""
    return {path.relative_to(SOURCES).as_posix() for path in [*SOURCES.rglob("*.pyi"), SOURCES / "py.typed"]}


def installed_size(wheel: Path) -> int:
    """Bytes of the files of a wheel, unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def make_environment(folder: Path, *requirements: str | Path) -> Path:
    """Make a virtual environment and install into it. Return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *requirements)
    return python


def check_alone(wheel: Path, version: str, folder: Path) -> None:
    """Run programs with the wheel and NumPy alone, outside of the source tree."""
    python = make_environment(folder / "alone", wheel)
    packages = set(re.findall(r"^(\w+) ", run(python, "-m", "pip", "list"), re.MULTILINE)) - {"Package", "pip", "setuptools"}
    require(packages == {"numpy", "wengert"}, f"the wheel brought {sorted(packages)}")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    found = run(python, "-m", "wengert", "run", "program.py", cwd=folder).strip()
    require(found == version, f"the program ran on version {found}")
    require(run(python, "-m", "wengert.__config__", cwd=folder), "wengert.__config__ prints nothing")


def check_tests(source: Path, wheel: Path, folder: Path) -> str:
    """Run tests of the source distribution on the installed wheel. Return the last line of pytest."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    tree = folder / source.name.removesuffix(".tar.gz")
    python = make_environment(folder / "tested", f"{wheel}[test]", "mypy")
    typed = "import wengert as torch\ntorch.ones(3).exp().sum().backward()"
    run(python, "-m", "mypy", "--strict", "--config-file=", "-c", typed, cwd=folder)
    found = run(python, "-c", "import wengert; print(wengert.__file__)", cwd=tree)
    require(found.startswith(str(folder / "tested")), f"the tests would run on {found}")
    output = run(python, "-m", "pytest", "-q", "-n", "auto", "-m", "not slow and not exhaustive", *TESTS, cwd=tree)
    return output.strip().splitlines()[-1].strip("= ")


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    try:
        source, wheel = build(folder)
        for file in (source, wheel):
            print(f"built      {file.name}, {file.stat().st_size / 1e6:.1f} MB", flush=True)
        run(sys.executable, "-m", "twine", "check", "--strict", source, wheel)
        version = check_metadata(wheel)
        print("metadata   the README renders; the licence, the changes and the stubs are there", flush=True)
        size = installed_size(wheel)
        require(size <= SIZE_LIMIT, f"the installed files take {size / 1e6:.2f} MB, more than {SIZE_LIMIT / 1e6:.0f} MB")
        print(f"size       {size / 1e6:.2f} MB installed", flush=True)
        check_alone(wheel, version, folder)
        print("alone      programs run with NumPy alone", flush=True)
        print(f"tests      {check_tests(source, wheel, folder)}", flush=True)
    except CheckError as error:
        print(f"release-check: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

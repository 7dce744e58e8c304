"""Compile the package for 64-bit ARM, and run tests on an emulated processor: `make emulate`.

python emulate.py <folder> [arguments for pytest]

The folder gets all that this needs but the compiler and QEMU: Python from packages of Debian for arm64; NumPy, SciPy and pytest
from wheels for that processor; and the package, compiled by a compiler of this machine. A program of that system finds its files
below <folder>/root, or else where this machine has them. Nothing is installed on this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import variant

TARGET = "aarch64-linux-gnu"
DEBIAN = ["python3.11-minimal", "libpython3.11-stdlib", "libpython3.11-dev", "libstdc++6"]
WHEELS = ["numpy", "scipy", "ml_dtypes", "opt_einsum", "mpmath"]
WHEELS += ["pytest", "pluggy", "iniconfig", "packaging", "pygments", "hypothesis", "sortedcontainers"]
PLATFORMS = ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64"]
# Without products by other libraries, which take an emulated processor an hour. `make emulate ARGS=tests/ops` runs others.
TESTS = ["-m", "not slow and not exhaustive", "tests/kernels", "tests/core", "--deselect=tests/kernels/test_blas.py"]

CROSS_FILE = """[binaries]
c = '{target}-gcc'
ar = '{target}-ar'
strip = '{target}-strip'
python = '{folder}/python'

[built-in options]
c_args = ['-idirafter', '{folder}/root/usr/include']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""
LAUNCHER = """#!/bin/sh
exec qemu-aarch64 -L {folder}/root -0 {folder}/python -E PYTHONHOME={folder}/root/usr {folder}/root/usr/bin/python3.11 "$@"
"""


def unpack_system(folder: Path) -> None:
    """Unpack packages of Debian for arm64, and what they depend on, into folder/root."""
    lists, cache, status, root = folder / "lists", folder / "cache", folder / "status", folder / "root"
    for needed in (lists / "partial", cache / "archives" / "partial", root):
        needed.mkdir(parents=True, exist_ok=True)
    status.touch()  # no package is installed there
    options = ["APT::Architecture=arm64", "APT::Architectures=arm64", f"Dir::State::Lists={lists}"]
    options += [f"Dir::State::status={status}", f"Dir::Cache={cache}"]
    apt = ["apt-get", "-q", *(f"-o{option}" for option in options)]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "-y", "--download-only", "--no-install-recommends", *DEBIAN], check=True)
    for package in sorted((cache / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    # Python tells the compiler where its headers are: in root, not in this machine's /usr/include.
    for settings in root.glob("usr/lib/python3.11/_sysconfigdata_*.py"):
        settings.write_text(settings.read_text().replace("'/usr/include", f"'{root}/usr/include"))


def unpack_wheels(folder: Path) -> None:
    """Unpack wheels for arm64 and Python 3.11 into folder/site."""
    wheels = folder / "wheels"
    chosen = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]
    chosen += [f"--platform={name}" for name in PLATFORMS]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *chosen, "-d", str(wheels), *WHEELS], check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    launcher, cross_file, site = folder / "python", folder / "cross.ini", folder / "site"
    if not launcher.exists():
        unpack_system(folder)
        unpack_wheels(folder)
        cross_file.write_text(CROSS_FILE.format(target=TARGET, folder=folder))
        launcher.write_text(LAUNCHER.format(folder=folder))
        launcher.chmod(0o755)
    package = variant.build(folder, [f"--cross-file={cross_file}"], os.environ | {"PYTHONPATH": str(site)})
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (package, site)))}
    for arguments in (["wengert.__config__"], ["pytest", "-q", "-p", "no:cacheprovider", *(sys.argv[2:] or TESTS)]):
        status = subprocess.run([launcher, "-m", *arguments], cwd=variant.ROOT, env=environment).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The cache of compiled programs: what is damaged or may be another user's is made again, or refused."""

from __future__ import annotations

import os
import shutil
import stat

import pytest

import wengert as torch
from wengert.program import c_library
from wengert.program.c_library import CCompilerError, load

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler")
SOURCE = "int answer(void) { return 42; }\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "wengert"


def made(folder):
    return sorted(folder.glob("*.so"))


def test_a_library_is_compiled_once_and_kept_private(folder):
    assert load(SOURCE).answer() == 42
    (path,) = made(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and not path.stat().st_mode & 0o077
    before = path.stat().st_mtime_ns, path.stat().st_ino
    assert load(SOURCE).answer() == 42
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert {p.suffix for p in folder.iterdir()} == {".so", ".sha256"}


@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(path.read_bytes()[:100]), lambda path: path.write_bytes(b""),
    lambda path: path.with_suffix(".sha256").unlink(), lambda path: path.chmod(0o722),
    lambda path: path.with_suffix(".sha256").write_text("0" * 64),
])  # fmt: skip
def test_a_damaged_or_open_library_is_made_again(folder, damage):
    load(SOURCE)
    (path,) = made(folder)
    copy = path.with_name("copy")
    path.rename(copy)  # a library that is loaded keeps its file
    shutil.copy(copy, path)
    copy.unlink()
    damage(path)
    before = path.stat().st_ino
    assert load(SOURCE).answer() == 42
    assert path.stat().st_ino != before and not path.stat().st_mode & 0o022


def test_another_flag_or_version_is_another_library(folder, monkeypatch):
    load(SOURCE)
    monkeypatch.setattr(c_library, "_FLAGS", (*c_library._FLAGS, "-g"))
    load(SOURCE)
    load(SOURCE.replace("42", "43"))
    assert len(made(folder)) == 3


def test_a_folder_that_others_can_write_is_refused(folder):
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(CCompilerError, match="written by other users"):
        load(SOURCE)


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    folder.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(CCompilerError, match="another user"):
        load(SOURCE)


def test_a_link_in_place_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CCompilerError, match="no plain file or folder"):
        load(SOURCE)


def test_a_source_with_an_error_names_it(folder):
    with pytest.raises(CCompilerError, match="unknown_name"):
        load("int answer(void) { return unknown_name; }\n")
    assert not list(folder.iterdir())


def test_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    c_library._version_of.cache_clear()
    with pytest.raises(CCompilerError, match="Hint"):
        torch.compile(lambda x: x, backend="c")
    c_library._version_of.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no C compiler"):
        torch.compile(lambda x: x, backend="c")

"""`python -m wengert run`: run a script written for torch, of any year."""

from __future__ import annotations

import os
import sys
import tokenize
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

from wengert.compat.migration import without_async_keyword
from wengert.compat.modules import install

PROGRAM = "WENGERT_PROGRAM"  # variable of the environment: the file of the program, for processes that it spawns


def run_script(arguments: list[str]) -> None:
    """Run arguments[0] as `python arguments[0] ...` would, with `import torch` importing this package."""
    path = Path(arguments[0])
    code = compile_script(path)
    install()
    sys.argv = arguments
    sys.path[0] = str(path.resolve().parent)
    main = ModuleType("__main__")
    main.__file__ = str(path)
    main.__dict__["__builtins__"] = __builtins__
    main.__spec__ = ModuleSpec("wengert.compat.spawned", None)  # what a process imports that the program spawns
    os.environ[PROGRAM] = str(path.resolve())
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def compile_script(path: Path) -> CodeType:
    """Compile a script. x.cuda(async=True), a syntax error since Python 3.7, is accepted."""
    with tokenize.open(path) as file:
        source = file.read()
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError:
        renewed = without_async_keyword(source)
        if renewed == source:
            raise
        return compile(renewed, str(path), "exec", dont_inherit=True)

"""The main module of a process that a program under `python -m wengert run` has spawned: the program, with another __name__."""

import os
from pathlib import Path

from wengert.compat.modules import install
from wengert.compat.script import PROGRAM, compile_script

if __name__ == "__mp_main__":
    install()
    __file__ = os.environ[PROGRAM]
    exec(compile_script(Path(__file__)), globals())

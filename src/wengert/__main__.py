"""`python -m wengert run [--hips] SCRIPT ...` and `python -m wengert migrate FILE ...`; see wengert.compat."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    options = parse(arguments)
    if options.command == "run":
        from wengert.compat.script import run_script

        if options.hips:
            from wengert.compat.hips import install_hips

            install_hips()
        run_script([options.script, *options.arguments])
        return 0
    from wengert.compat.migration import migrate_files

    return migrate_files(options.files, write=options.write)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line: the command and its arguments."""
    parser = argparse.ArgumentParser(prog="python -m wengert", description="Programs that were written for torch.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a script with `import torch` meaning wengert")
    run.add_argument("--hips", action="store_true", help="also with `import autograd` (HIPS autograd) meaning wengert.hips")
    run.add_argument("script", help="a Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own arguments")
    migrate = commands.add_parser("migrate", help="list spellings that torch has given up, with today's")
    migrate.add_argument("files", nargs="+", metavar="FILE")
    migrate.add_argument("--write", action="store_true", help="rewrite them, but for those to be done by hand")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

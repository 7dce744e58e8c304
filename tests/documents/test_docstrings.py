"""The examples in docstrings run, and show what they say."""

import ast
import builtins
import doctest
import sys
from importlib import import_module
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def examples(name, path):
    """One test for each docstring with examples. They see the module's names, but for those that hide Python's own."""
    names = {key: value for key, value in vars(import_module(name)).items() if not hasattr(builtins, key)}
    parse = doctest.DocTestParser().get_doctest
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
        if text and ">>> " in text:
            yield parse(text, {**names, "__name__": "__main__"}, getattr(node, "name", name), str(path), 0)


@pytest.mark.parametrize(("name", "path"), MODULES.items(), ids=MODULES)
def test_examples_print_the_shown_output(name, path, monkeypatch):
    for module in [m for m in sys.modules if m.split(".")[0] == "torch"]:  # the example of wengert.compat takes its name
        monkeypatch.delitem(sys.modules, module)
    complaints = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for test in examples(name, path):
        runner.run(test, out=complaints.append)
    assert runner.failures == 0 and runner.tries > 0, "".join(complaints)

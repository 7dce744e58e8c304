"""`python -m wengert migrate`: what is outdated in a program, and the program rewritten."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from wengert.compat.migration import list_outdated, migrate, migrate_files

HEAD = "import torch\nimport torch.autograd as autograd\nfrom torch.autograd import Variable, variable, Function\n"

REWRITTEN = [
    ("x = Variable(data)", "x = data"),
    ("x = autograd.Variable(data)", "x = data"),
    ("x = torch.autograd.Variable(data)", "x = data"),
    ("x = Variable(torch.randn(3), requires_grad=True)", "x = torch.randn(3).requires_grad_()"),
    ("x = Variable(data, requires_grad=True)", "x = data.detach().requires_grad_()"),
    ("x = Variable(data[0], True)", "x = data[0].detach().requires_grad_()"),
    ("x = Variable(torch.ones(2), requires_grad=False)", "x = torch.ones(2)"),
    ("x = Variable(torch.ones(2), requires_grad=flag)", "x = torch.ones(2).requires_grad_(flag)"),
    ("x = Variable(a + b) * 2", "x = (a + b) * 2"),
    ("x = Variable(a + b, requires_grad=True)", "x = (a + b).detach().requires_grad_()"),
    ("x, y = Variable(x), Variable(y)  # both", "x, y = x, y  # both"),
    ("x = Variable( Variable(a).data , requires_grad = True )", "x = a.data.detach().requires_grad_()"),
    ("y.backward(retain_variables=True)", "y.backward(retain_graph=True)"),
    ("y.backward(grad_variables = g)", "y.backward(gradient = g)"),
    ("autograd.backward([y], grad_variables=[g], retain_variables=False)", "autograd.backward([y], grad_tensors=[g], retain_graph=False)"),
    ("torch.autograd.backward(variables=[y])", "torch.autograd.backward(tensors=[y])"),
    ("f = y.creator.previous_functions[0][0]", "f = y.grad_fn.next_functions[0][0]"),
    ("x, = ctx.saved_variables", "x, = ctx.saved_tensors"),
    ("x = variable([1.0], requires_grad=True)", "x = torch.tensor([1.0], requires_grad=True)"),
    ("p.data.add_(-lr, p.grad.data)", "p.data.add_(p.grad.data, alpha=-lr)"),
    ("v.mul_(0.9).addcmul_(1 - beta, g, g)", "v.mul_(0.9).addcmul_(g, g, value=1 - beta)"),
    ("z = torch.add(x, 2, y)", "z = torch.add(x, y, alpha=2)"),
    ("x = x.cuda(async=True)", "x = x.cuda(non_blocking=True)"),
    ("x = Variable(x.cuda(async=True)).add_(2, Variable(y))", "x = x.cuda(non_blocking=True).add_(y, alpha=2)"),
    ("r = torch.matrix_rank(A)", "r = torch.linalg.matrix_rank(A)"),
    ("torch.nn.init.xavier_uniform(w)", "torch.nn.init.xavier_uniform_(w)"),
    ("torch.nn.utils.clip_grad_norm(p, 1.0)", "torch.nn.utils.clip_grad_norm_(p, 1.0)"),
    ("y = torch.nn.functional.sigmoid(torch.ger(a, b))", "y = torch.sigmoid(torch.outer(a, b))"),
    ("y.masked_copy_(mask, x)", "y.masked_scatter_(mask, x)"),
    ("é = 'ü'; x = Variable(é)", "é = 'ü'; x = é"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), REWRITTEN)
def test_rewritten(old, new):
    assert migrate(HEAD + old + "\n") == HEAD + new + "\n"
    assert list_outdated(HEAD + old + "\n") and all(f.line == 4 for f in list_outdated(HEAD + old + "\n"))
    assert list_outdated(HEAD + new + "\n") == []


BY_HAND = [
    ("x = Variable(data, volatile=True)", "with torch.no_grad():"),
    ("if x.volatile: pass", "with torch.no_grad():"),
    ("action.reinforce(r)", "log_prob"),
    ("print(loss.data[0])", ".item()"),
    ("x, lu = torch.gesv(b, A)", "torch.linalg.solve(A, B)"),
    ("e, v = torch.symeig(A, eigenvectors=True)", "torch.linalg.eigh(A)"),
    ("x = torch.range(0, 3)", "torch.arange"),
    ("q = torch.btrifact(A)", "lu_factor"),
    ("x = Variable(*args)", "a tensor is a Variable"),
    ("class F(Function):\n    def forward(self, x):\n        return x", "@staticmethod"),
    ("x = Variable(data,  # the data\n    requires_grad=True)", "the tensor itself"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "advice"), BY_HAND)
def test_named_but_left_to_the_reader(source, advice):
    (finding,) = list_outdated(HEAD + source + "\n")
    assert finding.by_hand and advice in finding.new
    assert migrate(HEAD + source + "\n") == HEAD + source + "\n"


@pytest.mark.parametrize("source", [
    "x = torch.ones(2, requires_grad=True)", "y.backward(retain_graph=True)", "seen.add(3)", "x.add_(y, alpha=2)", "x.add_(y)",
    "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x", "x = Variables(data)", "# Variable(data)",
    "s = 'x.creator'", "async def f(): pass", "row = x.data[1]",
])  # fmt: skip
def test_migration_leaves_current_code_alone(source):
    assert list_outdated(HEAD + source + "\n") == []
    assert migrate(HEAD + source + "\n") == HEAD + source + "\n"


def test_programs_without_torch_are_left_alone():
    source = "from django.db import models\nprint(book.creator, Variable(3))\n"
    assert list_outdated(source) == [] and migrate(source) == source


def test_other_names_for_the_same():
    source = "from torch.autograd import Variable as V\nimport torch as T\nx = V(T.ones(2))\ny = T.autograd.Variable(x)\n"
    assert migrate(source).splitlines()[2:] == ["x = T.ones(2)", "y = x"]


def test_layout_and_comments_are_kept():
    source = (
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport torch\nfrom torch.autograd import Variable\n\n\n"
        "x = Variable( torch.ones( 2,3 ),requires_grad = True )   # weights; Variable(x)\n"
        "y = Variable(\n    torch.ones(2)\n)\n\tif_tab = 1\n".replace("\tif_tab", "if_tab")
    )
    lines = migrate(source).split("\n")
    assert lines[:6] == source.split("\n")[:6]
    assert lines[6] == "x = torch.ones( 2,3 ).requires_grad_()   # weights; Variable(x)"
    assert lines[7:] == ["y = torch.ones(2)", "if_tab = 1", ""]


PROGRAMS = sorted((Path(__file__).parent / "programs").glob("v0[123]*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_rewritten_program_prints_the_same(path, tmp_path):
    renewed = tmp_path / path.name
    renewed.write_text(migrate(path.read_text()))
    ast.parse(renewed.read_text())
    printed = [
        subprocess.run([sys.executable, "-W", "ignore", "-m", "wengert", "run", str(p)], capture_output=True, text=True, check=True).stdout
        for p in (path, renewed)
    ]
    assert printed[0] == printed[1] and printed[0]
    assert renewed.read_text() != path.read_text()


# -- the command -----------------------------------------------------------------------------------------------------------


def test_the_command_lists_file_line_and_modern_form(tmp_path, capsys):
    file = tmp_path / "old.py"
    file.write_text(HEAD + "\nx = Variable(d)\nx.backward(retain_variables=True)\nprint(x.data[0])\n")
    before = file.read_bytes()
    assert migrate_files([str(file)], write=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:5: Variable(...) -> the tensor itself",
        f"{file}:6: retain_variables= -> retain_graph=",
        f"{file}:7: .data[0] -> .item(), where the tensor has no dimensions (by hand)",
    ]
    assert file.read_bytes() == before


def test_write_keeps_encoding_and_line_ends(tmp_path, capsys):
    file = tmp_path / "old.py"
    text = "# -*- coding: latin-1 -*-\r\n" + HEAD.replace("\n", "\r\n") + "n = 'é'\r\nx = Variable(n).add_(2, y)\r\n"
    file.write_bytes(text.encode("latin-1"))
    assert migrate_files([str(file)], write=True) == 0
    assert file.read_bytes() == text.replace("Variable(n).add_(2, y)", "n.add_(y, alpha=2)").encode("latin-1")
    assert migrate_files([str(file)], write=True) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_files_that_cannot_be_read_are_reported_and_left(tmp_path, capsys):
    broken, good = tmp_path / "broken.py", tmp_path / "good.py"
    broken.write_text("import torch\nx = (\n")
    good.write_text("import torch\n")
    assert migrate_files([str(broken), str(tmp_path / "none.py"), str(good)], write=True) == 2
    assert broken.read_text() == "import torch\nx = (\n"
    errors = capsys.readouterr().err
    assert "broken.py" in errors and "none.py" in errors and "good.py" not in errors


def test_from_the_command_line(tmp_path):
    file = tmp_path / "old.py"
    file.write_text("from torch.autograd import Variable\nx = Variable(d)\n")
    done = subprocess.run([sys.executable, "-m", "wengert", "migrate", "--write", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "old.py:2: Variable(...)" in done.stdout
    assert file.read_text().splitlines()[1] == "x = d"

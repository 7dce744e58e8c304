"""Rules that find spellings that torch has given up in a program's syntax tree, and their replacements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

Edit = tuple[int, int, str]  # first byte, byte after the last, replacement


class Finding(NamedTuple):
    """One outdated spelling. edits: in the order of the text; empty if the spelling must be rewritten by hand."""

    line: int
    old: str
    new: str
    edits: tuple[Edit, ...] = ()
    by_hand: bool = False


def find_outdated(source: str) -> list[Finding]:
    """Return the outdated spellings, by line, of a program that imports torch or wengert, else [].

    Raises SyntaxError if the source does not parse."""
    program = _Program(source)
    if not program.imports:
        return []
    found = [finding for node in ast.walk(program.tree) for rule in _RULES for finding in rule(program, node)]
    return sorted(found, key=lambda finding: finding.line)


class _Program:
    """A parsed program: the positions of its nodes in the text, and the full names behind its imported names."""

    def __init__(self, source: str) -> None:
        self.text = source.encode()
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.imports = dict(_imported_names(self.tree))

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """Return (first byte, byte after the last) of a node."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end_column

    def source_of(self, node: ast.expr) -> str:
        """Return the source text of a node."""
        start, end = self.span(node)
        return self.text[start:end].decode()

    def rewrite(self, line: int, old: str, new: str, edits: tuple[Edit, ...]) -> Finding:
        """Return a finding with edits, or one to rewrite by hand if the edits would delete a comment."""
        if any(b"#" in self.text[start:end] for start, end, _ in edits):
            return Finding(line, old, new, by_hand=True)
        return Finding(line, old, new, edits)

    def full_name(self, node: ast.expr) -> str:
        """Return the full name of a name or attribute, such as "torch.autograd.Variable"; "" for any other node."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, "")
        if isinstance(node, ast.Attribute):
            home = self.full_name(node.value)
            return f"{home}.{node.attr}" if home else ""
        return ""


def _imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (name in the program, full name under torch) of each import from torch or wengert."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root, _, rest = alias.name.partition(".")
                if root in ("torch", "wengert"):
                    full = "torch" + (f".{rest}" if rest else "")
                    yield (alias.asname, full) if alias.asname else (root, "torch")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ("torch", "wengert"):
            home = "torch" + node.module.removeprefix(node.module.split(".")[0])
            for alias in node.names:
                yield alias.asname or alias.name, f"{home}.{alias.name}"


# -- rules: each yields the findings of one node -----------------------------------------------------------------------


def _variables(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find Variable(x), Variable(x, requires_grad=True), Variable(x, volatile=True)."""
    if not isinstance(node, ast.Call) or not program.full_name(node.func).endswith("autograd.Variable"):
        return
    given = dict(zip(("data", "requires_grad", "volatile"), node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    old = program.source_of(node.func) + "(...)"
    if "volatile" in given:
        yield Finding(node.lineno, "volatile=", "with torch.no_grad():", by_hand=True)
        return
    starred = any(isinstance(x, ast.Starred) for x in node.args) or any(k.arg is None for k in node.keywords)
    if starred or set(given) - {"data", "requires_grad"} or "data" not in given:
        yield Finding(node.lineno, old, "a tensor is a Variable", by_hand=True)
        return
    data, wanted = given["data"], given.get("requires_grad")
    suffix = ""
    if wanted is not None and not (isinstance(wanted, ast.Constant) and wanted.value is False):
        argument = "" if isinstance(wanted, ast.Constant) and wanted.value is True else program.source_of(wanted)
        # The result of a call is a new tensor. Any other tensor may have other users, so its requires_grad stays.
        suffix = f"{'' if isinstance(data, ast.Call) else '.detach()'}.requires_grad_({argument})"
    atom = isinstance(data, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) and data.lineno == data.end_lineno
    (start, end), (first, last) = program.span(node), program.span(data)
    edits = ((start, first, "" if atom else "("), (last, end, ("" if atom else ")") + suffix))
    yield program.rewrite(node.lineno, old, f"the tensor itself{', ' + suffix if suffix else ''}", edits)


_ATTRIBUTES = {"creator": "grad_fn", "previous_functions": "next_functions", "saved_variables": "saved_tensors"}


def _attributes(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find attributes that have other names now, such as x.creator."""
    if not isinstance(node, ast.Attribute):
        return
    _, end = program.span(node)
    if node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load):
        new = _ATTRIBUTES[node.attr]
        edits = ((end - len(node.attr), end, new),)
        yield Finding(node.end_lineno or node.lineno, f".{node.attr}", f".{new}", edits)
    if node.attr == "volatile":
        yield Finding(node.end_lineno or node.lineno, ".volatile", "with torch.no_grad():", by_hand=True)


def _keywords(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find arguments of backward and grad that have other names now."""
    if not isinstance(node, ast.Call):
        return
    full_name = program.full_name(node.func)
    if full_name == "torch.autograd.backward":
        renames = {"retain_variables": "retain_graph", "grad_variables": "grad_tensors", "variables": "tensors"}
    elif full_name == "torch.autograd.grad":
        renames = {"retain_variables": "retain_graph", "grad_variables": "grad_outputs"}
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
        renames = {"retain_variables": "retain_graph", "grad_variables": "gradient", "grad_tensors": "gradient"}
    else:
        return
    for keyword in node.keywords:
        new = renames.get(keyword.arg or "")
        if new is not None and keyword.arg is not None:
            start, _ = program.span(keyword)
            edits = ((start, start + len(keyword.arg), new),)
            yield Finding(keyword.lineno, f"{keyword.arg}=", f"{new}=", edits)


_FACTORS = {"add": (1, "alpha"), "sub": (1, "alpha"), "addcmul": (2, "value"), "addcdiv": (2, "value")}


def _factors(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find x.add_(2, y) and torch.add(x, 2, y): a factor before the operand that it multiplies."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return
    name = node.func.attr.removesuffix("_")
    if name not in _FACTORS or any(isinstance(x, ast.Starred) for x in node.args):
        return
    n_operands, factor = _FACTORS[name]
    is_function = program.full_name(node.func) == f"torch.{name}"
    args = node.args[1:] if is_function else node.args
    if len(args) != 1 + n_operands:
        return
    operands = ", ".join([program.source_of(x) for x in args[1:]])
    edits = ((program.span(args[0])[0], program.span(args[-1])[1], f"{operands}, {factor}={program.source_of(args[0])}"),)
    yield program.rewrite(node.lineno, f"{node.func.attr}({factor}, ...)", f"{node.func.attr}(..., {factor}=)", edits)


def _calls(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find variable(...), and spellings to rewrite by hand: reinforce, .data[0]."""
    if isinstance(node, ast.Call) and program.full_name(node.func) == "torch.autograd.variable":
        known = program.imports.get("torch") == "torch"
        edits = ((*program.span(node.func), "torch.tensor"),) if known else ()
        yield Finding(node.lineno, f"{program.source_of(node.func)}(...)", "torch.tensor(...)", edits, by_hand=not known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reinforce":
        yield Finding(node.lineno, ".reinforce(reward)", "loss -(log_prob(sample) * reward).sum()", by_hand=True)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "data"
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 0
    ):
        yield Finding(node.lineno, ".data[0]", ".item(), where the tensor has no dimensions", by_hand=True)


# Functions that have other names now, under torch, and take the same arguments.
_RENAMED = {
    "matrix_rank": "linalg.matrix_rank", "potri": "cholesky_inverse", "potrs": "cholesky_solve", "btriunpack": "lu_unpack",
    "ger": "outer", "nn.functional.tanh": "tanh", "nn.functional.sigmoid": "sigmoid",
    "nn.functional.upsample": "nn.functional.interpolate", "nn.utils.clip_grad_norm": "nn.utils.clip_grad_norm_",
    **{f"nn.init.{name}": f"nn.init.{name}_" for name in (
        "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
        "orthogonal",
    )},
}  # fmt: skip

# Functions whose successors take other arguments or return other results.
_SUCCEEDED = {
    "gesv": "torch.linalg.solve(A, B)", "solve": "torch.linalg.solve(A, B)", "symeig": "torch.linalg.eigh(A)",
    "eig": "torch.linalg.eig(A)",
    "gels": "torch.linalg.lstsq(A, B)", "lstsq": "torch.linalg.lstsq(A, B)", "trtrs": "torch.linalg.solve_triangular(A, B, upper=)",
    "triangular_solve": "torch.linalg.solve_triangular(A, B, upper=)", "potrf": "torch.linalg.cholesky(A, upper=)",
    "btrifact": "torch.linalg.lu_factor(A)", "btrifact_with_info": "torch.linalg.lu_factor_ex(A)",
    "btrisolve": "torch.linalg.lu_solve(LU, pivots, B)", "pstrf": "torch.linalg.cholesky(A)",
    "range": "torch.arange(start, end + step, step)",
    "rfft": "torch.fft.rfft(x)", "irfft": "torch.fft.irfft(x)", "ifft": "torch.fft.ifft(x)",
    "nn.functional.upsample_nearest": 'torch.nn.functional.interpolate(..., mode="nearest")',
    "nn.functional.upsample_bilinear": 'torch.nn.functional.interpolate(..., mode="bilinear", align_corners=True)',
    "set_default_tensor_type": "torch.set_default_dtype(dtype)",
}  # fmt: skip
_RENAMED_METHODS = {"masked_copy_": "masked_scatter_"}


def _renamed(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find functions and methods that have other names now, such as torch.matrix_rank and torch.gesv."""
    if not isinstance(node, (ast.Attribute, ast.Name)) or not isinstance(node.ctx, ast.Load):
        return
    name = program.full_name(node).removeprefix("torch.")
    if name in _SUCCEEDED:
        yield Finding(node.lineno, program.source_of(node), _SUCCEEDED[name], by_hand=True)
    elif name in _RENAMED:
        new, old = f"torch.{_RENAMED[name]}", program.source_of(node)
        known = program.imports.get("torch") == "torch"
        edits = ((*program.span(node), new),) if known else ()
        yield Finding(node.lineno, old, new, edits, by_hand=not known)
    elif isinstance(node, ast.Attribute) and node.attr in _RENAMED_METHODS:
        _, end = program.span(node)
        new = _RENAMED_METHODS[node.attr]
        yield Finding(node.end_lineno or node.lineno, f".{node.attr}", f".{new}", ((end - len(node.attr), end, new),))


def _functions(program: _Program, node: ast.AST) -> Iterator[Finding]:
    """Find Functions whose forward is an instance method."""
    if not isinstance(node, ast.ClassDef):
        return
    if not any(program.full_name(base).endswith(("autograd.Function", "function.InplaceFunction")) for base in node.bases):
        return
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "forward" and not item.decorator_list:
            new = f"@staticmethod def forward(ctx, ...), {node.name}.apply(...)"
            yield Finding(item.lineno, f"def forward({item.args.args[0].arg if item.args.args else ''}, ...)", new, by_hand=True)


_RULES: tuple[Callable[[_Program, ast.AST], Iterator[Finding]], ...] = (
    _variables, _attributes, _keywords, _factors, _calls, _renamed, _functions,
)  # fmt: skip

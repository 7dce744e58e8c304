"""C loops of forms: pointwise expressions, reductions, softmax and small products, over arrays of fixed sizes and strides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from math import prod
from typing import Any

import numpy as np

from wengert.kernels import native
from wengert.kernels.c_source import in_c, literal
from wengert.program.c_forms import Access, Cell, Product, Reduction, Softmax, accesses_read, c_type, fixed_number
from wengert.program.c_text import Body, collapsed, expression, helper_of

# -- pointwise ---------------------------------------------------------------------------------------------------------


def write_cells(body: Body, forms: list[Cell]) -> None:
    """Write the loops of pointwise forms, but those whose results nothing reads."""
    needed: list[Cell] = []
    read: set[Access] = set()
    for x in reversed(forms):
        if x.out.storage not in body.memory.registers or x.out in read:
            needed.append(x)
            read.update(accesses_read(x))
    forms = needed[::-1]
    if not forms:
        return
    accesses = dict.fromkeys([y for x in forms for y in (*accesses_read(x), x.out) if y.storage not in body.memory.registers])
    sizes, strides = collapsed(forms[0].shape, accesses)
    counters = [f"i{d}" for d in range(len(sizes))]
    written = [y for y in dict.fromkeys([x.out for x in forms]) if y.storage not in body.memory.registers]
    for d, n in enumerate(sizes):
        if d == 0:
            body.outermost_loop(counters[0], n, [(sizes, strides[y], y.dtype.itemsize) for y in written])
        else:
            body.loop(counters[d], n, d + 1)
    indent = len(sizes) + 1
    _write_elements(body, forms, strides, counters, indent)
    _close(body, indent, 1)


def _write_elements(body: Body, forms: Sequence[Cell], strides: Any, counters: list[str], indent: int) -> dict[Access, str]:
    """Write what computes one element of each form. Return the variables that hold them."""
    known: dict[Access, str] = {}
    last = {x.out: i for i, x in enumerate(forms)}
    for i, x in enumerate(forms):
        real = x.dtype
        texts = [_operand(body, y, real, known, strides, counters, indent) for y in x.operands]
        text = expression(body, x.template, texts, real)
        name = body.name()
        body.add(f"const {c_type(x.out.dtype)} {name} = {cast_text(text, real, x.out.dtype)};", indent)
        for other in [y for y in known if y.storage is x.out.storage]:
            del known[other]
        known[x.out] = name
        if x.out.storage not in body.memory.registers and (last[x.out] == i or not counters):
            body.written.add(x.out.storage)
            body.add(f"{body.element(x.out, counters, strides[x.out])} = {name};", indent)
    return known


def cast_text(text: str, source: Any, target: Any) -> str:
    """Return the text of a number of one dtype as another one. source: None if there is no one dtype, and so no cast."""
    if source is None or source == target or target.kind == "b":
        return text
    return f"({c_type(target)})({text})"


def _operand(body: Body, x: Any, dtype: Any, known: dict[Access, str], strides: Any, counters: list[str], indent: int) -> str:
    """Return the text of an operand: a number, or a variable, which is loaded if it is not known."""
    if not isinstance(x, Access):
        return literal(x, dtype if dtype is not None or isinstance(x, int) else np.dtype(np.float64))
    if x not in known:
        constant = fixed_number(x)
        if constant is not None:
            return literal(constant, dtype if dtype is not None else x.dtype)
        known[x] = body.name()
        text = body.element(x, counters, strides[x])
        body.add(f"const {c_type(x.dtype)} {known[x]} = {text};", indent)
    if dtype is not None and x.dtype != dtype:
        return f"({c_type(dtype)}){known[x]}"
    return known[x]


def write_guarded(body: Body, x: Cell) -> None:
    """Write the loops of an expression that is right within limits, and of what is right elsewhere, as kernels/loops.h does."""
    assert x.template.guard is not None
    sizes, strides = collapsed(x.shape, [*accesses_read(x), x.out])
    counters = [f"i{d}" for d in range(len(sizes))]
    limits, slow_statements, slow = x.template.guard
    n = len(x.operands)
    real = x.dtype
    inside = helper_of(body, limits.removesuffix(";").replace("return ", "const int ok = ") + ";", "ok", n, real, int)
    fast = helper_of(body, x.template.statements, in_c(x.template.result, real), n, real, real)
    other = helper_of(body, slow_statements, in_c(slow, real), n, real, real)
    for d, size in enumerate(sizes[:-1]):
        body.loop(counters[d], size, d + 1)
    indent = max(len(sizes), 1)
    width = sizes[-1] if sizes else 1
    c = counters[-1] if sizes else "i0"
    used = counters if sizes else []
    body.add(f"for (int first = 0; first < {width}; first += 256) {{", indent)
    body.add(f"const int last = {width} - first < 256 ? {width} : first + 256;", indent + 1)
    body.add("int within = 1;", indent + 1)

    def operands() -> str:
        texts = []
        for y in x.operands:
            number = fixed_number(y) if isinstance(y, Access) else y
            if number is None:
                texts.append(cast_text(body.element(y, used, strides[y]), y.dtype, real))
            else:
                texts.append(literal(number, real))
        return ", ".join(texts)

    body.written.add(x.out.storage)
    loop = f"for (int {c} = first; {c} < last; {c}++)"
    body.add(f"{loop} within &= {inside}({operands()});", indent + 1)
    target = body.element(x.out, used, strides[x.out])
    for start, function in (("if (within)", fast), ("else", other)):
        text = cast_text(f"{function}({operands()})", real, x.out.dtype)
        body.add(f"{start} {loop} {target} = {text};", indent + 1)
    _close(body, indent + 1, 1)


# -- reductions --------------------------------------------------------------------------------------------------------


class _Loops:
    """Loops over some dims of a form, joined where its accesses go on evenly. name: of the counters."""

    def __init__(self, name: str, shape: tuple[int, ...], dims: Iterable[int], accesses: Iterable[Access]) -> None:
        dims = list(dims)
        parts = {x: x._replace(strides=tuple([x.strides[d] for d in dims])) for x in accesses}
        self.sizes, strides = collapsed(tuple([shape[d] for d in dims]), parts.values())
        self.strides = {x: strides[part] for x, part in parts.items()}
        self.counters = [f"{name}{d}" for d in range(len(self.sizes))]


def _open(body: Body, loops: _Loops, indent: int, n: int | None = None) -> int:
    """Open the first n loops, or all. Return the indent inside."""
    for counter, size in list(zip(loops.counters, loops.sizes, strict=True))[:n]:
        body.loop(counter, size, indent)
        indent += 1
    return indent


def _open_outer(body: Body, outer: _Loops, inner: _Loops, results: Sequence[Access], n: int | None = None) -> int:
    """Open the first n loops over what forms keep, or all. Threads may share the first one. Return the indent inside.

    results: what the forms write. If it has strides along the inner loops, it is written in these, too."""
    opened = outer.counters[:n]
    if opened:
        sizes, written = [*outer.sizes, *inner.sizes], []
        for y in results:
            strides = [*outer.strides[y], *inner.strides.get(y, [0] * len(inner.sizes))]
            written.append((sizes, strides, y.dtype.itemsize))
        body.outermost_loop(opened[0], sizes[0], written)
    for d in range(1, len(opened)):
        body.loop(opened[d], outer.sizes[d], d + 1)
    return len(opened) + 1


def _close(body: Body, indent: int, outside: int) -> None:
    while indent > outside:
        indent -= 1
        body.add("}", indent)


def _lanes(n: int, dtype: Any) -> int:
    """Return how many partial results a loop of n elements has."""
    most = 64 // dtype.itemsize
    return most if n >= most else 4 if n >= 4 else 1


def _tree(names: list[str], joined: str) -> str:
    """Return the text of the reduction of partial results, pairwise."""
    while len(names) > 1:
        names = [joined.format(a, b) for a, b in zip(names[::2], names[1::2], strict=True)]
    return names[0]


class _Terms:
    """The elements that reductions or a softmax read: of memory, or made by pointwise forms in the same loops.

    Called with counters of the inner loops, it writes what makes the elements, and returns their texts."""

    def __init__(self, body: Body, forms: Sequence[Any], cells: Sequence[Cell], outer: _Loops, inner: _Loops) -> None:
        self._body = body
        self._read = [x.x for x in forms]
        self._cells = cells
        self._outer = outer.counters
        self._strides = {y: [*outer.strides[y], *inner.strides[y]] for y in inner.strides}

    def __call__(self, counters: list[str], indent: int) -> list[str]:
        counters = [*self._outer, *counters]
        if not self._cells:
            return [self._body.element(y, counters, self._strides[y]) for y in self._read]
        known = _write_elements(self._body, self._cells, self._strides, counters, indent)
        return [known[y] for y in self._read]


def _loops_of(forms: Sequence[Any], cells: Sequence[Cell], inside: Sequence[Access] = ()) -> tuple[_Loops, _Loops]:
    """Return the loops over what reductions or a softmax keep, and those along their dims. inside: accesses of results there."""
    shape, dims = forms[0].shape, forms[0].dims
    kept = [d for d in range(len(shape)) if d not in dims]
    read = dict.fromkeys([*[x.x for x in forms], *[y for cell in cells for y in accesses_read(cell)]])
    return _Loops("i", shape, kept, [*read, *[x.out for x in forms]]), _Loops("r", shape, dims, [*read, *inside])


def _goes_down(x: Reduction, outer: _Loops, inner: _Loops) -> bool:
    """Whether results that are neighbours in memory grow side by side."""
    size = x.x.dtype.itemsize
    rows = bool(inner.sizes) and inner.strides[x.x][-1] == size
    return x.kind != "logsumexp" and not rows and bool(outer.sizes) and outer.strides[x.x][-1] == size


def may_share_loops(x: Reduction, y: Reduction) -> bool:
    """Whether two reductions can run in the same loops."""
    if (x.shape, x.dims, x.x.strides, x.x.dtype) != (y.shape, y.dims, y.x.strides, y.x.dtype):
        return False
    return all(_goes_down(z, *_loops_of([z], ())) for z in (x, y))


def _reduce_row(body: Body, name: str, start: str, joined: str, term: Any, loops: _Loops, dtype: Any, indent: int) -> None:
    """Write the reduction of terms over loops into a new variable. joined: the text of two terms, joined."""
    n = loops.sizes[-1] if loops.sizes else 1
    lanes = _lanes(n, dtype)
    real = c_type(dtype)
    body.add(f"{real} s_{name}[{lanes}] = {{{', '.join([start] * lanes)}}};", indent)
    inside = _open(body, loops, indent, max(len(loops.sizes) - 1, 0))
    *outer, last = loops.counters or ["r0"]
    whole = n // lanes * lanes

    def write(head: str, lane: str, counters: list[str], indent: int) -> None:
        body.add(f"{head}{{", indent)
        (text,) = term(counters, indent + 1)
        body.add(f"s_{name}[{lane}] = {joined.format(f's_{name}[{lane}]', text)};", indent + 1)
        body.add("}", indent)

    if not loops.sizes:
        write("", "0", [], inside)
    elif lanes == 1:
        write(f"for (int {last} = 0; {last} < {n}; {last}++) ", "0", loops.counters, inside)
    else:
        body.add(f"for (int {last} = 0; {last} < {whole}; {last} += {lanes})", inside)
        write(f"for (int l = 0; l < {lanes}; l++) ", "l", [*outer, f"({last} + l)"], inside + 1)
        if whole < n:
            write(f"for (int {last} = {whole}; {last} < {n}; {last}++) ", "0", loops.counters, inside)
    _close(body, inside, indent)
    body.add(f"const {real} {name} = {_tree([f's_{name}[{k}]' for k in range(lanes)], joined)};", indent)


def _extremum(kind: str, dtype: Any) -> str:
    return f"{'larger' if kind == 'max' else 'smaller'}_f{8 * dtype.itemsize}({{0}}, {{1}})"


def write_reductions(body: Body, forms: Sequence[Reduction], cells: Sequence[Cell]) -> None:
    """Write reductions: along rows with partial results, or down columns, whose results grow side by side.

    cells: pointwise forms that make the elements. Only reductions that may share loops come together."""
    x = forms[0]
    outer, inner = _loops_of(forms, cells)
    if _goes_down(x, outer, inner):
        _reduce_columns(body, forms, cells, outer, inner)
        return
    dtype = x.x.dtype
    indent = _open_outer(body, outer, inner, [x.out])
    term = _Terms(body, forms, cells, outer, inner)
    n = prod(inner.sizes)
    zero = literal(0, dtype)
    if x.kind in ("sum", "mean"):
        _reduce_row(body, "total", zero, "({0} + {1})", term, inner, dtype, indent)
        result = "total" if x.kind == "sum" else f"total / {literal(n, dtype)}"
    elif x.kind == "logsumexp":
        sums = _exponentials(body, term, inner, dtype, indent)
        result = f"{in_c('VM(log)', dtype)}({sums}) + base"
    else:
        start = literal(-np.inf if x.kind == "max" else np.inf, dtype)
        _reduce_row(body, "best", start, _extremum(x.kind, dtype), term, inner, dtype, indent)
        result = "best"
    body.add(f"{body.element(x.out, outer.counters, outer.strides[x.out])} = {result};", indent)
    _close(body, indent, 1)


def _exponentials(body: Body, term: _Terms, loops: _Loops, dtype: Any, indent: int) -> str:
    """Write the sum of exp(x - base), where base is the largest x, or 0 if that is infinite. Return the name of the sum."""
    _reduce_row(body, "best", literal(-np.inf, dtype), _extremum("max", dtype), term, loops, dtype, indent)
    absolute = in_c("LIBM(fabs)", dtype)
    body.add(f"const {c_type(dtype)} base = {absolute}(best) == INFINITY ? {literal(0, dtype)} : best;", indent)
    exp = in_c("VM(exp)", dtype)

    def exponential(counters: list[str], indent: int) -> list[str]:
        return [f"{exp}({text} - base)" for text in term(counters, indent)]

    _reduce_row(body, "sums", literal(0, dtype), "({0} + {1})", exponential, loops, dtype, indent)
    return "sums"


def _reduce_columns(body: Body, forms: Sequence[Reduction], cells: Sequence[Cell], outer: _Loops, inner: _Loops) -> None:
    """Reduce down columns. The results of a row of columns are kept in a small array."""
    dtype = forms[0].x.dtype
    real = c_type(dtype)
    n = outer.sizes[-1]
    width = min(n, 512 // dtype.itemsize)
    indent = _open_outer(body, outer, inner, [x.out for x in forms], len(outer.sizes) - 1)
    last = outer.counters[-1]
    columns = copy(outer)
    columns.counters = [*outer.counters[:-1], f"({last} + j)"]
    term = _Terms(body, forms, cells, columns, inner)
    names = [f"s{k}" for k in range(len(forms))]
    for first, count, step in ((0, n // width * width, width), (n // width * width, n, n % width)):
        if count <= first:
            continue
        body.add(f"for (int {last} = {first}; {last} < {count}; {last} += {step}) {{", indent)
        body.add(f"{real} {', '.join([f'{s}[{step}]' for s in names])};", indent + 1)
        for x, s in zip(forms, names, strict=True):
            start = literal({"max": -np.inf, "min": np.inf}.get(x.kind, 0), dtype)
            body.add(f"for (int j = 0; j < {step}; j++) {s}[j] = {start};", indent + 1)
        inside = _open(body, inner, indent + 1)
        body.add(f"for (int j = 0; j < {step}; j++) {{", inside)
        for x, s, text in zip(forms, names, term(inner.counters, inside + 1), strict=True):
            joined = "{0} + {1}" if x.kind in ("sum", "mean") else _extremum(x.kind, dtype)
            body.add(f"{s}[j] = {joined.format(f'{s}[j]', text)};", inside + 1)
        _close(body, inside + 1, indent + 1)
        for x, s in zip(forms, names, strict=True):
            result = f"{s}[j] / {literal(prod(inner.sizes), dtype)}" if x.kind == "mean" else f"{s}[j]"
            place = body.element(x.out, columns.counters, outer.strides[x.out])
            body.add(f"for (int j = 0; j < {step}; j++) {place} = {result};", indent + 1)
        body.add("}", indent)
    _close(body, indent, 1)


def write_softmax(body: Body, x: Softmax, cells: Sequence[Cell]) -> None:
    """Write softmax or log_softmax along a dim. cells: pointwise forms that make the elements."""
    outer, inner = _loops_of([x], cells, [x.out])
    dtype = x.x.dtype
    indent = _open_outer(body, outer, inner, [x.out])
    term = _Terms(body, [x], cells, outer, inner)
    sums = _exponentials(body, term, inner, dtype, indent)
    if x.kind == "log_softmax":
        body.add(f"const {c_type(dtype)} high = {in_c('VM(log)', dtype)}({sums});", indent)
    inside = _open(body, inner, indent)
    source = f"{term(inner.counters, inside)[0]} - base"
    text = f"{in_c('VM(exp)', dtype)}({source}) / {sums}" if x.kind == "softmax" else f"({source}) - high"
    place = body.element(x.out, [*outer.counters, *inner.counters], [*outer.strides[x.out], *inner.strides[x.out]])
    body.add(f"{place} = {text};", inside)
    _close(body, inside, 1)


# -- products ----------------------------------------------------------------------------------------------------------

_ROWS = 4  # rows of x that one pass over y multiplies
_SUMS = 16  # vectors of sums that grow side by side, where there are 32 vector registers; elsewhere half
_COLUMNS = 16  # of several rows: compilers unroll shorter loops, and then do not find the vectors in them
_DOTS = 4  # columns whose sums grow side by side
_MOST_COPIED = 4096  # numbers of y that are copied when its columns are not contiguous


def write_product(body: Body, x: Product) -> None:
    """Write a product of matrices: a block of results at a time, which stays in registers."""
    batch = x.shape[:-3]
    indent = 1
    counters = []
    for d, size in enumerate(batch):
        counters.append(f"b{d}")
        body.loop(counters[-1], size, indent)
        indent += 1
    if _goes_by_columns(x) or not _goes_by_columns(_transposed(x)):
        _multiply(body, x, counters, indent)
    else:
        _multiply(body, _transposed(x), counters, indent)
    _close(body, indent, 1)


def _transposed(x: Product) -> Product:
    """Return the product of the transposed matrices, in the other order, with the same results at the same places."""

    def exchanged(a: Access) -> Access:
        *batch, m, k, n = a.strides
        return a._replace(strides=(*batch, n, k, m))

    *batch, m, k, n = x.shape
    bias = None if x.bias is None else exchanged(x.bias)
    return Product((*batch, n, k, m), exchanged(x.out), exchanged(x.y), exchanged(x.x), bias)


def _goes_by_columns(x: Product) -> bool:
    """Whether neighbouring columns of y are neighbours in memory."""
    return x.shape[-1] > 1 and x.y.strides[-1] == x.y.dtype.itemsize


def _multiply(body: Body, x: Product, batch: list[str], indent: int) -> None:
    *_, m, k, n = x.shape
    copied = not _goes_by_columns(x)
    if copied:
        if min(m, n) < 4 or k * n > _MOST_COPIED:
            _multiply_by_dots(body, x, batch, indent)
            return
        real = c_type(x.y.dtype)
        body.add(f"{real} panel[{k * n}];", indent)
        y = body.element(x.y, [*batch, "0", "l", "j"])
        body.add(f"for (int j = 0; j < {n}; j++) for (int l = 0; l < {k}; l++) panel[{n} * l + j] = {y};", indent)
    for first, rows in ((0, _ROWS), (m // _ROWS * _ROWS, m % _ROWS)):
        count = m // _ROWS if rows == _ROWS and first == 0 else 1
        if rows == 0 or count == 0:
            continue
        body.add(f"for (int i = {first}; i < {first + rows * count}; i += {rows}) {{", indent)
        for start, widths, parts in _blocks(n, x.y.dtype, rows):
            columns = sum(widths)
            body.add(f"for (int c = {start}; c < {start + columns * parts}; c += {columns}) {{", indent + 1)
            _multiply_block(body, x, batch, rows, widths, f"panel[{n} * l + %s]" if copied else "", indent + 2)
            body.add("}", indent + 1)
        body.add("}", indent)


def _blocks(n: int, dtype: Any, rows: int) -> Iterable[tuple[int, list[int], int]]:
    """Yield how n columns are cut: the first column, widths of groups of columns that run side by side, and how often they follow.

    A group of a row is a vector register or some. There are enough of them to hide the time until a sum is ready for its next term,
    and not more than the processor has."""
    vector = 64 if native is not None and native.level == "v4" else 32
    width = vector // dtype.itemsize if rows == 1 else _COLUMNS
    sums = _SUMS * vector // 64
    most = max(sums * vector // (rows * width * dtype.itemsize), 1)
    whole, rest = divmod(n, width)
    blocks = max(-(-whole // most), 1)
    each = -(-whole // blocks)
    before = max(whole - 1, 0) // max(each, 1)
    if before:
        yield 0, [width] * each, before
    if whole:
        yield before * each * width, [width] * (whole - before * each), 1
    if rest:
        yield whole * width, [rest], 1


def _multiply_block(
    body: Body, x: Product, batch: list[str], rows: int, widths: list[int], copied: str, indent: int
) -> None:
    """Write `rows` rows from i on, and groups of these widths of columns from c on, of a product."""
    k = x.shape[-2]
    real = c_type(x.y.dtype)
    groups = [(g, sum(widths[:g]), columns) for g, columns in enumerate(widths)]
    for g, _, columns in groups:
        for r in range(rows):
            body.add(f"{real} s{r}_{g}[{columns}] = {{0}};", indent)
    body.add(f"for (int l = 0; l < {k}; l++) {{", indent)
    for r in range(rows):
        body.add(f"const {real} a{r} = {body.element(x.x, [*batch, _plus('i', r), 'l', '0'])};", indent + 1)
    fma = _fma(x.y.dtype)
    for g, first, columns in groups:
        body.add(f"for (int j = 0; j < {columns}; j++) {{", indent + 1)
        column = _plus("(c + j)", first)
        y = copied % column if copied else body.element(x.y, [*batch, "0", "l", column])
        body.add(f"const {real} b = {y};", indent + 2)
        for r in range(rows):
            body.add(f"s{r}_{g}[j] = {fma}(a{r}, b, s{r}_{g}[j]);", indent + 2)
        body.add("}", indent + 1)
    body.add("}", indent)
    for g, first, columns in groups:
        for r in range(rows):
            place = [*batch, _plus("i", r), "0", _plus("(c + j)", first)]
            bias = "" if x.bias is None else f" + {body.element(x.bias, place)}"
            body.add(f"for (int j = 0; j < {columns}; j++) {body.element(x.out, place)} = s{r}_{g}[j]{bias};", indent)


def _plus(counter: str, n: int) -> str:
    return f"({counter} + {n})" if n else counter


def _fma(dtype: Any) -> str:
    return "VM_FMAF" if dtype.itemsize == 4 else "VM_FMA"


def _multiply_by_dots(body: Body, x: Product, batch: list[str], indent: int) -> None:
    """Write a product as dot products of rows and columns, some columns at a time."""
    if x.shape[-3] > x.shape[-1]:
        x = _transposed(x)
    *_, m, k, n = x.shape
    dtype = x.y.dtype
    lanes = _lanes(k, dtype)
    real, fma = c_type(dtype), _fma(dtype)
    whole = k // lanes * lanes
    body.loop("i", m, indent)
    for start, columns in ((0, _DOTS), (n // _DOTS * _DOTS, n % _DOTS)):
        end = n // _DOTS * _DOTS if columns == _DOTS else n
        if end <= start or columns == 0:
            continue
        body.add(f"for (int c = {start}; c < {end}; c += {columns}) {{", indent + 1)
        names = [(_plus("c", g), f"s{g}") for g in range(columns)]
        body.add(f"{real} {', '.join([f'{s}[{lanes}] = {{0}}' for _, s in names])};", indent + 2)

        def add_terms(r: str, lane: str, indent: int, names: Any = names) -> None:
            body.add(f"const {real} a = {body.element(x.x, [*batch, 'i', r, '0'])};", indent)
            for c, s in names:
                body.add(f"{s}[{lane}] = {fma}(a, {body.element(x.y, [*batch, '0', r, c])}, {s}[{lane}]);", indent)

        if whole:
            body.add(f"for (int r = 0; r < {whole}; r += {lanes}) for (int l = 0; l < {lanes}; l++) {{", indent + 2)
            add_terms("(r + l)", "l", indent + 3)
            body.add("}", indent + 2)
        if whole < k:
            body.add(f"for (int l = 0; l < {k - whole}; l++) {{", indent + 2)
            add_terms(_plus("l", whole), "l", indent + 3)
            body.add("}", indent + 2)
        half = lanes // 2
        while half:
            sums = " ".join([f"{s}[l] += {s}[l + {half}];" for _, s in names])
            body.add(f"for (int l = 0; l < {half}; l++) {{ {sums} }}", indent + 2)
            half //= 2
        for c, s in names:
            place = [*batch, "i", "0", c]
            bias = "" if x.bias is None else f" + {body.element(x.bias, place)}"
            body.add(f"{body.element(x.out, place)} = {s}[0]{bias};", indent + 2)
        body.add("}", indent + 1)
    body.add("}", indent)


def write_forms(body: Body, forms: list[Any]) -> None:
    """Write the loops of the forms of a nest: pointwise ones alone, or another one after those that make what it reads."""
    x = forms[-1]
    cells = [y for y in forms if isinstance(y, Cell)]
    if isinstance(x, Reduction):
        write_reductions(body, forms[len(cells) :], cells)
    elif isinstance(x, Softmax):
        write_softmax(body, x, cells)
    elif isinstance(x, Product):
        write_product(body, x)
    elif x.template.guard is not None:
        write_guarded(body, x)
    else:
        write_cells(body, forms)

"""Small programs as data: lists of steps that a strategy of hypothesis draws and shrinks, and that any library can run.

A step is (name, i, j, k): what to do, to which of the tensors made so far (counted round), and in which variant. What
can not be done with these tensors, in wengert as in torch, raises, and the program goes on; a failed backward pass ends it.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from twins import Described, attempt, describe, describe_rebuilt

STEPS = {}


def step(function):
    """Makes a function of (program, i, j, k) a step, under its own name."""
    STEPS[function.__name__] = function
    return function


def programs(names=None, max_steps=12):
    """A strategy for programs of the steps of these names; None: of all."""
    small = st.integers(0, 7)
    return st.lists(st.tuples(st.sampled_from(sorted(names or STEPS)), small, small, small), min_size=1, max_size=max_steps)


class Failed(Exception):
    """A backward pass has failed: it is logged, and the program ends."""


class Program:
    """One run of a program: the tensors, and a log of what happened."""

    def __init__(self, library):
        self.torch = library
        self.tensors = [self.leaf((2, 3)), self.leaf((3,), 0.3), self.leaf((2, 3), 0.7, False), self.leaf((), 1.1)]
        self.leaves = list(self.tensors)
        self.half = library.tensor(0.5, dtype=library.float64)  # a number would be nothing to save, in wengert alone
        self.log = []

    def leaf(self, shape, first=0.1, requires_grad=True):
        count = int(np.prod(shape))
        return self.torch.tensor(np.arange(count).reshape(shape) * 0.125 + first).requires_grad_(requires_grad)

    def __getitem__(self, i):
        return self.tensors[i % len(self.tensors)]

    def note(self, *what):
        """Log gradients and texts. The node of a gradient's gradient is not compared: rules are made of different operations."""
        shown = [describe(x, self.torch) for x in what]
        self.log.append([{**x, "grad_fn": None, "output_nr": 0} if isinstance(x, dict) and "grad_fn" in x else x for x in shown])

    def run(self, steps):
        """Run the steps and log the outcome of each."""
        for name, i, j, k in steps:
            self.log.append(name)
            try:
                attempt(self.log, self.take, STEPS[name], i, j, k)
            except Failed as failure:
                self.log.append(failure.args[0])
                break
            self.log.append([self.facts(x) for x in self.tensors])
        return self.log

    def take(self, function, i, j, k):
        made = function(self, i, j, k)
        if made is not None:
            self.tensors.extend(made if isinstance(made, tuple) else (made,))

    def facts(self, x):
        """All that can be seen of a tensor; or the error of looking at a view that may not be used any more."""
        found = []
        attempt(found, lambda: found.append(describe_rebuilt(x, self.torch)))
        found.append("inference" if x.is_inference() else x._version)
        found.append(x.retains_grad)
        found.append(None if x.grad is None else Described(values=describe(x.grad.detach(), self.torch)["values"]))
        return found

    def differentiate(self, *roots, **options):
        """Run a backward pass from the sum of roots.

        A pass that fails ends the program, because the gradients it leaves in the leaves are torch's own affair.
        """
        ended = []
        total = sum(((r * r).sum() for r in roots[1:]), (roots[0] * 2).sum())
        attempt(ended, lambda: total.backward(**options))
        if ended != ["fine"]:
            raise Failed(ended[0])


# -- operations ------------------------------------------------------------------------------------------------------------


@step
def combine(p, i, j, k):
    return (lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y * p.half, lambda x, y: x / (y * y + 1))[k % 4](p[i], p[j])


@step
def apply(p, i, j, k):
    x = p[i]
    return (x.tanh, x.exp, x.sin, lambda: x * p.half, x.clone, x.detach, lambda: x.sum(0), lambda: x + 1)[k]()


@step
def view(p, i, j, k):
    x = p[i]
    if x.dim() == 0 and k < 2:
        return x.view(1)  # x[0] gives the number, as it did in torch 0.1 to 0.3
    return (
        lambda: x[0],
        lambda: x[-1:],
        lambda: x.unsqueeze(0),
        lambda: x.transpose(0, -1),
        lambda: x.reshape(-1),
        lambda: x.view(-1),
        lambda: x.narrow(0, 0, 1),
        lambda: x.diagonal() if x.dim() > 1 else x.view_as(x),
    )[k]()


@step
def several_views(p, i, j, k):
    x = p[i]
    parts = (lambda: x.unbind(0), lambda: x.split(1), lambda: x.chunk(2), lambda: x.unsafe_chunk(2))[k % 4]()
    return parts[:2]


@step
def repeat_view(p, i, j, k):
    return p[i].expand(2, *p[i].shape)


# -- writes ----------------------------------------------------------------------------------------------------------------


def written(p, i):
    """A tensor to write into. torch takes a view whose base was written for a leaf until its grad_fn is asked for."""
    x = p[i]
    _ = x.grad_fn
    if any(step == 0 and n > 1 for step, n in zip(x.stride(), x.shape, strict=True)):
        raise ValueError("repeated memory: what may be written there is among the differences")
    return x


def fitting(x, y):
    """Return a copy of y, or of its sum if y has more dimensions than x.

    It is a copy because torch refuses writes whose source and target overlap.
    """
    return (y.sum() if y.dim() > x.dim() else y).clone()


@step
def write_constant(p, i, j, k):
    x = written(p, i)
    if x.dim() == 0 and k == 6:
        return  # both raise, in words of their own
    (
        lambda: x.mul_(p.half),
        lambda: x.add_(0.25),
        lambda: x.zero_(),
        lambda: x.fill_(0.25),
        lambda: x.sigmoid_(),
        lambda: x.masked_fill_(x.detach() < 0.3, 0.5),
        lambda: x.__setitem__(0, 0.125),
        lambda: x.exp_(),
    )[k]()


@step
def write(p, i, j, k):
    x = written(p, i)
    y = fitting(x, p[j])
    if x.dim() == 0 and k in (3, 4):
        return  # both raise, in words of their own
    (
        lambda: x.add_(y),
        lambda: x.mul_(y),
        lambda: x.copy_(y),
        lambda: x.__setitem__(-1, y.sum() * p.half),
        lambda: x.__setitem__(p.torch.tensor([0]), y.sum() * p.half),
        lambda: x.sub_(y, alpha=2),
        lambda: x.div_(y * y + 1),
        lambda: x.addcmul_(y, y, value=0.5),
    )[k]()


@step
def write_unrecorded(p, i, j, k):
    with p.torch.no_grad():
        write(p, i, j, k)


@step
def write_detached(p, i, j, k):
    written(p, i).detach().mul_(0.5)


@step
def cut(p, i, j, k):
    if not p[i].retains_grad:  # in torch it says so ever after
        p[i].detach_()


@step
def require(p, i, j, k):
    if not any(x._base is p[i] for x in p.tensors):  # views that are there already require grad then in torch alone
        p[i].requires_grad_(k % 2 == 0)


# -- hooks -----------------------------------------------------------------------------------------------------------------


@step
def hook(p, i, j, k):
    if p[i]._is_view():
        return  # torch forgets the hooks of a view when its base is written under no_grad
    if k % 2:
        p[i].register_hook(lambda grad: None if grad is None else grad * 1.5)
    else:
        p[i].register_hook(lambda grad: p.note("hook", i, *[] if grad is None else [grad]))


@step
def retain(p, i, j, k):
    p[i].retain_grad()


@step
def node_hook(p, i, j, k):
    if p[i]._is_view():
        return
    node = p[i].grad_fn
    if node is not None:
        if k % 3 == 0:
            node.register_hook(lambda inputs, outputs: p.note("node", i, *[g for g in outputs if g is not None]))
        elif k % 3 == 1:
            node.register_prehook(lambda outputs: p.note("before node", i, *[g for g in outputs if g is not None]))
        else:
            node.register_prehook(lambda outputs: tuple([None if g is None else g * 0.5 for g in outputs]))


@step
def leaf_hook(p, i, j, k):
    # torch calls it for a leaf that does not require grad any more, or to which no gradient came, too: then .grad is as before.
    before = [None if p[i].grad is None else p[i].grad.tolist()]

    def note(x):
        if x.requires_grad and x.grad is not None and x.grad.tolist() != before[0]:
            before[0] = x.grad.tolist()
            p.note("accumulated", i, x.grad)

    p[i].register_post_accumulate_grad_hook(note)


# -- passes ----------------------------------------------------------------------------------------------------------------


@step
def backward(p, i, j, k):
    p.differentiate(p[i], p[j], retain_graph=k % 2 == 0)


@step
def backward_into(p, i, j, k):
    # Of no leaf: torch then runs that tensor's own node as well. Both refuse what requires no gradient, in different words.
    if p[j].requires_grad and p[j].is_leaf:
        p.differentiate(p[i], retain_graph=True, inputs=[p[j]])


@step
def gradients(p, i, j, k):
    total, found = (p[i] * 2).sum(), []
    # One after the other: if a tensor and a leaf behind it are wanted together, torch gives the tensor's gradient before its hooks.
    for wanted in ([x for x in p.leaves if x.requires_grad and x.is_leaf], [p[j]] if p[j].requires_grad else []):
        if wanted:
            found += p.torch.autograd.grad(total, wanted, retain_graph=True, allow_unused=True, create_graph=k % 2 == 0)
    p.note(*[None if g is None else Described(values=describe(g.detach(), p.torch)["values"]) for g in found])
    # With a node of its own: rules and theirs are made of different operations.
    return tuple([g + 0 for g in found if g is not None][-1:]) if k % 2 == 0 else None


# -- Functions -------------------------------------------------------------------------------------------------------------


def functions_of(torch):
    """The apply of Functions of every kind, in this library."""
    Function = torch.autograd.Function

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    class Itself(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class First(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x[:1]

        @staticmethod
        def backward(ctx, grad):
            return torch.zeros(ctx.shape, dtype=grad.dtype) + grad

    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            rounded = (x * 4 + 0.3).round()  # the numbers of programs are often multiples of 1/8, so of x * 4 some would be ties
            ctx.mark_non_differentiable(rounded)
            return x * 2, rounded

        @staticmethod
        def backward(ctx, grad, _):
            return grad * 2 + _

    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0].cos()

    class Unneeded(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, one, two):
            return None if one is None else one if two is None else one + two

    return [f.apply for f in (Square, Exp, Triple, Itself, First, Both, Once, Unneeded)]


@step
def call(p, i, j, k):
    x = written(p, i)
    result = functions_of(p.torch)[k](x)
    return result if k != 2 else None

"""The tutorial "Autograd: automatic differentiation" (torch 0.3 on 1.x): its cells on the CPU, and what they show.

Cells 1 to 5 move a tensor to a GPU: not here.
"""

import re

import pytest

import wengert
from cells import hide_addresses, pretty, run_cell, run_cells

CUSTOM_ADD = '''
import torch
from torch.autograd import Variable

class custom_add(torch.autograd.Function): 
    """
    forward and backward both use tensor.
    """
    @staticmethod
    def forward(ctx, input, input2):
        ctx.save_for_backward(input,input2)
        output = input + input2
        return output
    
    @staticmethod
    def backward(ctx,grad_output):
        input1, input2=ctx.saved_tensors
        grad_input=grad_output.clone()
        return grad_input,grad_input
'''

CELLS = [
    (1, "import torch\nfrom torch.autograd import Variable", ""),
    (
        6,
        "a = Variable(torch.Tensor([1]),requires_grad=True) \n"
        "b = Variable(torch.Tensor([2]),requires_grad=True)\n"
        "c = Variable(torch.Tensor([3]),requires_grad=True)",
        "",
    ),
    (7, "d = a + 2*b\ne = d + c", ""),
    (8, "e.backward()", ""),
    (9, "print(a.grad,b.grad,c.grad)", "tensor([1.]) tensor([2.]) tensor([1.])"),
    (10, "d.grad", ""),
    (11, "a.grad_fn", ""),
    (12, "e.grad_fn", "<AddBackward0 at 0x...>"),
    (
        13,
        "a=Variable(torch.Tensor([1]),requires_grad=False) \nb=Variable(torch.Tensor([2]),requires_grad=True)\nc=a+b\nc.backward()",
        "",
    ),
    (14, "a.grad", ""),
    (15, "b.grad", "tensor([1.])"),
    (
        18,
        "import torch\nfrom torch.autograd import Variable\n\ndef print_grad(grad):\n    print(grad)",
        "",
    ),
    (19, "x = Variable(torch.randn([1]), requires_grad=True)", ""),
    (20, "y = x+2", ""),
    (21, "z = torch.mean(torch.pow(y, 2))", ""),
    (22, "y.register_hook(print_grad)", "<wengert.utils.hooks.RemovableHandle at 0x...>"),
    (23, "z.backward()", None),  # a random number: see test_hook_prints_the_gradient
    (24, "y.grad_fn", "<AddBackward0 at 0x...>"),
    (32, CUSTOM_ADD, ""),
    (33, "new_add = custom_add.apply", ""),
    (
        34,
        "a=Variable(torch.Tensor([1]),requires_grad=True)\nb=Variable(torch.Tensor([2]),requires_grad=True)\nc=new_add(a,b)",
        "",
    ),
    (35, "c", "tensor([3.], grad_fn=<custom_addBackward>)"),
    (36, "c.backward()", ""),
    (37, "a.grad", "tensor([1.])"),
    (
        38,
        "from torch.autograd import gradcheck\n"
        "input = (Variable(torch.Tensor([2]).double(), requires_grad=True), "
        "Variable(torch.Tensor([3]).double(), requires_grad=True),)\n"
        "test = gradcheck(custom_add.apply, input, eps=1e-6, atol=1e-4)",
        "",
    ),
    (39, "print(test)", "True"),
]


@pytest.fixture(scope="module")
def notebook():
    return run_cells(CELLS)


@pytest.mark.parametrize(("number", "shown"), [(n, shown) for n, _, shown in CELLS if shown is not None])
def test_cell_shows(notebook, number, shown):
    assert notebook[number].shown == shown


@pytest.mark.parametrize("number", [n for n, *_ in CELLS])
def test_cell_warns_only_of_reading_a_non_leafs_grad(notebook, number):
    assert [category for category, _ in notebook[number].warned] == ([UserWarning] if number == 10 else [])


def test_hook_prints_the_gradient(notebook):
    """d mean(y ** 2) / dy = 2 y for one element, shown with four digits."""
    assert re.fullmatch(r"tensor\(\[-?\d+\.\d{4}\]\)", notebook[23].shown)
    names = {}
    run_cell(CELLS[0][1], names)
    run_cell("def print_grad(grad):\n    print(grad)", names)
    run_cell("x = Variable(torch.Tensor([0.797]), requires_grad=True)", names)
    run_cell("y = x+2\nz = torch.mean(torch.pow(y, 2))\nhandle = y.register_hook(print_grad)", names)
    assert run_cell("z.backward()", names).shown == "tensor([5.5940])"  # the tutorial's own number
    assert names["x"].grad.item() == pytest.approx(2 * 2.797)


def test_names_of_the_operations_in_the_tutorial():
    x = wengert.ones(1, requires_grad=True)
    names = {
        "AddBackward0": x + 2,
        "MulBackward0": 2 * x,
        "PowBackward0": x**2,
        "MeanBackward0": wengert.mean(x),
        "ExpBackward0": x.exp(),
        "SumBackward0": x.sum(),
        "CloneBackward0": x.clone(),
    }
    assert {y.grad_fn.name(): name for name, y in names.items()} == {name: name for name in names}


def test_handle_and_node_in_plain_python():
    y = wengert.ones(1, requires_grad=True) + 2
    handle = y.register_hook(print)
    assert hide_addresses(repr(handle)) == "<wengert.utils.hooks.RemovableHandle object at 0x...>"
    assert hide_addresses(repr(y.grad_fn)) == "<AddBackward0 object at 0x...>"
    assert pretty(handle) == f"<wengert.utils.hooks.RemovableHandle at {id(handle):#x}>"


VOLATILE = """a=Variable(torch.Tensor([1]),volatile=True) 
b=Variable(torch.Tensor([2]),requires_grad=True)
c=a+b"""


def test_cells_16_and_17_are_about_volatile():
    """Rows A26 to A28. The tutorial's own torch had given volatile up: it showed a warning, at the caller's line, and no
    error. Its text says that backward is forbidden, and so do three other documents."""
    names = {}
    run_cell(CELLS[0][1], names)
    cell = run_cell(VOLATILE, names)
    assert cell.shown == "" and [category for category, _ in cell.warned] == [DeprecationWarning]
    assert names["c"].volatile and not names["c"].requires_grad
    with pytest.raises(RuntimeError, match="^element 0 of tensors is volatile"):
        run_cell("c.backward()", names)


def test_custom_add_runs_with_both_inputs(notebook):
    """Both gradients are the one clone; two leaves still get buffers of their own."""
    names = {}
    run_cell(CUSTOM_ADD, names)
    a = wengert.ones(1, requires_grad=True)
    b = wengert.ones(1, requires_grad=True)
    names["custom_add"].apply(a, b).backward()
    a.grad.add_(1)
    assert (a.grad.item(), b.grad.item()) == (2.0, 1.0)


def test_a_function_class_has_a_node_class_of_its_own_name():
    names = {}
    run_cell(CUSTOM_ADD, names)
    c = names["custom_add"].apply(wengert.ones(1, requires_grad=True), wengert.ones(1))
    assert type(c.grad_fn).__name__ == c.grad_fn.name() == "custom_addBackward"
    assert hide_addresses(repr(c.grad_fn)) == "<torch.autograd.function.custom_addBackward object at 0x...>"


# -- cells 40 and 41: the profiler -----------------------------------------------------------------------------------------

PROFILED = """
x = Variable(torch.randn(1, 1), requires_grad=True)
with torch.autograd.profiler.profile() as prof:
    y = x ** 2
    y.backward()
"""

# As the document shows it, but for the times; its last row breaks off where the document does.
PRINTED = """\
-----------------------------------  ---------------  ---------------  ---------------  ---------------  ---------------  ---------------  -----------------------------------  
Name                                 Self CPU total %  Self CPU total   CPU total %      CPU total        CPU time avg     Number of Calls  Input Shapes                         
-----------------------------------  ---------------  ---------------  ---------------  ---------------  ---------------  ---------------  -----------------------------------  
pow                                  20.45%           40.499us         20.45%           40.499us         40.499us         1                []                                   
torch::autograd::GraphRoot           1.04%            2.060us          1.04%            2.060us          2.060us          1                []                                   
PowBackward0                         38.66%           76.558us         38.66%           76.558us         76.558us """


def profiled_cell():
    names = {"__name__": "__main__"}
    run_cell(CELLS[0][1], names)
    run_cell(PROFILED, names)
    return run_cell("print(prof)", names).shown.split("\n"), names["prof"]


def without_numbers(line):
    """A row with its times and shares masked, of the same length."""
    return re.sub(r"[\d.]+(us|ms|%) *", lambda match: "#" * len(match.group()), line)


def test_profilers_table():
    lines, _ = profiled_cell()
    expected = PRINTED.split("\n")
    assert lines[:3] == expected[:3] and lines[-3] == expected[0]
    assert re.fullmatch(r"Self CPU time total: [\d.]+(us|ms)", lines[-2]) and lines[-1] == "CUDA time total: 0.000us"


def test_rows_of_the_profilers_table():
    lines, prof = profiled_cell()
    expected = PRINTED.split("\n")
    for line, shown in zip(lines[3:6], expected[3:6], strict=True):
        assert without_numbers(line)[: len(shown)] == without_numbers(shown)
    assert [line.split()[0] for line in lines[3:-3]][-1] == "torch::autograd::AccumulateGrad"
    assert {line[-len(expected[3].split()[-1]) - 35 :].strip() for line in lines[3:-3]} >= {"[]"}
    assert [event.count for event in prof.key_averages()] == [1] * 4


def test_times_and_shares_of_the_profiler():
    lines, prof = profiled_cell()
    total = sum(event.self_cpu_time_total for event in prof.function_events)
    for line, event in zip(lines[3:-3], prof.function_events, strict=True):
        name, share, own, whole_share, whole, mean, calls, shapes = line.split()
        assert own == in_units(event.self_cpu_time_total) and whole == mean == in_units(event.cpu_time_total)
        assert (share, whole_share) == tuple(f"{part * 100 / total:.2f}%" for part in (event.self_cpu_time_total, event.cpu_time_total))
        assert (name, calls, shapes) == (event.name, "1", "[]")


def in_units(us):
    return f"{us:.3f}us" if us < 1000 else f"{us / 1000:.3f}ms" if us < 1e6 else f"{us / 1e6:.3f}s"

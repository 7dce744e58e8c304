"""Every message of the profiler, of anomaly detection and of pictures of graphs, word for word."""

import pytest

from messages import builders, check, without_row
from wengert import errors
from wengert.errors import profiling

REENTERED = "Profiler context manager is not reentrant. Hint: make a new profile() for each block; blocks may be nested."
UNFINISHED = (
    "Profiler didn't finish running: its results are there when its `with` block is left. "
    "Hint: profile(enabled=False) has none at all."
)
GRAPHVIZ = (
    "an SVG is laid out by Graphviz: it needs the package graphviz and the program dot, and one of them is not installed, or "
    "does not run. Hint: pip install graphviz, and install Graphviz itself; or use .mermaid, .dot or print(...), which need nothing."
)

MESSAGES = [
    (lambda: errors.profile_reentered(), RuntimeError, REENTERED),
    (lambda: errors.profile_unfinished(), RuntimeError, UNFINISHED),
    (
        lambda: errors.profile_sort_key("speed", ["count", "cpu_time"]),
        AttributeError,
        "'FunctionEventAvg' object has no attribute 'speed'. A table can be sorted by count, cpu_time.",
    ),
    (lambda: errors.profile_table_style("3.x"), AttributeError, "a table has style '1.x' or '2.x', but got '3.x'"),
    (lambda: errors.profile_time_unit("h"), AttributeError, "a table's time_unit is 'us', 'ms' or 's', but got 'h'"),
    (
        lambda: errors.profile_schedule(),
        AttributeError,
        "a schedule takes no negative numbers of steps, and at least one active step",
    ),
    (lambda: errors.stacks_metric("flops", ("a", "b")), AttributeError, "metric should be one of: ['a', 'b'], but got 'flops'"),
    (
        lambda: errors.stacks_missing(),
        RuntimeError,
        "export_stacks() requires with_stack=True. Hint: profile(with_stack=True) keeps the stack of each call.",
    ),
    (lambda: errors.range_name(int), RuntimeError, "record_function() expects a name of type 'str', but got int"),
    (
        lambda: errors.ranges_package("emit_nvtx", "nvtx"),
        NotImplementedError,
        "emit_nvtx() names ranges for another profiler through the package 'nvtx', which is not installed. "
        "Hint: pip install nvtx; or use profile(), which needs nothing.",
    ),
    (
        lambda: errors.ranges_nested("emit_itt"),
        RuntimeError,
        "emit_itt context manager is not reentrant, and only one such context can be active at a time.",
    ),
    (
        lambda: errors.nvprof_trace("trace.prof"),
        RuntimeError,
        "cannot read 'trace.prof': traces of nvprof tell of kernels on a GPU, and this version has no CUDA backend. "
        "Hint: use profile() for the CPU, and its export_chrome_trace().",
    ),
    (
        lambda: errors.profile_use_cuda_deprecated(),
        FutureWarning,
        "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
    ),
    (lambda: errors.profile_device_missing("xpu"), UserWarning, "XPU is not available, disabling XPU profiling"),
    (
        lambda: errors.anomaly_enabled(),
        UserWarning,
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
    ),
    (
        lambda: errors.error_induced("MulBackward0", None),
        UserWarning,
        "\n\nPrevious calculation was induced by MulBackward0. No forward pass information available. "
        "Enable detect anomaly during forward pass for more information.",
    ),
    (
        lambda: errors.error_induced("MulBackward0", "  File a.py\n"),
        UserWarning,
        "\n\nPrevious calculation was induced by MulBackward0. "
        "Traceback of forward call that induced the previous calculation:\n  File a.py\n",
    ),
    (
        lambda: errors.forward_anomaly("log", "inf", "a.py:3, in f", False),
        RuntimeError,
        "Operation 'log' at a.py:3, in f returned inf values. It is the first that did.",
    ),
    (
        lambda: errors.forward_anomaly("mul", "nan", None, True),
        RuntimeError,
        "Operation 'mul' was given values that are not finite, and returned nan values. No operation looked at before has made them.",
    ),
    (
        lambda: errors.anomaly_check("forward", ("backward", "forward+backward")),
        ValueError,
        "detect_anomaly(check=...) takes one of ['backward', 'forward+backward'], but got 'forward'",
    ),
    (
        lambda: errors.anomaly_flag("check_nan", 2, int),
        TypeError,
        "set_anomaly_enabled(): argument 'check_nan' (position 2) must be bool, not int",
    ),
    (lambda: errors.graphviz_missing(), NotImplementedError, GRAPHVIZ),
    (
        lambda: errors.dagre_missing(),
        NotImplementedError,
        "a page is laid out by dagre, and the package XStatic-Dagre, which brings it, is not installed. Hint: pip install "
        "wengert[viz]; or use .mermaid, .dot or print(...), which need nothing.",
    ),
    (lambda: errors.drawing_format(".png", [".svg", ".txt"]), ValueError, "a drawing is saved as one of .svg, .txt, but got '.png'"),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, profiling)
    assert all(getattr(errors, name) is function for name, function in builders(profiling).items())

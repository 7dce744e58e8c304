"""Builds the exceptions and warnings of the profiler, of anomaly detection and of pictures of graphs."""

from __future__ import annotations

from collections.abc import Iterable

from .classes import (
    AnomalyError,
    ArgumentError,
    DeviceError,
    MissingFeatureError,
    OptionError,
    ProfilerError,
    ProfilerKeyError,
)


def profile_reentered() -> ProfilerError:
    return ProfilerError(
        "Profiler context manager is not reentrant. Hint: make a new profile() for each block; blocks may be nested."
    )


def profile_unfinished() -> ProfilerError:
    return ProfilerError(
        "Profiler didn't finish running: its results are there when its `with` block is left. "
        "Hint: profile(enabled=False) has none at all."
    )


def profile_sort_key(key: object, known: Iterable[str]) -> ProfilerKeyError:
    """known: the keys that there are."""
    return ProfilerKeyError(f"'FunctionEventAvg' object has no attribute {key!r}. A table can be sorted by {', '.join(known)}.")


def profile_table_style(style: object) -> ProfilerKeyError:
    return ProfilerKeyError(f"a table has style '1.x' or '2.x', but got {style!r}")


def profile_time_unit(unit: object) -> ProfilerKeyError:
    return ProfilerKeyError(f"a table's time_unit is 'us', 'ms' or 's', but got {unit!r}")


def profile_schedule() -> ProfilerKeyError:
    return ProfilerKeyError("a schedule takes no negative numbers of steps, and at least one active step")


def stacks_metric(metric: object, known: Iterable[str]) -> ProfilerKeyError:
    return ProfilerKeyError(f"metric should be one of: {list(known)}, but got {metric!r}")


def stacks_missing() -> ProfilerError:
    return ProfilerError("export_stacks() requires with_stack=True. Hint: profile(with_stack=True) keeps the stack of each call.")


def range_name(kind: type) -> ProfilerError:
    """kind: of what was given as the name of a range."""
    return ProfilerError(f"record_function() expects a name of type 'str', but got {kind.__name__}")


def ranges_package(context: str, package: str) -> MissingFeatureError:
    """context: the name of the context manager. package: what it needs."""
    return MissingFeatureError(
        f"{context}() names ranges for another profiler through the package {package!r}, which is not installed. "
        f"Hint: pip install {package}; or use profile(), which needs nothing."
    )


def ranges_nested(context: str) -> ProfilerError:
    return ProfilerError(f"{context} context manager is not reentrant, and only one such context can be active at a time.")


def nvprof_trace(path: object) -> DeviceError:
    return DeviceError(
        f"cannot read {str(path)!r}: traces of nvprof tell of kernels on a GPU, and this version has no CUDA backend. "
        "Hint: use profile() for the CPU, and its export_chrome_trace()."
    )


def profile_use_cuda_deprecated() -> FutureWarning:
    return FutureWarning("The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.")


def profile_device_missing(device: str) -> UserWarning:
    return UserWarning(f"{device.upper()} is not available, disabling {device.upper()} profiling")


# -- anomaly detection -----------------------------------------------------------------------------------------------------


def anomaly_enabled() -> UserWarning:
    return UserWarning(
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
    )


def error_induced(node_name: str, traceback: str | None) -> UserWarning:
    """node_name: of the node whose pass made the failing one. traceback: of its forward, formatted, if there is one."""
    if traceback is None:
        return UserWarning(
            f"\n\nPrevious calculation was induced by {node_name}. No forward pass information available. "
            "Enable detect anomaly during forward pass for more information."
        )
    return UserWarning(
        f"\n\nPrevious calculation was induced by {node_name}. "
        f"Traceback of forward call that induced the previous calculation:\n{traceback}"
    )


def forward_anomaly(operation: str, kind: str, location: str | None, was_given: bool) -> AnomalyError:
    """kind: "nan" or "inf". location: of the call. was_given: the inputs held such values already."""
    where = f" at {location}" if location else ""
    if was_given:
        return AnomalyError(
            f"Operation '{operation}'{where} was given values that are not finite, and returned {kind} values. "
            "No operation looked at before has made them."
        )
    return AnomalyError(f"Operation '{operation}'{where} returned {kind} values. It is the first that did.")


def anomaly_check(check: object, known: Iterable[str]) -> OptionError:
    return OptionError(f"detect_anomaly(check=...) takes one of {list(known)}, but got {check!r}")


def anomaly_flag(name: str, position: int, kind: type) -> ArgumentError:
    """name, position: of the argument. kind: of what was given."""
    return ArgumentError(
        f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {kind.__name__}"
    )


# -- pictures of graphs ----------------------------------------------------------------------------------------------------


def graphviz_missing() -> MissingFeatureError:
    return MissingFeatureError(
        "an SVG is laid out by Graphviz: it needs the package graphviz and the program dot, and one of them is not installed, "
        "or does not run. Hint: pip install graphviz, and install Graphviz itself; or use .mermaid, .dot or print(...), which "
        "need nothing."
    )


def dagre_missing() -> MissingFeatureError:
    return MissingFeatureError(
        "a page is laid out by dagre, and the package XStatic-Dagre, which brings it, is not installed. Hint: pip install "
        "wengert[viz]; or use .mermaid, .dot or print(...), which need nothing."
    )


def drawing_format(ending: str, known: Iterable[str]) -> OptionError:
    return OptionError(f"a drawing is saved as one of {', '.join(known)}, but got {ending!r}")

"""What notebooks show of explanations, memory and profiles: tables with bars, and flame graphs."""

import re

import pytest

import wengert as torch
from wengert import errors
from wengert.autograd import graph, html_table, profiler


def program():
    x = torch.ones(200, requires_grad=True)
    with profiler.profile() as prof:
        with profiler.record_function("step"):
            loss = (x.exp() * 2).sum()
        loss.backward(retain_graph=True)
    return x, loss, prof


def rows_of(html):
    """The cells of each row, and the width of its bar in percent, or None."""
    found = []
    for row in re.findall(r"<tr.*?>(.*?)</tr>", html.partition("<tbody>")[2]):
        bar = re.search(r"0\.45\) ([\d.]+)%", row)
        found.append((re.findall(r"<td[^>]*>(.*?)</td>", row), None if bar is None else float(bar[1])))
    return found


def test_a_profile_is_a_table_with_the_largest_share_first():
    prof = program()[2]
    rows = rows_of(prof._repr_html_())
    totals = {event.key: event for event in prof.key_averages()}
    assert {cells[0] for cells, _ in rows} == set(totals)
    times = [totals[cells[0]].self_cpu_time_total for cells, _ in rows]
    assert times == sorted(times, reverse=True) and rows[0][1] == 100.0
    for (cells, width), time in zip(rows, times, strict=True):
        assert width == pytest.approx(100 * time / times[0], abs=0.06) and cells[1] == html_table.duration(time)
    assert prof.key_averages()._repr_html_() == prof._repr_html_()


def test_an_unfinished_profile_says_so():
    assert "&lt;unfinished" in profiler.profile()._repr_html_()


def test_bars_of_an_explanation_are_on_a_log_scale():
    a, b, c, d = (torch.ones(1, requires_grad=True) for _ in range(4))
    explanation = torch.explain((a * 1e-4 + b * 1e-2 + c).sum(), {"a": a, "b": b, "c": c, "d<": d})
    rows = rows_of(explanation._repr_html_())
    assert [cells[:2] for cells, _ in rows] == [["a", "0.0001"], ["b", "0.01"], ["c", "1"], ["d&lt;", ""]]
    assert [width for _, width in rows] == [5.0, pytest.approx(52.5), 100.0, None]
    assert explanation._repr_html_().count("color:#c62828") == 1  # of d, which the loss does not use


def test_bars_of_a_memory_summary():
    x, y = torch.ones(256, requires_grad=True), torch.ones(128, requires_grad=True)
    summary = graph.memory_summary(x.exp().sum() + y.exp().sum())
    rows = rows_of(summary._repr_html_())
    assert [(cells[1], width) for cells, width in rows] == [("1.00 KB", 100.0), ("512 B", 50.0)]


def test_long_tables_say_how_many_rows_there_are():
    names = [[str(number), "1"] for number in range(130)]
    html = html_table.html_table(["name", "value"], names, [None] * 130)
    assert html.count("<tr") == 101 and "... and 30 more rows" in html


@pytest.mark.parametrize(
    ("us", "text"), [(0.1234, "0.123 us"), (12.345, "12.3 us"), (1234.0, "1.23 ms"), (999.0, "999 us"), (999.9, "1000 us"), (2.5e6, "2.5 s"), (1.234e9, "1230 s")]
)
def test_durations_have_three_significant_digits(us, text):
    assert html_table.duration(us) == text


def test_a_flame_graph_has_a_bar_for_each_event_and_inner_ones_above():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    prof = program()[2]
    axes = prof.plot()
    assert len(axes.patches) == len(prof.function_events)
    bars = dict(zip([event.id for event in prof.function_events], axes.patches, strict=True))
    for event in prof.function_events:
        if event.cpu_parent is not None:
            inner, outer = bars[event.id], bars[event.cpu_parent.id]
            assert inner.get_y() == outer.get_y() + 1
            assert outer.get_x() <= inner.get_x() and inner.get_x() + inner.get_width() <= outer.get_x() + outer.get_width() + 1e-9
    assert any(event.cpu_parent is not None for event in prof.function_events)
    assert prof.plot(axes) is axes
    plt.close("all")


def test_what_cannot_be_plotted(monkeypatch):
    prof = program()[2]
    with pytest.raises(errors.ProfilerError, match="draws the events of a profile"):
        prof.key_averages().plot()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(errors.MissingFeatureError, match=r"pip install wengert\[viz\]"):
        prof.plot()

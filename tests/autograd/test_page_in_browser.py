"""Pages of graphs, used as a person does: headless Chromium opens them, clicks, types, folds and looks. `make browser`
installs it; where there is none, these tests are skipped."""

import shutil

import numpy as np
import pytest

import wengert as torch
from wengert.autograd import graph, profiler

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install wengert[browser]")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no Chromium with chromedriver is installed: make browser"),
]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,900",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a drawing; afterwards nothing may have been complained about."""

    def open_page(drawing):
        drawing.save(tmp_path / "graph.html")
        browser.get((tmp_path / "graph.html").as_uri())
        return browser

    yield open_page
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def network():
    x = torch.ones(4, 3)
    params = {
        "fc1.weight": torch.full((3, 5), 0.1, requires_grad=True), "fc1.bias": torch.zeros(5, requires_grad=True),
        "fc2.weight": torch.full((5, 2), 0.2, requires_grad=True), "fc2.bias": torch.zeros(2, requires_grad=True),
    }  # fmt: skip
    hidden = (x @ params["fc1.weight"] + params["fc1.bias"]).tanh()
    out = hidden @ params["fc2.weight"] + params["fc2.bias"]
    return (out**2).mean(), params


def recurrent(steps):
    w = torch.full((2, 2), 0.5, requires_grad=True)
    h = torch.ones(1, 2)
    for _ in range(steps):
        h = h @ w
        h = h.tanh()
        h = h * 1.5
        h = h + 0.1
        h = h.sin()
    return h.sum(), {"w": w}


def measured(make, *arguments):
    with profiler.profile() as prof:
        loss, params = make(*arguments)
        loss.backward(retain_graph=True)
    return graph.draw(loss, params, profile=prof, gradients=True)


def titles(page):
    return [text.text for text in page.find_elements(By.CSS_SELECTOR, "#scene .item text.first")]


def box(page, title):
    """The box with this title: an SVG element that can be clicked."""
    (found,) = [item for item in page.find_elements(By.CSS_SELECTOR, "#scene .item") if item.find_element(By.CSS_SELECTOR, "text.first").text == title]
    return found


def click(page, title, times=1):
    text = box(page, title).find_element(By.CSS_SELECTOR, "text.first")
    actions = ActionChains(page)
    (actions.click(text) if times == 1 else actions.double_click(text)).perform()


def details(page):
    names = page.find_elements(By.CSS_SELECTOR, "#details dt")
    return {name.text: value.text for name, value in zip(names, page.find_elements(By.CSS_SELECTOR, "#details dd"))}


def status(page):
    return page.find_element(By.ID, "status").text


def unfold_all(page):
    """Large graphs are laid out bit by bit."""
    page.find_element(By.ID, "unfold-all").click()
    WebDriverWait(page, 600).until(lambda page: status(page).startswith("unfolded: "))


def fills(page):
    """The colours of boxes, by their titles."""
    return {
        item.find_element(By.CSS_SELECTOR, "text.first").text: item.find_element(By.TAG_NAME, "rect").value_of_css_property("fill")
        for item in page.find_elements(By.CSS_SELECTOR, "#scene .item:not(.open)")
    }


def test_a_small_graph_is_shown_whole(opened):
    page = opened(graph.draw(*network()))
    assert page.title == "Graph of MeanBackward0" and status(page) == "11 nodes, 11 boxes shown"
    assert {"▾ fc1", "▾ fc2", "fc1.weight", "TanhBackward0", "MeanBackward0"} <= set(titles(page))
    window = page.find_element(By.ID, "graph").rect
    for item in page.find_elements(By.CSS_SELECTOR, "#scene .item"):
        place = item.rect
        assert place["x"] >= window["x"] and place["y"] >= window["y"]
        assert place["x"] + place["width"] <= window["x"] + window["width"] and place["y"] + place["height"] <= window["y"] + window["height"]


def test_boxes_do_not_overlap(opened):
    page = opened(graph.draw(*network()))
    places = [item.rect for item in page.find_elements(By.CSS_SELECTOR, "#scene .item:not(.open)")]
    for i, a in enumerate(places):
        for b in places[:i]:
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"] or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
            assert apart, (a, b)


def test_clicking_a_node_shows_its_details(opened):
    page = opened(measured(network))
    assert not page.find_element(By.ID, "panel").is_displayed()
    click(page, "TanhBackward0")
    facts = details(page)
    assert facts["output"] == "float32 [4, 5]" and facts["bytes saved"] == "80 B" and "test_page_in_browser.py:" in facts["source"]
    assert "forward" in facts["time"] and "backward" in facts["time"] and float(facts["gradient norm"]) > 0
    saved = page.find_element(By.CSS_SELECTOR, "#details section").text
    assert saved.startswith("result float32 [4, 5], 80 B") and "min 0.2913" in saved and "0.29131" in saved
    for button in page.find_elements(By.CSS_SELECTOR, "#details li button"):
        if button.text.startswith("AddBackward0"):
            button.click()
            break
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == "AddBackward0"
    assert "selected" in page.find_element(By.CSS_SELECTOR, "#scene .item.selected").get_attribute("class")
    page.find_element(By.ID, "close").click()
    assert not page.find_element(By.ID, "panel").is_displayed()


def test_folding_and_unfolding(opened):
    page = opened(graph.draw(*recurrent(100)))
    assert status(page) == "502 nodes, 12 boxes shown" and {"▾ loop ×100", "▸ steps 1–10", "w"} <= set(titles(page))
    click(page, "▸ steps 31–40", times=2)
    assert {"▾ steps 31–40", "▸ step 31", "▸ step 40"} <= set(titles(page)) and status(page) == "steps 31–40 unfolded: 21 boxes shown"
    click(page, "▸ step 33", times=2)
    assert titles(page).count("TanhBackward0") == 1
    click(page, "▾ steps 31–40", times=2)
    assert "▸ steps 31–40" in titles(page) and "TanhBackward0" not in titles(page)
    click(page, "▾ loop ×100")
    assert details(page)["holds"] == "500 operations"
    page.find_element(By.ID, "toggle").click()
    assert sorted(titles(page)) == ["SumBackward0", "▸ loop ×100"]
    unfold_all(page)
    assert status(page) == "unfolded: 502 boxes shown"
    page.find_element(By.ID, "fold-all").click()
    assert sorted(titles(page)) == ["SumBackward0", "▸ loop ×100"]


def test_searching(opened):
    page = opened(graph.draw(*recurrent(100)))
    search = page.find_element(By.ID, "search")
    search.send_keys("tanh")
    rows = page.find_elements(By.CSS_SELECTOR, "#results li")
    assert len(rows) == 51 and rows[-1].text == "50 of 100 shown" and rows[0].text.startswith("TanhBackward0 float32 [1, 2]")
    search.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == "TanhBackward0"
    chosen = page.find_element(By.CSS_SELECTOR, "#scene .item.selected")
    window = page.find_element(By.ID, "graph").rect
    assert window["x"] <= chosen.rect["x"] <= window["x"] + window["width"] and "▸ step 98" in titles(page)
    search.clear()
    search.send_keys("no such node")
    assert [row.text for row in page.find_elements(By.CSS_SELECTOR, "#results li")] == ["nothing found"]
    search.send_keys(Keys.ESCAPE)
    assert not page.find_element(By.ID, "results").is_displayed()


def test_keys_move_the_selection(opened):
    page = opened(graph.draw(*network()))
    keys = ActionChains(page)
    page.find_element(By.ID, "graph").send_keys(Keys.ARROW_UP)
    heading = page.find_element(By.CSS_SELECTOR, "#details h2")
    assert heading.text == "MeanBackward0"
    keys.send_keys(Keys.ARROW_UP).perform()
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == "PowBackward0"
    keys.send_keys(Keys.ARROW_UP).perform()
    keys.send_keys(Keys.ENTER).perform()  # folds fc2, which the sum is in
    assert "▸ fc2" in titles(page) and "fc2.weight" not in titles(page)
    keys.send_keys(Keys.ENTER).perform()
    assert "▾ fc2" in titles(page) and "fc2.weight" in titles(page)
    before = page.find_element(By.ID, "scene").get_attribute("transform")
    keys.send_keys("+").perform()
    assert page.find_element(By.ID, "scene").get_attribute("transform") != before
    keys.send_keys(Keys.ESCAPE).perform()
    assert not page.find_element(By.ID, "panel").is_displayed()
    keys.send_keys("?").perform()
    assert "search" in page.find_element(By.ID, "keys").text
    keys.send_keys("/").perform()
    assert page.switch_to.active_element.get_attribute("id") == "search"


def test_moving_and_zooming_with_the_mouse(opened):
    page = opened(graph.draw(*network()))
    window = page.find_element(By.ID, "graph")
    before = box(page, "TanhBackward0").rect
    ActionChains(page).move_to_element_with_offset(window, -400, 0).click_and_hold().move_by_offset(70, 30).release().perform()
    after = box(page, "TanhBackward0").rect
    assert (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (70, 30)
    assert not page.find_element(By.ID, "panel").is_displayed()
    ActionChains(page).scroll_from_origin(webdriver.common.actions.wheel_input.ScrollOrigin.from_element(window), 0, -400).perform()
    WebDriverWait(page, 600).until(lambda page: box(page, "TanhBackward0").rect["width"] > 1.5 * after["width"])


def test_heat_maps(opened, tmp_path):
    page = opened(measured(network))
    plain = fills(page)
    choice = Select(page.find_element(By.ID, "heat"))
    assert [option.text for option in choice.options] == ["kind", "time", "memory", "gradient norm"]
    choice.select_by_value("memory")
    legend = page.find_element(By.ID, "legend").text
    assert legend.splitlines()[0].startswith("memory held for the backward pass") and legend.splitlines()[1:] == ["32 B", "logarithmic", "120 B", "exactly zero"]
    memory = fills(page)
    # Of the two products the one of fc2 holds most: its input [4, 5] and its weight [5, 2].
    assert "rgb(253, 231, 37)" in memory.values() and memory["MeanBackward0"] == "rgb(255, 255, 255)"  # which holds nothing
    assert memory["TanhBackward0"] not in ("rgb(253, 231, 37)", "rgb(68, 1, 84)")
    text = box(page, "MeanBackward0").find_element(By.CSS_SELECTOR, "text.first")
    assert text.value_of_css_property("fill") == "rgb(0, 0, 0)"
    for value, unit in (("time", "µs"), ("gradient", "norm of the gradient")):
        choice.select_by_value(value)
        assert fills(page) not in (plain, memory) and unit in page.find_element(By.ID, "legend").text
    choice.select_by_value("")
    assert fills(page) == plain and not page.find_element(By.ID, "legend").is_displayed()
    assert page.save_screenshot(str(tmp_path / "page.png")) and (tmp_path / "page.png").stat().st_size > 10_000


def test_heat_maps_without_data_say_why(opened):
    page = opened(graph.draw(*network()))
    options = {option.get_attribute("value"): option for option in page.find_elements(By.CSS_SELECTOR, "#heat option")}
    assert {name: option.is_enabled() for name, option in options.items()} == {"": True, "time": False, "memory": True, "gradient": False}
    assert options["gradient"].text == "gradient norm (no gradient norms: draw(loss, gradients=True))"


def test_a_gradient_that_is_not_finite_stands_out(opened):
    x = torch.tensor([0.0], requires_grad=True)
    page = opened(graph.draw(x.sqrt() * 0, {"x": x}, gradients=True))
    Select(page.find_element(By.ID, "heat")).select_by_value("gradient")
    assert fills(page)["x"] == "rgb(255, 45, 120)" and "not finite" in page.find_element(By.ID, "legend").text
    click(page, "x")
    assert details(page)["gradient norm"] == "nan"


def test_a_gradient_of_zero_stands_out(opened):
    x = torch.ones(2, requires_grad=True)
    page = opened(graph.draw((x.exp() * 0).sum(), {"x": x}, gradients=True))
    Select(page.find_element(By.ID, "heat")).select_by_value("gradient")
    colors = fills(page)
    assert colors["x"] == colors["ExpBackward0"] == "rgb(255, 255, 255)" != colors["MulBackward0"]
    assert "exactly zero" in page.find_element(By.ID, "legend").text


def test_strings_are_shown_as_they_are(opened):
    name = "<b>w</b> \"q\" & 梯度 </script>"
    w = torch.ones(1, requires_grad=True)
    page = opened(graph.draw(w * 2, {name: w}))
    assert name in titles(page)
    click(page, name)
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == name and details(page)["parameters"] == name


def test_light_and_dark(opened):
    page = opened(graph.draw(*network()))
    seen = {}
    for scheme in ("light", "dark"):
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        text = box(page, "TanhBackward0").find_element(By.CSS_SELECTOR, "text.first").value_of_css_property("fill")
        seen[scheme] = [sum(map(int, color.removeprefix("rgb(").rstrip(")").split(", "))) for color in (fills(page)["TanhBackward0"], text)]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert seen["light"][0] - seen["light"][1] > 400 and seen["dark"][1] - seen["dark"][0] > 400


def test_thousands_of_nodes_stay_usable(opened):
    drawing = graph.draw(*recurrent(1000))  # 5,002 nodes
    page = opened(drawing)
    assert status(page).startswith("5,002 nodes") and len(titles(page)) < 100
    page.find_element(By.ID, "search").send_keys("tanh", Keys.ENTER)
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == "TanhBackward0"
    unfold_all(page)
    assert status(page) == "unfolded: 5,002 boxes shown"
    items = len(page.find_elements(By.CSS_SELECTOR, "#scene .item"))
    assert items < 1500  # only what is near the window is in the page


def test_a_large_graph_without_a_pattern_answers_while_it_is_laid_out(opened):
    rng = np.random.default_rng(0)
    w = torch.ones(2, requires_grad=True)
    made = [w]
    for _ in range(600):
        other = made[max(0, len(made) - int(rng.integers(1, 8)))]
        made.append([made[-1].sin, made[-1].tanh, lambda other=other: made[-1] * other, lambda other=other: made[-1] + other][rng.integers(4)]())
    page = opened(graph.draw(made[-1].sum(), {"w": w}))
    assert len(titles(page)) < 70
    page.find_element(By.ID, "unfold-all").click()
    page.find_element(By.ID, "search").send_keys("sum", Keys.ENTER)  # while that goes on
    assert page.find_element(By.CSS_SELECTOR, "#details h2").text == "SumBackward0"
    unfold_all(page)
    assert status(page) == "unfolded: 602 boxes shown"

"""The page of `gslc view` in headless Chromium (`make test-browser`)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gslang
from examples.models.inception_v3 import build
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph
from gslang.view.gallery import cards, gallery
from gslang.view.history import History
from gslang.view.page import page as page_text
from gslang.view.page_data import graph_data, run_data
from tests.view.test_view import HOSTILE, chain, recorded

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert program, "Chromium is not installed: apt-get install chromium, or set CHROMIUM"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a page with data; at the end there were no errors, no dialogs and no requests but of the file and
    its own worker.
    """
    wrong: list[str] = []
    tabs = []

    def open_page(data: dict[str, Any] | str, **options: Any) -> Any:
        file = tmp_path / "page.html"
        file.write_text(data if isinstance(data, str) else page_text(data), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1400, "height": 900}, **options)
        tabs.append(tab)
        tab.on("console", lambda message: wrong.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
        tab.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file://", "blob:null/")) else wrong.append(request.url)
            ),
        )
        tab.goto(file.as_uri())
        tab.wait_for_selector("body[data-ready]", timeout=60_000)
        return tab

    yield open_page
    for tab in tabs:
        tab.close()
    assert wrong == []


def inception() -> dict[str, Any]:
    rules = gslang.load("std.relay")
    history, result = recorded(rules, build(size=75, width=0.1), fold=True)
    return run_data(history, "Inception-v3", rules, result)


def drawn_nodes(tab: Any) -> int:
    """How many nodes are in sight of the left pane, when all that was asked for is drawn."""
    return int(tab.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
        "done(document.querySelector('#left').dataset.drawn))))"
    ))


def at_step(tab: Any, step: int) -> None:
    tab.wait_for_selector(f'body[data-ready="{step}"]', timeout=60_000)


def test_load_search_step_and_theme(opened: Any) -> None:
    data = inception()
    tab = opened(data)
    assert tab.inner_text("#title") == "Inception-v3"
    assert (
        int(tab.get_attribute("#left", "data-drawn")) > 3
        and int(tab.get_attribute("#right", "data-drawn")) > 3
    )
    tab.keyboard.press("/")
    tab.keyboard.type("conv2d stem")
    assert tab.inner_text("#found") == "0 found"
    tab.fill("#search", "nn.softmax")
    assert tab.inner_text("#found") == "1 found"
    tab.keyboard.press("Enter")
    assert "nn.softmax" in tab.inner_text("#node-title")
    tab.keyboard.press("Escape")
    assert tab.query_selector("#node-title") is None
    tab.keyboard.press("]")
    at_step(tab, 1)
    assert data["changes"][0]["rule"] in tab.inner_text("#change-title")
    assert "rule " in tab.inner_text("#panel pre") and "Bindings" in tab.inner_text("#panel")
    tab.fill("#step", "5")
    at_step(tab, 5)
    assert tab.inner_text("#where").startswith(f"5 of {len(data['changes'])}: ")
    theme = tab.get_attribute("html", "data-theme")
    tab.keyboard.press("t") if tab.evaluate("document.activeElement.id") != "step" else tab.click("#theme")
    assert tab.get_attribute("html", "data-theme") != theme


def test_every_step_can_be_shown(opened: Any) -> None:
    rules = gslang.parse_rules("dialect relay;\nrule relu_relu(x) { nn.relu(nn.relu(x)) => nn.relu(x) }\n")
    history, result = recorded(rules, chain(["x", "a", "b", "c", "d"]))
    tab = opened(run_data(history, "chain", rules, result))
    for step in range(1, len(history.changes) + 1):
        tab.click("#next")
        at_step(tab, step)
        before, after = (tab.inner_text(f"#{side} h2").split("·")[1].split()[0] for side in ("left", "right"))
        assert int(before) == int(after) + 1
    assert tab.is_disabled("#next")


def test_the_table_of_rules_has_times_when_asked_for(opened: Any) -> None:
    rules = gslang.parse_rules("dialect relay;\nrule relu_relu(x) { nn.relu(nn.relu(x)) => nn.relu(x) }\n")
    history, result = recorded(rules, chain(["x", "a", "b", "c", "d"]))
    heads = "tables => [...tables.at(-1).tHead.rows[0].cells].map(cell => cell.innerText)"
    for times in (False, True):
        tab = opened(run_data(history, "chain", rules, result, times))
        found = tab.eval_on_selector_all("#panel table", heads)
        assert found == ["rule", "applied", "tried", *["ms"][:times], "nodes", "mul-adds", "bytes"]


def test_the_theme_is_that_of_the_system(opened: Any) -> None:
    data = graph_data(History(chain(["x", "a", "b"])), "chain")
    assert opened(data, color_scheme="dark").get_attribute("html", "data-theme") == "dark"
    assert opened(data, color_scheme="light").get_attribute("html", "data-theme") == "light"


def test_pan_zoom_click_and_weights(opened: Any) -> None:
    graph = build(size=75, width=0.1)
    tab = opened(graph_data(History(graph), "g"))
    tab.keyboard.press("f")
    whole = drawn_nodes(tab)
    tab.keyboard.press("w")
    at_step(tab, 0)
    tab.keyboard.press("f")
    assert drawn_nodes(tab) > whole
    tab.keyboard.press("w")
    at_step(tab, 0)
    tab.fill("#search", "nn.dense")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Escape")
    assert tab.query_selector("#node-title") is None
    box = tab.query_selector("#left canvas").bounding_box()
    # the search has brought it to the middle
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "nn.dense" in tab.inner_text("#node-title") and "units" in tab.inner_text("#panel")


def layers(count: int) -> Graph:
    """Layers of eight nodes, each of which also reads a mask that is computed in the first."""
    graph, type_ = Graph("relay"), TensorType((1, 8), "float32")
    state, mask = graph.add_input("x", type_), graph.add_input("mask", type_)
    for k in range(count):
        start = state
        for operator in ("exp", "tanh", "nn.relu", "sigmoid", "negative"):
            state = graph.add(operator, [state], {}, type_, f"{operator}{k}")
        if k == 0:
            mask = graph.add("floor", [mask], {}, type_, "floor")
        state = graph.add("multiply", [state, mask], {}, type_, f"multiply{k}")
        state = graph.add("add", [state, start], {}, type_, f"add{k}")
        state = graph.add("sqrt", [state], {}, type_, f"sqrt{k}")
    graph.set_outputs([state])
    return graph


def test_repeated_blocks_are_collapsed_and_expanded(opened: Any) -> None:
    tab = opened(graph_data(History(layers(12)), "layers"))
    tab.keyboard.press("b")
    tab.wait_for_function("document.querySelector('#left h2').textContent === '99 nodes, 12 closed blocks'")
    at_step(tab, 0)
    tab.keyboard.press("f")
    assert drawn_nodes(tab) == 3 + 12  # two inputs, the mask
    tab.fill("#search", "tanh5")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.querySelector('#left h2').textContent === '99 nodes, 11 closed blocks'")
    at_step(tab, 0)
    assert "tanh5" in tab.inner_text("#node-title")
    tab.keyboard.press("Escape")
    tab.keyboard.press("f")
    assert drawn_nodes(tab) == 3 + 11 + 8
    tab.fill("#search", "sqrt7")  # the last node of a closed block stands for it
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#node-title:has-text('Block A · 8 of 12')")
    assert "8 nodes" in " ".join(tab.inner_text("#panel").split()) and "tanh" in tab.inner_text("#panel")
    tab.click("#panel button:has-text('Expand')")
    tab.wait_for_function("document.querySelector('#left h2').textContent === '99 nodes, 10 closed blocks'")


def test_what_an_application_changes_is_never_in_a_closed_block(opened: Any) -> None:
    rules = gslang.parse_rules("dialect relay;\nrule drop(x): nn.relu(tanh(x)) => tanh(x);\n")
    history, result = recorded(rules, layers(6), limit=1)
    assert result.applications == 1
    tab = opened(run_data(history, "layers", rules, result))
    tab.keyboard.press("b")
    tab.keyboard.press("]")
    at_step(tab, 1)
    assert "5 closed blocks" in tab.inner_text("#left h2")


def test_hostile_names_do_not_run(opened: Any) -> None:
    graph = chain([HOSTILE, "a" + HOSTILE, "b"])
    graph.attrs[1] = {HOSTILE: HOSTILE}
    tab = opened(graph_data(History(graph), HOSTILE))
    tab.fill("#search", "alert")
    assert tab.inner_text("#found") == "2 found"
    tab.click("#results li:nth-child(2) button")
    assert "<img src=x onerror=alert(1)>" in tab.inner_text("#panel")
    assert (
        tab.evaluate("document.querySelectorAll('img').length + document.querySelectorAll('script').length")
        == 3
    )


def large(count: int) -> Graph:
    """A graph in which each node reads one of the last few nodes, or two."""
    chosen = random.Random(1)
    graph, type_ = Graph("relay"), TensorType((1, 64, 56, 56), "float32")
    nodes = [graph.add_input("x", type_)]
    while len(nodes) < count:
        near = nodes[-6:]
        operands = chosen.sample(near, min(len(near), chosen.choice((1, 1, 1, 2))))
        nodes.append(
            graph.add("add" if len(operands) == 2 else "nn.relu", operands, {}, type_, f"n{len(nodes)}")
        )
    graph.set_outputs([node for node in nodes if not graph.users[node]])
    return graph


def test_20000_nodes_are_usable(opened: Any) -> None:
    tab = opened(graph_data(History(large(20_000)), "large"))
    assert "20,000 nodes" in tab.inner_text("#left h2")
    tab.keyboard.press("f")
    assert drawn_nodes(tab) == 20_000
    tab.fill("#search", "n19999")
    tab.keyboard.press("Enter")
    assert "n19999" in tab.inner_text("#node-title")
    assert drawn_nodes(tab) < 1000


NEAR = """dialect relay;
## Only one that is followed by exp.
rule relu_relu(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule far(x) {
    a = exp(x);
    b = nn.relu(a);
    b
  =>
    a
}
"""


def test_a_near_miss_is_explained_beside_its_pattern(opened: Any) -> None:
    rules = gslang.parse_rules(NEAR)
    history, result = recorded(rules, chain(["x", "a", "b", "c"]))
    tab = opened(run_data(history, "chain", rules, result))
    assert "far" in tab.inner_text("#panel")
    tab.click("#panel button.link:has-text('far')")
    assert tab.inner_text("#miss-title") == "Why not far?"
    text = tab.inner_text("#panel")
    assert "expected" in text and "exp" in text and "nn.relu" in text
    assert (
        tab.evaluate(
            "[...document.querySelectorAll('figure rect')].filter((box) => box.getAttribute('stroke') === "
            "'#d6336c').length"
        )
        == 1
    )
    assert tab.query_selector("#node-title") is not None
    tab.click("#panel button:has-text('Back')")
    assert tab.query_selector("#miss-title") is None


def gallery_of(text: str) -> str:
    rules = gslang.parse_rules(text)
    (program,) = rules.programs
    return gallery("rules", cards([(program, rule.rule) for rule in rules], 20.0))


def test_the_gallery(opened: Any) -> None:
    tab = opened(gallery_of(NEAR), color_scheme="light")
    assert tab.inner_text("#found") == "2 rules"
    assert tab.evaluate("document.querySelectorAll('article svg').length") == 2
    tab.keyboard.press("/")
    tab.keyboard.type("followed")
    assert tab.inner_text("#found") == "1 of 2 rules" and not tab.is_visible("#far")
    tab.keyboard.press("Escape")
    assert tab.is_visible("#far")
    tab.keyboard.press("t")
    assert tab.get_attribute("html", "data-theme") == "dark"


def serious(tab: Any) -> list[str]:
    """Findings of axe-core that are serious or critical."""
    from importlib.resources import files

    tab.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8") + "; 0")
    found = tab.evaluate("axe.run().then((result) => result.violations)")
    return [
        f"{v['id']}: {node['html'][:200]}"
        for v in found if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("what", ["graph", "run", "step", "miss", "gallery", "blocks"])
def test_accessibility(opened: Any, what: str, theme: str) -> None:
    rules = gslang.parse_rules(NEAR)
    history, result = recorded(rules, chain(["x", "a", "b", "c"]))
    data = run_data(history, "chain", rules, result)
    pages = {
        "graph": graph_data(History(chain(["x", "a", "b"])), "g"),
        "gallery": gallery_of(NEAR),
        "blocks": graph_data(History(layers(4)), "g"),
    }
    tab = opened(pages.get(what, data), color_scheme=theme)
    if what == "step":
        tab.keyboard.press("]")
        at_step(tab, 1)
    if what == "miss":
        tab.click("#panel button.link:has-text('far')")
    assert serious(tab) == []

# SPDX-License-Identifier: Apache-2.0
"""`./emery report`: what is on the page, where its numbers are from, how it looks in a real browser."""

import base64
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import browser
import pytest

from emery import charts, published, system
from emery.check import structure
from emery.cli import main
from emery.common import ROOT
from emery.pages import diagram, headers, layers, provenance, report

SYSTEMS = [system.load(name) for name in system.names()]
in_browser = pytest.mark.skipif(not browser.find(), reason="no headless Chromium: apt install chromium-headless-shell")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "all.html"
    assert main(["report", "--out", str(path)]) == 0
    return path


# ---------------------------------------------------------------- what it says


def test_every_figure_and_every_row_is_there(page):
    text = page.read_text()
    for target in SYSTEMS:
        assert f'<section class="system" id="{target.name}">' in text
        for name in target.figures:
            assert f'<h3 id="{target.name}-{name}">' in text
        for row in published.measured(target):
            assert f'<tr id="{target.name}.{row["id"]}">' in text
        assert f'aria-label="block diagram of {target.top}"' in text
        rows = published.measured(target)
        missed = sum(not x["met"] for x in rows if x["goal"] is not None)
        line = re.search(rf'<a href="#{target.name}">{target.name}</a></th>(.*?)</tr>', text)[1]
        assert re.findall(r">(\d+)<", line)[:2] == [str(len(target.targets)), str(len(rows))] and f">{missed}<" in line
    assert text.count("What is approximate") >= len(SYSTEMS)


def test_it_needs_nothing_else(page):
    text = page.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|src=(?!\"data:)|@import|url\((?!#)", text)


def test_a_row_has_its_numbers_command_and_commit():
    (target,) = [x for x in SYSTEMS if any(y.paper_value for y in x.targets)][:1]
    row = next(x for x in report.rows(target, None) if x["paper_value"])
    one = report._table(target, [row])
    for number in (row["emery"], row["paper_value"], row["limit"]):
        assert number is None or f">{published.number(number)}<" in one or row["paper"] in one
    words = provenance.command(target, next(x for x in target.targets if x.id == row["id"]))
    assert words.startswith(f"./emery run {target.name} --") and words.replace("'", "&#x27;") in one
    assert row["origin"] == "published" and row["commit"][:8] in one


def test_commands_of_rows_are_commands():
    for target in SYSTEMS:
        for one in target.targets:
            words = provenance.command(target, one).split()
            if one.of:
                assert words[1:] == ["reproduce", target.name, one.figure]
            else:
                assert words[:3] == ["./emery", "run", target.name] and len(words) % 2 == 1, words
                assert target.values([x for before, x in zip(words, words[1:], strict=False) if before == "--set"])


def test_rows_are_of_the_commit_that_published_them():
    history = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"], capture_output=True, text=True)
    if history.stdout.strip() != "false":
        pytest.skip("no history here")
    target = SYSTEMS[0]
    found = provenance.published(target)
    assert set(found) == {x["id"] for x in published.measured(target)}
    names = {x for x in found.values() if x != "not committed"}
    log = subprocess.run(
        ["git", "-C", str(ROOT), "log", "--format=%H", "--", str(target.folder / "measured.json")],
        capture_output=True,
        text=True,
    )
    assert names <= set(log.stdout.split())


def test_rows_of_a_run_of_ones_own(tmp_path):
    target = SYSTEMS[0]
    kept = published.measured(target)
    mine = {**kept[0], "emery": 12.34, "commit": "abcdef0123", "version": "9"}
    (tmp_path / f"{target.name}.json").write_text(json.dumps([mine]))
    found = report.rows(target, str(tmp_path))
    assert len(found) == len(kept)
    assert [(x["emery"], x["origin"], x["commit"]) for x in found if x["id"] == mine["id"]] == [
        (12.34, "run here", "abcdef0123")
    ]
    assert all(x["origin"] == "published" for x in found if x["id"] != mine["id"])
    out = tmp_path / "r.html"
    assert main(["report", target.name, "--out", str(out), "--from", str(tmp_path)]) == 0
    assert "run here" in out.read_text() and "12.34" in out.read_text()


def test_a_picture_that_a_system_draws_itself():
    def hook(name):
        assert name == "picture"
        return lambda panels, path: Path(path).write_bytes(json.dumps(panels).encode())

    own = SimpleNamespace(name="s", figures={"f": {"plot": "own", "title": "<t>"}}, hook=hook)
    row = {"figure": "f", "what": "w", "resources": {"busy": 1}}
    shown = report._own_picture(own, "f", [row, {**row, "resources": {}}])
    assert base64.b64encode(json.dumps([["w", {"busy": 1}]]).encode()).decode() in shown and "&lt;t&gt;" in shown
    assert not report._own_picture(own, "f", [{**row, "resources": {}}])  # published rows have no resources


def test_counts_of_rows():
    rows = [
        {"goal": 1, "met": True, "emery": 1},
        {"goal": 1, "met": False, "emery": 0},
        {"goal": None, "met": True, "emery": 2},
    ]
    rows += [{"goal": None, "met": False, "emery": None}]  # a run that failed
    assert report.counts(range(9), rows) == {"targets": 9, "measured": 4, "met": 1, "missed": 1, "reported": 1}


def test_what_a_page_cannot_say_is_escaped():
    rows = [{"x": x, "series": "<b>", "emery": 1.0, "unit": "&", "what": "<i>"} for x in (1, 2)]
    rows = [{**x, "limit": None, "paper_value": None, "peer_value": None} for x in rows]
    text = report.svg.svg(charts.chart({"title": '"<t>', "x": "<x>"}, rows))
    assert "<b>" not in text and "<x>" not in text and '"<t>' not in text and "&lt;b&gt;" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["report"], "--out"),
        (["report", "--out", ""], "empty"),
        (["report", "--out", "no/such/folder/x.html"], "no/such/folder"),
        (["report", "hostnic", "--out", "x.html"], "hostnic"),
        (["report", "--out", "x.html", "--from", "nowhere"], "nowhere"),
        (
            ["report", SYSTEMS[0].name, "--out", "x.html", "--from", "."],
            f"--from .: no rows of reproduce in it, of {SYSTEMS[0].name}",
        ),
        (["report", "--out", "."], "."),
        (["reproduce", SYSTEMS[0].name, "--published", "--seed", "2"], "--seed"),
        (["reproduce", SYSTEMS[0].name, "--published", "--publish"], "--publish"),
        (["reproduce", SYSTEMS[0].name, "area", "--plot"], "area"),
        (["reproduce", SYSTEMS[0].name, "nosuch", "--published"], "nosuch"),
    ],
)
def test_bad_words(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: ") and says in line
    assert not list(tmp_path.iterdir())


def test_rows_that_are_none(tmp_path, capsys):
    for content in ("{", "[1]", '{"a": 1}', '[{"x": 3}]', json.dumps([{"id": SYSTEMS[0].targets[0].id}])):
        (tmp_path / f"{SYSTEMS[0].name}.json").write_text(content)
        assert main(["report", SYSTEMS[0].name, "--out", str(tmp_path / "x.html"), "--from", str(tmp_path)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
        assert not (tmp_path / "x.html").exists()


def test_published_rows_are_drawn_without_a_run(tmp_path, capsys):
    target = next(x for x in SYSTEMS if any(y.get("plot") is True for y in x.figures.values()))
    rows = published.measured(target)
    name = next(x for x, y in target.figures.items() if y.get("plot") is True and any(z["figure"] == x for z in rows))
    assert main(["reproduce", target.name, name, "--published", "--plot", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert target.figures[name]["title"] in said
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(f"{target.name}-{name}{x}" for x in (".pdf", ".png", ".svg"))


# ---------------------------------------------------------------- the block diagram


@pytest.mark.parametrize("which", SYSTEMS, ids=lambda x: x.name)
def test_the_diagram_is_of_the_rtl(which):
    design = structure.read()
    drawing = diagram.read(design, which.top)
    module = design.modules[which.top]
    shown = {(name, node.label) for name, node in drawing.nodes.items() if not node.port}
    assert shown <= {(x.name, x.module) for x in module.instances}
    left_out = {x.module for x in module.instances} - {label for _, label in shown}
    assert all(design.modules[x].room == "base" or design.modules[x].is_interface for x in left_out)
    assert drawing.edges
    for a, b in drawing.edges:
        assert {a, b} <= set(drawing.nodes)
    text = diagram.svg(drawing, which.top)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert not re.findall(r"NaN|inf|None", re.sub(r"<title>.*?</title>", "", text))


def overlapping(boxes):
    return [
        (a, b)
        for a, p in boxes.items()
        for b, q in boxes.items()
        if a < b and p.x < q.x + q.width and q.x < p.x + p.width and p.y < q.y + q.height and q.y < p.y + p.height
    ]


@pytest.mark.parametrize("which", SYSTEMS, ids=lambda x: x.name)
def test_boxes_do_not_overlap(which):
    def look(drawing):
        assert not overlapping(drawing.boxes)
        assert all(x.x >= 0 and x.x + x.width <= drawing.placed.width + 1e-6 for x in drawing.boxes.values())
        for node in drawing.nodes.values():
            if node.inner:
                look(node.inner)

    look(diagram.read(structure.read(), which.top))


def test_arrows_point_down_where_nothing_closes_a_circle():
    boxes = {x: layers.Box(50 + 10 * i, 20) for i, x in enumerate("abcdef")}
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("e", "d"), ("f", "b")]
    placed = layers.place(boxes, edges)
    assert all(boxes[x].y + boxes[x].height < boxes[y].y for x, y in edges)
    assert len(placed.ways["a", "c"]) == 2 and not overlapping(boxes)
    back = {x: layers.Box(50, 20) for x in "abc"}
    layers.place(back, [("a", "b"), ("b", "c"), ("c", "a")])
    assert len({x.y for x in back.values()}) == 3
    assert layers.place({}, []).width == 0


def test_headers_of_blocks():
    design = structure.read()
    missing = [name for name, x in design.blocks.items() if not headers.header(x.path)]
    assert not missing, "no /// at the head of these blocks"


# ---------------------------------------------------------------- in a browser


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_in_a_browser(page, width, scheme):
    with browser.Browser() as seen:
        seen.screen(width, 800, scheme)
        seen.open(page)
        assert not seen.said
        assert seen.value("document.documentElement.scrollWidth") <= width
        colours = seen.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
        ink, paper = (sum(map(int, re.findall(r"\d+", x)[:3])) for x in colours)
        assert (ink < 200 and paper > 600) if scheme == "light" else (ink > 600 and paper < 200)
        small = seen.value(
            """[...document.querySelectorAll("svg.chart text, svg.blocks text")]
                 .filter(x => x.getBoundingClientRect().height < 8).map(x => x.textContent)"""
        )
        assert not small  # text that nobody could read
        over = seen.value(
            """[...document.querySelectorAll("svg.chart")].flatMap(c => {
                 const t = [...c.querySelectorAll("text.tick,text.axis")].map(x => [x.getBoundingClientRect(), x.textContent]);
                 return t.flatMap(([a, n], i) => t.slice(i + 1).filter(([b]) => a.left < b.right - 1 && b.left < a.right - 1 &&
                   a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([b, m]) => [c.getAttribute("aria-label"), n, m])); })"""
        )
        assert not over  # words on others
        outside = seen.value(
            """[...document.querySelectorAll("svg.chart")].filter(c => [...c.querySelectorAll("text,polyline,rect")].some(x => {
                 const a = x.getBoundingClientRect(), b = c.parentNode.getBoundingClientRect();
                 return a.left < b.left - 1 || a.right > b.right + 1; })).map(c => c.getAttribute("aria-label"))"""
        )
        assert not outside


@in_browser
def test_what_can_be_pointed_at(page):
    with browser.Browser() as seen:
        seen.screen(1280, 900)
        seen.open(page)
        chart = 'document.querySelector("svg.chart[data-chart] .line[data-series=\\"1\\"]").closest("svg")'
        seen.value(f"{chart}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        at = f"(() => {{ const r = {chart}.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2] }})()"
        seen.mouse(*seen.value(at))
        told = seen.value(f'{chart}.parentNode.querySelector(".values").innerText')
        assert told and len(told.splitlines()) >= 2
        unit = seen.value(f"JSON.parse({chart}.dataset.chart).unit")
        assert unit in told.splitlines()[1]
        button = f'{chart}.parentNode.querySelector(".legend button")'
        assert seen.value(f'{button}.click(), {button}.getAttribute("aria-pressed")') == "false"
        assert seen.value(f'getComputedStyle({chart}.querySelector(".line[data-series=\\"0\\"]")).display') == "none"
        table = 'document.querySelector("table.sort")'
        column = f"[...{table}.tBodies[0].rows].map(r => Number(r.cells[1].textContent))"
        before = seen.value(column)
        seen.value(f"{table}.tHead.rows[0].cells[1].click()")
        assert seen.value(column) == sorted(before)
        seen.value(f"{table}.tHead.rows[0].cells[1].click()")
        assert seen.value(column) == sorted(before, reverse=True)
        seen.value(f"{table}.tHead.rows[0].cells[1].click()")
        assert seen.value(column) == before
        block = 'document.querySelector("svg.blocks .block")'
        assert (
            seen.value(f'{block}.dispatchEvent(new PointerEvent("pointerenter")), document.querySelectorAll(".w.near").length')
            >= 1
        )
        assert not seen.said


@in_browser
def test_without_scripts_all_is_there(page):
    with browser.Browser() as seen:
        seen.screen(375)
        seen.open(page, scripts=False)
        assert seen.value('document.querySelectorAll("svg.chart polyline").length') > 50
        assert seen.value('document.querySelectorAll("table.sort tbody tr").length') > 500
        assert not seen.said

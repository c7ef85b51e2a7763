# SPDX-License-Identifier: Apache-2.0
"""The documentation: the site that is made of it, commands that it tells to type, what must not be forgotten in it."""

import contextlib
import functools
import html.parser
import http.server
import json
import os
import re
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import browser
import pytest
import yaml

from emery import __version__, cli, system
from emery.check import every, structure
from emery.cli import main
from emery.common import ROOT, UserError
from emery.pages import blocks, markdown, reference, site

in_browser = pytest.mark.skipif(not browser.find(), reason="no headless Chromium: apt install chromium-headless-shell")
TUTORIALS = [ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
PAGES = [ROOT / x for x in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "systems").rglob("*.md"))]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    assert main(["docs", "--out", str(out)]) == 0
    return out


# ---------------------------------------------------------------- the site


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("link", "script", "img") and (address := found.get("href") or found.get("src")):
            self.fetched.append(address)


def test_every_link_leads_somewhere(built):
    pages = {x: Links(x.read_text()) for x in built.rglob("*.html")}
    wrong = []
    for page, found in pages.items():
        for address in found.links + found.fetched:
            if address in found.fetched and address.startswith(("http:", "https:", "//")):
                wrong.append(f"{page.name}: fetches {address}")
            elif not re.match(r"[a-z]+:", address) and page.name != "404.html":
                path, _, anchor = address.partition("#")
                target = Path(os.path.normpath(page.parent / path)) if path else page
                target = target / "index.html" if target.is_dir() else target
                if not target.exists() or (anchor and target in pages and anchor not in pages[target].ids):
                    wrong.append(f"{page.relative_to(built)}: {address}")
    assert not wrong and len(pages) > 200


def test_every_block_and_system_has_its_page(built):
    design = structure.read()
    for module in design.blocks.values():
        text = (built / blocks.place(module)).with_suffix(".html").read_text()
        assert f"<code>{module.path}</code>" in text
        assert f"module {module.name}" in text or f"interface {module.name}" in text
    for name in system.names():
        target = system.load(name)
        text = (built / target.folder.relative_to(ROOT) / "index.html").read_text()
        assert "block diagram of" in text and all(f"<code>{x}</code>" in text for x in target.parameters)


def test_a_block_has_its_area_and_clock(built):
    rows = blocks.clocks.rows()
    assert rows
    known = structure.read().blocks
    for label, line in rows.items():
        name = label.split("`")[1]
        if name in known:
            text = (built / blocks.place(known[name])).with_suffix(".html").read_text()
            assert "Area and clock" in text and line.split(" | ")[2] in text


def test_every_block_has_numbers_or_a_reason():
    """Of the table of clocks, of docs/blocks.csv, or why there are none; and what has changed since is said."""
    design, rows, measured = structure.read(), blocks.clocks.rows(), every.rows()
    assert every.wanted(design) == set(measured), "./emery timing --every"
    sections = {x: blocks._area(design, x, rows, measured) for x in design.blocks}
    bare = {x for x, text in sections.items() if "| est. ns |" not in text}
    assert bare == {x.name for x in design.blocks.values() if x.is_interface} | {x for x, y in measured.items() if y.why_not}
    assert len(bare) < 12
    one = replace(measured["age_tick"], sources=every.sources(design, "age_tick"))
    told = blocks._area(design, "age_tick", rows, {"age_tick": one})
    assert f"{one.lut:,}" in told and f"| {one.levels} | {one.est_ns:.1f} | {one.mhz:.0f} |" in told and "changed" not in told
    assert "has changed since" in blocks._area(design, "age_tick", rows, {"age_tick": replace(one, sources="")})
    assert "--every age_tick" in blocks._area(design, "age_tick", rows, {})
    assert "no path between two" in sections["rotate"] and "tso=true" in sections["tx_header_fields"]


def test_ports_are_those_of_the_file():
    for module in structure.read().blocks.values():
        text = blocks._ports(module)
        assert text.endswith(";") and all(re.search(rf"\b{x.name}\b", text) for x in module.ports), module.name
        assert not re.search(r"endmodule|always_|assign ", text), module.name


def test_the_schema_is_there(built):
    for name in system.names():
        schema = json.loads((built / "reference" / "schema" / f"{name}.json").read_text())
        assert schema["properties"]["resources"]["properties"] or schema["properties"]["resources"]["patternProperties"]
    text = (built / "reference" / "schema.html").read_text()
    for field in ("streams.NAME", "dropped", "window.steady", "identity.digest", "limit"):
        assert f"<code>{field}</code>" in text, field


@pytest.mark.parametrize(
    ("text", "says"),
    [("[x](nowhere.md)", "nowhere.md"), ("[x](start.md#nothing)", "#nothing"), ("[x](/start.md)", "/start.md")],
)
def test_a_link_that_leads_nowhere(text, says, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(site, "pages", lambda: {"README.md": f"# a\n\n{text}\n", "start.md": "# b\n", blocks.INDEX: "# c\n"})
    monkeypatch.setattr(site, "_nav", lambda found: [{"a": "README.md"}])
    assert main(["docs", "--out", str(tmp_path / "site")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: docs: ") and says in line


@pytest.mark.parametrize("where", ["file", "full", "/proc/x/y", str(ROOT), str(ROOT.parent), ""])
def test_bad_places(where, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    assert main(["docs", "--out", where]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--out" in line and (tmp_path / "full" / "mine").read_text() == "mine"


def test_without_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(site, "ROOT", tmp_path)
    with pytest.raises(UserError, match="checkout"):
        site.sources()


def test_it_can_be_built_again_in_its_place(built):
    before = (built / "index.html").read_text()
    assert main(["docs", "--out", str(built)]) == 0
    assert (built / "index.html").read_text() == before


def test_text_of_comments():
    assert markdown.escaped("a < b and `c < d`") == "a &lt; b and `c < d`"
    assert markdown.escaped("says:\n- one\n  more\n- two\nAfter it.\n") == "says:\n\n- one\n  more\n- two\n\nAfter it.\n"
    assert markdown.lists("```\na\n- b\n```\n") == "```\na\n- b\n```\n"


def test_a_page_that_nobody_named_is_in_the_menu():
    found = {"README.md": "# Emery", "docs/new.md": "# Something: new", "docs/tutorials/a.md": "# A"}
    menus = {next(iter(x)): next(iter(x.values())) for x in site._nav(found)}
    assert menus["How to"] == [{"Something": "docs/new.md"}] and menus["Tutorials"] == [{"A": "docs/tutorials/a.md"}]


@contextlib.contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        server.handle_error = lambda *_: None  # a page that is left while it loads
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(built, scheme):
    pages = ["index.html", blocks.INDEX.replace("README.md", "index.html"), "docs/start.html", "reference/schema.html"]
    target = system.load(system.names()[0])
    pages += [
        f"{target.folder.relative_to(ROOT)}/index.html",
        "docs/architecture.html",
        "reference/commands.html",
        "docs/clocks.html",
    ]
    with served(built) as address, browser.Browser() as seen:
        for page in pages:
            seen.screen(375, 800, scheme)
            seen.open(f"{address}/{page}")
            assert seen.value("document.documentElement.scrollWidth") <= 375, page
            assert seen.value("document.documentElement.dataset.bsTheme") == scheme
            colours = seen.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
            ink, paper = (sum(map(int, re.findall(r"\d+", x)[:3])) for x in colours)
            assert (ink < paper) == (scheme == "light")
        assert not seen.said


@in_browser
@pytest.mark.parametrize("of", ["files", "a server"])
def test_search_in_a_browser(built, of):
    """It finds the page of a block by a word of its head."""
    with served(built) as address, browser.Browser() as seen:
        seen.open(f"{built.as_uri() if of == 'files' else address}/docs/start.html")
        seen.value("document.getElementById('mkdocs-search-query').value = 'change_detect'")
        found = []
        while not found:  # the index is being read; the browser's own time ends it
            seen.value("void document.getElementById('mkdocs-search-query').dispatchEvent(new Event('keyup'))")
            found = seen.value("[...document.querySelectorAll('#mkdocs-search-results a')].map(x => x.href)")
        assert any("change_detect" in x for x in found) and not seen.said, (found, seen.said)


# ---------------------------------------------------------------- what it tells to type


def told(page):
    """The commands of a page that are run, in their order, with what they are to say."""
    text = page.read_text()
    for match in re.finditer(r"^```sh\n(.*?)^```\n(?:\s*<!-- says: (.*?) -->)?", text, re.MULTILINE | re.DOTALL):
        yield match[1].splitlines(), [x.strip() for x in match[2].split(", ")] if match[2] else []


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda x: x.stem)
def test_commands_of_a_tutorial(page, tmp_path):
    for name in ("emery", "rtl", "systems"):
        (tmp_path / name).symlink_to(ROOT / name)
    run = 0
    for commands, words in told(page):
        said = ""
        for command in commands:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            said += done.stdout
            run += 1
        for word in words:
            assert word in said, f"{commands}: {word}\n{said[-3000:]}"
    assert run >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda x: str(x.relative_to(ROOT)))
def test_commands_that_pages_name_are_commands(page):
    names = re.findall(r"\./emery ([a-z][a-z-]*)", page.read_text())
    assert set(names) <= set(cli.commands())


# ---------------------------------------------------------------- what must not be forgotten


def test_environment_variables():
    ours = {"EMERY_SETS", "EMERY_TEST", "EMERY_TEST_TIMES", "EMERY_REACHED"}  # between its own processes
    files = [ROOT / "emery", *(ROOT / "src").rglob("*.py")]
    used = set(re.findall(r"environ(?:\.get)?[\[(]\"(EMERY_\w+)\"", "\n".join(x.read_text() for x in files)))
    said = set(re.findall(r"EMERY_\w+", reference.environment()))
    assert used - ours == said and "CXX" in reference.environment()


def test_commands_and_their_options():
    text = reference.commands()
    for name, parser in cli.parsers().items():
        assert f"\n## {name}\n" in text
        for option in parser._option_string_actions:
            assert option in ("-h", "--help") or f"`{option}" in text, f"{name} {option}"


def test_the_glossary_is_in_order():
    words = re.findall(r"^\| (.+?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)[1:]
    words = [x.strip("`").lower() for x in words]
    assert words == sorted(words) and len(words) == len(set(words)) > 40


def test_versions():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__ and citation["license"] == "Apache-2.0" and citation["authors"]
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == __version__


def test_forms_of_issues():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) >= 3
    for form in forms:
        content = yaml.safe_load(form.read_text())
        if form.name == "config.yml":
            continue
        assert {"name", "description", "body"} <= content.keys(), form.name
        names = [x["id"] for x in content["body"]]
        assert len(names) == len(set(names)) and all(x["attributes"]["label"] for x in content["body"])

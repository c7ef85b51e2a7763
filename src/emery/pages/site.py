# SPDX-License-Identifier: Apache-2.0
"""`./emery docs`: the pages of the checkout, and those made of its sources, as a site (MkDocs; every link leads somewhere).

Pages keep their places, so links between them are those of the checkout. Made are a page a block, what pages of systems have at
their end, and the reference.
"""

import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

from emery import __version__, identity, system
from emery.check import structure
from emery.common import ROOT, UserError
from emery.pages import blocks, provenance, reference
from emery.pages import notebooks as notebook
from emery.pages.markdown import lists

_HERE = Path(__file__).parent
_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_REFERENCE = ("architecture", "systems", "results", "clocks", "checks", "glossary")
_FIRST = ("start", "shell", "traffic", "watch", "search", "sweep")  # in this order; what is not named here comes behind


def sources() -> dict[str, str]:
    """The pages of the checkout, by their places."""
    if not (ROOT / "docs").is_dir():
        raise UserError("docs: the pages are in a checkout, and this is an installed package")
    found = [ROOT / x for x in _TOP if (ROOT / x).exists()]
    found += [page for x in ("docs", "systems", "boards") for page in sorted((ROOT / x).rglob("*.md"))]
    notebooks = {x.with_suffix(".md"): notebook.markdown(x) for x in sorted((ROOT / "docs").rglob("*.ipynb"))}
    written = {x: x.read_text() for x in found} | notebooks
    return {str(x.relative_to(ROOT)): lists(notebook.linked(text)) for x, text in written.items()}


def pages() -> dict[str, str]:
    """All files of the site that are text."""
    design, targets = structure.read(), list(map(system.load, system.names()))
    found = sources() | blocks.pages(design) | reference.results(targets)
    found |= {"reference/commands.md": reference.commands(), "reference/environment.md": reference.environment()}
    for target in targets:
        page = str((target.folder / "README.md").relative_to(ROOT))
        if page in found:
            found[page] += reference.system(design, target)
    style = (_HERE / "report.css").read_text()
    found["extra.css"] = _scoped(style) + (_HERE / "site.css").read_text()
    return found


def _scoped(style: str) -> str:
    """Of the report's style what is of colours and block diagrams; light and dark are what the site is set to."""
    light, dark = (re.search(pattern, style, re.DOTALL)[1] for pattern in (r":root \{(.*?)\}", r"dark\) \{\s*:root \{(.*?)\}"))
    rules = re.findall(
        r"^(?:svg\.blocks|\.block|\.room-|\.part|\.pin|\.w[ .{]|\.wide|marker)[^{]*\{[^}]*\}.*$", style, re.MULTILINE
    )
    return f":root {{{light}}}\n[data-bs-theme=dark] {{{dark}}}\n" + "\n".join(rules) + "\n"


def _title(text: str, page: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return (found[1] if found else page).replace("`", "").split(":")[0]


def _nav(found: dict[str, str]) -> list:
    """The menus: pages of docs/ that nobody put anywhere are how-tos."""
    written = [x for x in found if x.startswith("docs/") and x.endswith(".md")]

    def menu(chosen: list[str]) -> list[dict]:
        return [{_title(found[x], x): x} for x in chosen]

    start = [x for x in written if x == "docs/start.md"]
    tutorials = [x for x in written if x.startswith(("docs/tutorials/", "docs/notebooks/"))]
    facts = [f"docs/{x}.md" for x in _REFERENCE if f"docs/{x}.md" in found]
    rest = [x for x in written if x not in start + tutorials + facts]
    rest.sort(key=lambda x: (_FIRST.index(Path(x).stem) if Path(x).stem in _FIRST else len(_FIRST), x))
    rest += [x for x in found if re.fullmatch(r"boards/.+\.md", x)]
    systems = [x for x in found if re.fullmatch(r"systems/.+\.md", x)]
    systems.sort(key=lambda x: (x.count("/"), x))
    made = [{"Commands": "reference/commands.md"}, {"Environment variables": "reference/environment.md"}]
    made += [{"Schema of results": "reference/schema.md"}]
    project = [{name: x} for name, x in (("Contributing", "CONTRIBUTING.md"), ("Changes", "CHANGELOG.md")) if x in found]
    return [
        {"Start": [{"Emery": "README.md"}, *({"Five minutes": x} for x in start)]},
        {"Tutorials": menu(tutorials)},
        {"Systems": menu(systems)},
        {"How to": menu(rest)},
        {"Blocks": blocks.INDEX},
        {"Reference": [*menu(facts), *made]},
        {"Project": project},
    ]


_COLOURS = {"color_mode": "auto", "user_color_mode_toggle": True}


class _Heard(logging.Handler):
    """What the generator has to say."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record):
        self.lines.append(" ".join(record.getMessage().split()))


def build(out: str):
    """Builds the site; a link that leads nowhere is an error that names it."""
    target = Path(out).absolute()
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / "sitemap.xml").exists())):
        raise UserError(f"--out {out}: not an empty directory, and no site that was built before")
    if target == ROOT or target in ROOT.parents:
        raise UserError(f"--out {out}: the checkout is in it")
    found = pages()
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: {error.strerror}") from error
    with tempfile.TemporaryDirectory(prefix="emery-docs-") as folder:
        work = Path(folder)
        for name, text in found.items():
            path = work / "pages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        _run(work, _nav(found))
        index = work / "site" / "search" / "search_index.json"
        index.with_suffix(".js").write_text(f"searchIndex = {index.read_text()};\n")  # theme/js/search-files.js
        shutil.copytree(work / "site", target, dirs_exist_ok=True)


def _run(work: Path, nav: list):
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config
    from mkdocs.exceptions import MkDocsException

    heard, logger = _Heard(), logging.getLogger("mkdocs")
    logger.addHandler(heard)
    logger.propagate = False
    os.environ.setdefault("SOURCE_DATE_EPOCH", provenance.when())  # the same sources are the same site
    config_file = work / "mkdocs.yml"
    config_file.write_text("site_name: Emery\n")
    try:
        config = load_config(
            str(config_file),
            docs_dir=str(work / "pages"),
            site_dir=str(work / "site"),
            site_url="",
            site_description="Programmable network interfaces and routers as real hardware",
            nav=nav,
            strict=True,
            use_directory_urls=False,
            theme={"name": "mkdocs", "custom_dir": str(_HERE / "theme"), "highlightjs": False, **_COLOURS},
            plugins=["search"],
            extra_css=["extra.css"],
            copyright=f"Emery {__version__}, {identity.commit()[:12] or 'no commit'}; Apache-2.0",
            markdown_extensions=["md_in_html"],
            validation={
                "omitted_files": "ignore",
                "absolute_links": "warn",
                "unrecognized_links": "warn",
                "anchors": "warn",
            },
        )
        make(config)
    except MkDocsException as error:
        raise UserError(f"docs: {next(iter(heard.lines), ' '.join(str(error).split()))}") from error
    finally:
        logger.removeHandler(heard)
    if heard.lines:
        raise UserError(f"docs: {heard.lines[0]}")

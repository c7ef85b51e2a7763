# SPDX-License-Identifier: Apache-2.0
"""`./emery report`: systems on one page, in one file that needs nothing else.

Of each system: block diagram, every figure and table of its paper beside what was measured, what is approximate, and the
command and commit behind each number. It is made of `system.toml`, `measured.json`, the RTL and the system's page, and runs
nothing.
"""

import base64
import json
import re
import tempfile
from html import escape
from pathlib import Path
from string import Template

from emery import pictures, published
from emery.charts import chart
from emery.check import structure
from emery.common import UserError, whole
from emery.limits import percent
from emery.pages import diagram, provenance, svg
from emery.published import number

_HERE = Path(__file__).parent
_SECTIONS = re.compile(r"approximate|departs|not built|not there", re.IGNORECASE)
_FIELDS = {
    "figure",
    "what",
    "unit",
    "x",
    "series",
    "paper",
    "paper_value",
    "peer_value",
    "limit",
    "goal",
    "emery",
    "met",
    "verdict",
}
_MANY = 14  # rows of a figure with a chart, from which on its table is folded up


def rows(system, folder: str | None) -> list[dict]:
    """The rows that are published; with `folder`, those that `reproduce --out` left there in their place. `origin` and
    `commit` say which is which."""
    commits = provenance.published(system)
    found = {
        row["id"]: {"commit": commits.get(row["id"], ""), **row, "origin": "published"} for row in published.measured(system)
    }
    if folder:
        found |= {row["id"]: row | {"origin": "run here"} for row in _from(system, folder)}
    return [found[x.id] for x in system.targets if x.id in found]


def _from(system, folder: str) -> list[dict]:
    """The rows of a run of `reproduce`, as far as they are of targets as they stand."""
    path = Path(folder) / f"{system.name}.json"
    if not Path(folder).is_dir():
        raise UserError(f"--from {folder}: not a directory")
    if not path.exists():
        return []
    known = {x.id for x in system.targets}
    try:
        found = json.loads(path.read_text())
        kept = [x for x in found if x["id"] in known]
        if any(_FIELDS - x.keys() for x in kept):
            raise ValueError
        return [{"commit": "", "lost": None, **x} for x in kept]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"--from {path}: not rows of reproduce") from error


def counts(targets, found: list[dict]) -> dict[str, int]:
    """How many targets there are, have a number, are met, missed, only reported."""
    judged = [x for x in found if x["goal"] is not None]
    met = sum(x["met"] for x in judged)
    reported = sum(x["goal"] is None and x["emery"] is not None for x in found)
    return {"targets": len(targets), "measured": len(found), "met": met, "missed": len(judged) - met, "reported": reported}


# ---------------------------------------------------------------- tables


def _verdict(row: dict) -> tuple[str, str]:
    """Class and words: how a row stands."""
    if row["emery"] is None:
        return "failed", row["verdict"]
    if row["goal"] is None:
        return "told", "reported"
    return ("met", "✓ met") if row["met"] else ("missed", "✗ missed")


def _goal(target, row: dict) -> str:
    if row["goal"] is None:
        return ""
    sign = {">=": "≥", "<=": "≤", "~": "≈"}.get(target.compare, "")
    about = f" ± {target.tolerance:.0%}" if target.compare == "~" else ""
    return f"{sign} {number(row['goal'])}{about}" + (", none lost" if target.lossless else "")


def _how(system, target, row: dict) -> str:
    short = row["commit"][:8] + "+" * row["commit"].endswith("+") if row["commit"] else "unknown"
    words = f"<code>{escape(provenance.command(system, target))}</code>"
    if target.against:
        words += " against another run"
    words += f"<br>{row['origin']}, measure: {escape(target.measure)}"
    return f'<details class="how"><summary>{escape(short)}</summary>{words}</details>'


def _table(system, own: list[dict]) -> str:
    targets = {x.id: x for x in system.targets}
    peer = any(row["peer_value"] is not None for row in own)
    heads = ["", "paper", *["peer"] * peer, "limit", "Emery", "goal", "unit", "lost", "verdict", "commit, command"]
    right = ("peer", "limit", "Emery", "goal", "lost")
    lines = ["<thead><tr>", *(f"<th{' class=n' * (x in right)}>{x}</th>" for x in heads), "</tr></thead><tbody>"]
    for row in own:
        kind, words = _verdict(row)
        target = targets[row["id"]]
        lost = "" if row.get("lost") is None else percent(row["lost"])
        paper = row["paper"] or number(row["paper_value"])
        value = "" if row["paper_value"] is None else f' data-value="{row["paper_value"]}"'
        cells = [f"<th>{escape(row['what'])}</th>", f"<td{value}>{escape(paper)}</td>"]
        numbers = [*[row["peer_value"]] * peer, row["limit"], row["emery"]]
        for x in numbers:
            cells.append(f'<td class="n"{"" if x is None else f" data-value={x!r:.24}"}>{number(x)}</td>')
        cells[-1] = cells[-1].replace('class="n"', 'class="n own"')
        goal_value = "" if row["goal"] is None else f' data-value="{row["goal"]}"'
        cells += [f'<td class="n"{goal_value}>{_goal(target, row)}</td>', f"<td>{escape(row['unit'])}</td>"]
        cells += [f'<td class="n" data-value="{row.get("lost") or 0}">{lost}</td>', f'<td class="{kind}">{escape(words)}</td>']
        lines.append(f'<tr id="{system.name}.{escape(row["id"])}">{"".join(cells)}<td>{_how(system, target, row)}</td></tr>')
    return f'<div class="wide"><table class="sort">{"".join(lines)}</tbody></table></div>'


def _own_picture(system, name: str, own: list[dict]) -> str:
    """The picture of a figure that its system draws itself, where rows have what it is made of: those that were run here."""
    if system.figures.get(name, {}).get("plot") != "own" or not any(row.get("resources") for row in own):
        return ""
    with tempfile.TemporaryDirectory(prefix="emery-report-") as folder:
        (path,) = pictures.pictures(system, own, folder, (".png",))
        data = base64.b64encode(Path(path).read_bytes()).decode()
    title = escape(system.figures[name]["title"])
    return f'<figure class="wide"><img alt="{title}" src="data:image/png;base64,{data}"></figure>'


def _figure(system, name: str, own: list[dict]) -> str:
    figure = system.figures.get(name, {})
    title = f'<h3 id="{system.name}-{name}">{escape(figure.get("title", name))}</h3>'
    source = f'<p class="source">{escape(figure.get("paper", ""))}</p>' if figure.get("paper") else ""
    missing = sum(x.figure == name for x in system.targets) - len(own)
    note = f'<p class="note">{missing} of its numbers are not published.</p>' if missing and own else ""
    if not own:
        how = f"<code>./emery reproduce {system.name} {name}</code>"
        return f'{title}{source}<p class="note">Nothing of it is published: {how}</p>'
    drawn = chart(figure, own) if figure.get("plot") and figure["plot"] != "own" else None
    table = _table(system, own)
    picture = f'<figure class="drawn">{svg.svg(drawn)}</figure>' if drawn else _own_picture(system, name, own)
    if drawn and len(own) > _MANY:
        table = f"<details><summary>{len(own)} rows</summary>{table}</details>"
    return f'<section class="figure">{title}{source}{picture}{note}{table}</section>'


# ---------------------------------------------------------------- systems


def _markdown(text: str) -> str:
    """Markdown of a page as HTML, without its links: they lead to where this file is not."""
    from markdown import markdown

    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    html = markdown(text, extensions=["tables", "fenced_code"])
    html = re.sub(r"</?a\b[^>]*>", "", html)
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def _notes(system) -> str:
    """The sections of its page that say what is not as in the paper, or not as in the world."""
    page = system.folder / "README.md"
    text = page.read_text() if page.exists() else ""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    found = [(title, body) for title, body in zip(parts[1::2], parts[2::2], strict=True) if _SECTIONS.search(title)]
    return "".join(
        f"<details><summary>{escape(title.replace('`', ''))}</summary>{_markdown(body)}</details>" for title, body in found
    )


def diagrams(design, system) -> str:
    """The block diagrams of a system's tops."""
    tops = [system.top, *(x["top"] for x in system.variants if "top" in x)]
    parts = []
    for top in dict.fromkeys(x for x in tops if x in design.modules):
        drawing = diagram.read(design, top)
        parts.append(
            f'<figure><figcaption><code>{top}</code></figcaption><div class="wide">{diagram.svg(drawing, top)}</div></figure>'
        )
    return "".join(parts)


_KEY = (
    '<p class="note">From the RTL: boxes are instances (doubled: several), with what their files say of them when pointed at. '
    "Thick: streams; dashed: register port; thin: other signals. Synchronizers and delays are left out.</p>"
)


def _system(design, system, found: list[dict]) -> str:
    shown = list(dict.fromkeys([*system.figures, *(row["figure"] for row in found)]))
    figures = "".join(_figure(system, name, [x for x in found if x["figure"] == name]) for name in shown)
    commits = ", ".join(sorted({x["commit"][:8] for x in found if x["commit"]})) or "unknown"
    parts = [
        f'<section class="system" id="{system.name}"><h2>{system.name}: {escape(system.title)}</h2>',
        f'<p class="source">After {escape(system.paper)}</p>' if system.paper else "",
        _markdown(system.description),
        f"<h3>Blocks</h3>{_KEY}{diagrams(design, system)}" if system.top in design.modules else "",
        f"{figures}<h3>Where it is not the paper, or not the world</h3>",
        _notes(system) or "<p>Its page has no such section.</p>",
        f'<p class="note">Commits of the rows: {commits}.</p></section>',
    ]
    return "".join(parts)


def _summary(systems: list, found: dict) -> str:
    heads = ("system", "targets", "measured", "goals met", "missed", "reported")
    lines = [f"<thead><tr>{''.join(f'<th class=n>{x}</th>' for x in heads)}</tr></thead><tbody>".replace(" class=n", "", 1)]
    for system in systems:
        cells = "".join(f'<td class="n">{x}</td>' for x in counts(system.targets, found[system.name]).values())
        lines.append(f'<tr><th><a href="#{system.name}">{system.name}</a></th>{cells}</tr>')
    return f'<div class="wide"><table class="sort">{"".join(lines)}</tbody></table></div>'


def page(systems: list, folder: str | None) -> str:
    """The whole page."""
    design = structure.read()
    found = {x.name: rows(x, folder) for x in systems}
    if folder and not any(row["origin"] == "run here" for kept in found.values() for row in kept):
        raise UserError(f"--from {folder}: no rows of reproduce in it, of {', '.join(found)}")
    style, script, whole = ((_HERE / f"report.{x}").read_text() for x in ("css", "js", "html"))
    return Template(whole).substitute(
        names=", ".join(x.name for x in systems),
        style=style,
        script=script,
        jump="".join(f'<a href="#{x.name}">{x.name}</a>' for x in systems),
        summary=_summary(systems, found),
        systems="\n".join(_system(design, x, found[x.name]) for x in systems),
        made="".join(f"<dt>{name}</dt><dd>{escape(x)}</dd>" for name, x in provenance.here().items()),
    )


def write(systems: list, out: str, folder: str | None):
    """Writes the page."""
    text = page(systems, folder)
    with whole(out), open(out, "w", encoding="utf-8") as handle:
        handle.write(text)

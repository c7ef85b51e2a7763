# SPDX-License-Identifier: Apache-2.0
"""What the pages say was measured: rows of `reproduce` kept in the system's folder, and the tables that are made of them.

`measured.json` has a row a target; a page has tables between `<!-- measured: SYSTEM WORDS -->` and `<!-- /measured -->`,
where WORDS are figures, some points of one (`sizes@64,1518`) or ids of targets. `reproduce --publish` writes both; a test
compares.
"""

import json
import re
from pathlib import Path

from emery.common import ROOT, UserError, in_checkout
from emery.limits import percent

BESIDE = {"limit": "limit", "paper": "paper_value", "peer": "peer_value"}  # what stands beside Emery's numbers: fields of rows
WITHIN = 0.02  # by which a row may come out otherwise than it was published
_ALIKE = 1e-3  # numbers of two series that differ by no more are one
_BLOCK = re.compile(r"(<!-- measured: (\S+) ([^>]*?) -->\n).*?(<!-- /measured -->)", re.DOTALL)


def _file(system) -> Path:
    return system.folder / "measured.json"


def measured(system) -> list[dict]:
    """The rows that were kept, in the order of the system's targets."""
    try:
        return json.loads(_file(system).read_text())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UserError(f"{in_checkout(_file(system))}: {error}") from error


def _rounded(row: dict) -> dict:
    kept = {name: x for name, x in row.items() if name != "resources"}
    return {name: float(f"{x:.6g}") if isinstance(x, float) else x for name, x in kept.items()}


def keep(system, rows: list[dict]):
    """Puts rows in the place of those of the same targets; rows of targets that are no more go."""
    known = {row["id"]: row for row in [*measured(system), *map(_rounded, rows)]}
    lines = [json.dumps(known[x.id], ensure_ascii=False) for x in system.targets if x.id in known]
    _file(system).write_text("[\n" + ",\n".join(lines) + "\n]\n")


def moved(system, rows: list[dict]) -> list[str]:
    """What of these rows comes out otherwise than it is published: a line each, `target: was, is`."""
    before = {row["id"]: row for row in measured(system)}
    pairs = [(before[row["id"]], row) for row in rows if row["id"] in before]
    return [f"{was['id']}: published {_emery(was)}, now {_emery(row)}" for was, row in pairs if not _same(was, row)]


def _same(was: dict, row: dict) -> bool:
    """Whether two rows say the same of one target: number, what was lost, whether the goal is met."""
    if was["emery"] is None or row["emery"] is None:
        return was["emery"] is row["emery"]
    number = abs(row["emery"] - was["emery"]) <= WITHIN * max(abs(was["emery"]), 1e-3)
    return number and abs((row.get("lost") or 0) - (was.get("lost") or 0)) <= WITHIN and row["met"] == was["met"]


def pages(system) -> list[Path]:
    """The pages that may have tables of this system."""
    common = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if system.folder.is_relative_to(ROOT) else []
    return [*common, *sorted(system.folder.rglob("*.md"))]


def filled(system, text: str) -> str:
    """A page's text with the tables of this system as its rows are now."""
    rows = measured(system)

    def block(match):
        head, name, words, end = match.groups()
        if name != system.name:
            return match[0]
        return f"{head}\n{_tables(rows, words.split())}\n\n{end}"

    return _BLOCK.sub(block, text)


def write(system):
    """Brings the tables of this system up to date, in all pages."""
    for page in pages(system):
        text = page.read_text()
        new = filled(system, text)
        if new != text:
            page.write_text(new)


def number(value) -> str:
    """A number of a table."""
    if value is None:
        return ""
    if value and not 1e-3 <= abs(value) < 1e4:  # no powers of ten in a table
        return f"{value:,.0f}" if abs(value) >= 1 else f"{value:.4f}"
    return f"{value:.4g}"


def _emery(row: dict) -> str:
    """What was measured, with what was lost and the goal when it was missed."""
    if row["emery"] is None:
        return row["verdict"].removeprefix("failed: ")
    notes = [f"{percent(row['lost'])} lost"] if row.get("lost") else []
    notes += [] if row["met"] else [f"goal {number(row['goal'])}"]
    return number(row["emery"]) + (f" ({', '.join(notes)})" if notes else "")


def _lines(cells: list[list[str]]) -> str:
    cells.insert(1, ["---"] * len(cells[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _list(rows: list[dict]) -> str:
    peer = any(row["peer_value"] is not None for row in rows)
    cells = [["", "paper", *["peer"] * peer, "limit", "Emery", "unit"]]
    for row in rows:
        numbers = [number(row["peer_value"])] * peer + [number(row["limit"])]
        cells.append([row["what"], row["paper"], *numbers, _emery(row), row["unit"]])
    return _lines(cells)


def beside(rows: list[dict], key: str) -> tuple[dict, dict]:
    """A column's numbers: {x: number} that all series of a figure share, or {series: {x: number}}; the other is empty."""
    found: dict = {}
    for row in rows:
        if row[key] is not None:
            found.setdefault(row["series"], {})[row["x"]] = row[key]
    shared: dict = {}
    for own in found.values():
        shared = own | shared
    same = all(abs(shared[x] - y) <= _ALIKE * abs(y) for own in found.values() for x, y in own.items())
    return (shared, {}) if same else ({}, found)


def _curves(rows: list[dict]) -> str:
    """A line a series, a column a place on the axis."""
    places = sorted({row["x"] for row in rows})
    cells = [[rows[0]["unit"], *map(number, places)]]
    names = list(dict.fromkeys(row["series"] for row in rows))
    numbers = {label: beside(rows, key) for label, key in BESIDE.items()}
    for label, (shared, _) in numbers.items():
        if shared:
            cells.append([label, *(number(shared.get(x)) for x in places)])
    for name in names:
        own = {row["x"]: _emery(row) for row in rows if row["series"] == name}
        cells.append([name or "Emery", *(own.get(x, "") for x in places)])
        for label, (_, apart) in numbers.items():
            if name in apart:
                cells.append([f"{name}, {label}", *(number(apart[name].get(x)) for x in places)])
    return _lines(cells)


def _tables(rows: list[dict], words: list[str]) -> str:
    """Tables of what the words name: a figure (its points as columns; `NAME@64,128`: these points of it), an id of a target."""
    listed, tables = [], []
    for word in words:
        name, _, places = word.partition("@")
        found = [row for row in rows if name in (row["figure"], row["id"])]
        curves = [row for row in found if row["x"] is not None and name == row["figure"]]
        if places:
            curves = [row for row in curves if f"{row['x']:g}" in places.split(",")]
        if not found or (places and not curves):
            raise UserError(f"no figure or target {word} was measured")
        listed += [] if places else [row for row in found if row["x"] is None or name == row["id"]]
        tables += [_curves(curves)] if curves else []
    return "\n\n".join([_list(listed)] * bool(listed) + tables)

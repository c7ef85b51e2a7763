# SPDX-License-Identifier: Apache-2.0
"""A page for every block of rtl/, of what its file says: contract, ports, who has it, tests; area and clock where published."""

import os
import re

from emery.check import clocks, every
from emery.check.structure import ROOMS, Design, Module
from emery.common import ROOT
from emery.pages.headers import header, sentence
from emery.pages.markdown import escaped

INDEX = "blocks/README.md"


def place(module: Module) -> str:
    """Where a block's page is."""
    return f"blocks/{module.room}/{module.name}.md"


def _link(design: Design, name: str, source: str) -> str:
    """A block's name, leading to its page from that of `source`."""
    if name not in design.blocks:
        return f"`{name}`"
    return f"[`{name}`]({os.path.relpath(place(design.blocks[name]), os.path.dirname(source))})"


def _ports(module: Module) -> str:
    """Its parameters and ports as the file has them."""
    text = (ROOT / module.path).read_text()
    at = re.search(rf"^(?:module|interface)\s+{module.name}\b", text, re.MULTILINE)
    depth, end = 0, at.end()
    for end in range(at.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if text[end] == ";" and depth == 0 and not text[at.start() : end].rstrip().endswith("*"):
            if (
                re.search(r"\bimport\b[^;]*$", text[at.start() : end])
                and "(" not in text[at.start() : end].rpartition("import")[2]
            ):
                continue  # of the header's imports
            break
    return text[at.start() : end + 1]


_MEASURED = (
    "| system, its settings | LUT + LUT as memory / flip-flop / RAMB36 | levels | est. ns | cal. MHz | declared |\n"
    "|---|---|---|---|---|---|\n"
)


def _measured(design: Design, one: every.Row) -> str:
    """The line of a block of docs/blocks.csv, and what there is to say of it."""
    if one.why_not:
        return f"Not measured: {escaped(one.why_not)}.\n"
    memory = f" + {one.lut_memory:,}" if one.lut_memory else ""
    area = f"{one.lut:,}{memory} / {one.flip_flop:,} / {one.ramb36:g}" + (f", {one.dsp} DSP" if one.dsp else "")
    path = (str(one.levels), f"{one.est_ns:.1f}", f"{one.mhz:.0f}" if one.clock else "-", f"{one.declared_mhz:g}")
    cells = (
        f"{one.system}, {f'`{one.set}`' if one.set else 'defaults'}",
        area,
        *path[:3],
        path[3] if one.declared_mhz else "-",
    )
    notes = []
    if not one.clock:
        notes.append("There is no path between two registers: the longest from, to or between ports stands here.")
    if one.sources != every.sources(design, one.block):
        notes.append(f"Its file, or one below it, has changed since: `./emery timing --every {one.block}` measures it again.")
    return f"{_MEASURED}| {' | '.join(cells)} |\n\n" + " ".join(
        [*notes, "What the columns mean: [clocks](../../docs/clocks.md).\n"]
    )


def _area(design: Design, name: str, rows: dict[str, str], measured: dict[str, every.Row]) -> str:
    """Its lines of the table of docs/clocks.md; or as the first system that has it has it (docs/blocks.csv)."""
    own = [line for label, line in rows.items() if re.match(rf"`{name}`(?= |$)", label)]
    if own:
        text = f"{clocks.HEAD}{''.join(own)}\nWhat the columns mean: [clocks](../../docs/clocks.md).\n"
    elif design.blocks[name].is_interface:
        text = "None of its own: an interface is wires.\n"
    elif name in measured:
        text = _measured(design, measured[name])
    else:
        text = f"Not measured: `./emery timing --every {name}` does that.\n"
    return f"## Area and clock\n\n{text}"


def page(design: Design, module: Module, rows: dict[str, str], measured: dict[str, every.Row]) -> str:
    """The page of a block."""
    here = place(module)
    systems = [s for s, names in sorted(design.reach.items()) if module.name in names]
    parents = sorted(x.name for x in design.modules.values() if module.name in x.children)
    parts = sorted(module.children & design.modules.keys())
    tests = sorted({str(x.path) for x in design.tests if module.name in x.children})
    below = sorted({str(x.path) for x in design.tests if module.name in design.below(x.children)} - set(tests))
    folders = {s: s.replace("-", "_") for s in systems}
    said = [f"[{s}](../../systems/{folders[s]}/README.md)" for s in systems]
    lists = {
        "in": ", ".join(said) or "no system",
        "used by": " ".join(_link(design, x, here) for x in parents) or "nothing",
        "made of": " ".join(_link(design, x, here) for x in parts) or "itself alone",
        "packages": " ".join(f"`{x}`" for x in sorted(module.packages)) or "none",
        "tests and proofs": ", ".join(f"`{x}`" for x in tests) or "none of its own",
        "tested within": ", ".join(f"`{x}`" for x in below[:6]) + (f" and {len(below) - 6} more" if len(below) > 6 else ""),
    }
    table = "".join(f"| {name} | {x} |\n" for name, x in lists.items() if x)
    return (
        f"# {module.name}\n\n`{module.path}`, {module.lines} lines\n\n{escaped(header(module.path))}\n\n"
        f"| | |\n|---|---|\n{table}\n{_area(design, module.name, rows, measured)}\n"
        f"## Parameters and ports\n\n```systemverilog\n{_ports(module)}\n```\n"
    )


def index(design: Design) -> str:
    """All blocks, room by room, a sentence each."""
    lines = [
        "# Blocks",
        "",
        f"{len(design.blocks)} modules and interfaces of `rtl/`, by room; each page is made of its file. What rooms are for: "
        "[architecture](../docs/architecture.md). To take one into a design of your own: [export](../docs/export.md).",
    ]
    for room in ROOMS:
        inside = sorted((x for x in design.blocks.values() if x.room == room), key=lambda x: x.name)
        if inside:
            lines += ["", f"## {room}", "", "| block | |", "|---|---|"]
            for x in inside:
                about = escaped(sentence(x.path)).replace("|", r"\|")
                lines.append(f"| {_link(design, x.name, INDEX)} | {about} |")
    return "\n".join(lines) + "\n"


def pages(design: Design) -> dict[str, str]:
    """All of them: path in the site to text."""
    rows, measured = clocks.rows(), every.rows()
    return {INDEX: index(design)} | {place(x): page(design, x, rows, measured) for x in design.blocks.values()}

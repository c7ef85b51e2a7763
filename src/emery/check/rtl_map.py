# SPDX-License-Identifier: Apache-2.0
"""`./emery map`: the RTL for people, as emery.check.structure sees it."""

import re

from emery import report
from emery.check import duplicates, structure, wiring
from emery.check.structure import ROOMS, Design, Module

_PLUMBING = re.compile(r"clk|rst")  # a clock or reset that is handed on says nothing about the wiring


def _summary(design: Design) -> str:
    sizes = sorted(x.lines for x in design.modules.values())
    return (
        f"{len(sizes)} modules and interfaces, {sum(sizes):,} lines, median {sizes[len(sizes) // 2]}, "
        f"over 250: {sum(x > 250 for x in sizes)}; {len(design.tests)} tests and proofs besides\n"
        f"in more than one system: {len(design.shared)} modules, {sum(x.lines for x in design.shared):,} lines, "
        f"{design.shared_share:.1%} of all"
    )


def _rooms(design: Design) -> list[list]:
    rows = [["room", "uses", "systems", "blocks", "lines", "tests"]]
    tops = sorted({x.room for x in design.modules.values()} - set(ROOMS))
    for room in [*ROOMS, *tops]:
        inside = [x for x in design.modules.values() if x.room == room]
        if inside:
            uses = sorted((b for a, b in design.arrows if a == room), key=lambda x: (ROOMS.index(x) if x in ROOMS else 99, x))
            systems = sum(any(x.name in names for x in inside) for names in design.reach.values())
            tests = sum(x.room == room for x in design.tests)
            rows.append([room, " ".join(uses) or "-", systems, len(inside), f"{sum(x.lines for x in inside):,}", tests])
    return rows


def _handed_on(design: Design, module: Module) -> int:
    """How many ports go as they are to one instance: the module is in their way."""
    ports = {x.name for x in module.ports if not _PLUMBING.search(x.name)}
    most = 0
    for instance in module.instances:
        wires = wiring.of(design, module.name).wires(instance)
        most = max(most, sum(len(names) == 1 and {x[0] for x in names} <= ports for names in wires.values()))
    return most


def _longest(design: Design, count: int) -> list[list]:
    rows = [["module", "lines", "ports", "handed on", "instances", "systems"]]
    for x in sorted(design.modules.values(), key=lambda m: -m.lines)[:count]:
        systems = sum(x.name in names for names in design.reach.values())
        rows.append([x.name, x.lines, len(x.ports), _handed_on(design, x), len(x.instances), systems])
    return rows


def text(count: int = 15) -> str:
    """The whole map."""
    design = structure.read()
    parts = [_summary(design), report.table(_rooms(design), left=2)]
    against = [f"{a} -> {b}: {len(why)}, {min(why)}" for (a, b), why in design.against_the_order().items()]
    parts.append("\n".join(["against the order of the rooms:", *(against or ["nothing"])]))
    if design.circles():
        parts.append("\n".join(["rooms in a circle:", *map(" <-> ".join, design.circles())]))
    parts.append(f"blocks in no system: {' '.join(design.unused()) or 'none'}")
    parts.append(f"blocks in no test and no proof: {' '.join(design.untested()) or 'none'}")
    wires = [["module of a system", "ports", "lines", "more than wiring"]]
    wires += [[x.name, len(x.ports), x.lines, len(wiring.problems(design, x))] for x in design.wiring()]
    parts.append(report.table(wires))
    parts.append(report.table(_longest(design, count)))
    parts.append("\n".join([f"places that say the same: {len(duplicates.read())}", *map(str, duplicates.read())]))
    return "\n\n".join(parts)


def modules() -> str:
    """Every module: where it is, how large, who uses it."""
    design = structure.read()
    parents = {name: sorted(x.name for x in design.modules.values() if name in x.children) for name in design.modules}
    rows = [["module", "file", "used by", "systems", "lines", "ports"]]
    for x in sorted(design.modules.values(), key=lambda m: m.path):
        systems = [s for s, names in sorted(design.reach.items()) if x.name in names]
        rows.append([x.name, x.path, " ".join(parents[x.name]) or "-", " ".join(systems) or "-", x.lines, len(x.ports)])
    return report.table(rows, left=4)

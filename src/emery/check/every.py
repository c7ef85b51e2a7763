# SPDX-License-Identifier: Apache-2.0
"""`./emery timing --every`: area and clock of each block of rtl/ that docs/clocks.md has no row of, kept in docs/blocks.csv.

A block is taken as the first system has it that has it at all: with the system's defaults, or with settings of `[[also]]` in
rtl/timing.toml. A row keeps a digest of the sources it was measured from, so that what was interrupted and what has changed
since is what is left to do.
"""

import csv
import io
import os
from dataclasses import asdict, dataclass, fields
from functools import cache

from emery import system
from emery.check import blocks, clocks, structure, synthesis, timing
from emery.check.structure import Design
from emery.common import ROOT, UserError, nearest
from emery.make import build
from emery.make import cache as entries
from emery.terminal import Progress

FILE = ROOT / "docs" / "blocks.csv"


@dataclass(frozen=True)
class Row:
    """A block as it was measured; or why it could not be."""

    block: str
    system: str = ""
    set: str = ""  # settings of the system, with spaces between
    lut: int = 0
    lut_memory: int = 0
    flip_flop: int = 0
    ramb36: float = 0.0
    dsp: int = 0
    clock: str = ""  # the tightest; empty: without a path between registers the longest from, to or between ports stands here
    levels: int = 0
    est_ns: float = 0.0
    declared_mhz: float = 0.0  # 0: the system does not declare this clock
    why_not: str = ""
    sources: str = ""  # digest of its file and of those below it

    @property
    def mhz(self) -> float:
        """The clock that its longest path allows."""
        return 1000 / (timing.CALIBRATION * max(self.est_ns, 0.1))


def rows() -> dict[str, Row]:
    """What is kept, by block."""
    if not FILE.exists():
        return {}
    kinds = {x.name: x.type for x in fields(Row)}
    with open(FILE, newline="") as handle:
        return {x["block"]: Row(**{name: kinds[name](value) for name, value in x.items()}) for x in csv.DictReader(handle)}


def write(kept: dict[str, Row]):
    """Writes them, in the order of their names."""
    text = io.StringIO()
    table = csv.DictWriter(text, [x.name for x in fields(Row)], lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(kept[x]) for x in sorted(kept))
    whole = FILE.with_name(f"{FILE.name}.{os.getpid()}")
    whole.write_text(text.getvalue())
    whole.replace(FILE)  # at once: who reads meanwhile, or another that measures, has all of it


def wanted(design: Design) -> set[str]:
    """The blocks that are to have a row: those with logic that are not in the table of docs/clocks.md."""
    return {x.name for x in design.blocks.values() if not x.is_interface} - {x.name for x in clocks.declared()}


def sources(design: Design, name: str) -> str:
    """Digest of a block's file and of those below it, as synthesis sees them."""
    files = sorted(design.modules[x].path for x in design.below({name}))
    return entries.digest([(str(x), synthesis.seen(ROOT / x)) for x in files])[:12]


@cache
def _modules(name: str, settings: tuple[str, ...]) -> frozenset[str]:
    """What a system is made of with these settings."""
    chosen = system.load(name)
    elaborated = blocks.elaborate(build.system_rtl(chosen, chosen.values(list(settings))))
    return frozenset(x.definition.name for x in elaborated.instances.values())


def taken(design: Design, name: str) -> tuple[str, tuple[str, ...]]:
    """The system that a block is measured in, and that one's settings."""
    for one, settings in [*((x, ()) for x in system.names()), *clocks.also()]:
        if name in design.reach[one] and name in _modules(one, settings):
            return one, settings
    raise UserError(f"{name}: no system has it with its defaults, nor with settings of [[also]] in rtl/timing.toml")


def measure(design: Design, name: str) -> Row:
    """What a block is now."""
    one, settings, digest = "", (), sources(design, name)
    try:
        one, settings = taken(design, name)
        found = timing.measure(blocks.subject(name, list(settings), one), 1)
    except UserError as error:
        return Row(name, one, " ".join(settings), why_not=str(error), sources=digest)
    cells = {kind: found.cells[kind] for kind in ("LUT", "LUT as memory", "flip-flop", "RAMB36", "DSP")}
    inside = [x for x in found.clocks if x.slowest]
    if inside:
        clock = min(inside, key=lambda x: x.spare if x.spare is not None else x.calibrated_mhz)
        path = (clock.name, clock.levels, clock.estimated_ns, round(clock.declared_mhz or 0.0, 3))
    else:
        ways = [(x.estimated_ns, x.levels) for x in (*found.inputs, *found.outputs, *found.through)]
        ns, levels = max(ways, default=(0.0, 0))
        path = ("", levels, ns, 0.0)
    return Row(name, one, " ".join(settings), *cells.values(), *path, sources=digest)


def update(names: list[str], say):
    """Measures these blocks, or without names those that have no row or whose sources have changed, the smallest first."""
    design = structure.read()
    known, kept = wanted(design), rows()
    for name in names:
        if name not in known:
            other = " (it is in rtl/timing.toml: --publish)" if name in design.blocks else nearest(name, known)
            raise UserError(f"timing --every has no block {name}{other}")
    todo = names or [x for x in known if x not in kept or kept[x].sources != sources(design, x)]
    todo = sorted(todo, key=lambda x: (sum(design.modules[y].lines for y in design.below({x})), x))
    progress = Progress("measuring blocks")
    try:
        for at, name in enumerate(todo):
            progress.update(at, len(todo), name)
            row = measure(design, name)
            kept = {x: y for x, y in rows().items() if x in known} | {name: row}
            write(kept)  # at once: what is interrupted goes on from here
            numbers = f"{row.lut:,} LUT, {row.flip_flop:,} flip-flops, {row.levels} levels, {row.est_ns:.1f} ns"
            say(f"{name}: {row.why_not or numbers}")
    finally:
        progress.done()
    write({x: y for x, y in rows().items() if x in known})

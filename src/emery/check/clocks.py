# SPDX-License-Identifier: Apache-2.0
"""What `rtl/timing.toml` declares: blocks and their bars, registers that may see another clock; and docs/clocks.md, with what
its rows were measured from (docs/clocks.json): a row of the sources that are there need not be measured again."""

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emery import report
from emery.check import blocks, netlist, synthesis, timing
from emery.common import ROOT, UserError, nearest
from emery.make import cache as entries

PAGE = ROOT / "docs" / "clocks.md"
_SOURCES = PAGE.with_suffix(".json")  # digests by what stands first in the rows
SAME = 0.03  # how near a page's numbers are to what is measured
_BEGIN, _END = "<!-- clocks -->\n", "<!-- /clocks -->"
HEAD = (
    "| block | system | LUT + LUT as memory / flip-flop / RAMB36 | peer | levels | est. ns | cal. MHz | declared | |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


@dataclass(frozen=True)
class Block:
    """A block of the table, or a system; with `levels`, `ns` and `lut` it is one the suite measures."""

    name: str
    system: str
    set: tuple[str, ...] = ()
    peer: str = "-"
    levels: int | None = None
    ns: float | None = None
    lut: int | None = None

    @property
    def label(self) -> str:
        """What stands first in its row."""
        return " ".join([f"`{self.name}`", *self.set])

    def subject(self) -> blocks.Subject:
        """What is synthesized."""
        within = None if self.name == self.system else self.system  # a whole system may be one, too
        return blocks.subject(self.name, list(self.set), within)

    def measure(self) -> timing.Timing:
        """What it is now."""
        return timing.measure(self.subject())

    def sources(self) -> str:
        """Digest of all that its row follows from: its RTL with its parameters, Yosys, and what reads the netlist."""
        tools = [entries.file_digest(Path(x.__file__)) for x in (netlist, timing, blocks)]
        return entries.digest(synthesis.mapped_key(self.subject()), tools)


def _declared() -> dict:
    with open(ROOT / "rtl" / "timing.toml", "rb") as handle:
        return tomllib.load(handle)


@cache
def declared() -> list[Block]:
    """The blocks of the table."""
    return [Block(**{**x, "set": tuple(x.get("set", ()))}) for x in _declared()["block"]]


def also() -> list[tuple[str, tuple[str, ...]]]:
    """Systems and their settings, for blocks that no system has with its defaults."""
    return [(x["system"], tuple(x["set"])) for x in _declared()["also"]]


def crossings() -> dict[str, dict]:
    """Registers that may see another clock."""
    return _declared()["crossing"]


def outside() -> dict:
    """What lies outside a top, for its constraints."""
    return _declared()["outside"]


def _cells(block: Block, found: timing.Timing) -> list[str]:
    """What the table says of a block: of its clocks the one that is tightest."""
    cells = {kind: f"{n:,g}" for kind, n in found.cells.items()}
    memory = f" + {cells['LUT as memory']}" if found.cells["LUT as memory"] else ""
    more = f", {cells['DSP']} DSP" if found.cells["DSP"] else ""
    area = f"{cells['LUT']}{memory} / {cells['flip-flop']} / {cells['RAMB36']}{more}"
    clock = _tightest(found)
    mhz = str(round(clock.declared_mhz or 0, 3) or "-")
    numbers = [str(clock.levels), f"{clock.estimated_ns:.1f}", f"{clock.calibrated_mhz:.0f}", mhz]
    return [block.label, block.system, area, block.peer, *numbers, timing.verdict(clock)]


def _tightest(found: timing.Timing) -> timing.Clock:
    return min(found.clocks, key=lambda x: x.spare if x.spare is not None else x.calibrated_mhz)


def row(block: Block, found: timing.Timing) -> str:
    """The block's line of the table."""
    return f"| {' | '.join(_cells(block, found))} |\n"


def bar(block: Block) -> tuple[int, float, int]:
    """The most levels, nanoseconds and LUTs it may have: those declared, or what the page says and a little."""
    if block.levels:
        return block.levels, block.ns, block.lut
    levels, ns, lut = said(block)
    most = 1 + SAME
    return levels, round(ns * most + 0.05, 2), int(lut * most)


def said(block: Block) -> tuple[int, float, int]:
    """Levels, nanoseconds and LUTs that the page's row has."""
    cells = rows()[block.label].split(" | ")
    return int(cells[4]), float(cells[5]), int(cells[2].split(" ")[0].replace(",", ""))


def up_to_date(block: Block) -> bool:
    """Whether the page's row was measured from the sources that are there."""
    return _kept().get(block.label) == block.sources()


def _kept() -> dict[str, str]:
    return json.loads(_SOURCES.read_text()) if _SOURCES.exists() else {}


def over(block: Block, found: timing.Timing) -> str:
    """In what a block is above its bar; empty: in nothing."""
    clock = _tightest(found)
    return above(block, (clock.levels, clock.estimated_ns, found.cells["LUT"]))


def above(block: Block, now: tuple[int, float, float]) -> str:
    """The same of levels, nanoseconds and LUTs."""
    names = ("levels", "ns", "LUT")
    return ", ".join(f"{x:,g} {name} > {most:,g}" for name, x, most in zip(names, now, bar(block), strict=True) if x > most)


def compare(name: str, say) -> tuple[str, bool]:
    """The blocks of a system beside the peer's and beside what they were: a table, and whether one is above its bar."""
    area, numbers = ("LUT + as memory / FF / RAMB36", "peer", "LUT / peer's"), ("levels", "est. ns", "cal. MHz", "declared", "")
    lines, worse = [["block", *area, *numbers, "bar"]], False
    for block in (x for x in declared() if x.system == name):
        found = block.measure()
        label, _, area, peer, *numbers = _cells(block, found)
        first = re.match(r"[\d,]+", peer)
        ratio = f"{found.cells['LUT'] / int(first[0].replace(',', '')):.2f}" if first else ""
        above = over(block, found)
        worse = worse or bool(above)
        say(f"{label}: {above or 'within its bar'}")
        lines.append([label.replace("`", ""), area, peer, ratio, *numbers, above or "within"])
    if len(lines) == 1:
        raise UserError(f"{name} has no block in rtl/timing.toml")
    return report.table(lines, left=3), worse


def rows() -> dict[str, str]:
    """The page's lines, by what stands first in them."""
    table = PAGE.read_text().partition(_BEGIN)[2].partition(_END)[0]
    return {x.split(" | ")[0].removeprefix("| "): f"{x}\n" for x in table.splitlines()[2:]}


def publish(names: list[str], say):
    """Measures these blocks (all, without names) and puts them into the page's table; the lines of others stay."""
    known = {x.name for x in declared()}
    for name in names:
        if name not in known:
            raise UserError(f"rtl/timing.toml has no block {name}{nearest(name, known)}")
    for block in declared():
        if not names or block.name in names:
            found = block.measure()
            line = row(block, found)
            say(line.strip())
            write({**rows(), block.label: line})
            labels = {x.label for x in declared()} - {block.label}
            clean = not found.loops and not found.unknown and _tightest(found).declared_mhz
            kept = {x: y for x, y in _kept().items() if x in labels} | ({block.label: block.sources()} if clean else {})
            _SOURCES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def write(lines: dict[str, str]):
    """Writes the table: the blocks that are declared, in their order, as far as there is a line."""
    head, _, rest = PAGE.read_text().partition(_BEGIN)
    table = HEAD + "".join(lines[x.label] for x in declared() if x.label in lines)
    PAGE.write_text(f"{head}{_BEGIN}{table}{_END}{rest.partition(_END)[2]}")

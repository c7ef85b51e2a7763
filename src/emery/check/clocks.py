# SPDX-License-Identifier: Apache-2.0
"""What `rtl/timing.toml` declares: blocks and their bars, registers that may see another clock; and docs/clocks.md."""

import tomllib
from dataclasses import dataclass
from functools import cache

from emery.check import blocks, timing
from emery.common import ROOT, UserError, nearest

PAGE = ROOT / "docs" / "clocks.md"
_BEGIN, _END = "<!-- clocks -->\n", "<!-- /clocks -->"
_HEAD = (
    "| block | system | LUT + LUT as memory / flip-flop / RAMB36 | peer | levels | est. ns | cal. MHz | declared | |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


@dataclass(frozen=True)
class Block:
    """A block of the table; with `levels`, `ns` and `lut` it is one the suite measures."""

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

    def measure(self) -> timing.Timing:
        """What it is now."""
        return timing.measure(blocks.subject(self.name, list(self.set), self.system))


def _declared() -> dict:
    with open(ROOT / "rtl" / "timing.toml", "rb") as handle:
        return tomllib.load(handle)


@cache
def declared() -> list[Block]:
    """The blocks of the table."""
    return [Block(**{**x, "set": tuple(x.get("set", ()))}) for x in _declared()["block"]]


def crossings() -> dict[str, dict]:
    """Registers that may see another clock."""
    return _declared()["crossing"]


def outside() -> dict:
    """What lies outside a top, for its constraints."""
    return _declared()["outside"]


def row(block: Block, found: timing.Timing) -> str:
    """The block's line of the table: of its clocks the one that is tightest."""
    cells = {kind: f"{n:,g}" for kind, n in found.cells.items()}
    memory = f" + {cells['LUT as memory']}" if found.cells["LUT as memory"] else ""
    more = f", {cells['DSP']} DSP" if found.cells["DSP"] else ""
    area = f"{cells['LUT']}{memory} / {cells['flip-flop']} / {cells['RAMB36']}{more}"
    clock = min(found.clocks, key=lambda x: x.spare if x.spare is not None else x.calibrated_mhz)
    numbers = f"{clock.levels} | {clock.estimated_ns:.1f} | {clock.calibrated_mhz:.0f} | {clock.declared_mhz or '-'}"
    return f"| {block.label} | {block.system} | {area} | {block.peer} | {numbers} | {timing.verdict(clock)} |\n"


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
            line = row(block, block.measure())
            say(line.strip())
            write({**rows(), block.label: line})


def write(lines: dict[str, str]):
    """Writes the table: the blocks that are declared, in their order, as far as there is a line."""
    head, _, rest = PAGE.read_text().partition(_BEGIN)
    table = _HEAD + "".join(lines[x.label] for x in declared() if x.label in lines)
    PAGE.write_text(f"{head}{_BEGIN}{table}{_END}{rest.partition(_END)[2]}")

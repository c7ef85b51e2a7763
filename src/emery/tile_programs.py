# SPDX-License-Identifier: Apache-2.0
"""What is loaded into tile-router to make it a router: programs of tiles and switches, what each tile is told, slots.

`python -m emery.tile_programs VERSION [--linecards N] [--columns N] [-o FILE]` writes a boot image, a text file for the
bench: what is where, then the writes to the boot port in their order (rtl/mesh/boot_pkg.sv). `--ship` compiles all programs
and writes their built files. Layouts are drawn in systems/tile_router/programs/README.md.

    version III                 the version
    grid 4 4                    columns, rows
    linecard P IN OUT           port P: slot where its frames come in, slot where they leave
    memory SLOT KIND            table: the lookup tables (dir24.hpp) from address 0; payload: a packet buffer
    tile T ROLE PIPELINE        what runs on a tile
    counter NAME TILE ADDRESS   a counter in the RAM of a tile: read it at that boot address (several of a name: their sum)
    write ADDRESS VALUE         to the boot port; hexadecimal, as all addresses and values
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from emery import riscv, switch_asm
from emery.common import ROOT, UserError, nearest

PROGRAMS = ROOT / "systems" / "tile_router" / "programs"
VERSIONS = ("I", "II", "III", "III.d", "IV", "V", "null")
_CPU = "generic_rv32+m+reserve_x26+reserve_x27+reserve_x28+reserve_x29"

# Boot port (boot_pkg).
_UNIT = 1 << 18
_IMEM, _SWITCH, _RAM, _REGS = 0x00000, 0x10000, 0x20000, 0x30000
_CONTROL, _MAP = 0, 16
_SLOT, _WHOLE = 128, 255
_KIND, _MEM, _IN, _RING_BASE, _RING_BYTES, _HEADS, _OUT = range(7)

# Messages and settings (mesh_pkg).
_CORE, _NORTH, _EAST, _SOUTH, _WEST = range(5)
_SIDES = {_NORTH: "N", _EAST: "E", _SOUTH: "S", _WEST: "W"}
_STREAM_WRITE, _FREE, _FRAME_OUT = 4, 6, 25
_NONE, _MEMORY, _LINECARD = range(3)
_STREAM, _LINES, _MASKED = range(3)
_PAYLOAD_STATIC, _PAYLOAD_LINES, _PAYLOAD_MASKED, _PAYLOAD_MDN, _PAYLOAD_HELD = range(5)
_OUT_WORDS = 18

TABLE_REGION = 8  # addresses from 0x8000_0000: the lookup tables
RING_BYTES = 1 << 22
_CONFIG, _COUNTERS = 0x000, 0x180  # in a tile's RAM


def programs() -> dict[str, riscv.Program]:
    """All programs of tiles."""
    built = {
        "lookup": ("lookup.c", ()),
        "lookup_placed": ("lookup.c", ("LINECARD_PLACES",)),
        "lookup_null": ("lookup.c", ("NULL_ROUTER", "LINECARD_PLACES")),
        "checksum": ("checksum.c", ()),
        "forward": ("forward.c", ()),
        "forward_null": ("forward.c", ("NULL_ROUTER",)),
        "output": ("output.c", ()),
    }
    return {
        name: riscv.Program(name, PROGRAMS, ("start.S", source), ("tile.h", "link.ld"), _CPU, defines)
        for name, (source, defines) in built.items()
    }


@cache
def _header() -> str:
    return (PROGRAMS / "tile.h").read_text()


@cache
def fields(struct: str) -> dict[str, tuple[int, int]]:
    """Byte offset and number of words of the members of a struct in tile.h."""
    body = re.search(rf"struct {struct} {{(.*?)^}};", _header(), re.DOTALL | re.MULTILINE)
    sizes = {"Ports": _constant("Ports")}
    at, found = 0, {}
    for name, size in re.findall(r"^\s*word (\w+)(?:\[(\w+)\])?;", body[1], re.MULTILINE):
        count = sizes.get(size) or int(size or 1)
        found[name] = (at, count)
        at += 4 * count
    return found


@cache
def _constant(name: str) -> int:
    return int(re.search(rf"\b{name} = (\d+)", _header())[1])


def reasons() -> dict[str, int]:
    """Why packets are dropped: name and code."""
    found = re.findall(r"\bDrop(\w+) = (\d+)", _header())
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): int(code) for name, code in found}


@dataclass(frozen=True)
class Place:
    """Where a message goes: a tile's core, or out of the grid on a side of it."""

    x: int
    y: int
    exit: int = _CORE

    def code(self) -> int:
        """As place_t."""
        return self.exit << 8 | self.y << 4 | self.x

    def header(self, user: int = 0, length: int = 0, src: int = 0) -> int:
        """Header of a message to here."""
        return user << 27 | src << 16 | length << 11 | self.code()


@dataclass
class Tile:
    """What one tile does."""

    role: str
    pipeline: int
    program: str = ""
    config: dict[str, int | list[int]] = field(default_factory=dict)
    switch: str = ""  # source, in PROGRAMS/switches
    tokens: dict[str, str] = field(default_factory=dict)


@dataclass
class Router:
    """A version on a grid."""

    version: str
    columns: int
    rows: int
    linecards: list[tuple[int, int]] = field(default_factory=list)  # slots: in, out
    tiles: dict[int, Tile] = field(default_factory=dict)
    slots: dict[int, dict[int, int]] = field(default_factory=dict)  # settings by word
    memories: dict[int, str] = field(default_factory=dict)
    tables: dict[int, Place] = field(default_factory=dict)  # by tile

    def slot(self, place: Place) -> int:
        """Number of the slot at that place (mesh.sv)."""
        columns, rows = self.columns, self.rows
        return {
            _NORTH: place.x,
            _EAST: columns + place.y,
            _SOUTH: columns + rows + place.x,
            _WEST: 2 * columns + rows + place.y,
        }[place.exit]

    def tile(self, x: int, y: int) -> int:
        """Number of a tile."""
        return y * self.columns + x

    def text(self) -> str:
        """The boot image."""
        lines = [f"version {self.version}", f"grid {self.columns} {self.rows}"]
        lines += [f"linecard {port} {a} {b}" for port, (a, b) in enumerate(self.linecards)]
        lines += [f"memory {slot} {kind}" for slot, kind in sorted(self.memories.items())]
        lines += [f"tile {t} {x.role} {x.pipeline}" for t, x in sorted(self.tiles.items())]
        lines += [f"counter {name} {t} {address:x}" for name, t, address in self.counters()]
        lines += [f"write {address:x} {value:x}" for address, value in self.writes()]
        return "\n".join(lines) + "\n"

    def counters(self) -> list[tuple[str, int, int]]:
        """What can be read: name, tile, boot address."""
        found = []
        at = fields("counters")
        for t, tile in sorted(self.tiles.items()):
            base = t * _UNIT + _RAM + _COUNTERS
            names = {"lookup": {"frames_in": "frames"}, "forward": {"forwarded": "sent"}}.get(tile.role, {})
            if tile.role == "output":
                names = {"frames_out": "sent", "queued": "queued", f"deepest_{tile.pipeline}": "deepest"}
            if tile.role == "checksum":
                names = {"headers_checked": "frames"}
            found += [(name, t, base + at[member][0]) for name, member in names.items()]
            if tile.role in ("forward", "output"):
                drops = {x: n for x, n in reasons().items() if (x == "queue") == (tile.role == "output")}
                found += [(f"drop_{name}", t, base + at["drops"][0] + 4 * n) for name, n in drops.items()]
        return found

    def writes(self) -> list[tuple[int, int]]:
        """All writes to the boot port, the last one starts everything."""
        built = programs()
        writes = []
        for t, tile in sorted(self.tiles.items()):
            base = t * _UNIT
            if tile.program:
                for address, data in riscv.words(built[tile.program]).items():
                    writes += [(base + _IMEM + address + 4 * i, x) for i, x in enumerate(data)]
                ram = [0] * (0x200 // 4)
                for name, value in tile.config.items():
                    at, count = fields("config")[name]
                    values = value if isinstance(value, list) else [value]
                    if len(values) > count:
                        raise UserError(f"{name}: {len(values)} words, there is room for {count}")
                    ram[at // 4 : at // 4 + len(values)] = values
                writes += [(base + _RAM + 4 * i, x) for i, x in enumerate(ram)]
            if tile.switch:
                writes += [(base + _SWITCH + 4 * i, x) for i, x in enumerate(switch(tile.switch, tile.tokens).words())]
            if t in self.tables:
                writes.append((base + _REGS + 4 * (_MAP + TABLE_REGION), 1 << 31 | self.tables[t].code()))
            writes.append((base + _REGS + 4 * _CONTROL, (1 if tile.program else 0) | (2 if tile.switch else 0)))
        for slot, settings in sorted(self.slots.items()):
            writes += [((_SLOT + slot) * _UNIT + 4 * word, x) for word, x in sorted(settings.items())]
        return [*writes, (_WHOLE * _UNIT, 3)]


def switch(name: str, tokens: dict[str, str]) -> switch_asm.Program:
    """A switch program; `<token>` in its source is replaced."""
    path = PROGRAMS / "switches" / f"{name}.sw"
    text = re.sub(r"<(\w+)>", lambda match: tokens[match[1]], path.read_text())
    return switch_asm.assemble(text, str(path.relative_to(ROOT)))


def _memory(router: Router, place: Place, kind: str, **settings) -> Place:
    """Makes a slot a memory."""
    slot = router.slot(place)
    mem = settings.get("static", _STREAM) << 5 | settings.get("reads", 4) << 1 | settings.get("half_duplex", 0)
    router.slots[slot] = {_KIND: _MEMORY, _MEM: mem}
    router.memories[slot] = kind
    return place


def _out_settings(tile: Place, dma: int = 0, words: int = 31, reads: int = 4) -> int:
    return 1 << 21 | tile.code() << 10 | dma << 9 | words << 4 | reads


def rotated(version: str, linecards: int, columns: int = 4) -> Router:
    """Versions II to V and the null router: a column is a pipeline, its stages are its rows (paper: figure 2)."""
    if columns not in (2, 4):
        raise UserError(f"version {version} fits 2 or 4 columns, not {columns}: the paths to more packet buffers would cross")
    router = Router(version, columns, 4)
    held = version in ("IV", "null")
    placed = held or version == "II"
    null = version == "null"

    # Linecards: the column of each, and the columns that serve it.
    shares: list[list[int]]
    if version == "V":
        if linecards > columns // 2:
            raise UserError(f"version V on {columns} columns shares out up to {columns // 2} linecards, not {linecards}")
        shares = [[0, 1], [3, 2]][:linecards]
    else:
        if not 1 <= linecards <= columns:
            raise UserError(f"{linecards} linecards, the grid has {columns} columns")
        shares = [[x] for x in range(linecards)]
    outputs = [Place(mine[0], 3) for mine in shares]
    ports = [x.header(_FRAME_OUT, _OUT_WORDS) for x in outputs]
    ports += [_constant("DropRoute")] * (_constant("Ports") - len(ports) - 1) + [_constant("DropDestination")]
    tables = [_memory(router, Place(0, 0, _WEST), "table")]
    tables.append(_memory(router, Place(columns - 1, 0, _EAST), "table"))

    for mine in shares:
        card = Place(mine[0], 0, _NORTH)
        for number, x in enumerate(mine):
            west = x < columns // 2
            outer = x in (0, columns - 1)
            side, letter = (_WEST, "W") if west else (_EAST, "E")
            bank = Place(0 if west else columns - 1, 1 if outer else 3, side)
            if not held:
                _memory(router, bank, "payload", static=_LINES if version == "II" else _STREAM, reads=1 if version == "II" else 4)
            came = "N" if number == 0 else "W" if x > mine[0] else "E"
            lookup = Tile("lookup", x, "lookup_null" if null else "lookup_placed" if placed else "lookup")
            lookup.config = {
                "to_next": Place(x, 2).header(),
                "to_memory": bank.header(_STREAM_WRITE, 2),
                "ring_base": 0,
                "ring_last": RING_BYTES - 2048,
                "port": ports if not null else [outputs[shares.index(mine)].header(_FRAME_OUT, _OUT_WORDS)],
            }
            lookup.switch, lookup.tokens = "stage1", {"in": came, "out": "S", "address": ""}
            if placed:
                lookup.tokens["address"] = f"        nop                     route c{came}i->csti\n"
            if len(mine) > 1 and number == 0:
                lookup.switch, lookup.tokens = "share", {"in": came, "other": "E" if mine[1] > x else "W"}
            checksum = Tile("checksum", x, "" if null else "checksum", {"to_next": Place(x, 0).header()})
            checksum.switch, checksum.tokens = "stage2", {"payload": letter if outer else "S"}
            if null:
                checksum.switch, checksum.tokens = "pass", {"in": "N", "out": "S"}
            forward = Tile("forward", x, "forward_null" if null else "forward")
            source = card if held else bank
            forward.config = {"from": (1 << 31 if held else 0) | source.code() << 16}
            forward.config["to_free"] = card.header(_FREE, 1) if held else 0
            last = "        jump frame              route cXi2->csti2"
            if not outer:
                last = (
                    "        beqzd r0, frame         route cXi2->csti2\n"
                    "body:   bnezd r0, body          route cNi->cSo\n"
                    "        jump frame"
                )
            forward.switch, forward.tokens = "stage3", {"last": last}
            for y, tile in enumerate((lookup, checksum, forward)):
                router.tiles[router.tile(x, y)] = tile
            router.tables[router.tile(x, 0)] = tables[0 if west else 1]
            if not outer and not held:  # the payload's way to its bank
                bottom = router.tiles.setdefault(router.tile(x, 3), Tile("path", x))
                bottom.switch, bottom.tokens = "pass", {"in": "N", "out": letter}
                corner = router.tiles.setdefault(router.tile(bank.x, 3), Tile("path", x))
                corner.switch, corner.tokens = "pass", {"in": "E" if west else "W", "out": letter}

    for port, (mine, output) in enumerate(zip(shares, outputs, strict=True)):
        card = Place(mine[0], 0, _NORTH)
        leave = Place(output.x, output.y, _SOUTH)
        payload = _PAYLOAD_HELD if held else _PAYLOAD_LINES if version == "II" else _PAYLOAD_STATIC
        router.slots[router.slot(card)] = {
            _KIND: _LINECARD,
            _IN: placed << 3 | payload,
            _RING_BASE: 0,
            _RING_BYTES: RING_BYTES,
            _HEADS: 0,
            _OUT: 0,
        }
        router.slots[router.slot(leave)] = {
            _KIND: _LINECARD,
            _IN: 0,
            _OUT: _out_settings(output, reads=1 if version == "II" else 4),
        }
        router.linecards.append((router.slot(card), router.slot(leave)))
        tile = router.tiles.setdefault(router.tile(output.x, output.y), Tile("output", port))
        tile.role, tile.pipeline, tile.program = "output", port, "output"
        tile.config = {
            "to_next": leave.header(_FRAME_OUT, _OUT_WORDS),
            "ready_flags": 1 << _SOUTH,
            # A payload that comes over the GDN must not wait behind a head that waits for that payload's linecard.
            "stall": 0 if held else 1,
            "to_free": Place(0, 0).header(_FREE, 1) if held else 0,
        }
    return router


def router(version: str, linecards: int = 0, columns: int = 4) -> Router:
    """A version of the router; `linecards` 0: as many as it is made for."""
    if version not in VERSIONS:
        raise UserError(f"no version {version!r} of the router{nearest(version, VERSIONS)}")
    linecards = linecards or (columns // 2 if version == "V" else columns)
    return rotated(version, linecards, columns)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m emery.tile_programs", description=__doc__.splitlines()[0])
    parser.add_argument("version", nargs="?", help=", ".join(VERSIONS))
    parser.add_argument("--linecards", type=int, default=0)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--ship", action="store_true", help="compile all programs and write their built files")
    parser.add_argument("-o", "--output", type=Path, help="the boot image (default: standard output)")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.ship:
            for program in programs().values():
                riscv.ship(program)
        if chosen.version:
            text = router(chosen.version, chosen.linecards, chosen.columns).text()
            if chosen.output:
                chosen.output.write_text(text)
            else:
                sys.stdout.write(text)
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

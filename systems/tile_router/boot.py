# SPDX-License-Identifier: Apache-2.0
"""What is loaded into tile-router to make it a router: programs of tiles and switches, what each tile is told, slots.

A boot image is a text file for the bench: what is where, then the writes to the boot port in their order
(rtl/mesh/boot_pkg.sv). `./emery build SYSTEM NAME=VALUE ... --settings` makes one. Layouts are drawn in programs/README.md.

    version III                 the version
    grid 4 4                    columns, rows
    linecard P IN OUT MAC       port P: slot where its frames come in, slot where they leave; its address
    host P ADDRESS NEXT-HOP     the IP address of port P, and the Ethernet address of the router beyond it
    rewrite P NEXT-HOP          what leaves at port P goes to that Ethernet address, from the port's
    changes NUMBER-AT AT        routes may change: where the number of a change is written, where the change (changes.c)
    memory SLOT KIND            table: the lookup tables (dir24.hpp) from address 0; table_lengths: and of what prefixes;
                                payload: a packet buffer; reply: of control
    tile T ROLE PIPELINE        what runs on a tile
    function T ADDRESS NAME     a function of its program
    counter NAME TILE ADDRESS   a counter in the RAM of a tile: read it at that boot address (several of a name: their sum)
    write ADDRESS VALUE         to the boot port; hexadecimal, as all addresses and values
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from emery.common import ROOT, UserError, nearest
from emery.make import cache, formats, programs

from . import layout, switch_asm
from .layout import Place

PROGRAMS = Path(__file__).resolve().parent / "programs"
VERSIONS = ("I", "II", "III", "III.d", "IV", "V", "null")

_boot, _mesh = formats.load("boot_pkg"), formats.load("mesh_pkg")
_tile = formats.load("tile_pkg", PROGRAMS)
_SIDES = {x: x.name[0] for x in _mesh.port_e if _mesh.North <= x <= _mesh.West}

# Programs that can take the time of their tasks.
_TIMED = ("lookup", "checksum", "checksum_both", "forward", "forward_both", "output")

_CONFIGS = {"control": _tile.control_config_t, "changes": _tile.changes_config_t}  # by role; else config_t

RING_BYTES = 1 << 22
WRITTEN = 0x200  # of a tile's RAM, by the image: what lies below .noinit (link.ld)


def fields(record: formats.Record) -> dict[str, tuple[int, int]]:
    """Byte offset and number of words of the fields of a record made of words."""
    return {name: (x.low // 8, x.count) for name, x in record.fields.items()}


def reasons() -> dict[str, int]:
    """Why packets are dropped: name and code."""
    return {"_".join(formats.words_of(x.name)[1:]): x.value for x in _tile.verdict_e if x.name.startswith("Drop")}


def counters_at(program: str = "output") -> int:
    """Where a program has its counters in a tile's RAM, which begins with its `config`: all are linked alike (link.ld)."""
    at = {x.name: x.address for x in programs.symbols(programs.build(PROGRAMS, program))}
    return at["counters"] - at["config"]


def mac(port: int) -> int:
    """Ethernet address of a port, its first byte leftmost."""
    return 0x020000000100 + port


def next_hop(port: int) -> int:
    """Ethernet address of the router beyond a port."""
    return 0x020000000200 + port


def address(port: int) -> int:
    """IP address of a port of a router that has one: 10.p.0.1."""
    return 10 << 24 | port << 16 | 1


def _said() -> dict[str, int]:
    """Counters of the control tile: name, place among them."""
    at = fields(_tile.control_counters_t)
    kinds = (("answered", _tile.said_e), ("unanswered", _tile.unsaid_e))
    return {
        f"{kind}_{'_'.join(formats.words_of(x.name)[1:])}": at[kind][0] + 4 * x.value for kind, codes in kinds for x in codes
    }


def _unit(number: int) -> int:
    return number << _boot.UnitW


@dataclass
class Tile:
    """What one tile does."""

    role: str
    pipeline: int
    program: str = ""
    config: dict[str, int | list[int]] = field(default_factory=dict)
    switch: str = ""  # source, in PROGRAMS/switches
    tokens: dict[str, str] = field(default_factory=dict)
    deep: bool = False  # a deep FIFO for what comes by the GDN


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
    regions: dict[int, dict[int, Place]] = field(default_factory=dict)  # memories of a tile's cache, by region of addresses
    host: bool = False  # has addresses, and a control tile
    rewrite: bool = False  # gives frames new Ethernet addresses
    changes: int | None = None  # tile that changes the tables
    turns: dict[int, int] = field(default_factory=dict)  # of a tile's GDN router (RegTurns)

    def slot(self, place: Place) -> int:
        """Number of the slot at that place (mesh.sv)."""
        columns, rows = self.columns, self.rows
        return {
            _mesh.North: place.x,
            _mesh.East: columns + place.y,
            _mesh.South: columns + rows + place.x,
            _mesh.West: 2 * columns + rows + place.y,
        }[place.exit]

    def tile(self, x: int, y: int) -> int:
        """Number of a tile."""
        return y * self.columns + x

    def text(self) -> str:
        """The boot image."""
        lines = [f"version {self.version}", f"grid {self.columns} {self.rows}"]
        lines += [f"linecard {port} {a} {b} {mac(port):012x}" for port, (a, b) in enumerate(self.linecards)]
        if self.host:
            lines += [f"host {port} {address(port):08x} {next_hop(port):012x}" for port in range(len(self.linecards))]
        if self.rewrite:
            lines += [f"rewrite {port} {next_hop(port):012x}" for port in range(len(self.linecards))]
        if self.changes is not None:
            at = fields(_tile.changes_config_t)
            words = [_unit(self.changes) + _boot.TileRam + at[x][0] for x in ("number", "prefix")]
            lines.append("changes " + " ".join(f"{x:x}" for x in words))
        lines += [f"memory {slot} {kind}" for slot, kind in sorted(self.memories.items())]
        lines += [f"tile {t} {x.role} {x.pipeline}" for t, x in sorted(self.tiles.items())]
        lines += [f"function {t} {x.address:x} {x.name}" for t, x in self.functions()]
        lines += [f"counter {name} {t} {address:x}" for name, t, address in self.counters()]
        lines += [f"write {address:x} {value:x}" for address, value in self.writes()]
        return "\n".join(lines) + "\n"

    def functions(self) -> list[tuple[int, programs.Symbol]]:
        """Those of each tile's program."""
        used = {x.program for x in self.tiles.values() if x.program}
        named = {x: [y for y in programs.symbols(programs.build(PROGRAMS, x)) if y.is_function] for x in used}
        return [(t, x) for t, tile in sorted(self.tiles.items()) for x in named.get(tile.program, ())]

    def counters(self) -> list[tuple[str, int, int]]:
        """What can be read: name, tile, boot address."""
        found = []
        at, counters = fields(_tile.counters_t), counters_at()
        for t, tile in sorted(self.tiles.items()):
            base = _unit(t) + _boot.TileRam + counters
            if tile.role == "control":
                found += [(name, t, base + offset) for name, offset in _said().items()]
            if tile.role == "changes":
                words = fields(_tile.changes_counters_t)
                found += [(f"changes_{name}", t, base + words[name][0]) for name in ("done", "refused", "lines")]
            names = {"lookup": {"frames_in": "frames"}, "forward": {"forwarded": "sent"}}.get(tile.role, {})
            if tile.role == "output":
                names = {"frames_out": "sent", "queued": "queued", f"deepest_{tile.pipeline}": "deepest"}
            if tile.role == "checksum":
                names = {"headers_checked": "frames"}
            if tile.program.endswith("_timed"):
                names[f"clocks_{tile.role}"] = "clocks"
            if tile.role == "forward" and self.host:
                names |= {"to_control": "asked", "control_busy": "busy"}
            found += [(name, t, base + at[member][0]) for name, member in names.items()]
            if tile.role in ("forward", "output"):
                drops = {x: n for x, n in reasons().items() if (x == "queue") == (tile.role == "output")}
                if not self.host:
                    drops.pop("own_address", None)
                found += [(f"drop_{name}", t, base + at["drops"][0] + 4 * n) for name, n in drops.items()]
        return found

    def writes(self) -> list[tuple[int, int]]:
        """All writes to the boot port, the last one starts everything."""
        writes = []
        for t, tile in sorted(self.tiles.items()):
            base = _unit(t)
            if tile.program:
                for address, data in programs.words(programs.build(PROGRAMS, tile.program)).items():
                    writes += [(base + _boot.TileImem + address + 4 * i, x) for i, x in enumerate(data)]
                ram = [0] * (WRITTEN // 4)
                config = fields(_CONFIGS.get(tile.role, _tile.config_t))
                for name, value in tile.config.items():
                    at, count = config[name]
                    values = value if isinstance(value, list) else [value]
                    if len(values) > count:
                        raise UserError(f"{name}: {len(values)} words, there is room for {count}")
                    ram[at // 4 : at // 4 + len(values)] = values
                writes += [(base + _boot.TileRam + 4 * i, x) for i, x in enumerate(ram)]
            if tile.switch:
                writes += [(base + _boot.TileSwitch + 4 * i, x) for i, x in enumerate(switch(tile.switch, tile.tokens).words())]
            for region, memory in self.regions.get(t, {}).items():
                writes.append((base + _boot.TileRegs + 4 * (_boot.RegMap + region), 1 << 31 | memory.code()))
            control = (1 if tile.program else 0) | (2 if tile.switch else 0) | (4 if tile.deep else 0)
            writes.append((base + _boot.TileRegs + 4 * _boot.RegControl, control))
        writes += [(_unit(t) + _boot.TileRegs + 4 * _boot.RegTurns, x) for t, x in sorted(self.turns.items())]
        for slot, settings in sorted(self.slots.items()):
            writes += [(_unit(_boot.FirstSlot + slot) + 4 * word, x) for word, x in sorted(settings.items())]
        return [*writes, (_unit(_boot.WholeUnit) + 4 * _boot.WholeGo, 3)]


def switch(name: str, tokens: dict[str, str]) -> switch_asm.Program:
    """A switch program; `<token>` in its source is replaced."""
    folder = programs.sources(PROGRAMS)
    path = folder / "switches" / f"{name}.sw"
    text = re.sub(r"<(\w+)>", lambda match: tokens[match[1]], path.read_text())
    return switch_asm.assemble(text, str(path.relative_to(ROOT if folder == PROGRAMS else folder)))


def _memory(
    router: Router,
    place: Place,
    kind: str,
    static: int = _mesh.StaticStream,
    reads: int = 4,
    half_duplex: int = 0,
    confirm: int = 0,
) -> Place:
    """Makes a slot a memory."""
    slot = router.slot(place)
    router.slots[slot] = {
        _mesh.SlotKind: _mesh.SlotMemory,
        _mesh.SlotMem: _mesh.mem_settings_t.pack(confirm=confirm, static_in=static, max_reads=reads, half_duplex=half_duplex),
    }
    router.memories[slot] = kind
    return place


@dataclass(frozen=True)
class _Features:
    """What a version is made of."""

    payload: int  # how payloads leave the linecard
    reads: int = 4  # from a memory at a time
    half_duplex: int = 0
    dma: int = 0
    turned: bool = False  # a row is a pipeline
    heads: bool = False  # heads are messages: no static network
    # How heads go to stage 3: "_deep" by network 2, where more of one has a place; "_both" by both networks, two of them.
    down: str = ""
    early: bool = False  # payloads begin in the head: every frame has one (paper: 3.3 keeps short ones out of memory)
    null: bool = False

    @property
    def held(self) -> bool:
        """Payloads stay in the linecards."""
        return self.payload == _mesh.PayloadHeld

    @property
    def both(self) -> bool:
        """Heads go down by both static networks."""
        return self.down == "_both"

    @property
    def placed(self) -> bool:
        """The linecard says where a payload is."""
        return self.payload != _mesh.PayloadStatic


_FEATURES = {
    "I": _Features(_mesh.PayloadMdn, reads=1, half_duplex=1, dma=1, turned=True, early=True),
    "II": _Features(_mesh.PayloadLines, reads=1, early=True),
    "III": _Features(_mesh.PayloadStatic),
    "III.d": _Features(_mesh.PayloadMdn, heads=True),
    "IV": _Features(_mesh.PayloadHeld, down="_deep"),
    "V": _Features(_mesh.PayloadStatic, down="_both"),
    "null": _Features(_mesh.PayloadHeld, null=True),
}
_OPPOSITE = {"N": "S", "S": "N", "W": "E", "E": "W"}


class _Builder:
    """Puts a version on the grid."""

    def __init__(self, version: str, linecards: int, grid: layout.Layout, held_gdn: bool, any_mac: bool, output: str):
        self.has = _FEATURES[version]
        self.held_gdn = held_gdn
        self.output = output
        self.leave_first = output.startswith(("output_credit", "output_fair"))  # a third stage has to have leave for each head
        self.any_mac = any_mac
        self.grid = grid
        self.pipelines = len(grid.pipelines)
        self.router = Router(version, grid.columns, grid.rows)
        self.shift = 4 if self.has.turned else 0  # of the number of a pipeline or output in place_t
        self.dealt = version == "V"  # a linecard's frames, to two pipelines; heads go straight to linecards: no stage 4
        self.shares = self._shares(version, linecards)
        self.wide = "_wide" if grid.bands > 1 else ""  # programs that know both bands
        self.outputs = [self.out(mine) if self.dealt else self.at(mine[0], 3) for mine in self.shares]
        ports = [x.header(_mesh.FrameOut, _tile.OutWords) for x in self.outputs]
        ports += [_tile.DropNoRoute] * (_tile.Ports - len(ports) - 1)
        self.ports = [*ports, _tile.DropDestination]
        self.ports[_tile.PortOwn] = _tile.DropOwnAddress
        self.tables = [] if self.has.null else [_memory(self.router, x, "table") for x in grid.tables]

    def _shares(self, version: str, linecards: int) -> list[list[int]]:
        """The pipelines of each linecard, its own first."""
        if version == "V":
            if not 1 <= linecards <= self.pipelines // 2:
                most = self.pipelines // 2
                raise UserError(f"version V with {self.pipelines} pipelines has up to {most} linecards, not {linecards}")
            pairs = [[x, x + 1] if x < self.pipelines // 2 else [x + 1, x] for x in range(0, self.pipelines - 1, 2)]
            return pairs[:linecards]
        if not 1 <= linecards <= self.pipelines:
            raise UserError(f"{linecards} linecards: there are {self.pipelines} pipelines")
        return [[x] for x in range(linecards)]

    def at(self, pipeline: int, stage: int) -> Place:
        """Where a stage of a pipeline is."""
        return self.grid.pipelines[pipeline].stages[stage]

    def card(self, mine: list[int]) -> Place:
        """Slot where the frames of these pipelines come in."""
        return self.grid.pipelines[mine[0]].enter

    def out(self, mine: list[int]) -> Place:
        """Slot where frames leave at their port."""
        return self.grid.pipelines[mine[0]].leave

    def bank(self, pipeline: int) -> Place:
        """The packet buffer of a pipeline; where there is none, the linecard."""
        return self.grid.banks[pipeline] if self.grid.banks else self.grid.pipelines[pipeline].enter

    def put(self, place: Place, tile: Tile) -> Tile:
        """Gives a tile its work; one that passes payloads on may get a program as well."""
        number = self.router.tile(place.x, place.y)
        old = self.router.tiles.get(number)
        if old:
            tile.switch, tile.tokens = tile.switch or old.switch, tile.tokens or old.tokens
        self.router.tiles[number] = tile
        return tile

    def pipeline(self, port: int, number: int):
        """The first three stages of the pipeline that is the `number`th of a linecard."""
        has, mine = self.has, self.shares[port]
        x = mine[number]
        card, bank = self.card(mine), self.bank(x)
        if not has.held:
            static = _mesh.StaticLines if has.payload == _mesh.PayloadLines else _mesh.StaticStream
            _memory(self.router, bank, "payload", static, has.reads, has.half_duplex, not has.placed)
        suffix = "_null" if has.null else "_dynamic" if has.heads else ""

        ports = self.ports[port : port + 1] if has.null else self.ports
        lookup = Tile("lookup", x, "lookup_placed" if has.placed and not suffix else "lookup" + suffix)
        lookup.config = {
            "to_next": self.at(x, 2).header(),
            "to_memory": bank.header(_mesh.StreamWrite, 2, self.at(x, 0).code()),
            "ring_base": 0,
            "ring_last": RING_BYTES - 2048,
            "ready_flags": 1 << bank.exit,
            "port": [word | _mesh.header_t.pack(src=self.at(x, 2).code()) if word >= _tile.Ports else word for word in ports],
        }
        checksum = Tile("checksum", x, "" if has.null else "checksum" + ("_both" if has.both else suffix))
        checksum.config = {
            "to_next": self.at(x, 0).header(),
            "mac": [mac(port) >> 32 << 16, mac(port) & 0xFFFFFFFF],
            "mac_strict": 0 if self.any_mac else _tile.GroupBit,
        }
        forward = Tile("forward", x, "forward_credit" if self.leave_first else "forward" + (has.down or suffix))
        forward.program += self.wide
        # Words that can wait for it: Stop and Go of each output. The core's own FIFO is enough for those of four.
        forward.deep = len(self.outputs) > 4 and not self.dealt
        source = card if has.held else bank
        forward.config = {
            "from": _mesh.frame_out_t.pack(held=has.held, from_=source.code()),
            "to_free": card.header(_mesh.FreeBuffer, 1) if has.held else 0,
            "to_card": card.header(_mesh.Interrupt, src=self.at(x, 2).code()),
            "number_shift": self.shift,
        }
        if not has.heads:
            self.switches(x, mine, number, (lookup, checksum, forward))
        for stage, tile in enumerate((lookup, checksum, forward)):
            self.put(self.at(x, stage), tile)
        if not has.null:
            self.router.regions[self.router.tile(*self._xy(x, 0))] = {_tile.TableRegion: self.grid.pipelines[x].table}

    def _xy(self, pipeline: int, stage: int) -> tuple[int, int]:
        place = self.at(pipeline, stage)
        return place.x, place.y

    def switches(self, x: int, mine: list[int], number: int, stages: tuple[Tile, Tile, Tile]):
        """Static paths of a pipeline: heads down its stages, payloads to its bank."""
        lookup, checksum, forward = stages
        has = self.has
        one, two, three = (self.at(x, stage) for stage in range(3))
        down, on, side = _SIDES[one.side_to(two)], _SIDES[two.side_to(three)], _SIDES[self.bank(x).exit]
        streams = has.payload in (_mesh.PayloadStatic, _mesh.PayloadLines)
        came = _SIDES[self.card(mine).exit] if number == 0 else "W" if x > mine[0] else "E"
        if len(mine) > 1 and number == 0:
            lookup.switch, lookup.tokens = "share_both", {"in": came, "other": "E" if mine[1] > x else "W"}
        else:
            address = f"        nop                     route c{came}i->csti" if has.placed else ""
            lookup.switch, lookup.tokens = (
                "stage1_both" if has.both else "stage1",
                {"in": came, "out": down, "address": address},
            )
        back = _OPPOSITE[down]
        beside = streams and not self.grid.to_bank(x)
        if has.null:
            checksum.switch, checksum.tokens = "pass", {"in": back, "out": on}
        else:
            checksum.switch, checksum.tokens = "stage2" + has.down, {"in": back, "out": on, "payload": side if beside else on}
        to_core = {"": "cXi2->csti2", "_deep": "cXi->csti", "_both": "cXi->csti, cXi2->csti2"}[has.down]
        last = f"        jump frame              route {to_core}"
        if streams and not beside:
            path, before = self.grid.to_bank(x), three
            sends = _SIDES[three.side_to(path[0])]
            last = (
                f"        beqzd r0, frame         route {to_core}\n"
                f"body:   bnezd r0, body          route c{_OPPOSITE[on]}i->c{sends}o\n"
                "        jump frame"
            )
            for here, after in zip(path, [*path[1:], None], strict=True):
                leaves = _SIDES[here.side_to(after)] if after else side
                self.put(here, Tile("path", x, switch="pass", tokens={"in": _SIDES[here.side_to(before)], "out": leaves}))
                before = here
        forward.switch, forward.tokens = "stage3" + has.down, {"in": _OPPOSITE[on], "last": last}

    def port(self, port: int):
        """Linecard of a port, and its output queue if it has one."""
        has, mine, output = self.has, self.shares[port], self.outputs[port]
        card, leave, half = self.card(mine), self.out(mine), self.pipelines // 2
        places = [self.at(mine[0], stage) for stage in (2, 0, 1)]  # stage 3 first: lookup_dynamic.c
        heads = [_mesh.head_place_t.pack(valid=1, y=place.y, x=place.x) for place in places]
        self.router.slots[self.router.slot(card)] = {
            _mesh.SlotKind: _mesh.SlotLinecard,
            _mesh.SlotIn: _mesh.in_settings_t.pack(
                payload=has.payload,
                address=has.placed,
                heads=has.heads,
                early=has.early,
                answer_gdn=self.held_gdn,
                memory=self.bank(mine[0]).code(),
            ),
            _mesh.SlotRingBase: RING_BYTES * (mine[0] if mine[0] < half else mine[0] - half),  # they may share a bank
            _mesh.SlotRingBytes: RING_BYTES,
            _mesh.SlotHeads: _mesh.head_places_t.pack(place=heads) if has.heads else 0,
            _mesh.SlotOut: 0,
        }
        settings = _mesh.out_settings_t.pack(
            # Reads by the MDN, whatever network their answers take: so they wait for no head. Where a slot both reads and is
            # read, by the GDN: so no answer ever waits for a read.
            held_gdn=self.grid.shared_slots(),
            early=has.early,
            tell_mdn=1,
            enable=not self.dealt,
            tile=output.code(),
            dma=has.dma,
            words=31 if has.held else _mesh.LineWords,  # the DMA protocol of a memory has eight (paper: 3.2)
            max_reads=has.reads * len(mine),  # of as many memories
        )
        out = self.router.slots.setdefault(self.router.slot(leave), {_mesh.SlotKind: _mesh.SlotLinecard, _mesh.SlotIn: 0})
        out[_mesh.SlotOut] = settings
        self.router.linecards.append((self.router.slot(card), self.router.slot(leave)))
        if self.dealt:
            return
        tile = self.put(output, Tile("output", port, self.output))
        tile.config = {
            "to_next": leave.header(_mesh.FrameOut, _tile.OutWords),
            "ready_flags": 1 << leave.exit,
            "number_shift": self.shift,
            "own_number": self.grid.number(output, has.turned),
            "to_free": Place(0, 0).header(_mesh.FreeBuffer, 1) if has.held else 0,
        }

    def spare(self) -> list[Place]:
        """Tiles whose cores have no work: first where an output would be, then from the south."""
        first = self.at(1 if self.dealt else self.pipelines - 1, 3)
        grid = [Place(x, y) for y in reversed(range(self.grid.rows)) for x in reversed(range(self.grid.columns))]
        working = {number for number, tile in self.router.tiles.items() if tile.role != "path"}
        return [x for x in (first, *grid) if self.router.tile(x.x, x.y) not in working]

    def told(self) -> str:
        """What is on the grid, for people."""
        grid = self.grid
        return f"with {len(self.shares)} linecards of version {self.router.version} on {grid.columns} x {grid.rows} tiles"

    def changes(self):
        """A tile whose core has no other work changes the tables, and stages 1 hear of it."""
        free = self.spare()
        if not free:
            raise UserError(f"updates_per_s: no tile is left to change the tables, {self.told()}")
        place, (*others, last) = free[0], self.tables
        number = self.router.tile(place.x, place.y)
        stage1 = [x for mine in self.shares for x in mine]
        wide = max(stage1) >= _tile.ControlPorts or len(others) > 1
        tile = self.put(place, Tile("changes", 0, "changes_wide" if wide else "changes"))
        headers = {x: self.at(x, 0).header(_mesh.Interrupt, src=place.code()) for x in stage1}
        tile.config = {"tables": len(self.tables), "lookup": [headers.get(x, 0) for x in range(_tile.MostPipelines)]}
        self.router.regions[number] = {_tile.TableRegion: last}
        self.router.regions[number] |= {_tile.OtherTableRegion - n: table for n, table in enumerate(others)}
        self.router.memories[self.router.slot(last)] = "table_lengths"
        for x in stage1:
            lookup = self.router.tiles[self.router.tile(*self._xy(x, 0))]
            lookup.program += "_changes"
            lookup.config["to_control"] = place.header(_tile.TablesSeen, src=self.at(x, 0).code())
        self.router.changes = number

    def control(self, limits: dict[str, int]):
        """A tile whose core has no other work answers what is not forwarded, within these limits; its memory is below it."""
        owners = {x: port for port, mine in enumerate(self.shares) for x in mine}
        if len(owners) > _tile.ControlPorts:
            most, cards = _tile.ControlPorts, len(self.shares)
            raise UserError(f"own_addresses: a control tile sees to {most} pipelines, {cards} linecards have {len(owners)}")
        if not self.dealt and len(owners) == self.pipelines:  # outputs tell who sends by the column
            raise UserError(f"own_addresses: no column is left for a control tile, {self.told()}")
        place = self.spare()[0]
        memory = _memory(self.router, Place(place.x, place.y, self.grid.pipelines[-1].leave.exit), "reply")
        ports = range(len(self.shares))
        headers = {x: self.at(x, 2).header(_mesh.Interrupt, src=place.code()) for x in owners}
        tile = self.put(place, Tile("control", 0, "control"))
        tile.config = {
            "mac": [word for port in ports for word in (mac(port) >> 32, mac(port) & 0xFFFFFFFF)],
            "next_hop": [word for port in ports for word in (next_hop(port) >> 32, next_hop(port) & 0xFFFFFFFF)],
            "address": [address(port) for port in ports],
            "to_output": [self.outputs[port].header(_mesh.FrameOut, _tile.OutWords, place.code()) for port in ports],
            "stage3": [headers.get(x, 0) for x in range(_tile.ControlPorts)],
            "port_of": [owners.get(x, 0) for x in range(_tile.ControlPorts)],
            **limits,
            "from": _mesh.frame_out_t.pack(from_=memory.code()),
        }
        regions = {_tile.TableRegion: self.tables[-1], _tile.ReplyRegion: memory}
        regions |= {_tile.PayloadRegion + x: self.bank(x) for x in owners}
        self.router.regions[self.router.tile(place.x, place.y)] = regions
        for x in owners:
            forward = self.router.tiles[self.router.tile(*self._xy(x, 2))]
            forward.program += "_control"
            forward.config["to_control"] = place.header(_tile.Exception, _tile.OutWords, self.at(x, 2).code())
        self.router.host = True

    def rewrite(self):
        """Each frame gets the Ethernet addresses of its output: in stage 4, or in stage 3 where there is no stage 4."""
        links = [0] * _tile.Ports
        for port, output in enumerate(self.outputs):
            at = 4 * self.grid.number(output, self.has.turned)
            to, source = next_hop(port), mac(port)
            links[at : at + 4] = [to >> 32, to & 0xFFFFFFFF, source >> 16, (source & 0xFFFF) << 16 | 0x0800]
        for tile in self.router.tiles.values():
            if tile.role == "forward" and self.dealt:
                tile.program += "_rewrite"
                tile.config["port"] = links
            elif tile.role == "forward":
                tile.program += "_no_link"
            elif tile.role == "output":
                at = 4 * tile.config["own_number"]
                tile.program += "_control_link" if self.router.host else "_link"
                tile.config["port"] = links[at : at + 4]
            elif tile.role == "lookup":
                words = 0 if self.dealt else _tile.LinkWords  # shorter messages
                whole, short = (_mesh.header_t.pack(len=_tile.OutWords - x) for x in (0, words))
                tile.config["port"] = [x - whole + short if x >= _tile.Ports else x for x in tile.config["port"]]
        self.router.rewrite = True

    def weigh(self):
        """A turn of each crossing's input is as long as there are third stages whose heads come by it."""
        found: dict[int, list[set[Place]]] = {}
        thirds = [self.at(x, 2) for mine in self.shares for x in mine]
        for start in thirds:
            for end in self.outputs:
                for tile, came, _ in layout.route(start, end):
                    number = self.router.tile(tile.x, tile.y)
                    found.setdefault(number, [set() for _ in range(_mesh.RouterPorts)])[came].add(start)
        for number, inputs in found.items():
            if max(len(x) for x in inputs) > 1:
                self.router.turns[number] = sum(min(15, len(x)) << 4 * port for port, x in enumerate(inputs))


def _output(version: str, held_gdn: bool, full_queue: str, turns: str, wide: bool) -> str:
    """The program of the output queues."""
    shared = held_gdn and version == "IV"
    discard, fair = full_queue == "discard", turns == "fair"
    if discard and version == "V":
        raise UserError("full_queue=discard: version V has no output queues, linecards take the heads")
    if discard and (shared or fair):
        what = "turns=fair" if fair else "held_over=gdn"
        raise UserError(f"full_queue=discard with {what}: third stages have leave for each head there, no queue gets full")
    if fair and version != "IV":
        raise UserError(f"turns=fair is for version IV, not {version}")
    if shared and wide:
        raise UserError("held_over=gdn is for grids of less than six rows: reads of payloads go by the GDN in others")
    if discard:
        return "output_discard"
    return ("output_fair" if fair else "output_credit" if shared else "output") + ("_wide" if wide else "")


def _grid(version: str, columns: int, rows: int) -> layout.Layout:
    has = _FEATURES[version]
    try:
        return layout.lay_out(columns, rows, has.turned, has.held)
    except UserError as error:
        raise UserError(f"version {version} on {columns} x {rows} tiles: {error}") from None


def _most(version: str, grid: layout.Layout) -> int:
    return len(grid.pipelines) // (2 if version == "V" else 1)


@dataclass
class Port:
    """What a port's frames go through, for what links carry at least."""

    thirds: list[Place]  # third stages
    payloads: list[Place]  # slots where its payloads are
    output: Place  # tile or slot that the heads for it go to
    leave: Place


def ports(values: dict) -> list[Port]:
    """The ports of a router with these parameter values."""
    version, grid = values["version"], _grid(values["version"], values["columns"], values["rows"])
    builder = _Builder(version, values["linecards"] or _most(version, grid), grid, False, False, "output")
    return [
        Port([builder.at(x, 2) for x in mine], [builder.bank(x) for x in mine], output, builder.out(mine))
        for mine, output in zip(builder.shares, builder.outputs, strict=True)
    ]


def route_ports(values: dict) -> int:
    """How many ports routes may lead to."""
    return len(ports(values))


def router(
    version: str,
    linecards: int = 0,
    columns: int = 4,
    rows: int = 4,
    timed=False,
    held_gdn=False,
    any_mac=False,
    full_queue="stall",
    turns="network",
    limits: dict[str, int] | None = None,
    rewrite=False,
    changes=False,
) -> Router:
    """A version of the router; `linecards` 0: as many as it is made for.

    `timed`: with programs that time their tasks. `held_gdn`: payloads that linecards hold leave over the GDN, not the MDN.
    `any_mac`: frames to any unicast address are for this router. `full_queue`: what becomes of heads for a full output queue.
    `turns`: whose heads an output takes: as the `network` brings them, one of each input of a crossing or as many as `weighted`
    ones stand for, or in `fair` rounds.
    `limits`: there is a control tile, which answers what is not forwarded; those of its limits (control_config_t).
    `rewrite`: frames leave with the Ethernet addresses of the next hop and of their port.
    `changes`: there is a control tile that changes the tables.
    """
    if version not in VERSIONS:
        raise UserError(f"no version {version!r} of the router{nearest(version, VERSIONS)}")
    grid = _grid(version, columns, rows)
    output = _output(version, held_gdn, full_queue, turns, grid.bands > 1)
    linecards = linecards or _most(version, grid)
    builder = _Builder(version, linecards, grid, held_gdn, any_mac, output)
    for port, mine in enumerate(builder.shares):
        for number in range(len(mine)):
            builder.pipeline(port, number)
    for port in range(linecards):
        builder.port(port)
    if limits:
        builder.control(limits)
    if rewrite:
        builder.rewrite()
    if changes:
        builder.changes()
    if turns == "weighted":
        builder.weigh()
    if timed:
        for tile in (x for x in builder.router.tiles.values() if x.program):
            if tile.program not in _TIMED:
                raise UserError(f"timed: tasks are timed in versions III and V, not {version}")
            tile.program += "_timed"
    return builder.router


def _limits(values: dict) -> dict[str, int]:
    """Of the control tile; without ICMP errors over time, there are the first ones."""

    def clocks(rate: float) -> int:
        return max(1, min(0xFFFFFFFF, round(values["tile_mhz"] * 1e6 / rate))) if rate else 0

    return {
        "leave_clocks": clocks(values["control_rate"]),
        "error_clocks": clocks(values["icmp_rate"]),
        "error_burst": values["icmp_burst"],
    }


def settings(values: dict) -> dict:
    """The boot image of a router with these parameter values."""
    built = router(
        values["version"],
        values["linecards"],
        values["columns"],
        values["rows"],
        timed=values["timed"],
        held_gdn=values["held_over"] == "gdn",
        any_mac=values["mac"] == "any",
        full_queue=values["full_queue"],
        turns=values["turns"],
        limits=_limits(values) if values["own_addresses"] else None,
        rewrite=values["rewrite_mac"],
        changes=values["updates_per_s"] > 0,
    )
    text = built.text()
    folder = cache.entry("boot", cache.digest(text), lambda out: (out / "image").write_text(text))
    return {"boot_image": str(folder / "image")}

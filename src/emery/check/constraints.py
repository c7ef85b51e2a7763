# SPDX-License-Identifier: Apache-2.0
"""Timing constraints of a system's top, out of its netlist: XDC for Vivado, SDC for Quartus Prime Pro.

Clocks are those its system.toml declares. Each register that sees another clock (emery.check.crossings) gets the faster of the
two periods as most delay, without the clocks' skew; a Gray counter's bits as most skew besides. Nothing else is excepted, so
that a crossing nobody knows of fails its timing. Ports get delays to the clock whose registers are behind them.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pyslang import ast

from emery.check import blocks, crossings, synthesis
from emery.check.crossings import Gates, Place
from emery.common import UserError
from emery.make import build, cache


@dataclass(frozen=True)
class Pin:
    """A port of the top, or a part of it, and the one clock whose registers are behind it. Delays outside the chip, ns."""

    pattern: str
    clock: str
    is_input: bool
    most: float
    least: float


@dataclass(frozen=True)
class Constraints:
    """What both kinds of files say."""

    name: str
    clocks: dict[str, float]  # clock: period in ns
    places: list[Place]
    clock_of: dict[int, str]
    pins: list[Pin]
    skewed: set[str]  # registers whose bits come from a Gray counter
    instances: set[str]  # paths
    resets: list[str]  # ports behind which are only asynchronous resets

    def path(self, path: str, separator: str) -> str:
        """A register's path as a tool writes it: `separator` behind an instance, a dot behind a generate block."""
        found, parts = "", path.split(".")
        for i, part in enumerate(parts[:-1]):
            found += part + (separator if ".".join(parts[: i + 1]) in self.instances else ".")
        return found + parts[-1]

    def within(self, place: Place) -> float:
        """The faster of the two periods."""
        return min(self.clocks[self.clock_of[x]] for x in (place.source_clock, place.clock))

    def has_skew(self, place: Place) -> bool:
        """Whether its bits have to arrive together."""
        return place.register in self.skewed and place.bits > 1

    def modules(self) -> list[tuple[str, list[Place]]]:
        """The places, module by module."""
        groups = defaultdict(list)
        for x in self.places:
            groups[x.register].append(x)
        return sorted((name, sorted(group, key=lambda x: (x.path, x.source_clock))) for name, group in groups.items())


def find(subject: blocks.Subject, allowed: dict[str, dict], outside: dict) -> Constraints:
    """The constraints of a system. `allowed` as in crossings.find, `outside`: the table `outside` of rtl/timing.toml."""
    elaborated = blocks.elaborate(subject.rtl)
    ports = {x.name: x for x in elaborated.root.topInstances[0].body.portList}
    clocks = {leaf: 1000 / mhz for name, mhz in subject.clocks.items() for leaf in bits(ports[name].type, name)}
    skewed = {name for name, rule in allowed.items() if rule.get("skew")}
    if len(clocks) == 1:  # nothing crosses, and all ports are of that clock
        behind = {x: {0} for x in ports if x not in clocks}
        clock_of, places, resets = dict(enumerate(clocks)), [], []
    else:
        module = synthesis.gates(subject)
        gates = Gates(module)
        netlist = module["ports"]
        leaves = (x for name in subject.clocks for x in zip(netlist[name]["bits"], bits(ports[name].type, name), strict=True))
        clock_of, places, behind = dict(leaves), gates.places(), {}
        for x in set(gates.starts.values()) - clock_of.keys():
            raise UserError(f"{subject.name}: {gates.name(x)} is a clock that its system.toml does not declare")
        for name in netlist.keys() - subject.clocks.keys():
            behind |= _behind(gates, netlist[name], ports[name])
        resets = sorted(x for x in netlist if not behind.get(x, {0}) and gates.resets_from(netlist[x]["bits"]))
    pins = []
    for leaf, found in sorted(behind.items()):
        if len(found) > 1:
            raise UserError(f"{subject.name}: {leaf} is a port of several clocks")
        for clock in (clock_of[x] for x in found):
            port = leaf.partition("[")[0]
            taken = ports[port].direction == ast.ArgumentDirection.In
            board = outside["boards"].get(subject.rtl.top, {}).get(clock)
            if board and port in board["on_chip"]:
                board = None
            pins.append(Pin(leaf, clock, taken, *_delays(clocks[clock], taken, outside["share"], board)))
    return Constraints(subject.name, clocks, places, clock_of, pins, skewed, set(elaborated.instances), resets)


def files(subject: blocks.Subject, allowed: dict[str, dict], outside: dict) -> dict[str, str]:
    """The files by tool, `vivado` and `quartus`."""
    kept = _kept(subject, allowed, outside)
    return {tool: kept[tool] for tool in ("quartus", "vivado")}


def inside(subject: blocks.Subject, allowed: dict[str, dict], outside: dict) -> str:
    """For Vivado, where the system is an instance (SCOPED_TO_REF) and its clocks come with what is around it."""
    return _kept(subject, allowed, outside)["inside"]


def _kept(subject: blocks.Subject, allowed: dict[str, dict], outside: dict) -> dict[str, str]:
    """All of them, for a netlist is made and read for them."""

    def make(out: Path):
        made = find(subject, allowed, outside)
        (out / "vivado").write_text(xdc(made))
        (out / "inside").write_text(xdc(made, whole=False))
        (out / "quartus").write_text(sdc(made))

    own = [cache.file_digest(Path(x.__file__)) for x in (sys.modules[__name__], crossings, blocks)]
    key = cache.digest("constraints", build.rtl_digest(subject.rtl), subject.name, subject.clocks, allowed, outside, own)
    return {x.name: x.read_text() for x in cache.entry("constraints", key, make).iterdir()}


def _delays(period: float, taken: bool, share: float, board: dict | None) -> tuple[float, float]:
    """Most and least of what lies outside: a share of the period, or what the standard of the bus leaves."""
    if not board:
        return share * period, 0.0
    if taken:
        return period - board["setup_ns"], board["hold_ns"]
    return period - board["out_most_ns"], -board["out_least_ns"]


def bits(kind: ast.Type, name: str) -> list[str]:
    """Names of the bits of a port of plain bits, lowest first."""
    if kind.isArray and kind.arrayElementType.bitWidth > 1 or kind.isUnpackedArray:
        one, index = kind.arrayElementType, _indices(kind)
        return [y for i in reversed(index) for y in bits(one, f"{name}[{i}]")]
    return [name] if kind.bitWidth == 1 else [f"{name}[{i}]" for i in range(kind.bitWidth)]


def _indices(kind: ast.Type) -> list[int]:
    """Of an array, the index of the highest bits first."""
    first, last = kind.range.left, kind.range.right
    return list(range(first, last + 1)) if first <= last else list(range(first, last - 1, -1))


def _fields(kind: ast.Type, name: str) -> list[tuple[str, int]]:
    """Parts of a port, lowest first, with their bits: elements of an array, fields of a struct."""
    plain = kind.canonicalType
    if plain.isUnpackedArray:
        return [y for i in reversed(_indices(plain)) for y in _fields(plain.arrayElementType, f"{name}[{i}]")]
    if plain.isStruct or plain.isUnpackedStruct:
        fields = [x for x in plain if isinstance(x, ast.FieldSymbol)]  # the first has the highest bits
        return [(f"{name}[{x.name}]", x.type.bitstreamWidth) for x in reversed(fields)]
    return [(name, plain.bitstreamWidth)]


def _behind(gates: Gates, port: dict, symbol) -> dict[str, set[int]]:
    """A port's name, or where it has several clocks those of its fields: the clocks whose registers are behind."""
    seen = [gates.reached(x) if port["direction"] == "input" else gates.seen[x].keys() for x in port["bits"]]
    whole = set().union(*seen)
    if len(whole) < 2:
        return {symbol.name: whole}
    found, low = {}, 0
    for name, bits in _fields(symbol.type, symbol.name):
        found[name] = set().union(*seen[low : low + bits])
        low += bits
    return found


# ---------------------------------------------------------------- files


def _either(name: str) -> str:
    """One name, or all bits and fields of it."""
    return f"{{{name} {name}[*]}}"


def _head(made: Constraints, tool: str) -> list[str]:
    return ["# SPDX-License-Identifier: Apache-2.0", f"# {made.name}, for {tool}: made by ./emery."]


def _clocks(made: Constraints) -> list[str]:
    return ["", "# Clocks."] + [
        f"create_clock -name {{{x}}} -period {ns:.3f} [get_ports {{{x}}}]" for x, ns in made.clocks.items()
    ]


def _ports(made: Constraints) -> list[str]:
    lines = ["", "# Resets that need no clock."] if made.resets else []
    lines += [f"set_false_path -from [get_ports {_either(x)}]" for x in made.resets]
    lines += ["", "# Ports: what lies outside the chip, or outside this top where a hard block is behind them."]
    for x in made.pins:
        word, ports = ("set_input_delay" if x.is_input else "set_output_delay"), f"[get_ports {_either(x.pattern)}]"
        lines += [f"{word} -clock [get_clocks {{{x.clock}}}] -{most} {ns:.3f} {ports}" for most, ns in _limits(x)]
    return lines


def _limits(pin: Pin) -> list[tuple[str, float]]:
    return [("max", pin.most), ("min", pin.least)]


def xdc(made: Constraints, whole: bool = True) -> str:
    """For Vivado; not `whole`: the crossings alone, of an instance, whose clocks are those at its ports."""
    lines = _head(made, "Vivado") + (_clocks(made) if whole else [])
    for register, places in made.modules():
        # Where the RAM is a block RAM its output is no register of its own, and nothing is left to constrain.
        quiet = " -quiet" if any("mem" in x.source.rpartition(".")[2] for x in places) else ""
        lines += ["", f"# {register}"]
        for x in places:
            to = f"-to [get_cells -quiet {_either(made.path(x.path, '/') + '_reg')}] {made.within(x):.3f}"
            source = made.clock_of[x.source_clock]
            source = f"{{{source}}}" if whole else f"-of_objects [get_ports {{{source}}}]"
            lines.append(f"set_max_delay{quiet} -datapath_only -from [get_clocks {source}] {to}")
            if made.has_skew(x):
                sources = " ".join(_either(made.path(y, "/") + "_reg")[1:-1] for y in x.sources)
                lines.append(f"set_bus_skew -from [get_cells -quiet {{{sources}}}] {to}")
    return "\n".join([*lines, *(_ports(made) if whole else []), ""])


def sdc(made: Constraints) -> str:
    """For Quartus Prime Pro. Clocks that are not related are so to it too: most and least delay make room for that."""
    lines = [*_head(made, "Quartus Prime Pro"), *_clocks(made), "derive_clock_uncertainty"]
    for register, places in made.modules():
        lines += ["", f"# {register}"]
        for x in places:
            ends = f"-from [get_clocks {{{made.clock_of[x.source_clock]}}}]"
            ends += f" -to [get_registers {_either(made.path(x.path, '|'))}]"
            within = f"{made.within(x):.3f}"
            lines += [f"set_max_delay {ends} 100", f"set_min_delay {ends} -100", f"set_data_delay {ends} {within}"]
            if made.has_skew(x):
                sources = " ".join(_either(made.path(y, "|"))[1:-1] for y in x.sources)
                to = ends.partition(" -to ")[2]
                lines.append(f"set_max_skew -from [get_registers {{{sources}}}] -to {to} {within}")
    return "\n".join([*lines, *_ports(made), ""])

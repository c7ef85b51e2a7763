# SPDX-License-Identifier: Apache-2.0
"""`./emery timing --cdc`: every register that sees one of another clock, in a whole system, before anything is mapped.

A register is named `module.register`. It may see another clock when `rtl/timing.toml` names it with the reason: the first stage
of a synchronizer, a RAM behind Gray pointers. Each of its bits then follows from one register alone (`logic`: from several, as
something else says when it may be looked at), and several bits from a register named there (`bus_from`: a Gray counter).
Cells that are not bitwise count as if each bit out saw each bit in. Ports have no clock.
"""

import re
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass

from emery import report
from emery.check import blocks, synthesis

_BITWISE = re.compile(r"\$(mux|pmux|and|or|xor|xnor|not|pos|bwmux|buf)")
_FLIP_FLOP = re.compile(r"\$(a|al|s)?dff(e|ce|sr|sre)?")
_ASYNCHRONOUS = re.compile(r"\$(a|al)dffe?|\$dffsre?")
_LATCH = re.compile(r"\$a?dlatch(sr)?|\$sr")
_CLOCKS = ("CLK", "ARST", "ALOAD")
_SEVERAL = ("several",)


@dataclass(frozen=True)
class Crossing:
    """A register, as `module.register`, that sees another clock."""

    register: str
    source: str  # what it sees; `several`: a bit of it follows from more than one bit of that clock
    source_clock: str
    clock: str
    bits: int
    places: int  # instances in which it is so
    allowed: str  # why that is well; empty: it is not


@dataclass(frozen=True)
class Place:
    """A register at one place, as an instance's path, that sees another clock. Clocks are bits of the netlist."""

    register: str
    path: str
    source: str  # as in Crossing
    sources: tuple[str, ...]  # paths of what it sees; none: several
    source_clock: int
    clock: int
    bits: int


@dataclass(frozen=True)
class Report:
    """All crossings of a system."""

    name: str
    clocks: dict[str, int]  # bits in flip-flops by clock
    crossings: list[Crossing]
    latches: list[str]
    asynchronous: dict[str, str]  # registers with an asynchronous set or reset, as `module.register`: why that is well

    @property
    def clean(self) -> bool:
        """Whether nothing crosses but where it may, and there is no latch, and no asynchronous reset but where it may be."""
        return all([*(x.allowed for x in self.crossings), *self.asynchronous.values()]) and not self.latches

    def as_json(self) -> dict:
        """For `--json`."""
        return asdict(self) | {"clean": self.clean}


def find(subject: blocks.Subject, allowed: dict[str, dict]) -> Report:
    """The crossings. `allowed`: `module.register` to `why`, and whether there may be `logic` in front."""
    gates = Gates(synthesis.gates(subject))
    groups = defaultdict(list)
    for x in gates.places():
        groups[x.register, x.source, gates.name(x.source_clock), gates.name(x.clock)].append(x)
    found = []
    for (register, source, other, clock), places in sorted(groups.items()):
        bits, paths = sum(x.bits for x in places), len({x.path for x in places})
        rule = allowed.get(register, {"why": ""})
        alone = source != "several" and (bits == paths or rule.get("bus_from") == source)
        why = rule["why"] if alone or rule.get("logic") else ""
        found.append(Crossing(register, source, other, clock, bits, paths, why))
    clocks = Counter(gates.name(x) for x in gates.starts.values())
    asynchronous = {x: allowed.get(x, {}).get("asynchronous", "") for x in sorted(gates.asynchronous)}
    return Report(subject.name, dict(clocks.most_common()), found, sorted(gates.latches), asynchronous)


class Gates:
    """Registers, memories and what lies between them. A node is a bit, a cell or a memory."""

    def __init__(self, module: dict):
        self.names: dict[int, str] = {}
        for name, net in module["netnames"].items():
            for bit in net["bits"]:
                if isinstance(bit, int) and (bit not in self.names or len(name) < len(self.names[bit])):
                    self.names[bit] = name
        self.next: dict = defaultdict(list)
        self.starts: dict[int, int] = {}  # bit of a register: its clock
        self.origin: dict = {}  # node that a clock's value begins at: its register
        self.path: dict = {}  # the same: where that is
        self.ends: list[tuple] = []  # node, clock, register, path
        self.resets: set[int] = set()  # bits that set or reset registers without a clock
        self.latches: set[str] = set()
        self.asynchronous: set[str] = set()
        for port in module["ports"].values():
            if len(port["bits"]) == 1 and isinstance(port["bits"][0], int):
                self.names[port["bits"][0]] = next(x for x, p in module["ports"].items() if p is port)
        for name, cell in module["cells"].items():
            self._cell(name, cell)
        self.seen = self._spread()
        self._clocks = defaultdict(set)  # of the registers a node goes to
        for node, clock, _, _ in self.ends:
            self._clocks[node].add(clock)

    def places(self) -> list[Place]:
        """Every register that sees another clock, place by place."""
        seen = defaultdict(list)
        for node, clock, register, path in self.ends:
            for other, one in self.seen[node].items():
                if other != clock:
                    seen[register, path, self.origin.get(one, "several"), other, clock].append(self.path.get(one))
        return [
            Place(register, path, source, tuple(sorted({x for x in paths if x})), other, clock, len(paths))
            for (register, path, source, other, clock), paths in seen.items()
        ]

    def _after(self, bits: list[int]) -> set:
        """What follows from these bits within a clock."""
        seen, todo = set(bits), list(bits)
        while todo:
            new = {x for x in self.next.get(todo.pop(), ()) if x not in self.starts} - seen
            seen |= new
            todo += new
        return seen

    def resets_from(self, bits: list[int]) -> bool:
        """Whether registers are reset by these bits without a clock."""
        return not self._after(bits).isdisjoint(self.resets)

    def reached(self, bit: int) -> set[int]:
        """The clocks of the registers that follow from a bit, but for those that it resets without their clock."""
        seen = self._after([bit])
        return {clock for x in seen - self.resets for clock in self._clocks.get(x, ())}

    def name(self, bit: int) -> str:
        """A net's name."""
        return self.names.get(bit, f"${bit}").removeprefix("i_block.")

    def _cell(self, name: str, cell: dict):
        kind, ports = cell["type"], cell["connections"]
        ways = cell["port_directions"]
        ins = [(p, b) for p, bits in ports.items() if ways[p] == "input" for b in bits if isinstance(b, int)]
        outs = [b for p, bits in ports.items() if ways[p] == "output" for b in bits if isinstance(b, int)]
        path = re.sub(r"^(\$driver\$)?(i_block\.)?", "", name)
        if _FLIP_FLOP.fullmatch(kind):
            self._flip_flop(kind, ports, _register(cell, path.rpartition(".")[2]), path)
        elif kind in ("$memwr_v2", "$memrd_v2"):
            self._memory(name, cell, ins, outs)
        else:
            if _LATCH.fullmatch(kind):
                self.latches.add(path)
            self._gate(name, kind, ports, ins, outs)

    def _flip_flop(self, kind: str, ports: dict, register: str, path: str):
        clock = ports["CLK"][0]
        if _ASYNCHRONOUS.fullmatch(kind):
            self.asynchronous.add(register)
        for i, bit in enumerate(ports["Q"]):
            if isinstance(bit, int):
                self.starts[bit] = clock
                self.origin[bit], self.path[bit] = register, path
                # Data of this bit; enables and resets, on the same clock or not, are the register's.
                self.ends += [(ports["D"][i], clock, register, path)] * isinstance(ports["D"][i], int)
        self.resets |= {x for pin in ("ARST", "ALOAD") for x in ports.get(pin, []) if isinstance(x, int)}
        for pin in ports.keys() - {"D", "Q", "CLK"}:
            self.ends += [(x, clock, register, path) for x in ports[pin] if isinstance(x, int)]

    def _memory(self, name: str, cell: dict, ins: list, outs: list):
        memory = ("memory", cell["parameters"]["MEMID"])
        path = memory[1].lstrip("\\").removeprefix("i_block.")
        register = _register(cell, path.rpartition(".")[2])
        ports = cell["connections"]
        if cell["type"] == "$memwr_v2":
            clock = ports["CLK"][0]
            source = (*memory, clock)
            self.starts[source] = clock
            self.origin[source], self.path[source] = register, path
            self.next[source].append(memory)
            self.ends += [(x, clock, register, path) for p, x in ins if p != "CLK"]
        elif int(str(cell["parameters"]["CLK_ENABLE"])[-1]):
            clock = ports["CLK"][0]
            self.starts |= dict.fromkeys(outs, clock)
            self.origin |= dict.fromkeys(outs, register)
            self.path |= dict.fromkeys(outs, path)
            self.ends += [(x, clock, register, path) for x in [memory, *(b for p, b in ins if p != "CLK")]]
        else:
            for node in [memory, *(x for _, x in ins)]:
                self.next[node].append(("cell", name))
            self.next["cell", name] += outs

    def _gate(self, name: str, kind: str, ports: dict, ins: list, outs: list):
        if _BITWISE.fullmatch(kind) and "Y" in ports:
            width = len(ports["Y"])
            for i, out in enumerate(ports["Y"]):
                for pin in ("A", "B"):
                    bits = ports.get(pin, [])
                    sources = bits[i::width] if len(bits) >= width else bits[-1:] if i >= len(bits) else bits[i : i + 1]
                    for bit in sources:
                        self.next[bit].append(out)
                for bit in ports.get("S", []):
                    self.next[bit].append(out)
            return
        for _, bit in ins:
            self.next[bit].append(("cell", name))
        self.next["cell", name] += outs

    def _spread(self) -> dict:
        """Node: by clock, the one start of it that is seen there, or that there are several."""
        seen: dict = defaultdict(dict)
        todo = []
        for node, clock in self.starts.items():
            seen[node][clock] = node
            todo.append(node)
        while todo:
            node = todo.pop()
            for after in self.next[node]:
                if after in self.starts:
                    continue
                there, changed = seen[after], False
                for clock, one in seen[node].items():
                    if clock not in there:
                        there[clock], changed = one, True
                    elif there[clock] not in (one, _SEVERAL):
                        there[clock], changed = _SEVERAL, True
                if changed:
                    todo.append(after)
        return seen


def _register(cell: dict, name: str) -> str:
    """`module.register`: a module is in the file of its name."""
    file = re.search(r"(\w+)\.s?vh?:", cell["attributes"].get("src", ""))
    return f"{file[1] if file else '?'}.{name}"


def text(found: Report) -> str:
    """What the command prints."""
    rows = [["register", "of clock", "sees", "of clock", "bits", "places", ""]]
    for x in found.crossings:
        rows.append([x.register, x.clock, x.source, x.source_clock, x.bits, x.places, x.allowed or "NOT ALLOWED"])
    parts = [f"{found.name}: flip-flop bits by clock: " + ", ".join(f"{name} {n:,}" for name, n in found.clocks.items())]
    parts += [report.table(rows, left=7)] if found.crossings else ["nothing crosses"]
    parts += [f"latches: {' '.join(found.latches)}"] if found.latches else []
    parts += [f"asynchronous: {register}: {why or 'NOT ALLOWED'}" for register, why in found.asynchronous.items()]
    return "\n\n".join([*parts, "clean" if found.clean else "NOT CLEAN"])

# SPDX-License-Identifier: Apache-2.0
"""`./emery timing`: how many LUT levels and nanoseconds lie between two registers of a system or a block, and where the longest
path is, beside the clock it is declared for.

Nothing is placed: the estimate is for ratios and for finding the path. Calibrated, it is times 0.675, with which the worst
paths of Corundum's queue managers and DMA engines, which close 250 MHz on UltraScale+ -2, come out as the 4.0 ns they have.
To be read as +-15 %.
"""

import re
from dataclasses import asdict, dataclass, field

from emery import report
from emery.check import blocks, synthesis
from emery.check.netlist import Arc, End, Graph, Start

CALIBRATION = 0.675


@dataclass(frozen=True)
class Path:
    """The longest way between two registers (or ports), the bits of each taken together."""

    estimated_ns: float
    levels: int
    start: str
    end: str
    via: list[str]  # names on the way, as far as the sources have them
    fan_out: int  # the largest on the way


@dataclass(frozen=True)
class Clock:
    """What lies between the registers of one clock: the paths of most ns, and of most levels."""

    name: str
    registers: int
    declared_mhz: float | None
    slowest: list[Path]
    deepest: list[Path]

    @property
    def estimated_ns(self) -> float:
        """Of the slowest path."""
        return self.slowest[0].estimated_ns if self.slowest else 0.0

    @property
    def levels(self) -> int:
        """Of the deepest path."""
        return self.deepest[0].levels if self.deepest else 0

    @property
    def calibrated_mhz(self) -> float:
        """The clock that the slowest path allows."""
        return 1000 / (CALIBRATION * max(self.estimated_ns, 0.1))

    @property
    def spare(self) -> float | None:
        """How much faster than declared it is, as a fraction; below 0 it is too slow."""
        return self.calibrated_mhz / self.declared_mhz - 1 if self.declared_mhz else None


@dataclass(frozen=True)
class Timing:
    """A measured system or block."""

    name: str
    system: str
    cells: dict[str, float]
    clocks: list[Clock]
    inputs: list[Path] = field(default_factory=list)  # from a port to a register
    outputs: list[Path] = field(default_factory=list)  # from a register to a port
    through: list[Path] = field(default_factory=list)  # from port to port
    loops: list[str] = field(default_factory=list)  # nets that follow from themselves without a register
    unknown: dict[str, int] = field(default_factory=dict)  # cells that nothing is known of

    def as_json(self) -> dict:
        """For `--json`."""
        keys = ("estimated_ns", "levels", "calibrated_mhz", "spare")
        more = [asdict(x) | {name: getattr(x, name) for name in keys} for x in self.clocks]
        return asdict(self) | {"calibration": CALIBRATION, "clocks": more}


def measure(subject: blocks.Subject, paths: int = 5) -> Timing:
    """Synthesizes (or takes from the cache) and measures."""
    module = synthesis.mapped(subject)
    graph = Graph(module)
    order, loops = _order(graph.arcs)
    ports = {net: x for net, x in graph.starts.items() if x.clock is None}
    clocks = []
    for clock in graph.clocks():
        starts = {net: x for net, x in graph.starts.items() if x.clock == clock}
        ends = [x for x in graph.ends if x.clock == clock]
        by_ns, by_levels = (_Arrival(graph, order, starts, key).longest(ends, paths) for key in ("ns", "levels"))
        name = graph.name(clock)
        clocks.append(Clock(name, len(starts), subject.clocks.get(name.partition("[")[0]), by_ns, by_levels))
    outside = [x for x in graph.ends if x.clock is None]
    inside = [x for x in graph.ends if x.clock is not None]
    of_ports = _Arrival(graph, order, ports, "levels")
    of_registers = _Arrival(graph, order, {net: x for net, x in graph.starts.items() if net not in ports}, "levels")
    io = (of_ports.longest(inside, paths), of_registers.longest(outside, paths), of_ports.longest(outside, paths))
    named = sorted({graph.name(x) for x in loops})
    return Timing(subject.name, subject.system, synthesis.count(module), clocks, *io, named, dict(graph.unknown))


def _order(arcs: dict[int, list[Arc]]) -> tuple[list[int], set[int]]:
    """The nets behind cells, each after those it follows from; and the nets at which a loop was cut."""
    order, state, loops = [], {}, set()
    for root in list(arcs):
        stack = [] if root in state else [(root, iter(arcs[root]))]
        state.setdefault(root, 1)
        while stack:
            net, rest = stack[-1]
            for arc in rest:
                if state.get(arc.net) == 1:
                    loops.add(arc.net)
                elif arc.net in arcs and arc.net not in state:
                    state[arc.net] = 1
                    stack.append((arc.net, iter(arcs[arc.net])))
                    break
            else:
                state[net] = 2
                order.append(net)
                stack.pop()
    return order, loops


class _Arrival:
    """When the last change from some starts arrives at each net: by ns, or by levels."""

    def __init__(self, graph: Graph, order: list[int], starts: dict[int, Start], key: str):
        self.graph = graph
        self.key = key
        self.starts = starts
        # Net: (what counts, the other, the start, the net before).
        self.at = {net: (*self._pair(x.ns, x.levels), net, None) for net, x in starts.items()}
        for net in order:
            best = self.at.get(net)
            for arc in graph.arcs[net]:
                before = self.at.get(arc.net)
                if before is None:
                    continue
                chained = arc.chain and arc.net in graph.carries
                step = self._pair(arc.ns + (0.0 if chained else graph.routing(arc.net)), 0 if chained else arc.levels)
                one = (before[0] + step[0], before[1] + step[1], before[2], arc.net)
                if best is None or one[:2] > best[:2]:
                    best = one
            if best is not None:
                self.at[net] = best

    def _pair(self, ns: float, levels: int) -> tuple:
        return (ns, levels) if self.key == "ns" else (levels, ns)

    def longest(self, ends: list[End], count: int) -> list[Path]:
        """The longest paths to these ends, one for each pair of start and end."""
        best: dict[tuple[str, str], tuple] = {}
        for end in ends:
            if end.net not in self.at:
                continue
            main, other, start, _ = self.at[end.net]
            ns, levels = (main, other) if self.key == "ns" else (other, main)
            ns += self.graph.routing(end.net) + end.ns
            pair = (_whole(self.starts[start].name), _whole(end.name))
            found = (self._pair(ns, levels), ns, levels, self.starts[start].name, end)
            if pair not in best or found[0] > best[pair][0]:
                best[pair] = found
        first = sorted(best.values(), key=lambda x: x[0], reverse=True)[:count]
        return [self._path(*x[1:]) for x in first]

    def _path(self, ns: float, levels: int, start: str, end: End) -> Path:
        nets, net = [], end.net
        while net is not None:
            nets.insert(0, net)
            net = self.at[net][3]
        via = [x for x in dict.fromkeys(map(self.graph.name, nets)) if "$" not in x]
        return Path(round(ns, 2), levels, start, end.name, via, max(self.graph.fan_out[x] for x in nets))


def _whole(name: str) -> str:
    """A register as a whole, whichever of its bits and pins it is."""
    return re.sub(r"\[\d+\]|\.(D|CE|R|S)$", "", name)


# ---------------------------------------------------------------- for people


def verdict(clock: Clock) -> str:
    """How a clock stands to what it is declared for, in words."""
    if clock.spare is None:
        return ""
    if clock.spare >= 0.10:
        return f"{clock.spare:.0%} to spare"
    return f"marginal ({clock.spare:+.0%})" if clock.spare > -0.10 else f"{-clock.spare:.0%} short"


def text(timing: Timing) -> str:
    """What the command prints."""
    rows = [["clock", "registers", "levels", "est. ns", "cal. ns", "cal. MHz", "declared", ""]]
    for x in timing.clocks:
        ns = f"{x.estimated_ns * CALIBRATION:.2f}"
        declared = report.number(x.declared_mhz, "g")
        row = [x.name, x.registers, x.levels, f"{x.estimated_ns:.2f}", ns, f"{x.calibrated_mhz:.0f}", declared, verdict(x)]
        rows.append(row)
    cells = ", ".join(f"{n:,g} {kind}" for kind, n in timing.cells.items() if n)
    parts = [f"{timing.name}, as {timing.system} has it: {cells}", report.table(rows)]
    for x in timing.clocks:
        parts += [_lines(f"{x.name}, slowest", x.slowest), _lines(f"{x.name}, deepest", x.deepest[:1])]
    for title, paths in (("from an input", timing.inputs), ("to an output", timing.outputs), ("through", timing.through)):
        parts.append(_lines(title, paths[:1]))
    parts += [f"loops: {' '.join(timing.loops)}"] if timing.loops else []
    parts += [f"cells without a delay: {timing.unknown}"] if timing.unknown else []
    return "\n\n".join(x for x in parts if x)


def _lines(title: str, paths: list[Path]) -> str:
    lines = [f"{title}:"] if paths else []
    for x in paths:
        lines.append(f"  {x.estimated_ns:.2f} ns, {x.levels} levels, fan-out {x.fan_out}: {x.start} -> {x.end}")
        between = [y for y in x.via if y not in (x.start, _whole(x.end))]
        lines += [f"    by {' '.join(between)}"] if between else []
    return "\n".join(lines)

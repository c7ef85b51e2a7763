# SPDX-License-Identifier: Apache-2.0
"""A mapped netlist as a graph of delays: arcs between nets, where paths start (at a clock or a port) and where they end.

Nanoseconds are estimates for UltraScale+ of speed grade 2, before placement; a net takes longer with its fan-out. A level is a
LUT: a carry chain counts as one however long it is, LUT RAM as one, a block RAM read without its output register as two, a DSP
without registers as four, wide multiplexers (MUXF7, MUXF8) as none.
"""

import collections
import math
import re
from typing import NamedTuple

# ns: clock to output, set-up, through. Typical of data sheet DS923 and of timing reports of such parts.
FF_OUT, FF_DATA, FF_CONTROL = 0.08, 0.03, 0.06
LUT, MUX = 0.12, 0.07
CARRY_IN, CARRY_STEP, CARRY_OUT = 0.15, 0.03, 0.10
BRAM_OUT, BRAM_REGISTER_OUT, BRAM_IN = 0.95, 0.30, 0.25
URAM_OUT, URAM_IN = 1.3, 0.35
LUTRAM, LUTRAM_IN, SRL_OUT = 0.15, 0.10, 0.48
DSP_OUT, DSP_PRODUCT, DSP_THROUGH, DSP_IN, DSP_IN_PLAIN = 0.25, 0.8, 2.1, 0.25, 1.45
NET, NET_FAN_OUT, MOST_FAN_OUT = 0.18, 0.065, 64


class Start(NamedTuple):
    """A net on which paths start: so long after the clock's edge, behind so many levels."""

    ns: float
    levels: int
    name: str
    clock: int | None  # a net; None: a port


class End(NamedTuple):
    """A net on which paths end."""

    net: int
    ns: float  # set-up
    name: str
    clock: int | None


class Arc(NamedTuple):
    """From a net through a cell. `chain`: the carry of a chain, no level and no routing behind another carry."""

    net: int
    ns: float
    levels: int
    chain: bool = False


class Graph:
    """The netlist of one module, in the form of Yosys's JSON."""

    def __init__(self, module: dict):
        self.names: dict[int, tuple] = {}
        self.fan_out: collections.Counter = collections.Counter()
        self.starts: dict[int, Start] = {}
        self.ends: list[End] = []
        self.arcs: dict[int, list[Arc]] = collections.defaultdict(list)  # by the net at the output
        self.carries: set[int] = set()
        self.unknown: collections.Counter = collections.Counter()  # cells that no delay is known of
        self.ports: dict[int, str] = {}
        for name, net in module["netnames"].items():
            self._name(name.removeprefix("i_block."), net)
        for name, port in module["ports"].items():
            for i, net in enumerate(port["bits"]):
                text = f"{name}[{i}]" if len(port["bits"]) > 1 else name
                if isinstance(net, int) and port["direction"] == "input":
                    self.ports[net] = text
                    self.starts[net] = Start(0.0, 0, text, None)
                elif isinstance(net, int):
                    self.fan_out[net] += 1
                    self.ends.append(End(net, 0.0, text, None))
        for name, cell in module["cells"].items():
            self._cell(name.removeprefix("i_block."), cell["type"], _Cell(cell))

    def _name(self, name: str, net: dict):
        hidden = bool(net.get("hide_name")) or name.startswith("$")
        for i, bit in enumerate(net["bits"]):
            if isinstance(bit, int):
                text = f"{name}[{i}]" if len(net["bits"]) > 1 else name
                # A register's own name, and the shortest one, says most.
                score = (hidden, not re.search(r"_q\b", text), len(text))
                if bit not in self.names or score < self.names[bit][0]:
                    self.names[bit] = (score, text)

    def name(self, net: int) -> str:
        """A net's name; begins with `$` where the sources have none for it."""
        return self.ports.get(net) or self.names.get(net, (0, f"${net}"))[1]

    def clocks(self) -> list[int]:
        """The clocks, that of most registers first."""
        found = collections.Counter(x.clock for x in self.starts.values() if x.clock is not None)
        return [net for net, _ in found.most_common()]

    def routing(self, net: int) -> float:
        """ns from a net's driver to its sinks."""
        return NET + NET_FAN_OUT * math.log2(1 + min(self.fan_out[net], MOST_FAN_OUT))

    # ---------------------------------------------------------------- cells

    def _through(self, outs: list[int], ins: list[int], ns: float, levels: int):
        for net in ins:
            self.fan_out[net] += 1
        for out in outs:
            self.arcs[out] += [Arc(net, ns, levels) for net in ins]

    def _sink(self, cell: "_Cell", pattern: str, ns: float, clock: int | None, name: str):
        for port, nets in cell.ports.items():
            if re.fullmatch(pattern, port) and cell.directions[port] == "input":
                for i, net in enumerate(nets):
                    if isinstance(net, int):
                        self.fan_out[net] += 1
                        self.ends.append(End(net, ns, f"{name}.{port}" + (f"[{i}]" if len(nets) > 1 else ""), clock))

    def _cell(self, name: str, kind: str, cell: "_Cell"):
        if re.fullmatch(r"LUT[1-6]|INV", kind):
            self._through(cell.nets("O"), cell.inputs(), LUT, 1)
        elif re.fullmatch(r"MUXF[789]", kind):
            self._through(cell.nets("O"), cell.inputs(), MUX, 0)
        elif kind in ("BUFG", "BUF", "IBUF", "OBUF"):
            self._through(cell.nets("O"), cell.inputs(), 0.0, 0)
        elif kind in ("CARRY4", "CARRY8"):
            self._carry(cell)
        elif re.fullmatch(r"FD[RSCP]E(_1)?|LD[CP]E", kind):
            self._flip_flop(name, cell)
        elif re.fullmatch(r"RAMB(36|18)E[12]", kind):
            self._block_ram(name, cell)
        elif kind == "URAM288":
            clock = cell.one("CLK")
            for net in cell.nets(r"DOUT_[AB]"):
                self.starts[net] = Start(URAM_OUT, 2, name, clock)
            self._sink(cell, r"(ADDR|DIN|EN|RDB_WR|BWE)_[AB]", URAM_IN, clock, name)
        elif kind.startswith("DSP48"):
            self._dsp(name, cell)
        elif re.fullmatch(r"RAM\d+(M|X)\w+", kind):
            self._lut_ram(name, cell)
        elif kind.startswith("SRL"):
            clock = cell.one("CLK")
            self._through(cell.nets("Q|Q31|Q15"), cell.nets(r"A\d?"), LUTRAM, 1)
            for net in cell.nets("Q|Q31|Q15"):
                self.starts[net] = Start(SRL_OUT, 1, self.name(net), clock)
            self._sink(cell, "D|CE", LUTRAM_IN, clock, self.name(cell.nets("Q|Q31|Q15")[0]))
        else:
            self.unknown[kind] += 1
            for net in cell.outputs():
                self.starts[net] = Start(0.0, 0, name, None)

    def _carry(self, cell: "_Cell"):
        """Each output sees the bits at and below its own, and what comes into the chain."""
        for net in cell.inputs():
            self.fan_out[net] += 1
        self.carries |= set(cell.nets("CO"))
        into = cell.nets("CI|CYINIT|CI_TOP")
        for port, more in (("O", CARRY_OUT), ("CO", 0.0)):
            for i, out in enumerate(cell.ports.get(port, ())):
                if not isinstance(out, int):
                    continue
                for side in ("S", "DI"):
                    # A sum does not see the data bit of its own place: that is for the carry out of it.
                    below = cell.ports[side][: i + (side == "S" or port == "CO")]
                    self.arcs[out] += [Arc(x, CARRY_IN + more, 1) for x in below if isinstance(x, int)]
                self.arcs[out] += [Arc(x, CARRY_STEP + more, 1, True) for x in into]

    def _flip_flop(self, name: str, cell: "_Cell"):
        clock = cell.one("C") if "C" in cell.ports else cell.one("G")
        out = cell.one("Q")
        text = self.name(out) if out is not None else name
        if out is not None:
            self.starts[out] = Start(FF_OUT, 0, text, clock)
        self._sink(cell, "D", FF_DATA, clock, text)
        self._sink(cell, "CE|R|S|CLR|PRE", FF_CONTROL, clock, text)

    def _block_ram(self, name: str, cell: "_Cell"):
        for side in "AB":
            registered = cell.flag(f"DO{side}_REG")
            clock = next(iter(cell.nets(rf"CLK{side}(RD|WR)CLK")), None)
            for net in cell.nets(rf"DOUTP?{side}DOUTP?"):
                self.starts[net] = Start(BRAM_REGISTER_OUT if registered else BRAM_OUT, 0 if registered else 2, name, clock)
            self._sink(cell, rf".*{side}(RD|WR)?(ADDR|EN|DIN|DINP|WE|BWE).*", BRAM_IN, clock, name)

    def _dsp(self, name: str, cell: "_Cell"):
        clock = cell.one("CLK")
        product, sum_, operands = cell.flag("MREG"), cell.flag("PREG"), cell.flag("AREG") and cell.flag("BREG")
        outs, ins = cell.nets("P|PCOUT|CARRYOUT"), cell.nets("A|B|C|D|ACIN|BCIN|PCIN")
        if not (product or sum_ or operands):
            self._through(outs, ins, DSP_THROUGH, 4)
            return
        late = (DSP_OUT, 0) if sum_ else (DSP_OUT + DSP_PRODUCT, 2) if product else (DSP_THROUGH, 4)
        for net in outs:
            self.starts[net] = Start(*late, name, clock)
        self._sink(cell, "A|B|C|D|ACIN|BCIN|PCIN", DSP_IN if operands else DSP_IN_PLAIN, clock, name)

    def _lut_ram(self, name: str, cell: "_Cell"):
        """Reads are through it, writes are at the clock."""
        clock = cell.one("WCLK")
        for port in (x for x, way in cell.directions.items() if way == "output"):
            bank = re.fullmatch(r"DO([A-H])", port)
            address = f"ADDR{bank[1]}" if bank else {"DPO": r"DPRA\d?", "SPO": r"A\d?", "O": r"A\d?"}[port]
            for out in cell.nets(port):
                self.arcs[out] += [Arc(x, LUTRAM, 1) for x in cell.nets(address)]
                if not self.arcs[out]:
                    self.starts[out] = Start(FF_OUT + LUTRAM, 1, name, clock)
        for net in cell.nets(r"ADDR[A-G]|DPRA\d?"):
            self.fan_out[net] += 1
        write_address = "ADDRH" if "ADDRH" in cell.ports else "ADDRD" if "ADDRD" in cell.ports else r"A\d?"
        self._sink(cell, rf"DI\w*|D|WE|{write_address}", LUTRAM_IN, clock, name)


class _Cell:
    """A cell of Yosys's JSON."""

    def __init__(self, cell: dict):
        self.ports: dict[str, list] = cell["connections"]
        self.directions: dict[str, str] = cell["port_directions"]
        self.parameters: dict[str, str] = cell["parameters"]

    def nets(self, pattern: str) -> list[int]:
        """The nets at the ports of that name; constants are left out."""
        return [x for port, nets in self.ports.items() if re.fullmatch(pattern, port) for x in nets if isinstance(x, int)]

    def one(self, port: str) -> int | None:
        """The net at a port of one bit."""
        return next(iter(self.nets(port)), None)

    def inputs(self) -> list[int]:
        """All nets that go in."""
        return [x for port, nets in self.ports.items() if self.directions[port] == "input" for x in nets if isinstance(x, int)]

    def outputs(self) -> list[int]:
        """All nets that come out."""
        return [x for port, nets in self.ports.items() if self.directions[port] == "output" for x in nets if isinstance(x, int)]

    def flag(self, parameter: str) -> bool:
        """Whether a parameter, a number in binary, is not 0."""
        text = str(self.parameters.get(parameter, "0"))
        return re.fullmatch("[01]+", text) is not None and int(text, 2) > 0

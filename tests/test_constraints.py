# SPDX-License-Identifier: Apache-2.0
"""XDC and SDC of every top, read back: each register that sees another clock is constrained, and nothing else is."""

import functools
import re

import pytest
from conftest import slow_but

from emery import system
from emery.check import blocks, clocks, constraints, crossings, synthesis

SYSTEMS = [x for x in map(system.load, system.names()) if len(x.clocks) > 1 and x.name != "host-nic"]
TOPS = [(x.name, [f"{k}={v}" for k, v in y.items()]) for x in SYSTEMS for y in ({}, *(z["when"] for z in x.variants))]
TWO_PORTS = ("host-nic", ["ports=2", "pcie_interface=usplus"])
TOPS += [TWO_PORTS]
LONG = ("core-nic", "host-nic")  # several clocks, and many registers


@functools.cache
def found(name, *settings):
    """A system and its constraints."""
    subject = blocks.subject(name, list(settings))
    return subject, constraints.find(subject, clocks.crossings(), clocks.outside())


def words(line):
    """A line of Tcl: its words; `[...]` and `{...}` are one, with what is in them."""
    found, depth, word = [], 0, ""
    for x in f"{line} ":
        if x == " " and not depth:
            found += [word] if word else []
            word = ""
            continue
        depth += (x in "[{") - (x in "]}")
        word += x
    return found


class Command:
    """A command of a file: its name, its options and what stands alone."""

    def __init__(self, line):
        self.name, *rest = words(line)
        self.options, self.alone = {}, []
        flags = ("-datapath_only", "-quiet", "-max", "-min")
        while rest:
            word = rest.pop(0)
            if word in flags or not re.match("-[a-z]", word):
                self.alone.append(word)
            else:
                self.options[word] = rest.pop(0)

    def value(self):
        """The number at its end."""
        return float(next(x for x in reversed(self.alone) if re.fullmatch(r"-?[\d.]+", x)))

    def objects(self, option, known):
        """Those of the known names that an option means; brackets are no pattern, stars are."""
        said = self.options[option] if option else next(x for x in self.alone if x.startswith("[get_"))
        patterns = re.search(r"{(.*)}", said)[1].split()
        found = set()
        for x in patterns:
            plain = re.compile(".*".join(map(re.escape, x.split("*"))))
            found |= {name for name in known if plain.fullmatch(name)}
        return found


def commands(text):
    return [Command(x) for x in text.splitlines() if x and not x.startswith("#")]


class Netlist:
    """What there is to constrain, out of the netlist: bits of registers and ports by the names that tools give them."""

    def __init__(self, subject, made):
        module = synthesis.gates(subject)
        self.gates = crossings.Gates(module)
        self.made = made
        self.register_of = {}  # name of a bit, for each kind of file: path
        for separator, ending in (("/", "_reg"), ("|", "")):
            for path in {x[3] for x in self.gates.ends}:
                self.register_of[f"{made.path(path, separator)}{ending}[0]"] = path
        self.ports = set(module["ports"])
        self.only_resets = {x for x, port in module["ports"].items() if x.endswith("rst_i") and self._only_resets(port["bits"])}

    def _only_resets(self, bits):
        """Whether nothing but asynchronous resets follows from a port: no register's data, enable or synchronous reset."""
        ends = {x[0] for x in self.gates.ends} & self.gates._after(bits)
        return bool(ends) and ends <= self.gates.resets


def problems(text, netlist):
    """What is wrong with the constraints of a file: (register, clock it sees) not constrained, constrained without need."""
    made, skewed, delayed, wrong = netlist.made, set(), set(), []
    wanted = {(x.path, made.clock_of[x.source_clock]): made.within(x) for x in made.places}
    for x in commands(text):
        if x.name in ("set_max_delay", "set_data_delay") and x.value() != 100:
            assert x.name == "set_data_delay" or "-datapath_only" in x.alone
            for clock in x.objects("-from", made.clocks):
                for register in {netlist.register_of[y] for y in x.objects("-to", netlist.register_of)}:
                    wrong += [f"{register} sees no {clock}"] if (register, clock) not in wanted else []
                    wrong += [f"{register}: {x.value()} ns"] if x.value() > wanted.get((register, clock), 0) + 0.001 else []
                    delayed.add((register, clock))
        elif x.name in ("set_bus_skew", "set_max_skew"):
            sources = frozenset(netlist.register_of[y] for y in x.objects("-from", netlist.register_of))
            skewed |= {(netlist.register_of[y], sources) for y in x.objects("-to", netlist.register_of)}
        elif x.name == "set_false_path":
            (reset,) = x.objects("-from", netlist.ports)
            assert reset in netlist.only_resets and len(x.options) == 1
        elif x.name not in ("create_clock", "derive_clock_uncertainty", "set_input_delay", "set_output_delay"):
            # Anything else, a false path or a group of clocks, would hide a crossing; 100 ns of room stand beside the delay.
            assert x.name in ("set_max_delay", "set_min_delay") and abs(x.value()) == 100, x.name
    wrong += [f"{x[0]} sees {x[1]} unconstrained" for x in wanted.keys() - delayed]
    together = {(x.path, frozenset(x.sources)) for x in made.places if made.has_skew(x)}
    return wrong + [f"skew: {x}" for x in together ^ skewed]


def test_a_system_of_one_clock_needs_no_netlist():
    """tile-router's is the largest."""
    _, made = found("tile-router")
    assert not made.places and "set_input_delay -clock [get_clocks {clk_i}] -max 0.588 [get_ports {rst_i" in constraints.xdc(
        made
    )


@pytest.mark.parametrize(
    ("name", "settings"),
    slow_but(lambda x: x[0] not in LONG, TOPS),
    ids=lambda x: x if isinstance(x, str) else ",".join(x),
)
def test_what_is_constrained_is_what_crosses(name, settings):
    subject, made = found(name, *settings)
    report = crossings.find(subject, clocks.crossings())
    assert {x.register for x in made.places} == {x.register for x in report.crossings}
    assert sum(x.bits for x in made.places) == sum(x.bits for x in report.crossings)
    netlist = Netlist(subject, made)
    for text in (constraints.xdc(made), constraints.sdc(made)):
        assert not problems(text, netlist)
        periods = {
            next(iter(x.objects(None, made.clocks))): float(x.options["-period"])
            for x in commands(text)
            if "-period" in x.options
        }
        assert periods == {x: pytest.approx(ns, abs=0.001) for x, ns in made.clocks.items()}
        assert {x.partition("[")[0] for x in periods} == subject.clocks.keys()


@pytest.fixture(scope="module")
def small():
    subject, made = found("direct-router")
    return made, Netlist(subject, made)


@pytest.mark.parametrize("kind", ["xdc", "sdc"])
def test_a_line_too_few_or_too_many_is_noticed(small, kind):
    made, netlist = small
    lines = getattr(constraints, kind)(made).splitlines()
    for i, line in enumerate(lines):
        if re.match("set_(data|bus|max_skew)", line) or "-datapath_only" in line:
            assert problems("\n".join(lines[:i] + lines[i + 1 :]), netlist), line
    line = next(x for x in lines if re.match("set_(data_delay|max_delay -datapath_only).*first_q", x))
    assert problems("\n".join([*lines, line.replace("first_q", "second_q")]), netlist)
    assert problems("\n".join([*lines, line.replace(" 8.000", " 9.000")]), netlist)
    assert problems("\n".join(re.sub(r"first_q(_reg)?\[\*\]", "*", x) for x in lines), netlist)
    with pytest.raises(AssertionError):
        problems("\n".join([*lines, "set_false_path -from [get_clocks {clk_i}] -to [get_clocks {mac_clk_i}]"]), netlist)


def test_paths_are_as_the_tools_write_them(small):
    """Of instances and generate blocks."""
    made, _ = small
    assert " i_card/i_mac/i_mac_rx/i_cross/i_write/gray_q_reg[*]" in constraints.xdc(made)
    assert " i_card|i_mac|i_mac_rx|i_cross|i_write|gray_q[*]" in constraints.sdc(made)
    instances = {"i_a", "i_a.g_b[0].i_c"}
    other = constraints.Constraints("", {}, [], {}, [], set(), instances, [])
    assert other.path("i_a.g_b[0].i_c.g_d.x_q", "/") == "i_a/g_b[0].i_c/g_d.x_q"


def test_every_port_has_a_delay_to_the_clock_behind_it(small):
    made, netlist = small
    for text in (constraints.xdc(made), constraints.sdc(made)):
        said = {}
        for x in commands(text):
            if x.name.endswith("put_delay"):
                (clock,) = x.objects("-clock", made.clocks)
                (port,) = x.objects(None, netlist.ports)
                said.setdefault(port, {})[x.alone[0]] = (clock, x.value())
        # RST# of the bus comes and goes as it likes.
        assert netlist.only_resets == {"rst_i", "mac_rst_i"} == set(made.resets)
        # Without a memory beside the card what goes to it is constant.
        assert said.keys() == netlist.ports - made.clocks.keys() - netlist.only_resets - {"table_o"}
        # PCI-X at 66 2/3 MHz: 1.7 ns of set-up, 3.8 ns from clock to output; the MAC's stream stays on the chip.
        period = 15
        assert said["ad_i"] == {"-max": ("clk_i", pytest.approx(period - 1.7, abs=0.001)), "-min": ("clk_i", 0.5)}
        assert said["ad_o"] == {"-max": ("clk_i", pytest.approx(period - 3.8, abs=0.001)), "-min": ("clk_i", -0.7)}
        assert said["mac_rx_i"]["-max"] == ("mac_clk_i", 2.0)


def test_a_boards_delays_are_those_of_its_top():
    """The same system on PCI Express has its hard block on the chip, and that one's clock."""
    _, made = found("direct-router", "bus=pcie")
    assert made.clocks == {"clk_i": 8.0, "mac_clk_i": 8.0}
    assert {x.most for x in made.pins} == {2.0}  # a quarter of the period


def test_a_memory_beside_the_card_has_the_bus_clock():
    """Its controller is on the chip: a quarter of the period."""
    _, made = found("direct-router", "fib_nodes=1024")
    assert {x.pattern: (x.clock, round(x.most, 3)) for x in made.pins if "table" in x.pattern} == {
        "table_i": ("clk_i", 3.75),
        "table_o": ("clk_i", 3.75),
    }


def test_a_port_with_both_ways_of_a_mac_has_the_clock_of_each():
    """And the first port's pins go with the first port's clock."""
    _, made = found(TWO_PORTS[0], *TWO_PORTS[1])
    clock = {x.pattern: x.clock for x in made.pins if x.pattern.startswith("mac_i")}
    for port in (0, 1):
        assert clock[f"mac_i[{port}][rx]"] == clock[f"mac_i[{port}][rx_ptp_tstamp]"] == f"mac_rx_clk_i[{port}]"
        assert clock[f"mac_i[{port}][tx_tready]"] == f"mac_tx_clk_i[{port}]"

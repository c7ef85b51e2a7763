# SPDX-License-Identifier: Apache-2.0
"""`./emery timing`: small netlists of known depth, clock crossings of all systems, blocks that stay as fast and as small."""

import json
import re
from dataclasses import replace

import pytest

from emery import system
from emery.check import blocks, clocks, crossings, every, structure, synthesis, timing
from emery.cli import main
from emery.make import build, cache

CROSSED = [x for x in map(system.load, system.names()) if len(x.clocks) > 1]
WHOLE = [(x.name, [f"{k}={v}" for k, v in when.items()]) for x in CROSSED for when in ({}, *(y["when"] for y in x.variants))]
# Where there is one clock nothing crosses, but latches and asynchronous resets count; a system of parts part by part.
ALONE = [x for x in map(system.load, system.names()) if len(x.clocks) == 1]
ONE_CLOCK = list(
    dict.fromkeys((y["top"] if y else x.name, x.name if y else None) for x in ALONE for y in x.parts.get("modules", [None]))
)
BARS = [x for x in clocks.declared() if x.levels]


def alone(folder, ports, body, rates=None):
    """A module of its own; `clk_i` is a port of it."""
    path = folder / "probe.sv"
    path.write_text(f"module probe (input logic clk_i, {ports});\n{body}\nendmodule\n")
    return blocks.Subject("probe", "-", build.Rtl(top="probe", files=(str(path),), dirs=()), rates or {})


DEPTHS = """
  logic [7:0] a_q, b_q, r_q, wire_q, gate_q, parity_q, sum_q, lutram_q, bram_q, lutram[16], bram[4096];
  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
    lutram[b_q[3:0]] <= b_q;
    bram[{b_q, a_q[3:0]}] <= b_q;
    r_q <= bram[{a_q, b_q[3:0]}];
    wire_q <= a_q;
    gate_q <= a_q & b_q;
    parity_q <= {7'd0, ^a_q};
    sum_q <= a_q + b_q;
    lutram_q <= lutram[a_q[3:0]];
    bram_q <= r_q ^ a_q;
    y_o <= '0;
  end
  assign z_o = {wire_q, gate_q, parity_q, sum_q, lutram_q, bram_q};
"""


def test_levels_between_two_registers(tmp_path):
    """Of each by what it is made of; parity of 8 bits takes two LUTs of six, a sum is a LUT and one carry chain."""
    ports = "input logic [7:0] a_i, b_i, output logic [7:0] y_o, output logic [47:0] z_o"
    found = timing.measure(alone(tmp_path, ports, DEPTHS, {"clk_i": 250.0}), 100)
    (clock,) = found.clocks
    assert (clock.name, clock.declared_mhz, clock.levels, found.cells["RAMB36"]) == ("clk_i", 250, 3, 1)
    most = {}
    for path in clock.deepest:
        name = path.end.split("[")[0].split(".")[0]
        most[name] = max(most.get(name, path), path, key=lambda x: x.levels)
    wanted = {"wire_q": 0, "gate_q": 1, "parity_q": 2, "sum_q": 2, "lutram_q": 1, "bram_q": 3}
    assert {name: most[name].levels for name in wanted} == wanted
    assert all(0.2 < x.estimated_ns < 0.8 + 0.7 * x.levels for x in most.values())
    assert clock.slowest[0].end.startswith("bram_q") and clock.slowest[0].estimated_ns > 1.2


def test_clocks_and_ports_are_apart(tmp_path):
    """A path from one clock to the other is nobody's; ports have paths of their own."""
    text = "logic a_q, b_q; always_ff @(posedge clk_i) a_q <= a_i; always_ff @(posedge b_clk_i) b_q <= ^{a_q, b_q, x_i};"
    ports = "input logic b_clk_i, a_i, input logic [6:0] x_i, output logic y_o, z_o"
    found = timing.measure(alone(tmp_path, ports, f"{text} assign y_o = b_q & a_i; assign z_o = a_i & x_i[0];"))
    assert {x.name: (x.registers, x.levels, bool(x.slowest)) for x in found.clocks} == {
        "clk_i": (1, 0, False),
        "b_clk_i": (1, found.clocks[1].levels, True),
    }
    assert all(x.start == "b_q" for clock in found.clocks for x in clock.slowest)
    assert found.inputs[0].levels == 2 and found.outputs[0].levels == 1 and found.through[0].levels == 1


CROSS = "input logic b_clk_i, input logic [3:0] a_i, output logic [3:0] y_o"
FLOPS = "logic [3:0] a_q, y_d; always_ff @(posedge clk_i) a_q <= a_i; always_ff @(posedge b_clk_i) y_o <= y_d;"
RULE = {"why": "for the test"}


@pytest.mark.parametrize(
    ("body", "rule", "clean"),
    [
        ("assign y_d = 4'd3;", {}, True),
        ("assign y_d = {3'd0, a_q[0]};", {}, False),
        ("assign y_d = {3'd0, a_q[0]};", RULE, True),
        ("assign y_d = {3'd0, a_q[0] && a_q[1]};", RULE, False),  # logic in front
        ("assign y_d = {3'd0, a_q[0] && a_q[1]};", {**RULE, "logic": True}, True),
        ("assign y_d = a_q;", RULE, False),  # a bus whose bits may change together
        ("assign y_d = a_q;", {**RULE, "bus_from": "probe.a_q"}, True),
        ("assign y_d = a_q;", {**RULE, "bus_from": "probe.b_q"}, False),
        ("always_latch if (a_i[0]) y_d = a_i;", RULE, False),
    ],
)
def test_what_crosses(tmp_path, body, rule, clean):
    found = crossings.find(alone(tmp_path, CROSS, f"{FLOPS} {body}"), {"probe.y_o": rule} if rule else {})
    assert found.clean == clean
    assert [x.register for x in found.crossings] == ["probe.y_o"] * ("a_q" in body)


def test_an_enable_and_a_memory_cross_too(tmp_path):
    body = "logic e_q, z_q; logic [3:0] mem[4]; always_ff @(posedge clk_i) begin e_q <= a_i[0]; mem[a_i[1:0]] <= a_i; end"
    body += " always_ff @(posedge b_clk_i) begin y_o <= z_q ? 4'd0 : mem[y_o[1:0]]; if (e_q) z_q <= !z_q; end"
    found = crossings.find(alone(tmp_path, CROSS, body), {})
    assert {(x.source, x.register) for x in found.crossings} == {("probe.e_q", "probe.z_q"), ("probe.mem", "probe.y_o")}


def test_an_asynchronous_reset_is_not_clean(tmp_path):
    body = "always_ff @(posedge clk_i or posedge b_clk_i) if (b_clk_i) y_o <= '0; else y_o <= a_i;"
    found = crossings.find(alone(tmp_path, CROSS, body), {})
    assert found.asynchronous == {"probe.y_o": ""} and not found.clean
    rule = {"probe.y_o": {"why": "", "asynchronous": "for the test"}}
    assert crossings.find(alone(tmp_path, CROSS, body), rule).clean


@pytest.mark.parametrize(("name", "settings"), WHOLE, ids=lambda x: x if isinstance(x, str) else ",".join(x))
def test_all_that_crosses_in_a_system_is_known(name, settings):
    subject = blocks.subject(name, settings)
    found = crossings.find(subject, clocks.crossings())
    assert found.clean, crossings.text(found)
    assert subject.clocks.keys() == found.clocks.keys()  # each clock is declared


@pytest.mark.parametrize(("name", "within"), ONE_CLOCK)
def test_where_nothing_can_cross(name, within):
    found = crossings.find(blocks.subject(name, [], within), {})
    assert found.clean and not found.crossings and list(found.clocks) == ["clk_i"], crossings.text(found)


def as_the_page_says(block):
    found = block.measure()
    clock = min(found.clocks, key=lambda x: x.spare)
    assert not clocks.over(block, found)
    assert not found.loops and not found.unknown and clock.declared_mhz
    _, ns, lut = clocks.said(block)
    assert ns == pytest.approx(clock.estimated_ns, rel=clocks.SAME, abs=0.05), "./emery timing --publish"
    assert lut == pytest.approx(found.cells["LUT"], rel=clocks.SAME)


@pytest.mark.parametrize("block", BARS, ids=lambda x: x.label)
def test_a_block_is_no_slower_and_no_larger(block):
    """Synthesis takes some of them 20 s: a row of these very sources, measured by these tools, is not measured again."""
    if clocks.up_to_date(block):
        assert not clocks.above(block, clocks.said(block))
    else:
        as_the_page_says(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", BARS, ids=lambda x: x.label)
def test_a_row_comes_out_again(block):
    as_the_page_says(block)


def test_a_row_of_other_sources_is_measured(monkeypatch):
    """Whatever a row follows from: the block's file, what its system gives it, what reads the netlist."""
    block = next(x for x in BARS if x.name == "rx_csum")
    kept = {block.label: block.sources()}
    monkeypatch.setattr(clocks, "_kept", lambda: kept)
    assert clocks.up_to_date(block)
    subject = block.subject()
    one = subject.wrapper.replace("#(", "#(.Other(1), ", 1)
    monkeypatch.setattr(clocks.Block, "subject", lambda self: replace(subject, wrapper=one))
    assert not clocks.up_to_date(block)
    monkeypatch.setattr(clocks.Block, "subject", lambda self: subject)
    for of, what, changed in ((synthesis, "seen", "rx_csum.sv"), (cache, "file_digest", "netlist.py")):
        with monkeypatch.context() as patch:
            true = getattr(of, what)
            patch.setattr(of, what, lambda x, true=true, changed=changed: "other" if x.name == changed else true(x))
            assert not clocks.up_to_date(block)


SEEN = """`include "assert.svh"
module probe (input logic clk_i, rst_i, a_i, output logic b_o);
  `ifdef EMERY_LAZY
  `define HOLD(x) x
  `else
  `define HOLD(x) (x)
  `endif
  always_ff @(posedge clk_i) b_o <= `HOLD(a_i);
  `ASSERT(Known, a_i |-> !b_o)
endmodule
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("  always_ff @(posedge clk_i)", "  // on each edge\n  always_ff @(posedge clk_i)\n   ", True),
        ("!b_o", "b_o", True),
        ("HOLD(x) x", "HOLD(x) 1'b0", True),
        ("HOLD(x) (x)", "HOLD(x) (!x)", False),
        ("posedge clk_i) b_o", "negedge clk_i) b_o", False),
    ],
)
def test_a_row_follows_from_what_synthesis_sees(tmp_path, old, new, same):
    digests = []
    for name, text in (("one", SEEN), ("other", SEEN.replace(old, new, 1))):
        path = tmp_path / f"{name}.sv"
        path.write_text(text)
        digests.append(synthesis.seen(path))
    assert (digests[0] == digests[1]) == same


def test_a_clock_of_thirds_is_timed_as_it_runs():
    """66 is 66 2/3, as in the bench; other numbers are themselves."""
    chosen = system.load("core-nic")
    for mhz, declared in ((50, 50), (66, 66 + 2 / 3), (133, 133 + 1 / 3), (166, 166 + 2 / 3), (200, 200), (966, 966 + 2 / 3)):
        assert blocks.clocks(chosen, chosen.values([f"core_mhz={mhz}"]))["core_clk_i"] == pytest.approx(declared, abs=1e-9)
        assert chosen.settings(chosen.values([f"core_mhz={mhz}"]))["core_mhz_times_3"] == round(3 * declared)


def test_a_systems_blocks_beside_the_peers(monkeypatch, capsys):
    """`reproduce SYSTEM area`: one above its bar, declared or off the page, is named, and --check ends with status 1."""
    same = clocks.Block("lpm_trie", "direct-router", peer="214 + 2 / 50 / 16")
    command = ["reproduce", "direct-router", "area", "--check"]
    for block, status, says in (
        (same, 0, "within"),
        (replace(same, levels=2, ns=9.0, lut=900), 1, "7 levels > 2"),
        (replace(same, levels=7, ns=9.0, lut=50), 1, "108 LUT > 50"),
    ):
        monkeypatch.setattr(clocks, "declared", lambda block=block: [block])
        assert main(command) == status
        out = capsys.readouterr().out
        assert says in out and "0.50" in out and "214 + 2 / 50 / 16" in out
    page = clocks.PAGE.read_text().replace("| `lpm_trie` | direct-router | 108 /", "| `lpm_trie` | direct-router | 90 /")
    monkeypatch.setattr(clocks, "declared", lambda: [same])
    monkeypatch.setattr(clocks, "rows", lambda: {"`lpm_trie`": next(x for x in page.splitlines() if "`lpm_trie`" in x)})
    assert main(command) == 1 and "108 LUT > 92" in capsys.readouterr().out
    assert main(command[:-1]) == 0
    assert main([*command, "--seed", "3"]) == 2 and main(["reproduce", "pcie-bench", "area"]) == 2


def test_the_page_has_every_block():
    assert list(clocks.rows()) == [x.label for x in clocks.declared()]


def test_a_block_is_taken_as_the_system_has_it():
    """Interfaces, arrays of them and types of the system become ports; the clock is that of the port of the system's top."""
    small = blocks.subject("mac_rx", [], "direct-router")
    large = blocks.subject("mac_rx", [], "host-nic")
    assert small.clocks["mac_clk_i"] == 125 and large.clocks["mac_clk_i"] == 322.266
    assert small.wrapper != large.wrapper
    assert ".Wide(eth_pkg::" in large.wrapper  # `parameter type Wide = Beat`: a name of the block's own for one of a package
    assert "stream_if #(.T(dram_pkg::bus_req_t)) in_if [0:4] " in blocks.subject("arb_rr", []).wrapper
    assert "output core_pkg::rvfi_t rvfi_o" in blocks.subject("core", []).wrapper  # has no bits: not packed


def test_long_values_and_enumerations_of_parameters():
    """slang writes a number of more than 128 bits short, with an exponent, and takes no number for an enumeration."""
    regs = blocks.subject("function_clear", ["functions=4"], "host-nic").wrapper
    assert re.search(r"\.Base\(256'h[0-9a-f]{50,}\)", regs) and "...e" not in regs
    assert "_e'(" in blocks.subject("mem_messages", []).wrapper


def test_what_is_left_to_measure(monkeypatch, tmp_path, capsys):
    """What has no row, or one of other sources; a block that no synthesis takes has its reason; what is gone has none."""
    kept = every.rows()
    monkeypatch.setattr(every, "FILE", tmp_path / "blocks.csv")
    one = replace(kept["age_tick"], lut=1)
    every.write({**kept, "age_tick": replace(one, sources="old"), "gone": replace(one, block="gone")})
    assert main(["timing", "--every", "age_tick"]) == 0
    now = every.rows()
    assert now.keys() == kept.keys() and 1 < now["age_tick"].lut < 200 and "age_tick: " in capsys.readouterr().out
    assert now["age_tick"].sources == every.sources(structure.read(), "age_tick")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "out.json"
    assert main(["timing", "age_tick", "--json", str(path), "--paths", "2"]) == 0
    out = capsys.readouterr().out
    said = json.loads(path.read_text())
    assert said["name"] == "age_tick" and said["clocks"][0]["levels"] > 0 and len(said["clocks"][0]["slowest"]) == 2
    assert f"{said['clocks'][0]['estimated_ns']:.2f}" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name one"),
        (["core", "bank"], "name one"),
        (["quue_manager"], "did you mean queue_manager"),
        (["queue_manager", "--set", "Queus=4"], "did you mean Queues"),
        (["queue_manager", "--set", "Queues"], "NAME=VALUE"),
        (["queue_manager", "--in", "capture"], "capture has it"),
        (["queue_manager", "--in", "no-such"], "no system no-such"),
        (["queue_manager", "--set", "Queues=0"], "Queues 0 is not"),
        (["arb_rr", "--set", "N=1024"], "dimensions of connection"),
        (["host-nic", "--set", "ports=3"], "ports"),
        (["--publish", "no_such"], "rtl/timing.toml"),
        (["core", "--json", "/no/where/x.json"], "--json"),
        (["--every", "--cdc"], "without --cdc"),
        (["--every", "--set", "ports=2"], "without --set"),
        (["--every", "queue_manager"], "--publish"),
        (["--every", "fifos"], "did you mean fifo"),
    ],
)
def test_what_it_refuses(capsys, words, says):
    assert main(["timing", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: ") and says in line

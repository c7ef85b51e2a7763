# SPDX-License-Identifier: Apache-2.0
"""The shape of the RTL: rooms in order, systems that only wire, blocks that are used and tested, the table on the front page.

What is not yet as it should be is listed here by name. The lists only shrink: a new entry fails, and so does one that is no
longer needed.
"""

import re
from pathlib import Path

import pytest
from pyslang.syntax import SyntaxKind as Kind

from emery.check import duplicates, structure, wiring
from emery.common import ROOT

# (room, room it may not use yet)
AGAINST_THE_ORDER: set[tuple[str, str]] = set()
OVER_40_PORTS: set[str] = set()
OVER_400_LINES: set[str] = set()
# Module of a system: how many of its expressions are more than wiring, at the most.
MORE_THAN_WIRING: dict[str, int] = {}
IN_NO_TEST: set[str] = set()
# Files that have 13 or more lines in a row in common.
ALIKE: set[tuple[str, str]] = set()
SHARED_AT_LEAST = 0.45  # of the lines of RTL are in more than one system; to be raised as it grows
BENCH_LINES = 350  # of a system's bench.cpp, at the most: what has a job of its own has a file of its own


@pytest.fixture(scope="module")
def design():
    return structure.read()


def test_each_room_uses_those_before_it(design):
    found = design.against_the_order()
    assert found.keys() == AGAINST_THE_ORDER, {x: sorted(y) for x, y in found.items() if x not in AGAINST_THE_ORDER}


def test_systems_have_few_ports(design):
    assert {x.name for x in design.wiring() if len(x.ports) > 40} == OVER_40_PORTS


def test_systems_are_short(design):
    assert {x.name for x in design.wiring() if x.lines > 400} == OVER_400_LINES


def test_benches_are_short():
    lines = {x.parent.name: x.read_text().count("\n") for x in ROOT.glob("systems/*/bench.cpp")}
    assert len(lines) >= 6 and not {x: n for x, n in lines.items() if n > BENCH_LINES}


def test_systems_only_wire_blocks_together(design):
    found = {x.name: wiring.problems(design, x) for x in design.wiring()}
    for name, problems in found.items():
        assert len(problems) <= MORE_THAN_WIRING.get(name, 0), (name, problems)
    assert {x for x, problems in found.items() if problems} == MORE_THAN_WIRING.keys()


def addresses(module):
    """Numbers that instances are given as addresses: in hexadecimal, and from 64 on where it is called so (below: widths)."""
    for given in structure.find(module.node, Kind.NamedParamAssignment, Kind.NamedPortConnection):
        called = re.search("base|offset|addr", given.name.valueText, re.IGNORECASE)
        for number in structure.find(given, Kind.IntegerVectorExpression, Kind.IntegerLiteralExpression):
            digits = str(number).strip().lower().rpartition("'")[2]
            decimal = re.sub("[sd_]", "", digits)
            if "h" in digits or (called and decimal.isdigit() and int(decimal) >= 64):
                yield f"{given.name.valueText}: {str(number).strip()}"


def test_no_system_has_an_address_of_its_own(design):
    """They come from the register description (NAME_map_pkg)."""
    assert not {x.name: found for x in design.wiring() if (found := list(addresses(x)))}


def test_instances_are_called_alike(design):
    """i_NAME; in tests and proofs the one that is looked at is `dut`."""
    interfaces = {x.name for x in design.modules.values() if x.is_interface}
    instances = [(x.name, y.name) for x in design.modules.values() for y in x.instances if y.module not in interfaces]
    assert len(instances) > 500 and not [x for x in instances if not x[1].startswith("i_")]


def test_a_stream_is_one_line():
    """`STREAM: the formatter makes six lines of an instance of stream_if."""
    files = [x for x in ROOT.glob("rtl/*/*.sv*") if x.name != "stream.svh"] + sorted(ROOT.glob("systems/**/*.sv"))
    assert not [x.name for x in files if re.search(r"^\s*stream_if\s*(#|\w+\s*\()", x.read_text(), re.MULTILINE)]


def test_expressions_are_lines():
    """The formatter sets what is too long for it a token a line; a wire with a name reads better."""
    alone = re.compile(r"^ *(?:&& !|[=!]=|&&|\|\||[?:<>+&|^*-]) *$", re.M)
    torn = [
        path.relative_to(ROOT).as_posix()
        for room in ("rtl", "systems")
        for path in (ROOT / room).rglob("*.sv")
        if alone.search(path.read_text())
    ]
    assert not torn


def test_every_block_is_in_a_system(design):
    assert not design.unused()


def test_every_block_is_in_a_test_or_a_proof(design):
    assert set(design.untested()) == IN_NO_TEST


def test_front_page_names_the_blocks_of_each_system():
    assert (ROOT / "README.md").read_text() == structure.readme_with_table(), "run ./emery map --readme"


def test_a_packets_way_names_blocks_that_are_on_it(design):
    """docs/architecture.md, the first column of the tables of each system."""
    text = (ROOT / "docs" / "architecture.md").read_text().split("\n## A packet's way\n")[1].split("\n## ")[0]
    told = {}
    for part in text.split("\n### ")[1:]:
        name, *rows = part.splitlines()
        cells = [x.split("|")[1] for x in rows if x.startswith("| `")]
        told[name] = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}
    assert told.keys() == design.reach.keys()
    for name, words in told.items():
        assert words and words <= design.reach[name], (name, words - design.reach[name])


def test_share_of_lines_in_more_than_one_system(design):
    assert design.shared_share >= SHARED_AT_LEAST


def test_nothing_is_said_twice():
    found = duplicates.read()
    names = {tuple(sorted((Path(x.first).name, Path(x.second).name))) for x in found}
    assert names == ALIKE, "\n".join(map(str, found))


# ---------------------------------------------------------------- the rules themselves

PIPE_REG = """module pipe_reg #(parameter type T = logic) (input logic clk_i, input T d_i, output T q_o);
  always_ff @(posedge clk_i) q_o <= d_i;
endmodule
"""
STREAM_IF = """interface stream_if #(parameter type T = logic) (input logic clk_i, input logic rst_i);
  logic valid, ready; T data;
  modport src(output valid, data, input ready);
  modport snk(input valid, data, output ready);
endinterface
"""
BLOCK = "module block (input logic clk_i, input logic rst_i, input logic [3:0] a_i, output logic [3:0] b_o); endmodule\n"


def made(folder, body, **others):
    """A design whose one system has this body."""
    top = f"""module top #(parameter int N = 2) (
    input logic clk_i, input logic rst_i, input logic [3:0] a_i, input logic [1:0] s_i, output logic [3:0] b_o);
  logic [3:0] x, y, z, w;
  stream_if s (clk_i, rst_i);
  stream_if t (clk_i, rst_i);
  {body}
endmodule
"""
    files = {"rtl/base/pipe_reg.sv": PIPE_REG, "rtl/base/stream_if.sv": STREAM_IF, "rtl/queue/block.sv": BLOCK}
    for path, text in {**files, "systems/it/top.sv": top, **others}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return structure.Design(folder, {"it": {"top"}})


@pytest.mark.parametrize(
    "body",
    [
        "block i_b (.clk_i, .rst_i, .a_i, .b_o);",
        "block i_b (.*);",
        "assign x = {a_i[3:2], 2'(s_i)}; block i_b (.clk_i, .rst_i, .a_i(x), .b_o);",
        "assign b_o = {4{|a_i || !s_i[0]}};",  # several causes of one interrupt
        "for (genvar i = 0; i < N; i++) begin : g assign b_o[i] = a_i[N - 1 - i]; end",
        "assign b_o = N > 1 ? a_i : '0;",  # decided by a parameter
        "wire unused = &{1'b0, s.valid, s.data}; assign s.ready = 1'b1;",
        "assign t.valid = s.valid; assign t.data = s.data; assign s.ready = t.ready;",
        "pipe_reg i_p (.clk_i, .d_i(x), .q_o(y)); block i_b (.clk_i, .rst_i, .a_i(y), .b_o(x));",  # a block in the loop
        "pipe_reg i_p (.clk_i, .d_i(x), .q_o(y)); assign x = a_i & {4{!rst_i}}; assign z = y | {4{rst_i}};",
    ],
)
def test_wiring(body, tmp_path):
    design = made(tmp_path, body)
    assert not wiring.problems(design, design.modules["top"])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("always_ff @(posedge clk_i) b_o <= a_i;", "AlwaysFFBlock"),
        ("`define HIDDEN always_comb\n `HIDDEN b_o = a_i;", "AlwaysCombBlock"),
        ("initial x = 0;", "InitialBlock"),
        ("and i_and (b_o[0], a_i[0], a_i[1]);", "PrimitiveInstantiation"),
        ("assign b_o = a_i + 1;", "Add"),
        ("wire [3:0] v = a_i == 3 ? 1 : 0;", "Equality"),
        ("assign b_o = s_i[0] ? a_i : '0;", "Conditional"),
        ("assign b_o[0] = a_i[s_i];", "selects by a signal"),
        ("assign b_o = 4'($countones(a_i));", "Invocation"),
        # Multiplexers of gates, in one step and in two, and a latch.
        ("assign b_o = (a_i & {4{s_i[0]}}) | (x & {4{~s_i[0]}});", "selects by gates"),
        ("wire n = !s_i[0]; block i_b (.clk_i, .rst_i, .a_i((a_i & {4{n}}) | {4{s_i[0]}}), .b_o);", "selects by gates"),
        ("assign x = a_i | (x & {4{s_i[0]}});", "follows from itself"),
        ("block i_b (.clk_i, .rst_i, .a_i(a_i - 1), .b_o);", "Subtract"),
        ("assign t.valid = s.valid & a_i[0];", "gate on an interface"),
        ("assign t.valid = a_i[0] | a_i[1];", "gate on an interface"),
        ("wire unused = &{1'b0, a_i}; assign b_o[0] = unused;", "reads unused"),
        # A toggle, whose way leads through assigns.
        ("pipe_reg i_p (.clk_i, .d_i(x), .q_o(y)); assign z = y; assign x = ~z;", "a register follows from itself"),
        # An edge detector, in one step and in three.
        ("pipe_reg i_p (.clk_i, .d_i(a_i), .q_o(y)); assign b_o = a_i & ~y;", "before and after a register"),
        (
            "pipe_reg i_p (.clk_i, .d_i(a_i), .q_o(x)); pipe_reg i_q (.clk_i, .d_i(x), .q_o(y)); assign z = {x[0], y[2:0]};"
            " assign b_o[0] = &z;",
            "before and after a register",
        ),
    ],
)
def test_more_than_wiring(body, why, tmp_path):
    design = made(tmp_path, body)
    assert any(why in x for x in wiring.problems(design, design.modules["top"]))


@pytest.mark.parametrize("given", ["#(.MapBase(4096))", "#(.Size(24'h1000))", "#(.First(N), .Offset(N + 32'd256))"])
def test_an_address_is_found(given, tmp_path):
    design = made(tmp_path, f"block {given} i_b (.clk_i, .rst_i, .a_i(a_i[3:0]), .b_o);")
    assert len(list(addresses(design.modules["top"]))) == 1


def test_wiring_below_does_not_hide_a_register(tmp_path):
    child = "module delay (input logic clk_i, input logic [3:0] a_i, output logic [3:0] b_o);\n"
    child += "  pipe_reg i_p (.clk_i, .d_i(a_i), .q_o(b_o));\nendmodule\n"
    design = made(tmp_path, "delay i_d (.clk_i, .a_i(x), .b_o(y)); assign x = ~y;", **{"systems/it/delay.sv": child})
    assert any("follows from itself" in x for x in wiring.problems(design, design.modules["top"]))


def test_blocks_count_by_instance(tmp_path):
    """A wire, a comment or an instance called as a block is does not use it; nor does a proof's stand-in for it."""
    others = {
        "rtl/queue/lonely.sv": "module lonely; endmodule\n",
        "rtl/queue/early.sv": "module early; capture_block i_c (); endmodule\n",
        "rtl/capture/capture_block.sv": "module capture_block (stream_if.snk s); endmodule\n",
        "rtl/queue/early_tb.sv": "module early_tb; early i_e (); endmodule\nmodule lonely; endmodule\n",
    }
    design = made(tmp_path, "logic lonely; early lonely (); // lonely lonely\n", **others)
    assert design.unused() == ["block", "lonely", "pipe_reg"]
    assert design.untested() == ["block", "lonely", "pipe_reg"]
    assert design.against_the_order().keys() == {("queue", "capture")}
    assert design.circles() == []
    assert "`early`" in design.block_table() and "`lonely`" not in design.block_table()


CODE = """
int sum(const Table& table) {
  int total = 0;
  for (int i = 0; i < 7; i++) {
    if (table.at(i) > limit) total += 1;
    while (total > 4) total -= step(i);
  }
  switch (total) {
    case 1: return first;
    case 2: break;
    default: log("too many", total);
  }
  const auto rest = total % 3;
  total = rest ? rest : -1;
  store(total);
  store.close(rest, total);
  return rest + total;
}
"""


def alike(first, second, suffix=".cpp"):
    return duplicates.pairs({"a": duplicates.lines(first, suffix), "b": duplicates.lines(second, suffix)})


def test_copies_are_found():
    (pair,) = alike(CODE, "#include <x>\n\n" + CODE)
    assert pair.identical and pair.lines == 14 and (pair.first_line, pair.second_line) == (2, 4)


def test_copies_with_other_names_and_comments_are_found():
    other = (
        CODE.replace("total", "count")
        .replace("7", "0x1f")
        .replace("too many", "few")
        .replace(") {", ") {  // so\n\n  // it is\n")
    )
    (pair,) = alike(CODE, other)
    assert not pair.identical and pair.lines == 14


def test_what_is_no_copy():
    assert not alike(CODE, CODE.replace("case 2: break;", "case 2: return 9;"))
    fields = "".join(f"  int {x};\n" for x in "abcdefghijklmnopqrstuvw")
    assert not alike(fields, fields.replace("int ", "int x"))  # a list
    assert alike(fields, fields)


def test_connections_are_copies_when_the_wires_are_the_same():
    ports = "".join(f"    input logic [{i}:0] {x}_i,\n" for i, x in enumerate("abcdefghijklmn"))
    module = f"module m (\n{ports}    input logic clk_i\n);\nendmodule\n"
    assert alike(module, module, ".sv") and not alike(module, module.replace("_i", "_j"), ".sv")

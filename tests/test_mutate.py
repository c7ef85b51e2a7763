# SPDX-License-Identifier: Apache-2.0
"""`./emery mutate`: what it finds to be made wrong, and that a good bench notices it and a bad one does not."""

import json
import re
import tomllib

import pytest
from tiny import BLOCK

from emery.check import mutate, structure
from emery.check.mutate import faults, own_tests, rtl, text, trial
from emery.cli import main
from emery.common import ROOT, cache_dir

BENCH = """\
// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
module tiny_tb;
  `TB_BEGIN
  `TB_TIMEOUT(2_000)
  logic en = 0;
  logic [7:0] count, expected;
  tiny dut (.clk_i(clk), .rst_i(rst), .en_i(en), .count_o(count));
  always @(posedge clk) begin
    en <= $urandom_range(1) == 1;
    expected <= rst ? 8'd0 : expected + 8'(en);
    if (!rst) CHECK_HERE
  end
  initial begin
    @(negedge rst);
    repeat (300) @(posedge clk);
    `TB_PASS
  end
endmodule
"""


@pytest.fixture
def tried(tmp_path):
    """Puts all faults into the block above, beside a bench that looks at its output or one that does not."""
    copy = trial.Copy(tmp_path / "checkout", cache_dir())
    copy.write("rtl/base/tiny.sv", BLOCK.encode())

    def run(check):
        copy.write("rtl/base/tiny_tb.sv", BENCH.replace("CHECK_HERE", check).encode())
        done = copy.python(["-m", "emery", "mutate", "tiny", "--json"])
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout), copy

    return run


def test_a_bench_that_looks_notices_all(tried):
    status, result, copy = tried('`CHECK(count === expected, "another count")')
    outcomes = {x["fault"]: (x["outcome"], x["by"]) for x in result["faults"]}
    assert status == 0 and result["score"] == 1
    assert set(outcomes.values()) == {("noticed", "tiny_tb")}
    assert {"no reset by `rst_i`", "`+` is `-` in `count_o + 8'd1`", "left out: `count_o <= '0;`"} <= outcomes.keys()
    assert not any("1 + 1" in x for x in outcomes)  # no fault in what is constant
    assert (copy.folder / "rtl/base/tiny.sv").read_text() == BLOCK  # the checkout is as it was


@pytest.mark.slow
def test_a_bench_that_does_not_look_lets_all_survive(tried):
    status, result, copy = tried('`CHECK(1, "nothing")')
    assert status == 1 and result["score"] == 0 and all(x["outcome"] == "survived" for x in result["faults"])
    first = result["faults"][0]
    entry = {"file": first["file"], "line": BLOCK.splitlines()[first["line"] - 1].strip(), "fault": first["fault"], "why": "so"}
    lines = "".join(f"{name} = '''{value}'''\n" for name, value in entry.items())
    copy.write("tests/survivors.toml", f"[[survivor]]\n{lines}".encode())
    done = copy.python(["-m", "emery", "mutate", "tiny"])
    count = len(result["faults"])
    row = next(x for x in done.stdout.splitlines() if x.startswith("rtl/base/tiny.sv "))
    assert done.returncode == 1 and row.split()[1:] == [str(count), "0", "1", str(count - 1)]
    assert f"survived   rtl/base/tiny.sv:{first['line']}: {first['fault']}" not in done.stdout


def test_the_seed_decides(capsys):
    def listed(seed):
        assert main(["mutate", "fifo", "queue_manager", "--list", "--max", "7", "--seed", str(seed)]) == 0
        return capsys.readouterr().out

    assert listed(1) == listed(1) != listed(2)
    assert len(listed(1).splitlines()) == 14


def test_zeros_are_not_made_zero_again():
    """`'{default: '0}` is as much a zero as `'0`."""
    path = ROOT / "rtl/pcie/pcie_pins.sv"
    assert b"pins_o.ptile = '{default: '0}" in path.read_bytes()
    assert not [x for x in rtl.faults(path) if x.words.startswith("`pins_o.ptile` is always 0") and "default" in x.words]


@pytest.mark.parametrize("number, written", [(1, "1U"), (9, "9U"), (26, "0x0000001aU")])
def test_which_fault_verilated_code_is_of(number, written):
    """Where a choice between structs cannot be compiled, the constant nearest to the choice names the fault."""
    code = (
        f"vlSelf->a = (0x07U & 3U); vlSelf->b = (2U & (({written} != vlSymsp->TOP__fault_pkg.chosen) & V{{.x = (CData)(0U)}}));"
    )
    assert [int(x, 16) for x in trial._CHOSEN.findall(code)] == [number]


@pytest.mark.parametrize("words, told", [(["fifoo"], "fifoo"), (["README.md"], "README.md"), (["fifo", "--max", "0"], "--max")])
def test_what_cannot_be_tried_is_told_in_a_line(words, told, capsys):
    assert main(["mutate", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and told in lines[0]


def test_faults_of_rtl_lie_in_what_runs():
    path = ROOT / "rtl/base/fifo.sv"
    source = path.read_bytes()
    found = rtl.faults(path)
    for fault in found:
        assert source[fault.start : fault.end].strip() and faults.planted(source, fault) != source
        assert not any(x in source.splitlines()[fault.line - 1] for x in (b"localparam", b"$fatal", b"ASSERT", b"parameter"))
    assert {"`in.ready` is inverted: `count_o < CountW'(Depth)`", "no reset by `rst_i`"} <= {x.words for x in found}
    written = faults.prepared(source, dict(enumerate(found, 1)))
    assert written.count(b"\n") == source.count(b"\n")
    assert all(written.count(b"chosen %s %d)" % (b"!=" if x.statement else b"==", n)) == 1 for n, x in enumerate(found, 1))


def test_an_interface_has_no_faults_in_its_header():
    """Widths are constants; where a fault picks one no bench can be built."""
    assert not rtl.faults(ROOT / "rtl/base/reg_if.sv")


def test_faults_in_a_loop_are_found_by_what_it_goes_through():
    log = """%Warning-UNOPTFLAT: rtl/edge/line_in.sv:98:8: Signal unoptimizable: Circular combinational logic: 'sends'
                    rtl/edge/line_in.sv:98:8:      Example path: sends
                    rtl/edge/frame_sender.sv:103:3:      Example path: ALWAYS
"""
    assert trial._LOOP.findall(log) == ["rtl/edge/line_in.sv", "rtl/edge/frame_sender.sv"]


def test_faults_of_cxx_and_python(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "ROOT", tmp_path)
    header = tmp_path / "a.hpp"
    header.write_text(
        '// a + b\nint f(int a) {\n  if (a < 3) return a + 1;\n  count_ += 2;\n  say("a - b");\n  return !a;\n}\n'
    )
    found = text.cxx_faults(header)
    assert {(x.line, x.words.split(" in ")[0]) for x in found} == {
        (3, "`<` is `<=`"),
        (3, "3 is 4"),
        (3, "`+` is `-`"),
        (3, "1 is 2"),
        (3, "the `if` is never so"),
        (3, "the `if` is always so"),
        (4, "left out: `count_ += 2;`"),
        (4, "`+=` is `-=`"),
        (4, "2 is 3"),
        (5, 'left out: `say("a - b");`'),
        (6, "`!` is left out"),
    }
    module = tmp_path / "a.py"
    module.write_text(
        '"""1 + 1"""\n\n\ndef f(é: int = 3):\n    if é < 2 and not é:\n        raise ValueError(f"{é + 1}")\n    return é\n'
    )
    source = module.read_bytes()
    found = text.python_faults(module)
    assert {x.words for x in found} >= {"3 is 4", "`é < 2` compares with `<=`", "nothing is returned, not `é`"}
    assert not any("1 + 1" in x.words or "`-` in" in x.words for x in found)
    for fault in found:
        compile(faults.planted(source, fault), "a.py", "exec")


def test_of_python_the_tests_that_reach_the_line_are_asked(tmp_path):
    path = ROOT / "src/emery/capture.py"
    fault = text.python_faults(path)[0]
    tried, test = trial.PythonTrial(tmp_path, {1: fault}, trial.no_news), tmp_path / "test_a.py"
    lines = {fault.path: {fault.line}}
    tried.tests[test] = {
        "slow": {"seconds": 4.0, "lines": lines},
        "quick": {"seconds": 0.1, "lines": lines},
        "elsewhere": {"seconds": 0.1, "lines": {fault.path: {fault.line + 1000}}},
    }
    assert list(tried.asked(fault, [test])) == ["quick", "slow"]
    for number in range(20):  # no more than fit
        tried.tests[test][f"more {number}"] = {"seconds": 3.0, "lines": lines}
    assert 25 < sum(tried.asked(fault, [test]).values()) <= 30
    tried.tests[test] = {"started elsewhere": {"seconds": 1.0, "lines": {}}}
    assert list(tried.asked(fault, [test])) == ["started elsewhere"]


def test_a_fault_of_python_is_noticed_where_it_is_looked_at(tmp_path):
    copy = trial.Copy(tmp_path / "checkout", cache_dir())
    copy.write("src/emery/tiny.py", b"def f(x):\n    if x < 3:\n        return x\n    return 7\n")
    test = "from emery.tiny import f\n\n\ndef test_small():\n    assert f(2) == 2 and f(3) > 3\n"
    copy.write("tests/test_tiny.py", test.encode())
    done = copy.python(["-m", "emery", "mutate", "src/emery/tiny.py", "--json"])
    outcomes = {x["fault"]: (x["outcome"], x["by"]) for x in json.loads(done.stdout)["faults"]}
    assert done.returncode == 1 and outcomes.pop("7 is 8") == ("survived", "")
    assert len(outcomes) == 6 and set(outcomes.values()) == {("noticed", "test_tiny")}


def test_own_tests():
    def names(path):
        return [x.name for x in own_tests.of_source(ROOT / path)]

    assert names("rtl/base/fifo.sv") == ["fifo_tb.sv", "fifo_formal.sv"]
    assert names("rtl/mac/mac_rx.sv") == ["mac_rx_byte_tb.sv", "mac_rx_tb.sv", "mac_rx_wide_tb.sv"]
    assert names("rtl/pcie/dma_write.sv") == ["dma_functions_tb.sv", "dma_write_tb.sv", "dma_write_wide_tb.sv"]
    # Only instances count: comments and wires say "core" and "wide" in many benches.
    assert names("rtl/base/stream_gate.sv") == ["cap_pack_tb.sv", "stream_gate_formal.sv"]
    assert names("rtl/pcie/usplus_rc.sv")[0] == "usplus_pcie_tb.sv"
    assert names("rtl/core/core_div.sv") == ["core_tb.sv", "core_isa_tb.sv"]
    assert names("bench/score/meter.hpp") == ["meter_test.cpp"]
    assert names("src/emery/published.py") == ["test_published.py"]
    assert mutate.choose(["fifo"]) == [ROOT / "rtl/base/fifo.sv"]


def test_benches_are_of_blocks_that_there_are():
    found = structure.read()
    for test in sorted({ROOT / x.path for x in found.tests}):
        for name in [x for line in re.findall("^// of: (.*)$", test.read_text(), re.M) for x in line.split()]:
            assert test in own_tests.of_source(ROOT / found.modules[name].path), (test, name)


def test_survivors_that_are_explained_are_faults_there_can_be():
    listed = tomllib.loads(mutate.SURVIVORS.read_text())["survivor"]
    for entry in listed:
        path = ROOT / entry["file"]
        lines = path.read_text().splitlines()
        find = rtl.faults if path.suffix == ".sv" else text.cxx_faults
        here = {x.words for x in find(path) if lines[x.line - 1].strip() == entry["line"]}
        assert entry["fault"] in here and len(entry["why"]) > 10, entry

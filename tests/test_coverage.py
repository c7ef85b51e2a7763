# SPDX-License-Identifier: Apache-2.0
"""`./emery test --coverage`: what is counted, put together and held against the floors."""

import json

import pytest
from tiny import BLOCK

from emery.check import coverage, python_coverage
from emery.check.mutate.trial import Copy
from emery.cli import main
from emery.common import cache_dir

BENCH = """\
// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
module tiny_tb;
  `TB_BEGIN
  logic [7:0] count;
  tiny dut (.clk_i(clk), .rst_i(rst), .en_i(ENABLED), .count_o(count));
  initial begin
    repeat (600) @(posedge clk);
    `CHECK(count >= 0, "never")
    `TB_PASS
  end
endmodule
"""


def dat(file, line, kind, name, count):
    """A line as Verilator writes it."""
    fields = {"f": file, "l": line, "n": 3, "page": f"v_{kind}/x", "o": name, "h": f"tb.{count}"}
    return "C '" + "".join(f"\1{key}\2{value}" for key, value in fields.items()) + f"' {count}\n"


def test_points_of_all_instances_and_benches_are_put_together():
    one = coverage.points(dat("a.sv", 1, "line", "block", 0) + dat("a.sv", 2, "branch", "if", 0) + "# no point\n")
    two = coverage.points(
        dat("a.sv", 1, "line", "block", 0) + dat("a.sv", 1, "line", "block", 3) + dat("a.sv", 9, "user", "x", 1)
    )
    both = coverage.merged([one, two])
    assert coverage.shares(one["a.sv"]) == {"line": 0, "branch": 0}
    assert coverage.shares(both["a.sv"]) == {"line": 100, "branch": 0}
    assert both["a.sv"]["line"] == {"1:3:block": 3}


def test_below_a_floor():
    reached = {"a.sv": {"line": 99.5, "toggle": 50}, "b.sv": {"line": 0}}
    assert coverage.below(reached, {"a.sv": {"line": 99, "toggle": 50}}) == []
    assert coverage.below(reached, {"a.sv": {"line": 100, "branch": 1}}) == [
        "a.sv: line 99.5 %, not 100 %",
        "a.sv: branch 0.0 %, not 1 %",
    ]


def test_lines_of_python_that_can_be_reached():
    function = "def f(x):\n    if x:\n        return [\n            y for y in x\n        ]\n    return 1\n"
    assert python_coverage.executable(f"import os\n\n\n{function}\n\nclass A:\n    b = 1\n") == {5, 6, 7, 9}


def test_a_line_of_python_that_no_test_reaches(tmp_path):
    copy = Copy(tmp_path / "checkout", cache_dir())
    copy.write("src/emery/tiny.py", b"def f(x):\n    if x:\n        return 1\n    return 0\n")
    copy.write("tests/test_tiny.py", b"from emery.tiny import f\n\n\ndef test_f():\n    assert f(1)\n")
    done = copy.python(["-m", "emery", "test", "--coverage", "--python", "tests/test_tiny.py"])
    assert done.returncode == 0 and ["src/emery/tiny.py", "66.7"] in [x.split() for x in done.stdout.splitlines()]
    copy.write("tests/test_tiny.py", b"def test_f():\n    assert 0\n")
    assert copy.python(["-m", "emery", "test", "--coverage", "--python", "tests/test_tiny.py"]).returncode == 1


@pytest.mark.slow
def test_a_bench_that_leaves_a_branch_out_is_below_the_floor_of_one_that_does_not(tmp_path):
    copy = Copy(tmp_path / "checkout", cache_dir())
    copy.write("rtl/base/tiny.sv", BLOCK.encode())

    def run(enabled, *words):
        copy.write("rtl/base/tiny_tb.sv", BENCH.replace("ENABLED", enabled).encode())
        return copy.python(["-m", "emery", "test", "--coverage", "tiny", *words])

    done = run("1'b1", "--record")
    assert done.returncode == 0, done.stdout + done.stderr
    floor = json.loads((copy.folder / "tests/coverage.json").read_text())["rtl/base/tiny.sv"]
    assert floor["line"] == 100 and floor["toggle"] >= 70
    done = run("1'b0")
    assert done.returncode == 1 and "below its floor   rtl/base/tiny.sv: toggle" in done.stdout, done.stdout + done.stderr
    copy.write("rtl/base/tiny_tb.sv", BENCH.replace("ENABLED", "1'b1").replace("count >= 0", "count == 0").encode())
    done = copy.python(["-m", "emery", "test", "--coverage", "tiny", "arb_rr"])
    assert done.returncode == 1 and "coverage: tiny_tb fails" in done.stdout and "rtl/base/arb_rr.sv" in done.stdout


@pytest.mark.parametrize("words, told", [(["nothing_tb"], "nothing_tb"), (["-k", "fifo"], "-k")])
def test_what_cannot_be_counted_is_told_in_a_line(words, told, capsys):
    assert main(["test", "--coverage", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and told in lines[0]

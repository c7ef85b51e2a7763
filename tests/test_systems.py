# SPDX-License-Identifier: Apache-2.0
"""A system is one folder, wherever it lies: a card that no file outside its folder names is shown, linted, built and run."""

import json
import shutil

import pytest
from conftest import read_pcap

from emery import system
from emery.check import testing
from emery.cli import main
from emery.common import ROOT
from emery.make import build

REGISTERS = """
addrmap card_regs {
  reg { field { sw = rw; hw = r; } on[0:0] = 1; } control @ 0x0;
};
addrmap card { card_regs card; };
"""


@pytest.fixture
def card(tmp_path):
    """The folder of a system, outside the checkout."""
    return shutil.copytree(ROOT / "tests" / "loop_card", tmp_path / "mine" / "loop_card")


def append(path, text):
    path.write_text(path.read_text() + text)


def test_run(card, tmp_path, capsys):
    out, frames = tmp_path / "result.json", ("--size", "200", "--frames", "200")
    words = [str(card), *frames, "--set", "buffer_beats=8", "--json", str(out), "--pcap-out", str(tmp_path / "out")]
    assert main(["run", *words, "--assertions"]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    assert result["system"] == "loop-card" and result["parameters"] == {"buffer_beats": 8}
    assert result["streams"]["loop"]["offered"] == result["streams"]["loop"]["delivered"] == 200
    assert result["limit"]["by"] == "line" and 0.99 < result["limit"]["fraction"] <= 1
    assert result["resources"]["wire"]["tx_frames"] == 200
    assert len(read_pcap(tmp_path / "out" / "wire0.pcap")) == 200


def test_show_and_settings(card, capsys):
    assert main(["show", str(card)]) == 0
    assert "buffer_beats" in capsys.readouterr().out
    assert main(["run", str(card), "--set", "buffer_beats=1"]) == 2
    assert "out of range" in capsys.readouterr().err


def test_lint_and_registers(card):
    """Its RTL is held to what ours is; registers of its own are generated for it."""
    (card / "card.rdl").write_text(REGISTERS)
    append(card / "system.toml", '[[registers]]\nfile = "card.rdl"\nblocks = ["card_regs"]\nmap = "card"\n')
    target = system.load(str(card))
    rtl = build.system_rtl(target, target.values())
    assert any(x.endswith("/card_regs_pkg.sv") for x in rtl.files)
    assert testing.lint_rtl(rtl) == ""
    source = card / "loop_card.sv"
    source.write_text(source.read_text().replace("endmodule", "  logic idle;\nendmodule"))
    assert "'idle'" in testing.lint_rtl(rtl)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "def mix(v, w): return {'wire0': 1.0}\ndef loads(v, s, r):\n    return {'physics': v['lanes']}\n",
            "limit.py:3: KeyError: 'lanes'",
        ),
        ("def loads(:\n", "SyntaxError"),
        ("", "has no attribute 'loads'"),
    ],
)
def test_faults_of_its_python_are_one_line(card, capsys, code, says):
    (card / "limit.py").write_text(code)
    assert main(["run", str(card), "--frames", "9"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says in lines[0]

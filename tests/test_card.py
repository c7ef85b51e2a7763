# SPDX-License-Identifier: Apache-2.0
"""Boards whose bitstream only the vendor's tool makes: the top with models of its cores, pins, what the project folder has."""

import re
from dataclasses import replace

import pytest

from emery import boards
from emery.check import blocks, constraints, cosim, vivado
from emery.cli import main
from emery.common import ROOT
from emery.make import toolchain

NAMES = boards.names(boards.Project)
CELLS = "tests/card"


def with_cells(name):
    rtl = vivado.rtl(boards.load(name))
    return replace(rtl, dirs=(*rtl.dirs, CELLS))


@pytest.mark.slow
def test_frames_out_and_back(tmp_path):
    """What the pins of host-nic are tested with, through the top: frames of both ports, interrupts, a reset of the function."""
    rtl = with_cells("au250")
    program = cosim.build_cosim(replace(rtl, dirs=(*rtl.dirs, "tests/usplus")), ROOT / CELLS / "top.sv")
    found = cosim.run_cosim(program, ROOT / "tests" / "usplus" / "check_nic.py", tmp_path, PINS="usplus")
    assert found == dict.fromkeys(["frames_out_and_back", "ports_and_vectors", "function_reset_under_traffic"], ""), found


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_has_its_place(name):
    pins = (boards.load(name).folder / "pins.xdc").read_text()
    places = re.findall(r"^set_property -dict \{PACKAGE_PIN (\w+).*\} \[get_ports \{(.+)\}\]$", pins, re.M)
    (top,) = blocks.elaborate(with_cells(name)).root.topInstances
    bits = [y for x in top.body.portList for y in constraints.bits(x.type, x.name)]
    assert len(bits) > 100 and sorted(port for _, port in places) == sorted(bits)
    assert len({site for site, _ in places}) == len(places)
    # Both legs of a pair are of the same way.
    assert all(port.replace("_p_", "_n_") in bits for port in bits if "_p_" in port)
    clocks = re.findall(r"^create_clock -name \S+ -period \S+ \[get_ports \{?([^}\]]+\]?)\}?\]$", pins, re.M)
    assert sorted(clocks) == sorted(x for x in bits if "clk" in x and "_p_i" in x)


@pytest.mark.parametrize("name", NAMES)
def test_project(name, tmp_path, capsys):
    """The folder is all there is to be given: it elaborates by itself, its system as set; scripts use what settings.tcl has."""
    folder = tmp_path / "made"
    assert main(["board", name, "--out", str(folder)]) == 0
    assert f"vivado -mode batch -source {folder}/project.tcl" in capsys.readouterr().out
    settings = (folder / "settings.tcl").read_text()
    sources = re.search(r"^set sources \{(.+)\}$", settings, re.M)[1].split()
    assert sorted(sources) == sorted(x.name for x in (folder / "rtl").iterdir())
    files = [str(folder / "rtl" / x) for x in sources if x.endswith(".sv")]
    words = [
        "--lint-only",
        "--top-module",
        "top",
        f"-I{folder / 'rtl'}",
        "-Itests/usplus",
        f"-I{CELLS}",
        "-Wno-fatal",
        "-Wno-lint",
    ]
    said = toolchain.run_verilator([*words, *files, *map(str, sorted((ROOT / CELLS).glob("*.sv")))])
    assert "%Error" not in said
    known = set(re.findall(r"^set (\w+) ", settings, re.M))
    for script in ("project.tcl", "ip.tcl"):
        text = (folder / script).read_text()
        loops = re.findall(r"^foreach (?:\{(.+?)\}|(\w+)) ", text, re.M)
        local = set(re.findall(r"^set (\w+) ", text, re.M)) | {x for y in loops for x in "".join(y).split()}
        assert set(re.findall(r"\$(\w+)", text)) <= known | local and text.count("{") == text.count("}")
    assert "set bar0_megabytes {128}" in settings and "set scope {host_nic}" in settings
    crossings = (folder / "crossings.xdc").read_text()
    assert crossings.count("set_max_delay") > 30 and "create_clock" not in crossings
    (inner,) = [x for x in blocks.elaborate(with_cells(name)).instances.values() if x.definition.name == "host_nic"]
    said = dict(vivado.inner(boards.load(name)).parameters)
    assert {x: re.sub(r"^\d+'b", "", str(inner.body.find(x).value)) for x in said} == said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["au25"], "there is no board au25 (did you mean au250?)"),
        (["au250", "--json", "x.json"], "--out says where the project goes"),
        (["au250", "--out", "."], "is already there"),
        (["ecpix5", "--out", "x"], "is made here"),
    ],
)
def test_wrong_words(words, says, capsys):
    assert main(["board", *words]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1

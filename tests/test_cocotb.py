# SPDX-License-Identifier: Apache-2.0
"""Devices at pins of real hard blocks, with block and root complex that no one here wrote (cocotbext-pcie): tests/usplus/.
The MAC at XGMII, with a line that no one here wrote (cocotbext-eth): tests/xgmii/."""

from dataclasses import replace

import pytest
from conftest import slow

from emery import system
from emery.check import cosim
from emery.common import ROOT
from emery.make import build

FOLDER = ROOT / "tests" / "usplus"
XGMII = ROOT / "tests" / "xgmii"


BENCH = {"enumeration_and_registers", "transfers", "reset_under_traffic", "function_reset_under_traffic", "faults"}
NIC = {"frames_out_and_back", "ports_and_vectors", "function_reset_under_traffic"}


@pytest.mark.parametrize(
    ("name", "interface"),
    [
        ("pcie-bench", "usplus"),
        ("pcie-bench", "ptile"),
        ("host-nic", "usplus"),
        *slow(("pcie-bench", "usplus_plain"), ("host-nic", "usplus_plain"), ("host-nic", "ptile")),
    ],
)
def test_device(name, interface, tmp_path):
    folder, tests = ("bench", BENCH) if name == "pcie-bench" else ("nic", NIC)
    target = system.load(name)
    rtl = build.system_rtl(target, target.values([f"pcie_interface={interface}"]))
    number = dict(rtl.parameters)["PcieInterface"]
    rtl = replace(rtl, parameters=(("Interface", number),), dirs=(*rtl.dirs, "tests/usplus"))
    program = cosim.build_cosim(rtl, FOLDER / folder / "top.sv")
    found = cosim.run_cosim(program, FOLDER / f"check_{folder}.py", tmp_path, PINS=interface)
    assert found == dict.fromkeys(tests, ""), found


def test_mac(tmp_path):
    target = system.load("host-nic")
    rtl = build.system_rtl(target, target.values(["port_gbps=10"]))
    rtl = replace(rtl, parameters=())
    program = cosim.build_cosim(rtl, XGMII / "top.sv")
    found = cosim.run_cosim(program, XGMII / "check_mac.py", tmp_path)
    assert found == dict.fromkeys(["sent_frames", "received_frames", "pause", "faults"], ""), found

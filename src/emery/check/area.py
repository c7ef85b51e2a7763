# SPDX-License-Identifier: Apache-2.0
"""FPGA area of a system's top, or of a block without interface ports: Yosys, `synth_xilinx -family xcup`, flattened.

Cells are counted before placement: LUTs of logic, LUTs used as memory (a RAM32M16 or RAM64M8 is eight of them) or as shift
registers, flip-flops, block RAM in units of 36 kbit, DSPs. No timing. A 100G NIC takes about ten minutes; results are cached.
"""

import json
import re
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path

from emery import system
from emery.common import ROOT, UserError, in_checkout, nearest
from emery.make import build, cache
from emery.make.formats import package_files

_SYNTHESIS = "synth_xilinx -family xcup -flatten -noiopad -noclkbuf"
_PROGRAM = """
import json, sys
from pyosys import libyosys as ys
job = json.load(open(sys.argv[1]))
design = ys.Design()
for line in job:
    ys.run_pass(line, design)
"""
# Cells by what they are, and how many of that one cell is.
_KINDS = {
    "LUT": {r"LUT[1-6]": 1},
    "LUT as memory": {r"RAM(32M16|64M8)": 8, r"RAM(32M|64M|32X1D|64X1D)": 4, r"SRL\w+": 1},
    "flip-flop": {r"FD[RSCP]E": 1},
    "RAMB36": {r"RAMB36E2": 1, r"RAMB18E2": 0.5},
    "URAM": {r"URAM288": 1},
    "DSP": {r"DSP48E2": 1},
}


def _target(name: str, settings: list[str]) -> build.Rtl:
    blocks = {x.stem: x for x in (ROOT / "rtl").rglob("*.sv") if build.is_design_file(x)}
    if name not in blocks:
        if "/" not in name and name not in system.names():
            raise UserError(f"there is no system and no block {name}{nearest(name, [*system.names(), *blocks])}")
        chosen = system.load(name)
        return build.system_rtl(chosen, chosen.values(settings))
    path = in_checkout(blocks[name])
    pairs = [setting.partition("=") for setting in settings]
    for (_, equals, _), setting in zip(pairs, settings, strict=True):
        if not equals:
            raise UserError(f"--set {setting}: write it as NAME=VALUE")
    return build.Rtl(
        top=name,
        files=(*package_files(), path),
        dirs=tuple(build.rtl_dirs()),
        parameters=tuple((key, value) for key, _, value in pairs),
    )


def count(cells: dict[str, int]) -> dict[str, float]:
    """Cells of the library, by name, to what they are; what is not counted here (carry chains, inverters) is left out."""
    totals = {}
    for kind, patterns in _KINDS.items():
        totals[kind] = sum(n * each for cell, n in cells.items() for x, each in patterns.items() if re.fullmatch(x, cell))
    return totals


def area(name: str, settings: list[str]) -> dict[str, float]:
    """What `name` takes of an UltraScale+ device with these parameters (of a block: its Verilog parameters)."""
    if util.find_spec("pyosys") is None:
        raise UserError("pyosys is not installed: start Emery with ./emery, which sets it up")
    rtl = _target(name, settings)
    read = ["read_slang", "--top", rtl.top, "-D", "SYNTHESIS", *(w for n, v in rtl.parameters for w in ("-G", f"{n}={v}"))]
    for directory in rtl.dirs:
        read += ["-y", directory, "-I", directory]
    job = [" ".join([*read, *rtl.files]), f"{_SYNTHESIS} -top {rtl.top}"]

    def make(out: Path):
        result = out / "area.json"
        (out / "job.json").write_text(json.dumps([*job, f"tee -q -o {result} stat -json"]))
        command = [sys.executable, "-c", _PROGRAM, str(out / "job.json")]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode or not result.is_file():
            lines = [x for x in done.stdout.splitlines() if "error" in x.lower()]
            raise UserError(f"area: {lines[0] if lines else 'Yosys failed'}")
        (out / "yosys.log").write_text(done.stdout)

    key = cache.digest("area", build.rtl_digest(rtl), _SYNTHESIS, metadata.version("pyosys"))
    found = json.loads((cache.entry("area", key, make) / "area.json").read_text())
    return count(found["design"]["num_cells_by_type"])

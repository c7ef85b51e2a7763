# SPDX-License-Identifier: Apache-2.0
"""A small grid: the program of tile_router_tb is what the cross compiler makes today, and a grid put together from its
modules is the grid as one model, clock for clock."""

import importlib.util
import subprocess
import sys
from dataclasses import replace

import pytest

from emery import system
from emery.common import ROOT
from emery.make import build, formats

switch_asm = system.load("tile-router").module("switch_asm")
FOLDER = ROOT / "tests" / "mesh"


@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason=f"no cross compiler: {sys.executable} -m pip install ziglang"
)
def test_program_is_up_to_date():
    spec = importlib.util.spec_from_file_location("mesh_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.make() == (FOLDER / "program.hex").read_text(), "run tests/mesh/make.py"


def boot_writes():
    """What starts that program on 2 x 2 tiles, words round the grid on both static networks, two memories and a linecard."""
    writes = []
    for tile, (onward, back) in enumerate(("ES", "SW", "NE", "WN")):
        unit = tile << 18
        for line in (FOLDER / "program.hex").read_text().splitlines():
            address, *words = (int(x, 16) for x in line.split())
            start = unit + (0x20000 if address >> 28 else 0) + (address & 0xFFFF)
            writes += [(start + 4 * i, word) for i, word in enumerate(words)]
        ring = f"round: nop route csto->c{onward}o, csto2->c{back}o2\njump round route c{back}i->csti, c{onward}i2->csti2"
        for i, instruction in enumerate(switch_asm.assemble(ring).instructions):
            writes += [(unit + 0x10000 + 8 * i, instruction & 0xFFFFFFFF), (unit + 0x10004 + 8 * i, instruction >> 32)]
        # Memory regions 4 and 5: north of tile 0, east of tile 3. Core and switch may run.
        writes += [(unit + 0x30050, 0x80000100), (unit + 0x30054, 0x80000211)]
        # Every other one has a deep FIFO before the core, and turns of several messages.
        writes += [(unit + 0x300D0, 0x42321 * (tile % 2)), (unit + 0x30000, 3 | (tile % 2) << 2)]
    for slot, kind in ((0, 1), (3, 1), (6, 2)):
        writes += [((128 + slot) << 18, kind), (((128 + slot) << 18) + 4, 8)]
    return [*writes, (255 << 18, 3)]


@pytest.mark.slow
def test_parts_are_the_whole(tmp_path):
    """PartedChip against the whole as one model, all pins in each clock."""
    target = system.load("tile-router")
    values = target.values(["cache_kb=2"])
    rtl = build.system_rtl(target, values)
    small = (("Cols", "2"), ("Rows", "2"))
    whole = replace(rtl, parameters=(*rtl.parameters, *small))
    parts = build.part_rtls(target, values, rtl)
    parts = [replace(x, parameters=(*x.parameters, *(small if x.top == "boot_hub" else ()))) for x in parts]
    rtls = [replace(x, hot=("-O1",)) for x in (whole, *parts)]
    models = [build.verilate(x) for x in rtls]
    names = formats.generate(target.formats, target.folder)
    units = [build.Unit(FOLDER / "parts_test.cpp", ("-O1", "-std=gnu++20", "-pthread"), (ROOT, names, *models))]
    units += [unit for x, model in zip(rtls, models, strict=True) for unit in build.model_units(x, model)]
    program = build.link(build.compile_all(list(dict.fromkeys(units))), [], "parts_test")
    boot = tmp_path / "boot"
    boot.write_text("".join(f"{address:x} {value:x}\n" for address, value in boot_writes()))
    done = subprocess.run([program, boot], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stdout.startswith("PASS "), done.stdout + done.stderr
    _, clocks, _, words, *_, wires, _, _ = done.stdout.split()
    assert int(clocks) > 60_000 and int(words) > 5_000 and int(wires) > 100

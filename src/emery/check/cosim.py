# SPDX-License-Identifier: Apache-2.0
"""Models that cocotb drives: verilated with the interface it needs, linked with its main program (requirements/cocotb.txt)."""

import importlib.util
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from emery import process
from emery.common import in_checkout
from emery.make import build


@dataclass(frozen=True)
class CosimRtl(build.Rtl):
    """A top named `top`; what cocotb is to see of it says so."""

    def arguments(self) -> list[str]:
        return ["--vpi", *super().arguments()]


def _installed(name: str) -> Path:
    return Path(next(iter(importlib.util.find_spec(name).submodule_search_locations)))


def build_cosim(rtl: build.Rtl, top: Path) -> Path:
    """The executable of a file with a module `top` above the modules of `rtl`, whose parameters are now its."""
    fields = {x: getattr(rtl, x) for x in rtl.__dataclass_fields__}
    whole = replace(CosimRtl(**fields), top="top", files=(*rtl.files, in_checkout(top)))
    model = build.verilate(whole)
    shared = _installed("cocotb")
    main = build.Unit(shared / "share" / "lib" / "verilator" / "verilator.cpp", ("-O2", "-std=gnu++20", "-w"), (model,))
    objects = build.compile_all([main, *build.model_units(whole, model)])
    libraries = [f"-L{shared / 'libs'}", f"-Wl,-rpath,{shared / 'libs'}", "-lcocotbvpi_verilator", "-ldl"]
    return build.link(objects, libraries, "cosim")


def run_cosim(program: Path, module: Path, out: Path, **settings) -> dict[str, str]:
    """Runs the cocotb tests of a Python file; gives for each what went wrong, or nothing."""
    import find_libpython
    from cocotb_tools import config

    results = out / "results.xml"
    environment = dict(os.environ, **settings)
    environment |= {
        "COCOTB_TEST_MODULES": module.stem,
        "COCOTB_TOPLEVEL": "top",
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_LOG_LEVEL": "WARNING",
        "TOPLEVEL_LANG": "verilog",
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython.find_libpython()};{config.pygpi_entry_point()}",
        "PYTHONPATH": os.pathsep.join([str(module.parent), *sys.path]),
    }
    done = process.run([str(program)], 600, cwd=out, env=environment, errors="replace")
    if not results.exists():
        return {"": (done.stdout + done.stderr)[-3000:]}
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        bad = [x.get("error_msg") or x.get("message") or "failed" for x in case if x.tag in ("failure", "error")]
        found[case.get("name")] = "\n".join(bad)[-3000:]
    return found

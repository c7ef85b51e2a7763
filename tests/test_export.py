# SPDX-License-Identifier: Apache-2.0
"""`./emery export`: FuseSoC finds all that a block or a system needs, and Verilator takes it from there."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from fusesoc.coremanager import CoreManager, DependencyError
from fusesoc.librarymanager import Library
from fusesoc.vlnv import Vlnv

from emery import system
from emery.check import structure
from emery.cli import main
from emery.common import ROOT
from emery.make import formats, toolchain


def manager(folder) -> CoreManager:
    """FuseSoC with one library."""
    found = CoreManager(
        SimpleNamespace(cache_root=str(folder), resolve_env_vars_early=False, allow_additional_properties=False)
    )
    found.add_library(Library("emery", str(folder)), [])
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Everything."""
    folder = tmp_path_factory.mktemp("library")
    assert main(["export", str(folder)]) == 0
    return folder


def fusesoc(work, *words):
    """Runs FuseSoC; gives what it and the tools behind it said."""
    root = toolchain.verilator_root()
    environment = dict(os.environ, VERILATOR_ROOT=str(root), XDG_CONFIG_HOME=str(work))
    environment["PATH"] = os.pathsep.join([str(root / "bin"), environment["PATH"]])
    command = [sys.executable, "-c", "import sys; from fusesoc.main import main; sys.exit(main())", *words]
    done = subprocess.run(command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def lint(work, libraries, core):
    """Lints a core; nothing may be said about it."""
    roots = [x for folder in libraries for x in ("--cores-root", str(folder))]
    status, said = fusesoc(work, *roots, "run", "--target", "lint", core)
    assert status == 0 and "%Warning" not in said and "%Error" not in said, said
    return next(work.rglob("*.vc")).read_text()


def names(cores):
    return {x.name.name for x in cores}


@pytest.mark.slow
def test_every_block_and_system_resolves(library):
    found = manager(library)
    cores = {str(x.name): x for x in found.get_cores().values()}
    design = structure.read()
    wanted = set(design.blocks) | set(system.names()) | {x.split("/")[-1].removesuffix(".sv") for x in formats.package_files()}
    assert wanted <= names(cores.values()) and names(cores.values()) - wanted == {"assert_svh", "stream_svh"}
    for core in cores.values():
        needed = found.get_depends(core.name, {"tool": "verilator", "target": "default"})
        if core.name.name in design.blocks:  # all that is below it is there, and packages come before those who use them
            assert design.below({core.name.name}) <= names(needed)
            order = [x.name.name for x in needed]
            uses = {y for x in design.below({core.name.name}) for y in design.modules[x].packages}
            for package in uses & design.packages.keys():
                assert order.index(package) < order.index(core.name.name)


def test_one_that_is_missing_is_noticed(library, tmp_path):
    assert main(["export", str(tmp_path / "one"), "fifo_async"]) == 0
    (tmp_path / "one" / "rtl" / "base" / "sync_2ff.core").unlink()
    with pytest.raises(DependencyError):
        manager(tmp_path / "one").get_depends(Vlnv("emery:base:fifo_async"), {"tool": "verilator", "target": "default"})


def test_a_block_comes_with_what_it_needs_and_nothing_else(tmp_path):
    assert main(["export", str(tmp_path), "fifo_async"]) == 0
    written = {x.name for x in tmp_path.rglob("*") if x.is_file()}
    blocks = ("fifo_async", "gray_cross", "ram_2clk", "stream_if", "sync_2ff")
    assert written == {f"{x}.{y}" for x in blocks for y in ("sv", "core")} | {*("assert.svh", "assert_svh.core", "LICENSE")}


def test_a_block_lints(library, tmp_path):
    assert "ptp_cdc.sv" in lint(tmp_path, [library], "emery:mac:ptp_cdc")


def test_the_pages_design_lints(library, tmp_path):
    page = (ROOT / "docs" / "export.md").read_text()
    for name, language in (("mine.core", "yaml"), ("mine.sv", "systemverilog")):
        (tmp_path / name).write_text(re.search(rf"```{language}\n(.*?)```", page, re.S)[1])
    assert "mine.sv" in lint(tmp_path, [library, tmp_path], "me:demo:mine")
    (count,) = re.findall(r"fifo_async +# (\d+) cores", page)
    assert main(["export", str(tmp_path / "one"), "fifo_async"]) == 0
    assert int(count) == len(list((tmp_path / "one").rglob("*.core")))


def test_what_verilator_refuses_is_refused(library, tmp_path):
    assert main(["export", str(tmp_path / "one"), "sync_2ff"]) == 0
    path = tmp_path / "one" / "rtl" / "base" / "sync_2ff.sv"
    path.write_text(path.read_text().replace("q_o = second_q", "q_o = third_q"))
    assert fusesoc(tmp_path, "--cores-root", str(tmp_path / "one"), "run", "--target", "lint", "emery:base:sync_2ff")[0] != 0


def test_a_system_lints(tmp_path):
    """With the parameters it was exported with, and a register file that is generated. Each tool gets its constraints."""
    assert main(["export", str(tmp_path / "one"), "pcie-bench", "--set", "tags=32"]) == 0
    for tool, file in (("vivado", "pcie_bench.xdc"), ("quartus", "pcie_bench.sdc"), ("verilator", None)):
        core = manager(tmp_path / "one").get_core(Vlnv("emery:systems:pcie-bench"))
        files = [x["name"] for x in core.get_files({"tool": tool, "target": "default", "is_toplevel": True})]
        assert [x for x in files if not x.endswith(".sv")] == ([file] if file else [])
        assert (
            not file or "create_clock -name {clk_i} -period 4.000" in (tmp_path / "one/systems/pcie_bench" / file).read_text()
        )
    assert "-GTags=32" in lint(tmp_path, [tmp_path / "one"], "emery:systems:pcie-bench")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["fifo_asink"], "did you mean fifo_async"),
        (["fifo", "--set", "tags=3"], "--set is for one system"),
        (["host-nic", "capture", "--set", "tags=3"], "--set is for one system"),
        (["pcie-bench", "--set", "tags=3"], "tags"),
    ],
)
def test_what_it_refuses(capsys, tmp_path, words, says):
    assert main(["export", str(tmp_path), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: ") and says in line and not list(tmp_path.iterdir())

# SPDX-License-Identifier: Apache-2.0
"""Yosys: a system or a block as a netlist of UltraScale+ cells; what area and timing are read from. Cached by content."""

import collections
import functools
import gzip
import json
import re
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path

from pyslang import Bag, SourceManager
from pyslang.parsing import PreprocessorOptions
from pyslang.syntax import SyntaxPrinter, SyntaxTree

from emery import process
from emery.check import blocks, structure
from emery.check.blocks import Subject
from emery.common import ROOT, UserError
from emery.make import build, cache

_MAP = "synth_xilinx -family xcup -flatten -noiopad -noclkbuf"
# Nothing is mapped: registers, memories and operators on words, as the sources have them.
_GATES = ("proc", "flatten", "opt_clean")
_PROGRAM = """
import json, sys
from pyosys import libyosys as ys
design = ys.Design()
for line in json.load(open(sys.argv[1])):
    ys.run_pass(line, design)
"""
# Cells by what they are, and how many of that one cell is.
KINDS = {
    "LUT": {r"LUT[1-6]": 1},
    "LUT as memory": {r"RAM(32M16|64M8)": 8, r"RAM(32M|64M|32X1D|64X1D)": 4, r"RAM(128X1D|256X1D)": 8, r"SRL\w+": 1},
    "flip-flop": {r"FD[RSCP]E": 1},
    "latch": {r"LD[CP]E": 1},
    "RAMB36": {r"RAMB36E2": 1, r"RAMB18E2": 0.5},
    "URAM": {r"URAM288": 1},
    "DSP": {r"DSP48E2": 1},
}


def count(module: dict) -> dict[str, float]:
    """A netlist's cells as what they are; what is not counted here (carry chains, inverters) is left out."""
    cells = collections.Counter(x["type"] for x in module["cells"].values())
    return {
        kind: sum(n * each for cell, n in cells.items() for x, each in patterns.items() if re.fullmatch(x, cell))
        for kind, patterns in KINDS.items()
    }


def mapped(subject: Subject) -> dict:
    """The netlist after mapping: Yosys's JSON of the one module that is left."""
    return _netlist(subject, "mapped", _mapping(subject))


def gates(subject: Subject) -> dict:
    """The netlist before mapping."""
    return _netlist(subject, "gates", (f"hierarchy -check -top {subject.top}", *_GATES))


def _netlist(subject: Subject, kind: str, passes: tuple[str, ...]) -> dict:
    modules = json.loads(gzip.decompress(netlist_file(subject, kind, passes).read_bytes()))["modules"]
    return next(x for x in modules.values() if "top" in x["attributes"])


def netlist_file(subject: Subject, kind: str, passes: tuple[str, ...], cells: tuple[str, ...] = ()) -> Path:
    """What Yosys makes of the sources by these passes, as JSON, packed; beside it what Yosys said (yosys.log).

    `cells`: modules that stand for a vendor's cells and stay as they are.
    """
    if util.find_spec("pyosys") is None:
        raise UserError("pyosys is not installed: start Emery with ./emery, which sets it up")
    words = blocks.synthesis_words(subject.rtl)
    words[words.index("--top") + 1] = subject.top

    def make(out: Path):
        wrapper = out / f"{subject.top}.sv"
        if subject.wrapper:
            wrapper.write_text(subject.wrapper)
        # A setting that changes the ports of a block has to be one of the system's: the wrapper's are as the system has them.
        strict = ["-Werror=port-width-trunc", "-Werror=port-width-expand", str(wrapper)] if subject.wrapper else []
        kept = [f"--blackboxed-module {x}" for x in cells]
        read = " ".join(["read_slang", *words, *kept, *strict])
        (out / "job.json").write_text(json.dumps([read, *passes, f"write_json {out}/net.json"]))
        command = [sys.executable, "-c", _PROGRAM, str(out / "job.json")]
        done = process.run(command, cwd=ROOT, stderr=subprocess.STDOUT, errors="replace")
        if done.returncode or not (out / "net.json").is_file():
            lines = re.findall(r"^.*\bERROR: .*$", done.stdout, re.M)
            said = re.sub(rf"\S*/({subject.top}\.sv)", r"\1", lines[0]) if lines else "failed"
            failed = UserError(f"{subject.name}: Yosys: {said}")
            failed.log = done.stdout
            raise failed
        with gzip.open(out / "net.json.gz", "wb", 1) as packed:
            packed.write((out / "net.json").read_bytes())
        (out / "net.json").unlink()
        (out / "yosys.log").write_text(done.stdout)

    return cache.entry("netlist", _key(subject, kind, passes, cells), make) / "net.json.gz"


def mapped_key(subject: Subject) -> str:
    """Names the netlist after mapping by what its cells follow from (not their places in sources), on any machine."""
    return _key(subject, "mapped", _mapping(subject), of=seen)


def _mapping(subject: Subject) -> tuple[str, ...]:
    return (f"{_MAP} -top {subject.top}",)


def _key(subject: Subject, kind: str, passes: tuple[str, ...], cells: tuple[str, ...] = (), of=cache.file_digest) -> str:
    return cache.digest("netlist", kind, passes, _digest(subject, of), metadata.version("pyosys"), *cells)


def _digest(subject: Subject, of) -> str:
    """What a netlist follows from: `of` each source. Of a block only what it uses: it is not made anew for another's sake."""
    if not subject.wrapper:
        words = [subject.top, subject.rtl.parameters]
        return cache.digest(words, sorted((x.name, of(x)) for x in build.design_files(subject.rtl)))
    design = structure.read()
    files = {ROOT / design.modules[x].path for x in design.below({subject.name}) | _interfaces(subject)}
    others = [ROOT / x for x in subject.rtl.files if x.endswith("_pkg.sv")]
    others += [] if of is seen else (ROOT / "rtl").glob("*/*.svh")
    others += [x for folder in subject.rtl.dirs if Path(folder).is_absolute() for x in Path(folder).glob("*.sv")]
    files |= build.named({x.stem: x for x in others}, [subject.wrapper, *(x.read_text() for x in files)])
    return cache.digest(subject.wrapper, sorted((x.name, of(x)) for x in files))


@functools.cache
def seen(path: Path) -> str:
    """Digest of a source as synthesis sees it: macros and includes put in, without comments, assertions and what
    simulations alone have; how its lines are broken does not count."""
    options = PreprocessorOptions()
    options.predefines = ["SYNTHESIS"]
    options.additionalIncludePaths = [ROOT / x for x in build.rtl_dirs()]
    manager = SourceManager()
    printer = SyntaxPrinter(manager).setIncludeComments(False).setIncludeDirectives(False).setIncludeSkipped(False)
    printer.setExpandMacros(True).setExpandIncludes(True)
    text = printer.print(SyntaxTree.fromFile(str(path), manager, Bag([options]))).str()
    return cache.digest(text.split())


def _interfaces(subject: Subject) -> set[str]:
    design = structure.read()
    return {x for x in re.findall(r"^  (\w+) #", subject.wrapper, re.M) if x in design.modules and x != subject.name}

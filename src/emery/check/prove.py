# SPDX-License-Identifier: Apache-2.0
"""Proofs of blocks: `./emery prove rtl/base/fifo_formal.sv`.

A proof is a module `<block>_formal` beside its block: it instantiates the block with small parameters, assumes what the
block may rely on, and asserts what it promises (immediate assertions, combinational or clocked; names inside the block
may be used to help an induction along). Its settings stand in a comment line, `// prove: mode=prove depth=20`:

    mode=prove      true at all times: by induction, or else by property-directed reachability (pdr)
    mode=bmc        true for the first `depth` clocks
    depth=N         clocks searched for counterexamples (in mode prove for about 2 s at the most) and for covers (20)
    timeout=S       seconds of the processor for everything (600): a busy machine takes longer, and decides the same
    clocks=async    several clocks that are inputs as any other (default: all flip-flops follow `clk_i`)
    suite=N         too long for every run of the suite, which only searches the first N clocks; suite=no: not even these.
                    `./emery prove` and `./emery test --slow` do it whole

Each `cover` must be reached within `depth` clocks: that is what shows that the assumptions leave something to prove.
Yosys (from the pyosys wheel, with slang inside) makes an and-inverter graph of the proof and its ABC decides it. Inputs,
flip-flops without a reset and memories take any value.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import util
from pathlib import Path

from emery import process
from emery.common import ROOT, UserError, cache_dir

_DEFAULTS = {"mode": "prove", "depth": "20", "timeout": "600", "clocks": "one", "suite": "yes"}

# Runs in a process of its own: Yosys ends its process on an error. Covers become assertions of the opposite, in a graph of
# their own.
_COMPILE = r"""
import json, sys
from pyosys import libyosys as ys

job = json.load(open(sys.argv[1]))
design = ys.Design()

def run(*passes):
    for line in passes:
        ys.run_pass(line, design)

run(job["read"], f"prep -flatten -top {job['top']}", job["clocks"], "chformal -lower", "memory_map -formal")
run("write_rtlil lowered.il", "design -save lowered")
for kind, other in (("assert", "cover"), ("cover", "assert")):
    run("design -load lowered", f"chformal -{other} -remove")
    top = design.top_module()
    names = {}
    for cell in list(top.selected_cells()):
        if cell.type.str() == f"${kind}":
            names[cell.name.str()] = cell.get_src_attribute()
            if kind == "cover":
                cell.type = ys.IdString("$assert")
                cell.setPort(ys.IdString("\\A"), top.Not(ys.IdString("$reached" + cell.name.str()),
                                                         cell.getPort(ys.IdString("\\A"))))
    # What Yosys knows nothing about takes any value, here and there another.
    run("opt_clean", "setundef -undriven -anyseq", "setundef -anyseq", "opt -full", "techmap", "setundef -anyseq", "opt -fast")
    run("dffunmap", "simplemap", "aigmap", "opt_clean")
    run(f"write_aiger -I -B -zinit -map {kind}.aim -ywmap {kind}.ywm {kind}.aig")
    json.dump(names, open(f"{kind}.json", "w"))
"""


def settings(formal_file: Path) -> dict[str, str]:
    """What the `// prove:` line of a proof says, with the defaults filled in."""
    found = dict(_DEFAULTS)
    for line in formal_file.read_text().splitlines():
        if line.startswith("// prove:"):
            for word in line.removeprefix("// prove:").split():
                name, _, value = word.partition("=")
                if name not in _DEFAULTS or not value:
                    raise UserError(f"{formal_file}: no setting {word!r} (known: {', '.join(_DEFAULTS)})")
                found[name] = value
            return found
    raise UserError(f"{formal_file}: no line `// prove: mode=... depth=...`")


def prove(formal_file, mode=None, depth=None, engine=None) -> tuple[bool, str]:
    """Proves the assertions of a formal file and reaches its covers; (ok, log). The arguments override the file's line; `depth`
    is where counterexamples are looked for: covers are reached as deep as they are in the file.

    `engine` is what decides in mode prove: `induction`, `pdr`, by default one after the other; or `bmc3` to search only.
    """
    path = (ROOT / formal_file).resolve()
    if not path.is_file():
        raise UserError(f"{formal_file}: no such file")
    chosen = settings(path)
    mode = mode or chosen["mode"]
    covers = max(int(depth or 0), int(chosen["depth"]))
    depth = int(depth or chosen["depth"])
    if mode not in ("prove", "bmc") or engine not in (None, "induction", "pdr", "bmc3"):
        raise UserError(f"{formal_file}: mode is prove or bmc, engine is induction, pdr or bmc3, not {mode}, {engine}")
    package = util.find_spec("pyosys")
    if package is None or not package.submodule_search_locations:
        raise UserError("pyosys is not installed: start Emery with ./emery, which sets it up")
    with tempfile.TemporaryDirectory(prefix="emery-prove-") as directory:
        run = _Run(Path(directory), Path(next(iter(package.submodule_search_locations))) / "yosys-abc", int(chosen["timeout"]))
        unbounded = mode == "prove" and engine != "bmc3"
        try:
            ok = run.compile(path, chosen["clocks"]) and run.search(path, depth, 2 if unbounded else 0) and run.reach(covers)
            if ok and unbounded:
                ok = run.settle(path, depth, engine)
        except subprocess.TimeoutExpired:
            ok = False
            run.say(f"undecided after {chosen['timeout']} s of the processor")
        return ok, "\n".join(run.log) + "\n"


class _Run:
    """One proof: its working directory and what was said so far."""

    def __init__(self, directory: Path, abc: Path, timeout: int):
        self.directory = directory
        self.abc = abc
        self.start = time.monotonic()
        self.left = float(timeout)  # seconds of the processor
        self.slowness = 1.0  # seconds that one of the processor takes, as the first tool saw it
        self.log: list[str] = []
        self.searched = 0  # clocks without a counterexample

    def say(self, line: str):
        """Notes a line with the time."""
        self.log.append(f"{time.monotonic() - self.start:6.1f} s  {line}")

    def run(self, command: list[str]) -> str:
        """Runs a tool in the working directory; gives what it printed."""
        limit = max(1, round(self.left))
        begun, used = time.monotonic(), process.spent()
        done = process.run(command, limit, cwd=self.directory, stderr=subprocess.STDOUT)
        used = process.spent() - used
        if used > 1 and self.slowness == 1.0:
            self.slowness = max(1.0, (time.monotonic() - begun) / used)
        self.left -= used
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) or self.left <= 0:
            raise subprocess.TimeoutExpired(command, limit)
        return done.stdout

    def compile(self, path: Path, clocks: str) -> bool:
        """Makes assert.aig and cover.aig."""
        top = path.stem
        folders = sorted({x.parent for x in (ROOT / "rtl").rglob("*.sv")})
        packages = [ROOT / x for x in (ROOT / "rtl" / "packages.f").read_text().split() if not x.startswith("#")]
        words = ["--top", top, "-D", "FORMAL", *(w for x in folders for w in ("-y", str(x), "-I", str(x)))]
        job = {
            "top": top,
            "read": " ".join(["read_slang", *words, *map(str, packages), str(path)]),
            "clocks": "clk2fflogic" if clocks == "async" else "async2sync",
        }
        (self.directory / "job.json").write_text(json.dumps(job))
        printed = self.run([sys.executable, "-c", _COMPILE, "job.json"])
        if not (self.directory / "cover.json").is_file():
            self.log += [x for x in printed.splitlines()[-40:] if not x.startswith("-- Running")]
            return False
        self.outputs = {kind: self._outputs(kind) for kind in ("assert", "cover")}
        # A net without a driver takes any value: then it should have been an input.
        loose = sorted(set(re.findall(r"Warning: Wire (.*) is used but has no driver", printed)))
        if not self.outputs["assert"]:
            self.say("there is nothing to prove: no assertion")
            return False
        self.say(f"{len(self.outputs['assert'])} assertions, {len(self.outputs['cover'])} covers")
        if loose:
            self.say(f"WITHOUT A DRIVER: {' '.join(loose)}")
            return False
        return True

    def _outputs(self, kind: str) -> list[str]:
        """The source line of each output of a graph."""
        names = json.loads((self.directory / f"{kind}.json").read_text())
        order = json.loads((self.directory / f"{kind}.ywm").read_text())["asserts"]
        return [_source_line(self.directory, names.get(x[-1], "")) or x[-1] for x in order]

    def search(self, path: Path, depth: int, seconds: int) -> bool:
        """Looks for counterexamples, at the most for so many seconds if that is not 0."""
        limit = f" -T {round(seconds * self.slowness)}" if seconds else ""
        printed = self._abc("assert", f"bmc3 -F {depth}{limit}; write_cex -a cex.aiw")
        if self._refuted(path, printed):
            return False
        match = re.search(r"No output (?:asserted|failed) in (\d+) frames", printed)
        if not match:
            self.log += printed.splitlines()[-10:]
            return False
        self.searched = int(match[1])
        self.say(f"no counterexample in {self.searched} clocks")
        return True

    def reach(self, depth: int) -> bool:
        """Reaches all covers."""
        missed = []
        if self.outputs["cover"]:
            printed = self._abc("cover", f"bmc3 -a -F {depth}")
            reached = {int(x) for x in re.findall(r"Output\s+(\d+) (?:of miter .* )?was asserted", printed)}
            missed = [x for i, x in enumerate(self.outputs["cover"]) if i not in reached]
            for line in missed:
                self.say(f"NOT REACHED in {depth} clocks: {line}")
            if not missed:
                self.say("all covers reached")
        return not missed

    def settle(self, path: Path, depth: int, engine: str | None) -> bool:
        """Proves all assertions for all times. What cannot be proved is searched for longer: a counterexample has waves."""
        printed = ""
        if engine != "pdr" and self.searched < 4 and not self.search(path, 4, 10):
            return False
        if engine != "pdr" and self.searched > 3:
            # The conjunction of all assertions, from one to three clocks to the next; the search was the base.
            printed = self._abc("assert", "orpos; ind -F 3 -C 1000000")
            if "Networks are equivalent" in printed:
                self.say("proved by induction")
                return True
        if engine != "induction":
            printed = self._abc("assert", "scorr; dc2; pdr; write_cex -a cex.aiw")
            if "Property proved" in printed:
                self.say("proved by property-directed reachability")
                return True
            if self._refuted(path, printed):
                self.search(path, depth, 10)
                return False
        self.say("NOT PROVED: " + (printed.strip().splitlines() or ["no answer"])[-1])
        self.search(path, depth, 10)
        return False

    def _refuted(self, path: Path, printed: str) -> bool:
        """Whether an engine found a counterexample; says which."""
        match = re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", printed)
        if match:
            self.say(f"FAILS in clock {match[2]}: {self.outputs['assert'][int(match[1])]}")
            self._trace(path.stem)
        return match is not None

    def _abc(self, kind: str, commands: str) -> str:
        return self.run([str(self.abc), "-c", f"read_aiger {kind}.aig; fold; strash; {commands}"])

    def _trace(self, top: str):
        """Keeps the waves of a counterexample."""
        waves = cache_dir() / "proofs" / f"{top}.vcd"
        waves.parent.mkdir(parents=True, exist_ok=True)
        program = "from pyosys import libyosys as ys; design = ys.Design(); "
        passes = ("read_rtlil lowered.il", "sim -clock clk_i -hdlname -r cex.aiw -map assert.aim -vcd trace.vcd")
        self.run([sys.executable, "-c", program + "; ".join(f"ys.run_pass('{x}', design)" for x in passes)])
        trace = self.directory / "trace.vcd"
        if trace.is_file() and trace.stat().st_size:
            shutil.copyfile(trace, waves)
            self.say(f"waves: {waves}")
        else:
            # One found by pdr is of a graph made smaller, and several clocks have no common time.
            self.say("no waves of this one; --mode bmc with a larger --depth may find it again")


def _source_line(directory: Path, source: str) -> str:
    """`file:line: text` for a src attribute of Yosys."""
    match = re.match(r"(.*?):(\d+)\.", source)
    if not match:
        return ""
    path = (directory / match[1]).resolve()
    text = path.read_text().splitlines()[int(match[2]) - 1].strip() if path.is_file() else ""
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{shown}:{match[2]}: {text}"


def main(files: list[str], mode: str | None, depth: int | None, engine: str | None) -> int:
    """Proves what is named, or everything; prints as it goes."""
    every = sorted(str(x.relative_to(ROOT)) for x in (ROOT / "rtl").rglob("*_formal.sv"))
    failed = 0
    for name in map(os.path.abspath, files) if files else every:
        ok, log = prove(name, mode, depth, engine)
        print(f"{'ok' if ok else 'FAILED'} {name}\n{log}", end="", flush=True)
        failed |= not ok
    return int(failed)

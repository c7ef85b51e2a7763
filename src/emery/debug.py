# SPDX-License-Identifier: Apache-2.0
"""gdb at a run (`./emery run --gdb`): the socket that the simulator serves it at (bench/debug).

It is for this machine only: a port of its loopback address, or a path that its owner alone can open.
"""

import os
import socket
from contextlib import suppress

from emery.common import UserError
from emery.system import System, load, names

HOST = "127.0.0.1"


def settings(system: System, given: list[str]) -> list[str]:
    """What parameters are set to when gdb is to come: what was given, and what that needs."""
    if not system.debug:
        able = ", ".join(x for x in names() if load(x).debug)
        raise UserError(f"--gdb: {system.name} has no cores that gdb can stop; systems that have: {able}")
    needed = [f"{name}={str(value).lower()}" for name, value in system.debug["set"].items()]
    values = system.values([*needed, *given])
    for name, value in system.debug["set"].items():
        if values[name] != value:
            raise UserError(f"--gdb: it needs {name}={str(value).lower()}")
    return [*needed, *given]


class Debugger:
    """Where gdb may come. `tell` is told where that is, and what becomes of it."""

    def __init__(self, where: str, tell):
        self._tell = tell
        self._path = where if "/" in where else ""
        self._socket = _at_path(where) if self._path else _at_port(where)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        if self._path:
            with suppress(OSError):
                os.unlink(self._path)

    @property
    def file(self) -> int:
        """The file descriptor of the socket."""
        return self._socket.fileno()

    def ready(self, system: System, values: dict):
        """The run can begin."""
        at = self._path or f":{self._socket.getsockname()[1]}"
        program = system.program(values)
        self._tell(f"{system.name} waits for gdb: gdb-multiarch {program} -ex 'target remote {at}'")

    def heard(self, line: str) -> bool:
        """Whether a line that the simulator says is about gdb; then it is told."""
        if line.startswith("gdb: "):
            self._tell(line.strip())
        return line.startswith("gdb: ")


def _at_port(where: str) -> socket.socket:
    if not where.isascii() or not where.isdigit() or int(where) > 65535:
        raise UserError(f"--gdb {where}: neither a port (0 ... 65535) nor a path with a /")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, int(where)))
        listening.listen(1)
    except OSError as error:
        listening.close()
        raise UserError(f"--gdb {where}: {error.strerror}") from error
    return listening


def _at_path(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(path)
        listening.listen(1)
    except OSError as error:
        listening.close()
        raise UserError(f"--gdb {path}: {error.strerror or error}") from error
    finally:
        os.umask(before)
    return listening

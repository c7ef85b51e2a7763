# SPDX-License-Identifier: Apache-2.0
"""Packets out of Python, from a function of the user's or an iterable, kept as a capture that is read and played as any other.

A packet is bytes of an Ethernet frame without FCS, or an object that `bytes` makes one of (of scapy's IP and IPv6 a header is
put before it); (seconds, packet) says when it is to start (`--timed`).
"""

import contextlib
import hashlib
import importlib.util
import inspect
import itertools
import math
import shutil
import sys
import traceback
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache as once
from numbers import Real
from pathlib import Path

from emery import capture, pcapng
from emery.common import UserError
from emery.make import cache

_MOST = 1 << 22  # packets of a source that nobody said a number for
_IP = ("IP", "IPv6")  # scapy's names of packets that have no Ethernet header


def place(text: str) -> tuple[Path, str]:
    """The file and the name in it of FILE.py:NAME."""
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise UserError(f"--source {text}: write it as FILE.py:FUNCTION")
    if not Path(path).is_file():
        raise UserError(f"--source {text}: there is no file {path}")
    return Path(path).resolve(), name


def needs_scapy(text: str) -> bool:
    """Whether the file of a source speaks of scapy: the launcher brings it then."""
    with contextlib.suppress(UserError, OSError):
        return b"scapy" in place(text)[0].read_bytes()
    return False


def of_file(text: str, seed: int, most: int = 0) -> str:
    """The capture of what FILE.py:NAME gives: all of it, or the first `most`. A function with a parameter `seed` gets that."""
    path, name = place(text)
    return _of_file(text, path, name, cache.file_digest(path), seed, most)


@once
def _of_file(text: str, path: Path, name: str, _content: str, seed: int, most: int) -> str:
    with _told(text, path), contextlib.redirect_stdout(sys.stderr):
        found = getattr(_module(path), name, None)
        if callable(found):
            found = found(seed=seed) if "seed" in inspect.signature(found).parameters else found()
    if found is None:
        raise UserError(f"--source {text}: there is no {name} in it, or it gives nothing")
    with _told(text, path), contextlib.redirect_stdout(sys.stderr):
        return of_iterable(found, most, f"--source {text}")


def _module(path: Path):
    """The user's file as a module; files beside it can be imported."""
    spec = importlib.util.spec_from_file_location(f"emery_source_{cache.digest(str(path))}", path)
    module = importlib.util.module_from_spec(spec)
    kept = sys.path[:], sys.dont_write_bytecode
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:], sys.dont_write_bytecode = kept
    return module


@contextlib.contextmanager
def _told(text: str, path: Path):
    """What goes wrong in the user's file as one line that says where; the rest is in the error's `log`."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        frames = [x for x in traceback.extract_tb(error.__traceback__) if x.filename == str(path)]
        line = frames[-1].lineno if frames else getattr(error, "lineno", None)
        what = " ".join(f"{type(error).__name__}: {error}".split())
        told = UserError(f"--source {text}: {f'line {line}: ' if line else ''}{what}")
        told.log = traceback.format_exc()
        raise told from error


def of_iterable(packets: Iterable, most: int = 0, what: str = "packets") -> str:
    """The capture of what an iterable gives: all of it, or the first `most`."""
    try:
        items = iter(packets)
    except TypeError:
        raise UserError(f"{what}: {type(packets).__name__} is nothing that gives packets") from None
    folder = cache.scratch()
    try:
        name, digest = _keep(items, most, what, folder)
        made = cache.entry("packets", digest, lambda out: (folder / name).rename(out / name))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return str(made / name)


def _keep(items: Iterator, most: int, what: str, folder: Path) -> tuple[str, str]:
    """Writes the packets to a file of the folder; gives its name and the digest of what is in it."""
    name, digest, number, timed = "packets.pcapng", hashlib.sha256(), 0, False
    with open(folder / name, "wb") as file:

        def put(data: bytes):
            digest.update(data)
            file.write(data)

        put(pcapng.section() + pcapng.interface())
        for number, item in enumerate(itertools.islice(items, most or _MOST + 1), 1):
            here = f"{what}: packet {number}"
            if number > _MOST and not most:
                raise UserError(f"{what}: more than {_MOST:,} packets: say how many with --frames")
            seconds, packet = item if isinstance(item, tuple) and len(item) == 2 else (None, item)
            if number == 1:
                timed = seconds is not None
            elif timed != (seconds is not None):
                raise UserError(f"{here}: some packets have times and some have none")
            put(pcapng.packet(_frame(packet, here), _stamp(seconds, here) if timed else None))
    if not number:
        raise UserError(f"{what}: it gives no packet")
    return name, digest.hexdigest()[:32]


def _stamp(seconds, what: str) -> int:
    known = isinstance(seconds, Real | Decimal) and math.isfinite(seconds) and 0 <= seconds < 1 << 32
    if not known:
        raise UserError(f"{what}: {seconds!r} is no time in seconds")
    return round(seconds * 10**9)


def _frame(item, what: str) -> bytes:
    """The bytes of a packet as an Ethernet frame."""
    raw = isinstance(item, bytes | bytearray | memoryview)
    if not raw and not hasattr(item, "__bytes__"):
        raise UserError(f"{what}: {type(item).__name__} is not bytes, nor anything that gives some")
    data = bytes(item)
    if not raw and type(item).__name__ in _IP:
        data = capture.framed(data) or data
    if not 14 <= len(data) <= capture.LONGEST:
        raise UserError(f"{what}: {len(data)} bytes; a frame has 14 to {capture.LONGEST} without its FCS")
    return data

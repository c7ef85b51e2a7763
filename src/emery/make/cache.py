# SPDX-License-Identifier: Apache-2.0
"""A cache of directories and files named by the content they were made from.

An entry is made in a scratch directory and renamed into place when it is whole, under a lock of its own: two processes
that want the same entry make it once, and one that is interrupted leaves nothing behind that anyone would use.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import uuid
from functools import cache
from pathlib import Path

from emery.common import UserError, cache_dir, written


def digest(*parts) -> str:
    """Name for what is made from these parts (anything JSON can write)."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


@cache
def _file_digest(path: str, _mtime_ns: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def file_digest(path: Path) -> str:
    """Digest of a file's content."""
    return _of_now(_file_digest, path)


@cache
def _file_includes(path: str, _mtime_ns: int, _size: int) -> tuple[str, ...]:
    return tuple(x.decode() for x in _INCLUDE.findall(Path(path).read_bytes()))


def _of_now(known, path: Path):
    """What is known of a file's content, worked out once for as long as the file stays as it is."""
    stat = os.stat(path)
    return known(str(path), stat.st_mtime_ns, stat.st_size)


_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def sources(source: Path, include_dirs: list[Path]) -> set[Path]:
    """A C++ file and everything it includes with quotes, as far as it is found here."""
    seen: set[str] = set()  # text: a run looks at thousands of names, and a Path of each takes longer than all else
    waiting, where = [os.path.realpath(source)], [str(x) for x in include_dirs]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _of_now(_file_includes, path):
            found = next((x for base in (os.path.dirname(path), *where) if os.path.isfile(x := f"{base}/{name}")), None)
            if found:
                waiting.append(os.path.normpath(found) if ".." in name else found)
    return {Path(x) for x in seen}


def sources_digest(source: Path, include_dirs: list[Path]) -> str:
    """Digest of a C++ file and of all it includes (`sources`)."""
    return digest(sorted(map(file_digest, sources(source, include_dirs))))


@contextlib.contextmanager
def lock(name: str, waiting=None, wait: bool = True):
    """Holds the lock of that name, across processes; calls `waiting` when someone else has it. Gives whether it is held:
    it always is where one is to `wait`."""
    path = _writable(cache_dir() / "locks") / name
    try:
        handle = open(path, "w")  # noqa: SIM115 - closed below
    except OSError as error:
        raise _refused(path, error) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                yield False
                return
            if waiting:
                waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield True


def scratch() -> Path:
    """A new scratch directory inside the cache, to be renamed into place; elsewhere for one who may only read the cache:
    what is built there already runs."""
    base = cache_dir() / "tmp"
    if base.is_dir() and not os.access(base, os.W_OK):
        return Path(tempfile.mkdtemp(prefix="emery-"))
    _writable(base)
    for old in base.iterdir():
        owner = old.name.split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(old, ignore_errors=True)
    made = base / f"{os.getpid()}-{uuid.uuid4().hex}"
    made.mkdir()  # not mkdtemp: what is made here is for all who may read the cache
    return made


def entry(kind: str, key: str, make, waiting=None) -> Path:
    """The directory of that kind and key; `make(dir)` fills it when it is not there yet."""
    path = cache_dir() / kind / key
    if path.exists():
        return path
    with lock(f"{kind}-{key}", waiting):
        if path.exists():
            return path
        work = scratch()
        try:
            with written(path):
                make(work)
            _writable(path.parent)
            os.rename(work, path)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return path


def _refused(path: Path, error: OSError) -> UserError:
    return UserError(f"cannot write the cache {path}: {error.strerror} (set EMERY_CACHE)")


def _writable(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(path, error) from error
    return path

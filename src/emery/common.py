# SPDX-License-Identifier: Apache-2.0
"""What every module here shares: the checkout, user errors."""

import difflib
import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path

_INSTALLED = Path(__file__).resolve().parent / "checkout"  # what a wheel carries (setup.py)
ROOT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parents[2]


class UserError(Exception):
    """Bad input or usage: one line that says what and where; exit status 2."""


@contextmanager
def written(path):
    """A file is being written: what fails is told with its name, which an error of `write` does not know (a full disk)."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        known = error.errno is not None  # Arrow's errors have words alone
        raise OSError(
            error.errno if known else errno.EIO, os.strerror(error.errno) if known else str(error), error.filename or str(path)
        ) from error


@contextmanager
def whole(path):
    """As `written`, of a file that is made at once: what was begun of it is removed where that fails, and nothing else."""
    try:
        with written(path):
            yield
    except BaseException:
        if os.path.isfile(path) and os.access(path, os.W_OK):
            with suppress(OSError):
                os.remove(path)
        raise


def in_checkout(path: Path) -> str:
    """A path as it is shown, and given to tools that run in the checkout: relative to that where it lies inside."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def cache_dir() -> Path:
    """Where built models are kept: in the checkout; where that is someone else's, or installed, in the user's own cache."""
    if given := os.environ.get("EMERY_CACHE"):
        return Path(given).resolve()
    ours = ROOT / ".cache" / "emery"
    there = next(x for x in (ours, *ours.parents) if x.exists())
    here = ROOT != _INSTALLED and os.access(there, os.W_OK)
    return ours if here else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "emery"


def jobs() -> int:
    """Processes to run side by side."""
    given = os.environ.get("EMERY_JOBS") or str(os.cpu_count() or 1)
    if not (given.isascii() and given.isdigit()):
        raise UserError(f"EMERY_JOBS={given}: not a number")
    return max(1, int(given))


def memory() -> float:
    """Of this machine, GiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def nearest(name: str, known, shown=None) -> str:
    """A hint for a misspelt name: ` (did you mean ...?)`, or the known names (those of `shown`) when none is near."""
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    if near:
        return f" (did you mean {' or '.join(near)}?)"
    return f" (known: {', '.join(sorted(known if shown is None else shown))})"

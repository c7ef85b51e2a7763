# SPDX-License-Identifier: Apache-2.0
"""Routes of a run: a file of the user's, as it is or compressed, or a table made from a seed."""

import gzip
import os
import random
import re
import shutil
import zlib
from pathlib import Path

from emery.common import UserError, written
from emery.make import cache

MOST_PREFIXES = 1_000_000
MOST_PORTS = 16
_MADE = re.compile(r"bgp:([0-9]{1,9}):([0-9]{1,9})")

# Of a table of the Internet: prefixes of each length, in 100,000; some longer than 24 bits besides.
_LENGTHS = {8: 2, 10: 4, 11: 10, 12: 30, 13: 60, 14: 120, 15: 200, 16: 1380, 17: 830, 18: 1400, 19: 2600, 20: 4500, 21: 5200}
_LENGTHS |= {22: 11500, 23: 10000, 24: 61964, 28: 100, 32: 100}


def full_table(prefixes: int, ports: int, rng: random.Random, lengths: dict[int, int] = _LENGTHS) -> str:
    """The text of a routes file of so many prefixes (fewer where lengths leave no more), most of them beside the one before as
    allocations are; `lengths`: how often there is each."""
    chosen = rng.choices(list(lengths), list(lengths.values()), k=4 * prefixes)
    table, at = {}, 1 << 24
    for length in chosen:
        at += 1 << (32 - length)
        if rng.random() < 0.3 or at >> 24 >= 224:
            at = rng.randrange(1 << 24, 224 << 24)
        prefix = at >> (32 - length) << (32 - length)
        if prefix >> 24 not in (0, 127):
            table.setdefault((prefix, length), rng.randrange(ports))
        if len(table) == prefixes:
            break
    dotted = "{0[0]}.{0[1]}.{0[2]}.{0[3]}/{1} {2}\n"
    return "".join(dotted.format(prefix.to_bytes(4), length, port) for (prefix, length), port in table.items())


def readable(text: str, option: str) -> str:
    """The whole path of a file that an option names."""
    if not (os.path.isfile(text) and os.access(text, os.R_OK)):
        raise UserError(f"--{option} {text}: no file that can be read")
    return os.path.abspath(text)


def check(text: str) -> str:
    """What `--routes` says, if it can be: a file's whole path, or the words of a table that is made."""
    if not text.startswith("bgp:") or os.path.exists(text):
        return readable(text, "routes")
    made = _MADE.fullmatch(text)
    if not made or not (1 <= int(made[1]) <= MOST_PREFIXES and 1 <= int(made[2]) <= MOST_PORTS):
        raise UserError(f"--routes {text}: write bgp:PREFIXES:PORTS, up to {MOST_PREFIXES} of {MOST_PORTS}")
    return text


def file_of(text: str, seed: int) -> str:
    """A file that can be read as it is, of what `check` gave."""
    if made := _MADE.fullmatch(text):

        def make(out: Path):
            path = out / "routes.txt"
            with written(str(path)):
                path.write_text(full_table(int(made[1]), int(made[2]), random.Random(seed)))

        return str(cache.entry("routes", cache.digest(1, text, seed, sorted(_LENGTHS.items())), make) / "routes.txt")
    if not text.endswith(".gz") and not _packed(text):
        return text

    def unpack(out: Path):
        with gzip.open(text) as packed, open(out / Path(text).stem, "wb") as plain:
            try:
                shutil.copyfileobj(packed, plain)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise UserError(f"{text}: cannot be unpacked: {error}") from error

    try:
        return str(cache.entry("unpacked", cache.digest(cache.file_digest(Path(text))), unpack) / Path(text).stem)
    except OSError as error:
        raise UserError(f"{text}: cannot be unpacked: {error}") from error


def _packed(path: str) -> bool:
    """Whether a file begins as gzip's do, whatever its name."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error

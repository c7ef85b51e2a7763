# SPDX-License-Identifier: Apache-2.0
"""The records of a trace, read from lines of JSON or from Parquet, one at a time (docs/trace.md)."""

from __future__ import annotations

import base64
import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from emery.common import UserError

FORMATS = (".jsonl", ".parquet")
_FIELDS = {"frame": int, "stream": str, "bytes": int, "flow": int, "queue": int | None, "outcome": str, "reason": str | None}
_ROWS = 1 << 16  # of it that are in memory at a time


def check_name(option: str, path: str):
    """Refuses a file whose name does not say what it is to be."""
    if not path.endswith(FORMATS):
        raise UserError(f"{option} {path}: name it {' or '.join('*' + x for x in FORMATS)}")


@dataclass(frozen=True)
class Frame:
    """A record: where an offered frame was, and what became of it. Times in nanoseconds."""

    frame: int
    stream: str
    bytes: int
    flow: int
    queue: int | None
    outcome: str
    reason: str | None
    at: dict[str, float]  # by stage, in the order of time
    sure: bool = True  # that it was this frame that was dropped for that reason
    data: bytes | None = field(default=None, repr=False)  # its first bytes, where they were wanted

    @property
    def first(self) -> float:
        """When it was offered."""
        return next(iter(self.at.values()))

    @property
    def last(self) -> float:
        """When it was seen last: delivered, if it was."""
        return next(reversed(self.at.values()))

    @property
    def took(self) -> float:
        """From the first stage to the last one."""
        return self.last - self.first

    @property
    def spent(self) -> dict[str, float]:
        """Time from each stage to the next one; the last stage has none."""
        return {stage: then - time for (stage, time), (_, then) in pairwise(self.at.items())}

    @property
    def place(self) -> str:
        """The last stage that it was seen at."""
        return next(reversed(self.at))


@dataclass(frozen=True)
class Stage:
    """What the delivered frames of a stream spent at a stage: all of it as a part of all of their time, and by percentile."""

    stream: str
    stage: str
    frames: int
    p50: float
    p99: float
    max: float
    share: float


@dataclass(frozen=True)
class Drop:
    """Frames of a stream that were dropped for one reason behind one stage; `sure`: of how many of them that is known."""

    stream: str
    reason: str | None
    place: str
    frames: int
    sure: int


def _frame(record) -> Frame:
    """A record of a file; ValueError when it is none."""
    if not isinstance(record, dict):
        raise ValueError("no record")
    for name, kind in _FIELDS.items():
        value = record.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and not 0 <= value < 1 << 32):
            raise ValueError(f"no record with a {name}")
    at = record.get("at")
    if not at or not isinstance(at, dict) or not all(isinstance(x, int | float) and 0 <= x < 1e15 for x in at.values()):
        raise ValueError("no record with times")
    kept = record.get("data")
    if isinstance(kept, str):
        kept = base64.b64decode(kept, validate=True)
    elif not isinstance(kept, bytes | None):
        raise ValueError("no record with data")
    return Frame(**{name: record.get(name) for name in _FIELDS}, at=at, sure=record.get("sure", True) is True, data=kept)


def _jsonl(path: str) -> Iterator[Frame]:
    with open(path, encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            try:
                yield _frame(json.loads(line))
            except ValueError as error:
                what = "not JSON" if isinstance(error, json.JSONDecodeError) else error
                raise UserError(f"{path}:{number}: not a trace: {what}") from error


def _is_one(path: str, metadata) -> bool:
    """Whether a Parquet file is not several, one behind the other: the last one's footer would be read beside the first one's
    columns. Between columns and footer there may be indexes, but no end of a file with the beginning of the next."""
    columns = [
        group.column(n)
        for i in range(metadata.num_row_groups)
        for group in [metadata.row_group(i)]
        for n in range(group.num_columns)
    ]
    end = max(
        (min(x.dictionary_page_offset or x.data_page_offset, x.data_page_offset) + x.total_compressed_size for x in columns),
        default=4,
    )
    with open(path, "rb") as handle:
        footer = handle.seek(-8, os.SEEK_END) - int.from_bytes(handle.read(4), "little")
        if end == footer:
            return True
        with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as all_of_it:
            return all_of_it.find(b"PAR1PAR1") < 0


def _parquet(path: str) -> Iterator[Frame]:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        if not _is_one(path, file.metadata):
            raise ValueError("several files, one behind the other")
        for batch in file.iter_batches(_ROWS):
            for record in batch.to_pylist():
                there = [x for x in (record.get("at") or {}).items() if x[1] is not None]
                sure = record.get("sure") is not False
                yield _frame({**record, "at": dict(sorted(there, key=lambda x: x[1])), "sure": sure})
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's errors have words alone
            raise
        raise UserError(f"{path}: not a trace: {str(error).splitlines()[0]}") from error


def records(path: str) -> Iterator[Frame]:
    """Those of a file, in the order in which the frames were offered."""
    last = -1
    for frame in (_parquet if path.endswith(".parquet") else _jsonl)(path):
        if frame.frame <= last:
            raise UserError(f"{path}: not one trace: frame {frame.frame} comes behind frame {last}")
        last = frame.frame
        yield frame

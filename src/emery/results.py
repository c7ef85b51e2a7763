# SPDX-License-Identifier: Apache-2.0
"""Finished runs in a file of JSON lines, by identity: what is in it is not run again, and nothing old passes for new."""

import functools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emery import extension, runs
from emery.common import UserError, written
from emery.executors import LOCAL
from emery.make import cache
from emery.runs import IntegrityError
from emery.workload import Workload


def kept_in(out: str | None, kind: str, system, *asked) -> str:
    """The file that the results of a command go to: the one that was named, or one in out/ named by what was asked for."""
    if not out:
        out = f"out/{kind}-{system.name}-{cache.digest(*asked)[:8]}.jsonl"
        runs.make_directory("--out", "out")
    runs.check_file("--out", out)
    return out


class Results:
    """Results of plans, from the file or run and added to it. Several processes may share a file: each run is done once."""

    def __init__(self, path: str, executor=LOCAL):
        self.path = Path(path)
        self.executor = executor
        self.known: dict[str, dict] = {}
        self._guard = threading.Lock()
        self._built: dict = {}  # of the bench's sources as they are now: to find that out takes longer than a small run
        self._read = 0
        if self.path.exists() and not self.path.is_file():
            raise UserError(f"{path}: not a file")
        self.refresh()

    def refresh(self):
        """Takes in what others have added. A line that was cut off in mid-write counts for nothing."""
        with self._guard:
            if not self.path.exists():
                return
            with open(self.path, "rb") as handle:
                handle.seek(self._read)
                for line in handle:
                    if not line.endswith(b"\n"):
                        break
                    self._read += len(line)
                    try:
                        result = json.loads(line)
                        self.known[result["key"]] = result
                    except (ValueError, KeyError, TypeError):
                        continue

    def _add(self, line: dict):
        with cache.lock("results"), written(self.path), open(self.path, "ab+") as handle:
            if handle.tell():
                handle.seek(-1, 2)
                cut = handle.read(1) != b"\n"
            else:
                cut = False
            handle.write(b"\n" * cut + json.dumps(line).encode() + b"\n")
        self.refresh()

    def get(self, system, values: dict, work: Workload, point=None) -> dict:
        """The result of a run, or `{"failure": why}` when it failed (which is not kept: it is tried again next time)."""
        with extension.told(system), self.executor.building():
            plan = runs.plan(system, values, work, known=self._built)
        with extension.told(system), cache.lock(f"result-{plan.key[:32]}"):
            self.refresh()
            if plan.key not in self.known:
                try:
                    self._add({"key": plan.key, "point": point, "result": plan.run(elsewhere=self.executor.elsewhere)})
                except IntegrityError as error:
                    return {"failure": str(error)}
        return self.known[plan.key]["result"]


def told(work) -> dict:
    """`work()`; a UserError becomes the failure that it is."""
    try:
        return work()
    except UserError as error:
        return {"failure": str(error)}


def all_of(work: list, one, executor=LOCAL) -> list:
    """`one(x)` for each piece of work, side by side, in its order; a UserError becomes a failure of its piece."""
    with ThreadPoolExecutor(executor.side_by_side) as pool:
        futures = [pool.submit(told, functools.partial(one, piece)) for piece in work]
        try:
            return [x.result() for x in futures]
        except BaseException:
            executor.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise

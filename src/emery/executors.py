# SPDX-License-Identifier: Apache-2.0
"""Where the runs of a sweep are done: by processes of this machine, or on a Dask cluster that is there already."""

import re
from contextlib import contextmanager

from emery.common import UserError, jobs


class Local:
    """Processes of this machine, `EMERY_JOBS` side by side."""

    elsewhere = None  # runs are done here (runs.Plan.run)

    @property
    def side_by_side(self) -> int:
        """How many runs are under way at once."""
        return jobs()

    @contextmanager
    def building(self):
        """Held while a simulator is built."""
        yield

    def stop(self):
        """Runs that are under way end."""

    def close(self):
        """Nothing more comes."""


LOCAL = Local()


def address(text: str) -> tuple[str, int]:
    """Host and port of `dask://HOST:PORT`."""
    match = re.fullmatch(r"dask://(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})", text)
    if not match or not 0 < int(match[2]) < 1 << 16:
        raise UserError(f"--executor {text}: write it as dask://HOST:PORT")
    return match[1].strip("[]"), int(match[2])


@contextmanager
def executor(text: str | None):
    """What `--executor` says; none: this machine."""
    if not text:
        yield LOCAL
        return
    address(text)  # refused before anything else
    from emery import cluster

    found = cluster.Cluster(text)
    try:
        yield found
    finally:
        found.close()

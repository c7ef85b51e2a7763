# SPDX-License-Identifier: Apache-2.0
"""Which part of a run is written as waves: all of it, a window of time, or the time that one frame was inside.

When a frame was inside says a trace of the same run, made first and without waves: runs are the same each time.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace

from emery import traces
from emery.common import UserError
from emery.make import cache
from emery.workload import parse_duration

_AROUND_PS = 100_000  # shown before and after a frame


@dataclass(frozen=True)
class Waves:
    """A file of waves, and what is in it."""

    path: str = ""  # empty: none
    from_ps: int | None = None
    to_ps: int | None = None
    frame: int | None = None

    def settings(self) -> dict:
        """For the simulator."""
        if not self.path:
            return {}
        window = {"waves_from_ps": self.from_ps, "waves_to_ps": self.to_ps}
        return {"waves": self.path, **{name: x for name, x in window.items() if x is not None}}


def wanted(path: str | None, start: str | None, end: str | None, frame: int | None) -> Waves:
    """What was asked for."""
    given = [("--waves-from", start), ("--waves-to", end), ("--waves-frame", frame)]
    names = [name for name, x in given if x is not None]
    if names and not path:
        raise UserError(f"{names[0]}: it says which part of --waves FILE is wanted")
    if frame is not None and len(names) > 1:
        raise UserError(f"--waves-frame: the window is that of the frame, without {names[0]}")
    first, last = (x if x is None else parse_duration(x, name) for name, x in given[:2])
    if last is not None and last <= (first or 0):
        raise UserError(f"--waves-to {end}: nothing is between {start} and that")
    return Waves(os.path.abspath(path) if path else "", first, last, frame)


def placed(waves: Waves, run: Callable[[str], object], note: Callable[[str], None]) -> Waves:
    """With the window of the frame that was asked for: `run` makes a trace."""
    if waves.frame is None:
        return waves
    work = cache.scratch()
    try:
        run(str(work / "trace.jsonl"))
        frame = traces.Trace(work / "trace.jsonl").frame(waves.frame)
    except UserError as error:
        raise UserError(str(error).replace(str(work / "trace.jsonl"), "--waves-frame")) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    times = [round(x * 1000) for x in frame.at.values()]
    way = ", ".join(f"{stage} {time:,.1f}" for stage, time in frame.at.items())
    note(f"frame {frame.frame} of {frame.stream}, {frame.outcome}, in {os.path.basename(waves.path)}, ns: {way}")
    return replace(waves, from_ps=max(times[0] - _AROUND_PS, 0), to_ps=times[-1] + _AROUND_PS)


def told(waves: Waves, simulated_s: float, note: Callable[[str], None]):
    """Says so when nothing was written."""
    end_ps = round(simulated_s * 1e12)
    if waves.path and (waves.from_ps or 0) > end_ps:
        note(f"--waves-from: the run ended at {end_ps / 1e6:,.3f} us, so {os.path.basename(waves.path)} shows nothing")

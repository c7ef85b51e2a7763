# SPDX-License-Identifier: Apache-2.0
"""Programmable network interfaces in RTL, on a cycle-accurate bench.

    import emery
    result = emery.run(SYSTEM, size=64, seed=7, mps=128)
    result.totals.mpps, result.streams["rx"].latency_ns.p99, result.frame()

See docs/python.md. What is public is imported when it is first used: the launcher needs no more than `emery.cli`.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from emery.api import (
        Latency,
        Result,
        Search,
        Searches,
        Stream,
        Sweep,
        parameters,
        run,
        search,
        search_sizes,
        sweep,
        systems,
        trace,
    )
    from emery.common import UserError
    from emery.runs import IntegrityError
    from emery.trace_records import Drop, Frame, Stage
    from emery.traces import Trace

_PUBLIC = {
    **dict.fromkeys(
        (
            *("Latency", "Result", "Search", "Searches", "Stream", "Sweep", "parameters", "run", "search", "search_sizes"),
            *("sweep", "systems", "trace"),
        ),
        "emery.api",
    ),
    **dict.fromkeys(("Drop", "Frame", "Stage"), "emery.trace_records"),
    "Trace": "emery.traces",
    "UserError": "emery.common",
    "IntegrityError": "emery.runs",
}

__all__ = [
    "Drop",
    "Frame",
    "IntegrityError",
    "Latency",
    "Result",
    "Search",
    "Searches",
    "Stage",
    "Stream",
    "Sweep",
    "Trace",
    "UserError",
    "__version__",
    "parameters",
    "run",
    "search",
    "search_sizes",
    "sweep",
    "systems",
    "trace",
]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module emery has no {name}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__

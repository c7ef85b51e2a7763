# SPDX-License-Identifier: Apache-2.0
"""The command that looks into traces."""

import argparse
import re
from pathlib import Path

from emery import trace_tables
from emery.commands import options
from emery.commands.options import number, word
from emery.common import UserError
from emery.runs import check_file
from emery.trace_tables import BY
from emery.workload import parse_duration

_OUTPUTS = ("perfetto", "html", "pcapng", "table", "plot", "json")


def _window(text: str) -> float:
    """The type of `--series`: nanoseconds."""
    try:
        return parse_duration(text, "--series") / 1000
    except UserError as error:
        raise argparse.ArgumentTypeError(re.sub("^--series ", "", str(error))) from error


def _check(arguments):
    from emery import data

    for name in _OUTPUTS:
        path = getattr(arguments, name)
        if path and not (name == "json" and path == "-"):
            check_file(f"--{name}", path)
    for option, path, endings in (("--table", arguments.table, data.FORMATS), ("--plot", arguments.plot, data.PICTURES)):
        if path:
            data.check_table(option, path, endings)
    if arguments.series and arguments.histogram:
        raise UserError("trace: --series or --histogram, one at a time")
    asked = arguments.by or arguments.series or arguments.histogram
    if not asked and (arguments.table or arguments.plot or arguments.json):
        raise UserError("trace: --table, --plot and --json are of --by, --series or --histogram")


def _groups(arguments, trace) -> tuple[dict, str]:
    """Rows of queues, flows or streams: in all, over time, or as histograms; as text, and in the files that were asked for."""
    by, frames = arguments.by or "stream", trace
    whole = rows = trace_tables.groups(trace, by)
    if arguments.worst:
        rows = trace_tables.worst(whole, arguments.worst)
        frames = trace_tables.only(trace, rows, by)
    kind, alike = "groups", None
    if arguments.series:
        kind, rows = "series", trace_tables.series(frames, arguments.series, by)
    elif arguments.histogram:
        kind, rows = "histogram", trace_tables.histogram(frames, by)
    elif by != "stream":
        alike = trace_tables.fairness(whole)
    told = trace_tables.text(rows, bars=kind == "histogram")
    if alike:
        told += "\n\n" + trace_tables.fairness_text(alike, by)
    if arguments.table:
        from emery import data

        data.write_rows(arguments.table, list(rows[0]) if rows else [], rows)
    if arguments.plot:
        from emery import trace_plots

        trace_plots.draw(kind, rows, by, arguments.plot, Path(trace.path).name)
    return {"kind": kind, "by": by, "rows": rows, "fairness": alike}, told


def _trace(arguments):
    from emery import trace_words, traces

    _check(arguments)
    trace = traces.Trace(arguments.file)
    told, found = [], {}
    if arguments.frame is not None:
        frame = trace.frame(arguments.frame)
        told.append(trace_words.in_words(frame, trace.stages(frame.stream)))
    if arguments.by or arguments.series or arguments.histogram:
        found, text = _groups(arguments, trace)
        told.append(text)
    elif arguments.worst:
        told.append(trace_words.worst_table(trace.worst(arguments.worst)))
    if arguments.perfetto:
        trace.perfetto(arguments.perfetto)
        told.append(f"{arguments.perfetto}: for ui.perfetto.dev or chrome://tracing")
    if arguments.html:
        some = sorted(trace.worst(arguments.worst), key=lambda x: x.frame) if arguments.worst else None
        trace.html(arguments.html, some)
        told.append(arguments.html)
    if arguments.pcapng:
        trace.pcapng(arguments.pcapng)
        told.append(f"{arguments.pcapng}: for Wireshark")
    told += [x for x in (arguments.table, arguments.plot) if x]
    options.put(arguments.json, found, "\n\n".join(told) or str(trace))


def add(command):
    """Adds this command; `command(name, function, packages, text)` gives its parser."""
    trace = command("trace", _trace, "", "where the frames of a traced run were, what kept them, and what was dropped")
    trace.add_argument("file", type=word, metavar="FILE", help="what run --trace has written")
    trace.add_argument("--frame", type=number(0, 2**32), metavar="N", help="the way of one frame")
    trace.add_argument(
        "--worst",
        type=number(1, 10**6),
        metavar="K",
        help="the K frames that took longest; with --by: the groups that lost most",
    )
    trace.add_argument("--by", choices=BY, help=f"rates, loss and latency of each {', '.join(BY)}; how fair they are")
    trace.add_argument(
        "--series", type=_window, metavar="WINDOW", help="over time: rates, drops, p50 and p99 of windows like 5us"
    )
    trace.add_argument("--histogram", action="store_true", help="how many frames took how long")
    trace.add_argument("--table", type=word, metavar="FILE", help="the rows of these as .csv or .parquet")
    trace.add_argument("--plot", type=word, metavar="FILE", help="draw them as .png, .svg or .pdf")
    trace.add_argument("--json", type=word, metavar="FILE", help="and as JSON; `-`: to standard output, in place of the text")
    trace.add_argument("--perfetto", type=word, metavar="OUT.json", help="write it for ui.perfetto.dev and chrome://tracing")
    trace.add_argument("--html", type=word, metavar="OUT.html", help="write a timeline for a browser (with --worst: of those)")
    trace.add_argument(
        "--pcapng",
        type=word,
        metavar="OUT.pcapng",
        help="write the frames for Wireshark, with what became of each (--trace-bytes)",
    )

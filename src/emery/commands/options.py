# SPDX-License-Identifier: Apache-2.0
"""Words that several commands take, and how a command answers."""

import argparse
import json
import re
import sys

from emery import executors, process, shapes, system, terminal
from emery.common import whole
from emery.runs import check_file
from emery.workload import DEFAULTS, OPTIONS


def note(line: str):
    """A line on standard error; one that takes nothing changes no status."""
    try:
        terminal.line(f"emery: {' '.join(line.splitlines())}")
    except OSError:
        process.drop(sys.stderr)


def say():
    """Where progress in words goes: nowhere, in a pipe."""
    return note if sys.stderr.isatty() else lambda line: None


def check_json(file: str | None):
    """Refuses a place for `put` that cannot be written, before there is a result."""
    if file not in (None, "-"):
        check_file("--json", file)


def put(file: str | None, result: dict, text: str):
    """A result: as JSON on standard output (`-`), or as text there and as JSON in a file."""
    data = json.dumps(result, indent=2) + "\n"
    if file == "-":
        sys.stdout.write(data)
        return
    print(text)
    if not file:
        return
    with whole(file), open(file, "w") as handle:
        handle.write(data)


def word(text: str) -> str:
    """The type of options that cannot be empty."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def number(low: int, high: int):
    """The type of options that are whole numbers, as 1000 or 1e3."""

    def parse(text: str) -> int:
        value = int(float(text)) if re.fullmatch("[0-9]{1,3}e[0-9]{1,2}", text) else text
        if not re.fullmatch("[0-9]{1,18}", str(value)) or not low <= int(value) <= high:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {low} to {high}")
        return int(value)

    return parse


def share(text: str) -> float:
    """The type of options that are a part of something."""
    if not re.fullmatch(r"0?\.[0-9]{1,6}", text) or not 0.0001 <= float(text) <= 0.5:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0.0001 to 0.5")
    return float(text)


def system_option(parser):
    parser.add_argument("system", type=system.load, help="a name of `list`, or a folder of your own")


def set_option(parser, text: str = "a parameter (see show)"):
    parser.add_argument("--set", action="append", default=[], type=word, metavar="NAME=VALUE", help=text)


def system_with_option(parser):
    """A system, and folders of the user's own that take the place of parts of it: together `arguments.system` (`_parse`)."""
    parser.add_argument("system", type=word, help="a name of `list`, or a folder of your own")
    with_option(parser, "with_")


def with_option(parser, name: str):
    """Folders of the user's own: `arguments.NAME`."""
    parser.add_argument(
        "--with",
        dest=name,
        action="append",
        default=[],
        type=word,
        metavar="DIR",
        help="a folder of your own in place of a part of the system: `./emery new` makes one (repeatable)",
    )


def traffic_options(parser, leave: tuple[str, ...] = ()):
    """What is sent; without the options in `leave`, which do not apply."""
    group = parser.add_argument_group("traffic")

    def option(name: str, text: str, **more):
        if name in leave:
            return
        default = f" (default {DEFAULTS[name]})" if name in DEFAULTS else ""
        group.add_argument(shapes.flag(name), type=word, help=text.format(default), **more)

    option(
        "traffic",
        "frames (default), or tcp: --flows connections each way between the host and a peer at the wire",
        metavar="KIND",
    )
    option("pcap", "play a capture (pcap, pcapng, .gz); PORT=FILE gives one port its own", action="append", metavar="FILE")
    option(
        "timed", "captures: when their stamps say, or SPEED times as fast; not at a rate", nargs="?", const="1", metavar="SPEED"
    )
    option(
        "source", "play what a function of yours gives: packets of scapy, or bytes", action="append", metavar="FILE.py:FUNCTION"
    )
    option(
        "size",
        "frame bytes with FCS, a range A-B, a mix A:N+B:N, imix, random, rfc2544; tcp: the longest (default 1518)",
    )
    option("frames", "how many frames an input sends; tcp: full segments of data each way, all connections together")
    option("duration", "how long the inputs send, like 200us")
    option("flows", "flows of generated traffic{}; tcp: connections each way (default 8)")
    option("rate", "fraction of line rate, or bits a second like 80G{}; captures: see the system")
    option("arrivals", "when frames start: constant (default), poisson, burst:FRAMES, on-off:FRAMES; the rate is the mean")
    option("flow-weights", "share of each flow: equal (default), zipf:S, or whole numbers like 8,1; the last is the others'")
    option("flow-length", "frames of a flow before another takes its place: N, geometric:N, zipf:S (default: no end)")
    option("ipv6", "part of the frames that are IPv6, 0 ... 1", metavar="PART")
    option("vlan", "part of the frames with a VLAN tag, 0 ... 1", metavar="PART")
    option("closed-loop", "at most FRAMES of an input are inside; the next goes in when one came out", metavar="FRAMES")
    option("direction", "tx, rx or both (NICs)")
    option(
        "routes", "lines `prefix port` (routers), .gz too; bgp:PREFIXES:PORTS makes a table like the Internet's", metavar="FILE"
    )
    option("updates", "changes of routes, lines `announce prefix port` and `withdraw prefix`, at updates_per_s", metavar="FILE")
    option("seed", "everything random follows from it{}")


def waves_option(parser):
    parser.add_argument("--waves", type=word, metavar="FILE.fst", help="write waves (needs a build of its own; short runs)")


def trace_options(parser):
    parser.add_argument("--trace", type=word, metavar="FILE", help="a record for each frame, as .jsonl or .parquet (see trace)")
    parser.add_argument(
        "--trace-bytes",
        type=number(1, 65535),
        nargs="?",
        const=65535,
        default=0,
        metavar="N",
        help="trace: with each frame's first N bytes (default all), for trace --pcapng",
    )


def _executor(text: str) -> str:
    """The type of `--executor`: refused before packages are fetched for it."""
    executors.address(text)
    return text


def executor_option(parser):
    parser.add_argument(
        "--executor", type=_executor, metavar="dask://HOST:PORT", help="have the runs done by a Dask cluster (default: here)"
    )


def traffic(arguments) -> dict:
    return {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name, None) is not None}

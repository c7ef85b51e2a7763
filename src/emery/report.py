# SPDX-License-Identifier: Apache-2.0
"""Results for people: tables, of plain text where they are not for a terminal."""

import os
from dataclasses import asdict

from emery import terminal
from emery.limits import lost, percent


def table(rows: list[list], left: int = 1) -> str:
    """Aligned columns: the first `left` to the left, the others to the right. The first row is the heading."""
    text = [[str(cell) for cell in row] for row in rows]
    if fitting := terminal.table(text, left):
        return fitting
    width = [max(len(row[i]) for row in text) for i in range(len(text[0]))]
    lines = []
    for row in text:
        cells = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width, strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * w for w in width))
    return "\n".join(lines)


_LATENCIES = ("min", "p50", "p99", "p999", "max")


def _latency(stream: dict) -> list[str]:
    latency = stream.get("latency_ns") or {}
    return [number(latency.get(x), ",.0f") for x in _LATENCIES]


def _row(name: str, stream: dict) -> list:
    counts = [f"{stream[x]:,}" for x in ("offered", "delivered")] + [f"{sum(stream['dropped'].values()):,}"]
    rates = [number(stream[x], form) for x, form in (("l1_gbps", ".2f"), ("l2_gbps", ".2f"), ("mpps", ".3f"))]
    return [name, *counts, *rates, *_latency(stream)]


def number(value, form: str) -> str:
    """A number of a result; `-` where there is none."""
    return "-" if value is None else format(value, form)


def reached(limit: dict, totals: dict) -> str:
    """How much of a limit was reached, by what it is set, and what was lost meanwhile."""
    share = "-" if limit["fraction"] is None else f"{100 * limit['fraction']:.1f} %"
    loss = lost(totals)
    return f"{share} of {limit['by']}" + (f", {percent(loss)} lost" if loss else "")


def _limit(name: str, limit: dict, totals: dict) -> str:
    return f"{name:10} {limit['l1_gbps']:.2f} Gb/s L1, {limit['mpps']:.3f} Mpps at this mix; reached {reached(limit, totals)}"


def _made_up(workload: dict) -> list[str]:
    """What the captures that were played did not have."""
    said = {
        "cut": "cut short when captured: zeros in place of the rest",
        "raw_ip": "without an Ethernet header: one before them",
        "short": "shorter than an Ethernet header: zeros in place of the rest",
    }
    names = workload.get("pcap", {}) | workload.get("source", {})
    return [
        f"{os.path.basename(names[port])}: {x[name]:,} of {x['packets']:,} packets {words}"
        for port, x in workload.get("captures", {}).items()
        for name, words in said.items()
        if name in x
    ]


def _own(told: dict) -> str:
    return f"with       {told['folder']}: {told['kind']}, in place of {', '.join(told['replaces'])}"


def drops(streams: dict) -> str:
    """The line that says what was dropped, by stream (or whatever else has `dropped`) and reason."""
    found = [f"{name} {why} {count:,}" for name, x in streams.items() for why, count in x["dropped"].items() if count]
    return "dropped    " + (", ".join(found) or "nothing")


def integrity(total: dict) -> str:
    """The line that says what came out that should not have."""
    return "integrity  " + ", ".join(f"{total[x]:,} {x}" for x in ("corrupted", "duplicated", "misdelivered", "reordered"))


def _tcp(way: str, x: dict) -> str:
    """What became of the connections whose data goes that way."""
    rate, fair = number(x["goodput_gbps"], ".2f"), number(x["fairness"], ".3f")
    trip, late = (number(x["rtt_ns"][p] and x["rtt_ns"][p] / 1e3, ",.1f") for p in ("p50", "p99"))
    again = f"{x['retransmitted']:,} of {x['segments']:,} segments sent again, {x['timeouts']:,} timeouts"
    return f"tcp {way:6} {rate} Gb/s of payload, fairness {fair}; {again}; round trip {trip} us (p99 {late})"


def run_table(result: dict, title: str) -> str:
    """The compact table of one run."""
    cycles = result["cycles"].get("core", 0)
    micro = result["simulated_s"] * 1e6
    lines = [f"{result['system']}: {title}, seed {result['seed']}: {micro:,.1f} us simulated", ""]
    heading = ["stream", "offered", "delivered", "dropped", "Gb/s L1", "Gb/s L2", "Mpps"]
    rows = [[*heading, "ns min", *_LATENCIES[1:]]]
    rows += [_row(name, stream) for name, stream in result["streams"].items()]
    if len(result["streams"]) > 1:
        rows.append(_row("total", result["totals"]))
    lines += [table(rows), ""]
    lines += [drops(result["streams"]), integrity(result["totals"])]
    tcp = result.get("resources", {}).get("tcp", {})
    lines += [_tcp(way, tcp[way]) for way in ("tx", "rx") if way in tcp]
    errors = result.get("resources", {}).get("device_errors")
    if errors:
        words = [f"interface {x['interface']} {x['kind']} {x['queue']}: {x['code']}" for x in errors[:4]]
        lines.append("errors     " + ", ".join(words) + (f" (and {len(errors) - 4:,} more)" if len(errors) > 4 else ""))
    if changed := result.get("identity", {}).get("debugger"):
        lines.append(f"debugger   {changed['memory_writes']} writes to memory by gdb: not the run that the command gives")
    lines += [_own(x) for x in result.get("identity", {}).get("with", ())]
    lines += [f"capture    {x}" for x in _made_up(result["workload"])]
    lines += [f"note       {x}" for x in result.get("resources", {}).get("notes", ())]
    lines += [f"never      {x}: the traffic was over before" for x in result.get("never", ())]
    window = result["window"]
    micro = [f"{window[x] / 1e3:,.1f}" for x in ("from_ns", "to_ns")]
    lines.append(
        f"window     {micro[0]} ... {micro[1]} us"
        if window["steady"]
        else "window     none: at no time was the run steady; no rates"
    )
    if "limit" in result:
        limit = result["limit"]
        lines += [_limit(name, x, result["totals"]) for name, x in (("limit", limit), ("protocol", limit["protocol"]))]
    if result.get("wall_s"):
        speed = cycles / result["wall_s"] / 1e3
        lines.append(f"speed      {cycles:,} core clocks in {result['wall_s']:.2f} s: {speed:,.0f} kilocycles/s")
    lines.append(f"digest     {result['digest']}")
    return "\n".join(lines)


def _goal(target) -> str:
    if target.compare and target.goal is not None:
        return f"{target.compare} {target.goal:g} {target.unit}"
    return f"{target.compare} {100 * target.goal_fraction:g} % of the limit" if target.compare else "reported"


def _parameters(system) -> str:
    rows = [["parameter", "meaning", "default", "unit", "allowed"]]
    for x in system.parameters.values():
        default = str(x.default).lower() if isinstance(x.default, bool) else x.default
        rows.append([x.name, x.help, default, x.unit, x.allowed])
    return table(rows, left=5)


def _targets(system) -> str:
    rows = [["target", "what", "paper", "goal"]]
    return table(rows + [[x.id, x.what, f"{x.paper}", _goal(x)] for x in system.targets], left=3)


_PAGES = {
    "parameters": _parameters,
    "ports": lambda system: table([["port", "what"], *map(list, system.ports.items())], left=2),
    "targets": _targets,
}
PAGES = tuple(_PAGES)


def show(system, pages=PAGES) -> str:
    """What a system is, or some pages of that."""
    parts = []
    if tuple(pages) == PAGES:
        parts += [f"{system.name}: {system.title}", system.description, *([f"paper: {system.paper}"] if system.paper else [])]
    return "\n\n".join([*parts, *(_PAGES[x](system) for x in pages)])


def show_json(system, pages=PAGES) -> dict:
    """The same for programs."""
    found = {name: getattr(system, name) for name in ("name", "title", "description", "paper")}
    parameters = [asdict(x) for x in system.parameters.values()]
    kept = ("name", "default", "help", "unit", "minimum", "maximum", "choices", "power_of_two")
    told = {"parameters": [{y: x[y] for y in kept} for x in parameters], "ports": system.ports}
    told["targets"] = [asdict(x) | {"title": system.figures.get(x.figure, {}).get("title", x.figure)} for x in system.targets]
    return found | {x: told[x] for x in pages}

# SPDX-License-Identifier: Apache-2.0
"""A trace for people: tables, and one frame in words."""

from __future__ import annotations

from collections import Counter

from emery.report import table
from emery.trace_records import Drop, Frame, Stage


def overview(frames: Counter, out: Counter) -> str:
    """What came out of each stream."""
    rows = [["stream", "frames", "delivered", "not delivered"]]
    rows += [[x, f"{n:,}", f"{out[x]:,}", f"{n - out[x]:,}"] for x, n in sorted(frames.items())]
    return table(rows)


def stages_table(stages: list[Stage]) -> str:
    """Where time goes."""
    if not stages:
        return "no frame was delivered"
    rows = [["stream", "stage", "frames", "ns p50", "p99", "max", "share"]]
    rows += [
        [x.stream, x.stage, f"{x.frames:,}", *(f"{y:,.0f}" for y in (x.p50, x.p99, x.max)), f"{100 * x.share:.1f} %"]
        for x in stages
    ]
    return table(rows, left=2)


def drops_table(drops: list[Drop]) -> str:
    """What was dropped, and where."""
    if not drops:
        return "dropped: nothing"
    rows = [["stream", "dropped for", "last seen at", "frames", "sure"]]
    rows += [[x.stream, x.reason, x.place, f"{x.frames:,}", f"{x.sure:,}"] for x in drops]
    return table(rows, left=3)


def worst_table(frames: list[Frame]) -> str:
    """The slowest frames, and at which stage each was longest."""
    if not frames:
        return "no frame was delivered"
    rows = [["frame", "stream", "longest at", "ns there", "ns in all", "bytes", "flow", "queue"]]
    for x in frames:
        stage, time = max(x.spent.items(), key=lambda y: y[1], default=("", 0.0))
        queue = "-" if x.queue is None else x.queue
        rows.append([x.frame, x.stream, stage, f"{time:,.1f}", f"{x.took:,.1f}", f"{x.bytes:,}", x.flow, queue])
    return table(rows, left=3)


def in_words(frame: Frame, others: list[Stage]) -> str:
    """One frame: what it was, its way, and where it was slower than the median of its stream (`others`)."""
    queue = "" if frame.queue is None else f", queue {frame.queue}"
    lines = [f"frame {frame.frame}: {frame.bytes:,} bytes of stream {frame.stream}, flow {frame.flow}{queue}"]
    first = next(iter(frame.at.values()))
    if frame.outcome == "delivered":
        lines.append(f"offered at {first:,.1f} ns, delivered {frame.took:,.1f} ns later")
    else:
        why = f" for {frame.reason}" if frame.reason else ""
        sure = "" if frame.sure else ", or another frame in its place: counters say how many, not which"
        lines.append(
            f"offered at {first:,.1f} ns, {frame.outcome}{why}, last seen {frame.took:,.1f} ns later at {frame.place}{sure}"
        )
    usual = {x.stage: x.p50 for x in others if x.stream == frame.stream}
    rows = [["stage", "at ns", "+ ns", "spent", "median"]]
    for stage, time in frame.at.items():
        spent = frame.spent.get(stage)
        median = f"{usual[stage]:,.1f}" if spent is not None and stage in usual else "-"
        rows.append([stage, f"{time:,.1f}", f"{time - first:,.1f}", "-" if spent is None else f"{spent:,.1f}", median])
    lines += ["", table(rows)]
    late = {stage: time - usual[stage] for stage, time in frame.spent.items() if stage in usual}
    if late and frame.outcome == "delivered":
        most = max(late, key=lambda x: late[x])
        over = frame.took - usual["all"]
        told = f"{abs(over):,.1f} ns {'longer' if over >= 0 else 'shorter'} than the median of its stream"
        more = f", most of it at {most}: {late[most]:,.1f} ns" if over > 0 and late[most] > 0 else ""
        lines += ["", told + more]
    return "\n".join(lines)

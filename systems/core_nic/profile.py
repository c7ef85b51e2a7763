# SPDX-License-Identifier: Apache-2.0
"""What a frame costs, by the rows of the firmware's `rows.toml`: functions put together as the paper's tables have them."""

import tomllib
from pathlib import Path

_COUNTS = ("instructions", "accesses", "clocks")


def rows(folder: Path, result: dict) -> dict:
    """{row: {instructions, accesses, clocks}} a frame of the row's direction; Idle, and Elsewhere, a frame of either."""
    resources = result["resources"]
    functions = {x["name"]: x for x in resources.get("functions", [])}
    frames = {"send": resources["measured"]["sent"], "receive": resources["measured"]["received"]}
    table, seen = {}, set()
    for name, members in tomllib.loads((folder / "rows.toml").read_text()).items():
        direction = next((x for x in frames if x in name.lower().split()), None)
        count = frames[direction] if direction else sum(frames.values())
        found = [functions[x] for x in members if x in functions]
        seen.update(members)
        table[_slug(name)] = {kind: sum(x[kind] for x in found) / max(count, 1) for kind in _COUNTS}
    rest = [x for name, x in functions.items() if name not in seen]
    table["elsewhere"] = {kind: sum(x[kind] for x in rest) / max(sum(frames.values()), 1) for kind in _COUNTS}
    for direction in frames:
        parts = [x for name, x in table.items() if direction in name.split("_")]
        table[f"{direction}_total"] = {kind: sum(x[kind] for x in parts) for kind in _COUNTS}
    return table


def _slug(name: str) -> str:
    return name.lower().replace(" ", "_")

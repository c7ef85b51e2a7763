# SPDX-License-Identifier: Apache-2.0
"""The firmware: which program the cores run, and what a frame costs by the rows of its `rows.toml`, that is, with its
functions put together as the paper's tables have them."""

import tomllib
from pathlib import Path

from emery.common import UserError
from emery.make import cache, programs
from emery.physics import mhz_times_3

FOLDER = Path(__file__).resolve().parent / "firmware"
_COUNTS = ("instructions", "accesses", "clocks")


def program(values: dict) -> Path:
    """The program, the user's own or the project's."""
    own = values["firmware_image"]
    return Path(own) if own else programs.build(FOLDER, values["firmware"])


def settings(values: dict) -> dict:
    """The program as the bench reads it (image.hpp), and three times the cores' clock."""
    try:
        text = image(program(values))
    except UserError as error:
        raise UserError(f"firmware_image: {error}") from error
    folder = cache.entry("firmware", cache.digest(text), lambda out: (out / "image").write_text(text))
    return {"firmware_image": str(folder / "image"), "core_mhz_times_3": mhz_times_3(values["core_mhz"])}


def image(elf: Path) -> str:
    """A program as lines: `segment ADDRESS ROOM WORD ...`, `symbol ADDRESS SIZE KIND NAME`, numbers in hexadecimal."""
    lines = [f"segment {x.address:x} {x.room:x} {' '.join(f'{y:x}' for y in x.words)}" for x in programs.segments(elf)]
    if not lines:
        raise UserError(f"{elf}: has nothing to load")
    kinds = {True: "function", False: "other"}
    lines += [f"symbol {x.address:x} {x.size:x} {kinds[x.is_function]} {x.name}" for x in programs.symbols(elf)]
    return "\n".join(lines) + "\n"


def resources(values: dict, result: dict) -> dict:
    """What a result's resources have besides: `rows`, unless nothing was measured or the firmware is the user's own."""
    if values["firmware_image"] or "measured" not in result["resources"]:
        return {}
    return {"rows": rows(result["resources"])}


def rows(resources: dict) -> dict:
    """{row: {instructions, accesses, clocks}} a frame of the row's direction; Idle, and Elsewhere, a frame of either."""
    functions = {x["name"]: x for x in resources.get("functions", [])}
    frames = {"send": resources["measured"]["sent"], "receive": resources["measured"]["received"]}
    table, seen = {}, set()
    for name, members in tomllib.loads((FOLDER / "rows.toml").read_text()).items():
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

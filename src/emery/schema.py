# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of results: result.schema.json, with what a system's `resources` are put in place.

`[resources]` of system.toml describes them: a path to `{ unit, help }`, or to the name of a table of bench/resources.toml,
which has the entries of a part of the bench. Levels of a path are parted by dots, `*` stands for any name or a part of one that
nothing said before fits, `a|b` for either, `[]` after a name for each of a list. What nobody describes is against the schema.
"""

import itertools
import json
import re
import tomllib
from pathlib import Path

from emery.common import ROOT, UserError

_BASE = Path(__file__).parent / "result.schema.json"
_SHARED = ROOT / "bench" / "resources.toml"


def described(system) -> dict[str, dict]:
    """What is said of the entries of a system's `resources`: path (without `|`) to {unit, help}."""
    shared = tomllib.loads(_SHARED.read_text())
    found = {}
    for path, entry in system.resources.items():
        parts = {f"{path}.{name}": x for name, x in shared[entry].items()} if isinstance(entry, str) else {path: entry}
        for whole, x in parts.items():
            found |= {".".join(names): x for names in itertools.product(*(level.split("|") for level in whole.split(".")))}
    return found


def result_schema(system) -> dict:
    """The schema of the results of one system (JSON Schema, draft 2020-12)."""
    schema = json.loads(_BASE.read_text())
    resources = {"description": "use of buses, links, memories and cores; counts of the device and the host"}
    for path, entry in described(system).items():
        ends = {"minimum": 0, "maximum": 1} if entry["unit"] == "share" else {}
        leaf = {"description": entry["help"], "unit": entry["unit"], "$ref": "#/$defs/value", **ends}
        _place(resources, path.split("."), leaf)
    schema["properties"]["resources"] = resources
    schema["title"] = f"result of {system.name}"
    return schema


def _place(node: dict, names: list[str], leaf: dict):
    """Puts a leaf into the schema of an object, at the end of a path."""
    name, *more = names
    node |= {"type": "object", "additionalProperties": False}
    plain = name.removesuffix("[]")
    exact, patterns = node.setdefault("properties", {}), node.setdefault("patternProperties", {})
    if "*" in plain:
        before = "|".join([*map(re.escape, exact), *(x[1:-1] for x in patterns)])
        pattern = re.escape(plain).replace(r"\*", ".*")
        known = next((x for x in patterns if x.endswith(f"){pattern}$")), "")
        inner = patterns.setdefault(known or f"^(?!(?:{before})$){pattern}$", {})
    else:
        if plain not in exact and (before := next((x for x in patterns if re.search(x, plain)), None)):
            raise UserError(f"[resources]: {plain} is said after what fits it as well, {before}")
        inner = exact.setdefault(plain, {})
    if name != plain:
        inner["type"] = "array"
        inner = inner.setdefault("items", {})
    if more:
        _place(inner, more, leaf)
    else:
        inner |= leaf

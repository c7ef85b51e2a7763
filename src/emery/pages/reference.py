# SPDX-License-Identifier: Apache-2.0
"""Pages of reference, made of what the command line, the schema and system.toml say."""

import argparse
import json
import re
from pathlib import Path

from emery import cli, schema
from emery.check.structure import Design
from emery.common import in_checkout
from emery.pages import diagram
from emery.pages.markdown import escaped


def _cell(text) -> str:
    return escaped(" ".join(str(text).split())).replace("|", r"\|")


def _table(heads: list[str], rows: list[list]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def _said(action: argparse.Action) -> str:
    """What stands on the command line for an option or a word."""
    if not action.option_strings:
        name = action.metavar or ("|".join(action.choices) if action.choices else action.dest)
        return f"`[{name}]`" if action.nargs in ("?", "*") else f"`{name}`"
    value = (
        ""
        if action.nargs == 0
        else f" {action.metavar or ('|'.join(action.choices) if action.choices else action.dest.upper())}"
    )
    return ", ".join(f"`{x}{value}`" for x in action.option_strings)


def commands() -> str:
    """Every command with its options."""
    parts = [
        "# Commands",
        "",
        "`./emery COMMAND --help` says the same. Exit status: 0 all well, 1 frames that are not accounted for",
    ]
    parts[-1] += " or a question answered with no, 2 bad input or usage, in one line.\n"
    for name, parser in cli.parsers().items():
        rows = [[_said(x), x.help or ""] for x in parser._actions if not isinstance(x, argparse._HelpAction)]
        parts += [f"## {name}", "", f"{_cell(parser.description)}", ""]
        parts += [_table(["", ""], rows)] if rows else []
    return "\n".join(parts)


def environment() -> str:
    """The variables that `--help` names."""
    rows = re.findall(r"^  ([A-Z_]+) +(.+)$", cli.ENVIRONMENT, re.MULTILINE)
    return "# Environment variables\n\n" + _table(["variable", ""], [[f"`{name}`", text] for name, text in rows])


# ---------------------------------------------------------------- results


def _kind(node: dict) -> str:
    if "const" in node:
        return json.dumps(node["const"])
    if "enum" in node:
        return ", ".join(map(str, node["enum"]))
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    kind = node.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else kind


def _fields(node: dict, path: str = "") -> list[list]:
    """The fields of a schema in one level."""
    rows = []
    inner = {f".{name}": x for name, x in node.get("properties", {}).items()}
    if isinstance(node.get("additionalProperties"), dict):
        inner[".NAME"] = node["additionalProperties"]
    if isinstance(node.get("items"), dict):
        inner["[]"] = node["items"]
    for name, x in inner.items():
        whole = f"{path}{name}".removeprefix(".")
        rows.append([f"`{whole}`", _kind(x), x.get("unit", ""), x.get("description", "")])
        rows += _fields(x, whole)
    return rows


def results(systems: list) -> dict[str, str]:
    """The page of the result's schema, and the schema of each system as a file beside it."""
    base = json.loads((Path(schema.__file__).parent / "result.schema.json").read_text())
    heads = ["field", "kind", "unit", ""]
    parts = ["# The schema of results", "", _cell(base["description"]), ""]
    parts += ["What fields mean in words: [results](../docs/results.md). JSON Schema, draft 2020-12, of each system: "]
    parts[-1] += ", ".join(f"[{x.name}](schema/{x.name}.json)" for x in systems) + ".\n"
    parts += [_table(heads, _fields(base))]
    for name, x in base.get("$defs", {}).items():
        told = " or ".join(_kind(y) for y in x.get("anyOf", x.get("oneOf", [x])))
        rows = _fields(x)
        parts += [f"## {name}", "", _cell(x.get("description", told)), "", *([_table(heads, rows)] if rows else [])]
    files = {f"reference/schema/{x.name}.json": json.dumps(schema.result_schema(x), indent=1) + "\n" for x in systems}
    for x in systems:
        rows = [[f"`{path}`", y["unit"], y["help"]] for path, y in schema.described(x).items()]
        parts += [f"## resources of {x.name}", "", _table(["entry", "unit", ""], rows)]
    return {"reference/schema.md": "\n".join(parts), **files}


# ---------------------------------------------------------------- systems


def system(design: Design, target) -> str:
    """What a system's page has besides what is written there: blocks, parameters, what a run of it measures."""
    parts = ["\n## Block diagram\n", "From its RTL; point at a box for what it does.\n"]
    tops = dict.fromkeys(x for x in (target.top, *(y.get("top") for y in target.variants)) if x in design.modules)
    for top in tops:
        drawing = diagram.svg(diagram.read(design, top), top)
        parts.append(f'<div class="wide">{drawing}</div>\n'.replace("\n\n", "\n"))
    rows = [
        [f"`{x.name}`", f"`{str(x.default).lower() if isinstance(x.default, bool) else x.default}`", x.unit, x.allowed, x.help]
        for x in target.parameters.values()
    ]
    parts += ["## Parameters\n", _table(["`--set`", "default", "unit", "range", ""], rows)]
    inside = sorted(x for x in design.reach[target.name] if x in design.blocks)
    links = " ".join(f"[`{x}`](../../blocks/{design.blocks[x].room}/{x}.md)" for x in inside)
    parts += [
        f"## Its blocks\n\n{links}\n",
        f"\nPaper: {_cell(target.paper)}. Declared in `{in_checkout(target.folder)}/system.toml`.\n",
    ]
    return "\n".join(parts)

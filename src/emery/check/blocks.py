# SPDX-License-Identifier: Apache-2.0
"""Which system uses which block: the table on the front page, read from the sources.

`./emery blocks` writes it into README.md between its two markers.
"""

import re

from emery import system
from emery.common import ROOT

_BEGIN, _END = "<!-- blocks -->", "<!-- /blocks -->"


def _modules() -> dict:
    """Every module and interface of rtl/: its folder and its text without comments."""
    found = {}
    for path in sorted((ROOT / "rtl").rglob("*.sv")):
        if path.stem.endswith(("_tb", "_formal", "_pkg")):
            continue
        text = re.sub(r"//.*", "", path.read_text())
        name = re.search(r"^(?:module|interface)\s+(\w+)", text, re.M)
        if name:
            found[name[1]] = (path.parent.name, text)
    return found


def used_by(text: str, modules: dict) -> set:
    """The blocks that some source needs, directly or through others."""
    used, todo = set(), [text]
    while todo:
        words = set(re.findall(r"\w+", todo.pop()))
        fresh = (words & modules.keys()) - used
        used |= fresh
        todo += [modules[x][1] for x in fresh]
    return used


def table() -> str:
    """Markdown: a row a folder of rtl/, a column a system; a block that a system does not use is not named in its column."""
    modules = _modules()
    names = system.names()
    uses = {}
    for name in names:
        text = "\n".join(re.sub(r"//.*", "", x.read_text()) for x in sorted(system.load(name).folder.glob("*.sv")))
        uses[name] = used_by(text, modules)
    lines = ["| blocks | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for folder in sorted({x[0] for x in modules.values()}):
        cells = [" ".join(f"`{x}`" for x in sorted(modules) if modules[x][0] == folder and x in uses[n]) for n in names]
        lines.append(f"| `rtl/{folder}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def unused() -> list:
    """Blocks no system uses."""
    modules = _modules()
    text = "\n".join(x.read_text() for name in system.names() for x in system.load(name).folder.glob("*.sv"))
    return sorted(modules.keys() - used_by(re.sub(r"//.*", "", text), modules))


def readme_with_table() -> str:
    """README.md as it should be."""
    text = (ROOT / "README.md").read_text()
    head, rest = text.split(_BEGIN)
    return f"{head}{_BEGIN}\n{table()}\n{_END}{rest.split(_END)[1]}"


def write():
    """Brings README.md up to date."""
    (ROOT / "README.md").write_text(readme_with_table())

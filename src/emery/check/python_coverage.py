# SPDX-License-Identifier: Apache-2.0
"""`./emery test --coverage --python`: which lines of Emery's functions the tests of Python reach in their own process.

The tests that build whole simulators are not run, nor is seen what a test starts: a floor is what the quick tests look at.
"""

import json
import os
import shutil
from pathlib import Path
from types import CodeType

from emery import report
from emery.check import coverage, testing
from emery.common import ROOT, UserError
from emery.make import cache

TESTS = ("face", "formats", "limits", "pictures", "programs", "structure", "switch_asm")
_OPTIMIZED = 1  # co_flags of a function: what is in a module or a class runs when it is imported


def executable(source: str) -> set[int]:
    """The lines of the functions of a module, without those that begin them."""
    found, todo = set(), [compile(source, "module", "exec")]
    while todo:
        code = todo.pop()
        todo += [x for x in code.co_consts if isinstance(x, CodeType)]
        if code.co_flags & _OPTIMIZED:
            found |= {line for *_, line in code.co_lines() if line} - {code.co_firstlineno}
    return found


def shares(reached: dict[str, set[int]]) -> dict[str, dict[str, float]]:
    """Percent of the lines of each module of src/emery that has functions."""
    found = {}
    for path in sorted((ROOT / "src" / "emery").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if lines := executable(path.read_text()):
            found[name] = {"line": 100 * len(lines & reached.get(name, set())) / len(lines)}
    return found


def main(files: list[str], record: bool = False) -> int:
    """Runs the quick tests (or the files that are named: then nothing is held against floors); prints a line a module."""
    if record and files:
        raise UserError("test --coverage --python --record: floors are of all quick tests, name none")
    folder = cache.scratch()
    os.environ["EMERY_REACHED"] = str(folder)
    try:
        chosen = files or [*(f"tests/test_{x}.py" for x in TESTS), "-k", "not at_random"]
        if status := testing.main(["-p", "emery.check.reach", *chosen]):
            return status
        reached: dict[str, set[int]] = {}
        for path in folder.glob("*.json"):
            for module, lines in json.loads(path.read_text()).items():
                name = Path(module).relative_to(ROOT).as_posix()
                reached.setdefault(name, set()).update(lines)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = shares(reached)
    rows = [("file", "line %"), *((x, f"{y['line']:.1f}") for x, y in found.items() if not files or y["line"])]
    print(report.table(rows))
    if files:
        return 0
    if record:
        coverage.write_floors({x: y for x, y in found.items() if y["line"]})
    return coverage.judge(found)

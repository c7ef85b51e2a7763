# SPDX-License-Identifier: Apache-2.0
"""`./emery test --coverage`: which lines, branches and bits of the RTL the block tests reach, file by file.

Verilator counts, in builds of their own; what all benches reach of a file is put together, whatever the instance. The least a
file is to reach stands in tests/coverage.json; `--record` writes there what was measured, for files whose own benches all ran.
"""

import json
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emery import report
from emery.check import testing
from emery.check.mutate import own_tests
from emery.common import ROOT, UserError, jobs, nearest
from emery.make import build, cache
from emery.terminal import Progress

KINDS = ("line", "branch", "toggle")
FLOORS = ROOT / "tests" / "coverage.json"
_POINT = re.compile(r"^C '(.*)' (\d+)$")
Points = dict[str, dict[str, dict[str, int]]]  # file, kind, place: how often


def points(text: str) -> Points:
    """What Verilator counted. A place is line, column and name: all instances of a module together."""
    found: Points = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for line in text.splitlines():
        if match := _POINT.match(line):
            fields = dict(x.split("\2", 1) for x in match[1].split("\1") if "\2" in x)
            kind = fields["page"].split("/")[0].removeprefix("v_")
            if kind in KINDS:
                place = f"{fields['l']}:{fields.get('n', '')}:{fields.get('o', '')}"
                found[fields["f"]][kind][place] += int(match[2])
    return found


def merged(parts: list[Points]) -> Points:
    """Several counts together."""
    found: Points = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for part in parts:
        for file, kinds in part.items():
            for kind, places in kinds.items():
                for place, count in places.items():
                    found[file][kind][place] += count
    return found


def shares(kinds: dict[str, dict[str, int]]) -> dict[str, float]:
    """The part of each kind that was reached, in percent; nothing where there is nothing to reach."""
    return {kind: 100 * sum(x > 0 for x in kinds[kind].values()) / len(kinds[kind]) for kind in KINDS if kinds.get(kind)}


def of_bench(bench: Path) -> Points:
    """What one block test reaches. Counted once for the same sources."""

    def count(out: Path):
        program = build.build_block_test(bench, coverage=True)
        if problem := testing.block_problem(program, (f"+coverage={out / 'counts'}",)):
            raise UserError(f"coverage: {bench.stem} fails: {problem.splitlines()[-1]}")
        parts = [points(x.read_text()) for x in sorted(out.glob("counts*"))]
        for path in out.iterdir():
            path.unlink()
        (out / "points.json").write_text(json.dumps(merged(parts)))

    key = cache.digest("coverage", 1, build.rtl_digest(build.test_rtl(bench, coverage=True)))
    return json.loads((cache.entry("coverage", key, count) / "points.json").read_text())


def _benches(names: list[str]) -> list[Path]:
    every = own_tests.benches()
    if not names:
        return every
    found = []
    for name in names:
        those = [x for x in every if name in {x.stem, x.stem.removesuffix("_tb"), *own_tests.subjects(x)}]
        if not those:
            raise UserError(
                f"coverage: there is no block test {name}{nearest(name, {x.stem for x in every}, ['rtl/*/*_tb.sv'])}"
            )
        found += those
    return list(dict.fromkeys(found))


def below(reached: dict[str, dict[str, float]], floors: dict[str, dict[str, float]]) -> list[str]:
    """Which files reach less than they are to, a line each."""
    return [
        f"{file}: {kind} {reached[file].get(kind, 0):.1f} %, not {least:g} %"
        for file in reached
        for kind, least in floors.get(file, {}).items()
        if reached[file].get(kind, 0) < least
    ]


def _of_all(benches: list[Path]) -> tuple[dict[Path, Points], list[str]]:
    """What each reaches; of those that fail, a line each."""
    failed = []

    def one(bench: Path):
        try:
            return bench, of_bench(bench)
        except UserError as error:
            failed.append(str(error))
            return bench, None

    progress, parts = Progress("coverage"), {}
    with ThreadPoolExecutor(jobs()) as pool:
        for number, (bench, part) in enumerate(pool.map(one, benches), 1):
            if part is not None:
                parts[bench] = part
            progress.update(number, len(benches))
    progress.done()
    return parts, failed


def main(names: list[str], record: bool = False) -> int:
    """Runs the block tests named, or all; prints a line a file. Status 1 where one is below its floor, or a test fails."""
    parts, failed = _of_all(_benches(names))
    benches = list(parts)
    found = merged(list(parts.values()))
    # Of a file that others use too, only all of its own benches say enough.
    files = [x for x in sorted(found) if x.startswith("rtl/") and not x.endswith(("_tb.sv", ".svh", "_pkg.sv"))]
    if names:
        files = [x for x in files if set(own_tests.benches_of(ROOT / x)) & set(benches)]
    reached = {x: shares(found[x]) for x in files}
    rows = [("file", *(f"{kind} %" for kind in KINDS))]
    rows += [(x, *(f"{reached[x][kind]:.1f}" if kind in reached[x] else "-" for kind in KINDS)) for x in files]
    whole = shares({kind: {f"{x}:{y}": n for x in files for y, n in found[x].get(kind, {}).items()} for kind in KINDS})
    rows.append(("all", *(f"{whole[kind]:.1f}" if kind in whole else "-" for kind in KINDS)))
    print(report.table(rows))
    for line in failed:
        print(line)
    sure = {x: reached[x] for x in files if set(own_tests.benches_of(ROOT / x)) <= set(benches)}
    if record:
        write_floors(sure)
    return max(judge(sure), int(bool(failed)))


def _floors() -> dict[str, dict[str, float]]:
    return json.loads(FLOORS.read_text()) if FLOORS.is_file() else {}


def write_floors(reached: dict[str, dict[str, float]]):
    """What was reached, rounded down, is the floor of these files from now on."""
    floors = _floors() | {x: {kind: float(int(y)) for kind, y in values.items()} for x, values in reached.items()}
    FLOORS.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n")


def judge(reached: dict[str, dict[str, float]]) -> int:
    """Says what is below its floor; 1 if something is."""
    problems = below(reached, _floors())
    for line in problems:
        print(f"below its floor   {line}")
    return int(bool(problems))

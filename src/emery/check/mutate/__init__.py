# SPDX-License-Identifier: Apache-2.0
"""`./emery mutate`: faults put into sources, one at a time, and whether the sources' own tests notice.

Which faults follows from the seed and the file alone. What no test can notice because nothing differs is explained in
tests/survivors.toml, by file, line of source and fault, and does not count.
"""

import random
import shutil
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from emery import report
from emery.check.mutate import own_tests, rtl, text, trial
from emery.check.mutate.faults import Fault
from emery.common import ROOT, UserError, jobs, nearest
from emery.make import cache

SURVIVORS = ROOT / "tests" / "survivors.toml"


@dataclass
class Outcome:
    """What became of a fault: the test that noticed it, or why none can."""

    fault: Fault
    by: str = ""
    explained: str = ""

    def word(self) -> str:
        """The outcome in a word."""
        return "noticed" if self.by else "explained" if self.explained else "survived"


def choose(names: list[str]) -> list[Path]:
    """The sources that are named: blocks, or files; all without a name."""
    every = own_tests.sources()
    if not names:
        return every
    found = []
    for name in names:
        path = Path(name).resolve()
        those = [path] if path in every else [x for x in every if x.suffix == ".sv" and x.stem == name]
        if not those:
            known = {x.stem for x in every if x.suffix == ".sv"}
            raise UserError(f"mutate {name}: no block and no source file that has tests{nearest(name, known, ['./emery map'])}")
        found += those
    return list(dict.fromkeys(found))


def drawn(path: Path, seed: int, most: int) -> list[Fault]:
    """The faults of a file that a seed chooses, in their order."""
    find = {".sv": rtl.faults, ".py": text.python_faults}.get(path.suffix, text.cxx_faults)
    every = find(path)
    chosen = random.Random(f"{seed} {path.relative_to(ROOT)}").sample(range(len(every)), min(most, len(every)))
    return [every[x] for x in sorted(chosen)]


def _explanations() -> dict[tuple[str, str, str], str]:
    if not SURVIVORS.is_file():
        return {}
    listed = tomllib.loads(SURVIVORS.read_text()).get("survivor", [])
    return {(x["file"], x["line"], x["fault"]): x["why"] for x in listed}


def run(paths: list[Path], seed: int, most: int, say: Callable[[str], None]) -> list[Outcome]:
    """Puts the faults in and runs the tests; gives what became of each."""
    tests = {}
    for path in paths:
        try:
            tests[path.relative_to(ROOT).as_posix()] = own_tests.of_source(path)
        except UserError:
            if len(paths) == 1:
                raise
    chosen = [x for path in paths if path.relative_to(ROOT).as_posix() in tests for x in drawn(path, seed, most)]
    numbered = dict(enumerate(chosen, 1))
    scratch = cache.scratch()
    try:
        trial.lend_cache(scratch / "cache")
        outcomes = []
        for suffixes, kind in (((".sv",), trial.RtlTrial), ((".hpp", ".cpp"), trial.CxxTrial), ((".py",), trial.PythonTrial)):
            those = {number: x for number, x in numbered.items() if x.path.endswith(suffixes)}
            if those:
                outcomes += _try(kind(scratch, those, say), tests, say)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    why = _explanations()
    for outcome in outcomes:
        if not outcome.by:
            outcome.explained = why.get(_key(outcome.fault), "")
    return outcomes


def _key(fault: Fault) -> tuple[str, str, str]:
    line = (ROOT / fault.path).read_text().splitlines()[fault.line - 1].strip()
    return fault.path, line, fault.words


def _try(kind, tests: dict[str, list[Path]], say: Callable[[str], None]) -> list[Outcome]:
    for path in dict.fromkeys(x.path for x in list(kind.faults.values())):
        for test in tests[path]:
            if not test.stem.endswith("_formal"):
                kind.build(test)
    done = 0

    def one(number: int) -> Outcome:
        nonlocal done
        fault = kind.faults[number]
        outcome = Outcome(fault, kind.noticed(number, tests[fault.path]))
        done += 1
        say(f"{done} of {len(kind.faults)}: {fault.shown()}: {outcome.word()}")
        return outcome

    with ThreadPoolExecutor(jobs()) as pool:
        futures = [pool.submit(one, number) for number in kind.faults]
        try:
            return [x for x in (future.result() for future in futures) if x.by != "-"]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def summary(outcomes: list[Outcome], seed: int, most: int) -> dict:
    """All of it, as JSON has it."""
    counted = [x for x in outcomes if x.word() != "explained"]
    return {
        "seed": seed,
        "max": most,
        "score": sum(bool(x.by) for x in counted) / len(counted) if counted else None,
        "faults": [
            {"file": x.fault.path, "line": x.fault.line, "fault": x.fault.words, "outcome": x.word(), "by": x.by}
            | ({"why": x.explained} if x.word() == "explained" else {})
            for x in outcomes
        ],
    }


def table(outcomes: list[Outcome], seed: int, most: int) -> str:
    """A line a file, the survivors, the score."""
    rows = [("file", "faults", "noticed", "explained", "survived")]
    for path in dict.fromkeys(x.fault.path for x in outcomes):
        words = [x.word() for x in outcomes if x.fault.path == path]
        rows.append((path, str(len(words)), *(str(words.count(x)) for x in ("noticed", "explained", "survived"))))
    lines = [report.table(rows)]
    lines += [f"survived   {x.fault.shown()}" for x in outcomes if x.word() == "survived"]
    score = summary(outcomes, seed, most)["score"]
    lines.append(f"score {'-' if score is None else f'{100 * score:.1f} %'}; seed {seed}, at the most {most} faults a file")
    return "\n".join(lines)


def listed(paths: list[Path], seed: int, most: int) -> str:
    """The faults that would be put in, a line each."""
    return "\n".join(x.shown() for path in paths for x in drawn(path, seed, most))

# SPDX-License-Identifier: Apache-2.0
"""Simulators compiled a second time, by what a run of theirs did (`./emery tune`): the compiler guesses which way the branches
of Verilator's code go, and guesses badly. The same sources and results, some 1.2 times as fast.

A tuned simulator lies in the cache under the name of the one that it takes the place of: of other sources there is none.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emery.common import UserError, cache_dir, jobs
from emery.make import cache, toolchain
from emery.terminal import Progress

_COUNT = ("-fprofile-generate", "-fprofile-update=single")
# Corrected: threads of a simulator may have counted at once. What was not counted was not linked, or is looked for elsewhere.
_USE = ("-fprofile-use", "-fprofile-correction", "-Werror=missing-profile")


def best(program: Path) -> Path:
    """What is to run for the simulator `program`: the tuned one, where there is one, and EMERY_TUNED is not 0."""
    tuned = cache_dir() / "tuned" / program.parent.name / program.name
    return tuned if os.environ.get("EMERY_TUNED") != "0" and tuned.exists() else program


def tune(program: Path, units: list, libraries: list[str], run, progress: Progress) -> Path:
    """The tuned simulator of `program`, which was made of `units` (build.Unit), after what `run(simulator)` does with one that
    counts. Raises UserError where the compiler is not g++."""
    if toolchain.is_clang():
        raise UserError(f"tune: {toolchain.cxx()} is clang; it is done with g++")

    def make(out: Path):
        work = cache.scratch()
        try:
            counting = work / program.name
            _link(_compile(units, work, _COUNT, progress), counting, [*libraries, *_COUNT])
            progress.say("a run is counted")
            run(counting)
            _link(_compile(units, work, _USE, progress), out / program.name, libraries)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    return cache.entry("tuned", program.parent.name, make) / program.name


def _compile(units: list, where: Path, more: tuple[str, ...], progress: Progress) -> list[Path]:
    """The objects of `units`, by their numbers: beside each lies what was counted of it, and is found by its name."""
    done = 0

    def one(number: int) -> Path:
        nonlocal done
        path, unit = where / f"{number}.o", units[number]
        toolchain.run_cxx([*unit.words(path), *more], cwd=where, cached=False)
        done += 1
        progress.update(done, len(units), f"compiled {done} of {len(units)} files")
        return path

    with ThreadPoolExecutor(jobs()) as pool:
        try:
            return list(pool.map(one, range(len(units))))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _link(objects: list[Path], out: Path, words: list[str]):
    toolchain.run_cxx([*map(str, objects), "-o", str(out), "-pthread", *words], cwd=out.parent, cached=False)

# SPDX-License-Identifier: Apache-2.0
"""`./emery test --with DIR`: does a folder of the user's own do what is asked of what it replaces?

Modules: ports and lint, the block tests of what they replace (with them in its place; a scheduler's with `+any_policy`: what
follows from one order of turns is not asked), those in the folder, and runs with assertions. Programs: all runs. Systems: lint,
both ends of what its parameters take, runs twice, which must be alike. Runs are those of `[with.KIND]` in system.toml; every
frame is to be accounted for.
"""

import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from emery import extension, schema, system
from emery.check import structure, testing
from emery.common import UserError
from emery.make import build, own_rtl, toolchain
from emery.runs import IntegrityError, run_system
from emery.workload import from_table, workload

_RUNS = [{"frames": 200}]  # of the main job, where a system says nothing
_SYSTEM_RUNS = [{"frames": 100}, {"frames": 100, "seed": 2}]
_MOST_TESTS = 3


def main(folders: list[str]) -> int:
    """Tests each folder; gives the exit status: 1 where one fails."""
    failed = 0
    for given in folders:
        found = extension.load(given)
        for what, work in _checks(found):
            begun = time.monotonic()
            why = _outcome(work)
            failed += bool(why)
            seconds = f"{time.monotonic() - begun:.0f} s"
            print(f"{'FAIL' if why else 'ok  '}  {given}: {what} ({seconds}){': ' + why if why else ''}", flush=True)
    return int(bool(failed))


def _outcome(work) -> str:
    """What is wrong; empty when nothing is. What cannot be built is bad input, as everywhere."""
    try:
        return work() or ""
    except IntegrityError as error:
        return str(error)


def _checks(found: extension.Extension) -> list:
    if found.kind == "system":
        return _system(system.read(found.folder))
    target = extension.applied(system.load(_home(found)), (found,))
    rules = target.extends.get(found.kind, {})
    checks = _modules(target, rules) if found.kind in extension.RTL else []
    return checks + [_run(target, run) for run in rules.get("runs", _RUNS)]


def _home(found: extension.Extension) -> str:
    """The system that a folder is tested in."""
    if found.system:
        return found.system
    reach = structure.read().reach
    having = [x for x in sorted(reach) if set(found.replaces) <= reach[x]]
    if not having:
        found.refuse(f"no system has {' and '.join(found.replaces)}")
    return having[0]


def _modules(target: system.System, rules: dict) -> list:
    found = target.extensions[-1]
    with extension.told(target):
        own_rtl.check_all(target)
    checks = [("lint", partial(_lint, target, found))]
    benches = list(dict.fromkeys(y for x in found.replaces for y in tests_of(x)))
    for bench in benches + sorted(Path(found.folder).glob("*_tb.sv")):
        checks.append((bench.stem, partial(_bench, target, bench, tuple(rules.get("words", ())))))
    return checks


def tests_of(module: str) -> list[Path]:
    """The block tests of a module: its own, others that have an instance of it, or else the smallest of those that reach it."""
    design = structure.read()
    tests = [x for x in design.tests if x.path.stem == x.name and x.name.endswith("_tb")]
    direct = sorted((x for x in tests if module in x.children), key=lambda x: x.name != f"{module}_tb")
    if not direct:
        reached = {x.name: design.below(x.children) for x in tests}
        direct = sorted((x for x in tests if module in reached[x.name]), key=lambda x: (len(reached[x.name]), x.name))
    return [structure.ROOT / x.path for x in direct[:_MOST_TESTS]]


def _bench(target, bench: Path, words: tuple[str, ...]) -> str:
    with extension.told(target):
        program = build.build_block_test(bench, own=tuple(str(x.folder) for x in target.extensions))
        said = testing.block_problem(program, words)
    lines = [x for x in said.splitlines() if x.strip()]
    return next((x.strip() for x in lines[1:] if re.search("FAIL|rror|CHECK", x)), lines[-1].strip()) if lines else ""


def _lint(target, found: extension.Extension) -> str:
    """What `verilator -Wall` says of the folder's files, but for what is merely not used."""
    with extension.told(target):
        log = testing.lint_log(build.system_rtl(target, target.values()))
    own = [x for x in log.splitlines() if str(found.folder) in x and x.startswith("%Warning") and "-UNUSED" not in x]
    return own[0].replace(str(found.folder), found.given.rstrip("/")) if own else ""


def _run(target, run: dict):
    """A run with assertions. What the folder says of a parameter holds: without that its parts may not be there."""
    own = {name for x in target.extensions for name, _ in x.set}
    settings, options = from_table({**run, "set": {k: v for k, v in run.get("set", {}).items() if k not in own}})
    words = [f"--{name} {x}" for name, x in options.items()] + [f"--set {x}" for x in settings]

    def work() -> str:
        values = target.values(settings)
        run_system(target, values, workload(target, options), assertions=True)
        return ""

    return f"run {' '.join(words)}", work


def _ends(parameter) -> tuple:
    if isinstance(parameter.default, bool):
        return (False, True)
    return parameter.choices or (() if parameter.minimum is None else (parameter.minimum, parameter.maximum))


def _system(target: system.System) -> list:
    def lint() -> str:
        return testing.lint_rtl(build.system_rtl(target, target.values())).partition("\n")[0]

    def elaborates(name: str, value) -> str:
        values = target.values() | {name: value}
        try:
            target.refuse(values)
        except UserError:  # of two settings that meet
            return ""
        rtl = replace(build.system_rtl(target, values), assertions=False)
        toolchain.run_verilator(["--lint-only", *(x for x in rtl.arguments() if x != "--cc")])
        return ""

    def alike(options: dict) -> str:
        work = workload(target, options)
        first, second = (run_system(target, target.values(), work, assertions=True) for _ in range(2))
        if first["digest"] != second["digest"] or first["cycles"] != second["cycles"]:
            return "the same run twice is not the same"
        unknown = first["resources"].keys() - {x.split(".")[0].removesuffix("[]") for x in schema.described(target)}
        return f"system.toml: [resources] does not say what {min(unknown)} is" if unknown and target.resources else ""

    checks = [("lint", lint)]
    for x in target.parameters.values():
        checks += [(f"{x.name}={y} elaborates", partial(elaborates, x.name, y)) for y in (_ends(x) if x.rtl else ())]
    runs = target.extends.get("system", {}).get("runs", _SYSTEM_RUNS)
    return checks + [(f"run {' '.join(f'--{k} {y}' for k, y in x.items())}, twice", partial(alike, x)) for x in runs]

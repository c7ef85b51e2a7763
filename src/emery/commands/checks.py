# SPDX-License-Identifier: Apache-2.0
"""Commands that check the checkout: suite, proofs, faults, soak, fuzz, speed."""

import json
from pathlib import Path

from emery import system
from emery.commands import options
from emery.commands.options import number
from emery.common import UserError


def folders(words: list[str]) -> list[str]:
    """The folders of `test --with DIR [--with DIR ...]`."""
    if len(words) % 2 or any(x != "--with" for x in words[::2]) or any(x.startswith("-") or not x for x in words[1::2]):
        raise UserError("test: after --with comes a folder, and nothing but more of that")
    return words[1::2]


def _test(arguments) -> int:
    from emery.check import coverage, python_coverage, testing

    words = arguments.pytest
    if words[:1] == ["--with"]:
        from emery.check import conformance

        return conformance.main(folders(words))
    if words[:1] == ["--coverage"]:
        names = [x for x in words[1:] if x not in ("--record", "--python")]
        if bad := next((x for x in names if x.startswith("-")), None):
            raise UserError(f"test --coverage takes names of block tests, or --python, and --record, not {bad}")
        which = python_coverage if "--python" in words else coverage
        return which.main(names, "--record" in words)
    return testing.main(words)


def _format(arguments) -> int:
    from emery.check import testing

    return testing.format_all()


def _map(arguments):
    from emery.check import rtl_map, structure
    from emery.pages import manual

    if arguments.readme:
        structure.write_table()
        manual.write()
    else:
        print(rtl_map.modules() if arguments.modules else rtl_map.text())


def _prove(arguments) -> int:
    from emery.check import prove

    return prove.main(arguments.files, arguments.mode, arguments.depth, arguments.engine)


def _mutate(arguments) -> int:
    from emery.check import mutate

    paths, seed, most = mutate.choose(arguments.what), arguments.seed, arguments.max
    if arguments.list:
        print(mutate.listed(paths, seed, most))
        return 0
    outcomes = mutate.run(paths, seed, most, options.say())
    if arguments.json:
        print(json.dumps(mutate.summary(outcomes, seed, most), indent=2))
    else:
        print(mutate.table(outcomes, seed, most))
    return int(any(x.word() == "survived" for x in outcomes))


def _fuzz(arguments) -> int:
    from emery.check import fuzz

    return int(bool(fuzz.fuzz(arguments.seed, arguments.minutes, arguments.case)))


def _soak(arguments):
    from emery.check import soak

    done = soak.soak(arguments.system, arguments.frames, arguments.seed, arguments.assertions, options.note, arguments.set)
    told = f"{done.runs:,} runs, {done.offered:,} frames offered, {done.delivered:,} delivered, all accounted for"
    print(f"{arguments.system.name}: {told}; {done.refused:,} draws refused; seed {arguments.seed}")


def _speed(arguments):
    from emery.check import speed

    options.check_json(arguments.json)
    if arguments.there and not arguments.against:
        raise UserError("speed: --there is for the checkout that --against names")
    if arguments.against and not (arguments.against / "emery").is_file():
        raise UserError(f"--against {arguments.against}: no checkout of Emery")
    chosen = arguments.systems or [x for x in map(system.load, system.names()) if x.speed]
    if len(chosen) != 1 and (arguments.set or arguments.there):
        raise UserError("speed: name the system whose parameters are set")
    for x in chosen:
        x.values(arguments.set)  # refuses what is none
    there = (arguments.against and arguments.against.resolve(), arguments.there)
    found = [speed.measure(x, arguments.set, arguments.times, *there, options.say(), arguments.tuned) for x in chosen]
    options.put(arguments.json, {"speeds": [x.as_json() for x in found]}, speed.text(found))


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    test = command(
        "test",
        _test,
        "run test cocotb fusesoc docs",
        "the test suite; everything after it goes to pytest (see also: test --slow, which runs what is left out as too long, "
        "and test --coverage [BLOCK...|--python] [--record])",
    )
    test.add_argument("--with", metavar="DIR", help="test a folder of your own instead (repeatable)")
    test.add_argument("pytest", nargs="*")
    command("format", _format, "run test", "format the sources in place")
    rtl = command("map", _map, "run", "the RTL's rooms, blocks and systems: who uses what, and what breaks a rule")
    rtl.add_argument("--modules", action="store_true", help="every module, a line each")
    rtl.add_argument("--readme", action="store_true", help="write the table on the front page and those of registers in docs/")
    prove = command("prove", _prove, "run test", "prove blocks")
    prove.add_argument("files", nargs="*", metavar="FILE", help="rtl/*/*_formal.sv (default: all)")
    prove.add_argument("--mode", choices=("prove", "bmc"))
    prove.add_argument("--depth", type=number(1, 1000), help="clocks, 1 ... 1000")
    prove.add_argument("--engine", choices=("induction", "pdr", "bmc3"))
    mutate = command(
        "mutate", _mutate, "run test", "put faults into sources, one at a time; status 1 when their own tests do not notice one"
    )
    mutate.add_argument("what", nargs="*", metavar="BLOCK|FILE", help="blocks, files of rtl/, bench/, src/emery (default: all)")
    mutate.add_argument("--seed", type=number(0, 2**53), default=1, help="which faults follows from it (default 1)")
    mutate.add_argument("--max", type=number(1, 10000), default=20, metavar="N", help="faults a file (default 20)")
    mutate.add_argument("--list", action="store_true", help="only say which")
    mutate.add_argument("--json", action="store_true", help="the outcome of each as JSON, on standard output")
    fuzz = command(
        "fuzz",
        _fuzz,
        "run test",
        "try command lines, files and runs at random; status 1 when one is not answered as it should be",
    )
    fuzz.add_argument("--seed", type=number(0, 2**53), default=1, help="everything random follows from it (default 1)")
    fuzz.add_argument("--minutes", type=number(1, 10000), default=10, help="for how long (default 10)")
    fuzz.add_argument("--case", type=number(0, 10**9), metavar="N", help="only case N of the seed")
    soak = command(
        "soak", _soak, "run test", "runs with settings, traffic and faults drawn from a seed, until so many frames are through"
    )
    options.system_option(soak)
    many = number(1, 10**12)
    soak.add_argument("--frames", type=many, default=10**7, metavar="N", help="frames to offer in all (default 1e7)")
    soak.add_argument("--seed", type=number(0, 2**53), default=1, help="what is drawn follows from it (default 1)")
    options.set_option(soak, "a parameter that is not drawn (see show)")
    soak.add_argument("--assertions", action="store_true", help="check the RTL's assertions too (slower, own build)")
    speed = command("speed", _speed, "run", "how fast simulators are, in clocks for each second of processor time")
    speed.add_argument("systems", nargs="*", type=system.load, metavar="SYSTEM", help="default: all")
    speed.add_argument("--times", type=number(1, 1000), default=5, help="how often (default 5)")
    speed.add_argument("--tuned", action="store_true", help="tune this checkout's simulators first, each on its run (see tune)")
    speed.add_argument("--against", type=Path, metavar="DIR", help="another checkout of Emery, in turn with this one")
    options.set_option(speed, "a parameter of this checkout's runs (see show)")
    there = {"action": "append", "default": [], "type": options.word, "metavar": "NAME=VALUE"}
    speed.add_argument("--there", **there, help="a parameter of the other's runs")
    speed.add_argument("--json", type=options.word, metavar="FILE", help="write the samples; `-`: to standard output")

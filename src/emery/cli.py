# SPDX-License-Identifier: Apache-2.0
"""The command line."""

import argparse
import json
import os
import sys

from emery import report, run, system
from emery.common import UserError, nearest
from emery.make import build

_COMMANDS = (
    "list",
    "show",
    "run",
    "sweep",
    "reproduce",
    "compare",
    "area",
    "test",
    "format",
    "build",
    "firmware",
    "map",
    "prove",
)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UserError(f"{message} (see ./emery {self.prog.split()[-1]} --help)" if " " in self.prog else message)


def _note(line: str):
    print(f"emery: {line}", file=sys.stderr)


def _traffic_options(parser):
    group = parser.add_argument_group("traffic")
    group.add_argument("--pcap", action="append", metavar="FILE", help="play a capture; PORT=FILE gives one port its own")
    group.add_argument("--size", help="frame bytes with FCS: 64 ... 9018, imix, random, rfc2544, or a range A-B")
    group.add_argument("--frames", help="how many frames an input sends")
    group.add_argument("--duration", help="how long the inputs send, like 200us")
    group.add_argument("--flows", help="flows of generated traffic (default 64)")
    group.add_argument(
        "--rate", help="fraction of line rate, or bits a second like 80G (default 1.0; captures: see the system)"
    )
    group.add_argument("--direction", help="tx, rx or both (NICs)")
    group.add_argument("--routes", metavar="FILE", help="lines `prefix port` (routers)")
    group.add_argument("--seed", help="everything random follows from it (default 1)")


_TRAFFIC = ("pcap", "size", "frames", "duration", "flows", "rate", "direction", "routes", "seed")


def _traffic(arguments) -> dict:
    return {name: getattr(arguments, name) for name in _TRAFFIC if getattr(arguments, name) is not None}


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="emery", description="Programmable network interfaces in RTL, on a cycle-accurate bench.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    commands.add_parser("list", help="the systems, one line each")
    show = commands.add_parser("show", help="parameters, ports and targets of a system")
    show.add_argument("system")
    run = commands.add_parser("run", help="send traffic through a system and measure")
    run.add_argument("system")
    _traffic_options(run)
    run.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="set a parameter (see show)")
    run.add_argument("--json", metavar="FILE", help="write the result")
    run.add_argument("--pcap-out", metavar="DIR", help="write what came out, one capture an output")
    run.add_argument("--waves", metavar="FILE.fst", help="write waves (needs a build of its own; short runs)")
    run.add_argument("--assertions", action="store_true", help="check the RTL's assertions too (slower, own build)")
    sweep = commands.add_parser("sweep", help="many runs over parameters and options; goes on where it was stopped")
    sweep.add_argument("system")
    sweep.add_argument("--over", action="append", required=True, metavar="NAME=A,B,C")
    sweep.add_argument("--out", metavar="FILE", help="finished runs, a line of JSON each (default in out/)")
    sweep.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    _traffic_options(sweep)
    reproduce = commands.add_parser("reproduce", help="the paper's numbers beside Emery's")
    reproduce.add_argument("system")
    reproduce.add_argument("figure", nargs="?", help="one figure or one target; all without it")
    reproduce.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    reproduce.add_argument("--seed")
    reproduce.add_argument("--out", metavar="DIR", default="out", help="where rows and pictures go (default out/)")
    compare = commands.add_parser("compare", help="the same traffic through several systems")
    compare.add_argument("systems", nargs="+", metavar="SYSTEM")
    _traffic_options(compare)
    area = commands.add_parser("area", help="FPGA area of a system or of a block, by Yosys (minutes)")
    area.add_argument("what", metavar="SYSTEM|BLOCK")
    area.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    test = commands.add_parser("test", help="the test suite; everything after it goes to pytest")
    test.add_argument("pytest", nargs=argparse.REMAINDER)
    commands.add_parser("format", help="format the sources in place")
    commands.add_parser("firmware", help="build the programs of all systems that have some, to be shipped with them")
    mapped = commands.add_parser("map", help="the RTL's rooms, blocks and systems: who uses what, and what breaks a rule")
    mapped.add_argument("--modules", action="store_true", help="every module, a line each")
    mapped.add_argument("--readme", action="store_true", help="write the table on the front page")
    proof = commands.add_parser("prove", help="prove blocks")
    proof.add_argument("files", nargs="*", metavar="FILE", help="rtl/*/*_formal.sv (default: all)")
    proof.add_argument("--mode", choices=("prove", "bmc"))
    proof.add_argument("--depth", type=int)
    proof.add_argument("--engine", choices=("induction", "pdr", "bmc3"))
    made = commands.add_parser("build", help="build a simulator or a block test and print its path")
    made.add_argument("what", nargs=argparse.REMAINDER)
    return parser


def _list():
    rows = [(x.name, x.title) for x in map(system.load, system.names())]
    for name, title in rows:
        print(f"{name:{max(len(x[0]) for x in rows)}}  {title}")


def _run(arguments) -> int:
    from emery.workload import workload

    target = system.load(arguments.system)
    values = target.values(arguments.set)
    work = workload(target, _traffic(arguments))
    if arguments.json:
        run.check_file("--json", arguments.json)
    outputs = run.prepare_outputs(arguments.pcap_out, arguments.waves, _note)
    status = 0
    try:
        result = run.run_system(target, values, work, outputs, arguments.assertions)
    except run.IntegrityError as error:
        _note(str(error))
        result, status = error.result, 1
    if result is not None:
        print(report.run_table(result, work.title()))
        if arguments.json:
            with open(arguments.json, "w") as handle:
                handle.write(json.dumps(result, indent=2) + "\n")
    return status


def _reproduce(arguments) -> int:
    from emery import reproduce

    target = system.load(arguments.system)
    say = _note if sys.stderr.isatty() else lambda line: None
    rows = reproduce.run(target, arguments.figure, arguments.set, arguments.seed, arguments.out, say)
    print(reproduce.tables(target, rows))
    for path in reproduce.pictures(target, rows, arguments.out):
        print(path)
    return int(any(row["verdict"].startswith("failed") for row in rows))


def _sweep(arguments) -> int:
    from emery import sweep

    target = system.load(arguments.system)
    say = _note if sys.stderr.isatty() else lambda line: None
    rows, out = sweep.sweep(target, arguments.over, arguments.set, _traffic(arguments), arguments.out, say)
    print(sweep.sweep_table(rows))
    print(out)
    return 0


def _compare(arguments) -> int:
    from emery import sweep

    if len(set(arguments.systems)) < 2:
        raise UserError("compare: name at least two systems")
    print(sweep.compare([system.load(x) for x in arguments.systems], _traffic(arguments)))
    return 0


def _dispatch(argv: list[str]) -> int:
    if argv[:1] == ["test"]:
        from emery.check import testing

        return testing.main(argv[1:])
    if argv[:1] == ["format"]:
        from emery.check import testing

        return testing.format_all()
    if argv and not argv[0].startswith("-") and argv[0] not in _COMMANDS:
        raise UserError(f"there is no command {argv[0]}{nearest(argv[0], _COMMANDS)}")
    parser = _parser()
    arguments = parser.parse_args(argv)
    match arguments.command:
        case None:
            parser.print_help()
        case "list":
            _list()
        case "show":
            print(report.show(system.load(arguments.system)))
        case "build":
            build.main(arguments.what)
        case "firmware":
            for each in map(system.load, system.names()):
                run.ship_programs(each)
        case "run":
            return _run(arguments)
        case "reproduce":
            return _reproduce(arguments)
        case "sweep":
            return _sweep(arguments)
        case "compare":
            return _compare(arguments)
        case "map":
            from emery.check import rtl_map, structure

            if arguments.readme:
                structure.write_table()
            else:
                print(rtl_map.modules() if arguments.modules else rtl_map.text())
        case "prove":
            from emery.check import prove

            return prove.main(arguments.files, arguments.mode, arguments.depth, arguments.engine)
        case "area":
            from emery.check.area import area

            cells = area(arguments.what, arguments.set)
            print(report.table([("cells", arguments.what), *((kind, f"{n:,g}") for kind, n in cells.items())]))
    return 0


def main(argv: list[str]) -> int:
    """Runs one command; gives the exit status: 0 well, 1 the integrity check failed, 2 bad input."""
    try:
        return _dispatch(argv)
    except UserError as error:
        _note(str(error))
        if os.environ.get("EMERY_DEBUG") and getattr(error, "log", ""):
            print(error.log, file=sys.stderr)
        return 2
    except run.IntegrityError as error:
        _note(str(error))
        return 1
    except KeyboardInterrupt:
        _note("interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0

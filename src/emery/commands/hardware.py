# SPDX-License-Identifier: Apache-2.0
"""Commands that make something of sources: area, clocks, simulators, programs, cores for other projects."""

from pathlib import Path

from emery import boards, extension, report, system
from emery.commands import options
from emery.commands.options import number, word
from emery.common import UserError, in_checkout
from emery.runs import tune_system
from emery.terminal import Progress
from emery.workload import from_table, workload


def _area(arguments):
    from emery.check.area import area

    cells = area(arguments.what, arguments.set, arguments.within, arguments.own)
    print(report.table([("cells", arguments.what), *((kind, f"{n:,g}") for kind, n in cells.items())]))


def _timing(arguments) -> int:
    from emery.check import blocks, clocks, crossings, every, timing

    if arguments.every:
        given = {"--publish": arguments.publish, "--cdc": arguments.cdc, "--json": arguments.json, "--in": arguments.within}
        given |= {"--set": arguments.set, "--with": arguments.own}
        for option, value in given.items():
            if value:
                raise UserError(f"timing: --every is of all blocks as they stand: without {option}")
        every.update(arguments.what, print)
        return 0
    if arguments.publish:
        if arguments.own:
            raise UserError("timing: --publish is of the checkout's own blocks: without --with")
        clocks.publish(arguments.what, print)
        return 0
    if len(arguments.what) != 1:
        raise UserError("timing: name one system or block (or --publish)")
    options.check_json(arguments.json)
    subject = blocks.subject(arguments.what[0], arguments.set, arguments.within, arguments.own)
    if arguments.cdc:
        found = crossings.find(subject, clocks.crossings())
        text, data = crossings.text(found), found.as_json()
    else:
        found = timing.measure(subject, arguments.paths)
        text, data = timing.text(found), found.as_json()
    options.put(arguments.json, data, text)
    return int(arguments.cdc and not found.clean)


def _board(arguments) -> int:
    if not arguments.board:
        print("\n".join(f"{x}: {boards.load(x).title}" for x in boards.names()))
        return 0
    if isinstance(arguments.board, boards.Project):
        return _project(arguments)
    if arguments.out:
        raise UserError(
            f"--out is for a board whose bitstream its vendor's tool makes; that of {arguments.board.name} is made here"
        )
    from emery.check import bitstream

    options.check_json(arguments.json)
    progress = Progress(f"building {arguments.board.name}")
    try:
        built = bitstream.build_board(arguments.board, progress.say)
    finally:
        progress.done()
    options.put(arguments.json, built.as_json(), bitstream.text(built))
    return int(bool(built.missed))


def _project(arguments) -> int:
    from emery.check import vivado

    if arguments.json:
        raise UserError(
            f"{arguments.board.name}: its report is for its vendor's tool to make; --out says where the project goes"
        )
    folder = arguments.out or Path("out") / arguments.board.name
    vivado.write(arguments.board, folder)
    print(f"{folder}: {arguments.board.title}\nbuild it   vivado -mode batch -source {folder / 'project.tcl'}")
    return 0


def _new(arguments):
    from emery import skeleton

    print(skeleton.make(arguments.kind, arguments.folder, arguments.system, arguments.source))


def _build(arguments):
    from emery.make import build
    from emery.pages import manual

    if arguments.what.endswith(("_tb.sv", "_test.cpp")):
        print(build.build_test(arguments.what))
        return
    target = system.load(arguments.what)
    values = target.values(arguments.settings)
    if arguments.manual:
        print("\n".join(map(str, manual.html(target))))
    elif arguments.tell:
        print("\n".join(f"{name}={value}" for name, value in target.settings(values).items()))
    else:
        print(build.build_system(target, values, arguments.waves, arguments.assertions))


def _tune(arguments):
    target = arguments.system
    given = options.traffic(arguments)
    if not given and target.speed:
        given = from_table(target.speed["run"])[1]
    work = workload(target, given)
    before, after = tune_system(target, target.values(arguments.set), work)()
    print(f"{target.name}, {work.title()}: {before:.2f} s of processor time before, {after:.2f} s now")


def _firmware(arguments) -> int:
    from emery.make import programs

    folders = [y for x in arguments.systems or map(system.load, system.names()) for y in x.program_folders()]
    if not arguments.check:
        for folder in folders:
            programs.ship(folder)
        return 0
    stale = [x for folder in folders for x in programs.stale(folder)]
    for path in stale:
        options.note(f"{in_checkout(path)} is not what its sources give: ./emery firmware")
    return int(bool(stale))


def _export(arguments):
    from emery import export

    cores = export.export(arguments.folder, arguments.names, arguments.set)
    print(f"{arguments.folder}: {len(cores)} cores: fusesoc library add emery {arguments.folder}")


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    area = command("area", _area, "run test", "FPGA area of a system or of a block, by Yosys (minutes)")
    area.add_argument("what", metavar="SYSTEM|BLOCK")
    timing = command("timing", _timing, "run test", "LUT levels and nanoseconds between registers, the longest paths by name")
    timing.add_argument("what", nargs="*", metavar="SYSTEM|BLOCK")
    timing.add_argument("--cdc", action="store_true", help="clock crossings instead; status 1 where one is not allowed")
    timing.add_argument("--paths", type=number(1, 1000), default=5, help="how many paths of each clock (default 5)")
    timing.add_argument("--publish", action="store_true", help="measure blocks of rtl/timing.toml (all) for docs/clocks.md")
    timing.add_argument(
        "--every",
        action="store_true",
        help="measure blocks that are not in it for docs/blocks.csv: those that are new or changed",
    )
    timing.add_argument("--json", type=word, metavar="FILE", help="write the result; `-`: to standard output, as it is")
    for parser_ in (area, timing):
        parser_.add_argument("--in", dest="within", type=word, metavar="SYSTEM", help="a block as this system has it")
        options.with_option(parser_, "own")
        options.set_option(parser_)
    board = command("board", _board, "", "the bitstream of an FPGA board, its area and clocks, by nextpnr (minutes)")
    board.add_argument("board", nargs="?", type=boards.load, metavar="BOARD", help="a folder of boards/ (default: list them)")
    board.add_argument("--out", type=Path, metavar="DIR", help="where the project for a vendor's tool goes (default out/BOARD)")
    board.add_argument("--json", type=word, metavar="FILE", help="write the report; `-`: to standard output, as it is")
    new = command("new", _new, "run", "a folder of your own to begin with, for --with: it works as it is")
    new.add_argument("kind", choices=extension.KINDS, help=f"one of {', '.join(extension.KINDS)}", metavar="KIND")
    new.add_argument("folder", type=word, metavar="DIR", help="is made")
    new.add_argument("--system", type=system.load, metavar="SYSTEM", help="whose part it replaces (default: one that has such)")
    new.add_argument("--from", dest="source", type=word, metavar="NAME", help="the module or file to begin from (default: one)")
    build = command("build", _build, "run", "build a simulator or a block test and print its path")
    build.add_argument("what", metavar="SYSTEM|FILE", help="a system, a _tb.sv file or a _test.cpp file")
    build.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    build.add_argument("--waves", action="store_true")
    build.add_argument("--assertions", "--assert", action="store_true")
    build.add_argument("--tell", action="store_true", help="print what a run tells the simulator of the system, build nothing")
    build.add_argument("--manual", action="store_true", help="make its register manual, in HTML, and print its path")
    tune = command("tune", _tune, "run", "compile a simulator again by what a run of it does: later runs are faster")
    options.system_with_option(tune)
    options.set_option(tune)
    options.traffic_options(tune)
    firmware = command("firmware", _firmware, "run firmware", "build the programs of systems with cores, to ship with them")
    firmware.add_argument("systems", nargs="*", type=system.load, metavar="SYSTEM", help="default: all")
    firmware.add_argument("--check", action="store_true", help="only compare what is shipped; status 1 where it differs")
    export = command("export", _export, "run test", "write blocks and systems as a FuseSoC library, for a project of your own")
    export.add_argument("folder", type=Path, metavar="DIR")
    export.add_argument("names", nargs="*", metavar="BLOCK|SYSTEM", help="with all that they need (default: everything)")
    options.set_option(export)

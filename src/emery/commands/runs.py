# SPDX-License-Identifier: Apache-2.0
"""Commands that send traffic through systems."""

import argparse
import contextlib
import sys

from emery import executors, extension, report, system
from emery.commands import options
from emery.commands.options import number, word
from emery.common import UserError, nearest
from emery.runs import IntegrityError, check_file, check_places, prepare_outputs, run_system
from emery.searches import GOALS
from emery.workload import workload


def _run(arguments) -> int:
    return _carried_out(arguments, run_system)


def _debugger(arguments):
    """Where gdb may come, if it is to; and what parameters are set to then."""
    if not arguments.gdb:
        return contextlib.nullcontext()
    from emery import debug

    arguments.set = debug.settings(arguments.system, arguments.set)
    where = sys.stderr if arguments.json == "-" else sys.stdout
    return debug.Debugger(arguments.gdb, lambda line: print(line, file=where, flush=True))


def _carried_out(arguments, run) -> int:
    """Has `run(system, values, workload, outputs, assertions)` do what the options of a run say, and tells its result."""
    with _debugger(arguments) as gdb:
        return _finished(gdb, arguments, run)


def _finished(gdb, arguments, run) -> int:
    target = arguments.system
    values = target.values(arguments.set)
    work = workload(target, options.traffic(arguments))
    options.check_json(arguments.json)
    notes = []
    log = arguments.firmware_log
    if log and not target.debug:
        raise UserError(f"--firmware-log: {target.name} has no firmware that prints")
    files = (arguments.pcap_out, arguments.waves, arguments.trace)
    places = {"--json": arguments.json, "--waves": arguments.waves, "--trace": arguments.trace, "--firmware-log": log}
    check_places(target, work, arguments.pcap_out, places)
    window = (arguments.waves_from, arguments.waves_to, arguments.waves_frame)
    outputs = prepare_outputs(
        *files, trace_bytes=arguments.trace_bytes, window=window, firmware_log=log, gdb=gdb, note=notes.append
    )
    status = 0
    try:
        result = run(target, values, work, outputs, arguments.assertions)
    except IntegrityError as error:
        options.note(str(error))
        result, status = error.result, 1
    for note in notes:
        options.note(note)
    if result is not None:
        options.put(arguments.json, result, report.run_table(result, work.title()))
    return status


def _watch(arguments) -> int:
    from emery import watch

    where = sys.stderr if arguments.json == "-" else sys.stdout
    with watch.Page(arguments.port, lambda address: print(address, file=where, flush=True)) as page:
        status = _carried_out(arguments, page.run)
        sys.stdout.flush()
        if not arguments.once:
            page.stay()
    return status


def _sweep(arguments) -> int:
    from emery import data, points, sweeps

    target = arguments.system
    if bool(arguments.over) == bool(arguments.list):
        raise UserError("sweep: give --over (once or more), or --list")
    if arguments.list and arguments.sample:
        raise UserError("sweep: --sample is for --over")
    for option, path, endings in (("--table", arguments.table, data.FORMATS), ("--plot", arguments.plot, data.PICTURES)):
        if path:
            data.check_table(option, path, endings)
            check_file(option, path)
    if arguments.list:
        found = points.listed(target, arguments.list)
    else:
        found = (
            points.draws(target, arguments.over, arguments.sample) if arguments.sample else points.grid(target, arguments.over)
        )
    with executors.executor(arguments.executor) as where:
        sweep = sweeps.Sweep(target, found, arguments.set, options.traffic(arguments), arguments.out, where)
        rows, out = sweep.run(options.say())
    print(sweeps.sweep_table(rows))
    print(out)
    typed = [({name: data.typed(x) for name, x in point.items()}, result) for point, result in rows]
    if arguments.table:
        data.write(arguments.table, typed)
    if arguments.plot:
        data.plot(arguments.plot, f"{target.name}, {len(rows)} points", typed)
    return int(any("failure" in result for _, result in rows))


def _goals(text: str) -> tuple[str, ...]:
    """The type of `search --goals`."""
    names = tuple(text.split(","))
    for name in set(names) - set(GOALS):
        raise argparse.ArgumentTypeError(f"there is no goal {name}{nearest(name, GOALS)}")
    return names


def _search(arguments):
    from emery import data, searches

    options.check_json(arguments.json)
    target = arguments.system
    how = {"seeds": arguments.seeds, "width": arguments.width}
    if arguments.plot:
        if not arguments.sizes:
            raise UserError("search: --plot is for --sizes: rates over sizes")
        data.check_table("--plot", arguments.plot, data.PICTURES)
        check_file("--plot", arguments.plot)
    with executors.executor(arguments.executor) as where:
        asked, more = (
            (target, arguments.set, options.traffic(arguments)),
            (arguments.goals, arguments.out, options.say(), where),
        )
        if not arguments.sizes:
            found = searches.search(*asked, *more, **how)
            options.put(arguments.json, found, searches.tables(found))
            return
        found = searches.search_sizes(*asked, searches.sizes_of(arguments.sizes), *more, **how)
    options.put(arguments.json, found, searches.sizes_table(found))
    if arguments.plot:
        data.plot_sizes(arguments.plot, found)


def _compare(arguments):
    from emery import sweeps

    if len({x.folder for x in arguments.systems}) + len(arguments.own) < 2:
        raise UserError("compare: name at least two systems, or one and what it is to be compared --with")
    print(sweeps.compare([y for x in arguments.systems for y in _beside(x, arguments)], options.traffic(arguments)))


def _beside(target: system.System, arguments) -> list[system.System]:
    """A system as it is, and with each folder of the user's that is for it."""
    known = {x.name for x in arguments.systems}
    found = list(map(extension.load, arguments.own))
    for x in found:
        if x.system not in known:
            x.refuse(f"system: name one of those compared: {', '.join(sorted(known))}")
    return [target, *(extension.applied(target, (x,)) for x in found if x.system == target.name)]


def _run_options(run):
    options.system_with_option(run)
    options.traffic_options(run)
    options.set_option(run)
    run.add_argument(
        "--json", type=word, metavar="FILE", help="write the result; `-`: to standard output, in place of the table"
    )
    run.add_argument("--pcap-out", type=word, metavar="DIR", help="write what came out, one capture an output")
    options.waves_option(run)
    run.add_argument("--waves-from", type=word, metavar="TIME", help="waves: from then on only, like 2.5us")
    run.add_argument("--waves-to", type=word, metavar="TIME", help="waves: until then only")
    run.add_argument("--waves-frame", type=number(0, 2**32), metavar="N", help="waves: only while frame N of a trace is inside")
    options.trace_options(run)
    run.add_argument("--firmware-log", type=word, metavar="FILE", help="write what the cores' firmware prints")
    run.add_argument(
        "--gdb", type=word, metavar="PORT", help="the cores stand until gdb comes (0: any port; a path: a socket there)"
    )
    run.add_argument("--assertions", action="store_true", help="check the RTL's assertions too (slower, own build)")


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    _run_options(command("run", _run, "run", "send traffic through a system and measure"))
    watch = command("watch", _watch, "run", "a run on a web page of this machine, as it goes; options are those of run")
    _run_options(watch)
    watch.add_argument("--port", type=number(0, 65535), default=0, help="where the page is, on 127.0.0.1 (default: any)")
    watch.add_argument("--once", action="store_true", help="end with the run; without it the page stays until Ctrl-C")
    sweep = command("sweep", _sweep, "run", "many runs over parameters and options; goes on where it was stopped")
    options.system_with_option(sweep)
    sweep.add_argument(
        "--over",
        action="append",
        type=word,
        metavar="NAME=A,B,C",
        help="values; NAME=LOW..HIGH with --sample (repeatable)",
    )
    sweep.add_argument("--sample", type=number(1, 10**6), metavar="N", help="N points drawn from them, not all combinations")
    sweep.add_argument(
        "--list", type=word, metavar="FILE.csv", help="the points of a table instead: a line of names, then values"
    )
    sweep.add_argument("--table", type=word, metavar="FILE", help="all numbers of all points as .csv or .parquet")
    sweep.add_argument("--plot", type=word, metavar="FILE", help="rates, latency and loss as .png, .svg or .pdf")
    sweep.add_argument("--out", type=word, metavar="FILE", help="finished runs, a line of JSON each (default in out/)")
    options.executor_option(sweep)
    options.set_option(sweep)
    options.traffic_options(sweep)
    search = command("search", _search, "run", "the highest rates that lose nothing, and little: RFC 2544, NDR and PDR")
    options.system_with_option(search)
    search.add_argument("--goals", type=_goals, default=GOALS, metavar="A,B", help=f"which of {', '.join(GOALS)} (default all)")
    search.add_argument(
        "--sizes", type=word, metavar="A,B", help="a search for each of these sizes, one table; rfc2544: its seven sizes"
    )
    search.add_argument("--plot", type=word, metavar="FILE", help="with --sizes: rates over sizes, as .png, .svg or .pdf")
    search.add_argument("--seeds", type=number(1, 1000), default=3, metavar="N", help="runs of each load (default 3)")
    search.add_argument(
        "--width", type=options.share, default=0.005, help="how far loads are apart, of line rate (default 0.005)"
    )
    search.add_argument("--json", type=word, metavar="FILE", help="write the result; `-`: to standard output")
    search.add_argument("--out", type=word, metavar="FILE", help="finished runs, a line of JSON each (default in out/)")
    options.executor_option(search)
    options.set_option(search)
    options.traffic_options(search, ("traffic",))
    compare = command("compare", _compare, "run", "the same traffic through several systems")
    compare.add_argument("systems", nargs="+", type=system.load, metavar="SYSTEM")
    options.with_option(compare, "own")
    options.traffic_options(compare)

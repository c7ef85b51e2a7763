# SPDX-License-Identifier: Apache-2.0
"""The command line.

It is read with the standard library alone: the launcher asks `packages` which packages a command needs before it fetches any.
"""

import argparse
import json
import os
import re
import sys
import traceback
from pathlib import Path

from emery import __version__, extension, process, report, shapes, system
from emery import packets as packets_from
from emery.common import UserError, in_checkout, nearest
from emery.runs import IntegrityError, check_file, prepare_outputs, run_system
from emery.searches import GOALS
from emery.workload import DEFAULTS, OPTIONS, workload


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message, file=None):  # argparse's own says nothing when that fails
        (file or sys.stderr).write(message)

    def error(self, message):
        raise UserError(f"{message} (see ./emery {self.prog.split()[-1]} --help)" if " " in self.prog else message)


def _note(line: str):
    print(f"emery: {' '.join(line.splitlines())}", file=sys.stderr)


def _say():
    """Where progress in words goes: nowhere, in a pipe."""
    return _note if sys.stderr.isatty() else lambda line: None


def _text(text: str) -> str:
    """The type of options that cannot be empty."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _number(low: int, high: int):
    """The type of options that are whole numbers, as 1000 or 1e3."""

    def parse(text: str) -> int:
        value = int(float(text)) if re.fullmatch("[0-9]{1,3}e[0-9]{1,2}", text) else text
        if not re.fullmatch("[0-9]{1,18}", str(value)) or not low <= int(value) <= high:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {low} to {high}")
        return int(value)

    return parse


def _share(text: str) -> float:
    """The type of options that are a part of something."""
    if not re.fullmatch(r"0?\.[0-9]{1,6}", text) or not 0.0001 <= float(text) <= 0.5:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0.0001 to 0.5")
    return float(text)


def _goals(text: str) -> tuple[str, ...]:
    """The type of `search --goals`."""
    names = tuple(text.split(","))
    for name in set(names) - set(GOALS):
        raise argparse.ArgumentTypeError(f"there is no goal {name}{nearest(name, GOALS)}")
    return names


def _system_option(parser):
    parser.add_argument("system", type=system.load, help="a name of `list`, or a folder of your own")


def _set_option(parser):
    parser.add_argument("--set", action="append", default=[], type=_text, metavar="NAME=VALUE", help="a parameter (see show)")


def _system_with_option(parser):
    """A system, and folders of the user's own that take the place of parts of it: together `arguments.system` (`_parse`)."""
    parser.add_argument("system", type=_text, help="a name of `list`, or a folder of your own")
    parser.add_argument(
        "--with",
        dest="with_",
        action="append",
        default=[],
        type=_text,
        metavar="DIR",
        help="a folder of your own in place of a part of the system: `./emery new` makes one (repeatable)",
    )


def _traffic_options(parser):
    group = parser.add_argument_group("traffic")

    def option(name: str, text: str, **more):
        default = f" (default {DEFAULTS[name]})" if name in DEFAULTS else ""
        group.add_argument(shapes.flag(name), type=_text, help=text.format(default), **more)

    option("pcap", "play a capture (pcap, pcapng, .gz); PORT=FILE gives one port its own", action="append", metavar="FILE")
    option(
        "timed", "captures: when their stamps say, or SPEED times as fast; not at a rate", nargs="?", const="1", metavar="SPEED"
    )
    option(
        "source", "play what a function of yours gives: packets of scapy, or bytes", action="append", metavar="FILE.py:FUNCTION"
    )
    option("size", "frame bytes with FCS: 64 ... 9018, imix, random, rfc2544, or a range A-B")
    option("frames", "how many frames an input sends")
    option("duration", "how long the inputs send, like 200us")
    option("flows", "flows of generated traffic{}")
    option("rate", "fraction of line rate, or bits a second like 80G{}; captures: see the system")
    option("arrivals", "when frames start: constant (default), poisson, burst:FRAMES, on-off:FRAMES; the rate is the mean")
    option("flow-weights", "share of each flow: equal (default), zipf:S, or whole numbers like 8,1; the last is the others'")
    option("flow-length", "frames of a flow before another takes its place: N, geometric:N, zipf:S (default: no end)")
    option("ipv6", "part of the frames that are IPv6, 0 ... 1", metavar="PART")
    option("vlan", "part of the frames with a VLAN tag, 0 ... 1", metavar="PART")
    option("closed-loop", "at most FRAMES of an input are inside; the next goes in when one came out", metavar="FRAMES")
    option("direction", "tx, rx or both (NICs)")
    option("routes", "lines `prefix port` (routers)", metavar="FILE")
    option("seed", "everything random follows from it{}")


ENVIRONMENT = """\
environment:
  EMERY_HOME   where the Python packages go, in .venv/ (default: the checkout)
  EMERY_CACHE  where built models are kept (default: .cache/emery in the checkout; ~/.cache/emery where that is not yours)
  EMERY_JOBS   how many compilers, and simulations of a sweep, run side by side (default: one a core)
  EMERY_DEBUG  set: after the line that says what is wrong comes what the tool behind it said, or where in Emery it was
  CXX          the C++ compiler (default: g++)

exit status: 0 all well; 1 frames are not accounted for, or a goal asked for is missed; 2 bad input, in one line
"""


def _traffic(arguments) -> dict:
    return {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None}


def _list(arguments):
    rows = [(x.name, x.title) for x in map(system.load, system.names())]
    for name, title in rows:
        print(f"{name:{max(len(x[0]) for x in rows)}}  {title}")


def _show(arguments):
    from emery import schema

    pages = [arguments.page] if arguments.page else report.PAGES
    if arguments.schema:
        print(json.dumps(schema.result_schema(arguments.system), indent=2))
    elif arguments.json:
        print(json.dumps(report.show_json(arguments.system, pages), indent=2))
    else:
        print(report.show(arguments.system, pages))


def _run(arguments) -> int:
    target = arguments.system
    values = target.values(arguments.set)
    work = workload(target, _traffic(arguments))
    if arguments.json not in (None, "-"):
        check_file("--json", arguments.json)
    notes = []
    outputs = prepare_outputs(arguments.pcap_out, arguments.waves, notes.append, arguments.trace)
    status = 0
    try:
        result = run_system(target, values, work, outputs, arguments.assertions)
    except IntegrityError as error:
        _note(str(error))
        result, status = error.result, 1
    for note in notes:
        _note(note)
    if result is not None:
        _put(arguments.json, result, report.run_table(result, work.title()))
    return status


def _trace(arguments):
    from emery import traces

    for option, path in (("--perfetto", arguments.perfetto), ("--html", arguments.html)):
        if path:
            check_file(option, path)
    trace = traces.Trace(arguments.file)
    told = []
    if arguments.frame is not None:
        frame = trace.frame(arguments.frame)
        told.append(traces.in_words(frame, trace.stages(frame.stream)))
    if arguments.worst:
        told.append(traces.worst_table(trace.worst(arguments.worst)))
    if arguments.perfetto:
        trace.perfetto(arguments.perfetto)
        told.append(f"{arguments.perfetto}: for ui.perfetto.dev or chrome://tracing")
    if arguments.html:
        some = sorted(trace.worst(arguments.worst), key=lambda x: x.frame) if arguments.worst else None
        trace.html(arguments.html, some)
        told.append(arguments.html)
    print("\n\n".join(told) or trace)


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
    rows, out = sweeps.Sweep(target, found, arguments.set, _traffic(arguments), arguments.out).run(_say())
    print(sweeps.sweep_table(rows))
    print(out)
    typed = [({name: data.typed(x) for name, x in point.items()}, result) for point, result in rows]
    if arguments.table:
        data.write(arguments.table, typed)
    if arguments.plot:
        data.plot(arguments.plot, f"{target.name}, {len(rows)} points", typed)
    return int(any("failure" in result for _, result in rows))


def _search(arguments):
    from emery import searches

    if arguments.json not in (None, "-"):
        check_file("--json", arguments.json)
    target, options = arguments.system, _traffic(arguments)
    how = {"seeds": arguments.seeds, "width": arguments.width}
    found = searches.search(target, arguments.set, options, arguments.goals, arguments.out, _say(), **how)
    _put(arguments.json, found, searches.tables(found))


def _put(file: str | None, result: dict, text: str):
    """A result: as JSON on standard output (`-`), or as text there and as JSON in a file."""
    data = json.dumps(result, indent=2) + "\n"
    if file == "-":
        sys.stdout.write(data)
        return
    print(text)
    if file:
        with open(file, "w") as handle:
            handle.write(data)


def _reproduce(arguments) -> int:
    from emery import pictures, published, reproduce

    target, own = arguments.system, bool(arguments.set or arguments.seed is not None)
    if arguments.figure == "area":
        if own or arguments.publish or arguments.published or arguments.plot:
            raise UserError("reproduce: area is of the blocks of rtl/timing.toml as it has them: no option but --check")
        from emery.check import clocks

        text, worse = clocks.compare(target.name, _say())
        print(text)
        return int(arguments.check and worse)
    if (arguments.publish or arguments.published) and own:
        raise UserError("reproduce: published rows are of the targets as they stand: without --set and --seed")
    if arguments.published:
        if arguments.publish:
            raise UserError("reproduce: --published runs nothing, so there is nothing to publish")
        rows = reproduce.published_rows(target, arguments.figure, arguments.out)
    else:
        rows = reproduce.run(target, arguments.figure, arguments.set, arguments.seed, arguments.out, _say())
    print(reproduce.tables(target, rows))
    endings = (".png", ".svg", ".pdf") if arguments.plot else (".png",)
    for path in pictures.pictures(target, rows, arguments.out, endings, bool(arguments.plot and arguments.figure)):
        print(path)
    if arguments.publish:
        published.keep(target, rows)
        published.write(target)
    failed = any(row["verdict"].startswith("failed") for row in rows)
    return int(failed or (arguments.check and not all(row["met"] for row in rows)))


def _report(arguments):
    from emery.pages import report as pages

    check_file("--out", arguments.out)
    chosen = arguments.systems or list(map(system.load, system.names()))
    pages.write(list({x.folder: x for x in chosen}.values()), arguments.out, arguments.rows)
    print(arguments.out)


def _docs(arguments):
    from emery.pages import site

    site.build(arguments.out)
    print(Path(arguments.out) / "index.html")


def _soak(arguments):
    from emery.check import soak

    done = soak.soak(arguments.system, arguments.frames, arguments.seed, arguments.assertions, _note)
    told = f"{done.runs:,} runs, {done.offered:,} frames offered, {done.delivered:,} delivered, all accounted for"
    print(f"{arguments.system.name}: {told}; {done.refused:,} draws refused; seed {arguments.seed}")


def _compare(arguments):
    from emery import sweeps

    if len({x.folder for x in arguments.systems}) < 2:
        raise UserError("compare: name at least two systems")
    print(sweeps.compare(arguments.systems, _traffic(arguments)))


def _area(arguments):
    from emery.check.area import area

    cells = area(arguments.what, arguments.set, arguments.within)
    print(report.table([("cells", arguments.what), *((kind, f"{n:,g}") for kind, n in cells.items())]))


def _timing(arguments) -> int:
    from emery.check import blocks, clocks, crossings, timing

    if arguments.publish:
        clocks.publish(arguments.what, print)
        return 0
    if len(arguments.what) != 1:
        raise UserError("timing: name one system or block (or --publish)")
    if arguments.json not in (None, "-"):
        check_file("--json", arguments.json)
    subject = blocks.subject(arguments.what[0], arguments.set, arguments.within)
    if arguments.cdc:
        found = crossings.find(subject, clocks.crossings())
        text, data = crossings.text(found), found.as_json()
    else:
        found = timing.measure(subject, arguments.paths)
        text, data = timing.text(found), found.as_json()
    _put(arguments.json, data, text)
    return int(arguments.cdc and not found.clean)


def _test(arguments) -> int:
    from emery.check import coverage, python_coverage, testing

    words = arguments.pytest
    if words[:1] == ["--with"]:
        from emery.check import conformance

        return conformance.main(_folders(words))
    if words[:1] == ["--coverage"]:
        names = [x for x in words[1:] if x not in ("--record", "--python")]
        if bad := next((x for x in names if x.startswith("-")), None):
            raise UserError(f"test --coverage takes names of block tests, or --python, and --record, not {bad}")
        which = python_coverage if "--python" in words else coverage
        return which.main(names, "--record" in words)
    return testing.main(words)


def _folders(words: list[str]) -> list[str]:
    """The folders of `test --with DIR [--with DIR ...]`."""
    if len(words) % 2 or any(x != "--with" for x in words[::2]) or any(x.startswith("-") or not x for x in words[1::2]):
        raise UserError("test: after --with comes a folder, and nothing but more of that")
    return words[1::2]


def _new(arguments):
    from emery import skeleton

    print(skeleton.make(arguments.kind, arguments.folder, arguments.system, arguments.source))


def _format(arguments) -> int:
    from emery.check import testing

    return testing.format_all()


def _map(arguments):
    from emery.check import rtl_map, structure
    from emery.make import manual

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
    outcomes = mutate.run(paths, seed, most, _say())
    if arguments.json:
        print(json.dumps(mutate.summary(outcomes, seed, most), indent=2))
    else:
        print(mutate.table(outcomes, seed, most))
    return int(any(x.word() == "survived" for x in outcomes))


def _fuzz(arguments) -> int:
    from emery.check import fuzz

    return int(bool(fuzz.fuzz(arguments.seed, arguments.minutes, arguments.case)))


def _doctor(arguments) -> int:
    from emery import doctor

    found = doctor.findings()
    print(json.dumps(doctor.as_json(found), indent=2) if arguments.json else doctor.text(found))
    return int(any(x.required and not x.found for x in found))


def _completion(arguments):
    from emery import completion

    print(completion.script(arguments.shell, _parser()[1]))


def _firmware(arguments) -> int:
    from emery.make import programs

    folders = [y for x in arguments.systems or map(system.load, system.names()) for y in x.program_folders()]
    if not arguments.check:
        for folder in folders:
            programs.ship(folder)
        return 0
    stale = [x for folder in folders for x in programs.stale(folder)]
    for path in stale:
        _note(f"{in_checkout(path)} is not what its sources give: ./emery firmware")
    return int(bool(stale))


def _build(arguments):
    from emery.make import build, manual

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


def _export(arguments):
    from emery import export

    cores = export.export(arguments.folder, arguments.names, arguments.set)
    print(f"{arguments.folder}: {len(cores)} cores: fusesoc library add emery {arguments.folder}")


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    about = "Programmable network interfaces in RTL, on a cycle-accurate bench."
    parser = _Parser(prog="emery", description=about, epilog=ENVIRONMENT, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"emery {__version__}")
    parser.set_defaults(func=lambda arguments: parser.print_help(), packages=())
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)

    def command(name: str, func, packages: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        made.set_defaults(func=func, packages=tuple(packages.split()))
        return made

    command("list", _list, "", "the systems, one line each")
    show = command("show", _show, "", "parameters, ports and targets of a system")
    _system_option(show)
    show.add_argument("page", nargs="?", choices=report.PAGES, help=f"only this: {', '.join(report.PAGES)}")
    show.add_argument("--json", action="store_true", help="the same as JSON")
    show.add_argument("--schema", action="store_true", help="the JSON Schema of its results instead, with units")
    run = command("run", _run, "run", "send traffic through a system and measure")
    _system_with_option(run)
    _traffic_options(run)
    _set_option(run)
    run.add_argument(
        "--json", type=_text, metavar="FILE", help="write the result; `-`: to standard output, in place of the table"
    )
    run.add_argument("--pcap-out", type=_text, metavar="DIR", help="write what came out, one capture an output")
    run.add_argument("--waves", type=_text, metavar="FILE.fst", help="write waves (needs a build of its own; short runs)")
    run.add_argument("--trace", type=_text, metavar="FILE", help="a record for each frame, as .jsonl or .parquet (see trace)")
    run.add_argument("--assertions", action="store_true", help="check the RTL's assertions too (slower, own build)")
    trace = command("trace", _trace, "", "where the frames of a traced run were, what kept them, and what was dropped")
    trace.add_argument("file", type=_text, metavar="FILE", help="what run --trace has written")
    trace.add_argument("--frame", type=_number(0, 2**32), metavar="N", help="the way of one frame")
    trace.add_argument("--worst", type=_number(1, 10**6), metavar="K", help="the K frames that took longest")
    trace.add_argument("--perfetto", type=_text, metavar="OUT.json", help="write it for ui.perfetto.dev and chrome://tracing")
    trace.add_argument("--html", type=_text, metavar="OUT.html", help="write a timeline for a browser (with --worst: of those)")
    sweep = command("sweep", _sweep, "run", "many runs over parameters and options; goes on where it was stopped")
    _system_with_option(sweep)
    sweep.add_argument(
        "--over", action="append", type=_text, metavar="NAME=A,B,C", help="values; NAME=LOW..HIGH with --sample (repeatable)"
    )
    sweep.add_argument("--sample", type=_number(1, 10**6), metavar="N", help="N points drawn from them, not all combinations")
    sweep.add_argument(
        "--list", type=_text, metavar="FILE.csv", help="the points of a table instead: a line of names, then values"
    )
    sweep.add_argument("--table", type=_text, metavar="FILE", help="all numbers of all points as .csv or .parquet")
    sweep.add_argument("--plot", type=_text, metavar="FILE", help="rates, latency and loss as .png, .svg or .pdf")
    sweep.add_argument("--out", type=_text, metavar="FILE", help="finished runs, a line of JSON each (default in out/)")
    _set_option(sweep)
    _traffic_options(sweep)
    search = command("search", _search, "run", "the highest rates that lose nothing, and little: RFC 2544, NDR and PDR")
    _system_with_option(search)
    search.add_argument("--goals", type=_goals, default=GOALS, metavar="A,B", help=f"which of {', '.join(GOALS)} (default all)")
    search.add_argument("--seeds", type=_number(1, 1000), default=3, metavar="N", help="runs of each load (default 3)")
    search.add_argument("--width", type=_share, default=0.005, help="how far loads are apart, of line rate (default 0.005)")
    search.add_argument("--json", type=_text, metavar="FILE", help="write the result; `-`: to standard output")
    search.add_argument("--out", type=_text, metavar="FILE", help="finished runs, a line of JSON each (default in out/)")
    _set_option(search)
    _traffic_options(search)
    reproduce = command("reproduce", _reproduce, "run", "the paper's numbers beside Emery's")
    _system_option(reproduce)
    reproduce.add_argument("figure", nargs="?", type=_text, help="one figure or one target; all without it; area: its blocks")
    _set_option(reproduce)
    reproduce.add_argument("--seed", type=_text)
    reproduce.add_argument("--check", action="store_true", help="end with status 1 where a goal is missed")
    reproduce.add_argument("--publish", action="store_true", help="keep the rows as the tables of the system's pages")
    reproduce.add_argument("--published", action="store_true", help="run nothing: the rows that are published")
    reproduce.add_argument(
        "--plot", action="store_true", help="draw figures as SVG and PDF too (one that is named, in any case)"
    )
    reproduce.add_argument("--out", metavar="DIR", default="out", type=_text, help="where rows and pictures go (default out/)")
    made = command(
        "report", _report, "run", "one HTML file: diagrams, figures, tables, what is approximate, where each number is from"
    )
    made.add_argument("systems", nargs="*", type=system.load, metavar="SYSTEM", help="default: all")
    made.add_argument("--out", type=_text, required=True, metavar="FILE.html")
    made.add_argument(
        "--from", dest="rows", type=_text, metavar="DIR", help="rows of `reproduce --out DIR` in place of the published ones"
    )
    docs = command(
        "docs", _docs, "run docs", "the documentation as a site: pages of the checkout and of all blocks, links checked"
    )
    docs.add_argument("--out", type=_text, required=True, metavar="DIR")
    compare = command("compare", _compare, "run", "the same traffic through several systems")
    compare.add_argument("systems", nargs="+", type=system.load, metavar="SYSTEM")
    _traffic_options(compare)
    soak = command(
        "soak", _soak, "run", "runs with settings, traffic and faults drawn from a seed, until so many frames are through"
    )
    _system_option(soak)
    many = _number(1, 10**12)
    soak.add_argument("--frames", type=many, default=10**7, metavar="N", help="frames to offer in all (default 1e7)")
    soak.add_argument("--seed", type=_number(0, 2**53), default=1, help="what is drawn follows from it (default 1)")
    soak.add_argument("--assertions", action="store_true", help="check the RTL's assertions too (slower, own build)")
    area = command("area", _area, "run test", "FPGA area of a system or of a block, by Yosys (minutes)")
    area.add_argument("what", metavar="SYSTEM|BLOCK")
    timing = command("timing", _timing, "run test", "LUT levels and nanoseconds between registers, the longest paths by name")
    timing.add_argument("what", nargs="*", metavar="SYSTEM|BLOCK")
    timing.add_argument("--cdc", action="store_true", help="clock crossings instead; status 1 where one is not allowed")
    timing.add_argument("--paths", type=_number(1, 1000), default=5, help="how many paths of each clock (default 5)")
    timing.add_argument("--publish", action="store_true", help="measure blocks of rtl/timing.toml (all) for docs/clocks.md")
    timing.add_argument("--json", type=_text, metavar="FILE", help="write the result; `-`: to standard output, as it is")
    for parser_ in (area, timing):
        parser_.add_argument("--in", dest="within", type=_text, metavar="SYSTEM", help="a block as this system has it")
        _set_option(parser_)
    test = command(
        "test",
        _test,
        "run test cocotb fusesoc docs",
        "the test suite; everything after it goes to pytest (see also: test --coverage [BLOCK...|--python] [--record])",
    )
    test.add_argument("--with", metavar="DIR", help="test a folder of your own instead (repeatable)")
    test.add_argument("pytest", nargs="*")
    new = command("new", _new, "run", "a folder of your own to begin with, for --with: it works as it is")
    new.add_argument("kind", choices=extension.KINDS, help=f"one of {', '.join(extension.KINDS)}", metavar="KIND")
    new.add_argument("folder", type=_text, metavar="DIR", help="is made")
    new.add_argument("--system", type=system.load, metavar="SYSTEM", help="whose part it replaces (default: one that has such)")
    new.add_argument(
        "--from", dest="source", type=_text, metavar="NAME", help="the module or file to begin from (default: one)"
    )
    command("format", _format, "run test", "format the sources in place")
    rtl = command("map", _map, "run", "the RTL's rooms, blocks and systems: who uses what, and what breaks a rule")
    rtl.add_argument("--modules", action="store_true", help="every module, a line each")
    rtl.add_argument("--readme", action="store_true", help="write the table on the front page and those of registers in docs/")
    prove = command("prove", _prove, "run test", "prove blocks")
    prove.add_argument("files", nargs="*", metavar="FILE", help="rtl/*/*_formal.sv (default: all)")
    prove.add_argument("--mode", choices=("prove", "bmc"))
    prove.add_argument("--depth", type=_number(1, 1000), help="clocks, 1 ... 1000")
    prove.add_argument("--engine", choices=("induction", "pdr", "bmc3"))
    mutate = command(
        "mutate", _mutate, "run test", "put faults into sources, one at a time; status 1 when their own tests do not notice one"
    )
    mutate.add_argument("what", nargs="*", metavar="BLOCK|FILE", help="blocks, files of rtl/, bench/, src/emery (default: all)")
    mutate.add_argument("--seed", type=_number(0, 2**53), default=1, help="which faults follows from it (default 1)")
    mutate.add_argument("--max", type=_number(1, 10000), default=20, metavar="N", help="faults a file (default 20)")
    mutate.add_argument("--list", action="store_true", help="only say which")
    mutate.add_argument("--json", action="store_true", help="the outcome of each as JSON, on standard output")
    fuzz = command(
        "fuzz", _fuzz, "run", "try command lines, files and runs at random; status 1 when one is not answered as it should be"
    )
    fuzz.add_argument("--seed", type=_number(0, 2**53), default=1, help="everything random follows from it (default 1)")
    fuzz.add_argument("--minutes", type=_number(1, 10000), default=10, help="for how long (default 10)")
    fuzz.add_argument("--case", type=_number(0, 10**9), metavar="N", help="only case N of the seed")
    doctor = command(
        "doctor", _doctor, "", "what is on this machine, what is missing, the command that mends it; status 1: no run"
    )
    doctor.add_argument("--json", action="store_true", help="the same as JSON")
    completion = command("completion", _completion, "", 'completes words in a shell: eval "$(./emery completion bash)"')
    completion.add_argument("shell", choices=("bash", "zsh"))
    firmware = command("firmware", _firmware, "run firmware", "build the programs of systems with cores, to ship with them")
    firmware.add_argument("systems", nargs="*", type=system.load, metavar="SYSTEM", help="default: all")
    firmware.add_argument("--check", action="store_true", help="only compare what is shipped; status 1 where it differs")
    build = command("build", _build, "run", "build a simulator or a block test and print its path")
    build.add_argument("what", metavar="SYSTEM|FILE", help="a system, a _tb.sv file or a _test.cpp file")
    build.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    build.add_argument("--waves", action="store_true")
    build.add_argument("--assertions", "--assert", action="store_true")
    build.add_argument("--tell", action="store_true", help="print what a run tells the simulator of the system, build nothing")
    build.add_argument("--manual", action="store_true", help="make its register manual, in HTML, and print its path")
    export = command("export", _export, "run test", "write blocks and systems as a FuseSoC library, for a project of your own")
    export.add_argument("folder", type=Path, metavar="DIR")
    export.add_argument("names", nargs="*", metavar="BLOCK|SYSTEM", help="with all that they need (default: everything)")
    _set_option(export)
    return parser, commands.choices


def parsers() -> dict[str, argparse.ArgumentParser]:
    """All commands, and how their words are read."""
    return _parser()[1]


def commands() -> list[str]:
    """The names of all commands."""
    return list(parsers())


def _parse(argv: list[str]) -> argparse.Namespace:
    for word in argv:
        if not word.isprintable():  # bytes that are no text, line breaks: a message would not be a line
            raise UserError(f"{word.encode(errors='backslashreplace')!r}: not plain text")
    parser, commands = _parser()
    if argv and not argv[0].startswith("-") and argv[0] not in commands:
        raise UserError(f"there is no command {argv[0]}{nearest(argv[0], commands)}")
    if argv[:1] == ["test"] and argv[1:2] not in (["-h"], ["--help"]):  # pytest's own options look like ours
        arguments = parser.parse_args(argv[:1])
        arguments.pytest = argv[1:]
        if argv[1:2] == ["--with"]:
            arguments.packages = ("run", "test", *_compiler(map(extension.load, _folders(argv[1:]))))
        return arguments
    arguments = parser.parse_args(argv)
    if hasattr(arguments, "with_"):
        arguments.system = extension.chosen(arguments.system, arguments.with_)
        arguments.packages += _compiler(arguments.system.extensions)
    if getattr(arguments, "figure", None) == "area":
        arguments.packages += ("test",)  # Yosys
    return arguments


def _compiler(extensions) -> tuple[str, ...]:
    """The list of packages with the cross compiler, where programs are the user's own."""
    return ("firmware",) * any(x.kind in extension.PROGRAMS for x in extensions)


def packages(argv: list[str]) -> tuple[str, ...]:
    """The lists of packages (requirements/NAME.txt) that a command needs; ends the process when its words are wrong."""
    found = []
    status = _told(lambda: found.append(_parse(argv)))
    if not found:
        sys.exit(status)
    arguments = found[0]
    tables = (getattr(arguments, x, None) for x in ("table", "trace", "file"))
    more = ["data"] * any(str(x).endswith(".parquet") for x in tables)
    named = (x.partition("=")[2] if x[0].isdigit() and "=" in x else x for x in getattr(arguments, "source", None) or ())
    return (*arguments.packages, *more, *["scapy"] * any(map(packets_from.needs_scapy, named)))


def main(argv: list[str]) -> int:
    """Runs one command; gives the exit status: 0 well, 1 the integrity check failed, 2 bad input."""

    def command():
        arguments = _parse(argv)
        return arguments.func(arguments)

    return _told(command)


def _told(work) -> int:
    """Does the work; gives its status. What goes wrong is told in one line."""
    log = ""
    try:
        status = work() or 0
        sys.stdout.flush()
        return status
    except SystemExit:  # argparse, after --help and --version
        return _told(lambda: 0)
    except UserError as error:
        _note(str(error))
        log = getattr(error, "log", "")
    except IntegrityError as error:
        _note(str(error))
        return 1
    except KeyboardInterrupt:
        _note("interrupted")
        return 130
    except process.Ended as error:
        _note(f"ended by {error}")
        return 128 + error.number
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:  # a full disk, most likely
        _note(f"{error.filename or 'output'}: {error.strerror or error}")
        _drop_output()
    except Exception as error:  # a fault of Emery's own
        place = traceback.extract_tb(error.__traceback__)[-1]
        _note(f"internal error in {place.filename}:{place.lineno}: {type(error).__name__}: {error} (EMERY_DEBUG=1 says more)")
        log = traceback.format_exc()
    if os.environ.get("EMERY_DEBUG") and log:
        print(log, file=sys.stderr)
    return 2


def _drop_output():
    """What is still to be written to a standard output that takes nothing is not tried again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

# SPDX-License-Identifier: Apache-2.0
"""Commands that tell: what there is, the papers' numbers beside Emery's, the documentation."""

import json
from pathlib import Path

from emery import executors, report, system
from emery.commands import options
from emery.commands.options import word
from emery.common import UserError
from emery.runs import check_file


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


def _reproduce(arguments) -> int:
    from emery import pictures, published, reproduce

    target, own = arguments.system, bool(arguments.set or arguments.seed is not None)
    if arguments.figure == "area":
        if own or arguments.publish or arguments.published or arguments.plot:
            raise UserError("reproduce: area is of the blocks of rtl/timing.toml as it has them: no option but --check")
        from emery.check import clocks

        text, worse = clocks.compare(target.name, options.say())
        print(text)
        return int(arguments.check and worse)
    if (arguments.publish or arguments.published) and own:
        raise UserError("reproduce: published rows are of the targets as they stand: without --set and --seed")
    if arguments.published:
        if arguments.publish:
            raise UserError("reproduce: --published runs nothing, so there is nothing to publish")
        rows = reproduce.published_rows(target, arguments.figure, arguments.out)
    else:
        with executors.executor(arguments.executor) as where:
            asked = (target, arguments.figure, arguments.set, arguments.seed, arguments.out)
            rows = reproduce.run(*asked, options.say(), where)
    print(reproduce.tables(target, rows))
    endings = (".png", ".svg", ".pdf") if arguments.plot else (".png",)
    for path in pictures.pictures(target, rows, arguments.out, endings, bool(arguments.plot and arguments.figure)):
        print(path)
    moved = [] if own or arguments.published else published.moved(target, rows)
    for line in moved:
        print(line)
    if arguments.publish:
        published.keep(target, rows)
        published.write(target)
        moved = []
    failed = any(row["verdict"].startswith("failed") for row in rows)
    return int(failed or (arguments.check and bool(moved or not all(row["met"] for row in rows))))


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


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    command("list", _list, "", "the systems, one line each")
    show = command("show", _show, "", "parameters, ports and targets of a system")
    options.system_option(show)
    show.add_argument("page", nargs="?", choices=report.PAGES, help=f"only this: {', '.join(report.PAGES)}")
    show.add_argument("--json", action="store_true", help="the same as JSON")
    show.add_argument("--schema", action="store_true", help="the JSON Schema of its results instead, with units")
    reproduce = command("reproduce", _reproduce, "run", "the paper's numbers beside Emery's")
    options.system_option(reproduce)
    reproduce.add_argument("figure", nargs="?", type=word, help="one figure or one target; all without it; area: its blocks")
    options.set_option(reproduce)
    reproduce.add_argument("--seed", type=word)
    reproduce.add_argument(
        "--check",
        action="store_true",
        help="end with status 1 where a goal is missed, or a row is published otherwise (by 2 %%)",
    )
    reproduce.add_argument("--publish", action="store_true", help="keep the rows as the tables of the system's pages")
    reproduce.add_argument("--published", action="store_true", help="run nothing: the rows that are published")
    reproduce.add_argument(
        "--plot", action="store_true", help="draw figures as SVG and PDF too (one that is named, in any case)"
    )
    options.executor_option(reproduce)
    reproduce.add_argument("--out", metavar="DIR", default="out", type=word, help="where rows and pictures go (default out/)")
    made = command(
        "report", _report, "run", "one HTML file: diagrams, figures, tables, what is approximate, where each number is from"
    )
    made.add_argument("systems", nargs="*", type=system.load, metavar="SYSTEM", help="default: all")
    made.add_argument("--out", type=word, required=True, metavar="FILE.html")
    made.add_argument(
        "--from",
        dest="rows",
        type=word,
        metavar="DIR",
        help="rows of `reproduce --out DIR` in place of the published ones",
    )
    docs = command(
        "docs", _docs, "run docs", "the documentation as a site: pages of the checkout and of all blocks, links checked"
    )
    docs.add_argument("--out", type=word, required=True, metavar="DIR")

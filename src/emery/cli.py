# SPDX-License-Identifier: Apache-2.0
"""The command line.

It is read with the standard library alone: the launcher asks `packages` which packages a command needs before it fetches any.
"""

import argparse
import os
import re
import signal
import sys
import traceback

from emery import __version__, extension, process, signals
from emery import packets as packets_from
from emery.commands import checks, guests, hardware, machine, pages, runs, traces
from emery.commands.options import note
from emery.common import UserError, nearest
from emery.runs import IntegrityError


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message, file=None):  # argparse's own says nothing when that fails
        (file or sys.stderr).write(message)

    def error(self, message):
        raise UserError(f"{message} (see ./emery {self.prog.split()[-1]} --help)" if " " in self.prog else message)


ENVIRONMENT = """\
environment:
  EMERY_HOME   where the Python packages go, in .venv/ (default: the checkout)
  EMERY_CACHE  where built models are kept (default: .cache/emery in the checkout; ~/.cache/emery where that is not yours)
  EMERY_JOBS   how many compilers, simulations of a sweep and tests run side by side (default: one a core)
  EMERY_DEBUG  set: after the line that says what is wrong comes what the tool behind it said, or where in Emery it was
  EMERY_SHORT_RUNS  set: models are compiled in half the time, with assertions, and take longer (./emery test sets it)
  EMERY_TUNED  0: simulators that ./emery tune made are left aside
  CXX          the C++ compiler (default: g++)

exit status: 0 all well; 1 frames are not accounted for, or a goal asked for is missed; 2 bad input, in one line
"""


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

    for kind in (pages, runs, traces, guests, checks, hardware, machine):
        kind.add(command)
    return parser, commands.choices


def parsers() -> dict[str, argparse.ArgumentParser]:
    """All commands, and how their words are read."""
    return _parser()[1]


def commands() -> list[str]:
    """The names of all commands."""
    return list(parsers())


def _parse(argv: list[str]) -> argparse.Namespace:
    behind = argv.index("--") if argv[:1] == ["linux"] and "--" in argv else len(argv)
    for at, word in enumerate(argv):
        # Bytes that are no text, line breaks: a message would not be a line. A guest's command may have lines.
        if not (re.sub("[\n\t]", "", word) if at > behind else word).isprintable():
            raise UserError(f"{word.encode(errors='backslashreplace')!r}: not plain text")
    parser, commands = _parser()
    if argv and not argv[0].startswith("-") and argv[0] not in commands:
        raise UserError(f"there is no command {argv[0]}{nearest(argv[0], commands)}")
    if argv[:1] == ["test"] and argv[1:2] not in (["-h"], ["--help"]):  # pytest's own options look like ours
        arguments = parser.parse_args(argv[:1])
        arguments.pytest = argv[1:]
        if argv[1:2] == ["--with"]:
            arguments.packages = ("run", "test", *_compiler(map(extension.load, checks.folders(argv[1:]))))
        return arguments
    arguments = parser.parse_args(argv)
    if hasattr(arguments, "with_"):
        arguments.system = extension.chosen(arguments.system, arguments.with_)
        arguments.packages += _compiler(arguments.system.extensions)
    arguments.packages += _compiler(map(extension.load, getattr(arguments, "own", ())))
    if argv[:1] == ["trace"] and arguments.plot:
        arguments.packages += ("run",)  # matplotlib
    if hasattr(arguments, "board"):
        arguments.packages = arguments.board.packages if arguments.board else ()  # without one they are listed
    if getattr(arguments, "figure", None) == "area":
        arguments.packages += ("test",)  # Yosys
    return arguments


def _compiler(extensions) -> tuple[str, ...]:
    """The list of packages with the cross compiler, where programs are the user's own."""
    return ("firmware",) * any(x.kind in extension.PROGRAMS for x in extensions)


def packages(argv: list[str]) -> tuple[str, ...]:
    """The lists of packages (requirements/NAME.txt) that a command needs; ends the process when its words are wrong."""
    process.open_standard_streams()
    found = []
    status = _told(lambda: found.append(_parse(argv)))
    if not found:
        sys.exit(status)
    arguments = found[0]
    tables = (getattr(arguments, x, None) for x in ("table", "file"))
    more = ["data"] * any(str(x).endswith(".parquet") for x in tables)
    named = (x.partition("=")[2] if x[0].isdigit() and "=" in x else x for x in getattr(arguments, "source", None) or ())
    more += ["dask"] * bool(getattr(arguments, "executor", None))
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
        note(str(error))
        log = getattr(error, "log", "")
    except IntegrityError as error:
        note(str(error))
        return 1
    except KeyboardInterrupt:
        return _ended(signal.SIGINT)
    except process.Ended as error:
        return _ended(error.number)
    except BrokenPipeError:
        process.drop(sys.stdout)
        return 0
    except OSError as error:  # a full disk, most likely
        note(f"{error.filename or 'output'}: {error.strerror or error}")
        process.drop(sys.stdout)
    except Exception as error:  # a fault of Emery's own
        if process.ending():  # modules in C give what came while they were loaded another name
            return _ended(process.ending())
        place = traceback.extract_tb(error.__traceback__)[-1]
        note(f"internal error in {place.filename}:{place.lineno}: {type(error).__name__}: {error} (EMERY_DEBUG=1 says more)")
        log = traceback.format_exc()
    if os.environ.get("EMERY_DEBUG") and log:
        print(log, file=sys.stderr)
    return 2


def _ended(number: int) -> int:
    note(signals.told(number))
    return 128 + number

# SPDX-License-Identifier: Apache-2.0
"""Commands that put a machine of its own around a simulated card."""

import argparse
import os

from emery.commands.options import note, number, set_option, word
from emery.common import UserError


def _linux(arguments) -> int:
    from emery.guest import run
    from emery.make import linux
    from emery.runs import check_file, make_directory, prepare_outputs

    if arguments.command[:1] != ["--"] or len(arguments.command) == 1:
        raise UserError("linux: what is to run in the guest comes behind --: ./emery linux -- ping -c 3 10.0.0.2")
    command = arguments.command[1:]
    linux.check()
    target = run.default_system()
    values = target.values(arguments.set)
    capture = ""
    if arguments.pcap_out:
        make_directory("--pcap-out", arguments.pcap_out)
        capture = os.path.abspath(os.path.join(arguments.pcap_out, "wire.pcap"))
    if arguments.kernel_log:
        check_file("--kernel-log", arguments.kernel_log)
    waves = prepare_outputs(None, arguments.waves, note=note).waves.path
    outputs = run.Outputs(capture, waves, os.path.abspath(arguments.kernel_log) if arguments.kernel_log else "")
    return run.run(target, values, command, arguments.guests, arguments.seed, outputs)


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    linux = command("linux", _linux, "run", "a command in a real Linux that drives the simulated NIC; its output, its status")
    linux.add_argument("--guests", type=number(1, 2), default=2, metavar="N", help="1: nobody at the other end (default 2)")
    linux.add_argument("--seed", type=number(0, 2**62), default=1, metavar="N", help="of the guests' random numbers (1)")
    set_option(linux)
    linux.add_argument("--pcap-out", type=word, metavar="DIR", help="write what crossed the wire, as wire.pcap")
    linux.add_argument("--kernel-log", type=word, metavar="FILE", help="write what the guest's kernel says")
    linux.add_argument("--waves", type=word, metavar="FILE.fst", help="write waves (needs a build of its own; short runs)")
    linux.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="what runs in the first guest")

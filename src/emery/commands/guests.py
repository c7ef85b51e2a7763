# SPDX-License-Identifier: Apache-2.0
"""Commands that put machines, programs and interfaces of their own around a simulated card."""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

from emery.commands.options import (
    check_json,
    note,
    number,
    put,
    set_option,
    system_with_option,
    trace_options,
    traffic,
    traffic_options,
    waves_option,
    word,
)
from emery.common import UserError


def _card(systems: list, name: str | None):
    """The system of that name among those a Linux can drive; the first without one."""
    found = [x for x in systems if name in (None, x.name)]
    if not found:
        raise UserError(f"linux: --card {name}: there is a driver for {', '.join(x.name for x in systems)}")
    return found[0]


def _wire(target, values: dict, arguments) -> dict:
    """The settings of what comes over the card's wire; none where that joins the guests."""
    from emery.workload import workload

    options = {**traffic(arguments), "seed": str(arguments.seed)}
    if not target.linux.get("traffic"):
        if given := [x for x, value in options.items() if value and x != "seed"]:
            raise UserError(f"linux: --{given[0].replace('_', '-')}: the wire of {target.name} joins the guests")
        target.judge({**values, "linux": True})
        return {}
    if (arguments.guests or 1) > 1 or arguments.switch is not None:
        raise UserError(f"linux: --guests 2, --switch: the wire of {target.name} ends in its card")
    work = workload(target, options)
    work.judge(target, values, linux=True)
    return {**work.settings(), **work.played()}


# A switch between the guests: what each word of `--switch` sets, the units that it may have, the default.
_SWITCH = {
    "latency": ("switch_latency_ns", {"ns": 1, "us": 1000, "ms": 10**6}, "500ns"),
    "queue": ("switch_queue_bytes", {"B": 1, "k": 1024, "M": 1024**2}, "512k"),
    "ageing": ("switch_ageing_ms", {"ms": 1, "s": 1000}, "300s"),
}


def _switch(text: str | None, guests: int) -> dict:
    """The settings of what joins the guests."""
    if text is None and guests < 3:
        return {}
    if guests < 2:
        raise UserError("linux: --switch joins guests, and there is one")
    given = {}
    for part in (text or "").split(",") if text else []:
        name, _, value = part.partition("=")
        if name not in _SWITCH or name in given:
            raise UserError(f"linux: --switch {part}: say each of {', '.join(_SWITCH)} once, like latency=1us,queue=64k")
        given[name] = value
    found = {"switch": True}
    for name, (setting, units, default) in _SWITCH.items():
        read = re.fullmatch("([0-9]{1,9})([a-zA-Z]+)", given.get(name, default))
        if not read or read[2] not in units:
            raise UserError(f"linux: --switch {name}={given[name]}: a whole number and one of {', '.join(units)}")
        found[setting] = int(read[1]) * units[read[2]]
    return found


_OF_GUESTS = ("peer", "peer_log", "kernel_log", "kernel_words", "program", "debug", "json", "command")


def _serve(arguments) -> int:
    """Cards for machines of the user's own."""
    from emery.guest import run, serve
    from emery.runs import make_directory

    given = [x for x in _OF_GUESTS if getattr(arguments, x)]
    if given or arguments.lane == "qemu":
        word = "--lane qemu" if not given else "a command" if given[0] == "command" else f"--{given[0].replace('_', '-')}"
        raise UserError(f"linux: --serve: the machines are yours; {word} is of ours")
    target = _card(run.systems(), arguments.card)
    values = target.values(arguments.set)
    if target.linux.get("traffic") or values.get("fault", "none") != "none":
        raise UserError("linux: --serve: --card capture and fault are of our own machines")
    _wire(target, values, arguments)
    make_directory("--serve", arguments.serve)
    paths = serve.sockets(Path(arguments.serve).resolve(), arguments.guests or 2)

    def begun():
        print(serve.announcement(target, paths, "switch" in files), flush=True)

    files = {"capture": _capture(arguments), **_files(target, values, arguments)}
    files |= _switch(arguments.switch, len(paths))
    result = serve.run(target, values, paths, arguments.seed, files, begun)
    print(serve.summary(target, result))
    return 0


def _capture(arguments) -> str:
    """Where what crosses the wire is written; empty: nowhere."""
    from emery.runs import make_directory

    if not arguments.pcap_out:
        return ""
    make_directory("--pcap-out", arguments.pcap_out)
    return os.path.abspath(os.path.join(arguments.pcap_out, "wire.pcap"))


# Of what the card makes other frames in memory than those on the line.
_CHANGES = ("vlan_tags", "header_split", "receive_coalescing")


def _files(target, values: dict, arguments) -> dict:
    """Settings of waves and trace; empty words: none."""
    from emery.runs import prepare_outputs

    if arguments.trace and target.linux.get("traffic"):
        raise UserError("linux: --trace: of frames between guests; --card capture is in one")
    if arguments.trace and (wrong := next((x for x in _CHANGES if values.get(x)), None)):
        raise UserError(f"linux: --trace looks for frames in memory as they came: not with {wrong}=true")
    files = prepare_outputs(None, arguments.waves, arguments.trace, trace_bytes=arguments.trace_bytes, note=note)
    return {"waves": files.waves.path, "trace": files.trace, "trace_bytes": files.trace_bytes}


def _linux(arguments) -> int:
    from emery.guest import run
    from emery.make import debian_kernel, linux
    from emery.runs import check_file

    if arguments.serve is not None:
        return _serve(arguments)
    from emery.guest import shell

    command, lane = arguments.command[1:], arguments.lane
    if not command and (lane != "uml" or not shell.there()) or arguments.command[:1] not in ([], ["--"]):
        else_ = "; without it there is a shell, on a terminal, in the lane uml"
        raise UserError(f"linux: what is to run in the guest comes behind --: ./emery linux -- ping -c 3 10.0.0.2{else_}")
    {"uml": linux.check, "qemu": debian_kernel.check, "vfio-user": debian_kernel.check_vfio_user}[lane]()
    target = _card(run.systems(), arguments.card)
    given = {x.partition("=")[0] for x in arguments.set}
    values = target.values([*(f"{k}={v}" for k, v in target.linux.get("set", {}).items() if k not in given), *arguments.set])
    if lane != "uml" and (arguments.debug or target.linux.get("traffic") or values.get("fault", "none") != "none"):
        raise UserError(f"linux: --lane {lane}: --debug, --card capture and fault are of the lane uml")
    wire = _wire(target, values, arguments)
    capture = _capture(arguments)
    for option, paths in (("--kernel-log", [arguments.kernel_log]), ("--peer-log", arguments.peer_log)):
        for path in filter(None, paths):
            check_file(option, path)
    check_json(arguments.json)
    count = arguments.guests or (1 if wire else 2)
    wire |= _switch(arguments.switch, count)
    if max(len(arguments.peer), len(arguments.peer_log)) >= count:
        raise UserError(f"linux: --peer and --peer-log, each time, are of one more guest, and there are {count} in all")
    kernel_log = os.path.abspath(arguments.kernel_log) if arguments.kernel_log else ""
    peer_logs = tuple(map(os.path.abspath, arguments.peer_log))
    outputs = run.Outputs(capture, _files(target, values, arguments), kernel_log, peer_logs, arguments.json or "")
    words = tuple((arguments.kernel_words or "").split())
    for program in arguments.program:
        if not shutil.which(program):
            raise UserError(f"linux: --program {program}: there is no such program")
    programs = tuple(arguments.program)
    if not command:
        note(f"a shell in the first guest; {shell.HOW}")
    devices = values[target.linux["devices"]] if "devices" in target.linux else 1
    guests = run.Guests(count, arguments.seed, tuple(arguments.peer), arguments.debug, words, programs, devices, lane)
    return run.run(target, values, command, guests, outputs, wire)


_MOST_GUESTS = 8
_COSTS = ("poll_ns", "frame_ns", "mmio_ns")


def _dpdk(arguments) -> int:
    from emery.guest import testpmd
    from emery.make import dpdk
    from emery.runs import prepare_outputs
    from emery.workload import workload

    if arguments.command and arguments.command[0] != "--":
        raise UserError(
            f"dpdk: {arguments.command[0]}: testpmd's own arguments come behind --: ./emery dpdk -- --forward-mode=mac"
        )
    words = arguments.command[1:]
    check_json(arguments.json)
    dpdk.check()
    target = testpmd.default_system()
    values = target.values(arguments.set)
    if values["ports"] * values["interfaces"] != 1:
        raise UserError("dpdk: the driver is for cards with one port (ports=1, interfaces=1)")
    work = workload(target, {**traffic(arguments), **({"size": "64"} if arguments.silent and not arguments.size else {})})
    if arguments.silent and not work.duration_ps:
        raise UserError("dpdk: --silent: say for how long with --duration, like 100us")
    work.judge(target, values)
    outputs = prepare_outputs(arguments.pcap_out, arguments.waves, note=note)
    costs = {name: getattr(arguments, name) for name in _COSTS if getattr(arguments, name) is not None}
    job = testpmd.Job(words, costs, work, arguments.silent, outputs.pcap_out, outputs.waves.path)
    said, result = testpmd.run(target, values, job)
    if arguments.json != "-":
        print(
            said if words else said[max(said.find("  ---------------------- Forward"), 0) : said.rfind("++") + 2],
            end="\n" * bool(said),
        )
    put(arguments.json, result, _line_totals(result))
    return 0


def _line_totals(result: dict) -> str:
    lines = [f"{result['system']}: {result['simulated_ns'] / 1000:.1f} us simulated, seed {result['seed']}", ""]
    for way, words in (("to_card", "over the line to the card"), ("from_card", "over the line from the card")):
        count = result["wire"][way]
        lines.append(f"{words:<28} {count['frames']:,} frames, {count['bytes']:,} bytes")
    driver = result["driver"]
    lines.append(f"{'registers':<28} {driver['register_reads']:,} reads, {driver['register_writes']:,} writes")
    return "\n".join(lines)


def _seconds(text: str) -> float:
    """The type of `--for`."""
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,3})?|\.[0-9]{1,3}", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds")
    return float(text)


def _attach(arguments) -> int:
    from emery import attach
    from emery.runs import IntegrityError, prepare_outputs

    target = arguments.system
    values = target.values(arguments.set)
    ends = attach.ends(target, values, arguments.tap, arguments.control_plane or "")
    check_json(arguments.json)
    outputs = prepare_outputs(arguments.pcap_out, arguments.waves, note=note)

    def begun():
        joined = ", ".join(f"{x} at {x.place}" for x in ends)
        where = sys.stderr if arguments.json == "-" else sys.stdout
        print(f"{target.name}: {joined}; simulated time is slower than the wall's; Ctrl-C ends it", file=where, flush=True)

    status = 0
    try:
        result = attach.run(target, values, ends, outputs, arguments.seconds, begun)
    except IntegrityError as error:
        note(str(error))
        result, status = error.result, 1
    if result is not None:
        put(arguments.json, result, attach.summary(result))
    return status


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    linux = command("linux", _linux, "run", "a command in a real Linux that drives the simulated NIC; its output, its status")
    linux.add_argument(
        "--card", type=word, metavar="SYSTEM", help="the system in their slots (default: the one whose wire joins two guests)"
    )
    linux.add_argument(
        "--guests",
        type=number(1, _MOST_GUESTS),
        metavar="N",
        help="1: nobody at the other end; from 3 on: a switch (default 2)",
    )
    linux.add_argument(
        "--switch",
        nargs="?",
        const="",
        metavar="NAME=VALUE,...",
        help="a learning switch between the guests: latency=500ns, queue=512k of a port, ageing=300s",
    )
    linux.add_argument(
        "--lane",
        choices=("uml", "qemu", "vfio-user"),
        default="uml",
        help="Debian's kernel in QEMU, in a time of its own: qemu in 7.2, vfio-user in 10.1 or later (uml)",
    )
    linux.add_argument(
        "--serve", type=word, metavar="DIR", help="no guests: the cards wait in DIR for machines of yours that speak vfio-user"
    )
    linux.add_argument("--seed", type=number(0, 2**62), default=1, metavar="N", help="of the guests' random numbers (1)")
    set_option(linux)
    traffic_options(linux, ("traffic", "direction", "routes", "closed_loop", "seed"))
    linux.add_argument("--pcap-out", type=word, metavar="DIR", help="write what crossed the wire, as wire.pcap")
    linux.add_argument("--kernel-log", type=word, metavar="FILE", help="write what the guest's kernel says")
    linux.add_argument(
        "--program", action="append", default=[], type=word, metavar="FILE", help="goes with the guests too, at its place"
    )
    linux.add_argument("--kernel-words", type=word, metavar="WORDS", help="of its command line, besides (pci=nomsi)")
    linux.add_argument("--debug", action="store_true", help="its kernel looks for leaks and for wrong use of memory")
    linux.add_argument(
        "--peer",
        action="append",
        default=[],
        type=word,
        metavar="CMD",
        help="what runs in the second guest meanwhile, as a shell takes it; again: in the third",
    )
    linux.add_argument(
        "--peer-log", action="append", default=[], type=word, metavar="FILE", help="write what that says (likewise)"
    )
    trace_options(linux)
    linux.add_argument("--json", type=word, metavar="FILE", help="write what cards, switch and clocks say at the end")
    waves_option(linux)
    linux.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="what runs in the first guest (nothing: a shell)"
    )

    dpdk = command("dpdk", _dpdk, "run", "DPDK's testpmd forwards frames with the simulated NIC and its poll-mode driver")
    traffic_options(dpdk, ("traffic", "direction", "routes", "closed_loop"))
    dpdk.add_argument("--silent", action="store_true", help="nothing comes over the line, for --duration (testpmd generates)")
    group = dpdk.add_argument_group("what the CPU is taken to need, in simulated time")
    group.add_argument("--poll-ns", type=number(1, 10**4), metavar="NS", help="a look for frames, a burst that is sent (50)")
    group.add_argument("--frame-ns", type=number(0, 10**4), metavar="NS", help="a frame of a burst (10)")
    group.add_argument("--mmio-ns", type=number(0, 10**4), metavar="NS", help="a write to a register (2)")
    set_option(dpdk)
    dpdk.add_argument("--pcap-out", type=word, metavar="DIR", help="write what crossed the line: to_card.pcap, from_card.pcap")
    dpdk.add_argument("--json", type=word, metavar="FILE", help="write the result (- for standard output)")
    waves_option(dpdk)
    dpdk.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- ARGS ...", help="testpmd's arguments; EAL's own -- before"
    )

    attach = command("attach", _attach, "run", "join a system's ports to TAP interfaces: ping, ARP, TCP really cross the RTL")
    system_with_option(attach)
    attach.add_argument(
        "--tap",
        action="append",
        required=True,
        type=word,
        metavar="PLACE=NAME[@NETNS]",
        help="an interface at wire0, host0 ..., made and removed, in a namespace of `ip netns` (repeatable; needs root)",
    )
    attach.add_argument(
        "--control-plane",
        type=word,
        metavar="NETNS",
        help="a router's: the kernel in that namespace, with interfaces swp0 ... at its ports; its routes go into the cards",
    )
    set_option(attach)
    attach.add_argument("--for", dest="seconds", type=_seconds, default=0, metavar="SECONDS", help="end by itself (wall time)")
    attach.add_argument("--json", type=word, metavar="FILE", help="write the result (- for standard output)")
    attach.add_argument("--pcap-out", type=word, metavar="DIR", help="write what came out, one capture an output")
    waves_option(attach)

# SPDX-License-Identifier: Apache-2.0
"""Live traffic: TAP interfaces of this machine at places where frames enter and leave a simulated system (`./emery attach`).

An interface is made in its network namespace, is there as long as this process has it open, and so goes with it however that
ends. The simulator has its file descriptor (bench/live).
"""

import ctypes
import errno
import fcntl
import json
import math
import os
import re
import socket
import struct
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from emery import extension
from emery.common import UserError, nearest
from emery.guest.simulator import run_until_told
from emery.make import build, tuned
from emery.report import drops, integrity, number, table
from emery.runs import IntegrityError, Outputs, outcome, problem
from emery.system import System, load, names
from emery.workload import DEFAULTS

_TUN = "/dev/net/tun"
_NAMESPACES = Path("/run/netns")  # of `ip netns`
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LONGEST_NAME = 15
_TAP, _NO_INFO, _EXCLUSIVE = 0x0002, 0x1000, 0x8000  # flags of TUNSETIFF: IFF_TAP, IFF_NO_PI, IFF_TUN_EXCL
_TUNSETIFF, _SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFMTU = 0x400454CA, 0x8913, 0x8914, 0x8922
_UP = 1
_HEADER_AND_FCS = 18
_C = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class End:
    """One interface: the place of the system it is at, its name, the network namespace it is in (empty: the caller's)."""

    place: str
    name: str
    netns: str = ""
    of_control_plane: bool = False  # it is made for the kernel that is a router's

    @property
    def option(self) -> str:
        """The word that it comes from."""
        return f"--control-plane {self.netns}" if self.of_control_plane else f"--tap {self.place}={self}"

    def __str__(self):
        return f"{self.name}@{self.netns}" if self.netns else self.name


def places(system: System, values: dict) -> list[str]:
    """The places of a system that interfaces can be at."""
    counts = {kind: math.prod(values[x] for x in parameters) for kind, parameters in system.live.items()}
    return [f"{kind}{number}" for kind, count in counts.items() for number in range(count)]


def _is_namespace(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and (_NAMESPACES / name).exists()


def _control_plane(system: System, values: dict, netns: str) -> list[End]:
    """The interfaces of the kernel in that namespace, one for each port: a router's control plane."""
    if not system.control_plane:
        if netns:
            able = ", ".join(x for x in names() if load(x).control_plane)
            raise UserError(f"--control-plane {netns}: {system.name} has no routes; those that do: {able}")
        return []
    if not netns:
        raise UserError(f"attach: {system.name}: --control-plane NETNS says whose routes it has: a network namespace's")
    if not _is_namespace(netns):
        raise UserError(f"--control-plane {netns}: there is no network namespace {netns} (ip netns add NAME makes one)")
    ports = [x for x in places(system, values) if x.startswith(system.control_plane)]
    return [End(place, f"swp{number}", netns, True) for number, place in enumerate(ports)]


def ends(system: System, values: dict, words: list[str], control_plane: str = "") -> list[End]:
    """The interfaces that `PLACE=NAME[@NETNS]` words say, and those of the control plane; refuses what cannot be."""
    if not system.live:
        able = ", ".join(x for x in names() if load(x).live)
        raise UserError(f"attach: {system.name} takes no live traffic; those that do: {able}")
    system.judge({**values, "live": True})
    known, found = places(system, values), _control_plane(system, values, control_plane)
    for word in words:
        place, equals, rest = word.partition("=")
        name, at, netns = rest.partition("@")
        if not equals or not name or bool(at) != bool(netns):
            raise UserError(f"--tap {word}: write it as PLACE=NAME or PLACE=NAME@NETNS")
        if place not in known:
            raise UserError(f"--tap {word}: {system.name} has no place {place}{nearest(place, known)}")
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            raise UserError(f"--tap {word}: names of interfaces have up to {_LONGEST_NAME} letters, digits, dots, - and _")
        if netns and not _is_namespace(netns):
            raise UserError(f"--tap {word}: there is no network namespace {netns} (ip netns add NAME makes one)")
        end = End(place, name, netns)
        for other in found:
            if other.place == place:
                raise UserError(f"--tap {word}: {other} is at {place} already")
            if str(other) == str(end):
                raise UserError(f"--tap {word}: {end} is at {other.place} already")
        found.append(end)
    return found


@contextmanager
def _inside(netns: str):
    """This thread is in that network namespace."""

    def enter(file: int):
        if _C.setns(file, 0):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), netns)

    if not netns:
        yield
        return
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        there = os.open(_NAMESPACES / netns, os.O_RDONLY)
        try:
            enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            enter(home)
    finally:
        os.close(home)


def _request(name: str, form: str = "", *values) -> bytes:
    """A struct ifreq."""
    return struct.pack("=16s" + form, name.encode(), *values).ljust(40, b"\0")


def _set(end: End, mtu: int):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        fcntl.ioctl(asks, _SIOCSIFMTU, _request(end.name, "i", mtu))
    if not end.of_control_plane:  # the simulator says what their MAC addresses are first
        _set_up(end)


def _set_up(end: End):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        (flags,) = struct.unpack_from("=h", fcntl.ioctl(asks, _SIOCGIFFLAGS, _request(end.name)), 16)
        fcntl.ioctl(asks, _SIOCSIFFLAGS, _request(end.name, "h", flags | _UP))


def _make(end: End, mtu: int) -> int:
    """Makes the interface; gives the file descriptor behind it. It goes when that is closed."""
    option, file = end.option, -1
    try:
        with _inside(end.netns):
            file = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(file, _TUNSETIFF, _request(end.name, "H", _TAP | _NO_INFO | _EXCLUSIVE))
            _set(end, mtu)
        return file
    except OSError as error:
        if file >= 0:
            os.close(file)
        if error.errno in (errno.EPERM, errno.EACCES):
            raise UserError(
                f"{option}: TAP interfaces need root, or CAP_NET_ADMIN (in a namespace CAP_SYS_ADMIN too)"
            ) from error
        if error.errno == errno.EBUSY:
            raise UserError(f"{option}: there is an interface {end} already") from error
        if file < 0 and error.filename == _TUN:
            raise UserError(f"{option}: no TAP interfaces on this machine: {_TUN}: {error.strerror}") from error
        raise UserError(f"{option}: {error.strerror}") from error


def _tell_of_kernel(found: list[End], stack: ExitStack) -> dict:
    """Settings by which the simulator hears of the kernel that is the control plane: a socket, numbers of its interfaces."""
    ports = [x for x in found if x.of_control_plane]
    if not ports:
        return {}
    with _inside(ports[0].netns):
        netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
        stack.callback(netlink.close)
        numbers = {f"interface.{x.place}": socket.if_nametoindex(x.name) for x in ports}
    return {"rtnetlink": netlink.fileno(), **numbers}


def _begin(found: list[End]):
    """Frames can pass: the control plane's interfaces come up."""
    for end in found:
        if end.of_control_plane:
            with _inside(end.netns):
                _set_up(end)


def _overrun(end: End) -> int:
    """Frames for the interface that found its queue full: the kernel has dropped them."""
    try:
        with _inside(end.netns):
            lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    except FileNotFoundError:  # the namespace has no name any more
        return 0
    counts = {name.strip(): rest.split() for name, _, rest in (x.partition(":") for x in lines)}
    return int(counts[end.name][11]) if end.name in counts else 0


def _settings(system: System, values: dict, outputs: Outputs) -> dict:
    settings = {**system.settings(values), **{x: DEFAULTS[x] for x in ("flows", "rate", "seed")}}
    settings |= {"direction": "both"} if "direction" in system.options else {}
    return settings | ({"pcap_out": outputs.pcap_out} if outputs.pcap_out else {}) | outputs.waves.settings()


def _simulate(program: Path, settings: dict, interfaces: dict[End, int], seconds: float, begun) -> dict:
    """Runs the simulator until it is told to end; gives what it says, and what the kernel says of its interfaces."""
    settings = {**settings, **{f"tap.{end.place}": file for end, file in interfaces.items()}}
    files = (*interfaces.values(), *(settings[x] for x in ("rtnetlink",) if x in settings))

    def ready():
        _begin(list(interfaces))
        begun()

    with run_until_told(program, settings, "live", ready, seconds, files) as (card, path):
        result = json.loads(path.read_text()) if path.exists() else None
        result, failure = outcome(card.child.returncode, card.last(), result)
        for end in interfaces:
            here = result["live"]["places"][end.place]
            here["interface"] = str(end)
            if lost := _overrun(end):
                here["in"]["dropped"]["queue_full"] = lost
        if failure:
            raise IntegrityError(failure, result)
        return result


def run(system: System, values: dict, found: list[End], outputs: Outputs, seconds: float, begun) -> dict:
    """Joins the interfaces to the system until a signal comes, or for so many seconds (0: without end); gives the result.

    `begun` is called when frames can pass. Raises IntegrityError when frames are not accounted for.
    """
    mtu = values.get("mtu", system.largest_frame - _HEADER_AND_FCS)
    with extension.told(system), ExitStack() as stack:
        interfaces = {}
        for end in found:
            interfaces[end] = _make(end, mtu)
            stack.callback(os.close, interfaces[end])
        kernel = _tell_of_kernel(found, stack)
        program = tuned.best(build.build_system(system, values, waves=bool(outputs.waves.path)))
        head = {"system": system.name, "parameters": values}
        try:
            settings = {**_settings(system, values, outputs), **kernel}
            result = {**head, **_simulate(program, settings, interfaces, seconds, begun)}
        except IntegrityError as error:
            error.result = error.result and {**head, **error.result}
            raise
        if failure := problem(result):
            raise IntegrityError(failure, result)
        return result


def _way(way: dict) -> list[str]:
    return [f"{way['frames']:,}", f"{way['bytes']:,}", f"{sum(way['dropped'].values()):,}"]


def summary(result: dict) -> str:
    """What a live run was, for people."""
    live, simulated, wall = result["live"], result["simulated_s"], result["wall_s"]
    worked = wall - live["idle_s"]
    lines = [f"{result['system']}: {simulated * 1e6:,.1f} us simulated in {wall:.1f} s, {live['idle_s']:.1f} s of them idle"]
    lines += [f"{'slower':<10} {worked / simulated:,.0f} times than what is simulated, while there was work"]
    if gone := live.get("gone"):
        lines.append(f"{'ended':<10} {live['places'][gone]['interface']}, which was at {gone}, has gone")
    heads = [f"{x} {way}" for way in ("in", "out") for x in ("frames", "bytes", "dropped")]
    rows = [["place", "interface", *heads]]
    rows += [[place, x["interface"], *_way(x["in"]), *_way(x["out"])] for place, x in live["places"].items()]
    lines += ["", table(rows, 2), ""]
    rows = [["stream", "offered", "delivered", "dropped", "ns min", "p50", "max"]]
    for name, stream in result["streams"].items():
        counts = [f"{x:,}" for x in (stream["offered"], stream["delivered"], sum(stream["dropped"].values()))]
        latency = stream.get("latency_ns") or {}
        rows.append([name, *counts, *(number(latency.get(x), ",.0f") for x in ("min", "p50", "max"))])
    lines += [table(rows), ""]
    if control := result["resources"].get("control_plane"):
        left = ", ".join(f"{why} {n:,}" for why, n in control["to_host"].items())
        lines += [f"{'routes':<10} {control['routes']:,} in the cards; to the kernel: {left or 'none'}"]
    ways = {f"{place} {way}": x[way] for place, x in live["places"].items() for way in ("in", "out")}
    lines += [drops({**ways, **result["streams"]}), integrity(result["totals"])]
    return "\n".join(lines)

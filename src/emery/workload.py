# SPDX-License-Identifier: Apache-2.0
"""What is sent through a system: the run options of the command line, checked."""

import os
import re
from collections import Counter
from dataclasses import dataclass, field, fields
from decimal import ROUND_UP, Context

from emery import capture, packets, routes, shapes
from emery.common import UserError
from emery.physics import GAP

_SMALLEST = 64  # with FCS; the largest is the system's
NAMED = {
    "imix": {64: 7, 594: 4, 1518: 1},
    "random": dict.fromkeys(range(64, 1519), 1),
    "rfc2544": dict.fromkeys((64, 128, 256, 512, 1024, 1280, 1518), 1),
}
_PART = "[0-9]{1,6}(:[1-9][0-9]{0,2})?"  # of a mix: a size, and how many frames of a round
_LONGEST = 100.0  # seconds that anything is sent: the bench counts to 140
_LONGEST_BURST = 2.0  # seconds that frames of a burst take at the rate: times off are up to 37 times the mean
_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_RATES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SLOWEST = 1e6  # bits a second
DIRECTIONS = ("tx", "rx", "both")
TRAFFIC = ("frames", "tcp")
OPTIONS = ("traffic", "pcap", "source", "timed", "size", "frames", "duration", "flows", "rate", "direction", "routes")
OPTIONS += ("updates", "seed")
OPTIONS += shapes.OPTIONS
# What TCP has no use for: its frames follow from its connections.
_FRAMES_ONLY = ("pcap", "source", "timed", *shapes.OPTIONS)
_LEAST_TCP, _MOST_CONNECTIONS = 128, 256  # bytes of the longest frame with FCS, connections each way
_APART = (("pcap", "size"), ("pcap", "source"), ("source", "size"), ("frames", "duration"), ("timed", "rate"))
# What is sent when neither the command line nor the system's main job says it; inputs send for that long when there is no
# number of frames and no capture.
DEFAULTS = {"size": "64", "duration": "200us", "flows": 64, "rate": "1.0", "seed": 1}


@dataclass(frozen=True)
class Workload:
    """Traffic: captures (one for all inputs under the key "", or one an input) or generated frames of `size`."""

    pcap: dict
    size: str
    frames: int  # 0: as many as `duration_ps` holds, or a capture once
    duration_ps: int
    flows: int
    rate: str
    direction: str
    routes: str
    seed: int
    updates: str = ""  # changes of `routes`, a file
    timed: float = 0.0  # captures: so many times as fast as they were captured; 0: as fast as `rate`
    captures: dict = field(default_factory=dict)  # what is in those of `pcap` (capture.Capture)
    shape: dict = field(default_factory=dict)  # how generated traffic is not as by default, by option (shapes.py)
    source: dict = field(default_factory=dict)  # FILE.py:NAME that gave those of `pcap`, where one did
    traffic: str = ""  # "tcp": connections (bench/tcp/load.hpp), of which `size` is the longest frame; "": frames

    def settings(self) -> dict:
        """What the simulator is told, but for captures, which are named as the user names them."""
        lines = {_setting(port): path for port, path in self.pcap.items()}
        if self.timed:
            lines["replay_speed"] = self.timed
        for name in ("traffic", "size", "frames", "duration_ps", "direction", "routes", "updates"):
            if getattr(self, name):
                lines[name] = getattr(self, name)
        return {**lines, **self.shape, "flows": self.flows, "rate": self.rate, "seed": self.seed}

    def played(self) -> dict:
        """The settings of `settings` that name captures, with the files that are played for them."""
        return {_setting(port): x.path for port, x in self.captures.items()}

    def named(self) -> dict:
        """The settings that are files, as the user calls them."""
        files = {_setting(port): x for port, x in {**self.pcap, **self.source}.items()}
        return files | {x: path for x in ("routes", "updates") if (path := getattr(self, x))}

    def describe(self) -> dict:
        """As the result states it: only what applies."""
        every = {x.name: getattr(self, x.name) for x in fields(self) if x.name != "seed"}
        if self.pcap:
            every.pop("flows")
        every |= every.pop("shape")
        every["captures"] = {port: x.describe() for port, x in self.captures.items()}
        return {name: value for name, value in every.items() if value}

    def sizes(self, sent: dict | None = None) -> Counter:
        """The distribution of frame sizes, with FCS; of the mix that was `sent`, where that is known."""
        found = self._drawn()
        if not self.shape.get("ipv6"):
            return found
        counts = sent or {"frames": 1.0, **self.shape}
        ipv6, vlan = (counts.get(x, 0) / counts["frames"] for x in ("ipv6", "vlan"))
        longer = Counter({size: n * (1 - ipv6) for size, n in found.items()})
        parts = zip(shapes.LEAST_IPV6, (1 - vlan, vlan), strict=True) if self.shape.get("vlan") else [(shapes.LEAST_IPV6[0], 1)]
        for least, part in parts:
            for size, n in found.items():
                longer[max(size, least)] += n * ipv6 * part
        return longer

    def _drawn(self) -> Counter:
        if self.pcap:
            return sum((x.sizes for x in self.captures.values()), Counter())
        if self.size in NAMED:
            return Counter(NAMED[self.size])
        if "+" in self.size:
            return _mix(self.size)
        low, _, high = self.size.partition("-")
        return Counter(dict.fromkeys(range(int(low), int(high or low) + 1), 1))

    def facts(self) -> dict:
        """What a system may refuse, by the names in `system.FACTS`."""
        files = {"pcap": bool(self.pcap), "routes": bool(self.routes), "updates": bool(self.updates)}
        options = {"traffic": self.traffic or TRAFFIC[0], "size": self.size, "flows": self.flows, "direction": self.direction}
        numbers = {
            "longest": max(self.sizes()),
            "port": max(map(int, filter(None, self.pcap)), default=-1),
        }
        return {**options, **files, **numbers, "shape": ",".join(self.shape)}

    def judge(self, system, values: dict, **also):
        """Refuses what does not go together with these values of parameters, and `also` with such facts; what would do nothing;
        and a rate that the line has not."""
        system.judge({**values, **self.facts(), **also})
        if line := system.hook("line"):
            self._in_time(_within(self.rate, 1e9 * line(values)))

    def _in_time(self, bits: float):
        """Refuses what takes longer, at so many bits a second, than the bench can time."""
        sizes = self.sizes()
        frame = 8 * sum((size + GAP) * n for size, n in sizes.items()) / sizes.total() / bits
        burst = int(self.shape.get("arrivals", "").partition(":")[2] or 0)
        for option, frames, most in (("frames", self.frames, _LONGEST), ("arrivals", burst, _LONGEST_BURST)):
            if frames * frame > most:
                said = self.shape.get(option, frames)
                raise UserError(f"--{option} {said}: {frames * frame:.4g} s at --rate {self.rate}; the most is {most:g} s")

    def title(self) -> str:
        """In words."""
        if self.pcap:
            what = ", ".join(os.path.basename(x) for x in {**self.pcap, **self.source}.values())
        elif self.traffic:
            each = " each way" * (self.direction == "both")
            what = f"TCP, frames up to {self.size} B, {self.flows} connection{'s' * (self.flows != 1)}{each}"
        else:
            what = f"{self.size} B frames" if self.size[0].isdigit() else f"{self.size} frames"
            what += f", {self.flows} flow{'s' * (self.flows != 1)}"
        way = {"tx": ", transmit", "rx": ", receive", "both": ", both ways"}.get(self.direction, "")
        pace = f"in time, {self.timed:g} times as fast" if self.timed else f"rate {self.rate}"
        return f"{what}{way}, {pace}{shapes.title(self.shape)}"


def from_table(run: dict) -> tuple[list[str], dict]:
    """What a `run` of a system.toml says: settings (NAME=VALUE), and options of the run."""
    options = dict(run)
    return [f"{name}={value}" for name, value in options.pop("set", {}).items()], options


def _setting(port: str) -> str:
    return f"pcap.{port}" if port else "pcap"


def _whole(text, option: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", str(text)) or not low <= int(text) <= high:
        raise UserError(f"{option} {text}: not a whole number from {low} to {high}")
    return int(text)


def parse_duration(text: str, option: str = "--duration") -> int:
    """Picoseconds of a duration like 200us."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(s|ms|us|ns|ps)", text)
    if not match or float(match[1]) == 0:
        raise UserError(f"{option} {text}: write a number with a unit, like 200us")
    found = float(match[1]) * _UNITS[match[2]]
    if found > _LONGEST * 10**12:
        raise UserError(f"{option} {text}: longer than {_LONGEST:g} s")
    if found < 1:
        raise UserError(f"{option} {text}: shorter than 1ps")
    return round(found)


def _mix(text: str) -> Counter:
    """Of a mix like 64:7+594:4+1518: how many frames of each size are in a round."""
    found = Counter()
    for part in text.split("+"):
        size, _, frames = part.partition(":")
        found[int(size)] += int(frames or 1)
    return found


def _size(text: str, largest: int) -> str:
    if text in NAMED:
        return text
    mix = re.fullmatch(rf"{_PART}(\+{_PART})+", text)
    match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", text)
    if not mix and not match:
        kinds = f"a range like 64-1518, a mix like 64:7+594:4+1518, or {', '.join(NAMED)}"
        raise UserError(f"--size {text}: write a number, {kinds}")
    low, high = (min(_mix(text)), max(_mix(text))) if mix else (int(match[1]), int(match[2] or match[1]))
    if not _SMALLEST <= low <= high <= largest:
        raise UserError(f"--size {text}: frames have {_SMALLEST} to {largest} bytes with FCS")
    return text


def _rate(text: str) -> str:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([kMGT]?)", text)
    if not match or float(match[1]) == 0 or (not match[2] and float(match[1]) > 1):
        raise UserError(f"--rate {text}: write a fraction of line rate up to 1.0, or bits a second like 80G")
    if match[2] and _bits(text) < _SLOWEST:
        raise UserError(f"--rate {text}: less than {_SLOWEST / 1e6:g}M bits a second")
    return text


def _within(rate: str, line: float) -> float:
    """Bits a second of a rate; refuses one that a line of so many has not, or that is less than the bench can time."""
    bits = _bits(rate) or float(rate) * line
    if bits > line:
        raise UserError(f"--rate {rate}: more than the line's {line / 1e9:g}G")
    if bits < _SLOWEST:
        least = Context(prec=3, rounding=ROUND_UP).create_decimal(repr(_SLOWEST / line))
        raise UserError(f"--rate {rate}: less than {_SLOWEST / 1e6:g}M bits a second; the least of this line is {least:f}")
    return bits


def _bits(rate: str) -> float:
    """A second, of a rate that says so; 0 of a fraction."""
    return float(rate[:-1]) * _RATES[rate[-1]] if rate[-1] in _RATES else 0.0


def _by_port(option: str, names: list[str]) -> dict:
    """What is to be played, by port."""
    found = {}
    for name in names:
        port, equals, path = name.partition("=")
        if not (equals and port.isascii() and port.isdigit()):
            port, path = "", name
        elif len(port) > 4:
            raise UserError(f"--{option} {name}: there is no port {port}")
        else:
            port = str(int(port))
        if port in found:
            raise UserError(f"--{option} {name}: " + (f"port {port} has one already" if port else "given twice"))
        found[port] = path
    if "" in found and len(found) > 1:
        raise UserError(f"--{option}: give one for all ports, or one for each port as PORT=..., not both")
    return found


def _captures(option: str, names: dict, paths: dict, largest: int) -> dict:
    """What is in captures; refuses what is none, before anything is built. `names`: what the user calls them."""
    found = {port: capture.read(path) for port, path in paths.items()}
    for port, x in found.items():
        if (longest := max(x.sizes)) > largest:
            name = f"{port}={names[port]}" if port else names[port]
            raise UserError(f"--{option} {name}: a frame of {longest} bytes with FCS; the system takes up to {largest}")
    return found


def _timed(text: str, captures: dict) -> float:
    """How many times as fast as they were captured captures are played."""
    if not captures:
        raise UserError("--timed: it is for captures (--pcap)")
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}", text) or float(text) == 0:
        raise UserError(f"--timed {text}: write how many times as fast, like 1 or 0.5")
    if any(x.last_ns is None for x in captures.values()):
        raise UserError(f"--timed {text}: a packet of the capture has no time stamp")
    lasts = max(x.last_ns for x in captures.values()) - min(x.first_ns for x in captures.values())
    if lasts / 1e9 > _LONGEST * float(text):
        least = lasts / 1e9 / _LONGEST
        raise UserError(f"--timed {text}: that takes more than {_LONGEST:g} s; the least is {least:.3g}")
    return float(text)


def workload(system, options: dict) -> Workload:
    """The workload that the run options say, with the system's main job where they say nothing."""
    given = {k: v for k, v in options.items() if v not in (None, [], ())}
    for one, other in _APART:
        if given.get(one) and given.get(other):
            raise UserError(f"--{one} and --{other}: choose one")
    if given.keys() & {"pcap", "source"} and given.get("flows"):
        raise UserError("--flows: a capture has its own flows")
    # What is given takes the place of all that says the same: a capture is played once and whole, and as many frames are sent
    # as were asked for, however long the main job takes. Its rate is for captures.
    tcp = _tcp(given, system)
    instead = {
        "traffic": ("pcap", "rate"),
        "pcap": ("size", "frames", "duration"),
        "source": ("pcap", "size", "frames", "duration"),
        "size": ("pcap", "rate"),
        "timed": ("rate", "duration"),
        "frames": ("duration",),
        "duration": ("frames",),
    }
    chosen = {**{k: v for k, v in system.run.items() if not any(k in instead.get(x, ()) for x in given)}, **given}
    merged = {**DEFAULTS, **({"size": "1518", "flows": 8} if tcp else {}), **chosen}
    frames = _whole(merged["frames"], "--frames", 1, 10**9) if "frames" in merged else 0
    seed = _whole(merged["seed"], "--seed", 0, 2**63 - 1)
    source = _by_port("source", merged.get("source", []))
    names = merged.get("pcap", [])
    if isinstance(names, str):  # the main job's own
        names = [str(system.folder / names)]
    pcap = {port: packets.of_file(x, seed, frames) for port, x in source.items()} or _by_port("pcap", names)
    captures = _captures("source" if source else "pcap", source or pcap, pcap, system.largest_frame)
    size = "" if pcap else _size(str(merged["size"]), system.largest_frame)
    for option in ("direction", "routes", "updates", "traffic"):
        if given.get(option) and option not in system.options:
            raise UserError(f"--{option}: {system.name} has no such option")
    direction = merged.get("direction", "")
    if direction and direction not in DIRECTIONS:
        raise UserError(f"--direction {direction}: choose {', '.join(DIRECTIONS)}")
    duration = chosen.get("duration") or ("" if frames or pcap else DEFAULTS["duration"])
    table = routes.check(merged["routes"]) if merged.get("routes") else ""
    flows = _whole(merged["flows"], "--flows", 1, _MOST_CONNECTIONS if tcp else 1 << 20)
    if tcp and not (size.isdigit() and int(size) >= _LEAST_TCP):
        raise UserError(f"--traffic tcp --size {size}: write the longest frame, {_LEAST_TCP} to {system.largest_frame}")
    return Workload(
        pcap={port: os.path.abspath(x) for port, x in pcap.items()},
        size=size,
        frames=frames,
        duration_ps=parse_duration(duration) if duration else 0,
        flows=flows,
        rate=_rate(str(merged["rate"])),
        direction=direction,
        routes=table,
        seed=seed,
        updates=routes.readable(merged["updates"], "updates") if merged.get("updates") else "",
        timed=_timed(str(merged["timed"]), captures) if "timed" in merged else 0.0,
        captures=captures,
        shape=shapes.shape(merged, flows, bool(captures)),
        source=source,
        traffic="tcp" if tcp else "",
    )


def _tcp(given: dict, system) -> bool:
    """Whether the traffic is TCP; refuses what does not go with it."""
    kind = given.get("traffic", system.run.get("traffic", TRAFFIC[0]))
    if kind not in TRAFFIC:
        raise UserError(f"--traffic {kind}: choose {' or '.join(TRAFFIC)}")
    if kind == "tcp" and (other := next((x for x in _FRAMES_ONLY if x in given), "")):
        raise UserError(f"--traffic tcp and {shapes.flag(other)}: choose one")
    return kind == "tcp"

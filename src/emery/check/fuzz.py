# SPDX-License-Identifier: Apache-2.0
"""A seeded fuzzer of the command line: words, values, captures, routes, the environment, and legal random runs.

Whatever is asked, Emery answers within a time, with status 0, 1 or 2, one line on standard error with 2, and no traceback;
and where it says 0, every frame of the result is accounted for and streams add up to totals; a legal run ends with 0, and
the second time with the same digest. Nothing is built: of the systems whose default model is not in the cache only the
refusals are tried. Case N of a seed is the same whatever came before it (`--case N` does it alone).
"""

import gzip
import json
import os
import random
import shlex
import shutil
import signal
import struct
import sys
import tempfile
import time
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path

from emery import cli, process, shapes, system, workload
from emery.check.described import undescribed
from emery.common import UserError
from emery.make import build, toolchain

_ODD = ("", "0", "-1", "1", "2", "64", "9" * 30, "1e9", "nan", "0x40", "½", "a=b=c", "=", "%s%n", " ", ".", "/", "..")
_ODD += ("²", "٣", "６４", "1_0", "+1", "1e400")  # of which Python takes some for numbers, C++ none
_ODD += ("x" * 300, "/dev/null", "/dev/full", "/dev/zero", "/proc/self/mem", "line\nbreak", "\udcff", "--", "-", "--help")
_TRIED = ("list", "show", "run", "sweep", "search", "reproduce", "compare", "build", "map", "trace")
_IDLE = tuple(x for x in cli.commands() if x not in _TRIED)  # what is only asked what it does, or nonsense
_ENVIRONMENT = {
    "EMERY_JOBS": ("x", "²", "0", "-1", "", "9" * 12),
    "EMERY_CACHE": ("/proc/x", "/dev/null", "/", "cache#x"),
    "CXX": ("false", "/nowhere/c++", "", "cat"),
    "TMPDIR": ("/nowhere", "/dev/null"),
    "PATH": ("", "/nowhere"),
    "HOME": ("", "/nowhere"),
    "LC_ALL": ("C", "xx_YY"),
}


@dataclass
class Case:
    """One command line, and what it runs in."""

    words: list[str]
    environment: dict = field(default_factory=dict)
    full: bool = False  # its standard output is /dev/full
    result: str = ""  # the file that its result is to go to

    def __str__(self):
        before = [f"{name}={shlex.quote(x)}" for name, x in self.environment.items()]
        words = [shlex.quote(x if len(x) < 200 else f"{x[:9]}...({len(x)})") for x in self.words]
        told = " ".join([*before, "./emery", *words, *["> /dev/full"] * self.full])
        return told.encode(errors="backslashreplace").decode()


def _frames(random_: random.Random) -> list[bytes]:
    sizes = (60, 60, 61, 200, 1514, random_.choice((0, 1, 13, 14, 59, 1515, 9014, 16380, 16381, 65535)))
    return [random_.randbytes(12) + b"\x08\x00" + random_.randbytes(x - 14) if x >= 14 else bytes(x) for x in sizes]


def _pcap(random_: random.Random) -> bytes:
    order, link = random_.choice("<>"), random_.choice((1, 1, 1, 101, 0xFFFFFFFF))
    data = struct.pack(order + "IHHiIII", random_.choice((0xA1B2C3D4, 0xA1B23C4D)), 2, 4, 0, 0, 65535, link)
    for number, frame in enumerate(_frames(random_)):
        length = random_.choice((len(frame),) * 9 + (0, len(frame) + 1, 0xFFFFFFFF))
        kept = random_.choice((len(frame),) * 9 + (0xFFFFFFFF,))
        data += struct.pack(order + "IIII", number, 0, kept, length) + frame
    return data


def _pcapng(random_: random.Random) -> bytes:
    order = random_.choice("<>")
    data = struct.pack(order + "IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    data += struct.pack(order + "IIHHII", 1, 20, random_.choice((1, 1, 101)), 0, 0, 20)
    for frame in _frames(random_):
        padded = frame + bytes(-len(frame) % 4)
        size = random_.choice((32 + len(padded),) * 9 + (0, 4, 0xFFFFFFF0))
        data += struct.pack(order + "IIIIIII", 6, size, random_.choice((0, 0, 0, 7)), 0, 0, len(frame), len(frame))
        data += padded + struct.pack(order + "I", size)
    return data


def _damaged(random_: random.Random, data: bytes) -> bytes:
    kind = random_.randrange(6)
    if kind == 0:
        return data[: random_.randrange(len(data) + 1)]
    if kind == 1:
        at = random_.randrange(len(data))
        return data[:at] + random_.randbytes(1) + data[at + 1 :]
    return gzip.compress(data, mtime=0) if kind == 2 else data


def _capture(random_: random.Random, folder: Path) -> str:
    kind = random_.randrange(10)
    path = folder / random_.choice(("a.pcap", "b.pcapng", "c.pcap.gz", "d e.pcap", "f#.pcap"))
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.write_bytes(random_.randbytes(random_.choice((0, 3, 23, 24, 25, 1000))))
    else:
        path.write_bytes(_damaged(random_, (_pcap if kind < 7 else _pcapng)(random_)))
    return str(path)


_ROUTES = ("10.0.0.0/8 0", "0.0.0.0/0 0", "172.16.0.0/12 1", "192.168.1.7/24 1", "10.0.0.0/8 0", "2001:db8::/32 0")
_ROUTES += ("1.2.3.4/33 0", "1.2.3/8 0", "256.0.0.0/8 0", "0.0.0.0/0 4294967297", "0.0.0.0/0 -1", "0.0.0.0/0 99")
_ROUTES += ("10.0.0.0/8", "# nothing", "\0\xff")


def _route_file(random_: random.Random, folder: Path, words: tuple[str, ...] = ("",)) -> str:
    path = folder / random_.choice(("r.txt", "r.gz", "r r.txt"))
    text = "\n".join(random_.choice(words) + x for x in random_.choices(_ROUTES, k=random_.randrange(6)))
    data = random_.choice(
        (text.encode("latin-1"), text.encode("latin-1"), random_.randbytes(300), gzip.compress(text.encode(), mtime=0))
    )
    path.write_bytes(data)
    return str(path)


_SOURCES = ("[bytes(60)]", "(bytes(60 + n) for n in range(9))", "((n, bytes(60)) for n in range(9))", "iter(bytes, 0)", "[]")
_SOURCES += (
    "3",
    "None",
    "[3]",
    "['x']",
    "[bytes(9)]",
    "[bytes(9999)]",
    "[(None, b'')]",
    "[(1e300, bytes(60))]",
    "1 / 0",
    "exit()",
    "(",
)


def _source_file(random_: random.Random, folder: Path) -> str:
    path = folder / random_.choice(("p.py", "p p.py", "p#.py"))
    path.write_text(f"def f():\n    return {random_.choice(_SOURCES)}\n")
    return f"{path}:{random_.choice(('f', 'f', 'f', 'g', '__name__'))}"


def _good(random_: random.Random, parameter: system.Parameter, ends: bool = True) -> str:
    """A value that a parameter takes; without `ends` not the highest: runs with that may take for ever."""
    if isinstance(parameter.default, bool):
        return random_.choice(("true", "false"))
    if parameter.choices:
        return str(random_.choice(parameter.choices))
    if parameter.minimum is None:
        return str(parameter.default)
    low, high = parameter.minimum, parameter.maximum
    if not ends and parameter.unit == "Gb/s":
        low = parameter.default  # on a slower line a run may take longer than anyone waits
    if parameter.power_of_two:
        return str(1 << random_.randint((int(low) - 1).bit_length(), int(high).bit_length() - 1))
    near = min(high, 4 * parameter.default if parameter.default > 0 else 1000)
    pick = random_.uniform if isinstance(parameter.default, float) else random_.randint
    return str(random_.choice((low, pick(low, near), high if ends else near)))


def _value(random_: random.Random, option: str, folder: Path) -> str:
    """A value of a run's option, most often one that makes sense."""
    if random_.random() < 0.3:
        return random_.choice(_ODD)
    return {
        "traffic": lambda: random_.choice(("tcp", "tcp", "frames", "udp")),
        "pcap": lambda: random_.choice(("", "", "0=", "1=", "00=", "77=", "²=", "9" * 20 + "=")) + _capture(random_, folder),
        "source": lambda: random_.choice(("", "", "0=", "77=")) + _source_file(random_, folder),
        "routes": lambda: _route_file(random_, folder),
        "updates": lambda: _route_file(random_, folder, ("announce ", "withdraw ", "")),
        "timed": lambda: random_.choice(("1", "0.5", "1000", "0", "x")),
        "arrivals": lambda: random_.choice((*shapes.WORDS["arrivals"], "burst:1", "burst:0", "on-off:1000000", "fair")),
        "flow_weights": lambda: random_.choice(
            (*shapes.WORDS["flow_weights"], "0", "1,0,0,1", "zipf:0", "zipf:10", "1,", "-1")
        ),
        "flow_length": lambda: random_.choice((*shapes.WORDS["flow_length"], "1", "0", "geometric:1", "zipf:11", "zipf:.1")),
        "ipv6": lambda: random_.choice(("0", "0.3", ".5", "1", "1.1", "-1", "30%")),
        "vlan": lambda: random_.choice(("0", "0.3", ".5", "1", "1.1", "-1", "7")),
        "closed_loop": lambda: str(random_.choice((1, 2, 64, 1000000, 0))),
        "size": lambda: random_.choice(("64", "imix", "random", "rfc2544", "64-1518", "1518-64", "63", "9018", "65-65")),
        "frames": lambda: str(random_.choice((1, 7, 100))),
        "duration": lambda: random_.choice(("1us", "10us", "0.5us", "1ps", "1000s", "3 us", "1h")),
        "flows": lambda: str(random_.choice((1, 3, 64, 100000))),
        "rate": lambda: random_.choice(("0.1", "1", "1.0", "1.01", "10M", "400T", "1k")),
        "direction": lambda: random_.choice(("tx", "rx", "both", "up")),
        "seed": lambda: str(random_.randrange(1 << 64)),
    }[option]()


# Options of `run` for what it writes, and of `trace`, each with a value that makes sense; {} is a folder.
_OUTPUTS = {"--json": "{}/out", "--pcap-out": "{}/out", "--waves": "{}/out.fst", "--waves-from": "1us", "--waves-to": "2.5us"}
_OUTPUTS |= {"--waves-frame": "3", "--trace": "{}/out.jsonl", "--trace-bytes": "64", "--with": "{}"}
_TRACED = {"--frame": "1", "--worst": "3", "--by": "queue", "--series": "1us", "--table": "{}/t.csv", "--plot": "{}/t.svg"}
_TRACED |= {"--json": "-", "--perfetto": "{}/p.json", "--html": "{}/t.html", "--pcapng": "{}/t.pcapng"}


def _trace_file(random_: random.Random, folder: Path) -> str:
    """A trace, most often one that `trace` can read."""
    path = folder / random_.choice(("t.jsonl",) * 5 + ("t t.jsonl", "t"))
    lines, time_ = [], 0.0
    for number in range(random_.randrange(9)):
        time_ += random_.uniform(0, 1000)
        dropped = random_.random() < 0.2
        record = {"frame": number, "stream": "tx", "bytes": 64, "flow": number % 3, "queue": random_.choice((0, 1, None))}
        record |= {"outcome": "dropped" if dropped else "delivered", "reason": "full" if dropped else None}
        record["at"] = {"driver": time_, **({} if dropped else {"wire": time_ + random_.uniform(0, 900)})}
        if random_.random() < 0.3:
            record["data"] = b64encode(random_.randbytes(random_.choice((0, 14, 60)))).decode()
        if random_.random() < 0.1:
            record[random_.choice(list(record))] = random_.choice((None, -1, "x", [], {}, 1e400, "9" * 30))
        if random_.random() < 0.05:
            del record[random_.choice(list(record))]
        lines.append(json.dumps(record))
    data = "\n".join([*lines, ""] if lines else []).encode()
    path.write_bytes(_damaged(random_, data) if data and random_.random() < 0.2 else data)
    return str(path)


def _of_trace(random_: random.Random, folder: Path) -> list[str]:
    """What follows `trace`."""
    words = [random_.choice((_trace_file(random_, folder),) * 5 + (random_.choice(_ODD),))]
    for option in random_.sample(list(_TRACED), random_.randrange(4)):
        words += [option, random_.choice((_TRACED[option].format(folder),) * 5 + (random_.choice(_ODD),))]
    return words + ["--histogram"] * (random_.random() < 0.3)


def _any(random_: random.Random, folder: Path) -> Case:
    """Any command, with words right and wrong."""
    names = system.names()
    command = random_.choice((*_TRIED, *_IDLE, "run", "run", "run", "run", "sweep", random_.choice(_ODD)))
    words = [command]
    if command in _IDLE:
        return Case([command, "--help" if command == "test" else random_.choice(("--help", "nothing/at/all", "x"))])
    if command in ("map", "list"):
        return Case(
            words + random_.choice(([], ["--help"], [random_.choice(_ODD)]) if command == "list" else (["x"], ["--help"]))
        )
    if command == "trace":
        return Case(words + _of_trace(random_, folder))
    chosen = random_.choice(names) if random_.random() < 0.95 else random_.choice(_ODD)
    words += [chosen] * (random_.random() < 0.98)
    target = system.load(chosen) if chosen in names else None
    if command == "show":
        words += random_.choice(([], ["targets"], ["--json"], [random_.choice(_ODD)]))
    if command == "compare":
        words += random_.sample(names, random_.randrange(3))
    if command == "reproduce":
        words += [random_.choice(_ODD[5:]), *random_.choice(([], ["--out", random_.choice(_ODD)]))]
    if command in ("run", "sweep", "search", "compare"):
        for option in random_.sample(workload.OPTIONS, random_.randrange(5)):
            words += [shapes.flag(option), _value(random_, option, folder)]
    settings = []
    for _ in range(random_.randrange(4)):
        name = random_.choice([*target.parameters, "nothing"]) if target else "x"
        value = random_.choice(_ODD)
        if target and name in target.parameters and random_.random() < 0.7:
            value = _good(random_, target.parameters[name])
        settings.append(f"{name}={value}")
    if command in ("run", "sweep", "search", "reproduce"):
        words += [x for setting in settings for x in ("--set", setting)]
    if command == "sweep":
        words += random_.choice(([], ["--out", random_.choice(_ODD)], ["--out", str(folder / "sweep.jsonl")]))
        for setting in settings[:2] or ["seed=1"]:
            words += ["--over", setting + random_.choice(("", ",", ",1", ",x", "..9"))]
        for option, good in (("--sample", "2"), ("--list", "/dev/null"), ("--table", "a.csv"), ("--plot", "a.svg")):
            words += random_.choice(([], [], [option, good], [option, random_.choice(_ODD)]))
    if command == "search":
        for option, good in (
            ("--goals", "ndr,pdr"),
            ("--seeds", "2"),
            ("--width", ".1"),
            ("--out", str(folder / "search.jsonl")),
        ):
            words += random_.choice(([], [option, good], [option, random_.choice(_ODD)]))
    if command == "build":
        words += [*settings, *random_.choice(([], ["--tell"], ["--waves"]))]
    if command == "run":
        for option, good in _OUTPUTS.items():
            if random_.random() < 0.15:
                words += [option, random_.choice((good.format(folder), random_.choice(_ODD)))]
    if random_.random() < 0.05:
        words.insert(random_.randrange(len(words) + 1), random_.choice(_ODD))
    environment = {}
    if random_.random() < 0.15:
        name = random_.choice(list(_ENVIRONMENT))
        environment[name] = random_.choice(_ENVIRONMENT[name])
    return Case(words, environment, random_.random() < 0.03)


def _shape(random_: random.Random) -> list[str]:
    """Options that go together, of generated traffic."""
    words = []
    for option, values in {**shapes.WORDS, "ipv6": ("0.3", "1"), "vlan": ("0.5", "1")}.items():
        if random_.random() < 0.2:
            words += [shapes.flag(option), random_.choice(values).replace("8,1", "3")]
    if "--arrivals" not in words and random_.random() < 0.1:
        words += ["--closed-loop", str(random_.choice((1, 7, 100)))]
    return words


def _legal(random_: random.Random, folder: Path) -> Case:
    """A run that a system has to do: its default hardware, anything else as it may be."""
    target = system.load(random_.choice(system.names()))
    frames = random_.choice((random_.randrange(1, 20), random_.randrange(1, 300)))
    settings = []
    for parameter in random_.sample(list(target.parameters.values()), 5):
        if not parameter.rtl and not any(parameter.name in x["when"] for x in target.variants):
            ends = frames < 20 and parameter.unit == "ns"  # the slowest host: few frames end even so
            settings += ["--set", f"{parameter.name}={_good(random_, parameter, ends)}"]
    size = random_.choice(("64", "65", "128", "300", "1518", "64-300", "64-1518"))
    words = [
        "run",
        target.name,
        "--size",
        size,
        "--frames",
        str(frames),
        "--seed",
        str(random_.randrange(99)),
    ]
    words += ["--flows", str(1 << random_.randrange(8)), "--rate", random_.choice(("0.05", "0.3", "0.7", "1.0"))]
    words += _shape(random_) if not any("shape" in x.names for x in target.refusals) else []
    if random_.random() < 0.2:
        words += ["--trace", str(folder / "trace.jsonl"), *random_.choice(([], ["--trace-bytes"], ["--trace-bytes", "64"]))]
    result = str(folder / "result.json")
    return Case([*words, *settings, "--json", result], result=result)


def case(seed: int, number: int, folder: Path, runs: bool) -> Case:
    """Case `number` of a seed; its files go to `folder`."""
    random_ = random.Random(f"{seed}/{number}")
    return (_legal if runs and number % 4 == 3 else _any)(random_, folder)


def _refuse_work(words, *_, **__):
    if words == ["--version"]:
        return _run_verilator(words)
    raise UserError("not built for this")


_run_verilator = toolchain.run_verilator


def missing() -> list[str]:
    """The systems whose default model is not in the cache: their legal runs are refused."""
    found = []
    kept = toolchain.run_verilator, toolchain.run_cxx
    toolchain.run_verilator = toolchain.run_cxx = _refuse_work
    try:
        for target in map(system.load, system.names()):
            try:
                build.build_system(target, target.values())
            except UserError:
                found.append(target.name)
    finally:
        toolchain.run_verilator, toolchain.run_cxx = kept
    return found


def _child(one: Case, folder: Path):
    """Does a case in a process of its own, forked from this one; never returns."""
    status = 99
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.update(one.environment)
        for number, path in ((1, "/dev/full" if one.full else "stdout"), (2, "stderr"), (0, os.devnull)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
        sys.stdout, sys.stderr = (
            os.fdopen(1, "w", closefd=False),
            os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False),
        )
        toolchain.run_verilator = toolchain.run_cxx = toolchain.cross_compile = _refuse_work
        process.guard()
        status = cli.main(one.words)
    finally:
        sys.stderr.flush()
        os._exit(status)


def _finish(child: int, seconds: float) -> int | None:
    """The status a child ends with (negative: the signal); None when it did not end in time, on a busy machine in as many
    times that as it has runnable processes a core."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds * max(1, os.getloadavg()[0] / os.cpu_count()):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has no group of its own yet
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _wrong(one: Case, status: int | None, said: str, seconds: float) -> str:
    """What is not as it has to be; empty when all is well."""
    lines = said.splitlines()
    if status is None:
        return f"no end within {seconds:g} s"
    if status not in (0, 1, 2):
        return f"status {status}: {lines[-1] if lines else ''}"
    if "Traceback" in said or "internal error" in said or "ended by SIG" in said:
        return lines[-1]
    if status == 1 and one.result:
        return f"status 1: {lines[-1] if lines else ''}"
    if status == 2 and (len(lines) != 1 or not lines[0].startswith("emery: ")):
        return f"status 2 and not one line: {lines}"
    if status == 0 and one.result:
        result = json.loads(Path(one.result).read_text())
        for name, counts in {**result["streams"], "totals": result["totals"]}.items():
            if counts["offered"] != counts["delivered"] + sum(counts["dropped"].values()):
                return f"{name}: offered {counts['offered']}, delivered {counts['delivered']}, dropped {counts['dropped']}"
        for name in ("offered", "delivered"):
            if sum(x[name] for x in result["streams"].values()) != result["totals"][name]:
                return f"streams do not add up to totals: {name}"
        return undescribed(system.load(result["system"]), result)
    return ""


def attempt(seed: int, number: int, runs: bool = True, seconds: float = 180.0) -> tuple[Case, int | None, str]:
    """Does one case: what it was, its status, and what is wrong (or, with status 1, what was said)."""
    folder = Path(tempfile.mkdtemp(prefix="emery-fuzz-"))
    try:
        one = case(seed, number, folder, runs)
        status, wrong = _do(one, folder, seconds)
        if one.result and status == 0 and not wrong and number % 8 == 3:
            first = _digest(one)
            (folder / "stderr").unlink()
            status, wrong = _do(one, folder, seconds)
            if not wrong and first != (second := _digest(one)):
                wrong = f"another result the second time: {first}, {second}"
        return one, status, wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _digest(one: Case) -> str:
    return json.loads(Path(one.result).read_text())["digest"]


def _do(one: Case, folder: Path, seconds: float) -> tuple[int | None, str]:
    """Does a case once: its status, and what is wrong."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _child(one, folder)
    status = _finish(child, seconds)
    said = (folder / "stderr").read_text(errors="replace") if (folder / "stderr").exists() else ""
    return status, _wrong(one, status, said, seconds)


def fuzz(seed: int, minutes: float, only: int | None = None, runs: bool = True) -> list[str]:
    """Tries cases for so long, or one; says on standard output what is wrong, and gives that."""
    print(f"seed {seed}", flush=True)
    for name in missing() if runs else ():
        print(f"no model of {name}: its runs are not tried (./emery build {name})", flush=True)
    end = time.monotonic() + 60 * minutes
    found, counts, number = [], {0: 0, 1: 0, 2: 0}, only or 0
    while only is None and time.monotonic() < end or number == only:
        one, status, wrong = attempt(seed, number, runs)
        if wrong:
            found.append(f"case {number}: {one}\n  {wrong}")
            print(found[-1], flush=True)
        elif only is not None or status == 1:
            print(f"case {number}: {one}\n  status {status}", flush=True)
        counts[status] = counts.get(status, 0) + 1
        number += 1
    told = ", ".join(f"{n} ended with {'no status' if status is None else status}" for status, n in counts.items())
    print(f"{sum(counts.values())} cases: {told}; {len(found)} wrong")
    return found

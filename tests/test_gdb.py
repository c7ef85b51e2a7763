# SPDX-License-Identifier: Apache-2.0
"""`./emery run --gdb`: a session by packets with core-nic, what a debugged run gives, bad input; and gdb itself."""

import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys

import pytest
from conftest import refused
from rsp import Client, framed

from emery.cli import main
from emery.common import ROOT
from emery.make import programs

ELF = ROOT / "systems" / "core_nic" / "firmware" / "prebuilt" / "rmw.elf"
PAGE = ROOT / "docs" / "debug.md"
RUN = ("core-nic", "--size", "1518", "--frames", "20", "--set", "cores=2", "--assertions")
FRAME, SCRATCH, DEVICE = 0x40000000, 0x10000000, 0x20000000
PC = 32


@pytest.fixture(scope="module")
def symbols():
    return {x.name: x.address for x in programs.symbols(ELF)}


class Debugged:
    """A run that waits for gdb, as a user starts it."""

    def __init__(self, *words, at="0", run=RUN):
        def as_from_a_terminal():  # which does not ignore Ctrl-C
            signal.signal(signal.SIGINT, signal.default_int_handler)

        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": as_from_a_terminal}
        command = [sys.executable, str(ROOT / "emery"), "run", *run, "--gdb", at, *map(str, words)]
        self.process = subprocess.Popen(command, **how)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"core-nic waits for gdb: gdb-multiarch (\S+) -ex 'target remote (:\d+|\S*/\S*)'\n", line)
        assert found, line + self.process.stderr.read()
        self.elf, where = found.groups()
        self.at = int(where[1:]) if where[0] == ":" else where

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """Status, and what was said since it waits."""
        out, err = self.process.communicate(timeout=180)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The result of the run without gdb."""
    out = tmp_path_factory.mktemp("plain") / "result.json"
    assert main(["run", *RUN, "--set", "cosim=true", "--json", str(out)]) == 0
    return json.loads(out.read_text())


def same(path, plain):
    """Whether a result is the one of the run without gdb."""
    seen = json.loads(path.read_text())
    return {**seen, "wall_s": 0} == {**plain, "wall_s": 0}


def test_a_session(tmp_path, plain, symbols):
    """Breakpoints, registers and memory of each core, steps, watchpoints, an interrupt; and nothing follows from it."""
    with Debugged("--json", tmp_path / "out.json") as run, Client(run.at) as gdb:
        assert run.elf == str(ELF)
        assert "swbreak+" in gdb.ask("qSupported:swbreak+;hwbreak+")
        assert gdb.ask("?") == "T05thread:1;" and gdb.ask("qfThreadInfo") == "m1,2"
        assert 'name="core 1">to start at _start+0<' in gdb.ask("qXfer:threads:read::0,1000")
        assert gdb.registers(0) == gdb.registers(1) == [0] + 31 * [None] + [0]

        # Where frames are received: stack and arguments are those of a call, the place that it was called from is known.
        at = symbols["receive_frames"]
        assert gdb.ask(f"Z0,{at:x},4") == "OK"
        stop = gdb.go()
        core = int(stop[10]) - 1
        assert stop == f"T05thread:{core + 1};swbreak:;"
        here, other = gdb.registers(core), gdb.registers(1 - core)
        assert here[PC] == at and symbols["receive_dispatch"] < here[1] < symbols["run_core"] + 4096 and here[11] > 0
        for number, registers in ((core, here), (1 - core, other)):
            assert symbols["stacks"] + 512 * number < registers[2] <= symbols["stacks"] + 512 * (number + 1)
        assert gdb.word(at) != 0 and gdb.memory(at, 64) == code(at, 64)
        cycles = gdb.monitor("cycles")
        assert f"core {core}: " in cycles and "receive_frames+0" in cycles and gdb.monitor("cycles") == cycles

        # The frame, as it came, in its slot of the frame memory: those made by Emery are IPv4.
        slot, info = struct.unpack("<2I", gdb.memory(symbols["rx_ring"], 8))
        assert slot == FRAME + 512 * 2048 and info & 0xFFFF == 1514
        assert gdb.memory(slot, 16)[12:15] == b"\x08\x00\x45"

        # Steps: the next instruction of this core, whatever the other does.
        assert gdb.ask(f"z0,{at:x},4") == "OK"
        for _ in range(3):
            before = gdb.registers(core)[PC]
            assert gdb.ask(f"vCont;s:{core + 1};c") == f"T05thread:{core + 1};"
            assert gdb.registers(core)[PC] == before + 4

        # A variable that whoever raises an event writes.
        raised = symbols["events_raised"]
        before = gdb.word(raised)
        assert gdb.ask(f"Z2,{raised:x},4") == "OK"
        stop = gdb.go()
        assert re.fullmatch(rf"T05thread:[12];watch:{raised:x};", stop)
        assert gdb.word(raised) == before + 1  # though the store has only just left the pipeline
        assert "raise_event" in gdb.monitor("cycles").splitlines()[int(stop[10])]
        assert gdb.ask(f"z2,{raised:x},4") == "OK"

        # Time.
        then = float(gdb.monitor("cycles").split()[0])
        assert "5us" in gdb.monitor("stop 5us")
        assert gdb.go().startswith("T05thread:")
        assert 5 <= float(gdb.monitor("cycles").split()[0]) - then < 5.01

        for no in (f"m{DEVICE:x},4", f"m{SCRATCH + (1 << 18):x},4", "m30000,1", f"M{symbols['_start']:x},4:00000000"):
            assert gdb.ask(no) == "E0e", no
        assert gdb.ask("P20=00000000") == "E01"

        gdb.send(framed("vCont;c") + b"\3")
        assert gdb.answer().startswith("T02thread:")
        assert gdb.ask("D") == "OK" and gdb.ended()
        status, out, err = run.end()
    assert status == 0 and plain["digest"] in out and not err
    assert same(tmp_path / "out.json", plain)


def code(address, size):
    """What is in the program."""
    (words,) = (x.words for x in programs.segments(ELF) if x.address == 0)
    return struct.pack(f"<{len(words)}I", *words)[address : address + size]


def test_the_others_stop_too_while_one_is_stepped_over_a_breakpoint(symbols):
    """gdb takes breakpoints out for that: no core slips through."""
    with Debugged() as run, Client(run.at) as gdb:
        point = f"0,{symbols['run_core']:x},4"
        gdb.ask(f"Z{point}")
        first = gdb.go()
        gdb.ask(f"z{point}")
        other = 3 - int(first[10])
        stops = [gdb.ask(f"vCont;s:{first[10]}") for _ in range(300)]
        assert f"T05thread:{other};swbreak:;" in stops
        assert gdb.registers(other - 1)[PC] != 0


def test_to_the_end_with_breakpoints(tmp_path, plain, symbols):
    """Hundreds of stops leave nothing behind either; the end of the run is one of them."""
    with Debugged("--json", tmp_path / "out.json") as run, Client(run.at) as gdb:
        for name in ("send_commit", "receive_commit"):
            assert gdb.ask(f"Z1,{symbols[name]:x},4") == "OK"
        stops = []
        while (stop := gdb.go())[0] == "T":
            stops.append(stop)
            gdb.registers(0), gdb.memory(SCRATCH, 4096)
        assert stop == "W00" and gdb.ended()
        assert len(stops) > 20 and all(x.endswith("hwbreak:;") for x in stops) and len(set(stops)) == 2
        assert run.end()[0] == 0
    assert same(tmp_path / "out.json", plain)


def test_memory_that_was_written_is_told(tmp_path, plain, symbols):
    """The words go where they are to go, and the run is no longer that of its command."""
    with Debugged("--json", tmp_path / "out.json") as run, Client(run.at) as gdb:
        gdb.ask(f"Z0,{symbols['receive_frames']:x},4")
        gdb.go()
        unused = SCRATCH + (1 << 18) - 64
        before = gdb.memory(unused - 4, 12)
        assert gdb.ask(f"M{unused + 1:x},3:c0ffee") == "OK"
        assert gdb.memory(unused - 4, 12) == before[:5] + b"\xc0\xff\xee" + before[8:]
        assert gdb.ask("D") == "OK"
        status, out, _ = run.end()
    assert status == 0 and "1 writes to memory by gdb" in out
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["digest"] == plain["digest"]  # nobody reads there
    assert result["identity"]["debugger"]["memory_writes"] == 1 and result["identity"]["digest"] != plain["identity"]["digest"]


def test_a_word_that_is_written_is_what_the_firmware_reads(symbols):
    """Without frames in its count, a lock that nobody holds is taken: nobody can fetch descriptors any more."""
    with Debugged("--set", "patience_us=100", "--set", "watchdog_us=0") as run, Client(run.at) as gdb:
        gdb.ask(f"Z0,{symbols['receive_dispatch']:x},4")
        gdb.go()
        assert gdb.ask(f"M{symbols['receive']:x},4:01000000") == "OK"
        assert gdb.ask("D") == "OK"
        status, _, err = run.end()
    assert status == 1 and "no frame has moved" in err


STORE = 0x00002023  # sw x0, 0(x0)


@pytest.mark.parametrize(("wrong", "number", "what"), [(0, 4, "illegal instruction"), (STORE, 11, "store to nowhere")])
def test_a_trap(tmp_path, symbols, wrong, number, what):
    """gdb sees it at its place, with its signal, before it ends the run as ever."""
    at = symbols["raise_event"]
    image, before = tmp_path / "bad.elf", code(at, 100)
    assert ELF.read_bytes().count(before) == 1
    image.write_bytes(ELF.read_bytes().replace(before, struct.pack("<I", wrong) + before[4:]))
    with Debugged("--set", f"firmware_image={image}") as run, Client(run.at) as gdb:
        assert run.elf == str(image)
        stop = gdb.go()
        core = int(stop[10]) - 1
        assert stop == f"T{number:02x}thread:{core + 1};" and gdb.registers(core)[PC] == at
        assert f"trapped: {what}, at raise_event+0" in bytes.fromhex(gdb.ask(f"qThreadExtraInfo,{core + 1}")).decode()
        assert gdb.go() == "W01"
        status, _, err = run.end()
    assert status == 1 and f"core {core} trapped: {what} at pc 0x{at:08x} in raise_event+0" in err


@pytest.mark.parametrize("last", [b"", b"$m0,", b"$" + b"x" * 70000, b"\0\xff" * 100, b"}" * 5000 + b"#", framed("vCont;c")])
def test_a_connection_that_is_lost(last, plain):
    """The run goes on without gdb, and says so."""
    with Debugged() as run:
        with Client(run.at) as gdb:
            gdb.send(last)
        status, out, err = run.end()
    assert status == 0 and plain["digest"] in out and not err
    assert "gdb: has gone; the run goes on without it" in out


def test_hostile_packets(plain):
    """Spoilt, overlong, senseless: each is answered, or asked for again, and the session goes on."""
    with Debugged() as run, Client(run.at) as gdb:
        gdb.send(b"$g#00")
        assert gdb.byte() == b"-"
        gdb.send(framed("m" + "0" * 20000) + framed("Z0," + "f" * 5000))
        assert [gdb.answer(), gdb.answer()] == ["E16", "E16"]
        assert gdb.ask("m0,ffffffff") and len(gdb.ask("m0,ffffffff")) <= 16384
        for packet in ("vCont;s:7", "Hg9", "qThreadExtraInfo,0", "p99", "Mzz", "vCont;c:1;" * 100 + "x"):
            assert gdb.ask(packet) in ("E01", "E16"), packet
        for packet in ("qXfer:nothing:read::0,10", "vRun", "QProgramSignals:0", "\0\1\2", "j"):
            assert gdb.ask(packet) == "", packet
        with Client(run.at) as second:
            gdb.ask("?")
            assert second.ended()
        assert gdb.ask("D") == "OK"
        status, out, _ = run.end()
    assert status == 0 and plain["digest"] in out and "gdb: a second one was sent away" in out


@pytest.mark.parametrize("packet", ["k", "vKill;1"])
def test_killed(packet):
    with Debugged() as run, Client(run.at) as gdb:
        gdb.send(framed(packet))
        status, out, err = run.end()
    assert status == 1 and not out and err == "emery: gdb has ended the run\n"


@pytest.mark.parametrize("there", [False, True])
def test_ctrl_c(there):
    """Ends everything, whether gdb has come or not."""
    with Debugged() as run:
        gdb = Client(run.at) if there else None
        if gdb:
            gdb.ask("?")
        run.process.send_signal(signal.SIGINT)
        status, out, _ = run.end()
        assert status == 130 and not out
        assert not gdb or gdb.ended()


def test_at_a_path(tmp_path, capsys, plain):
    path = tmp_path / "gdb.sock"
    with Debugged(at=str(path)) as run:
        assert run.at == str(path) and path.stat().st_mode & 0o077 == 0
        assert "in use" in refused(RUN, capsys, "--gdb", path)
        with Client(run.at) as gdb:
            assert gdb.ask("D") == "OK"
        status, out, _ = run.end()
    assert status == 0 and plain["digest"] in out and not path.exists()


def test_only_for_this_machine():
    with Debugged() as run:
        listening = subprocess.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True).stdout
        (line,) = [x for x in listening.splitlines() if f":{run.at:04X} " in x and " 0A " in x]
        assert "0100007F" in line.split()[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("host-nic", "--gdb", "0"), "core-nic"),
        (("tile-router", "--gdb", "0"), "core-nic"),
        (("core-nic", "--gdb", "x"), "neither a port"),
        (("core-nic", "--gdb", "70000"), "neither a port"),
        (("core-nic", "--gdb", "-1"), "neither a port"),
        (("core-nic", "--gdb", "0", "--set", "cosim=false"), "cosim=true"),
        (("core-nic", "--gdb", "/nowhere/at/all"), "No such file"),
        (("core-nic", "--gdb", "/" + "x" * 200), "too long"),
        (("core-nic", "--gdb", str(ROOT / "README.md")), "in use"),
        (("core-nic", "--gdb", "0", "--set", "banks=3"), "banks"),
    ],
)
def test_bad_input(words, says, capsys):
    assert says in refused(words, capsys)
    assert (ROOT / "README.md").is_file()


def test_a_port_in_use(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "in use" in refused(("core-nic",), capsys, "--gdb", taken.getsockname()[1])


# ---------------------------------------------------------------- gdb itself

with_gdb = pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="no gdb: apt install gdb-multiarch")


@with_gdb
def test_with_gdb(tmp_path, plain, symbols):
    """What gdb makes of it: threads by name, its own registers, backtraces, a watchpoint, the end."""
    commands = [
        "info threads",
        "break receive_frames",
        "continue",
        "backtrace",
        "info registers pc sp t1",
        "x/2i $pc",
        "stepi",
        "thread apply all print $pc",
        "delete",
        "watch *(unsigned*)&events_raised",
        "continue",
        "delete",
        "set $a0 = 1",
        "print *(unsigned*)0x20000000",
        "monitor help",
        "continue",
    ]
    with Debugged("--json", tmp_path / "out.json") as run:
        words = ["gdb-multiarch", "-nx", "-batch", run.elf, "-ex", f"target remote :{run.at}"]
        words += [y for x in commands for y in ("-ex", x)]
        said = subprocess.run(words, capture_output=True, text=True, timeout=300)
        text = said.stdout + said.stderr
        status, _, _ = run.end()
    for line in (
        r'\* 1 +Thread 1 "core 0" \(to start at _start\+0\)',
        r'Thread \d "core \d" hit Breakpoint 1, 0x[0-9a-f]+ in receive_frames \(\)',
        r"#0 .* in receive_frames \(\)\n#1 .* in receive_dispatch \(\)\n#2 .* in run_core \(\)\n#3 .* in core_main \(\)",
        r"t1 +<unavailable>",
        r"=> 0x[0-9a-f]+ <receive_frames\+\d+>:\s",
        r"hit Hardware watchpoint 2: .*events_raised\n\nOld value = \d+\nNew value = \d+\n.* in raise_event \(\)",
        r"Could not write register",
        r"Cannot access memory at address 0x20000000",
        r"monitor cycles +simulated time",
        r"\[Inferior 1 \(Remote target\) exited normally\]",
    ):
        assert re.search(line, text), f"{line}\n{text}"
    assert status == 0 and same(tmp_path / "out.json", plain)


@with_gdb
def test_the_page():
    """Its session, line by line."""
    told, session = re.findall(r"^```\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (command,) = re.findall(r"^\$ ./emery run (.*) --gdb 3333$", told, re.M)
    with Debugged(run=(*command.split(), "--assertions")) as run:
        session = session.replace(":3333", f":{run.at}")
        words = [y for x in re.findall(r"^(\(gdb\) (.*))$", session, re.M) for y in ("-ex", f"echo {x[0]}\\n", "-ex", x[1])]
        words = ["gdb-multiarch", "-nx", "-q", "-batch", run.elf, *words]
        said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        assert said.stdout == session
        status, out, _ = run.end()
    assert status == 0 and "dropped    nothing" in out

# SPDX-License-Identifier: Apache-2.0
"""Packets out of Python: a function named on the command line, an iterable given to `emery.run`; scapy's, or bytes."""

import itertools
import json
import re
import struct
from decimal import Decimal

import pytest
from conftest import body, read_pcap, refused, stream
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import emery
from emery import capture, cli, packets
from emery.cli import main
from emery.common import ROOT, UserError

SOURCE = """
from scapy.layers.l2 import Ether
from scapy.layers.inet import IP, UDP
import beside

def three():
    print("not for standard output")
    yield Ether() / IP(dst="10.0.0.1") / UDP()
    yield IP(dst="10.0.0.2") / UDP()
    yield beside.FRAME

def endless(seed):
    n = 0
    while True:
        yield n * 2e-6, seed.to_bytes(8) + n.to_bytes(52)
        n += 1

listed = [bytes(60), bytes(61)]
number = 3
def none(): pass
def fails():
    yield bytes(60)
    yield undefined
def leaves(): raise SystemExit
def strings(): yield "x" * 60
def short(): yield bytes(13)
def long(): yield bytes(16381)
def jumbo(): yield bytes(9000)
def mixed(): yield 0.5, bytes(60); yield bytes(60)
def late(): yield "noon", bytes(60)
def early(): yield -1e-9, bytes(60)
def never(): yield float("nan"), bytes(60)
def empty(): return []
"""


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "beside.py").write_text("FRAME = bytes(range(60))\n")
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


def stamps(path):
    """Of packets in a capture in the bench's form, in nanoseconds."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        seconds, ns, size, _ = struct.unpack_from("<IIII", data, at)
        found.append(seconds * 10**9 + ns)
        at += 16 + size
    return found


def test_a_function_of_a_file(file, tmp_path, capsys, fake):
    """All that it gives, in order; the result says what gave it, and where it is kept."""
    settings, out = fake(body({"tx": stream(100), "rx": stream(100)})), tmp_path / "out.json"
    assert main(["run", "host-nic", "--source", f"{file}:three", "--json", str(out)]) == 0
    printed = capsys.readouterr()
    assert "mine.py:three, both ways" in printed.out and "not for standard output" in printed.err
    frames = read_pcap(capture.Path(settings(0)["pcap"]))
    assert frames[0] == bytes(Ether() / IP(dst="10.0.0.1") / UDP()) and frames[2] == bytes(range(60))
    assert frames[1] == bytes.fromhex("020000000002 020000000001 0800") + bytes(IP(dst="10.0.0.2") / UDP())
    result = json.loads(out.read_text())
    assert result["workload"]["source"] == {"": f"{file}:three"} and result["workload"]["captures"] == {"": {"packets": 3}}
    assert read_pcap_ng(result["workload"]["pcap"][""]) == frames
    assert list(result["identity"]["inputs"]) == ["pcap"]


def read_pcap_ng(path):
    return read_pcap(capture.Path(capture.read(path).path))


def test_as_many_as_are_wanted_and_when_they_are_due(file, tmp_path, fake):
    """An endless function is asked for as many packets as a run sends; it has the run's seed; its times are kept."""
    settings, out = fake(body({"tx": stream(100), "rx": stream(100)})), tmp_path / "out.json"
    digests = set()
    for n, seed in enumerate((5, 6, 5)):
        words = ["--source", f"{file}:endless", "--frames", "7", "--timed", "--seed", str(seed), "--json", str(out)]
        assert main(["run", "host-nic", *words]) == 0
        played = capture.Path(settings(n)["pcap"])
        assert [x[:8] for x in read_pcap(played)] == [seed.to_bytes(8)] * 7
        assert stamps(played) == [2000 * x for x in range(7)] and settings(n)["frames"] == "7"
        digests.add(json.loads(out.read_text())["identity"]["digest"])
    assert len(digests) == 2


def test_the_identity_is_of_what_was_given(file, tmp_path, fake):
    fake(body({"tx": stream(100), "rx": stream(100)}))
    digests = []
    for text in (SOURCE, SOURCE + "\n# a remark", SOURCE.replace("bytes(61)]", "bytes(62)]")):
        file.write_text(text)
        assert main(["run", "host-nic", "--source", f"0={file}:listed", "--json", str(tmp_path / "out.json")]) == 0
        digests.append(json.loads((tmp_path / "out.json").read_text())["identity"]["digest"])
    assert digests[0] == digests[1] != digests[2]


def test_packets_of_a_program(fake):
    """bytes, what gives bytes, scapy's packets with and without Ethernet header, times; endless, and for ports."""
    settings = fake(body({"tx": stream(100), "rx": stream(100)}))
    tagged = Ether() / Dot1Q(vlan=7) / IPv6() / UDP()
    given = [bytes(60), bytearray(61), memoryview(bytes(62)), tagged, IPv6() / UDP()]
    result = emery.run("host-nic", packets=iter(given))
    frames = read_pcap(capture.Path(settings(0)["pcap"]))
    assert [len(x) for x in frames] == [60, 61, 62, len(tagged), 14 + 48] and frames[3] == bytes(tagged)
    assert frames[4][12:14] == b"\x86\xdd" and list(result.data["workload"]["captures"]) == [""]
    emery.run("host-nic", packets=((Decimal(x) / 10, bytes(60)) for x in itertools.count()), frames=3, timed=True)
    assert stamps(capture.Path(settings(1)["pcap"])) == [0, 10**8, 2 * 10**8]
    emery.run("host-nic", packets={0: [bytes(60)], 1: [bytes(99)]}, ports=2)
    assert [len(read_pcap(capture.Path(settings(2)[f"pcap.{x}"]))[0]) for x in (0, 1)] == [60, 99]
    for wrong, says in ((3, "int is nothing that gives packets"), ([], "it gives no packet")):
        with pytest.raises(UserError, match=says):
            emery.run("host-nic", packets=wrong)
    with pytest.raises(UserError, match="packets and pcap: choose one"):
        emery.run("host-nic", packets=[bytes(60)], pcap="x.pcap")


def test_a_parameter_of_that_name_stays_one(file, fake):
    settings = fake(body({"rx": stream(100)}))
    assert emery.run("capture", source="wire", size=64).parameters["source"] == "wire"
    emery.run("host-nic", source=f"{file}:listed")
    assert settings(0)["source"] == "wire" and len(read_pcap(capture.Path(settings(1)["pcap"]))) == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody", "there is no nobody in it"),
        ("none", "it gives nothing"),
        ("number", "int is nothing that gives packets"),
        ("fails", "line 23: NameError: name 'undefined' is not defined"),
        ("leaves", "line 24: SystemExit"),
        ("strings", "packet 1: str is not bytes"),
        ("short", "packet 1: 13 bytes; a frame has 14 to 16380"),
        ("long", "packet 1: 16381 bytes; a frame has 14 to 16380"),
        ("mixed", "packet 2: some packets have times and some have none"),
        ("late", "packet 1: 'noon' is no time in seconds"),
        ("early", "packet 1: -1e-09 is no time"),
        ("never", "packet 1: nan is no time"),
        ("empty", "it gives no packet"),
        ("endless", "more than 99 packets: say how many with --frames"),
    ],
)
def test_what_is_refused(file, capsys, monkeypatch, name, says):
    monkeypatch.setattr(packets, "_MOST", 99)
    line = refused(("host-nic",), capsys, "--source", f"{file}:{name}")
    assert says in line and line.startswith(f"emery: --source {file}:{name}: ")


def test_words_that_are_refused(file, capsys):
    def says(*words):
        return refused(("core-nic",), capsys, *words)

    for wrong in (file, f"{file}:", f"{file}:a b", "mine:f"):
        assert "write it as FILE.py:FUNCTION" in says("--source", wrong)
    assert "there is no file /nowhere.py" in says("--source", "/nowhere.py:f")
    good = f"{file}:listed"
    assert "--source and --size: choose one" in says("--source", good, "--size", "64")
    assert "--pcap and --source: choose one" in says("--source", good, "--pcap", "x.pcap")
    assert "a capture has its own flows" in says("--source", good, "--flows", "3")
    assert "no time stamp" in says("--source", good, "--timed")
    assert f"--source {file}:jumbo: a frame of 9004 bytes" in says("--source", f"{file}:jumbo")
    assert "given twice" in says("--source", good, "--source", good)
    file.write_text("def f(:\n")
    assert re.search(r"mine.py:f: line 1: SyntaxError: \w", says("--source", f"{file}:f"))


def test_scapy_is_brought_where_it_is_spoken_of(file, tmp_path):
    """By the launcher, in the version that the tests have."""
    (tmp_path / "plain.py").write_text("def f(): yield bytes(60)\n")
    sets = [cli.packages(["run", "core-nic", "--source", f"{prefix}{path}:f"]) for prefix in ("", "0=") for path in (file, "x")]
    assert sets == [("run", "scapy"), ("run",)] * 2
    assert cli.packages(["run", "core-nic", "--source", f"{tmp_path / 'plain.py'}:f"]) == ("run",)
    pins = [(ROOT / "requirements" / f"{x}.txt").read_text().splitlines() for x in ("scapy", "test")]
    assert [x for x in pins[0] if not x.startswith("#")] == [x for x in pins[1] if x.startswith("scapy")]

# SPDX-License-Identifier: Apache-2.0
"""`./emery attach`: what namespaces of this machine send each other really crosses the RTL."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import read_pcap
from namespaces import PING, SECONDS, Namespaces, needs_tap

from emery import attach
from emery.cli import main

# Programs that run in a namespace. The first sends back, when all has come, all that came.
ECHO = """
import socket
with socket.create_server(("10.77.0.2", 5001)) as server:
    print("listens", flush=True)
    with server.accept()[0] as link:
        data = b"".join(iter(lambda: link.recv(65536), b""))
        link.sendall(data)
"""
TCP = """
import os, socket, sys
data = os.urandom(int(sys.argv[1]))
with socket.create_connection(("10.77.0.2", 5001), timeout=30) as link:
    link.sendall(data)
    link.shutdown(socket.SHUT_WR)
    assert b"".join(iter(lambda: link.recv(65536), b"")) == data
"""
# Raw frames of these sizes: some begin as IP, TCP, UDP, VLAN or ARP do and go on at random; of each the same bytes twice.
RAW = """
import random, socket, struct, sys
interface, seed, *sizes = sys.argv[1:]
draw = random.Random(int(seed))
kinds = ["0800 45", "0800 4f", "0800 4500 05dc 0000 2000 4006", "0800 4500 ffff 0000 0000 4011", "86dd 60"]
kinds += ["8100 0fff 0800 45", "0806", "88b5"]
sent = 0
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
    raw.bind((interface, 0))
    for size in map(int, sizes):
        kind = bytes.fromhex(draw.choice(kinds))
        frame = (bytes(draw.choice([b"\\xff" * 6, b"\\x02" + draw.randbytes(5)])) + b"\\x02" + draw.randbytes(5) + kind)[:size]
        frame += draw.randbytes(size - len(frame))
        for _ in range(2):
            sent += raw.send(frame) == size
print(sent)
"""


class Machines(Namespaces):
    """Two namespaces, and the simulated system between their interfaces `tap0`: places[0] is 10.77.0.1, places[1] 10.77.0.2."""

    def __init__(self, path: Path, name: str, places: list[str], *words):
        super().__init__("ab")
        taps = [x for place, space in zip(places, self.spaces, strict=True) for x in ("--tap", f"{place}=tap0@{space}")]
        self.attach(path, name, *taps, *words)
        for number, space in enumerate(self.spaces):
            self.run(space, "ip", "addr", "add", f"10.77.0.{number + 1}/24", "dev", "tap0")

    @contextlib.contextmanager
    def serves(self, *command):
        """While a program runs in the second namespace."""
        words = ["ip", "netns", "exec", self.spaces[1], *command]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            yield child
            child.terminate()

    def address(self, number: int) -> str:
        return json.loads(self.run(self.spaces[number], "ip", "-j", "link", "show", "tap0"))[0]["address"]


@contextlib.contextmanager
def machines(path, name, places, *words):
    with contextlib.closing(Machines(path, name, places, *words)) as found:
        yield found


def accounted(result, here, there):
    """Nothing was lost or changed, and all that interfaces gave crossed the system: the streams between two places."""
    places, streams = result["live"]["places"], result["streams"]
    for stream, source, sink in (("rx", here, there), ("tx", there, here)):
        counts = streams[stream]
        assert counts["offered"] == places[source]["in"]["frames"] == counts["delivered"] == places[sink]["out"]["frames"] > 0
        assert not counts["dropped"] and not places[sink]["out"]["dropped"]


@needs_tap
def test_two_machines_talk_through_the_nic(tmp_path):
    with machines(tmp_path, "host-nic", ["wire0", "host0"], "--pcap-out", str(tmp_path)) as both:
        both.python(0, PING, "10.77.0.2", 0, 1, 18, 56, 1472, 8972, 20000)  # 8972: the MTU; 20000: fragments
        both.python(1, PING, "10.77.0.1", 56)
        for number in (0, 1):  # who the other one is was asked and told across the RTL
            known = json.loads(both.run(both.spaces[number], "ip", "-j", "neigh"))
            assert [(x["dst"], x["lladdr"]) for x in known] == [(f"10.77.0.{2 - number}", both.address(1 - number))]
        with both.serves(sys.executable, "-c", ECHO) as server:
            assert server.stdout.readline() == "listens\n"
            both.python(0, TCP, 200_000)
            assert server.wait(SECONDS) == 0
        if shutil.which("curl"):
            (tmp_path / "page").write_bytes(os.urandom(100_000))
            with both.serves(sys.executable, "-u", "-m", "http.server", "-d", str(tmp_path), "-b", "10.77.0.2", "80") as server:
                assert "Serving" in server.stdout.readline()
                both.run(both.spaces[0], "curl", "-sSf", "-m", "30", "-o", str(tmp_path / "got"), "http://10.77.0.2/page")
            assert (tmp_path / "got").read_bytes() == (tmp_path / "page").read_bytes()
        if shutil.which("iperf3"):
            with both.serves("iperf3", "-s", "-1", "--forceflush") as server:
                while "listening" not in server.stdout.readline():
                    pass
                both.run(both.spaces[0], "iperf3", "-c", "10.77.0.2", "-n", "200K")
        result, said = both.end()
    accounted(result, "wire0", "host0")
    places = result["live"]["places"]
    assert places["wire0"]["in"]["bytes"] > 200_000 < places["host0"]["in"]["bytes"]
    frames = read_pcap(tmp_path / "wire0.pcap")
    assert len(frames) == result["streams"]["tx"]["delivered"]
    assert {x[12:14].hex() for x in frames} == {"0806", "0800"} and min(map(len, frames)) == 60
    assert 400 < result["streams"]["rx"]["latency_ns"]["min"] < 1000  # of simulated time, as in any run
    assert 0 < result["simulated_s"] < 0.1 * (result["wall_s"] - result["live"]["idle_s"])
    for words in ("slower", f"tap0@{both.spaces[0]}", "ns min", "0 corrupted", f"{places['wire0']['in']['bytes']:,}"):
        assert words in said


@needs_tap
def test_the_small_cores_carry_it_too(tmp_path):
    with machines(tmp_path, "core-nic", ["host0", "wire0"]) as both:
        both.python(0, PING, "10.77.0.2", 0, 56, 1472, 4000)
        result, _ = both.end(signal.SIGINT)
    accounted(result, "wire0", "host0")


@needs_tap
def test_whatever_comes_is_delivered_or_counted(tmp_path):
    """Frames no machine would send, frames too long for the card, more than the interface holds: each at both ends."""
    sizes = [14, 15, 33, 59, 60, 61, 64, 1514, 9014, 9018, *range(16, 200, 7)]
    with machines(tmp_path, "host-nic", ["wire0", "host0"]) as both:
        sent = []
        for number, space in enumerate(both.spaces):
            both.run(space, "ip", "link", "set", "tap0", "mtu", "12000")
            sent.append(int(both.python(number, RAW, "tap0", number, *sizes, 9019, 12014)))
            assert sent[number] == 2 * len(sizes) + 4
        sent[0] += int(both.python(0, RAW, "tap0", 7, *[60] * 2000))
        result, said = both.end()
    for number, place in enumerate(("wire0", "host0")):
        way = result["live"]["places"][place]["in"]
        arp = way["frames"] + sum(way["dropped"].values()) - sent[number]  # answers to ARP that was made up
        assert 0 <= arp < 20 and way["dropped"]["too_long"] == 4
    assert "wire0 in too_long 4" in said
    for stream in result["streams"].values():
        assert stream["delivered"] == stream["offered"]


@needs_tap
def test_the_device_drops_and_the_summary_says_why(tmp_path):
    """Frames with a bad FCS do not come out; what waits for them is not waited for, and the others still pass."""
    with machines(tmp_path, "host-nic", ["wire0", "host0"], "--set", "bad_fcs_every=4", "--for", "10") as both:
        both.python(0, RAW, "tap0", 1, *[100] * 40)
        result, said = both.end(0)
    counts = result["streams"]["rx"]
    assert 0 < counts["dropped"]["bad_fcs"] < counts["offered"] >= 80
    assert f"rx bad_fcs {counts['dropped']['bad_fcs']}" in said
    # It ends by itself and not before; how long it takes then, and how much of it is idle, is the machine's load.
    assert result["wall_s"] >= 10 and result["live"]["idle_s"] > 0


@needs_tap
def test_an_interface_goes_and_a_namespace_loses_its_name(tmp_path):
    with machines(tmp_path, "host-nic", ["wire0", "host0"]) as both:
        both.python(0, PING, "10.77.0.2", 56)
        subprocess.run(["ip", "netns", "del", both.spaces[0]], check=True)  # it stays as long as somebody is in it
        both.run(both.spaces[1], "ip", "link", "del", "tap0")
        result, said = both.end(0)
    accounted(result, "wire0", "host0")
    assert result["live"]["gone"] == "host0" and f"tap0@{both.spaces[1]}, which was at host0, has gone" in said


# ---------------------------------------------------------------- what cannot be


def refused(capsys, name, *words):
    assert main(["attach", name, *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("emery: ") and said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("host-nic", [], "--tap"),
        ("host-nic", ["--tap", "wire0"], "PLACE=NAME"),
        ("host-nic", ["--tap", "wire0=a@"], "PLACE=NAME"),
        ("host-nic", ["--tap", "wire0=@b"], "PLACE=NAME"),
        ("host-nic", ["--tap", "wire1=a"], "no place wire1"),
        ("host-nic", ["--tap", "port0=a"], "no place port0"),
        ("host-nic", ["--tap", "wire0=a", "--tap", "wire0=b"], "a is at wire0 already"),
        ("host-nic", ["--tap", "wire0=a", "--tap", "host0=a"], "a is at wire0 already"),
        ("host-nic", ["--tap", "wire0=sixteen-letters-"], "up to 15"),
        ("host-nic", ["--tap", "wire0=a/b"], "up to 15"),
        ("host-nic", ["--tap", "wire0=tap%d"], "up to 15"),
        ("host-nic", ["--tap", "wire0=a@no-such-space"], "no network namespace no-such-space"),
        ("host-nic", ["--tap", "wire0=a@../../etc"], "no network namespace"),
        ("host-nic", ["--tap", "wire0=a", "--set", "ports=2"], "live=true, ports=2: live traffic is of interfaces"),
        ("host-nic", ["--tap", "wire0=a", "--set", "ptp=true"], "ptp=true: between"),
        ("host-nic", ["--tap", "wire0=a", "--set", "steered_flows=3"], "steered_flows=3: live traffic"),
        ("host-nic", ["--tap", "wire0=a", "--set", "queue_rates=1,2"], "live traffic comes"),
        ("host-nic", ["--tap", "wire0=a", "--for", "0"], "seconds"),
        ("host-nic", ["--tap", "wire0=a", "--json", "/no/such/file"], "no directory"),
        ("capture", ["--tap", "wire0=a"], "core-nic, direct-router, host-nic"),
    ],
)
def test_refuses(capsys, name, words, says):
    assert says in refused(capsys, name, *words)


@pytest.mark.parametrize(
    ("number", "says"), [(errno.ENOENT, "no TAP interfaces"), (errno.EPERM, "CAP_NET_ADMIN"), (errno.EACCES, "CAP_NET_ADMIN")]
)
def test_no_such_device_or_no_right_to_it(capsys, monkeypatch, number, says):
    opened = os.open

    def refuse(path, *rest, **more):
        if path == "/dev/net/tun":
            raise OSError(number, os.strerror(number), path)
        return opened(path, *rest, **more)

    monkeypatch.setattr(attach.os, "open", refuse)
    assert says in refused(capsys, "host-nic", "--tap", "wire0=emerytap")


@needs_tap
def test_an_interface_that_is_there_already(capsys):
    assert "there is an interface lo already" in refused(capsys, "host-nic", "--tap", "wire0=lo")

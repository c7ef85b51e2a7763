# SPDX-License-Identifier: Apache-2.0
"""A real Linux drives capture: its kernel module, `./emery linux --card capture`."""

import io
import random

import pytest
import scapy.utils
from guests import WRONG, guest, lines, needs_linux
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from emery import system
from emery.cli import main
from emery.guest import run
from emery.make import linux

CARD = ("--card", "capture")


@pytest.mark.parametrize(
    "words",
    [
        ["--card", "core-nic", "--", "true"],
        ["--card", "", "--", "true"],
        [*CARD, "--guests", "2", "--", "true"],
        [*CARD, "--peer", "true", "--", "true"],
        [*CARD, "--size", "16385", "--", "true"],
        [*CARD, "--pcap", "nowhere.pcap", "--", "true"],
        ["--size", "64", "--", "true"],
    ],
)
def test_refuses(capsys, monkeypatch, words):
    monkeypatch.setattr(linux, "check", lambda: None)  # on a machine without what guests need, too
    assert main(["linux", *words]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and not said.out, said


def test_settings_are_refused_before_anything_is_built(capsys, monkeypatch):
    """Each condition about guests."""
    monkeypatch.setattr(linux, "check", lambda: None)
    monkeypatch.setattr(run, "run", lambda *a, **k: pytest.fail("built"))
    refusals, met = {x.why for x in system.load("capture").refusals if "linux" in x.names}, set()
    for setting in ("source=generator", "link_stall_us=3", "link_back_at_us=20"):
        more = ["--set", "link_lost_at_us=10"] * ("link" in setting)
        assert main(["linux", *CARD, "--set", setting, *more, "--", "true"]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1 and setting in line
        met.add(line.strip().split(": ", 2)[2])
    assert met == refusals


@needs_linux
def test_the_module_builds_without_a_warning():
    system = next(x for x in run.systems() if x.name == "capture")
    module, log = linux.build_module(system, ("W=1",))
    assert module.name == "emery_capture.ko" and "warning" not in log.lower(), log


def frames(path, seed, count):
    """A capture of frames of all sizes from `path`'s least to a full page's, by seed."""
    draw = random.Random(seed)
    sent = []
    with scapy.utils.PcapWriter(str(path)) as out:
        for n in range(count):
            head = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IP(src=f"10.0.{n % 7}.1", dst="10.1.0.1")
            packet = bytes(head / UDP(sport=n, dport=9) / draw.randbytes(draw.choice([18, draw.randrange(1473), 8000])))
            sent.append(packet + bytes(max(0, 60 - len(packet))))
            out.write(packet)
    return sent


def read(data):
    """Frames and times, in ns, of a capture file that may end anywhere."""
    reader = scapy.utils.RawPcapReader(io.BytesIO(data))
    assert reader.nano
    got = [(bytes(packet), about.sec * 10**9 + about.usec, about.wirelen) for packet, about in reader]
    assert len(data) == 24 + sum(16 + len(x) for x, *_ in got)
    return got


@needs_linux
@pytest.mark.parametrize(("links", "piece"), [(1, 4096), (2, 997)])
def test_reads_as_a_capture_file(capfdbinary, tmp_path, links, piece):
    """What the wire brought, byte for byte, in order, stamped as it came, in reads of any size; counted by card and library."""
    sent = frames(tmp_path / "sent.pcap", 20261126 + links, 1501)
    count = "cd /sys/class/emery_capture/emcap0; cat links statistics/rx_frames statistics/captured statistics/packets >&2"
    script = f"dd if=/dev/emcap0 bs={piece} 2>/dev/null & sleep 0.01; kill $!; wait; {count}"
    words = ("--pcap", str(tmp_path / "sent.pcap"), "--rate", "20G", "--set", f"links={links}", "--pcap-out", str(tmp_path))
    assert main(["linux", *CARD, *words, "--", "sh", "-c", script]) == 0
    out, err = capfdbinary.readouterr()
    got = read(out)
    assert [x for x, *_ in got] == sent and all(len(x) == length for x, _, length in got)
    assert err.decode().split() == [str(links), "1501", "1501", "1501"]
    wire = [(bytes(x), about.sec * 10**9 + about.usec) for x, about in scapy.utils.RawPcapReader(str(tmp_path / "wire.pcap"))]
    assert [x for x, _ in wire] == sent
    # Stamps of the card's clock, read over the link when capture began, and of the wire's calendar: steps are the same.
    steps = [(b[1] - a[1], d[1] - c[1]) for a, b, c, d in zip(got, got[1:], wire, wire[1:], strict=False)]
    assert all(abs(card - line) <= 8 for card, line in steps)


@needs_linux
def test_rings_readers_and_a_lost_link(capfdbinary, tmp_path):
    """Four rings, a reader each, spread by flow; a second reader is refused; a link dies under them: every frame is read or
    counted as lost. Then the module stays while it is used, and readers of a card that is pulled out are told."""
    script = """
        rmmod emery_capture; insmod /card.ko rings=4
        for i in 0 1 2 3; do cat /dev/emcap$i >/root/ring$i & done; sleep 0.005
        cat /dev/emcap0 2>&1 | grep -c busy; cat /sys/class/emery_capture/emcap0/links
        killall cat; wait; wc -c </root/ring3
        cd /sys/class/emery_capture/emcap3/statistics
        cat captured packets lost_packets link_losses bytes bad_returns damaged ring_full; cd /
        cat /root/ring0 /root/ring1 /root/ring2 | wc -c
        cat /dev/emcap1 2>&1 >/dev/null & sleep 0.01
        rmmod emery_capture 2>&1 | grep -c unavailable
        echo 1 >/sys/bus/pci/devices/0000:00:01.0/remove; wait
        echo 1 >/sys/bus/pci/devices/0000:00:00.0/remove; ls /dev | grep -c emcap
        rmmod emery_capture; echo scan >/sys/kernel/debug/kmemleak; cat /sys/kernel/debug/kmemleak
    """
    words = ("--size", "64-1518", "--frames", "3000", "--rate", "30G", "--flows", "64", "--set", "link_lost_at_us=200")
    log = tmp_path / "kernel"
    status, out, err = guest(capfdbinary, *CARD, *words, "--debug", "--kernel-log", str(log), "--", "sh", "-c", lines(script))
    said = out.splitlines()
    assert status == 0, err
    busy, links, ring3, captured, packets, lost, losses, size, bad, damaged, full, others = map(int, said[:12])
    assert (busy, links, losses, bad, damaged) == (1, 1, 1, 0, 0)
    assert captured + full == 3000 == packets + lost + full and lost + full < 500
    assert ring3 + others == 4 * 24 + 16 * packets + size and ring3 > 24
    assert said[12:] == ["1", "cat: read error: No such device", "0"]
    assert not WRONG.search(log.read_text()), log.read_text()


@needs_linux
def test_a_reader_may_wait_by_poll(capfdbinary):
    """netcat does, and sends what it reads to another."""
    script = """
        tail -f /dev/null | nc -l -p 9 >/root/got & sleep 0.001; nc 127.0.0.1 9 </dev/emcap0 & sleep 0.02
        wc -c </root/got; insmod /card.ko 2>&1 | grep -c exists
    """
    status, out, _ = guest(capfdbinary, *CARD, "--size", "64", "--frames", "5", "--", "sh", "-c", lines(script))
    assert status == 0 and out == f"{24 + 5 * 76}\n1\n"

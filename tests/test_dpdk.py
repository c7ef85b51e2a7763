# SPDX-License-Identifier: Apache-2.0
"""DPDK drives host-nic: the poll-mode driver under testpmd, `./emery dpdk`."""

import json
import re
import socket
import struct
from pathlib import Path

import pytest
import scapy.utils

from emery import process
from emery.cli import main
from emery.common import UserError
from emery.guest import testpmd
from emery.guest.simulator import Simulator
from emery.make import dpdk
from emery.workload import workload

needs_dpdk = pytest.mark.skipif(bool(dpdk.missing()), reason=f"Debian packages: {' '.join(dpdk.missing())}")
TOTALS = {"packets": 300, "dropped": 0}


def forward(capfd, path, *words, status=0):
    """Output, result, and frames to and from the card."""
    folder = path / str(len(list(path.iterdir())))
    folder.mkdir()
    found = main(["dpdk", "--pcap-out", str(folder), "--json", str(folder / "json"), *words])
    out, err = capfd.readouterr()
    assert found == status, err
    frames = [[x for x, _ in scapy.utils.RawPcapReader(str(folder / f"{way}_card.pcap"))] for way in ("to", "from")]
    return out, json.loads((folder / "json").read_text()), *frames


def card_alone(folder, *parameters, traffic=None, **more):
    """A simulator that waits for a driver at `folder`/card."""
    target = testpmd.default_system()
    values = target.values(parameters)
    settings = {**target.settings(values), **workload(target, traffic or {"size": "64", "frames": "1"}).settings(), **more}
    settings |= {"socket": folder / "card", "result": folder / "result"}
    return Simulator(dpdk.build_simulator(target, values), settings, folder)


def refused(capfd, *words):
    assert main(["dpdk", *words]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    "words",
    [["io"], ["--frames", "0"], ["--poll-ns", "x"], ["--direction", "tx"], ["--set", "ports=2"], ["--silent", "--frames", "1"]],
)
def test_refuses(capfd, words, monkeypatch):
    monkeypatch.setattr(dpdk, "check", lambda: None)
    refused(capfd, *words)


def test_missing_packages_are_one_line(capfd, monkeypatch):
    monkeypatch.setattr(dpdk.shutil, "which", lambda name: None)
    assert "apt-get install -y dpdk-dev" in refused(capfd)


@pytest.mark.parametrize(
    "request_, says",
    [
        ((99, 0, 0, 0), "request 99"),
        ((1, 0, 0, 7), "request 1 "),  # another version
        ((3, 0, 1 << 40, 0), "request 3 "),  # no such register
        ((4, 0, (1 << 64) - 4, 0), "request 4 "),  # the last address there is
        ((4, 0, 2, 0), "request 4 "),  # a part of one
        ((6, 0, 0, 1 << 60), "request 6 "),  # years
        ((10, 0, 5, 1), "request 10 "),  # a queue that has no event descriptor
    ],
)
def test_a_driver_that_makes_no_sense(tmp_path, request_, says):
    """Its simulator ends with one line that says which request that was."""
    card = card_alone(tmp_path)
    with socket.socket(socket.AF_UNIX) as driver:
        driver.connect(str(tmp_path / "card"))
        driver.sendall(struct.pack("<IIQQ", 1, 0, 0, 2))
        answer = struct.unpack("<IIQQ", driver.recv(24, socket.MSG_WAITALL))
        assert answer == (1, 0, 100_000_000_000, 0x020000000001)
        driver.sendall(struct.pack("<IIQQ", 2, 0, 0, 4096))  # memory without a file
        assert struct.unpack("<IIQQ", driver.recv(24, socket.MSG_WAITALL)) == (2, 0, 0, 0)
        for wrong in ((8, 0, 0, 1 << 20), (9, 0, 5, 0)):  # more vectors than there are; an event without a descriptor
            driver.sendall(struct.pack("<IIQQ", *wrong))
            assert struct.unpack("<IIQQ", driver.recv(24, socket.MSG_WAITALL)) == (wrong[0], 0, 0, 0)
        driver.sendall(struct.pack("<IIQQ", *request_))
        assert driver.recv(24) == b""
    card.wait()
    with pytest.raises(UserError, match=says):
        card.check("dpdk")
    process.finish(card.child)


@needs_dpdk
def test_the_driver_builds_without_a_warning():
    plugin = dpdk.plugin(testpmd.default_system())
    assert (plugin.parent / "log").read_text() == ""


@needs_dpdk
@pytest.mark.parametrize("suite, tests", [("event_eth_rx_adapter", "10"), ("event_eth_rx_intr_adapter", "2")])
def test_suites_of_dpdk_for_ports_behind_an_event_device(tmp_path, suite, tests):
    """What DPDK's own tests do to whatever port there is: receive queues come to and leave an adapter, each alone and all,
    polled or by interrupts, started and stopped. The others of `dpdk-test` make ports of their own."""
    card = card_alone(tmp_path, "rx_queues=16", "tx_queues=16", silent=True)
    assert card.runs()
    eal = testpmd.eal(
        dpdk.plugin(testpmd.default_system()), tmp_path / "card", memory=2600
    )  # MiB: its pool has half a million buffers
    command = ["dpdk-test", *eal, *testpmd.lcores(), "--vdev", "event_sw0", "-s", "0x2"]  # core 1 runs services
    try:
        done = process.run(["env", f"DPDK_TEST={suite}_autotest", *command], 200)
    finally:
        process.finish(card.child)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"Tests (Passed|Failed|Skipped|Unsupported) *: +(\d+)", done.stdout))
    assert counts == {"Passed": tests, "Failed": "0", "Skipped": "0", "Unsupported": "0"}


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """A program that sleeps until its queue's interrupt."""
    out = tmp_path_factory.mktemp("sleeper") / "sleeper"
    flags = process.run(["pkg-config", "--cflags", "--libs", "libdpdk"]).stdout.split()
    done = process.run(
        ["cc", "-O2", "-Wall", "-Werror", str(Path(__file__).parent / "dpdk" / "sleeper.c"), "-o", str(out), *flags]
    )
    assert done.returncode == 0, done.stderr
    return out


def slept(sleeper, folder, traffic, *words, costs=None):
    """What it says of such traffic; how often the card has woken it."""
    folder.mkdir()
    card = card_alone(folder, traffic={"size": "64", **traffic})
    plugin = dpdk.plugin(testpmd.default_system())
    eal = testpmd.eal(plugin, folder / "card", memory=64, costs=costs)
    try:
        done = process.run([str(sleeper), *eal, "--lcores", "0", "--", *words], 60)
        card.wait()
    finally:
        process.finish(card.child)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1], json.loads((folder / "result").read_text())["driver"]["interrupts"]


@needs_dpdk
def test_sleeps_until_frames_come(sleeper, tmp_path):
    """Frames at some distance, a look at another queue between the last one at this and the arming, of 0 to 5 us: each frame is
    received, whenever it came; the same once more."""
    traffic = {"frames": "30", "rate": "0.001"}
    for gap in ("0", "1", "5"):
        said = [slept(sleeper, tmp_path / f"{gap}{n}", traffic, "30", gap, costs={"poll_ns": 1000}) for n in range(2)]
        assert said[0] == said[1]
        frames, woken, empty = map(int, re.findall(r"\d+", said[0][0]))
        assert frames == 30 and empty == 0 and 10 < woken <= 30 and said[0][1] == woken, said


@needs_dpdk
def test_a_frame_before_the_arming_wakes(sleeper, tmp_path):
    """The only one there is comes between the last look and the arming; as the same without arming shows, it is there then."""
    one, costs = {"frames": "1"}, {"poll_ns": 1000}
    assert slept(sleeper, tmp_path / "late", one, "1", "20", "late", costs=costs) == (
        "frames 1, woken 0 times, 0 of them for nothing",
        0,
    )
    assert slept(sleeper, tmp_path / "armed", one, "1", "20", costs=costs) == (
        "frames 1, woken 1 times, 0 of them for nothing",
        1,
    )


@needs_dpdk
def test_disarmed_it_does_not_wake(sleeper, tmp_path):
    said = slept(sleeper, tmp_path / "off", {"frames": "1"}, "1", "20", "off", costs={"poll_ns": 1000})
    assert said == ("frames 1, woken 0 times, 0 of them for nothing", 0)


@needs_dpdk
def test_totals_are_those_of_the_line_and_the_same_once_more(capfd, tmp_path):
    words = ("--size", "64-1518", "--frames", "300", "--rate", "0.5")
    first, again = (forward(capfd, tmp_path, *words) for _ in range(2))
    assert first == again
    _, result, sent, back = first
    assert result["finished"] and len(sent) == 300 and back == sent, "as they came, in their order"
    assert result["testpmd"] == {"rx": TOTALS, "tx": TOTALS}
    assert [result["wire"][x]["frames"] for x in ("to_card", "from_card")] == [300, 300]
    assert forward(capfd, tmp_path, *words, "--seed", "2")[3] != back


@needs_dpdk
def test_frames_that_one_core_cannot_take_are_counted(capfd, tmp_path):
    """At 148.8 Mpps and 100 ns a frame: the card says what it had no buffer for."""
    _, result, sent, back = forward(capfd, tmp_path, "--size", "64", "--frames", "4000", "--frame-ns", "50")
    rx, tx = result["testpmd"]["rx"], result["testpmd"]["tx"]
    assert rx["dropped"] > 500 and rx["packets"] + rx["dropped"] == len(sent) == 4000
    assert rx["packets"] == tx["packets"] == len(back)
    assert set(back) < set(sent)


@needs_dpdk
def test_queues_and_rss(capfd, tmp_path):
    words = ("--size", "64-512", "--frames", "300", "--flows", "64", "--", "--rxq=4", "--txq=4", "--forward-mode=mac")
    out, result, sent, back = forward(capfd, tmp_path, *words)
    assert result["testpmd"]["tx"] == TOTALS
    shares = [int(x) for x in re.findall(r"RX-packets: (\d+) +TX-packets", out)]
    assert len(shares) == 4 and min(shares) > 30 and sum(shares) == 300
    assert sorted(x[12:] for x in back) == sorted(x[12:] for x in sent), "but for the addresses that the mode writes"
    assert {x[6:12] for x in back} == {bytes.fromhex("020000000001")}


@needs_dpdk
def test_without_rss_all_go_to_the_first_queue(capfd, tmp_path):
    words = ("--size", "64", "--frames", "300", "--rate", "0.2", "--", "--rxq=2", "--txq=2", "--disable-rss")
    out, result, *_ = forward(capfd, tmp_path, *words)
    assert result["testpmd"]["rx"] == TOTALS
    assert re.search(r"RX Port= 0/Queue= 0 .*\n +RX-packets: 300 ", out) and "Queue= 1 ->" not in out


@needs_dpdk
def test_checksums(capfd, tmp_path):
    """Made by the device: from a capture whose UDP and TCP checksums are not right all come back right."""
    from scapy.all import IP, TCP, UDP, Ether, Raw, wrpcap

    frames = []
    for i in range(40):
        body = (UDP, TCP)[i % 2](sport=1000 + i, dport=7) / Raw(bytes([i]) * (20 + i))
        frames.append(Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IP(src="10.0.0.2", dst="10.0.0.1") / body)
    right = [bytes(x) for x in frames]
    spoiled = [x[:14] + x[14:34] + x[34:] for x in right]
    for n, x in enumerate(spoiled):
        at = 34 + (16 if n % 2 else 6)
        spoiled[n] = x[:at] + bytes([x[at] ^ 1]) + x[at + 1 :] if n < 20 else x
    wrpcap(str(tmp_path / "in.pcap"), [Ether(x) for x in spoiled])
    words = ("--pcap", str(tmp_path / "in.pcap"), "--", "--forward-mode=csum", "--rx-offloads=0xc", "--tx-offloads=0xc")
    out, result, sent, back = forward(capfd, tmp_path, *words)
    assert len(back) == 40 and sent != [x.ljust(60, b"\0") for x in right]
    assert "Bad-l4csum: 20 " in out, "what the device has summed of the received ones"
    assert sorted(x[12:] for x in back) == sorted(x[12:].ljust(48, b"\0") for x in right)


@needs_dpdk
def test_segmentation(capfd, tmp_path):
    """testpmd's `tso set`: long frames of TCP come back cut to 400 bytes of payload, short ones as they were."""
    from scapy.all import IP, TCP, Ether, IPv6, Raw, wrpcap

    def frame(n, seq, payload, flags):
        ip = IPv6(src="fd00::2", dst="fd00::1") if n % 2 else IP(src="10.0.0.2", dst="10.0.0.1", id=n + seq // 400)
        ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
        return bytes(ether / ip / TCP(sport=1000 + n, dport=7, seq=seq, flags=flags) / Raw(payload))

    sizes = [1, 400, 401, 800, 1000, 1440, 1201, 399]
    whole = [(n, bytes((n + i) % 256 for i in range(size))) for n, size in enumerate(sizes)]
    cut = [(n, at, x[at : at + 400], "A" if at + 400 < len(x) else "PA") for n, x in whole for at in range(0, len(x), 400)]
    wrpcap(str(tmp_path / "in.pcap"), [Ether(frame(n, 0, x, "PA")) for n, x in whole])
    script = tmp_path / "commands"
    script.write_text("port stop 0\ntso set 400 0\nport start 0\n")
    settings = ("--set", "tso=true", "--set", "vlan_tags=true")
    words = (*settings, "--pcap", str(tmp_path / "in.pcap"), "--", "--forward-mode=csum", "--tx-offloads=0x2c")
    out, result, _, back = forward(capfd, tmp_path, *words, f"--cmdline-file={script}")
    wanted = [frame(*x)[12:].ljust(48, b"\0") for x in cut]
    assert [x[12:] for x in back] == wanted, out
    assert result["testpmd"]["tx"]["packets"] == len(cut)


JOINS = ("--set", "receive_coalescing=true", "--set", "tso=true", "--set", "vlan_tags=true")
LARGE = ("--enable-lro", "--max-lro-pkt-size=8000", "--mbuf-size=10000")
JOINED_BYTES, JOINED_SEGMENT, JOINED_FLOWS = 5400, 1000, 6


def joinable(flow, at=0, size=JOINED_BYTES):
    """So many bytes of a flow of TCP: of IPv4, IPv6, and of each one with a tag."""
    from scapy.all import IP, TCP, Dot1Q, Ether, IPv6, Raw

    ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    four = {"src": "10.0.0.2", "dst": "10.0.0.1", "id": flow + at // JOINED_SEGMENT, "flags": "DF"}
    ip = IPv6(src="fd00::2", dst="fd00::1") if flow % 2 else IP(**four)
    tcp = TCP(sport=1000 + flow, dport=7, seq=at + 99, flags="A" if at + size < JOINED_BYTES else "PA")
    payload = bytes((flow * 7 + i * 31 + i // 256) % 256 for i in range(at, at + size))
    return bytes((ether / Dot1Q(vlan=5) if flow > 3 else ether) / ip / tcp / Raw(payload))


def write_trains(path):
    """A capture of each flow's segments, those of one flow behind the other's, and of a short frame behind each; the frames."""
    from scapy.all import Ether, wrpcap

    starts = range(0, JOINED_BYTES, JOINED_SEGMENT)
    trains = [[joinable(n, at, min(JOINED_SEGMENT, JOINED_BYTES - at)) for at in starts] for n in range(JOINED_FLOWS)]
    short = [joinable(100 + n, JOINED_BYTES - 10, 10).ljust(60, b"\0") for n in range(JOINED_FLOWS)]
    frames = [x for train, one in zip(trains, short, strict=True) for x in (*train, one)]
    wrpcap(str(path), [Ether(x) for x in frames])
    return frames, short


@needs_dpdk
def test_segments_come_as_one(capfd, tmp_path):
    """Each mbuf has what its flow sent, to the byte: one packet, but for TCP's checksum. Statistics are in frames; without the
    offload the same card gives each frame as it came."""
    frames, short = write_trains(tmp_path / "in.pcap")
    words = (*JOINS, "--pcap", str(tmp_path / "in.pcap"), "--", "--max-pkt-len=9000")
    out, result, sent, back = forward(capfd, tmp_path, *words, *LARGE)
    assert sent == frames and len(back) == 2 * JOINED_FLOWS < len(sent), out
    assert result["testpmd"]["rx"] == {"packets": len(sent), "dropped": 0}
    assert back[1::2] == short
    for flow, frame in enumerate(back[::2]):
        checksum = 14 + 4 * (flow > 3) + (40 if flow % 2 else 20) + 16
        whole = joinable(flow)
        assert frame[:checksum] == whole[:checksum] and frame[checksum + 2 :] == whole[checksum + 2 :], flow
    assert forward(capfd, tmp_path, *words, "--mbuf-size=10000")[3] == frames


@needs_dpdk
def test_what_came_as_one_leaves_as_several(capfd, tmp_path):
    """Forwarded with testpmd's `tso set`, cut by the card into the frames that came, checksums right."""
    frames, _ = write_trains(tmp_path / "in.pcap")
    script = tmp_path / "commands"
    script.write_text(f"port stop 0\ntso set {JOINED_SEGMENT} 0\nport start 0\n")
    words = ("--forward-mode=csum", "--rx-offloads=0xc", "--tx-offloads=0x2c", f"--cmdline-file={script}")
    out, result, sent, back = forward(capfd, tmp_path, *JOINS, "--pcap", str(tmp_path / "in.pcap"), "--", *words, *LARGE)
    assert sorted(x[12:] for x in back) == sorted(x[12:] for x in frames), out
    assert result["testpmd"] == {way: {"packets": len(frames), "dropped": 0} for way in ("rx", "tx")}
    assert "Bad-l4csum: 0 " in out


@needs_dpdk
@pytest.mark.parametrize(
    "words, says",
    [
        ([*JOINS, "--", "--enable-lro", "--max-lro-pkt-size=8000"], "LRO: mbufs have room for 2048 bytes"),
        ([*JOINS, "--", "--enable-lro", "--max-lro-pkt-size=16384"], "16384"),
        (["--", "--enable-lro"], "Rx offloads"),  # that the card has not
    ],
)
def test_segments_that_cannot_come_as_one(capfd, words, says):
    assert says in refused(capfd, *words)


@needs_dpdk
def test_what_testpmd_generates(capfd, tmp_path):
    words = ("--silent", "--duration", "20us", "--", "--forward-mode=txonly", "--txpkts=100,50", "--tx-offloads=0x8000")
    _, result, sent, back = forward(capfd, tmp_path, *words)
    assert not sent and len(back) == result["testpmd"]["tx"]["packets"] > 100
    assert {len(x) for x in back} == {150}


@needs_dpdk
def test_statistics_and_settings(capfd, tmp_path):
    script = tmp_path / "commands"
    lines = [
        "port stop 0",
        "port config mtu 0 1000",
        "port start 0",
        "show port info 0",
        "show port xstats 0",
        "show device info all",
    ]
    script.write_text("\n".join(lines) + "\n")
    out, result, *_ = forward(capfd, tmp_path, "--frames", "100", "--size", "64", "--", f"--cmdline-file={script}")
    assert "MTU: 1000" in out and "Link status: up" in out and "Link speed: 100 Gbps" in out
    assert "port_rx_no_descriptor: 0" in out and "rx_q0_packets: 0" in out
    assert result["testpmd"]["rx"]["packets"] == 100


@needs_dpdk
@pytest.mark.parametrize(
    "words, says",
    [
        (["--nothing"], "unrecognized option '--nothing'"),
        (["--forward-mode=flow"], "Invalid flow packet forwarding mode"),
        (["--rxq=999"], "rxq 999 invalid"),
        (["--rxd=96"], "96 descriptors: a ring has a power of two"),
        (["--max-pkt-len=9000"], "mbufs have room for"),
        (["--vdev", "net_emery1,wrong=1", "--"], "its arguments are socket"),
        (["--vdev", "net_emery1,socket=/nowhere", "--"], "No such file"),
    ],
)
def test_what_testpmd_does_not_take(capfd, words, says):
    assert says in refused(capfd, "--", *words)

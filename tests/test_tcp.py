# SPDX-License-Identifier: Apache-2.0
"""TCP as traffic (`--traffic tcp`): what a card's ports saw of it, read anew with scapy; losses; rates; what is refused.

The stack by itself, against losses by a script and by a seed, is tested in bench/tcp/tcp_test.cpp.
"""

import json
from collections import Counter, defaultdict

import pytest
from conftest import accounted_for, read_pcap
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

import emery
from emery.cli import main

FIN, SYN, ACK = 0x01, 0x02, 0x10
FIRST = 32768  # port of the first connection's opener


@pytest.fixture
def nic(simulate):
    def run(*words, **more):
        return simulate("host-nic", "--traffic", "tcp", *words, **more)

    return run


def connections(folder):
    """What each end of a connection sent, by its number and whether that is the host: TCP of scapy and payload, in the order of
    the wire. All sums are right."""
    found = defaultdict(list)
    for name, host in (("wire0.pcap", True), ("host.pcap", False)):
        for frame in read_pcap(folder / name):
            ip = Ether(frame)[IP]
            again = ip.copy()
            del again.chksum, again[TCP].chksum
            again = IP(bytes(again)[: ip.len])
            assert (ip.chksum, ip[TCP].chksum) == (again.chksum, again[TCP].chksum)
            payload = bytes(ip)[ip.ihl * 4 + ip[TCP].dataofs * 4 : ip.len]
            found[max(ip[TCP].sport, ip[TCP].dport) - FIRST, host].append((ip[TCP], payload))
    return found


def check_connection(sent, answered, mss, window_kb=256):
    """Handshake, a stream without holes in which every copy of a byte is the same, acknowledgements that never go back and come
    to its end, FINs; gives the stream's length."""
    (syn, nothing), (answer, nothing_either) = sent[0], answered[0]
    assert (syn.flags, answer.flags) == ("S", "SA") and not nothing and not nothing_either
    assert answer.ack == (syn.seq + 1) % 2**32
    for tcp in (syn, answer):
        assert dict(tcp.options)["MSS"] == mss
    scale = dict(answer.options)["WScale"]
    came, fins = bytearray(), set()
    for tcp, payload in sent[1:]:
        assert tcp.flags & ACK and not tcp.flags & SYN and len(payload) <= mss
        place = (tcp.seq - syn.seq - 1) % 2**32
        if tcp.flags & FIN:
            fins.add(place + len(payload))
        if payload:
            assert place <= len(came), "a hole"
            known = came[place : place + len(payload)]
            assert known == payload[: len(known)], "other bytes than before"
            came += payload[len(known) :]
    assert fins == {len(came)}
    acks = [(tcp.ack - syn.seq - 1) % 2**32 for tcp, _ in answered]
    assert acks == sorted(acks) and acks[-1] == len(came) + 1
    assert not any(payload for _, payload in answered) and any(tcp.flags & FIN for tcp, _ in answered)
    assert {tcp.window << scale for tcp, _ in answered[1:]} == {(window_kb * 1000 >> scale) << scale}
    last = sent[-1][0]  # of the other end's FIN
    assert last.flags == "A" and (last.ack - answer.seq) % 2**32 == 2
    return len(came)


def test_acknowledgements_do_not_wait_for_others(nic):
    """Round robin grants no more than a window: 68 Gb/s came when it granted all of the rings. Nor does anything gather in
    the rings beside long frames: with that it was 57."""
    tcp = nic("--size", 9018, "--duration", "300us", "--flows", 1, "--direction", "both")["resources"]["tcp"]
    assert tcp["rx"]["goodput_gbps"] > 97 and tcp["tx"]["goodput_gbps"] > 97


@pytest.mark.parametrize(("size", "direction"), [(1518, "both"), (9018, "tx"), (700, "rx")])
def test_what_the_ports_saw(nic, tmp_path, size, direction):
    """Independently of the stack's own parts: scapy reads what came out at both ends."""
    mss = size - 58
    result = nic("--size", size, "--direction", direction, "--frames", 500, "--flows", 3, "--pcap-out", tmp_path / "out")
    accounted_for(result)
    told = connections(tmp_path / "out")
    ways = ["tx"] * 3 * (direction != "rx") + ["rx"] * 3 * (direction != "tx")
    assert sorted(told) == [(n, host) for n in range(len(ways)) for host in (False, True)]
    found = Counter()
    for n, way in enumerate(ways):
        found[way] += check_connection(told[n, way == "tx"], told[n, way != "tx"], mss)
    seen = result["resources"]["tcp"]
    for way in set(ways):
        assert found[way] == seen[way]["bytes"] == 500 * mss
        assert (seen[way]["retransmitted"], seen[way]["timeouts"], seen[way]["out_of_order"]) == (0, 0, 0)
        assert 0.5 <= seen[way]["fairness"] <= 1
        # Every second segment is acknowledged, and the last one and the FIN.
        assert 250 <= seen[way]["acks"] <= 250 + 3 * 6
    assert Counter(x["way"] for x in seen["flows"]) == Counter(ways)
    assert sum(x["offered"] for x in result["streams"].values()) == sum(map(len, told.values()))
    # What is not the first of its content is told apart by IP's number.
    for name in ("wire0.pcap", "host.pcap"):
        frames = read_pcap(tmp_path / "out" / name)
        assert len(set(frames)) == len(frames)


def test_all_follows_from_the_seed(nic):
    words = ("--frames", 200, "--flows", 2, "--direction", "both")
    one, again, other = nic(*words), nic(*words), nic(*words, "--seed", 2)
    assert one["digest"] == again["digest"] != other["digest"]
    assert one["resources"]["tcp"] == again["resources"]["tcp"]
    assert one["workload"]["traffic"] == "tcp" and one["workload"]["size"] == "1518"


# ---------------------------------------------------------------- losses


@pytest.mark.parametrize(
    ("direction", "reasons", "settings"),
    [
        ("rx", {"bad_fcs", "runt"}, {"bad_fcs_every": 60, "runt_every": 150}),
        ("rx", {"no_descriptor"}, {"rx_ring": 16, "cpu_ns_per_packet": 300}),
        ("tx", {"tx_error", "queue_stopped"}, {"fault": "lost_completion", "dma_timeout_us": 20, "recover": True}),
        ("both", {"reset"}, {"reset_at_us": 30}),
    ],
    ids=["wire", "slow host", "lost completion", "reset"],
)
def test_streams_survive_losses(nic, direction, reasons, settings):
    """What was dropped is sent again: all bytes come, in order and exact, which the bench compares; and each frame counts."""
    result = nic("--frames", 1200, "--flows", 4, "--direction", direction, tcp_rto_us=200, **settings)
    accounted_for(result)
    dropped = sum((Counter(x["dropped"]) for x in result["streams"].values()), Counter())
    assert set(dropped) == reasons and dropped.total() > 5
    seen = result["resources"]["tcp"]
    ways = [x for x in ("tx", "rx") if x in seen]
    assert all(seen[x]["bytes"] == 1200 * 1460 for x in ways)
    assert sum(seen[x]["retransmitted"] for x in ways) > 5
    assert sum(seen[x]["fast_retransmits"] + seen[x]["timeouts"] for x in ways) > 0
    # What was sent again are frames of their own.
    for x in ways:
        assert result["streams"][x]["offered"] >= 1200 + seen[x]["retransmitted"] + 4


def test_a_connection_that_stalls_ends_the_run(nic, capsys):
    """A queue that was stopped, and that nobody sets up again: the line has the setting with which somebody does."""
    words = ["--traffic", "tcp", "--direction", "tx", "--frames", "800", "--flows", "4"]
    words = ["run", "host-nic", *words, "--set", "fault=null_address", "--set", "tcp_rto_us=100"]
    assert main(words) == 1
    line = capsys.readouterr().err
    assert line.startswith("emery: TCP connection ") and line.count("\n") == 1
    assert "(host to wire) stalled: no answer to byte " in line and "sent 5 times" in line
    assert "the device stopped transmit queue " in line and "for an error (null_address)" in line
    assert line.endswith("; with recover=true the driver sets it up anew\n")
    assert main([*words, "--set", "recover=true"]) == 0


# ---------------------------------------------------------------- rates


def test_what_bounds_a_connection(nic):
    """Window over round trip; the application; CPU time of a segment; the line."""
    one = ("--flows", 1, "--direction")
    small = nic(*one, "tx", "--duration", "400us", tcp_window_kb=32, tcp_delay_us=20)["resources"]["tcp"]["tx"]
    trip = small["rtt_ns"]["p50"]
    assert 22_000 < trip < 26_000
    assert 0.88 < small["goodput_gbps"] / (8 * 32_000 / trip) <= 1  # whole segments, two for an acknowledgement

    slow = nic("--flows", 2, "--direction", "rx", "--rate", "10G", "--duration", "300us")["resources"]["tcp"]["rx"]
    assert slow["goodput_gbps"] == pytest.approx(10 * 1460 / 1538, rel=0.01)

    # The host takes the segment, and sends half an acknowledgement for it.
    busy = nic(*one, "rx", "--duration", "300us", tcp_ns_per_segment=400, tcp_ns_per_kb=100)["resources"]["tcp"]
    assert busy["rx"]["goodput_gbps"] == pytest.approx(8 * 1460 / (1.5 * 400 + 146), rel=0.02)
    assert busy["host_cpu_busy"] > 0.97

    full = nic("--direction", "rx", "--duration", "300us")
    assert full["resources"]["tcp"]["rx"]["goodput_gbps"] > 0.99 * 100 * 1460 / 1538
    assert full["limit"]["by"] == "line" and 0.985 < full["limit"]["fraction"] <= 1


def test_segmentation_offload(nic):
    """The card cuts what the stack gives in bursts; with it the CPU's time is for packets, not for segments."""
    result = nic("--direction", "tx", "--frames", 1500, "--flows", 2, tso=True, vlan_tags=True, tcp_ns_per_segment=1000)
    joined = result["resources"]["segmented"]
    assert joined["packets"] > 30 and joined["frames"] > 10 * joined["packets"]
    assert result["resources"]["tcp"]["tx"]["bytes"] == 1500 * 1460
    plain = nic("--direction", "tx", "--frames", 1500, "--flows", 2, tcp_ns_per_segment=1000)
    fast, slow = (x["resources"]["tcp"]["tx"]["goodput_gbps"] for x in (result, plain))
    assert fast > 2 * slow


# ---------------------------------------------------------------- the rest of the run


def test_it_is_traced(nic, tmp_path):
    result = nic("--frames", 60, "--flows", 2, "--direction", "both", "--trace", tmp_path / "t.jsonl")
    records = [json.loads(x) for x in (tmp_path / "t.jsonl").read_text().splitlines()]
    records = [x for x in records if "outcome" in x]
    assert len(records) == result["totals"]["offered"]
    assert {x["outcome"] for x in records} == {"delivered"}
    assert {x["flow"] for x in records} == {0, 1, 2, 3}


def test_from_python(tmp_path, monkeypatch):
    result = emery.run("host-nic", traffic="tcp", flows=2, frames=40, direction="rx")
    assert result.resources["tcp"]["rx"]["bytes"] == 40 * 1460


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--traffic", "udp"], "--traffic udp: choose frames or tcp"),
        (["--traffic", "tcp", "--pcap", "a.pcap"], "--traffic tcp and --pcap: choose one"),
        (["--traffic", "tcp", "--closed-loop", "3"], "--traffic tcp and --closed-loop: choose one"),
        (["--traffic", "tcp", "--vlan", "0.5"], "--traffic tcp and --vlan: choose one"),
        (["--traffic", "tcp", "--size", "64"], "--traffic tcp --size 64: write the longest frame, 128 to 16260"),
        (["--traffic", "tcp", "--size", "imix"], "--traffic tcp --size imix: write the longest frame, 128 to 16260"),
        (["--traffic", "tcp", "--flows", "257"], "--flows 257: not a whole number from 1 to 256"),
    ],
)
def test_refused(capsys, words, why):
    assert main(["run", "host-nic", *words]) == 2
    assert capsys.readouterr().err == f"emery: {why}\n"


def test_refused_of_systems_without_it(capsys):
    assert main(["run", "core-nic", "--traffic", "tcp"]) == 2
    assert capsys.readouterr().err == "emery: --traffic: core-nic has no such option\n"


def test_frames_are_the_default(simulate):
    words = ("--size", 64, "--frames", 200, "--direction", "rx")
    plain, told = (simulate("host-nic", *more, *words) for more in ((), ("--traffic", "frames")))
    assert plain["identity"]["digest"] == told["identity"]["digest"]
    assert "traffic" not in told["workload"] and told["streams"]["rx"]["delivered"] == 200

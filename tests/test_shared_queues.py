# SPDX-License-Identifier: Apache-2.0
"""Queues that the ports of an interface share: moved from port to port under traffic by the schedulers' registers alone, served
by all ports at once, received into from all of them. Order is judged by the scoreboard, by the stamps in the card's records,
and here by captures of both wires.
"""

import csv
import struct
from functools import partial

import conftest
import pytest
from conftest import accounted_for, slow, whole, write_pcap

refused = partial(conftest.refused, ("host-nic", "--assertions"))
CARD = {"ports": 2, "shared_queues": True, "tx_queues": 16, "rx_queues": 16, "pcie_interface": "ideal"}
FAST = {"pcie_gen": 5, "mrrs": 4096}  # a slot that carries what two ports do


@pytest.fixture
def nic(simulate):
    return lambda *words, **settings: simulate("host-nic", *words, **CARD, **settings)


def shared(result):
    return result["resources"]["shared_queues"]


def records_of_both_ports(result, least):
    """Both ports had frames, as many as their records have told; a record or two may lie in a ring when the run ends."""
    told, left = shared(result)["told"], [x["tx_frames"] for x in result["resources"]["macs"]]
    assert min(told) > least, told
    for some, all_ in zip(told, left, strict=True):
        assert some <= all_ <= some + 16


def stamped(path):
    """(ns, frame) of a capture of the bench's."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        seconds, ns, kept, _ = struct.unpack_from("<IIII", data, at)
        found.append((seconds * 10**9 + ns, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found


def numbers_by_flow(frames):
    """Of generated frames, in this order, the numbers that are in their payload."""
    found = {}
    for frame in frames:
        found.setdefault(frame[26:38], []).append(int.from_bytes(frame[44:50]))
    return found


# ---- one queue, one port after another


@pytest.mark.parametrize(
    ("seed", "flows", "size", "rate", "us"),
    [(1, 7, "64-1518", 1, 3), (2, 3, "64-9018", 1, 2), (3, 1, "1518", 0.3, 4), (4, 15, "64", 0.2, 0.5)],
)
def test_queues_move_under_traffic(nic, tmp_path, seed, flows, size, rate, us):
    """Rings go on; each frame once, and those of a flow in their order, over both wires together."""
    words = ("--size", size, "--frames", 900, "--flows", flows, "--rate", rate, "--direction", "tx", "--seed", seed)
    result = nic(*words, "--pcap-out", tmp_path, migrate_us=us)
    whole(result)
    # What a port has taken of a queue it sends first, up to 512 frames: of a line that is full, not every move is seen.
    assert shared(result)["port_changes"] > (10 if rate == 1 else shared(result)["moves"] * 0.6)
    records_of_both_ports(result, 100)
    by_port = [stamped(tmp_path / f"wire{p}.pcap") for p in range(2)]
    frames = [frame for _, frame in sorted((x for port in by_port for x in port), key=lambda x: x[0])]
    numbers = numbers_by_flow(frames)
    assert len(frames) == len(set(frames)) == 900 and len(numbers) == flows
    for of_flow in numbers.values():
        assert of_flow == sorted(of_flow)
    both = [{x[26:38] for _, x in port} for port in by_port]
    assert len(both[0] & both[1]) >= flows - 1  # nearly all flows have left by both


@pytest.mark.parametrize("more", [{"tx_mode": "stream"}, {"segments": 4}, {"tx_push": "frame"}, {"interrupts": True}])
def test_whatever_the_rings_are(nic, more):
    rate = 0.02 if "tx_push" in more else 0.5
    result = nic("--size", "64-1000", "--frames", 400, "--flows", 5, "--direction", "tx", "--rate", rate, migrate_us=2, **more)
    whole(result)
    assert shared(result)["port_changes"] > 5


@pytest.mark.parametrize("scheduler", slow("drr", "tdma", "pieo"))
def test_other_schedulers(simulate, scheduler):
    """With what each is set to; round robin in all other tests."""
    more = {
        "drr": {"queue_weights": "1,2,4"},
        "tdma": {"tdma_slots_us": "5,5", "queue_slots": "0,1,0+1", "tx_window_kb": 16},
        "pieo": {"queue_weights": "1,2", "queue_priorities": "1,0,1", "queue_limits_mbps": "20000,0,15000"},
    }[scheduler]
    words = ("--size", "64-1518", "--frames", 600, "--flows", 7, "--direction", "tx", "--rate", 0.3)
    result = simulate("host-nic", *words, **CARD, scheduler=scheduler, migrate_us=2, **more)
    whole(result)
    assert shared(result)["port_changes"] > 5
    if scheduler != "pieo":
        result = simulate("host-nic", *words, **CARD, scheduler=scheduler, queue_ports="all", **more)
        whole(result)
        records_of_both_ports(result, 50)


def test_away_from_a_port_that_stands_still(nic):
    """The first port's line takes nothing for 60 us. Queues that move away wait for what it holds of them; those that it holds
    nothing of go on by the other one, and none is out of order.
    """
    words = ("--size", "64-1518", "--frames", 1200, "--flows", 9, "--direction", "tx", "--rate", 0.2, "--seed", 4)
    result = nic(*words, migrate_us=1, fault="paused_port", fault_us=60)
    whole(result)
    assert result["resources"]["fault"]["struck"]
    records_of_both_ports(result, 200)
    tx = result["streams"]["tx"]["latency_ns"]
    assert tx["max"] > 55_000 and tx["p50"] < 40_000


@pytest.mark.parametrize("fault", ["wild_address", "lost_completion", "doorbell"])
def test_errors_stop_a_queue_wherever_it_is(nic, fault):
    """It goes on when the driver has set it up anew; nothing else is lost."""
    words = ("--size", "64-1000", "--frames", 700, "--flows", 7, "--rate", 0.2, "--seed", 6)
    result = nic(*words, migrate_us=2, fault=fault, recover=True, dma_timeout_us=20)
    accounted_for(result)
    assert result["resources"]["fault"]["struck"] and result["resources"]["driver"]["restarts"] > 0
    tx, received = result["streams"]["tx"], [result["streams"][x] for x in ("rx0", "rx1")]
    assert tx["delivered"] > 600 and all(x["delivered"] == 700 for x in received)


@pytest.mark.parametrize("more", [{"restart_every": 60}, {"reset_at_us": 8}, {"fault": "hostile_registers", "fault_frame": 30}])
def test_restarts_resets_and_strangers(nic, more):
    result = nic("--size", "64-1000", "--frames", 700, "--flows", 7, "--rate", 0.2, "--seed", 7, migrate_us=1, **more)
    accounted_for(result)
    assert shared(result)["port_changes"] > 5
    if "fault" in more:
        whole(result)


# ---- a queue set over two ports


def rate(result):
    assert result["window"]["steady"]
    return result["totals"]["l1_gbps"]


def test_two_lines_full_by_one_queue_set(nic):
    """Queues that move from port to port, and queues that both ports serve, fill both lines."""
    words = ("--size", 1518, "--flows", 15, "--direction", "tx")
    # Both ports begin with the same queues and one finds empty what the other has just taken: for some 100 us one line is full.
    for duration, more in (("100us", {"migrate_us": 2}), ("300us", {"queue_ports": "all"})):
        result = nic(*words, "--duration", duration, **FAST, **more)
        whole(result)
        assert rate(result) > 190
        records_of_both_ports(result, 400)


def test_load_that_lies_on_one_port(nic):
    """Queues with much to send are all dealt to one port: it is full, the other one idle. Served by both, they have both."""
    words = ("--size", 1518, "--flows", 16, "--duration", "150us", "--direction", "tx")
    dealt = nic(*words, **FAST, queue_rates="0.125,0.002")
    assert rate(dealt) < 104
    result = nic(*words, **FAST, queue_rates="0.125,0.002", queue_ports="all")
    whole(dealt)
    whole(result)
    assert rate(result) > 150
    told = shared(result)["told"]
    assert max(told) < 1.5 * min(told)


# ---- received


def udp(flow, number, size):
    """A frame of UDP over IPv4 of a flow; its payload begins with its number."""
    payload = number.to_bytes(4) + bytes(size - 4 - 14 - 28 - 4)
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, bytes([10, 0, 0, flow]), bytes([10, 1, 2, 3])
    )
    return (
        bytes.fromhex("020000000002 020000000001 0800")
        + header
        + struct.pack(">HHHH", 4000, 5000, 8 + len(payload), 0)
        + payload
    )


def test_frames_of_a_flow_come_by_either_port(nic, tmp_path):
    """Of the same five flows at both ports: into one queue each, in the order of arrival; the records say by which."""
    flows, count, sizes = 5, 240, [64, 300, 1518, 90, 777]
    for port in range(2):
        made = [udp((n + n // 7) % flows, 1000 * port + n, sizes[(n * 3 + port) % 5]) for n in range(count)]
        write_pcap(tmp_path / f"{port}.pcap", made)
    captures = [x for port in range(2) for x in ("--pcap", f"{port}={tmp_path / f'{port}.pcap'}")]
    result = nic(*captures, "--direction", "rx", "--rate", 0.6, "--pcap-out", tmp_path)
    whole(result)
    assert shared(result)["rx_behind_ns_most"] < 16
    with (tmp_path / "host.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * count
    ends, ports, queues = {}, {}, {}
    for row in rows:
        end = int(row["timestamp_ns"]) + (int(row["bytes"]) + 4) * 0.08
        assert end > ends.get(row["queue"], 0) - 16  # of arrival, as well as stamps tell
        ends[row["queue"]] = max(end, ends.get(row["queue"], 0))
        ports.setdefault(row["hash"], []).append(row["port"])
        queues.setdefault(row["hash"], set()).add(row["queue"])
    assert len(ports) == flows and all(len(x) == 1 for x in queues.values())
    for of_flow in ports.values():
        assert {*of_flow} == {"0", "1"} and sum(a != b for a, b in zip(of_flow, of_flow[1:], strict=False)) > 10


@pytest.mark.parametrize("mode", ["classic", "stream"])
def test_all_queues_take_frames_of_all_ports(nic, mode):
    words = ("--size", "64-9018", "--frames", 600, "--flows", 200, "--direction", "rx", "--rate", 0.4)
    result = nic(*words, "--arrivals", "poisson", rx_mode=mode, steered_flows=20)
    whole(result)
    assert shared(result)["rx_queues_of_several_ports"] == CARD["rx_queues"]
    assert shared(result)["rx_behind_ns_most"] < 16


@pytest.mark.parametrize("fault", ["rx_null_address", "lost_rx_descriptor", "slow_cpu"])
def test_errors_of_a_queue_that_both_ports_fill(nic, fault):
    words = ("--size", "64-1000", "--frames", 1500, "--flows", 60, "--direction", "rx", "--rate", 0.3, "--seed", 3)
    result = nic(*words, fault=fault, rx_ring=64, recover=True, dma_timeout_us=20)
    accounted_for(result)
    assert result["resources"]["fault"]["struck"]
    assert all(result["streams"][x]["delivered"] > 1000 for x in ("rx0", "rx1"))


# ---- what there is not


def test_contradictions_are_refused_in_a_line(capsys):
    for settings, words in (
        (("shared_queues=true",), "has its interface's queues alone"),
        (("ports=2", "migrate_us=5"), "that is for shared_queues"),
        (("ports=2", "queue_ports=all"), "that is for shared_queues"),
        (("ports=2", "shared_queues=true", "queue_ports=all", "migrate_us=5"), "nowhere to go"),
        (("ports=2", "shared_queues=true", "queue_ports=some"), "queue_ports"),
        (("ports=2", "shared_queues=true", "migrate_us=-1"), "out of range"),
        (
            ("ports=2", "shared_queues=true", "queue_ports=all", "scheduler=rate", "queue_limits_mbps=5"),
            "a bucket of its own",
        ),
        (("ports=2", "shared_queues=true", "port_gbps=10"), "the bench judges by ends"),
        (("ports=2", "shared_queues=true", "scheduler=drr", "tx_mode=stream"), "a stream queue has none"),
    ):
        told = refused(capsys, "--size", 64, *[x for one in settings for x in ("--set", one)])
        assert words in told, settings

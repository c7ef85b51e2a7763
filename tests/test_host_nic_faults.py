# SPDX-License-Identifier: Apache-2.0
"""host-nic with a bad driver, a bad host and a bad wire, end to end: the device reports the error through its event queue
and registers, stops that queue and no other, and every frame is accounted for. All runs share one model.
"""

import json
from collections import Counter

import pytest
from conftest import FOUR_PORTS, accounted_for, all_well, read_pcap, slow, writable

from emery.cli import main

FLOWS = 8
FRAMES = 600
STREAMS = {"tx": "wire0.pcap", "rx": "host.pcap"}


@pytest.fixture
def nic(simulate):
    """Runs host-nic below its limits, so that nothing but the fault can cost a frame; gives its result."""

    def run(*settings, direction="both", frames=FRAMES, rate="0.3", size="64-1000", flows=FLOWS, captures=None, seed=1):
        words = [x for setting in settings for x in ("--set", setting)]
        words += ["--size", size, "--frames", frames, "--rate", rate, "--flows", flows, "--direction", direction]
        words += ["--seed", seed]
        words += ["--pcap-out", captures] if captures else []
        result = simulate("host-nic", *words)
        accounted_for(result)
        assert all(stream["offered"] == frames for stream in result["streams"].values())
        return result

    return run


@pytest.fixture(scope="module")
def all_frames(tmp_path_factory):
    """What the runs above deliver when nothing is wrong, each way."""
    out = tmp_path_factory.mktemp("all")
    words = ["--size", "64-1000", "--frames", str(FRAMES), "--rate", "0.3", "--flows", str(FLOWS)]
    assert main(["run", "host-nic", *words, "--pcap-out", str(out), "--assertions"]) == 0
    return {way: Counter(read_pcap(out / name)) for way, name in STREAMS.items()}


def flow(frame):
    """Addresses and ports of a generated frame: frames of a flow are frames of a queue."""
    return frame[26:38]


def lost(all_frames, captures, way):
    """The frames that did not arrive."""
    delivered = Counter(read_pcap(captures / STREAMS[way]))
    assert all_frames[way].total() == FRAMES and not delivered - all_frames[way]
    return list((all_frames[way] - delivered).elements())


def stopped_queue(result, kind, code):
    """One queue of that kind was stopped for that reason, and the events and all registers say so; gives its number."""
    resources = result["resources"]
    (error,) = resources["device_errors"]
    fault = resources["fault"]
    assert fault["struck"] and error["queue"] == fault["queue"]
    assert (error["interface"], error["kind"], error["code"]) == (0, kind, code)
    assert error["queue_stopped"] and error["queue_code"] == code
    (registers,) = resources["error_registers"]
    assert registers == {"errors": 1, "last_kind": kind, "last_queue": error["queue"], "last_code": code}
    return error["queue"]


@pytest.mark.parametrize(
    "fault, code, failed, dma_read",
    [
        ("doorbell", "doorbell", 0, {}),
        ("null_address", "null_address", 1, {}),
        ("wild_address", "unsupported", 1, {"errors"}),
        ("poisoned_completion", "poisoned", 1, {"errors"}),
        ("lost_completion", "timeout", 1, {"timeouts"}),
        ("late_completion", "timeout", 1, {"timeouts", "late"}),
        ("lost_descriptor", "timeout", None, {"timeouts"}),
    ],
)
@pytest.mark.parametrize("more", [(), *slow((("segments=4", "interrupts=true", "cpus=4"),))], ids=["", "segments,interrupts"])
def test_a_bad_transmit_queue_stops_alone(nic, all_frames, tmp_path, fault, code, failed, dma_read, more):
    result = nic(f"fault={fault}", "dma_timeout_us=20", *more, captures=tmp_path / "out")
    stopped_queue(result, "tx_queue", code)
    assert all_well(result["streams"]["rx"])
    tx = result["streams"]["tx"]
    errors = tx["dropped"].get("tx_error", 0)
    assert errors == failed if failed is not None else 1 <= errors <= 8  # a block of descriptors
    # The other seven queues lose nothing; this one sent what came before the fault.
    assert set(tx["dropped"]) <= {"tx_error", "queue_stopped"}
    missing = lost(all_frames, tmp_path / "out", "tx")
    assert len(missing) == sum(tx["dropped"].values()) > errors
    assert len({flow(x) for x in missing}) == 1 and len({flow(x) for x in all_frames["tx"]}) == FLOWS
    assert len(missing) < sum(n for x, n in all_frames["tx"].items() if flow(x) == flow(missing[0]))
    counts = result["resources"]["dma_read"]
    assert {name for name, count in counts.items() if count} == set(dma_read)
    assert counts["timeouts"] == ("timeouts" in dma_read)


@pytest.mark.parametrize("fault", ["lost_completion", *slow("lost_descriptor", "late_completion")])
def test_others_go_on_while_a_read_is_lost(nic, fault):
    """With the usual timeout of a millisecond, in which half a line brings more frames than the device can hold."""
    late = ("dma_timeout_us=100",) if fault == "late_completion" else ()
    result = nic(f"fault={fault}", "fault_frame=1000", *late, frames=12000, rate="0.5", flows=64)
    queue = stopped_queue(result, "tx_queue", "timeout")
    assert all_well(result["streams"]["rx"]) and 0 <= queue < 64
    tx = result["streams"]["tx"]
    assert 1 <= tx["dropped"]["tx_error"] <= 8 and tx["delivered"] > 0.98 * tx["offered"]
    for stream in result["streams"].values():
        assert stream["latency_ns"]["max"] < 20_000


def test_a_lost_receive_descriptor_stops_that_queue_alone(nic):
    result = nic("fault=lost_rx_descriptor", "rx_ring=64", frames=6000, rate="0.5", flows=64)
    stopped_queue(result, "rx_queue", "timeout")
    assert all_well(result["streams"]["tx"])
    rx = result["streams"]["rx"]
    assert set(rx["dropped"]) == {"descriptor_error", "queue_stopped"} and rx["delivered"] > 0.95 * rx["offered"]
    assert rx["latency_ns"]["max"] < 20_000


def test_a_late_answer_meets_no_other_request(nic):
    """All tags are in use all the time and all reads are alike: in other hands the answer would be taken.

    In 10 us the first reads of receive queues, behind the register writes of their set-up, would time out as well.
    """
    result = nic("fault=late_completion", "fault_frame=200", "dma_timeout_us=20", "read_latency_ns=3000",
                 direction="tx", frames=6000, size="64", rate="1.0", flows=64)  # fmt: skip
    stopped_queue(result, "tx_queue", "timeout")
    reads = result["resources"]["dma_read"]
    assert reads == {"timeouts": 1, "errors": 0, "late": 1, "unexpected": 0}
    assert result["resources"]["endpoint"]["reads_max"] == 256
    assert result["streams"]["tx"]["dropped"]["tx_error"] == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_any_value_in_any_register_of_others(capsys, tmp_path, seed):
    """An ill-meaning driver of the other interface, of other queues of this one, and of settings that all share."""
    out = tmp_path / "result.json"
    words = ["--size", "64-1000", "--frames", "2300", "--rate", "0.3", "--flows", str(FLOWS), "--seed", str(seed)]
    words += [x for setting in (*FOUR_PORTS, "fault=hostile_registers", "fault_frame=50") for x in ("--set", setting)]
    assert main(["run", "host-nic", *words, "--json", str(out), "--assertions"]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    assert all(all_well(result["streams"][x]) for x in ("rx0", "rx1", "tx0", "tx1"))
    resources = result["resources"]
    assert resources["fault"]["writes"] > 3000 and resources["settings_refused"] > 100
    # Every register a host can write to got some.
    names = writable("nic_core", "host_nic")
    assert set(resources["fault"]["registers"]) == names


def test_a_null_address_in_a_receive_ring_stops_that_queue_alone(nic, all_frames, tmp_path):
    result = nic("fault=rx_null_address", "rx_ring=64", captures=tmp_path / "out")
    stopped_queue(result, "rx_queue", "null_address")
    assert all_well(result["streams"]["tx"])
    dropped = result["streams"]["rx"]["dropped"]
    assert set(dropped) == {"descriptor_error", "queue_stopped"} and dropped["descriptor_error"] == 1
    missing = lost(all_frames, tmp_path / "out", "rx")
    assert len(missing) == sum(dropped.values()) and len({flow(x) for x in missing}) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [("doorbell", "doorbell"), ("lost_completion", "timeout"), ("poisoned_completion", "poisoned")],
)
def test_a_stream_queue_stops_alone(nic, fault, code):
    result = nic(f"fault={fault}", "tx_mode=stream", "dma_timeout_us=20")
    stopped_queue(result, "tx_queue", code)
    assert all_well(result["streams"]["rx"])
    assert set(result["streams"]["tx"]["dropped"]) == {"queue_stopped"}


def test_an_error_under_full_load(nic):
    """Hundreds of packets are under way when the queue stops, and the receive side is above its limit."""
    result = nic("fault=null_address", "fault_frame=1500", frames=4000, rate="1.0", size="64")
    stopped_queue(result, "tx_queue", "null_address")
    assert result["streams"]["tx"]["dropped"]["tx_error"] == 1
    assert result["streams"]["tx"]["delivered"] > 3500
    assert set(result["streams"]["rx"]["dropped"]) <= {"buffer_full", "fifo_full"}


def test_the_only_queue_stops(nic):
    """Nothing more is sent, and the driver goes on to the end all the same."""
    result = nic("fault=lost_completion", "dma_timeout_us=10", "tx_ring=8", "burst=1", flows=1, frames=300)
    stopped_queue(result, "tx_queue", "timeout")
    assert all_well(result["streams"]["rx"])


@pytest.mark.parametrize("direction", ["tx", "rx", "both"])
def test_a_host_that_stalls_costs_no_queue(nic, direction):
    result = nic("fault=slow_host", direction=direction)
    resources = result["resources"]
    assert resources["fault"]["struck"] and resources["device_errors"] == []
    assert resources["error_registers"] == [{"errors": 0}] and not any(resources["dma_read"].values())
    for stream in result["streams"].values():
        assert all_well(stream)
        assert stream["latency_ns"]["max"] > 15_000  # it did stall


def test_a_host_that_stalls_for_longer_than_the_timeout(nic):
    """Queues stop, completions come late; nothing is sent twice, nothing is written where it does not belong."""
    result = nic("fault=slow_host", "dma_timeout_us=10")
    errors = result["resources"]["device_errors"]
    assert errors and {x["code"] for x in errors} == {"timeout"} and all(x["queue_stopped"] for x in errors)
    assert len({(x["kind"], x["queue"]) for x in errors}) == len(errors)  # each queue once
    assert result["resources"]["error_registers"][0]["errors"] == len(errors)
    assert result["resources"]["dma_read"]["late"] > 0 and result["resources"]["dma_read"]["unexpected"] == 0


def test_bad_frames_on_the_wire(nic):
    result = nic("bad_fcs_every=12", "runt_every=12", "oversize_every=12", rate="0.5")
    stream, mac = result["streams"]["rx"], result["resources"]["macs"][0]
    made = {"bad_fcs": mac["rx_bad_fcs"], "runt": mac["rx_runts"], "oversize": mac["rx_oversize"]}
    assert stream["dropped"] == made and all(20 <= x <= 100 for x in made.values())
    assert all_well(result["streams"]["tx"]) and result["resources"]["device_errors"] == []


def test_a_fault_that_cannot_strike_is_refused(capsys):
    def refused(*words):
        assert main(["run", "host-nic", "--size", "64", "--frames", "10", *words, "--assertions"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert "strikes received frames" in refused("--direction", "tx", "--set", "fault=rx_null_address")
    assert "strikes transmitted frames" in refused("--direction", "rx", "--set", "fault=wild_address")
    assert "of a Linux's slot" in refused("--set", "fault=surprise_removal")
    assert "fault" in refused("--set", "fault=fire")


def test_errors_are_told_to_people(nic, capsys):
    queue = stopped_queue(nic("fault=null_address", direction="tx"), "tx_queue", "null_address")
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("errors"))
    assert line.split(maxsplit=1)[1] == f"interface 0 tx_queue {queue}: null_address"


def test_a_port_whose_line_is_paused_holds_up_no_other(capsys, tmp_path):
    """For 100 us one of four takes nothing, while its frames wait: as many as host and device have room for."""
    out = tmp_path / "result.json"
    words = [x for setting in (*FOUR_PORTS, "fault=paused_port", "fault_us=100") for x in ("--set", setting)]
    words += ["--size", "1518", "--frames", "500", "--rate", "0.24", "--direction", "tx", "--flows", "16"]
    assert main(["run", "host-nic", *words, "--json", str(out), "--assertions"]) == 0, capsys.readouterr().err
    streams = json.loads(out.read_text())["streams"]
    assert all(all_well(stream) for stream in streams.values())
    worst = {name: stream["latency_ns"]["max"] for name, stream in streams.items()}
    assert worst.pop("tx0") > 100_000 and max(worst.values()) < 10_000


@pytest.mark.parametrize("mode, ring", [("classic", 64), ("stream", 256)])
def test_a_cpu_that_does_nothing_costs_its_own_queues(nic, tmp_path, mode, ring):
    """Frames of its queues find no room; those of the queues of the other three CPUs all arrive."""

    def by_queue(name, *fault):
        settings = ("cpus=4", f"rx_ring={ring}", f"rx_mode={mode}", "mtu=1500", *fault)
        result = nic(*settings, direction="rx", size="64", frames=12000, rate="0.5", flows=64, captures=tmp_path / name)
        rows = (tmp_path / name / "host.csv").read_text().splitlines()[1:]
        return result, Counter(int(row.split(",")[3]) for row in rows)

    whole, expected = by_queue("whole")
    assert all_well(whole["streams"]["rx"])
    result, arrived = by_queue("fault", "fault=slow_cpu", "fault_us=120", "fault_frame=1000")
    dropped, struck = result["streams"]["rx"]["dropped"], result["resources"]["fault"]["queue"]
    lost = expected - arrived
    assert set(dropped) == {"no_descriptor"} and lost.total() == dropped["no_descriptor"] > 300
    assert len(lost) > 8 and {queue % 4 for queue in lost} == {struck % 4}


@pytest.mark.parametrize("more", [(), ("rx_mode=stream", "rx_ring=1024"), ("segments=4", "interrupts=true", "cpus=4")],
                         ids=["", "stream", "segments,interrupts"])  # fmt: skip
def test_queues_are_restarted_under_traffic(nic, more):
    """Every 60th frame's queue is set up anew; frames for a receive queue that is out of use are lost, and none besides."""
    rings = ("tx_ring=64", "rx_ring=64", "mtu=1500")
    result = nic("restart_every=60", *rings, *more, frames=6000, rate="0.4", flows=16)
    resources = result["resources"]
    assert resources["driver"]["restarts"] > 150 and resources["device_errors"] == []
    assert all_well(result["streams"]["tx"])
    rx = result["streams"]["rx"]
    assert set(rx["dropped"]) == {"queue_stopped"} and rx["delivered"] > 0.8 * rx["offered"]


@pytest.mark.parametrize("fault", ["doorbell", "null_address", "poisoned_completion", "lost_completion", "lost_descriptor"])
def test_a_stopped_queue_is_set_up_anew(nic, all_frames, tmp_path, fault):
    """What follows is sent from it; lost are what was bad and what came while it stood still."""
    result = nic(f"fault={fault}", "recover=true", captures=tmp_path / "out")
    (error,) = result["resources"]["device_errors"]
    assert not error["queue_stopped"] and result["resources"]["driver"]["restarts"] == 1
    assert all_well(result["streams"]["rx"])
    missing = lost(all_frames, tmp_path / "out", "tx")
    assert len(missing) < 12 and len({flow(x) for x in missing}) <= 1


def test_a_stopped_receive_queue_is_set_up_anew(nic):
    result = nic("fault=rx_null_address", "rx_ring=64", "recover=true")
    assert result["resources"]["driver"]["restarts"] == 1 and all_well(result["streams"]["tx"])
    dropped = result["streams"]["rx"]["dropped"]
    assert dropped.pop("descriptor_error") == 1 and dropped.get("queue_stopped", 0) < 10


@pytest.mark.parametrize(
    "more",
    [
        ("reset_every_us=45",),
        ("rx_mode=stream", "tx_mode=stream", "cpus=2"),
        ("interrupts=true", "segments=4", "restart_every=60"),
        *slow((("steered_flows=16",),)),
    ],
    ids=["again and again", "streams", "interrupts,restarts", "steered"],
)
def test_a_hot_reset_under_traffic(nic, more):
    """What the device has is lost and nothing else; answers to what it had asked are dropped; the driver opens it anew, and in
    the end everything is back (the run fails where a credit, a tag, a slot is not, or a stray TLP was written)."""
    result = nic("reset_at_us=51.234", "mtu=1500", *more, frames=6000, rate="0.4", flows=32)
    resets = result["resources"]["resets"]
    assert len(resets) >= 3 if "reset_every_us=45" in more else len(resets) == 1
    assert [x["at_us"] for x in resets][0] == 51.234
    for reset in resets:
        assert 20 < reset["opened_us"] < 150 and reset["late_completions"] == reset["dropped_completions"]
    assert all(reset["opened_us"] < reset["recovered_us"] < reset["opened_us"] + 20 for reset in resets[:-1] or resets)
    assert sum(x["late_completions"] for x in resets) > 0
    lost = {way: x["dropped"].pop("reset") for way, x in result["streams"].items()}
    assert sum(lost.values()) == sum(x["lost_frames"] for x in resets) and min(lost.values()) > 0
    assert lost["rx"] > len(resets) * 20 * 6  # of six a microsecond those of 20 us, at the least
    # After it, until the driver has enabled their queue.
    assert not result["streams"]["tx"]["dropped"] and set(result["streams"]["rx"]["dropped"]) <= {
        "queue_stopped",
        "no_descriptor",
    }


@pytest.mark.parametrize(
    ("seed", "direction", "more"),
    [
        (1, "both", ("reset_every_us=45",)),
        (2, "both", ("reset_every_us=31.7", "reset_us=1", "read_jitter_ns=2000", "read_latency_ns=4000")),
        *slow((3, "rx", ()), (4, "tx", ("segments=4",))),
        (5, "both", ("rx_mode=stream", "tx_mode=stream", "cpus=2")),
        (6, "both", ("interrupts=true", "restart_every=60", "fault=lost_completion", "fault_frame=300")),
    ],
    ids=["again and again", "late answers", "rx", "tx", "streams", "lost completion"],
)
def test_a_function_reset_under_traffic(nic, seed, direction, more):
    """The link stays up: the host answers all that the device had asked before, and that must be nobody's."""
    result = nic("reset_kind=function", "reset_at_us=41.5", "mtu=1500", *more, direction=direction, frames=6000, rate="0.5",
                 size="64-1518", flows=32, seed=seed)  # fmt: skip
    resets, reads = result["resources"]["resets"], result["resources"]["dma_read"]
    assert len(resets) >= 3 if "reset_every" in str(more) else len(resets) == 1
    for reset in resets:
        assert reset["late_completions"] <= reset["dropped_completions"] and reset["opened_us"] < 150
        # Frames come in all the time; those that the driver has go nowhere.
        assert reset["lost_frames"] > 0
    assert all(x["opened_us"] < x["recovered_us"] < x["opened_us"] + 25 for x in resets[:-1] or resets)
    assert (sum(x["late_completions"] for x in resets) > 0) == (direction != "rx")
    assert reads["unexpected"] == 0 and reads["late"] >= resets[-1]["dropped_completions"]
    lost = {way: x["dropped"].pop("reset") for way, x in result["streams"].items()}
    assert sum(lost.values()) == sum(x["lost_frames"] for x in resets) and min(lost.values()) > 0
    stopped = {"queue_stopped", "no_descriptor"}
    for way, stream in result["streams"].items():
        assert set(stream["dropped"]) <= (
            stopped if way == "rx" else {"queue_stopped", "tx_error"} if "fault" in str(more) else set()
        )


def test_no_reset_no_trace(nic):
    assert nic("mtu=1500")["resources"]["resets"] == []


@pytest.mark.slow
def test_hundreds_of_queues_that_stop_at_once(nic):
    """Of each the driver hears, however long its interrupt is moderated: there is room for all in the first event queue."""
    late = ("interrupts=true", "interrupt_us=400", "recover=true")
    settings = ("tx_queues=1024", "rx_queues=1024", "read_latency_ns=9000", "dma_timeout_us=10", *late)
    result = nic(*settings, direction="tx", size="512", frames=4000, rate="1.0", flows=1000)
    stops = result["resources"]["device_errors"]
    assert len({x["queue"] for x in stops}) > 300 and result["resources"]["error_registers"][0]["errors"] == len(stops)

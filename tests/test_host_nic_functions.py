# SPDX-License-Identifier: Apache-2.0
"""host-nic with virtual functions (SR-IOV): each with a driver of its own, memory that no other function reaches, and queues
that no other sees. One that does all it can to the others costs them nothing: every frame of theirs arrives, and their share
of the line.
"""

import pytest
from conftest import accounted_for, read_pcap, slow, whole

CARD = {"functions": 4, "tx_queues": 16, "rx_queues": 16, "interrupts": True}


@pytest.fixture
def nic(simulate):
    return lambda *words, **settings: simulate("host-nic", *words, **CARD, **settings)


def of(result, way):
    return [x for name, x in result["streams"].items() if name.startswith(way)]


def test_each_function_has_its_own(nic):
    result = nic("--size", "256", "--direction", "both", "--duration", "60us", "--flows", "64")
    whole(result)
    resources = result["resources"]
    assert len(of(result, "tx")) == len(of(result, "rx")) == 4
    for function in resources["functions"]:
        assert function["sent"] > 100 and function["received"] > 100 and function["driver"]["interrupts"] > 0
        assert not any(function[f"refused_{x}"] for x in ("reads", "writes", "interrupts"))
    # Each sends as much as the others.
    rates = [x["l1_gbps"] for x in of(result, "tx")]
    assert max(rates) < 1.1 * min(rates)
    assert resources["function_outside"] == resources["function_resets"] == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hostile_function_costs_no_other_anything(nic, seed):
    words = ("--size", "64-1518", "--direction", "both", "--duration", "120us", "--flows", "64", "--seed", str(seed))
    result = nic(*words, hostile_function=True, hostile_reset_us=50)
    whole(result)
    resources = result["resources"]
    *others, hostile = resources["functions"]
    assert hostile["hostile"] and len(others) == 3
    # It has tried,
    assert hostile["refused_reads"] > 10 and hostile["refused_writes"] > 10
    assert resources["hostile"]["did"]["armed"] > 200 and resources["hostile"]["did"]["doorbells"] > 1000
    assert resources["function_outside"] > 10 and resources["function_resets"] >= 2
    assert resources["hostile"]["frames_to"] > 100
    # and the others have all of theirs: they send as much as when it is a driver like them (a quarter of the line each, less
    # what both ways at once have to share), at any moment. Its writes hold up no doorbell.
    for function in others:
        assert function["driver"]["device_errors"] == 0 and not function["device_errors"]
    friendly = nic(*words)["streams"]
    longest = max(friendly[f"tx{n}"]["latency_ns"]["max"] for n in range(4))  # more is offered than goes: it grows with the run
    for name in ("tx0", "tx1", "tx2"):
        stream = result["streams"][name]
        assert stream["l1_gbps"] > max(0.98 * friendly[name]["l1_gbps"], 23.5) and stream["latency_ns"]["max"] < 1.2 * longest


def test_doorbells_of_functions_are_taken_as_fast_as_those_of_one(nic):
    """A doorbell a frame: 109 M a second (108 with one function), where accesses of functions took five clocks each 50 M."""
    result = nic("--size", "64", "--direction", "tx", "--duration", "60us", "--flows", "64", doorbell=1)
    whole(result)
    assert result["totals"]["mpps"] > 100
    assert sum(function["driver"]["doorbells"] for function in result["resources"]["functions"]) == result["totals"]["offered"]


def test_moderated_interrupts_leave_the_link_to_frames(nic):
    """Each interrupt is answered by two writes; an interval between those of a vector is kept by the card, whoever's it is."""
    words = ("--size", "256", "--direction", "tx", "--duration", "60us", "--flows", "64")
    often, seldom = nic(*words), nic(*words, interrupt_us=20)
    for result in (often, seldom):
        whole(result)
        assert result["totals"]["l1_gbps"] > 96
    for function in seldom["resources"]["functions"]:
        assert 0 < function["driver"]["interrupts"] <= 12
    interrupts = [sum(f["driver"]["interrupts"] for f in x["resources"]["functions"]) for x in (often, seldom)]
    assert interrupts[1] < interrupts[0] / 4
    assert seldom["resources"]["pcie_down_busy"] < often["resources"]["pcie_down_busy"]


def test_an_interrupt_that_is_held_for_longer_than_a_run_is_patient(nic):
    whole(nic("--size", "64", "--frames", "300", "--direction", "tx", interrupt_us=1000))


def dropped(result):
    """By reason, of all streams."""
    found = {}
    for stream in result["streams"].values():
        for why, frames in stream["dropped"].items():
            found[why] = found.get(why, 0) + frames
    return found


def test_what_the_wire_spoils_is_dropped_whoever_it_was_for(nic):
    """Each stream has the drops of its own frames, and the card's counters say as much as the wire."""
    words = ("--size", "64-512", "--direction", "rx", "--frames", "600", "--flows", "64", "--rate", "0.4")
    result = nic(*words, bad_fcs_every=10, runt_every=10, oversize_every=20)
    accounted_for(result)
    lost, mac, (port,) = dropped(result), result["resources"]["mac"], result["resources"]["port_counters"]
    assert lost == {"bad_fcs": mac["rx_bad_fcs"], "runt": mac["rx_runts"], "oversize": mac["rx_oversize"]}
    assert min(lost.values()) > 10
    assert (port["rx"]["crc_errors"], port["rx"]["oversize"]) == (lost["bad_fcs"], lost["oversize"])
    assert all(set(x["dropped"]) >= {"bad_fcs", "runt"} for x in result["streams"].values())


def test_frames_without_a_slot_are_the_functions_whose_queue_has_none(nic):
    """Two functions share the port's counter: the queues' own say whose they are."""
    words = ("--size", "64", "--direction", "rx", "--frames", "900", "--flows", "5000", "--arrivals", "burst:64")
    result = nic(*words, rx_ring=8, cpu_ns_per_packet=400)
    accounted_for(result)
    assert dropped(result)["no_descriptor"] > 50
    assert sum("no_descriptor" in x["dropped"] for x in result["streams"].values()) > 1
    assert sum(x["delivered"] for x in result["streams"].values()) > 100


def test_queues_of_functions_are_set_up_anew_in_traffic(nic):
    """By the driver of each, in memory of its own; frames that find a queue out of use are all that is lost."""
    words = ("--size", "64-512", "--direction", "both", "--frames", "500", "--flows", "64", "--rate", "0.4")
    result = nic(*words, restart_every=25)
    accounted_for(result)
    assert set(dropped(result)) <= {"queue_stopped"} and dropped(result).get("queue_stopped", 0) < 200
    functions = result["resources"]["functions"]
    assert all(f["driver"]["restarts"] > 2 and not f["driver"]["stale_writes"] for f in functions)
    counted = result["resources"]["queue_counters"]
    assert counted["tx"]["compared"] >= 8 and counted["rx"]["compared"] >= 8 and counted["rx"]["packets"] > 20


def test_captures_of_a_card_with_functions(nic, tmp_path):
    """What its port sent, and what all drivers were given, in the order of the stamps."""
    words = ("--size", "64-512", "--direction", "both", "--frames", "300", "--flows", "64", "--rate", "0.3")
    whole(nic(*words, "--pcap-out", tmp_path, train=4))
    assert len(read_pcap(tmp_path / "wire0.pcap")) == len(read_pcap(tmp_path / "host.pcap")) == 300
    rows = [x.split(",") for x in (tmp_path / "host.csv").read_text().splitlines()]
    queues = {int(x[rows[0].index("queue")]) for x in rows[1:]}
    assert len(rows) == 301 and max(queues) > 12 and min(queues) < 4  # as the card numbers them


def test_a_slow_cpu_of_a_function_is_waited_for(nic):
    """It takes 64 records at once, and is then busy for longer than a run that is quiet is waited for."""
    words = ("--size", "64", "--direction", "rx", "--frames", "300", "--flows", "1", "--rate", "0.5")
    result = nic(*words, cpu_ns_per_packet=10_000, rx_ring=1024)
    accounted_for(result)
    assert result["totals"]["delivered"] == 300


FILTER = {"function_filter": True}


def test_a_frame_goes_to_the_function_whose_address_it_has(nic):
    """By its address and its VLAN, there to the queue that the function's own table says; all else to the physical one.

    The bench reads the frames' bytes: a frame elsewhere fails the run."""
    words = ("--size", "64-512", "--direction", "both", "--duration", "60us", "--flows", "64", "--rate", "0.8")
    result = nic(*words, "--vlan", "0.7", function_vlans="0,7,8,0", **FILTER)
    whole(result)
    functions = result["resources"]["functions"]
    assert all(f["received"] > 50 and f["sent"] > 100 for f in functions)
    # Of the frames to functions with a VLAN most have another or none: the physical one's, as those to all and to nobody.
    assert functions[0]["received"] > functions[3]["received"] > max(functions[1]["received"], functions[2]["received"])
    assert result["resources"]["function_spoofed"] == result["resources"]["function_outside"] == 0


@pytest.mark.parametrize("seed", [1, 2])
def test_a_hostile_function_gets_and_sends_nothing_in_anothers_name(nic, seed):
    """It writes addresses of others into the filter and queues of others into the tables; and its frames have any source."""
    words = ("--size", "64-1518", "--direction", "both", "--duration", "120us", "--flows", "64", "--seed", str(seed))
    result = nic(*words, hostile_function=True, hostile_reset_us=50, **FILTER)
    whole(result)
    resources = result["resources"]
    assert resources["function_spoofed"] > 3 and resources["hostile"]["frames_from"] == 0
    assert resources["function_outside"] > 100 and resources["hostile"]["frames_to"] > 100
    # What round robin grants it at once (128 kB before they leave, 10.5 us of the line) is the most that it holds up.
    assert all(result["streams"][name]["latency_ns"]["max"] < 20_000 for name in ("tx0", "tx1", "tx2"))


@pytest.mark.parametrize("settings", slow({}, FILTER, {"shared_queues": True, **FILTER}))
def test_functions_share_two_ports(nic, settings):
    """Each has queues at both; what one port brings is its own stream."""
    words = ("--size", "512", "--direction", "both", "--duration", "60us", "--flows", "64", "--rate", "0.4")
    result = nic(*words, ports=2, **settings)
    whole(result)
    assert all(x["delivered"] == x["offered"] > 50 for x in result["streams"].values())
    assert len(of(result, "rx")) == 8 and len(of(result, "tx")) == 4


@pytest.mark.parametrize("how", slow({"migrate_us": 0.5}, {"queue_ports": "all"}))
def test_shared_queues_of_functions_move(nic, how):
    """Each driver moves its own between the ports, or has them leave by both."""
    words = ("--size", "512", "--direction", "tx", "--duration", "60us", "--flows", "64")
    result = nic(*words, ports=2, shared_queues=True, function_filter=True, **how)
    whole(result)
    shared = result["resources"]["shared_queues"]
    assert shared["port_changes"] > 20 and min(shared["told"]) > 100 and (shared["moves"] > 100) == ("migrate_us" in how)


@pytest.mark.parametrize("scheduler", ["rr", *slow("strict", "drr", "tdma", "rate", "pieo")])
def test_functions_under_every_scheduler(nic, scheduler):
    """Without shares of their own all functions have as much of the line."""
    words = ("--size", "512", "--direction", "tx", "--duration", "60us", "--flows", "64")
    result = nic(*words, scheduler=scheduler)
    whole(result)
    rates = [x["l1_gbps"] for x in of(result, "tx")]
    assert sum(rates) > 95 and max(rates) < 1.15 * min(rates)

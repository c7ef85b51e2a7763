# SPDX-License-Identifier: Apache-2.0
"""Cards of direct-router behind a PCI Express switch, of which one is reset in mid-traffic or has a hostile driver: the others
lose nothing. All runs share the models of test_direct_router.py."""

from functools import partial

import pytest
from conftest import slow, slow_but, writable

CARD = 1


@pytest.fixture
def router(simulate):
    """Four cards that all send to each other, far below what links and lines carry; gives the result."""
    settings = {"bus": "pcie", "cards": 4, "pattern": "uniform", "timeout_us": 40, "retry_us": 200}

    def run(*words, **more):
        return simulate("direct-router", *words, **{**settings, **more})

    return partial(run, "--size", "64-300", "--duration", "800us", "--rate", "0.3")


def of_others(result):
    ways = {name: name.split("/")[0].split("->") for name in result["streams"]}  # without the class
    return {name: stream for name, stream in result["streams"].items() if str(CARD) not in ways[name]}


def all_well(streams):
    """Nothing is lost, and nothing waits for longer than a card that does not answer is waited for."""
    assert len(streams) == 6
    for name, stream in streams.items():
        assert stream["delivered"] == stream["offered"] > 20 and not stream["dropped"], name
        assert stream["latency_ns"]["max"] < 300_000, name


@pytest.mark.parametrize(("seed", "host_path"), [(1, False), (2, False), *slow((3, True))])
def test_any_value_in_any_register_of_a_card(router, seed, host_path):
    result = router("--seed", seed, fault="hostile_registers", fault_card=CARD, host_path=host_path)
    all_well(of_others(result))
    fault = result["resources"]["fault"]
    assert fault["writes"] > 300 and set(fault["registers"]) == writable("direct_router", "direct_router")
    if host_path:
        assert set(fault["nic"]["registers"]) >= writable("nic_core", "host_nic") - {"push.line"}
    assert set(result["totals"]["dropped"]) <= {"hostile_card", "input_fifo_full", "stranded"}


@pytest.mark.parametrize("kind", ["hot", "function"])
@pytest.mark.parametrize("more", [{}, {"reset_every_us": 90, "reset_us": 3}], ids=["once", "again and again"])
def test_a_card_is_reset_under_traffic(router, kind, more):
    """What it had is lost; frames for it wait; when the host has set it up again it goes on."""
    result = router(reset_card=CARD, reset_kind=kind, reset_at_us=100.3, **more)
    resets = result["resources"]["resets"]
    assert len(resets) >= 3 if more else len(resets) == 1
    for reset in resets:
        assert reset["opened_us"] < 100
    # What was asked of the card before its reset is asked again after 4 * timeout_us and retry_us: not between any two resets.
    recovered = [x for x in resets if x["recovered_us"] is not None]
    assert recovered and all(x["recovered_us"] > x["opened_us"] for x in recovered)
    all_well(of_others(result))
    for name, stream in result["streams"].items():
        if str(CARD) in name.split("->"):
            assert set(stream["dropped"]) <= {"reset"} and stream["delivered"] > (0.3 if more else 0.8) * stream["offered"], (
                name
            )
    assert 0 < result["totals"]["dropped"]["reset"] < 0.3 * result["totals"]["offered"]


@pytest.mark.slow
def test_a_card_that_dies_costs_the_others_nothing(simulate):
    """Near line rate and with the default timeouts (5 ms, longer than FIFOs last): neither what is asked of a dead card, nor
    what it was granted when it died, holds up frames among the others."""
    result = simulate(
        "direct-router",
        "--size",
        "64",
        "--duration",
        "1200us",
        "--rate",
        "0.9",
        bus="pcie",
        cards=4,
        pattern="uniform",
        dead_card=CARD,
        dead_at_us=150,
    )
    all_well(of_others(result))
    assert result["totals"]["dropped"]["dead_card"] > 200


def test_a_card_that_stalls_holds_up_no_other(router):
    result = router(stalled_card=CARD, stall_at_us=200, stall_us=200)
    all_well(of_others(result))
    assert set(result["totals"]["dropped"]) <= {"discarded"}
    to_it = [stream for name, stream in result["streams"].items() if name.endswith(f"->{CARD}")]
    assert max(stream["latency_ns"]["max"] for stream in to_it) > 100_000  # it did stall


# ---- with a way through the host

SLOW = {"slow_path": True, "cpu_ns": 400}
WAYS = {
    "all": ({**SLOW, "cards": 4, "pattern": "uniform"}, "0.08"),
    "too-much": ({**SLOW, "cards": 4, "pattern": "uniform"}, "1.0"),
    "A": ({"config": "A", "high": 0.3}, "0.3"),
    "C": ({"config": "C", "own_addresses": True, "bad_ip_every": 4, "bad_fcs_every": 50}, "0.3"),
    "D": ({"config": "D", "own_addresses": True, "bad_ip_every": 3, "high": 0.4, "ring": 8}, "0.4"),
}


@pytest.fixture
def host_path(simulate):
    settings = {"bus": "pcie", "host_path": True, "timeout_us": 40, "retry_us": 100}

    def run(*words, **more):
        return simulate("direct-router", "--size", "64-300", "--duration", "700us", *words, **settings, **more)

    return run


@pytest.mark.parametrize("kind", ["hot", *slow("function")])
@pytest.mark.parametrize(
    ("way", "seed", "at"),
    [
        ("all", 1, 100.3),
        ("A", 3, 60.8),
        ("C", 4, 120.2),
        *slow(("all", 2, 217.77), ("too-much", 10, 150.1), ("D", 5, 99.9)),
    ],
)
def test_a_card_and_its_nic_are_reset_under_traffic(host_path, way, kind, seed, at):
    """The software router sets the NIC up anew; frames for the card are dropped meanwhile, and the others lose nothing for it.
    Credits, tags, slots, packet RAM and buffers are back, or the run fails."""
    settings, rate = WAYS[way]
    result = host_path("--rate", rate, "--seed", seed, reset_card=CARD, reset_kind=kind, reset_at_us=at, **settings)
    (reset,) = result["resources"]["resets"]
    assert reset["opened_us"] < 140
    if way != "D":  # there card 1 only sends
        assert min(reset["recovered_us"], reset["from_host_us"]) > reset["opened_us"]
    if way != "A":  # there it only receives
        assert reset["opened_us"] < reset["to_host_us"] < reset["opened_us"] + 200
    dropped = result["totals"]["dropped"]
    assert 0 < dropped["reset"] < 0.3 * result["totals"]["offered"]
    assert (dropped.get("output_down", 0) > 0) == (way != "D")
    for name, stream in of_others(result).items():
        allowed = {"no_descriptor"} if way == "too-much" else set()
        if not name.endswith("->drop"):
            assert set(stream["dropped"]) <= allowed, name
            assert allowed or stream["delivered"] == stream["offered"], name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hot", "function"])
def test_a_nic_is_reset_again_and_again(host_path, kind):
    settings, rate = WAYS["all"]
    more = {"reset_every_us": 60, "reset_us": 3, "ring": 8}
    result = host_path("--rate", rate, "--seed", 12, reset_card=CARD, reset_kind=kind, reset_at_us=50.1, **more, **settings)
    resets = result["resources"]["resets"]
    assert len(resets) >= 3 and all(x["from_host_us"] or x["to_host_us"] for x in resets[:-1])
    assert all(not stream["dropped"] for stream in of_others(result).values())


@pytest.mark.parametrize("retry", [20, 4])
def test_every_reset_is_recovered_from_when_a_card_is_asked_soon_enough(router, retry):
    """What was asked of the card before a reset is asked again after 4 * timeout_us and retry_us, here within the
    110 us between two. While it is being set up it answers none of its peers: it does not know where to yet."""
    more = {"reset_every_us": 90, "reset_us": 3, "timeout_us": 20 if retry == 4 else 10, "retry_us": retry}
    result = router("--duration", "3ms", reset_card=CARD, reset_at_us=100.3, **more)
    resets = result["resources"]["resets"]
    assert len(resets) > 20 and all(x["recovered_us"] for x in resets)


FAULTS = {
    "null_address": "tx_error",
    "wild_address": "tx_error",
    "poisoned_completion": "tx_error",
    "lost_completion": "tx_error",
    "late_completion": "tx_error",
    "lost_descriptor": "tx_error",
    "rx_null_address": "host_descriptor_error",
    "lost_rx_descriptor": "host_descriptor_error",
}
OF_EVERY_RUN = ("lost_rx_descriptor",)


@pytest.mark.parametrize("fault", slow_but(OF_EVERY_RUN.__contains__, FAULTS))
@pytest.mark.parametrize(("seed", "frame", "batch"), [(1, 60, 1), *slow((2, 80, 8))])
def test_a_queue_that_a_nic_has_stopped_is_set_up_anew(host_path, fault, seed, frame, batch):
    """A read that fails costs the frames of that read, and of receive queues those that come until it is set up."""
    waits = {"dma_timeout_us": 60, "dma_overtaken_us": 20}
    settings = {
        **SLOW,
        "cards": 3,
        "high": 0.3,
        "ring": 32,
        "tx_batch": batch,
        "fault": fault,
        "fault_card": CARD,
        "fault_frame": frame,
    }
    result = host_path("--rate", "0.3", "--seed", seed, **waits, **settings)
    told, cards = result["resources"]["fault"], result["resources"]["cards"]
    assert told == {"kind": fault, "struck": True, "frame": frame}
    assert [card["nic_queues_restarted"] for card in cards] == [0, 1, 0]
    dropped = result["totals"]["dropped"]
    assert 1 <= dropped.pop(FAULTS[fault]) == cards[CARD]["nic_completion_errors"] <= 8
    assert sum(dropped.values()) == dropped.get("host_queue_stopped", 0) <= 4
    of = str(CARD) + "->" if FAULTS[fault] != "tx_error" else "->" + str(CARD)
    assert all(of in name for name, stream in result["streams"].items() if stream["dropped"])

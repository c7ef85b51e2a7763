# SPDX-License-Identifier: Apache-2.0
"""host-nic's transmit schedulers besides round robin, in the whole system: their effect on single queues."""

from functools import partial

import conftest
import pytest
from conftest import slow

from emery import system
from emery.common import UserError

refused = partial(conftest.refused, ("host-nic", "--assertions"))
PACKET_NS = 8 * (9018 + 8) / 100  # the longest frame with its preamble


@pytest.fixture
def nic(simulate):
    """Runs host-nic, which sends only; gives its result."""

    def run(*words, **settings):
        result = simulate("host-nic", "--direction", "tx", *words, **settings)
        assert result["totals"]["offered"] == result["totals"]["delivered"] > 0
        assert not result["totals"]["reordered"]
        return result

    return run


def rates(result):
    return [x["l2_gbps"] for x in result["resources"]["queues"]]


def test_weights_are_bytes(nic):
    """1:2:4 under overload, all frames alike; then those of the queue of weight 4 are not."""
    result = nic("--size", 1518, "--flows", 3, "--duration", "300us", scheduler="drr", queue_weights="1,2,4", queue_rates=1)
    assert result["totals"]["l1_gbps"] > 98
    one, two, four = rates(result)
    assert two / one == pytest.approx(2, rel=0.02) and four / one == pytest.approx(4, rel=0.02)
    mixed = nic("--size", "64-1518", "--flows", 3, "--duration", "300us", scheduler="drr", queue_weights="1,2,4", queue_rates=1)
    one, two, four = rates(mixed)
    assert two / one == pytest.approx(2, rel=0.02) and four / one == pytest.approx(4, rel=0.02)


def test_low_priorities_have_what_is_left(nic):
    result = nic(
        "--size", 1518, "--flows", 3, "--duration", "300us", scheduler="strict", queue_priorities="2,0,1", queue_rates=0.6
    )
    lowest, highest, middle = (x["l1_gbps"] for x in result["resources"]["queues"])
    assert highest == pytest.approx(60, rel=0.02)
    assert lowest < 0.5 and highest + middle + lowest > 98
    waits = [x["latency_ns"]["p50"] for x in result["resources"]["queues"]]
    assert waits[1] < 10_000 < waits[2]  # the window, not a full ring


def test_limits_are_held_and_the_rest_is_shared(nic):
    """Queues with a limit, each with more to send, have it, and a burst once; the others share what is left."""
    limits, burst_kb = [2003, 0, 7001, 401, 0, 10007], 16  # Mb/s
    result = nic(
        *("--size", 1518, "--flows", 6, "--duration", "1ms"),
        scheduler="rate",
        tx_ring=64,
        queue_limits_mbps=",".join(map(str, limits)),
        queue_burst_kb=burst_kb,
        queue_rates="0.08,1,0.28,0.016,1,0.4",
    )
    assert result["totals"]["l1_gbps"] > 98
    once = burst_kb * 8192 / (result["window"]["to_ns"] - result["window"]["from_ns"])  # Gb/s
    free = []
    for limit, rate in zip(limits, rates(result), strict=True):
        if limit:
            assert 0.99 * limit / 1000 < rate < 1.01 * limit / 1000 + once, limit
        else:
            free.append(rate)
    assert free[0] == pytest.approx(free[1], rel=0.01) and sum(free) > 75


@pytest.mark.slow
def test_weights_and_limits_at_once(nic):
    """Three queues by weights, two with limits, one of them first; the last priority is offered next to nothing."""
    limits, rest = [0, 0, 0, 2003, 7001, 0], 100 * 1518 / 1538
    result = nic(
        *("--size", 1518, "--flows", 6, "--duration", "1ms"),
        scheduler="pieo",
        tx_ring=64,
        queue_weights="1,2,4,1,1,255",
        queue_priorities="1,1,1,1,0,7",
        queue_limits_mbps=",".join(map(str, limits)),
        queue_rates="0.5,0.6,1,0.08,0.28,0.001",
    )
    assert result["totals"]["l1_gbps"] > 98
    once = 16 * 8192 / (result["window"]["to_ns"] - result["window"]["from_ns"])  # Gb/s: a burst
    got = rates(result)
    for limit, rate in list(zip(limits, got, strict=True))[3:5]:
        assert 0.99 * limit / 1000 < rate < 1.01 * limit / 1000 + once, limit
    free = rest - got[3] - got[4]
    assert got[:3] == pytest.approx([free * x / 7 for x in (1, 2, 4)], rel=0.03)


@pytest.mark.parametrize("scheduler", ["rate", "pieo"])
def test_without_limits_the_line_is_full(nic, scheduler):
    result = nic("--size", 64, "--frames", 6000, "--flows", 64, scheduler=scheduler)
    assert result["totals"]["l1_gbps"] > 95


@pytest.mark.parametrize("size", ["9018", "imix", *slow("1518")])
def test_frames_keep_to_their_slots(nic, size):
    """The paper's schedule: 100 us in which all may send, 100 us in which none may."""
    result = nic(
        "--size",
        size,
        "--flows",
        64,
        "--duration",
        "700us",
        scheduler="tdma",
        tdma_slots_us="100,100",
        queue_slots="0",
        tx_ring=64,
    )
    tdma = result["resources"]["tdma"]
    assert tdma["slots"] >= 2 and tdma["early_ns_most"] == 0
    assert tdma["late_ns_most"] <= PACKET_NS and tdma["late_frames_most"] <= 1
    assert tdma["used"] > (0.6 if size == "imix" else 0.9)  # frames not known yet count as the longest


def test_contradictions_are_refused_in_a_line(capsys):
    def told(*settings):
        return refused(capsys, "--size", 64, *[x for one in settings for x in ("--set", one)])

    for settings, words in (
        (("queue_weights=1,2",), "it is for scheduler=drr or pieo"),
        (("scheduler=drr", "queue_priorities=1"), "it is for scheduler=strict or pieo"),
        (("scheduler=drr", "queue_weights=1,0"), "'0' is not a whole number from 1 to 255"),
        (("scheduler=drr", "queue_weights=1,,2"), "'' is not a whole number"),
        (("scheduler=strict", "queue_priorities=8"), "from 0 to 7"),
        (("scheduler=tdma", "tdma_slots_us=100,100"), "a schedule takes both"),
        (("scheduler=tdma", "queue_slots=0"), "is no slot of tdma_slots_us"),
        (("scheduler=tdma", "tdma_slots_us=100,x", "queue_slots=0"), "'x' is not a number"),
        (("scheduler=tdma", "tdma_slots_us=100,100", "queue_slots=0+2"), "is no slot"),
        (("scheduler=tdma", "tdma_slots_us=2", "queue_slots=0", "tdma_close_ns=2000"), "as long as the shortest slot"),
        (("scheduler=tdma", "tx_mode=stream"), "a stream queue has none"),
        (("queue_limits_mbps=5",), "it is for scheduler=rate or pieo"),
        (("scheduler=rate", "queue_limits_mbps=5,x"), "'x' is not a number"),
        (("scheduler=rate", "queue_limits_mbps=0.4"), "at least 0.5"),
        (("scheduler=rate", "queue_limits_mbps=500000"), "from 0 to 400000"),
        (("scheduler=rate", "queue_burst_kb=2000"), "out of range"),
        (("queue_rates=0",), "more than 0"),
        (("queue_rates=1.5",), "from 0 to 1"),
        (("scheduler=fair",), "out of range"),
    ):
        assert words in told(*settings), settings


def test_all_defaults_are_well():
    assert system.load("host-nic").values([])["scheduler"] == "rr"
    with pytest.raises(UserError):
        system.load("host-nic").values(["scheduler=none"])

# SPDX-License-Identifier: Apache-2.0
"""Cards of direct-router behind a PCI Express switch, of which one is reset in mid-traffic or has a hostile driver: the others
lose nothing. All runs share the models of test_direct_router.py."""

from functools import partial

import pytest
from conftest import writable

CARD = 1


@pytest.fixture
def router(simulate):
    """Four cards that all send to each other, far below what links and lines carry; gives the result."""
    settings = {"bus": "pcie", "cards": 4, "pattern": "uniform", "timeout_us": 40, "retry_us": 200}

    def run(*words, **more):
        return simulate("direct-router", *words, **settings, **more)

    return partial(run, "--size", "64-300", "--duration", "800us", "--rate", "0.3")


def of_others(result):
    return {name: stream for name, stream in result["streams"].items() if str(CARD) not in name.split("->")}


def all_well(streams):
    """Nothing is lost, and nothing waits for longer than a card that does not answer is waited for."""
    assert len(streams) == 6
    for name, stream in streams.items():
        assert stream["delivered"] == stream["offered"] > 20 and not stream["dropped"], name
        assert stream["latency_ns"]["max"] < 300_000, name


@pytest.mark.parametrize(("seed", "host_path"), [(1, False), (2, False), (3, True)])
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

# SPDX-License-Identifier: Apache-2.0
"""host-nic with virtual functions (SR-IOV): each with a driver of its own, memory that no other function reaches, and queues
that no other sees. One that does all it can to the others costs them nothing: every frame of theirs arrives, and their share
of the line.
"""

import pytest
from conftest import whole

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
    # and the others have all of theirs: of the line what they send, a quarter each. The hostile one's bursts last some 30 us,
    # which may be all of the window; what waited meanwhile is made up for.
    for function in others:
        assert function["driver"]["device_errors"] == 0 and not function["device_errors"]
    for stream in of(result, "tx"):
        assert stream["l1_gbps"] > 0.85 * 25 and stream["latency_ns"]["max"] < 20_000

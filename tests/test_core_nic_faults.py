# SPDX-License-Identifier: Apache-2.0
"""core-nic with a bad host, a bad driver and resets in the middle of traffic: what fails costs its own frames, all counted.

All runs share the model of test_core_nic.py, with assertions in the RTL.
"""

import pytest
from conftest import accounted_for, all_well, writable


@pytest.fixture
def nic(simulate):
    """Runs core-nic below its limits, so that nothing but the fault can cost a frame; gives its result."""

    def run(*settings, size="64-1000", frames=600, seed=1):
        words = [x for setting in settings for x in ("--set", setting)]
        result = simulate("core-nic", *words, "--size", size, "--frames", frames, "--rate", "0.3", "--seed", seed)
        accounted_for(result)
        assert all(stream["offered"] == frames for stream in result["streams"].values())
        return result

    return run


@pytest.mark.parametrize(
    ("fault", "counts", "most"),
    [
        ("null_address", {"errors"}, 1),
        ("wild_address", {"errors"}, 1),
        ("poisoned_completion", {"errors"}, 1),
        ("lost_completion", {"errors", "timeouts"}, 1),
        ("late_completion", {"errors", "timeouts", "late"}, 1),
        ("lost_descriptor", {"errors", "timeouts"}, 16),
    ],
)
def test_a_read_that_fails_costs_its_frames_alone(nic, fault, counts, most):
    """A part of a frame costs that frame; a block of descriptors those of its frames. The other way loses nothing."""
    result = nic(f"fault={fault}", "dma_timeout_us=20")
    assert result["resources"]["fault"]["struck"] and all_well(result["streams"]["rx"])
    dropped = result["streams"]["tx"]["dropped"]
    assert set(dropped) == {"tx_error"} and 1 <= dropped["tx_error"] <= most
    reads = result["resources"]["dma_read"]
    assert {name for name, count in reads.items() if count} == counts and reads["timeouts"] == ("timeouts" in counts)


def test_others_do_not_wait_for_a_lost_read(nic):
    """With the usual timeout of a millisecond: the host answers later reads, and so this one is given up."""
    result = nic("fault=lost_completion", frames=1500)
    assert result["resources"]["dma_read"]["timeouts"] == 1
    assert all_well(result["streams"]["rx"]) and result["streams"]["tx"]["dropped"] == {"tx_error": 1}
    assert all(stream["latency_ns"]["max"] < 100_000 for stream in result["streams"].values())


def test_a_lost_receive_descriptor_costs_the_frames_of_its_block(nic):
    result = nic("fault=lost_rx_descriptor", "receive_ring=64", "dma_timeout_us=20")
    assert result["resources"]["fault"]["struck"] and all_well(result["streams"]["tx"])
    dropped = result["streams"]["rx"]["dropped"]
    assert set(dropped) == {"descriptor_error"} and 1 <= dropped["descriptor_error"] <= 16
    assert result["resources"]["dma_read"]["timeouts"] == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_any_value_in_any_register(nic, seed):
    """But those that start the cores, tell of descriptors and send the interrupt: they are the driver's that has the card."""
    result = nic("fault=hostile_registers", "fault_frame=20", frames=1500, seed=seed)
    assert all(all_well(stream) for stream in result["streams"].values())
    resources = result["resources"]
    assert resources["fault"]["writes"] > 300 and resources["settings_refused"] > 20
    assert not any(resources["dma_read"].values())
    names = writable("core_nic", "core_nic")
    own = {"device.control", "device.send_producer", "device.receive_producer"}
    assert set(resources["fault"]["registers"]) == {x for x in names - own if not x.startswith("msix.")}


@pytest.mark.parametrize(
    ("kind", "more"),
    [("hot", ()), ("hot", ("reset_every_us=150", "reset_us=3")), ("function", ()), ("function", ("reset_every_us=171.3",))],
    ids=["hot", "hot again and again", "function", "function again and again"],
)
def test_a_reset_under_traffic(nic, kind, more):
    """What the device has is lost and nothing else; answers to what it had asked are dropped; the driver loads the
    firmware anew, and in the end everything is back (the run fails where a credit or a tag is not)."""
    result = nic(f"reset_kind={kind}", "reset_at_us=51.234", "read_latency_ns=4000", *more, frames=1200)
    resets = result["resources"]["resets"]
    assert len(resets) >= 3 if more else len(resets) == 1
    for reset in resets:
        assert reset["lost_frames"] > 0 and reset["opened_us"] < 300
        assert reset["late_completions"] == reset["dropped_completions"] or kind == "function"
    assert sum(x["late_completions"] for x in resets) > 0
    assert all(x["opened_us"] < x["recovered_us"] < x["opened_us"] + 60 for x in resets[:-1] or resets)
    lost = {way: x["dropped"].pop("reset") for way, x in result["streams"].items()}
    assert sum(lost.values()) == sum(x["lost_frames"] for x in resets) and min(lost.values()) > 0
    # After it, until the firmware takes frames.
    assert not result["streams"]["tx"]["dropped"] and set(result["streams"]["rx"]["dropped"]) <= {"fifo_full", "no_buffer"}


def test_no_fault_no_trace(nic):
    resources = nic(frames=200)["resources"]
    assert resources["resets"] == [] and resources["fault"] == {"kind": "none", "struck": False}
    assert not any(resources["dma_read"].values()) and resources["settings_refused"] == 0

# SPDX-License-Identifier: Apache-2.0
"""pcie-bench as a whole: what a link carries by the specification's arithmetic, and what seven servers were measured to do."""

from functools import partial

import conftest
import pytest

refused = partial(conftest.refused, ("pcie-bench",))
# Gb/s of a gen3 x8 link: 8 GT/s, 128 bits in 130, one block in 373 is SKP.
LINE = 8 * 8 * 128 / 130 * 372 / 373


@pytest.fixture
def bench(simulate):
    """Runs pcie-bench with `name=value` settings; gives its result."""
    return partial(simulate, "pcie-bench", assertions=False)


def gbps(result, stream):
    return result["streams"][stream]["l2_gbps"]


@pytest.mark.parametrize(("size", "tlps", "pcie_lanes"), [(64, 1, 8), (256, 1, 8), (2048, 8, 8), (2048, 8, 4)])
def test_writes_fill_the_link(bench, size, tlps, pcie_lanes):
    """Each TLP costs 8 bytes of framing and 16 of header."""
    result = bench("--size", size, "--frames", 2000, "--direction", "rx", pcie_lanes=pcie_lanes)
    want = LINE * pcie_lanes / 8 * size / (size + 24 * tlps)
    assert gbps(result, "write") == pytest.approx(want, rel=0.01)
    assert result["limit"]["by"] == "pcie_up" and result["limit"]["fraction"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("size", "beats"), [(64, 1.5), (112, 2.0), (256, 4.5)])
def test_the_pins_that_writes_take(bench, size, beats):
    """A descriptor of 16 bytes before the data, half beats of 32 bytes at 250 MHz; against the time that the same
    packets take on the link."""
    found = bench("--size", size, "--frames", 1000, "--direction", "rx")["resources"]
    on_the_link = (size + 24) * 8 / LINE  # ns
    assert found["rq_busy"] / found["pcie_up_busy"] == pytest.approx(beats * 4 / on_the_link, rel=0.002)


@pytest.mark.parametrize(("size", "completions"), [(256, 1), (512, 2), (2048, 8)])
def test_reads_fill_the_link(bench, size, completions):
    """Each completion costs 8 bytes of framing and 12 of header; DLLPs for the requests 1.5 % at the most."""
    result = bench("--size", size, "--frames", 2000, "--direction", "tx")
    want = LINE * size / (size + 20 * completions)
    assert 0.98 * want < gbps(result, "read") < 1.002 * want


@pytest.mark.parametrize(("pins", "device"), [("ideal", 100), ("usplus", 160)])
def test_reads_are_bounded_by_their_round_trip(bench, pins, device):
    """Link, root complex and memory, and what the device itself takes: longer by what it does between its TLPs and the pins."""
    one = bench("--size", 64, "--frames", 300, "--direction", "tx", in_flight=1, pcie_interface=pins)
    four = bench("--size", 64, "--frames", 300, "--direction", "tx", in_flight=4, pcie_interface=pins)
    latency = one["streams"]["read"]["latency_ns"]["p50"]
    assert 2 * 175 + 50 + 350 < latency < 2 * 175 + 50 + 350 + device
    assert gbps(four, "read") == pytest.approx(4 * gbps(one, "read"), rel=0.02)
    assert four["limit"]["by"] == "round trip"


def test_both_ways_and_every_order(bench):
    for pattern in ("scattered", "sequential"):
        result = bench("--size", 200, "--frames", 1000, pattern=pattern, read_jitter_ns=400)
        assert result["totals"]["delivered"] == 2000 and gbps(result, "read") > 20 and gbps(result, "write") > 20


# Of the pcie-bench data set: writes and reads in Gb/s of payload by size, the median latency of a read in ns.
MEASURED = [
    ("ib-e5-2620v2", "rx", 64, 24.27),
    ("ib-e5-2620v2", "rx", 2048, 54.45),
    ("bdw-e5-2630v4", "tx", 64, 31.91),
    ("bdw-e5-2630v4", "tx", 1024, 55.41),
    ("hsw-e5-2620v3", "tx", 128, 43.73),
    ("snb-e5-2630", "tx", 2048, 55.63),
]


@pytest.mark.parametrize(("host", "direction", "size", "measured"), MEASURED)
def test_a_server_as_it_was_measured(bench, host, direction, size, measured):
    words = ("--size", size, "--frames", 2000, "--direction", direction)
    result = bench(*words, host_profile=host, device_profile="nfp-6000")
    assert result["totals"]["l2_gbps"] == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(("host", "size", "median"), [("ib-e5-2620v2", 64, 547), ("hsw-e5-2637v3", 1024, 907)])
def test_latency_as_it_was_measured(bench, host, size, median):
    words = ("--size", size, "--frames", 1000, "--direction", "tx")
    result = bench(*words, host_profile=host, device_profile="nfp-6000", in_flight=1)
    assert result["streams"]["read"]["latency_ns"]["p50"] == pytest.approx(median, rel=0.05)


def test_frames_of_many_sizes_are_filled_up(bench):
    """Transfers are all as long as the longest frame."""
    result = bench("--size", "imix", "--frames", 600, "--direction", "rx")
    up = result["resources"]["pcie_up"]
    assert result["totals"]["delivered"] == 600 and up["payload_bytes"] == pytest.approx(600 * 1518, rel=0.02)
    assert 0.95 < result["limit"]["fraction"] < 1.01


@pytest.mark.parametrize("seed", [7, 8])
def test_the_limit_is_of_transfers_not_of_what_was_drawn(bench, seed):
    """Few frames of a range are longer or shorter than its mean; each is moved as the longest."""
    result = bench("--size", "64-1518", "--frames", 300, "--direction", "rx", "--seed", seed)
    moved = result["totals"]["mpps"] * 1e6 * (1518 + 24 * 6) * 8
    assert result["limit"]["fraction"] == pytest.approx(moved / (LINE * 1e9), rel=0.01)
    assert result["limit"]["by"] == "pcie_up" and 0.95 < result["limit"]["fraction"] < 1.02


def test_what_it_refuses(capsys):
    assert "window_kb" in refused(capsys, "--size", 4096, "--set", "window_kb=64")
    assert "host_profile" in refused(capsys, "--set", "host_profile=pdp-11")

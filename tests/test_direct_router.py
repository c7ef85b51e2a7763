# SPDX-License-Identifier: Apache-2.0
"""direct-router as a whole: cards, bus, PC, through the command line; assertions in the RTL are on."""

import random
from functools import partial

import conftest
import pytest
from conftest import limit_of, slow
from routers import check_clauses, check_stations, forwarded, lost, random_routes, runner

from emery import system
from emery.common import ROOT

SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"
COMMAND = ("direct-router", "--assertions")
refused = partial(conftest.refused, COMMAND)
FORWARDED = {
    "not_ip",
    "header",
    "checksum",
    "source",
    "destination",
    "no_route",
    "ttl",
    "group_mac",
}  # what a router may say no to


@pytest.fixture
def router(simulate):
    """Runs direct-router; gives its result."""
    return runner(COMMAND, simulate)


@pytest.mark.parametrize(("config", "lines"), [("B", 1), ("C", 2), ("E", 1), ("F", 3)])
def test_configurations_without_loss(router, config, lines):
    result = router("--size", "64", "--duration", "300us", config=config)
    assert lost(result) == {}
    assert result["totals"]["l1_gbps"] == pytest.approx(lines, rel=0.02)


def test_two_inputs_share_an_output_and_drop_at_the_inputs(router):
    result = router("--size", "64", "--duration", "1500us", config="D", res_min=2304)
    assert set(lost(result)) == {"input_fifo_full"}
    assert result["totals"]["l1_gbps"] == pytest.approx(1.0, rel=0.01)
    first, second = (result["streams"][x]["delivered"] for x in ("0->2", "1->2"))
    assert first == pytest.approx(second, rel=0.1)


def test_only_low_priority_is_lost(router):
    result = router("--size", "64", "--duration", "1500us", config="D", high=0.4)
    high, low = (result["resources"][x] for x in ("high", "low"))
    assert high["dropped"] == 0 and low["dropped"] > 0
    ignored = router("--size", "64", "--duration", "1500us", config="D", high=0.4, qos=False)
    assert ignored["resources"]["high"]["dropped"] > 0


def test_slow_path_is_as_fast_as_two_reads(router):
    result = router("--size", "64", "--duration", "3ms", config="A")
    assert result["totals"]["mpps"] == pytest.approx(0.6, rel=0.05)


def test_the_smallest_ring_goes_round(router):
    """Descriptors are given back before all are used up: no frame is left on a card."""
    result = router("--size", "64", "--frames", "300", "--rate", "0.3", config="C", bad_ip_every=5, ring=8)
    assert "stranded" not in lost(result)
    assert result["resources"]["host"]["received"] > 16


@pytest.mark.parametrize("pattern", ["permutation", "uniform", "hotspot"])
def test_patterns(router, pattern):
    result = router("--size", "64-1518", "--frames", "300", cards=4, pattern=pattern)
    assert result["totals"]["delivered"] > 0
    assert set(lost(result)) <= {"input_fifo_full"}


def test_a_capture_over_overlapping_routes(router, tmp_path):
    """Each IP packet leaves at the port of its longest prefix with one hop less to live, its checksum right."""
    text, table = random_routes("0.0.0.0/0 2", [4, 8, 12, 16, 20, 24, 32], 3, random.Random(5))  # all addresses have one
    (tmp_path / "routes.txt").write_text(text)
    options = ("--pcap", SAMPLE, "--rate", "0.2", "--routes", tmp_path / "routes.txt", "--pcap-out", tmp_path / "out")
    result = router(*options, cards=3, mtu=9000)
    assert forwarded(tmp_path / "out", 3, table) == result["totals"]["delivered"] > 100
    assert set(lost(result)) <= FORWARDED


def test_clauses_of_the_rfc(router, tmp_path):
    """The cards count together what is wrong with a header's form; everything else has a name of its own."""
    check_clauses(router, tmp_path, dict.fromkeys(("version", "header", "length"), "header"))


def test_clauses_of_the_rfc_on_the_slow_path(router, tmp_path):
    check_clauses(router, tmp_path, dict.fromkeys(("version", "header", "length"), "header"), slow_path=True)


@pytest.mark.parametrize(("mac", "forwarded_too"), [("rewritten", True), ("any", True), ("own", False)])
def test_captured_stations(router, tmp_path, mac, forwarded_too):
    check_stations(router, tmp_path, mac, forwarded_too)


def test_malformed_packets_are_counted(router):
    result = router("--size", "64", "--duration", "1ms", "--rate", "0.3", config="C", bad_ip_every=5, bad_fcs_every=50)
    reasons = lost(result)
    assert {"header", "checksum", "ttl", "bad_fcs"} <= set(reasons)
    assert result["totals"]["delivered"] > 0


@pytest.mark.parametrize("mtu", [68, 1492, 9198])
def test_any_mtu(router, mtu):
    result = router("--size", "64-90", "--frames", "40", "--rate", "0.3", mtu=mtu, oversize_every=5)
    assert lost(result).keys() == {"oversize"} and result["totals"]["delivered"] > 0


def test_the_greatest_mtu(router):
    assert lost(router("--size", "9220", "--frames", "4", "--rate", "0.3", mtu=9198)) == {}


def test_the_others_go_on_when_a_card_dies(router):
    result = router(
        "--size", "64", "--duration", "2ms", cards=4, pattern="uniform", dead_card=3, dead_at_us=300, timeout_us=100
    )
    for stream in ("0->1", "1->2", "2->0"):
        assert result["streams"][stream]["delivered"] > 0.9 * result["streams"][stream]["offered"]
    assert result["totals"]["dropped"]["dead_card"] > 0


def test_the_software_router_goes_on_when_a_card_dies(router):
    """It gives up on frames for a card that takes none, and serves the others again."""
    result = router(
        "--size", "64", "--frames", "400", "--rate", "0.5", config="E", slow_path=True, dead_card=1, dead_at_us=200, ring=8
    )
    assert set(lost(result)) <= {"given_up", "dead_card", "slow_fifo_full"}
    assert result["streams"]["0->1"]["dropped"]["given_up"] > 0
    other = result["streams"]["0->2"]
    assert other["delivered"] > 0.6 * other["offered"] and set(other["dropped"]) <= {"slow_fifo_full"}


@pytest.mark.parametrize("dead_at_us", [50 + n * 0.195 for n in range(12)])  # 13 bus clocks apart
def test_a_card_may_die_in_any_phase_of_a_transaction(router, dead_at_us):
    result = router("--size", "64", "--duration", "300us", config="F", dead_card=2, dead_at_us=dead_at_us, timeout_us=100)
    assert result["streams"]["0->1"]["dropped"] == {}


def test_a_card_that_stalls_comes_back(router):
    result = router("--size", "64", "--duration", "1500us", config="F", stalled_card=1, stall_at_us=300, stall_us=400)
    assert result["streams"]["1->0"]["delivered"] > 0
    assert set(lost(result)) <= {"input_fifo_full"}


def test_timeouts_shorter_than_an_exchange(router):
    """Outputs throw away what comes after they gave up; what is thrown away and what still waits are told apart."""
    result = router("--size", "64", "--frames", 20, "--rate", "0.5", cards=6, timeout_us=0.5)
    assert set(lost(result)) == {"discarded", "stranded"}


def test_fairness_is_of_those_who_compete(router):
    """One input has an output for itself; what the others share of theirs is no less fair for that."""
    result = router("--size", "64", "--duration", "600us", cards=5, pattern="hotspot")
    alone, first = result["streams"]["0->1"], result["streams"]["1->0"]
    assert lost(result).keys() == {"input_fifo_full"} and not alone["dropped"]
    assert first["delivered"] < 0.6 * first["offered"]
    assert result["resources"]["jain"] > 0.99


def test_no_more_is_busy_than_there_is_time(router):
    """A CPU that takes a packet to the end of the run and beyond; a link that takes longer for a burst than the run."""
    found = router("--size", "64", "--duration", "60us", cards=2, slow_path=True, cpu_ns=100000)["resources"]
    assert 0.5 < found["cpu_busy"] <= 1
    found = router("--size", "64", "--duration", "20us", bus="pcie", pcie_speed=0.1)["resources"]
    assert 0.5 < found["link_busy"] <= 1 and found["jain"] <= 1


@pytest.mark.parametrize("duration", ["600us", *slow("1500us")])
def test_the_chipset_has_a_turn_after_each_card(router, duration):
    """Frames of 768 bytes through the host: near the knee of figure 4 its completions must not wait for all cards."""
    words = ("--size", "768", "--duration", duration)
    settings = {"cards": 8, "slow_path": True, "bus_mhz": 133, "ring": 32}
    flat, two_level = (router(*words, **settings, arbiter=x)["resources"]["cpu_busy"] for x in ("flat", "two-level"))
    assert two_level > 1.05 * flat


def test_a_table_that_is_too_small_is_said(router, tmp_path, capsys):
    """What does not fit goes through the host, right all the same."""
    text, table = random_routes("0.0.0.0/0 2", [32], 2, random.Random(6))
    (tmp_path / "routes.txt").write_text(text)
    words = ("--routes", tmp_path / "routes.txt", "--size", "64", "--frames", 60, "--rate", "0.1")
    result = router(*words, "--pcap-out", tmp_path / "out", pattern="uniform")
    assert forwarded(tmp_path / "out", 3, table) == result["totals"]["delivered"] == 180
    note = result["resources"]["notes"][0]
    assert note in capsys.readouterr().out
    needed = result["resources"]["cards"][0]["trie_needed"]
    assert needed > 2048 and f"need {needed} nodes" in note and result["resources"]["host"]["forwarded"] > 0
    assert router("--size", "64", "--frames", 5)["resources"]["notes"] == []


def test_same_seed_same_result(router):
    results = [router("--size", "imix", "--frames", "200", "--seed", seed, cards=3, pattern="uniform") for seed in (7, 7, 8)]
    assert results[0]["digest"] == results[1]["digest"] != results[2]["digest"]


def test_bad_input(capsys, tmp_path):
    assert "max_cards" in refused(capsys, "--set", "cards=12")
    for line, says in (
        ("10.0.0.0/8", "not a line"),
        ("10.0.0.0/33 1", "33 bits"),
        ("10.0.0.0/8 4294967297", "port 4294967297"),
        ("2001:db8::/32 1", "IPv6"),
        ("10.0.0.0/8 9", "9"),
        ("ten/8 1", "not a line"),
    ):
        (tmp_path / "routes.txt").write_text(line + "\n")
        message = refused(capsys, "--routes", tmp_path / "routes.txt", "--frames", "10")
        assert "routes.txt:1" in message and says in message


def test_only_a_default_route(router, capsys, tmp_path):
    """Is a table like any other; traffic that the pattern wants elsewhere goes where it leads, even back."""
    (tmp_path / "routes.txt").write_text("0.0.0.0/0 1")
    result = router("--size", "64", "--frames", "50", "--routes", tmp_path / "routes.txt", config="B")
    assert result["streams"]["0->1"]["delivered"] == 50 == result["totals"]["offered"]
    result = router("--size", "64", "--frames", "50", "--routes", tmp_path / "routes.txt")
    assert {name: x["delivered"] + sum(x["dropped"].values()) for name, x in result["streams"].items()} == {
        f"{port}->1": 50 for port in range(3)
    }
    (tmp_path / "routes.txt").write_text("127.0.0.0/8 1")
    assert "no address that may be sent to" in refused(capsys, "--routes", tmp_path / "routes.txt", "--frames", "10")


@pytest.mark.parametrize(("config", "lines"), [("B", 1), ("C", 2), ("E", 1), ("F", 3)])
def test_configurations_over_pcie(router, config, lines):
    """Bursts are some 30 packets long: a window of many is the rate."""
    result = router("--size", "64", "--duration", "3ms", config=config, bus="pcie")
    assert lost(result) == {}
    assert result["totals"]["l1_gbps"] == pytest.approx(lines, rel=0.02)


@pytest.mark.parametrize(("cards", "pattern"), [(2, "permutation"), (4, "hotspot"), (8, "uniform"), (8, "permutation")])
def test_patterns_over_pcie(router, cards, pattern):
    """Over the narrowest link there is; outputs may be asked for more than they have, the links never."""
    result = router("--size", "64-1518", "--duration", "400us", bus="pcie", cards=cards, pattern=pattern, mps=128)
    assert result["totals"]["delivered"] > 0
    assert set(lost(result)) <= ({"input_fifo_full"} if pattern == "hotspot" else set())
    assert result["resources"]["link_busy"] < 1


def test_a_link_that_is_too_slow_drops_at_the_inputs(router):
    result = router("--size", "64", "--duration", "1500us", bus="pcie", cards=3, pattern="permutation", pcie_speed=0.4)
    assert set(lost(result)) == {"input_fifo_full"}
    assert result["limit"]["by"] == "pcie"
    assert 0.8 < result["limit"]["protocol"]["fraction"] < 1


def test_what_needs_the_host_is_dropped_over_pcie(router):
    result = router(
        "--size", "64", "--duration", "500us", "--rate", "0.3", bus="pcie", config="C", bad_ip_every=5, bad_fcs_every=50
    )
    reasons = lost(result)
    assert {"header", "checksum", "ttl", "bad_fcs", "no_slow_path"} <= set(reasons)
    assert reasons["no_slow_path"] == sum(x["no_slow_path"] for x in result["resources"]["cards"])


def test_the_others_go_on_when_a_card_dies_over_pcie(router):
    settings = {"cards": 4, "pattern": "uniform", "dead_card": 3, "dead_at_us": 300, "timeout_us": 100}
    result = router("--size", "64", "--duration", "2ms", bus="pcie", **settings)
    for stream in ("0->1", "1->2", "2->0"):
        assert result["streams"][stream]["delivered"] > 0.9 * result["streams"][stream]["offered"]
    assert result["totals"]["dropped"]["dead_card"] > 0


@pytest.mark.slow
def test_a_card_that_stalls_comes_back_over_pcie(router):
    settings = {"config": "F", "stalled_card": 1, "stall_at_us": 300, "stall_us": 400}
    result = router("--size", "64", "--duration", "1500us", bus="pcie", **settings)
    assert result["streams"]["1->0"]["delivered"] > 0
    assert set(lost(result)) <= {"input_fifo_full"}


def test_no_slow_path_over_pcie_without_a_way_through_the_host(capsys):
    assert "host_path=true" in refused(capsys, "--set", "bus=pcie", "--set", "config=A")


HOST_PATH = {"bus": "pcie", "host_path": True}


@pytest.mark.parametrize("duration", ["600us", *slow("1500us")])
def test_the_slow_path_over_pcie(router, duration):
    """The CPU is what ends it: 1.6 us a packet. What it has no time for finds no descriptor, of the low class alone."""
    result = router("--size", "64", "--duration", duration, config="A", high=0.25, **HOST_PATH)
    assert result["totals"]["mpps"] == pytest.approx(0.625, rel=0.01) and result["limit"]["by"] == "cpu"
    assert set(lost(result)) == {"no_descriptor"} and result["resources"]["high"]["dropped"] == 0
    cards = result["resources"]["cards"]
    assert (
        cards[0]["slow_rx_frames"] == result["totals"]["offered"] and cards[0]["no_descriptor"] == lost(result)["no_descriptor"]
    )
    assert cards[1]["slow_tx_frames"] == cards[1]["tx_slow_frames"] == result["totals"]["delivered"]


def test_both_ways_over_pcie(router):
    """What has options goes through the host, the rest from card to card, and both keep their order."""
    options = {"bad_ip_every": 3, "bad_fcs_every": 50}
    result = router("--size", "64-1518", "--duration", "600us", "--rate", "0.5", config="F", **HOST_PATH, **options)
    reasons = lost(result)
    assert {"header", "checksum", "ttl", "bad_fcs"} <= set(reasons) and "no_slow_path" not in reasons
    cards = result["resources"]["cards"]
    assert all(x["tx_slow_frames"] > 0 and x["tx_fast_frames"] > 0 and x["no_slow_path"] == 0 for x in cards)
    assert result["resources"]["host"]["forwarded"] == sum(x["tx_slow_frames"] for x in cards)


@pytest.mark.parametrize(
    "fault", [{"dead_card": 2, "dead_at_us": 200}, *slow({"stalled_card": 1, "stall_at_us": 200, "stall_us": 300})]
)
def test_the_host_and_a_card_that_fails_over_pcie(router, fault):
    """Frames for a card that takes none are given up; the others go on."""
    settings = {"cards": 3, "slow_path": True, "ring": 64, "cpu_ns": 300, "timeout_us": 100}
    result = router("--size", "300", "--duration", "800us", "--rate", "0.5", **settings, **HOST_PATH, **fault)
    reasons = lost(result)
    if "dead_card" in fault:
        assert set(reasons) <= {"dead_card", "given_up", "no_descriptor", "stranded"} and reasons["dead_card"] > 0
        assert result["streams"]["0->1"]["delivered"] > 0.4 * result["streams"]["0->1"]["offered"]
    else:
        assert set(reasons) <= {"no_descriptor", "slow_fifo_full", "input_fifo_full", "host_buffer_full", "rx_fifo_full"}
        assert all(x["delivered"] > 0.3 * x["offered"] for x in result["streams"].values())


@pytest.mark.slow
def test_long_frames_and_short_rings_over_pcie(router):
    settings = {"ring": 8, "mtu": 9000, "mps": 512, "cpu_ns": 100}
    result = router("--size", "64-9018", "--frames", "60", "--rate", "0.4", cards=2, slow_path=True, **HOST_PATH, **settings)
    assert result["totals"]["delivered"] == result["totals"]["offered"] == 120


def test_a_parameter_chooses_the_top():
    target = system.load("direct-router")
    pcix, pcie = (target.values([f"bus={x}"]) for x in ("pcix", "pcie"))
    assert target.variant(pcix).top == "direct_router" and target.variant(pcie).top == "direct_router_pcie"
    told = set(target.settings(pcix)), set(target.settings(pcie))
    assert told[0] - told[1] == {"arbiter", "bus_hz_times_3"}
    link = {
        "pcie_gen",
        "pcie_lanes",
        "pcie_speed",
        "link_latency_ns",
        "credits_ph",
        "credits_pd",
        "credits_nph",
        "pcie_interface",
    }
    nic = {"host_path", "dma_timeout_us", "dma_overtaken_us", "fault_frame"}
    assert told[1] - told[0] == link | nic | {"mps", "switch_latency_ns"}


def test_limits_over_pcie():
    """By hand: 72 bytes a 64-byte frame in writes of 256 are 77.6; 1.993 Gb/s carry 3.21 Mpps of them, a line 1.488."""

    def limit(*settings):
        return limit_of("direct-router", "bus=pcie", "pattern=uniform", "cards=8", *settings)

    assert limit()["by"] == "line" and limit()["l1_gbps"] == pytest.approx(8.0)
    slow = limit("pcie_speed=0.25")
    assert slow["by"] == "pcie" and slow["mpps"] == pytest.approx(8 * 2.0e9 * 0.25 / 8 / 77.625 / 1e6, rel=0.01)


def test_limits():
    """The ceiling of the bus by hand: 9 words a 64-byte frame at 66.67 MHz are 7.41 Mpps, 4.98 Gb/s."""
    limit = limit_of("direct-router", "cards=8", "pattern=uniform")
    assert limit["by"] == "pcix" and limit["mpps"] == pytest.approx(7.407, rel=1e-3)
    assert limit["l1_gbps"] == pytest.approx(4.978, rel=1e-3)
    shared = limit_of("direct-router", "config=D")
    assert shared["by"] == "line" and shared["l1_gbps"] == pytest.approx(1.0)

# SPDX-License-Identifier: Apache-2.0
"""direct-router's longest-prefix tables in the cards' memories: full ones, and routes that change while frames flow."""

import random
import subprocess
from functools import partial
from pathlib import Path

import conftest
import pytest
from conftest import write_pcap
from routers import forwarded, lost, packet, random_routes, runner

from emery.common import ROOT
from emery.make import build
from emery.routes import file_of, full_table

COMMAND = ("direct-router", "--assertions")
refused = partial(conftest.refused, COMMAND)
MEMORY = {"lpm_nodes": 256, "fib_nodes": 1048576}  # the levels in block RAM are few, so that they are soon written


@pytest.fixture
def router(simulate):
    return runner(COMMAND, simulate)


def table(tmp_path, text):
    (tmp_path / "routes.txt").write_text(text)
    return "--routes", tmp_path / "routes.txt"


def test_a_cards_routes_change():
    program = build.build_bench_test(ROOT / "tests" / "routes" / "card_routes_test.cpp")
    done = subprocess.run([program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_a_million_prefixes_at_line_rate(router):
    result = router("--routes", "bgp:1000000:2", "--size", "64", "--frames", 600, "--flows", 600, cards=2, **MEMORY)
    assert lost(result) == {} and result["totals"]["delivered"] == 1200
    assert result["totals"]["mpps"] == pytest.approx(2 * 1.488, rel=0.02)
    for card in result["resources"]["cards"]:
        assert card["trie_nodes"] == card["trie_needed"] > 250_000 and card["trie_cut"] == card["slow_rx_frames"] == 0
        assert card["table"]["reads"] > 2 * 600


def test_a_table_that_is_made_follows_from_the_seed():
    one, again, other = (Path(file_of("bgp:1000:3", seed)).read_text().splitlines() for seed in (7, 7, 8))
    assert one == again != other and len(one) == len({x.split()[0] for x in one}) == 1000
    assert {x.split()[1] for x in one} == {"0", "1", "2"}
    assert sum(x.split()[0].endswith("/24") for x in one) > 500


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bgp:0:2", "write bgp:PREFIXES:PORTS"),
        ("bgp:1000001:2", "write bgp:PREFIXES:PORTS"),
        ("bgp:10:17", "write bgp:PREFIXES:PORTS"),
        ("bgp:10", "write bgp:PREFIXES:PORTS"),
        ("bgp", "no file that can be read"),
        ("bgp:10:3", "port 2"),
    ],
)
def test_tables_that_are_not_made(capsys, text, why):
    assert why in refused(capsys, "--routes", text, "--set", "cards=2")


def test_what_a_table_says_is_what_python_finds(router, tmp_path):
    """Addresses of every length, in block RAM and behind it; loaded at once or over the bus, it is the same."""
    text, routes = random_routes("0.0.0.0/0 2", [4, 8, 12, 16, 20, 23, 24, 27, 32], 3, random.Random(8))
    words = (*table(tmp_path, text), "--size", "64", "--frames", 300, "--flows", 300, "--pcap-out", tmp_path / "out")
    results = [router(*words, cards=3, fib_load=x, **MEMORY) for x in ("image", "bus")]
    assert forwarded(tmp_path / "out", 3, routes) == 900 == results[0]["totals"]["delivered"]
    assert results[0]["digest"] == results[1]["digest"]
    for loaded, written in zip(*(x["resources"]["cards"] for x in results), strict=True):
        assert loaded["table"]["writes"] == 0 < loaded["table"]["reads"] == written["table"]["reads"]
        assert written["table"]["writes"] == 16 * (written["trie_nodes"] - MEMORY["lpm_nodes"]) > 0


def test_how_slow_the_memory_may_be(router, tmp_path):
    """Routes to hosts, of eight levels: 75 ns is enough at line rate; what a slower one has no time for is counted."""
    words = (
        *table(tmp_path, full_table(20_000, 2, random.Random(2), {32: 1})),
        "--size",
        "64",
        "--frames",
        600,
        "--flows",
        600,
    )
    assert lost(router(*words, cards=2, fib_latency_ns=75, **MEMORY)) == {}
    assert lost(router(*words, cards=2, fib_latency_ns=200, **MEMORY)).keys() == {"rx_fifo_full"}
    assert lost(router(*words, "--rate", "0.4", cards=2, fib_latency_ns=200, **MEMORY)) == {}


def test_a_memory_that_is_too_small_is_said(router, tmp_path):
    text, routes = random_routes("0.0.0.0/0 2", [32], 2, random.Random(6))
    words = (*table(tmp_path, text), "--size", "64", "--frames", 60, "--rate", "0.1", "--pcap-out", tmp_path / "out")
    result = router(*words, pattern="uniform", lpm_nodes=256, fib_nodes=512)
    assert forwarded(tmp_path / "out", 3, routes) == result["totals"]["delivered"] == 180
    assert "the cards have 768" in result["resources"]["notes"][0] and result["resources"]["host"]["forwarded"] > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_routes_change_under_traffic(router, tmp_path, seed):
    """10,000 a second at line rate; few flows, so that many frames are inside while their route changes: none goes wrong."""
    words = (*table(tmp_path, full_table(20_000, 3, random.Random(3))), "--size", "64", "--duration", "3ms", "--flows", 2)
    result = router(*words, "--seed", seed, cards=3, updates_per_s=10_000, **MEMORY)
    updates = result["resources"]["updates"]
    assert updates["announced"] + updates["withdrawn"] == pytest.approx(30, abs=2) and updates["withdrawn"] > 0
    assert updates["frames_old"] > 20 and updates["frames_new"] > 20 and updates["us_max"] < 500
    assert lost(result).keys() <= {"input_fifo_full", "no_route", "slow_fifo_full"}
    assert updates["entries"] > 100 and all(x["table"]["writes"] > 0 for x in result["resources"]["cards"])


def test_routes_change_in_block_ram(router):
    """The table that cards have without a memory; the same seed, the same changes."""
    words = ("--size", "64-300", "--duration", "2ms", "--rate", "0.5", "--flows", 4)
    results = [router(*words, cards=3, updates_per_s=x) for x in (10_000, 10_000, 20_000)]
    assert results[0]["digest"] == results[1]["digest"] != results[2]["digest"]
    assert results[0]["resources"]["updates"] == results[1]["resources"]["updates"]


def test_routes_change_where_there_is_no_room(router, tmp_path):
    """What does not fit is with the host, before a change and after it."""
    text, _ = random_routes("0.0.0.0/0 2", [32], 3, random.Random(6))
    words = (*table(tmp_path, text), "--size", "64", "--duration", "3ms", "--rate", "0.05", "--flows", 8)
    result = router(*words, cards=3, updates_per_s=10_000, lpm_nodes=256, fib_nodes=512)
    assert lost(result).keys() <= {"no_route"} and result["resources"]["host"]["forwarded"] > 0


@pytest.mark.slow
def test_routes_change_over_pcie(router, tmp_path):
    words = (*table(tmp_path, full_table(5_000, 2, random.Random(3))), "--size", "64", "--duration", "1ms", "--rate", "0.5")
    result = router(*words, "--flows", 2, cards=2, bus="pcie", host_path=True, updates_per_s=10_000, **MEMORY)
    assert result["resources"]["updates"]["announced"] > 3


def test_what_does_not_go_together(capsys, tmp_path):
    for words, says in (
        (("fib_nodes=100", "lpm_nodes=0"), "root"),
        (("updates_per_s=10", "lpm_nodes=0"), "lpm_nodes"),
        (("updates_per_s=10", "slow_path=true"), "through the host"),
        (("updates_per_s=10", "dead_card=1"), "does not answer"),
        (("updates_per_s=10", "own_addresses=true"), "addresses"),
        (("updates_per_s=10", "bad_ip_every=9"), "malformed"),
        (("updates_per_s=10", "bus=pcie"), "no slow path"),
        (("fib_nodes=4128769",), "fib_nodes"),
    ):
        assert says in refused(capsys, "--frames", "10", *(y for x in words for y in ("--set", x)))
    (tmp_path / "routes.txt").write_text("10.0.0.0/8 1\naddress 10.0.0.1 1\n")
    command = ("--frames", "10", "--set", "updates_per_s=10")
    assert "has addresses" in refused(capsys, *command, "--routes", tmp_path / "routes.txt")
    write_pcap(tmp_path / "in.pcap", [packet()])
    assert "generated traffic" in refused(capsys, *command, "--pcap", f"0={tmp_path / 'in.pcap'}")

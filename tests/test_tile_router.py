# SPDX-License-Identifier: Apache-2.0
"""tile-router as a whole: every version forwards right what is to be forwarded, and says why it drops the rest."""

import gzip
import random
from functools import partial

import conftest
import pytest
from routers import check_clauses, check_stations, forwarded, lost, random_routes, runner

from emery import system
from emery.common import ROOT
from emery.make import build

SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"
COMMAND = ("tile-router", "--assertions")
refused = partial(conftest.refused, COMMAND)
boot = system.load("tile-router").module("boot")
VERSIONS = boot.VERSIONS


@pytest.fixture
def router(simulate):
    """Runs tile-router; gives its result."""
    return runner(COMMAND, simulate)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", ["64", "64-700", "65-1518"])
def test_each_version_delivers(router, version, size):
    """As fast as it takes them: an output queue that fills up stops what comes, and drops nothing."""
    frames = 150 if size == "64-700" else 60
    result = router("--size", size, "--frames", frames, version=version)
    assert lost(result) == {}
    assert result["totals"]["delivered"] == frames * (2 if version == "V" else 4)


def test_memories_are_measured_no_longer_than_tiles(router, tmp_path):
    """What tiles have counted takes time to read, in which the frames of other inputs go on."""
    short = conftest.write_pcap(tmp_path / "short.pcap", [b"\0" * 60])
    long = conftest.write_pcap(tmp_path / "long.pcap", [b"\2\0\0\0\1\1\2\0\0\0\2\1\x08\0\x45".ljust(1514, b"\0")] * 40)
    resources = router("--pcap", f"0={short}", "--pcap", f"1={long}")["resources"]
    assert 0 < resources["busiest_memory"] <= 1


@pytest.mark.parametrize("version", ["IV", "null"])
def test_payloads_with_the_heads(router, version):
    """As the paper has it: held payloads go over the general dynamic network."""
    result = router("--size", "64-700", "--frames", 100, version=version, held_over="gdn")
    assert lost(result) == {} and result["totals"]["delivered"] == 400


def test_heads_that_wait_for_leave(router):
    """Over the GDN third stages have leave for each head: options, drops and a hot spot go through there as well."""
    gdn = {"version": "IV", "held_over": "gdn"}
    result = router("--size", "64-200", "--frames", 150, "--rate", "0.3", bad_ip_every=2, **gdn)
    assert {"not_ip", "version", "header", "length", "checksum", "ttl", "destination"} <= set(lost(result))
    counters = router("--size", "64-600", "--frames", 80, pattern="hotspot", **gdn)["resources"]["counters"]
    assert counters["queued"] > 0 and counters["deepest_0"] <= 4


def test_turns_at_a_hot_spot(router):
    """The parking lot: who sits beside the output gets most, unless each has its turn."""
    hot = {"version": "IV", "pattern": "hotspot"}
    results = {x: router("--size", "64", "--frames", 150, turns=x, **hot) for x in ("network", "weighted", "fair")}
    jain = {x: result["resources"]["jain"] for x, result in results.items()}
    assert jain["network"] < 0.97 and jain["fair"] > 0.99 and jain["weighted"] > 0.99
    rate = {x: result["totals"]["mpps"] for x, result in results.items()}
    assert rate["weighted"] > 0.97 * rate["network"]  # what is shared is not less
    alone = router("--size", "64", "--frames", 100, turns="fair", linecards=1, version="IV", held_over="gdn")
    assert alone["resources"]["jain"] == 1


@pytest.mark.parametrize(
    ("columns", "rows", "version", "ports", "frames"),
    [(2, 2, "IV", 1, 60), *conftest.slow((8, 6, "III", 8, 30), (8, 8, "IV", 16, 20))],
)
def test_other_grids(router, columns, rows, version, ports, frames):
    """Every pipeline of the least and the largest grid, and static paths that lie around each other, deliver all they get."""
    words = ("--size", "64-700", "--frames", frames, "--flows", 16 * ports)
    result = router(*words, version=version, columns=columns, rows=rows)
    assert lost(result) == {} and result["totals"]["delivered"] == frames * ports
    resources = result["resources"]
    assert (resources["columns"], resources["rows"], len(resources["tiles"])) == (columns, rows, columns * rows)
    assert {x.split("->")[0] for x in result["streams"]} == {str(port) for port in range(ports)}


@pytest.mark.slow
def test_a_hot_spot_of_sixteen(router):
    """A queue fills and says Stop to all: more than a core's own FIFO holds. Nothing stands still, nothing is lost."""
    hot = {"version": "IV", "columns": 8, "rows": 8, "pattern": "hotspot", "line_gbps": 1}
    result = router("--size", "64", "--frames", 15, "--flows", 256, **hot)
    assert lost(result) == {} and result["totals"]["delivered"] == 240
    assert result["resources"]["counters"]["deepest_0"] >= 36


def test_a_full_queue_discards(router):
    """What finds an output's queue full is dropped, counted, and of no other output."""
    for version, size in (("III", "64"), ("IV", "64-128")):
        hot = {"version": version, "pattern": "hotspot", "line_gbps": 2}
        result = router("--size", size, "--frames", 60, full_queue="discard", **hot)
        dropped = lost(result)
        assert dropped["queue"] == result["resources"]["counters"]["drop_queue"] > 0 and list(dropped) == ["queue"]
        assert result["resources"]["counters"]["deepest_0"] == 64


@pytest.mark.parametrize("version", ["III", "V"])
def test_the_shipped_capture(router, version):
    """Without routes: its networks have outputs at random. Two pipelines a linecard reorder flows, and that is counted."""
    result = router("--pcap", SAMPLE, version=version)
    assert (result["totals"]["reordered"] > 0) == (version == "V")
    assert result["totals"]["delivered"] > 1000 and set(lost(result)) >= {"not_ip", "group_mac", "destination"}


@pytest.mark.parametrize("version", VERSIONS)
def test_two_linecards(router, version):
    result = router("--size", "64-300", "--frames", 40, version=version, linecards=2)
    assert result["totals"]["offered"] == 80
    assert {x[0] for x in result["streams"]} == {"0", "1"}


@pytest.mark.parametrize("version", [x for x in VERSIONS if x != "null"])
def test_all_to_one_output(router, version):
    """Four inputs for one output: nothing stands still, nothing is lost."""
    result = router("--size", "64-600", "--frames", 80, version=version, pattern="hotspot")
    assert lost(result) == {}
    assert {x[1:] for x in result["streams"]} == {"->0"}


@pytest.mark.parametrize("version", [x for x in VERSIONS if x != "null"])
def test_clauses_of_the_rfc(router, tmp_path, version):
    check_clauses(router, tmp_path, {}, version=version, linecards=2 if version == "V" else 4)


@pytest.mark.parametrize(("mac", "forwarded_too"), [("rewritten", True), ("any", True), ("own", False)])
def test_captured_stations(router, tmp_path, mac, forwarded_too):
    check_stations(router, tmp_path, mac, forwarded_too)


@pytest.mark.parametrize("version", [x for x in VERSIONS if x != "null"])
def test_malformed_packets_are_counted(router, version):
    result = router("--size", "64-200", "--frames", 120, "--rate", "0.1", version=version, bad_ip_every=2)
    reasons = lost(result)
    assert {"not_ip", "version", "header", "length", "checksum", "ttl", "destination"} <= set(reasons)
    for reason in reasons:
        assert result["resources"]["counters"][f"drop_{reason}"] == reasons[reason]


@pytest.mark.parametrize("name", ["routes.txt", "routes.txt.gz"])
def test_a_capture_over_overlapping_routes(router, tmp_path, name):
    """Each packet leaves at the port of its longest prefix with one hop less to live, its checksum right."""
    lengths = [2, 4, 8, 12, 16, 20, 24, 25, 28, 32]  # half of the address space has no default route
    text, table = random_routes("0.0.0.0/1 1", lengths, 4, random.Random(5))
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    result = router("--pcap", SAMPLE, "--routes", tmp_path / name, "--pcap-out", tmp_path / "out")
    assert forwarded(tmp_path / "out", 4, table) == result["totals"]["delivered"] > 100
    assert {"not_ip", "checksum", "destination"} <= set(lost(result)) <= boot.reasons().keys()


def test_no_default_route(router, tmp_path):
    (tmp_path / "routes.txt").write_text("10.0.0.0/8 0\n10.1.0.0/16 1\n")
    result = router("--pcap", SAMPLE, "--routes", tmp_path / "routes.txt")
    assert lost(result)["no_route"] > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10.0.0.0/8 0\n10.0.0.0/33 1\n", (":2:",)),
        ("10.0.0.0/8 4\n", (":1:", "port 4")),
        ("10.0.0.0/8 1\n11.0.0.0/8 1\n10.0.0.0/8 2\n", (":3:", "line 1 to port 1")),
        ("", ("no routes",)),
        ("10.0.0.1/8 1\n", (":1:",)),
        ("nonsense\n", (":1:",)),
    ],
)
def test_bad_routes(tmp_path, capsys, text, words):
    (tmp_path / "routes.txt").write_text(text)
    line = refused(capsys, "--routes", tmp_path / "routes.txt", "--frames", 4)
    assert all(x in line for x in ("routes.txt", *words)), line


def test_bad_packed_routes_are_named_as_given(tmp_path, capsys):
    path = tmp_path / "bad.txt.gz"
    path.write_bytes(gzip.compress(b"10.0.0.0/8 9\n"))
    assert str(path) in refused(capsys, "--routes", path, "--frames", 4)
    path.write_bytes(b"not packed at all")
    assert "cannot be unpacked" in refused(capsys, "--routes", path, "--frames", 4)


def test_bad_settings(capsys):
    assert "up to 2 linecards" in refused(capsys, "--set", "version=V", "--set", "linecards=4", "--frames", 4)
    assert "version" in refused(capsys, "--set", "version=VI", "--frames", 4)
    for words, said in [
        (("full_queue=discard", "version=V"), "no output queues"),
        (("full_queue=discard", "version=IV", "held_over=gdn"), "no queue gets full"),
        (("full_queue=discard", "version=IV", "turns=fair"), "no queue gets full"),
        (("turns=fair", "version=III"), "turns=fair is for version IV, not III"),
        (("version=III", "columns=8"), "version III on 8 x 4 tiles: packet buffers of 8 columns need 6 rows"),
        (("version=I", "columns=3"), "needs four columns"),
        (("version=IV", "rows=8", "held_over=gdn"), "grids of less than six rows"),
        (("version=IV", "columns=2", "rows=2", "linecards=2"), "2 linecards: there are 1 pipelines"),
        (("version=IV", "columns=8", "rows=2", "updates_per_s=9"), "with 4 linecards of version IV on 8 x 2 tiles"),
    ]:
        assert said in refused(capsys, *(x for word in words for x in ("--set", word)), "--frames", 4)


def test_same_seed_same_digest(router):
    first, again, other = (router("--size", "64-700", "--frames", 40, "--seed", x) for x in (3, 3, 4))
    assert first["digest"] == again["digest"] != other["digest"]


def test_more_flows_than_prefixes(router):
    """Flows share networks then; each network has one route."""
    result = router("--size", "64", "--frames", 20, "--flows", 1000, prefix_length=8)
    assert result["resources"]["routes"] == 222


def test_a_slow_wire_is_no_standstill(router):
    """Of 0.1 Gb/s: a frame is on it for longer than nothing may move."""
    router("--size", "1518", "--frames", 2, line_gbps=0.1, patience_us=20)


def test_what_tiles_and_links_did(router):
    result = router("--size", "64", "--frames", 200)
    tiles = result["resources"]["tiles"]
    assert [x["tile"] for x in tiles] == list(range(16))
    for tile in tiles:
        assert sum(tile["use"].values()) == pytest.approx(1, abs=0.01)
        assert all(0 <= x <= 1 for network in tile["links"].values() for x in network)
    assert result["resources"]["counters"]["frames_in"] == 800
    assert set(result["resources"]["stages"]) == {"lookup", "checksum", "forward", "output"}


def test_counters_while_it_runs(router):
    """They grow, are never ahead of what came in, and add up to the sums of all tiles; frames are delivered as without it."""
    words = ("--size", "64-300", "--frames", 150)
    result, plain = (router(*words, version="V", bad_ip_every=5, counters_us=x) for x in (5, 0))
    assert result["resources"]["counter_reads"] > 3 and plain["resources"]["counter_reads"] == 0
    assert lost(result) == lost(plain) and result["totals"]["delivered"] == plain["totals"]["delivered"]
    tiles, sums = result["resources"]["tile_counters"], result["resources"]["counters"]
    for name in ("frames_in", "headers_checked", "forwarded", "drop_ttl", "drop_checksum"):
        assert sum(x.get(name, 0) for x in tiles.values()) == sums[name] > 0


def test_tasks_are_timed(router, capsys):
    """Without changing what happens; each task is shorter than its stage, which moves words too."""
    result = router("--size", "64", "--frames", 100, "--rate", "1G", timed="true")
    for stage in result["resources"]["stages"].values():
        assert 3 < stage["task_clocks"] < 60
    assert "versions III and V, not II" in refused(capsys, "--set", "timed=true", "--set", "version=II")


def test_parts_have_their_parameters():
    target = system.load("tile-router")
    values = target.values(["load_use=1", "dram_latency=30"])
    parts = build.part_rtls(target, values, build.system_rtl(target, values))
    given = {x.model: dict(x.parameters) for x in parts}
    assert (
        given["tile"]["LoadUse"] == "1"
        and given["memory_slot"] == {"DramLatency": "30", "Linecard": "1'b0"}
        and given["line_slot"] == {"DramLatency": "30", "Memory": "1'b0"}
        and given["boot_hub"] == {"Cols": "4", "Rows": "4"}
    )
    values = target.values(["flat=true"])
    assert build.part_rtls(target, values, build.system_rtl(target, values)) == []


def limit(size, **settings):
    return conftest.limit_of("tile-router", *(f"{name}={value}" for name, value in settings.items()), size=str(size))


def test_limits():
    """Four links of 13.6 Gb/s; a frame enters with its length, leaves the memory in lines."""
    assert limit(64)["mpps"] == pytest.approx(4 * 425 / 19)
    assert limit(64, version="V")["mpps"] == pytest.approx(2 * 425 / 19)
    assert limit(1518, version="null", line_gbps=100)["by"] == "link_in"
    assert limit(1518, version="null", line_gbps=100, held_over="gdn")["by"] == "link_out"
    assert limit(1518, line_gbps=100)["by"] == "link_out"
    assert limit(64, version="II")["mpps"] == pytest.approx(4 * 425 / 25)  # 8 words more come in
    half, full = limit(1518, version="I"), limit(1518, version="II")
    grid = {"version": "IV", "line_gbps": 100, "columns": 8}
    assert limit(1518, rows=8, **grid)["l2_gbps"] == pytest.approx(2 * limit(1518, rows=4, **grid)["l2_gbps"])
    assert half["by"] == "memory" and half["l2_gbps"] < 0.4 * full["l2_gbps"]

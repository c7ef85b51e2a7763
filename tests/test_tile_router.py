# SPDX-License-Identifier: Apache-2.0
"""tile-router as a whole: every version forwards right what is to be forwarded, and says why it drops the rest."""

import gzip
import ipaddress
import json
import random
import struct

import pytest
from conftest import read_pcap

from emery import build, limits, system, tile_programs
from emery.cli import main
from emery.common import ROOT
from emery.experiment import tile_model

SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"
HARM = ("corrupted", "duplicated", "misdelivered", "reordered")
VERSIONS = tile_programs.VERSIONS


@pytest.fixture
def router(tmp_path, capsys):
    """Runs tile-router with `name=value` settings; gives its result."""

    def run(*words, **settings):
        out = tmp_path / "result.json"
        options = [x for name, value in settings.items() for x in ("--set", f"{name}={value}")]
        ended = main(["run", "tile-router", *map(str, words), *options, "--json", str(out)])
        assert ended == 0, capsys.readouterr().err
        result = json.loads(out.read_text())
        for stream in result["streams"].values():
            assert not any(stream[x] for x in HARM)
            assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values())
        return result

    return run


def refused(capsys, *words):
    assert main(["run", "tile-router", *map(str, words)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("emery: ")
    return lines[0]


def lost(result):
    """Frames dropped by reason, all streams."""
    sums = {}
    for stream in result["streams"].values():
        for reason, frames in stream["dropped"].items():
            sums[reason] = sums.get(reason, 0) + frames
    return sums


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", ["64", "64-700", "65-1518"])
def test_each_version_delivers(router, version, size):
    """As fast as it takes them, 60 frames an input: full output queues may drop."""
    result = router("--size", size, "--frames", 60, version=version)
    assert set(lost(result)) <= {"queue"}
    assert result["totals"]["offered"] == 60 * (2 if version == "V" else 4)
    assert result["totals"]["delivered"] > 0.8 * result["totals"]["offered"]


@pytest.mark.parametrize("version", VERSIONS)
def test_two_linecards(router, version):
    result = router("--size", "64-300", "--frames", 40, version=version, linecards=2)
    assert result["totals"]["offered"] == 80
    assert {x[0] for x in result["streams"]} == {"0", "1"}


def test_all_to_one_output(router):
    """Four inputs for one output: nothing stands still, what is lost is lost in its queue."""
    result = router("--size", "64-600", "--frames", 80, version="III", pattern="hotspot")
    assert set(lost(result)) <= {"queue"}
    assert {x[1:] for x in result["streams"]} == {"->0"}


@pytest.mark.parametrize("version", [x for x in VERSIONS if x != "null"])
def test_malformed_packets_are_counted(router, version):
    result = router("--size", "64-200", "--frames", 120, "--rate", "0.1", version=version, bad_ip_every=2)
    reasons = lost(result)
    assert {"not_ip", "version", "header", "length", "checksum", "ttl", "destination"} <= set(reasons)
    for reason in reasons:
        assert result["resources"]["counters"][f"drop_{reason}"] == reasons[reason]


def routes_file(path, ports, rng):
    """Overlapping prefixes, some longer than 24 bits; half of the address space without a route."""
    lines = ["0.0.0.0/1 1"]
    for _ in range(400):
        length = rng.choice([2, 4, 8, 12, 16, 20, 24, 25, 28, 32])
        network = ipaddress.ip_network((rng.getrandbits(32), length), strict=False)
        lines.append(f"{network} {rng.randrange(ports)}")
    lines = list({x.split()[0]: x for x in lines}.values())
    text = "\n".join(["# made up", *lines]) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return [(ipaddress.ip_network(x.split()[0]), int(x.split()[1])) for x in lines]


@pytest.mark.parametrize("name", ["routes.txt", "routes.txt.gz"])
def test_a_capture_over_overlapping_routes(router, tmp_path, name):
    """Each packet leaves at the port of its longest prefix with one hop less to live, its checksum right."""
    table = routes_file(tmp_path / name, 4, random.Random(5))
    result = router("--pcap", SAMPLE, "--routes", tmp_path / name, "--pcap-out", tmp_path / "out")
    seen = 0
    for port in range(4):
        for frame in read_pcap(tmp_path / "out" / f"wire{port}.pcap"):
            header = frame[14 : 14 + 4 * (frame[14] & 15)]
            total = sum(struct.unpack(f">{len(header) // 2}H", header))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            assert total == 0xFFFF
            address = ipaddress.ip_address(frame[30:34])
            best = max((net.prefixlen, out) for net, out in table if address in net)
            assert best[1] == port
            seen += 1
    assert seen == result["totals"]["delivered"] > 100
    assert {"not_ip", "checksum", "ttl"} <= set(lost(result)) <= tile_programs.reasons().keys()


def test_no_default_route(router, tmp_path):
    (tmp_path / "routes.txt").write_text("10.0.0.0/8 0\n10.1.0.0/16 1\n")
    result = router("--pcap", SAMPLE, "--routes", tmp_path / "routes.txt")
    assert lost(result)["route"] > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10.0.0.0/8 0\n10.0.0.0/33 1\n", (":2:",)),
        ("10.0.0.0/8 4\n", (":1:", "port 4")),
        ("10.0.0.0/8 1\n11.0.0.0/8 1\n10.0.0.0/8 2\n", (":3:", "line 1")),
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


def test_same_seed_same_digest(router):
    first, again, other = (router("--size", "64-700", "--frames", 40, "--seed", x) for x in (3, 3, 4))
    assert first["digest"] == again["digest"] != other["digest"]


def test_what_tiles_and_links_did(router):
    result = router("--size", "64", "--frames", 200)
    tiles = result["resources"]["tiles"]
    assert [x["tile"] for x in tiles] == list(range(16))
    for tile in tiles:
        assert sum(tile["use"].values()) == pytest.approx(1, abs=0.01)
        assert all(0 <= x <= 1 for network in tile["links"].values() for x in network)
    assert result["resources"]["counters"]["frames_in"] == 800
    assert set(result["resources"]["stages"]) == {"lookup", "checksum", "forward", "output"}


def test_parts_have_their_parameters():
    target = system.load("tile-router")
    values = target.values(["load_use=1", "dram_latency=30"])
    parts = build.part_rtls(target, values, build.system_rtl(target, values))
    given = {x.top: dict(x.parameters) for x in parts}
    assert given["tile"]["LoadUse"] == "1" and given["slot"] == {"DramLatency": "30"} and given["boot_hub"] == {}
    values = target.values(["flat=true"])
    assert build.part_rtls(target, values, build.system_rtl(target, values)) == []


def limit(size, **settings):
    target = system.load("tile-router")
    values = target.values([f"{name}={value}" for name, value in settings.items()])
    return limits.tile(tile_model(values), {size: 1})


def test_limits():
    """Four links of 13.6 Gb/s; a frame enters with its length, leaves the memory in lines."""
    assert limit(64)["mpps"] == pytest.approx(4 * 425 / 19)
    assert limit(64, version="V")["mpps"] == pytest.approx(2 * 425 / 19)
    assert limit(1518, version="null", line_gbps=100)["by"] == "link_out"
    assert limit(1518, line_gbps=100)["by"] == "link_out"
    half, full = limit(1518, version="I"), limit(1518, version="II")
    assert half["by"] == "memory" and half["l2_gbps"] < 0.4 * full["l2_gbps"]

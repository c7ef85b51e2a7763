# SPDX-License-Identifier: Apache-2.0
"""tile-router as a host: what its control tile answers, what it leaves, and that ordinary traffic hears nothing of it."""

import conftest
import pytest
from conftest import read_pcap, slow
from router_host import (
    ADDRESS,
    HOST,
    check_arp,
    check_echo,
    check_errors,
    check_silence,
    hostile,
    ping,
    player,
    to_router,
    well_formed_answers,
)
from routers import check_clauses, lost, runner
from scapy.layers.inet import ICMP, IP, UDP
from scapy.packet import Raw

COMMAND = ("tile-router", "--assertions")
ROUTES = "10.0.0.0/16 0\n10.1.0.0/16 1\n"
MANY = {"own_addresses": "true", "mac": "own", "icmp_rate": 1e9, "icmp_burst": 1000, "control_rate": 1e9}
LARGER = {"version": "III", "columns": 6, "rows": 5, "linecards": 4}
on_both = pytest.mark.parametrize(
    "host", [{"version": "V"}, {"version": "III", "linecards": 3}], ids=["V", "III"], indirect=True
)


@pytest.fixture
def host(simulate, tmp_path, request):
    return player(COMMAND, simulate, tmp_path, MANY | getattr(request, "param", {"version": "V"}), "0.005", ROUTES)


def said(result, kind="answered_"):
    """Counters of the control tile that are not 0."""
    counters = result["resources"]["counters"]
    return {name.removeprefix(kind): n for name, n in counters.items() if name.startswith(kind) and n}


@on_both
def test_arp(host):
    result = check_arp(host)
    assert said(result) == {"arp": 3}
    assert said(result, "unanswered_") == {"arp_malformed": 4, "arp_for_others": 2, "arp_no_request": 1, "arp_conflict": 1}


@on_both
def test_echo(host):
    """Answers that fit a head and those that do not, of both of the router's addresses."""
    sizes = [0, 1, 19, 20, 21, 23, 24, 56, 57, 511, 1471, 1472]
    requests = [ping(n % 2, size) for n, size in enumerate(sizes)]
    result, (out, other) = host(requests, rate="0.002")
    assert other == [] and len(out) == len(sizes) and said(result) == {"echo": len(sizes)}
    for request, answer in zip(requests, out, strict=True):
        check_echo(request, answer)


@on_both
def test_errors(host):
    check_errors(host, rate="0.002")


@on_both
def test_silence(host):
    result = check_silence(host)
    assert said(result) == {} and len(said(result, "unanswered_")) >= 8


def test_errors_are_limited(host):
    frames = [to_router(IP(src=HOST, dst="10.1.0.9", ttl=1, id=n) / UDP()) for n in range(40)]
    result, (out, _) = host(frames, icmp_rate=0, icmp_burst=5)
    assert len(out) == 5 and said(result, "unanswered_") == {"rate": 35}
    # 84 bytes at 0.1 Gb/s last 6.72 us: every fourth frame has one.
    result, (out, _) = host(frames, icmp_rate=38000, icmp_burst=1)
    assert len(out) == pytest.approx(10, abs=1)


@on_both
@pytest.mark.parametrize("rate", [*slow("0.01"), "1.0"])
def test_hostile_frames(host, rate):
    """All are accounted for and all answers well formed; as fast as they come, most find the control tile busy."""
    result, out = host(hostile(200), rate=rate)
    answers, busy = said(result), result["resources"]["counters"]["control_busy"]
    slow = rate == "0.01"
    assert len(answers) >= (6 if slow else 2) and len(said(result, "unanswered_")) >= (5 if slow else 1)
    assert well_formed_answers(out) >= sum(answers.values())
    assert busy == 0 if slow else busy > sum(answers.values())


def test_an_answer_takes_the_way_its_address_does(host):
    """At a port where nothing came in, from the address of that port."""
    asker = IP(src="10.1.0.200", dst="172.16.0.1") / UDP() / Raw(b"q" * 100)
    _, (out, other) = host([to_router(asker)])
    assert out == [] and [(x[IP].src, x[IP].dst, x[ICMP].type) for x in other] == [(ADDRESS[1], "10.1.0.200", 3)]


def test_addresses_of_the_router_only(host):
    """Neighbours of an address of the router have their route."""
    frames = [to_router(IP(src=HOST, dst=f"10.1.0.{n}") / UDP()) for n in (1, 2, 3)]
    _, (out, other) = host(frames)
    assert [x[IP].dst for x in other] == ["10.1.0.2", "10.1.0.3"] and [x[IP].src for x in out] == [ADDRESS[0]]


@pytest.mark.parametrize(
    "settings", [{"version": "V"}, {"version": "III", "linecards": 3}, *slow(LARGER)], ids=["V", "III", "6 x 5"]
)
def test_clauses_of_the_rfc(simulate, tmp_path, settings):
    """What is forwarded and what is not stays as it is without a control tile."""
    check_clauses(runner(COMMAND, simulate), tmp_path, {}, own_addresses="true", icmp_rate=0, icmp_burst=1, **settings)


@pytest.mark.parametrize("settings", [{"version": "V"}, {"version": "III", "linecards": 2}])
@pytest.mark.parametrize("seed", [1, 2])
def test_beside_ordinary_traffic(simulate, tmp_path, settings, seed):
    """As fast as it goes, at odd sizes, one frame in three for the control tile or bad: no standstill, no frame lost."""
    (tmp_path / "routes.txt").write_text("0.0.0.0/1 0\n128.0.0.0/1 1\n")
    words = ("--size", "64-1001", "--frames", "300", "--seed", seed, "--routes", tmp_path / "routes.txt")
    result = runner(COMMAND, simulate)(
        *words, own_addresses="true", bad_ip_every=3, icmp_rate=1e9, control_rate=1e6, **settings
    )
    counters = result["resources"]["counters"]
    assert said(result)["time_exceeded"] > 4
    assert counters["to_control"] + counters["control_busy"] >= lost(result)["ttl"] >= 20


@pytest.mark.parametrize(
    "settings",
    [
        {"version": "V"},
        {"version": "III", "linecards": 3, "counters_us": 7},
        LARGER,
        *slow(LARGER | {"version": "V", "linecards": 2}),
    ],
    ids=["V", "III", "6 x 5", "V, 6 x 5"],
)
@pytest.mark.parametrize("seed", [1, *slow(2, 3)])
def test_nobody_waits_in_a_circle(simulate, tmp_path, settings, seed):
    """Every second frame is one for the control tile or bad, answers without a limit, all to one output on a slow wire, whose
    queue is full: every queue and link is held up at random. The run ends with status 1 when nothing moves any more."""
    (tmp_path / "routes.txt").write_text("0.0.0.0/1 0\n128.0.0.0/1 1\n")
    shape = ("--size", "64-999", "--frames", 120, "--arrivals", "burst:16", "--rate", "0.9", "--seed", seed)
    shape += ("--routes", tmp_path / "routes.txt")
    slow = {"line_gbps": 2, "pattern": "hotspot", "rewrite_mac": "true"}
    result = runner(COMMAND, simulate)(
        *shape, own_addresses="true", bad_ip_every=2, icmp_rate=1e9, icmp_burst=1000, control_rate=1e9, **slow, **settings
    )
    counters = result["resources"]["counters"]
    assert counters["to_control"] > 3 and said(result)
    if settings["version"] == "III":
        assert counters["deepest_0"] >= 24 and counters["queued"] > 50


REWRITTEN = [
    {"version": "I"},
    {"version": "II"},
    {"version": "III", "linecards": 3, "own_addresses": "true"},
    {"version": "IV"},
    {"version": "V"},
    {"version": "V", "own_addresses": "true"},
]


@pytest.mark.parametrize("settings", REWRITTEN, ids=["I", "II", "III-host", "IV", "V", "V-host"])
def test_ethernet_addresses(simulate, tmp_path, settings):
    """Frames leave to the next hop of their port from the address of that port; options and all, whatever the output."""
    words = ("--size", "64-600", "--frames", "60", "--flows", "500", "--pcap-out", tmp_path / "out")
    result = runner(COMMAND, simulate)(*words, rewrite_mac="true", prefix_length=8, bad_ip_every=4, **settings)
    seen = 0
    for port in range(settings.get("linecards", 2 if settings["version"] == "V" else 4)):
        for frame in read_pcap(tmp_path / "out" / f"wire{port}.pcap"):
            assert frame[:14].hex(":") == f"02:00:00:00:02:{port:02x}:02:00:00:00:01:{port:02x}:08:00"
            seen += 1
    assert seen == result["totals"]["delivered"] > 60


@pytest.mark.slow
def test_a_slow_output(host):
    """Answers for a queue that is full are dropped and counted; the input goes on."""
    frames = [to_router(IP(src=HOST, dst="10.0.0.77", id=n) / UDP() / Raw(b"a" * 1000)) for n in range(150)]
    for n in range(0, 150, 3):
        frames[n] = to_router(IP(src=HOST, dst=ADDRESS[0], id=n) / ICMP(seq=n))
    result, (out, other) = host(frames, rate="1.0", version="III", linecards=3, line_gbps=1)
    assert other == [] and len(out) == 100 + said(result)["echo"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("version=III",), "no column is left"),
        (("version=III", "linecards=4"), "no column is left"),
        (("version=IV", "linecards=2"), "versions III and V"),
        (("version=V", "columns=8", "rows=6", "linecards=3"), "sees to 4 pipelines, 3 linecards have 6"),
        (("version=V", "timed=true"), "take no time"),
        (("version=III", "linecards=2", "full_queue=discard"), "queues that stall"),
    ],
)
def test_refused(capsys, words, says):
    line = conftest.refused(COMMAND, capsys, *(x for word in (*words, "own_addresses=true") for x in ("--set", word)))
    assert says in line

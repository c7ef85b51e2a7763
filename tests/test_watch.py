# SPDX-License-Identifier: Apache-2.0
"""`./emery watch`: what the simulator says of itself as it goes, the server, the page in a real browser, how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import browser
import pytest

from emery import cli, system
from emery.cli import main
from emery.common import ROOT
from emery.live import ALL, Live
from emery.pages import watching
from emery.workload import workload

in_browser = pytest.mark.skipif(not browser.find(), reason="no headless Chromium: apt install chromium-headless-shell")
LOSING = ("host-nic", "--size", "64", "--frames", "9000")  # both ways at line rate: more comes than fits


class Watched:
    """The command as a user starts it; `address` is where its page is."""

    def __init__(self, *words):
        def as_from_a_terminal():  # which does not ignore Ctrl-C
            signal.signal(signal.SIGINT, signal.default_int_handler)

        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": as_from_a_terminal}
        self.process = subprocess.Popen([sys.executable, str(ROOT / "emery"), "watch", *map(str, words)], **how)
        self.address = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", self.address), self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def events(self):
        """What the page is told, to the end: kind and data."""
        kind = ""
        with urllib.request.urlopen(f"{self.address}events", timeout=300) as answer:
            for line in answer:
                name, _, text = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = text
                elif name == "data":
                    yield kind, json.loads(text)

    def end(self) -> tuple[int, str, str]:
        """Ctrl-C: status, and what was said besides the address."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=180)
        return self.process.returncode, out, err


def test_a_run_is_the_same_with_and_without(tmp_path, capsys):
    """What is told of it on the way leads to what its result says; nothing of the result follows from being looked at."""
    plain = tmp_path / "plain.json"
    assert main(["run", *LOSING, "--json", str(plain)]) == 0
    capsys.readouterr()
    with Watched(*LOSING, "--once", "--json", tmp_path / "seen.json") as watched:
        told = list(watched.events())
        out, err = watched.process.communicate(timeout=180)
        assert watched.process.returncode == 0 and not err
    seen, result = (json.loads(x.read_text()) for x in (tmp_path / "seen.json", plain))
    for x in (seen, result):
        x.pop("wall_s"), x["identity"].pop("commit")
    assert seen == result
    assert [x for x, _ in told] == ["points"] * (len(told) - 1) + ["end"] and told[-1][1]["status"] == "well"
    assert told[-1][1]["table"] in out and result["digest"] in out
    points = [x for kind, data in told[:-1] for x in data["points"]]
    assert len(points) >= 2 and points[-1]["phase"] == "drain"
    for name in ("n", "t_us", "part"):
        assert [x[name] for x in points] == sorted(x[name] for x in points)
    now = told[-2][1]["now"]
    for name, stream in now["streams"].items():
        final = result["streams"][name]
        assert stream["offered"] == final["offered"] and 0.99 * final["delivered"] <= stream["delivered"] <= final["delivered"]
        lost = sum(final["dropped"].values())
        assert 0.9 * lost <= points[-1]["streams"][name]["lost"] <= lost  # before the device was asked
    assert sum(result["streams"]["rx"]["dropped"].values()) > 1000
    at = [(x["t_us"], x["streams"]["tx"]["delivered"], x["part"]) for x in points]
    for point, (t, n, _), (before, fewer, _) in zip(points[4:], at[4:], at, strict=False):  # a rate is over four snapshots
        assert point["streams"]["tx"]["mpps"] == pytest.approx((n - fewer) / (t - before))
    busy = [x for x in at if 0.3 < x[2] < 0.9]  # filled, and not yet at an end
    if len(busy) > 1:  # how many there are is a matter of the machine
        (before, fewer, _), (t, n, _) = busy[0], busy[-1]
        assert 0.8 < (n - fewer) / (t - before) / result["streams"]["tx"]["mpps"] < 1.2
    queues = [x for x in now["queues"] if x["stream"] == "tx"]
    assert queues and all(0 < x["delivered"] <= 9000 and x["bytes"] == 64 * x["delivered"] for x in queues)
    (way,) = [x for x in now["ways"] if x["stream"] == "tx"]
    times = list(way["at"].values())
    assert [*way["at"]][0] == "driver" and [*way["at"]][-1] == "wire" and len(times) == 8 and times == sorted(times)


@pytest.mark.parametrize("name", ["capture", "core-nic", "direct-router", "pcie-bench", "tile-router"])
def test_every_system_can_be_watched(name, tmp_path, monkeypatch):
    """On models that are there already: what a bench has to say in mid-run is JSON, and its numbers are numbers."""
    from emery import runs

    target = system.load(name)
    seen = []
    values, work = target.values([]), workload(target, {"frames": "50"})
    result = runs.run_system(target, values, work, hear=seen.append)
    assert result["digest"] and seen and seen[-1]["phase"] == "drain"
    live = Live(target, values, work)
    for x in seen:
        live.hear(x)
    assert sum(x["delivered"] for x in seen[-1]["streams"].values()) <= result["totals"]["delivered"]
    shares = [y for y in seen[-1]["resources"].items() if y[0].endswith("_busy") and isinstance(y[1], float)]
    assert all(0 <= x <= 1.001 for _, x in shares), shares


def test_the_server(tmp_path):
    with Watched(*LOSING) as watched:
        with urllib.request.urlopen(watched.address, timeout=180) as answer:
            page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "connect-src 'self'" in policy
        assert not re.search(r"https?://|src=|@import|url\((?!#)", page.replace("http://www.w3.org/2000/svg", ""))
        host, port = watched.address[7:-1].split(":")
        for path, headers, status in (
            ("/", {"Host": "elsewhere.example"}, 403),
            ("/events", {"Host": f"elsewhere.example:{port}"}, 403),
            ("/", {"Host": f"localhost:{port}"}, 200),
            ("/nothing", {}, 404),
            ("/../etc/passwd", {}, 404),
        ):
            line = http.client.HTTPConnection(host, int(port), timeout=180)
            line.request("GET", path, headers=headers)
            assert line.getresponse().status == status, path
            line.close()
        with urllib.request.urlopen(f"{watched.address}diagram", timeout=300) as answer:
            assert answer.read().decode() == watching.diagrams(system.load("host-nic"))
        *_, (kind, data) = watched.events()
        assert kind == "end" and data["status"] == "well"
        assert list(watched.events())[-1] == (kind, data)  # who comes later hears it too
        status, out, err = watched.end()
        assert status == 0 and "digest" in out and not err


def test_stopped_in_mid_run():
    with Watched("host-nic", "--size", "64", "--duration", "100ms") as watched:
        kinds, simulators = [], []
        for kind, data in watched.events():
            kinds.append((kind, data))
            if len(kinds) == 3:
                children = subprocess.run(
                    ["pgrep", "-P", str(watched.process.pid)], capture_output=True, text=True
                ).stdout.split()
                simulators = [int(x) for x in children]
                watched.process.send_signal(signal.SIGINT)
        out, err = watched.process.communicate(timeout=180)
        assert watched.process.returncode == 130 and err.splitlines() == ["emery: interrupted"] and not out
        assert kinds[-1][0] == "end" and kinds[-1][1]["status"] == "stopped"
        assert simulators
        for x in simulators:
            with pytest.raises(ProcessLookupError):
                os.kill(x, 0)


def test_a_run_that_fails(fake, capsys, monkeypatch):
    """The page says why; the status is that of run."""
    said = []
    monkeypatch.setattr("emery.live.Live.end", lambda self, words: (said.append(words), setattr(self, "ended", words)))
    fake(None, 1, "integrity: stream tx: 3 frames missing")
    assert main(["watch", "host-nic", "--once"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "emery: stream tx: 3 frames missing\n"
    assert said == [{"status": "failed", "words": "It failed: stream tx: 3 frames missing"}]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--port", "65536"], "65536 is not a number from 0 to 65535"),
        (["--port", "x"], "x is not a number"),
        (["--size", "3"], "--size 3"),
        (["--set", "mps=1"], "mps"),
        (["--json", "/nowhere/x"], "--json /nowhere/x"),
    ],
)
def test_refused(capsys, words, says):
    assert main(["watch", "host-nic", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and says in captured.err and not captured.out


def test_a_port_that_is_taken(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["watch", "host-nic", "--port", str(other.getsockname()[1])]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "Address already in use" in captured.err and not captured.out


def snapshot(number, streams=2, delivered=10):
    latency = {"p50": 1.0, "p99": 2.0, "max": 3.0}
    counts = {"offered": 2 * number, "under_way": 0, "overtaken": 1, "dropped": {}, "latency_ns": latency}
    each = {f"s{i}": {"delivered": delivered * number, "bytes": 64 * delivered * number, **counts} for i in range(streams)}
    more = {"queues": [], "queues_seen": 0, "resources": {}, "ways": []}
    return {"t_ns": 1000.0 * number, "part": number / 1e4, "phase": "traffic", "streams": each, **more}


def test_many_points_are_thinned_out_and_nobody_misses_the_end():
    target = system.load("host-nic")
    live = Live(target, target.values([]), workload(target, {"size": "64"}))
    for number in range(1, 10_001):
        live.hear(snapshot(number))
    count, points, now = live.since(0, 0)
    assert count == 10_000 and 2000 <= len(points) <= 4000 and points[-1]["n"] == count and now["loads"]
    assert points[-1]["streams"]["s0"]["mpps"] == pytest.approx(10.0)
    assert [x["n"] for x in live.since(count - 1, 0)[1]] == [count]
    threading.Timer(0.2, live.end, [{"status": "well"}]).start()
    began = time.monotonic()
    assert live.since(count, 3600)[1] == [] and time.monotonic() - began < 600 and live.ended == {"status": "well"}


def test_a_moment_above_the_line_rate_is_told_as_a_full_line():
    """Between two snapshots a frame more may end than the line carries in that time."""
    target = system.load("host-nic")
    live = Live(target, target.values([]), workload(target, {"size": "64"}))
    for number in (1, 2):
        live.hear(snapshot(number, delivered=149))  # 148.8 fit
    assert max(live.since(0, 0)[2]["loads"].values()) > 1


def test_many_streams_are_one_curve():
    target = system.load("host-nic")
    live = Live(target, target.values([]), workload(target, {"size": "64"}))
    live.hear(snapshot(1, streams=20))
    live.hear(snapshot(2, streams=20))
    one = live.since(1, 0)[1][-1]["streams"]
    assert list(one) == [ALL] and one[ALL]["mpps"] == pytest.approx(200.0) and one[ALL]["delivered"] == 400


def test_it_takes_what_run_takes():
    parsers = cli.parsers()
    options = {name: {x for y in parsers[name]._actions for x in y.option_strings} for name in ("run", "watch")}
    assert options["watch"] - options["run"] == {"--port", "--once"} and not options["run"] - options["watch"]


@in_browser
@pytest.mark.parametrize(("width", "scheme"), [(375, "dark"), (1280, "light")])
def test_in_a_browser(tmp_path, width, scheme):
    with Watched(*LOSING) as watched, browser.Browser() as seen:
        seen.screen(width, 900, scheme)
        seen.open(watched.address)

        def wait(expression):
            until = time.monotonic() + 120
            while not seen.value(expression):
                assert watched.process.poll() is None, watched.process.communicate()
                assert time.monotonic() < until, (expression, seen.value("document.body.innerText"), seen.said)
                time.sleep(0.1)

        wait("document.body.dataset.ended === 'well'")
        assert seen.value("document.querySelector('#result pre').innerText.includes('digest')")
        assert seen.value("[...document.querySelectorAll('#streams tbody th')].map(x => x.textContent)") == ["tx", "rx"]
        curves = seen.value("[...document.querySelectorAll('#charts path.curve')].map(x => x.getAttribute('d').length)")
        assert len(curves) == 10 and all(x > 10 for x in curves)  # a line at least, however few snapshots were drawn
        assert seen.value("document.querySelectorAll('#loads meter').length") >= 5
        assert seen.value("document.querySelectorAll('#queues tbody tr').length") == 64
        wait("document.querySelector('#diagram svg.blocks') !== null")
        wait("document.querySelector('#diagram .block.here') !== null")
        for name, first, last in (("tx", "driver", "wire"), ("rx", "cmac_rx", "host")):
            seen.value(f"[...document.querySelectorAll('#ways button')].find(x => x.textContent === '{name}').click()")
            stages = seen.value("[...document.querySelectorAll('#way li b')].map(x => x.textContent)")
            assert (stages[0], stages[-1]) == (first, last)
            wait("document.querySelector('#diagram .block.here') !== null")
            assert seen.value("document.querySelector('#diagram .block.here text').textContent") in stages
        assert seen.value("document.documentElement.scrollWidth") <= width
        if place := os.environ.get("EMERY_PICTURES"):
            tall = seen.value("document.documentElement.scrollHeight")
            seen.picture(tmp_path.__class__(place) / f"watch-{width}.png", (0, 0, width, min(tall, 4000)))
        assert not seen.said
        assert watched.end()[0] == 0

# SPDX-License-Identifier: Apache-2.0
"""`import emery`: what the command line does, as functions and dataclasses."""

import inspect
import json
import re
import subprocess
import sys
import typing

import pytest
from conftest import body, read_pcap, stream, write_pcap

import emery
from emery.cli import main
from emery.common import ROOT

BOTH = {"tx": stream(100), "rx": stream(100, {"rx_buffer_full": 4}, mpps=5.0)}
TOTAL = stream(200, {"rx_buffer_full": 4}, mpps=15.0)


def test_a_run_is_that_of_the_command_line(tmp_path, fake):
    settings = fake(body(BOTH, TOTAL))
    found = emery.run("host-nic", size=64, frames=100, direction="both", tx_queues=32, interrupts=True, rate=0.5, seed=7)
    words = ["--size", "64", "--frames", "100", "--direction", "both", "--set", "tx_queues=32", "--set", "interrupts=true"]
    out = tmp_path / "out.json"
    assert main(["run", "host-nic", *words, "--rate", "0.5", "--seed", "7", "--json", str(out)]) == 0
    assert found.data == json.loads(out.read_text())
    told = [{**settings(x), "result": ""} for x in range(2)]
    assert told[0] == told[1] and told[0]["interrupts"] == "true" and told[0]["tx_queues"] == "32"


def test_what_a_result_says(fake):
    fake(body(BOTH, TOTAL))
    found = emery.run("host-nic", size=64, parameters={"mps": 128})
    assert found.parameters["mps"] == 128 and found.steady and found.limit["by"] and found.resources == {}
    assert set(found.streams) == {"tx", "rx"} and found.streams["rx"].dropped == {"rx_buffer_full": 4}
    assert found.totals.mpps == 15.0 and found.totals.lost == 0.02 and found.totals.latency_ns.p99 == 1500.0
    assert found.flat()["streams.rx.dropped.rx_buffer_full"] == 4 and len(found.digest) == 64
    assert "host-nic" in str(found) and "rx_buffer_full 4" in str(found)


def test_latencies_without_frames_and_with_histograms(fake):
    latency = {**stream(1)["latency_ns"], "histogram": [[900.0, 3], [1000.0, 4]]}
    fake(body({"tx": stream(1, latency_ns=latency), "rx": stream(0, latency_ns=None)}))
    found = emery.run("host-nic", size=64)
    assert found.streams["rx"].latency_ns is None
    assert found.streams["tx"].latency_ns.histogram == ((900.0, 3), (1000.0, 4))


def test_captures(tmp_path, fake):
    settings = fake(body(BOTH, TOTAL))
    path = write_pcap(tmp_path / "a.pcap", [bytes(60)])
    emery.run("host-nic", pcap=path, timed=True)
    emery.run("host-nic", pcap={0: path, 1: str(path)}, ports=2, timed=2)
    assert settings(0)["replay_speed"] == "1.0" and settings(1)["replay_speed"] == "2.0"
    assert read_pcap(path.__class__(settings(1)["pcap.1"])) == [bytes(60)]


def test_errors_are_one_line(fake):
    fake(body(BOTH, TOTAL), status=1, last="integrity: 3 frames missing")
    with pytest.raises(emery.IntegrityError, match="3 frames missing"):
        emery.run("host-nic", size=64)
    for words, says in (
        ({"size": 63}, "--size 63"),
        ({"tx_queus": 4}, "did you mean tx_queues"),
        ({"tx_queues": 3}, "power of two"),
        ({"pcap": "nowhere.pcap"}, "nowhere.pcap"),
        ({"size": 64, "pcap_out": "/proc/x"}, "--pcap-out"),
    ):
        with pytest.raises(emery.UserError, match=says) as error:
            emery.run("host-nic", **words)
        assert "\n" not in str(error.value)
    with pytest.raises(emery.UserError, match="did you mean host-nic"):
        emery.run("host-nik")


def test_a_sweep(tmp_path, fake, data_packages):
    bad = "if settings['mps'] == '512': print('integrity: lost', file=sys.stderr), sys.exit(1)"
    fake(body(BOTH, TOTAL), code=bad)
    found = emery.sweep("host-nic", {"mps": [128, 512], "rate": [0.5]}, size=64, out=tmp_path / "runs.jsonl")
    assert len(found) == 2 and found.points[0] == {"mps": 128, "rate": 0.5}
    (_, one), (_, two) = found
    assert one.totals.mpps == 15.0 and two == "lost" and found.failures == [({"mps": 512, "rate": 0.5}, "lost")]
    frame = found.frame()
    assert list(frame["mps"]) == [128, 512] and frame["totals.mpps"][0] == 15.0 and frame["failure"][1] == "lost"
    found.write(tmp_path / "a.csv")
    found.plot(tmp_path / "a.svg", "two points")
    assert (tmp_path / "a.csv").read_text().startswith("mps,rate,") and "failed" in str(found)
    listed = emery.sweep("host-nic", points=[{"mps": 128}, {"size": "imix"}], out=tmp_path / "runs.jsonl")
    assert [x for _, x in listed if isinstance(x, emery.Result)] and len(listed) == 2
    for words, says in (
        ({}, "give over, or points"),
        ({"over": {"mps": []}}, "no point"),
        ({"over": {"mpss": [1]}}, "did you mean mps"),
        ({"points": [{"mps": 1}]}, "out of range"),
    ):
        with pytest.raises(emery.UserError, match=says):
            emery.sweep("host-nic", **words)
    with pytest.raises(emery.UserError, match="name it"):
        found.write(tmp_path / "a.txt")


def test_frames_of_a_run(fake, data_packages):
    fake(body(BOTH, TOTAL))
    frame = emery.run("host-nic", size=64).frame()
    assert list(frame.index) == ["tx", "rx", "total"] and frame.loc["rx", "dropped"] == 4
    assert frame["latency_ns.p99"].mean() == 1500.0


def test_without_pandas(fake, monkeypatch):
    fake(body(BOTH, TOTAL))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(emery.UserError, match="pip install pandas"):
        emery.run("host-nic", size=64).frame()


def test_a_search(tmp_path, fake):
    fake(body({"rx": stream(100)}))
    found = emery.search("core-nic", goals=["pdr"], seeds=1, width=0.25, size=64, direction="rx", out=tmp_path / "runs.jsonl")
    assert set(found.goals) == {"pdr"} and "pdr" in str(found) and found.data["seeds"] == [1]
    for words, says in (({"goals": ["npr"]}, "did you mean"), ({"seeds": 0}, "seeds from 1"), ({"rate": 1}, "without --rate")):
        with pytest.raises(emery.UserError, match=says):
            emery.search("core-nic", out=tmp_path / "runs.jsonl", **words)


def test_searches_over_sizes(tmp_path, fake, data_packages):
    fake(body({"rx": stream(100)}))
    how = {"goals": ["throughput"], "seeds": 1, "width": 0.5, "direction": "rx", "out": tmp_path / "runs.jsonl"}
    found = emery.search_sizes("core-nic", [64, "imix"], **how)
    assert list(found.sizes) == ["64", "imix"] and found.sizes["imix"].goals["throughput"] and "imix" in str(found)
    frame = found.frame()
    assert list(frame.index) == ["64", "imix"] and frame.loc["64", "line_mpps"] == found.data["sizes"][0]["line_mpps"]
    assert "throughput.lower" in frame.columns
    found.plot(tmp_path / "sizes.svg")
    assert ">imix</text>" in (tmp_path / "sizes.svg").read_text()
    assert len(emery.search_sizes("core-nic", **how).sizes) == 7
    for words, says in (({"sizes": [63]}, "size 63"), ({"sizes": [64], "size": 64}, "choose one"), ({"sizes": ()}, "size")):
        with pytest.raises(emery.UserError, match=says):
            emery.search_sizes("core-nic", **how | words)


def test_what_is_public_is_there_and_typed():
    assert set(emery.__all__) <= set(dir(emery)) and emery.systems() and "tx_queues" in emery.parameters("host-nic")
    for name in emery.__all__:
        thing = getattr(emery, name)
        if name.startswith("_") or inspect.isclass(thing) and issubclass(thing, Exception):
            continue
        assert inspect.getdoc(thing)
        functions = (
            [thing]
            if inspect.isfunction(thing)
            else [y for x, y in vars(thing).items() if inspect.isfunction(y) and x[0] != "_"]
        )
        for function in functions:
            told = inspect.signature(function)
            assert told.return_annotation is not inspect.Signature.empty, function
            assert all(x.annotation is not inspect.Parameter.empty for n, x in told.parameters.items() if n != "self"), function
    with pytest.raises(AttributeError):
        _ = emery.nothing
    assert typing.get_type_hints(emery.Stream)["offered"] is int


def test_the_page_runs(tmp_path, monkeypatch, fake, data_packages):
    """docs/python.md, as it stands there."""
    fake(body({"rx": stream(100)}))
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    names = {}
    exec(compile(code, "docs/python.md", "exec"), names)
    assert len(names["sweep"]) == 6 and (tmp_path / "out.parquet").exists() and (tmp_path / "out.svg").exists()


def test_importing_it_is_quick():
    """Nothing but the standard library, and not even the command line, until something is used."""
    code = "import sys, emery; print(sorted(x for x in sys.modules if x.startswith('emery')), 'pandas' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert said.stdout.strip() == "['emery'] False", said.stderr

# SPDX-License-Identifier: Apache-2.0
"""`run --waves`: FST that somebody else's reader reads, what was asked for, with numbers of frames."""

import pytest
from pywellen import Waveform

import emery
from emery.cli import main
from emery.common import ROOT

RUN = ["run", str(ROOT / "tests" / "loop_card"), "--size", "64", "--frames", "20"]


def changes(path, name):
    """(ns, value) of a signal, as the reader of Surfer has them."""
    (found,) = (x for x in Waveform(str(path)).all_vars() if x.full_name == name)
    return [(time / 1000, value) for time, value in found.tv]


def test_all_of_a_run(tmp_path):
    """Without packages of headers; numbers go up by one, as the frames."""
    path = tmp_path / "x.fst"
    assert main([*RUN, "--waves", str(path)]) == 0
    assert path.read_bytes()[:1] == b"\0"  # FST's header
    assert [x for _, x in changes(path, "frames.offered")] == [0xFFFFFFFF, *range(20)]
    assert [x for _, x in changes(path, "frames.delivered")] == [0xFFFFFFFF, *range(20)]
    clock = changes(path, "loop_card.clk_i")
    assert clock[1][0] < 10 and clock[-1][0] > 13_000 and {x for _, x in clock} == {0, 1}


def test_a_window(tmp_path):
    path = tmp_path / "x.fst"
    assert main([*RUN, "--waves", str(path), "--waves-from", "5us", "--waves-to", "6us"]) == 0
    clock = changes(path, "loop_card.clk_i")
    assert 5000 <= clock[0][0] < 5010 and 5990 < clock[-1][0] <= 6000 and 240 < len(clock) < 260
    assert main([*RUN, "--waves", str(path), "--waves-from", "13us"]) == 0
    assert 13_000 <= changes(path, "loop_card.clk_i")[0][0] < 13_010


def test_a_frame(tmp_path, capsys):
    """The time that it was inside, as the trace says; and what it says is told."""
    path, trace = tmp_path / "x.fst", tmp_path / "t.jsonl"
    assert main([*RUN, "--trace", str(trace)]) == 0
    frame = emery.trace(trace).frame(7)
    capsys.readouterr()
    assert main([*RUN, "--waves", str(path), "--waves-frame", "7"]) == 0
    (note,) = capsys.readouterr().err.splitlines()
    assert note.startswith("emery: frame 7 of loop, delivered, in x.fst, ns: offered")
    clock = changes(path, "loop_card.clk_i")
    assert clock[0][0] == pytest.approx(frame.first - 100, abs=10) and clock[-1][0] == pytest.approx(frame.last + 100, abs=10)
    (came,) = (time for time, x in changes(path, "frames.offered") if x == 7)
    (left,) = (time for time, x in changes(path, "frames.delivered") if x == 7)
    assert frame.first <= came <= frame.first + 8 + 1e-3 and frame.last - 100 <= left <= frame.last + 16
    assert emery.run(RUN[1], size=64, frames=20, waves=path, waves_frame=3).totals.delivered == 20
    assert changes(path, "loop_card.clk_i")[0][0] < clock[0][0]


def test_after_the_end(tmp_path, capsys):
    assert main([*RUN, "--waves", str(tmp_path / "x.fst"), "--waves-from", "1ms"]) == 0
    (note,) = capsys.readouterr().err.splitlines()
    assert "the run ended at 14." in note and "x.fst shows nothing" in note


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--waves-from", "1us"], "which part of --waves FILE"),
        (["--waves-frame", "1"], "which part of --waves FILE"),
        (["--waves", "{}/x.fst", "--waves-frame", "1", "--waves-to", "2us"], "without --waves-to"),
        (["--waves", "{}/x.fst", "--waves-from", "2us", "--waves-to", "1us"], "nothing is between 2us and that"),
        (["--waves", "{}/x.fst", "--waves-from", "soon"], "--waves-from soon: write a number with a unit"),
        (["--waves", "{}/x.fst", "--waves-frame", "-1"], "not a number"),
        (["--waves", "{}/x.fst", "--waves-frame", "20"], "--waves-frame: there is no frame 20, the last one is 19"),
    ],
)
def test_refused(tmp_path, capsys, words, told):
    assert main([*RUN, *(x.format(tmp_path) for x in words)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and told in said[0], said

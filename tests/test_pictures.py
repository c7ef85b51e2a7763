# SPDX-License-Identifier: Apache-2.0
"""Figures of measured rows: what is drawn as what."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from emery import charts, pictures
from emery.published import beside


def _row(x, series="", emery=1.0, **more):
    row = {"figure": "f", "what": "a row, of many words", "unit": "Gb/s", "x": x, "series": series, "emery": emery}
    return {**row, "limit": None, "paper_value": None, "peer_value": None, **more}


def test_numbers_that_all_series_share_are_shown_once():
    shared = [_row(1, "a", limit=10.0), _row(1, "b", limit=10.0), _row(2, "b", limit=20.0)]
    assert beside(shared, "limit") == ({1: 10.0, 2: 20.0}, {})
    apart = [*shared, _row(2, "a", limit=19.0)]
    assert beside(apart, "limit") == ({}, {"a": {1: 10.0, 2: 19.0}, "b": {1: 10.0, 2: 20.0}})


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        ([_row(64), _row(1518), _row(None, emery=0.99)], ("curves", 2)),  # a number about the others has no place
        ([_row(None), _row(None)], ("bars", 2)),
        ([_row(None) for _ in range(13)], ("bars", 13)),
    ],
)
def test_what_is_drawn(rows, drawn, tmp_path):
    found = charts.chart({"title": "t"}, rows)
    if drawn[0] == "curves":
        assert isinstance(found, charts.Curves) and len(found.lines[0].points) == drawn[1]
    else:
        assert isinstance(found, charts.Bars) and len(found.groups) == drawn[1]
    system = SimpleNamespace(name="s", figures={"f": {"plot": True, "title": "t"}})
    (path,) = pictures.pictures(system, rows, str(tmp_path))
    assert Path(path).read_bytes().startswith(b"\x89PNG")


def test_rows_that_are_no_picture():
    assert charts.chart({"title": "t"}, [_row(None)]) is None
    assert charts.chart({"title": "t"}, [_row(None), _row(None, unit="Mpps")]) is None  # on one axis they would say nothing
    assert charts.chart({"title": "t"}, [_row(1, emery=None), _row(2, emery=None)]) is None


def test_decades_are_logarithmic():
    found = charts.chart({"title": "t"}, [_row(64, emery=1e3), _row(9018, emery=2e6)])
    assert found.log_x and found.log_y
    found = charts.chart({"title": "t"}, [_row(64), _row(128)])
    assert not found.log_x and not found.log_y


def test_axes_begin_at_zero_or_say_that_they_do_not():
    far = charts.chart({"title": "t"}, [_row(1, emery=10.0), _row(2, emery=100.0)])
    assert far.heights[0] == 0 and "not from 0" not in far.y
    near = charts.chart({"title": "t"}, [_row(1, emery=97.0), _row(2, emery=100.0)])
    assert 90 < near.heights[0] < 97 and near.y == "Gb/s, axis not from 0"
    below = charts.chart({"title": "t"}, [_row(1, emery=-3.0), _row(2, emery=1.0)])
    assert below.heights[0] < -3 and below.heights[1] > 1


@pytest.mark.parametrize(
    ("low", "high", "log"), [(0, 105, False), (64, 9018, True), (0.2, 0.21, False), (1, 1e9, True), (3, 3, False)]
)
def test_ticks(low, high, log):
    places = charts.ticks(low, high, log)
    assert 1 <= len(places) <= 14 and all(low * 0.99 <= x <= high * 1.01 or x == 0 for x in places)
    assert len({charts.label(x) for x in places}) == len(places) and not any("e" in charts.label(x) for x in places)


def test_a_paper_can_use_it(tmp_path):
    rows = [_row(x, s, emery=x * 1.5, limit=x * 2.0) for x in (64, 1518, 9018) for s in ("one queue", "8 queues")]
    system = SimpleNamespace(name="s", figures={"f": {"plot": True, "title": "t", "x": "frame, bytes"}})
    for _ in range(2):
        paths = [Path(x) for x in pictures.pictures(system, rows, str(tmp_path), (".svg", ".pdf"))]
        assert [x.name for x in paths] == ["s-f.svg", "s-f.pdf"]
        kept = [x.read_bytes() for x in paths]
    assert [x.read_bytes() for x in paths] == kept  # the same rows are the same bytes
    drawn = kept[0].decode()
    for words in ("frame, bytes", "Gb/s", "one queue", "8 queues", "limit", "Emery", "5,000"):
        assert f">{words}</text>" in drawn, words
    assert kept[1].startswith(b"%PDF") and b"/FontFile2" in kept[1]  # letters are letters
    # The legend hides nothing: it stands beside the axes.
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
    axes = max(float(x) for x in re.findall(r"[ML] ([\d.]+) ", drawn[drawn.index('id="patch_2"') :][:400]))
    legend = min(float(x) for x in re.findall(r"[ML] ([\d.]+) ", drawn[drawn.index('id="legend_1"') :][:600]))
    assert axes < legend < width


def test_series_and_kinds_of_line_are_told_apart_in_so_many_entries():
    rows = [_row(x, s, emery=float(x), limit=x + n, paper_value=x - n) for x in (1, 2) for n, s in enumerate("abcdefghi", 1)]
    found = charts.chart({"title": "t"}, rows)
    assert len(found.lines) == 27 and len(pictures._legend(found)) == 9 + 3

# SPDX-License-Identifier: Apache-2.0
"""Figures of measured rows: what is drawn as what."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from emery import pictures
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
def test_what_is_drawn(rows, drawn, tmp_path, monkeypatch):
    seen = []
    for name in ("curves", "bars"):
        draw = getattr(pictures, f"_{name}")

        def record(axes, own, name=name, draw=draw):
            seen.append((name, len(own)))
            draw(axes, own)

        monkeypatch.setattr(pictures, f"_{name}", record)
    system = SimpleNamespace(name="s", figures={"f": {"plot": True, "title": "t"}})
    (path,) = pictures.pictures(system, rows, str(tmp_path))
    assert seen == [drawn]
    assert Path(path).read_bytes().startswith(b"\x89PNG")


def test_decades_are_logarithmic():
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    pictures._curves(axes, [_row(64, emery=1e3), _row(9018, emery=2e6)])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    _, axes = pyplot.subplots()
    pictures._curves(axes, [_row(64), _row(128)])
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")

# SPDX-License-Identifier: Apache-2.0
"""tile-router's routes change while frames flow: no frame goes by a route that is not in force, and the tables end up right."""

import random
from functools import partial

import conftest
import pytest
from routers import lost, random_routes, runner

from emery import system
from emery.common import ROOT
from emery.make import toolchain

COMMAND = ("tile-router", "--assertions")
PROGRAMS = ROOT / "systems" / "tile_router" / "programs"
refused = partial(conftest.refused, COMMAND)
boot = system.load("tile-router").module("boot")
V = {"version": "V"}
NESTED = "20.0.0.0/16 0\n20.0.0.0/18 1\n20.0.64.0/20 0\n20.0.64.0/24 1\n20.0.64.0/26 0\n20.0.0.64/26 1\n"


@pytest.fixture
def router(simulate):
    return runner(COMMAND, simulate)


def made(result):
    updates = result["resources"]["updates"]
    assert result["resources"]["counters"]["changes_done"] == sum(updates[x] for x in ("announced", "withdrawn", "refused"))
    assert updates["overtaken"] == 0
    return updates


@pytest.mark.parametrize(
    ("seed", "settings"),
    [
        (1, {"version": "I", "linecards": 3}),
        (2, {"version": "II", "linecards": 2}),
        (3, {"version": "III", "linecards": 3}),
        (4, {"version": "III.d", "linecards": 3}),
        (5, {"version": "IV", "linecards": 3}),
        (6, {"version": "IV", "linecards": 3, "held_over": "gdn", "turns": "fair"}),
        (7, {"version": "V", "counters_us": 20, "rewrite_mac": "true"}),
        (8, {"version": "V", "linecards": 1}),
        (9, {"version": "III", "columns": 6, "rows": 5}),  # a tile that passes payloads on
        *conftest.slow((10, {"version": "I", "columns": 6, "rows": 5})),
    ],
)
def test_routes_change_under_traffic(router, seed, settings):
    """As fast as frames are taken, of odd sizes; few flows, so that many frames are inside while their route changes."""
    words = ("--size", "64-701", "--frames", 500, "--flows", 6, "--seed", seed)
    updates = made(router(*words, updates_per_s=50_000, **settings))
    assert updates["announced"] + updates["withdrawn"] >= 5 and updates["withdrawn"] >= 1
    assert updates["frames_old"] + updates["frames_new"] > 20 and updates["us_max"] < 60


@pytest.mark.parametrize("seed", [1, *conftest.slow(2, 3)])
def test_prefixes_of_every_length(router, tmp_path, seed):
    """Overlapping ones: what is longer keeps its result, what is withdrawn falls back to the one around it."""
    text, _ = random_routes("0.0.0.0/1 1", [14, 17, 20, 23, 24, 25, 28, 30, 32], 2, random.Random(seed))
    (tmp_path / "routes.txt").write_text(text)
    words = (
        "--routes",
        tmp_path / "routes.txt",
        "--size",
        "64",
        "--frames",
        1500,
        "--rate",
        "0.1",
        "--flows",
        8,
        "--seed",
        seed,
    )
    result = router(*words, updates_per_s=30_000, **V)
    assert sum(made(result)[x] for x in ("announced", "withdrawn")) >= 3
    assert result["resources"]["counters"]["changes_lines"] > 3 and lost(result).keys() <= {"no_route"}


@pytest.mark.slow
def test_four_tables(router):
    """With pipelines from the north and from the south there is a table at each corner."""
    words = ("--size", "64-701", "--frames", 1500, "--flows", 6, "--seed", 11)
    updates = made(router(*words, updates_per_s=50_000, version="IV", columns=2, rows=8, linecards=3))
    assert updates["announced"] + updates["withdrawn"] >= 5 and updates["us_max"] < 250


def test_a_full_table(router):
    result = router("--routes", "bgp:200000:2", "--size", "64", "--frames", 4000, "--flows", 16, updates_per_s=20_000, **V)
    assert made(result)["announced"] >= 3 and result["resources"]["routes"] == 200_000


def test_idle_pipelines_hear_of_changes(router):
    """One that has no frame at the moment answers all the same: the next change does not wait for traffic."""
    updates = made(router("--size", "65", "--frames", 20, "--rate", "0.002", "--flows", 4, updates_per_s=30_000, **V))
    assert updates["announced"] + updates["withdrawn"] > 8 and updates["late"] == 0 and updates["us_max"] < 40


def test_changes_follow_from_the_seed(router):
    words = ("--size", "64-300", "--frames", 400, "--flows", 4)
    one, again, other = (router(*words, "--seed", x, updates_per_s=50_000, **V) for x in (3, 3, 4))
    assert made(one) == made(again) and one["digest"] == again["digest"] != other["digest"]


def test_no_block_left(router, tmp_path):
    """Every block is in use: a prefix of more than 24 bits in another network is refused, and the run goes on without it."""
    nets = [f"{10 + (n >> 14)}.{n >> 8 & 63}.{n & 255}.0/25 0" for n in range(32768)]
    (tmp_path / "routes.txt").write_text("\n".join([*nets, *(f"20.0.{n}.0/24 1" for n in range(8)), ""]))
    words = ("--routes", tmp_path / "routes.txt", "--size", "64", "--frames", 4000, "--rate", "0.2", "--flows", 8)
    updates = made(router(*words, updates_per_s=50_000, **V))
    assert updates["announced"] > 0 and updates["refused"] > 0


@pytest.mark.skipif(not toolchain.cross_compiler(), reason="no cross compiler")
@pytest.mark.parametrize(
    ("file", "before", "after"),
    conftest.slow_but(
        lambda x: x[0] == "lookup.h",
        [
            ("lookup.h", "lines--, line += LineBytes) leave_cache(line);", "lines--, line += LineBytes) (void)line;"),
            ("changes.c", "  for (word t = 1; t < Tables && t < settings.tables; t++) leave_cache(table_at(t) + line);", ""),
            ("changes.c", "length <= c->length : length == c->length", "1 : length == c->length"),
        ],
    ),
    ids=["caches keep their lines", "the other table", "longer prefixes"],
)
def test_the_judge_notices(simulate, tmp_path, file, before, after):
    """A program that does it wrong fails the run: by a frame, or by what is in the tables at the end."""
    folder = tmp_path / "wrong"
    folder.mkdir()
    text = (PROGRAMS / file).read_text()
    assert before in text
    (folder / file).write_text(text.replace(before, after))
    (folder / "emery.toml").write_text(f'kind = "tile"\nsystem = "tile-router"\nreplaces = ["{file}"]\n')
    (tmp_path / "routes.txt").write_text(NESTED)
    words = ("--routes", tmp_path / "routes.txt", "--size", "64", "--frames", 2000, "--rate", "0.2", "--flows", 6)
    settings = {"assertions": False, "updates_per_s": 50_000, **V}
    simulate(*COMMAND, *words, **settings)
    simulate(*COMMAND, *words, "--with", folder, status=1, **settings)


def test_without_changes_the_image_has_nothing_of_them():
    for version, linecards in (("III", 3), ("V", 2)):
        plain, changing = (boot.router(version, linecards, changes=x) for x in (False, True))
        assert "changes" not in plain.text() and {x.program for x in plain.tiles.values()} & {"lookup_changes"} == set()
        assert {x.role for x in changing.tiles.values()} - {x.role for x in plain.tiles.values()} == {"changes"}


def test_what_does_not_go_together(capsys, tmp_path):
    for settings, says in (
        ("version=III", "no tile is left"),
        ("version=IV linecards=4", "no tile is left"),
        ("version=null linecards=2", "no tables"),
        ("version=V own_addresses=true", "own_addresses"),
        ("version=V timed=true", "take the time"),
        ("version=V bad_ip_every=9", "malformed"),
        ("version=III linecards=3 full_queue=discard", "full_queue"),
    ):
        words = [y for x in ["updates_per_s=10", *settings.split()] for y in ("--set", x)]
        assert says in refused(capsys, "--frames", "10", *words)
    command = ("--frames", "10", "--set", "version=V", "--set", "updates_per_s=10")
    (tmp_path / "routes.txt").write_text("0.0.0.0/1 1\n128.0.0.0/2 0\n")
    assert "less than 8 bits" in refused(capsys, *command, "--routes", tmp_path / "routes.txt")

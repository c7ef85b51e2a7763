# SPDX-License-Identifier: Apache-2.0
"""Boot images of tile-router: layouts, programs, what is shipped."""

import re

import pytest

from emery import system
from emery.common import UserError
from emery.make import formats, programs

boot = system.load("tile-router").module("boot")
CORE, TILE = formats.load("core_pkg"), formats.load("tile_pkg", boot.PROGRAMS)


GRIDS = [(columns, rows) for columns in range(2, 9) for rows in range(2, 9)]


def made(version, columns, rows, **more):
    """The router of that version on that grid, None where it does not go."""
    try:
        return boot.router(version, columns=columns, rows=rows, **more)
    except UserError:
        return None


def test_grids():
    """How many pipelines each grid has; what a version does not go on."""
    found = {x: {grid: made(x, *grid) for grid in GRIDS} for x in ("I", "III", "IV", "V")}
    cards = {x: {grid: len(router.linecards) for grid, router in of.items() if router} for x, of in found.items()}
    assert cards["I"] == {(columns, rows): rows for columns, rows in GRIDS if columns >= 4}
    rows_of = {2: 4, 3: 4, 4: 4, 5: 5, 6: 5, 7: 6, 8: 6}  # that the packet buffers of so many columns need
    assert cards["III"] == {(x, y): x for x, y in GRIDS if y >= rows_of[x]}
    assert cards["V"] == {grid: x // 2 for grid, x in cards["III"].items()}
    bands = {2: (0, 1), 3: (0, 1), 4: (1, 0), 5: (1, 0), 6: (1, 1), 7: (1, 1), 8: (2, 0)}  # of four rows, of two
    assert cards["IV"] == {(x, y): x * bands[y][0] + x // 2 * bands[y][1] for x, y in GRIDS}
    assert cards["IV"][8, 8] == 16 and cards["IV"][2, 2] == 1


@pytest.mark.parametrize("version", ["I", "III", "IV", "V"])
def test_where_a_tile_is_left_for_control(version):
    """Routes change wherever a core has no work; a control tile answers where a column has no pipeline (V: any grid)."""
    limits, left = {"leave_clocks": 1, "error_clocks": 1, "error_burst": 1}, set()
    for grid in GRIDS:
        for linecards in range(1, 17):
            if not (plain := made(version, *grid, linecards=linecards)):
                continue
            working = {x for x, tile in plain.tiles.items() if tile.program or tile.role == "checksum"}
            changing = made(version, *grid, linecards=linecards, changes=True)
            assert (changing is None) == (len(working) == grid[0] * grid[1])
            left.add(changing is not None)
            if changing:
                assert changing.changes not in working and changing.slots == plain.slots
                tables = sum(x.startswith("table") for x in changing.memories.values())
                assert len(set(changing.regions[changing.changes].values())) == tables
            if version in ("III", "V"):
                answers = made(version, *grid, linecards=linecards, limits=limits)
                goes = linecards <= 2 if version == "V" else linecards <= min(4, grid[0] - 1)
                assert (answers is not None) == goes
                if answers:
                    (place,) = (x for x, tile in answers.tiles.items() if tile.role == "control")
                    assert place not in working and len(answers.slots) == len(plain.slots) + 1
    assert left == ({True} if version == "V" else {True, False})


@pytest.mark.parametrize("version", ["II", "III", "V"])
def test_payloads_reach_their_buffers(version):
    """From each third stage by the static network, over links that no other pipeline uses, in every grid."""
    steps = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
    for columns, rows in GRIDS:
        if not (router := made(version, columns, rows)):
            continue
        used, ends = set(), []
        for number, tile in router.tiles.items():
            if tile.role not in ("forward", "checksum"):
                continue
            leads = re.findall(r"route c\wi->c([NESW])o$", tile.tokens.get("last", ""), re.M)
            if tile.role == "checksum" and tile.tokens["payload"] != tile.tokens["out"]:
                leads = [tile.tokens["payload"]]
            x, y = number % columns, number // columns
            for side in leads:
                while True:
                    assert (x, y, side) not in used
                    used.add((x, y, side))
                    x, y = x + steps[side][0], y + steps[side][1]
                    if not (0 <= x < columns and 0 <= y < rows):
                        break
                    onward = router.tiles[y * columns + x]
                    assert onward.switch == "pass" and steps[onward.tokens["in"]] == tuple(-d for d in steps[side])
                    side = onward.tokens["out"]
                ends.append((x, y))
        assert len(set(ends)) == len(ends) == columns - (version == "V" and columns % 2)
        assert {x for x, _ in ends} == {-1, columns} and set(router.memories.values()) == {"table", "payload"}


def test_numbers_of_pipelines_and_outputs():
    """Numbers of third stages and outputs are told apart in each grid, and what number_of in tile.h makes of a place."""
    for columns, rows in GRIDS:
        router = boot.router("IV", columns=columns, rows=rows)
        numbers = [x.config["own_number"] for x in router.tiles.values() if x.role == "output"]
        assert len(set(numbers)) == len(numbers) and max(numbers) < 16
        wide = {x.program for x in router.tiles.values() if x.program.endswith("_wide")}
        assert wide == ({"forward_deep_wide", "output_wide"} if rows >= 6 else set())
        for t, tile in router.tiles.items():
            x, y = t % columns, t // columns
            if tile.role == "output":
                assert tile.config["own_number"] == (x & 7 | (y << 4 | x) >> 3 & 8 if wide else x)
            assert tile.deep == (tile.role == "forward" and len(router.linecards) > 4)


def test_turns_by_weight():
    """Where third stages' heads turn to an output: one of its own, and those of all columns beyond each side."""
    turns = boot.router("IV", turns="weighted").turns
    assert turns[8] == 1 | 3 << 8 and turns[9] == 1 | 2 << 8 | 1 << 16 and turns[11] == 1 | 3 << 16
    assert turns[12] == 4 << 4 and set(turns) == set(range(8, 16))
    assert boot.router("IV").turns == {}


@pytest.mark.parametrize("version", boot.VERSIONS)
@pytest.mark.parametrize(("columns", "rows"), [(2, 4), (4, 4), (8, 7), (8, 8), (5, 6)])
def test_image(version, columns, rows):
    """Every tile that has work gets a program, every slot one kind; the last write starts everything."""
    if not (router := made(version, columns, rows)):
        assert version == "I" and columns < 4
        return
    pipelines = len(router.linecards) * (2 if version == "V" else 1)
    text = router.text()
    writes = [tuple(int(x, 16) for x in line.split()[1:]) for line in text.splitlines() if line.startswith("write")]
    assert writes[-1] == (255 << 18, 3)
    assert len({address for address, _ in writes}) == len(writes)
    roles = [tile.role for tile in router.tiles.values()]
    assert [roles.count(x) for x in ("lookup", "checksum", "forward")] == [pipelines] * 3
    assert roles.count("output") == (0 if version == "V" else len(router.linecards))
    cards = [slot for pair in router.linecards for slot in pair]
    assert not set(cards) & set(router.memories)
    assert set(router.slots) == set(cards) | set(router.memories)
    unit = {address >> 18 for address, _ in writes}
    assert unit == set(router.tiles) | {128 + slot for slot in router.slots} | {255}


def test_programs():
    """Every program begins at 0 and fits the instruction memory of a tile."""
    for variant in programs.variants(boot.PROGRAMS):
        elf = boot.PROGRAMS / "prebuilt" / f"{variant}.elf"
        words = programs.words(elf)
        assert list(words) == [0]
        assert len(words[0]) * 4 < 32768
        in_ram = {x.name: x.address - CORE.ScratchBase for x in programs.symbols(elf) if x.address >= CORE.ScratchBase}
        assert in_ram.pop("config") == 0 and in_ram.pop("counters") == boot.counters_at(variant) == boot.counters_at()
        assert min(in_ram.values()) >= boot.WRITTEN


def test_structs():
    """What the image writes has room before the counters."""
    config = boot.fields(TILE.config_t)
    assert config["to_next"] == (0, 1)
    offset, words = config["port"]
    assert offset + 4 * words <= boot.counters_at() <= boot.WRITTEN - TILE.counters_t.bits // 8
    assert boot.fields(TILE.counters_t)["drops"] == (16, 16)
    assert max(boot.reasons().values()) < 16


def test_switches_follow_the_stages():
    """Each switch takes the words of a frame in the order and number they come: length, head of 16."""
    for router in (
        boot.router("III"),
        boot.router("II"),
        boot.router("I"),
        boot.router("V"),
    ):
        for tile in router.tiles.values():
            if tile.switch not in ("stage1", "stage2", "stage3"):
                continue
            program = boot.switch(tile.switch, tile.tokens)
            comes = tile.tokens["in"]
            lines = [program.where(i) for i in range(len(program.instructions))]
            head = [x for x in lines if f"c{comes}i" in x and "bnezd" not in x]
            assert len(head) == 17 + bool(tile.tokens.get("address")), lines
            if tile.switch == "stage3":
                assert sum("cXi2->csti2" in x for x in lines) == 17


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("VI",), "no version 'VI'"),
        (("III", 5), "5 linecards"),
        (("V", 4), "up to 2 linecards, not 4"),
        (("III", 0, 8, 4), "version III on 8 x 4 tiles: packet buffers of 8 columns need 6 rows, not 4"),
        (("I", 0, 3, 4), "version I on 3 x 4 tiles: version I needs four columns"),
        (("IV", 17, 8, 8), "17 linecards: there are 16 pipelines"),
    ],
)
def test_refused(arguments, message):
    """What does not fit is said."""
    with pytest.raises(UserError, match=re.escape(message)):
        boot.router(*arguments)

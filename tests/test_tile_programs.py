# SPDX-License-Identifier: Apache-2.0
"""Boot images of tile-router: layouts, programs, what is shipped."""

import re

import pytest

from emery import system
from emery.common import UserError
from emery.make import formats, programs

boot = system.load("tile-router").module("boot")
CORE, TILE = formats.load("core_pkg"), formats.load("tile_pkg", boot.PROGRAMS)


@pytest.mark.parametrize("version", boot.VERSIONS)
@pytest.mark.parametrize("pipelines", [2, 4])
def test_image(version, pipelines):
    """Every tile that has work gets a program, every slot one kind; the last write starts everything."""
    router = boot.router(version, pipelines=pipelines)
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
        (("III", 0, 8), "2 or 4 pipelines"),
    ],
)
def test_refused(arguments, message):
    """What does not fit is said."""
    with pytest.raises(UserError, match=re.escape(message)):
        boot.router(*arguments)

# SPDX-License-Identifier: Apache-2.0
"""The soak command, and the soak of a hundred thousand frames that belongs to the suite."""

import random
from dataclasses import replace

import pytest
from conftest import slow

from emery import system
from emery.check import soak
from emery.cli import main
from emery.common import UserError
from emery.workload import workload


@pytest.mark.parametrize("frames", ["2e4", *slow("1e5")])
def test_many_frames(capsys, frames):
    assert main(["soak", "host-nic", "--frames", frames, "--seed", "5"]) == 0
    said = capsys.readouterr()
    assert "all accounted for" in said.out and said.err.count("frames: ./emery run host-nic") >= 2


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("core-nic", "4e3"),
        ("direct-router", "2e3"),
        ("tile-router", "1e3"),
        ("pcie-bench", "5e3"),
        *slow(("core-nic", "1e4"), ("direct-router", "4e3")),
    ],
)
def test_the_others(name, frames, capsys):
    """Fewer: a frame of theirs costs more."""
    assert main(["soak", name, "--frames", frames, "--seed", "2"]) == 0
    assert "all accounted for" in capsys.readouterr().out


def test_what_is_set_is_not_drawn():
    target, said = system.load("pcie-bench"), []
    soak.soak(target, 100, 1, False, said.append, ["mps=128", "window_kb=1024"])
    assert said and all("--set mps=128" in x and "--set window_kb=1024" in x and x.count("mps=") == 1 for x in said)


def test_a_system_of_ones_own():
    """What its results are held against is its own schema: no list has its name."""
    done = soak.soak(replace(system.load("pcie-bench"), name="mine"), 100, 1, False, print)
    assert done.runs >= 1 and done.offered >= 100


def test_a_system_that_says_nothing_of_it():
    with pytest.raises(UserError, match=r"no \[soak\] table"):
        soak.soak(replace(system.load("capture"), soak={}), 10, 1, False, print)


def test_kinds_with_something_in_common():
    """A table of several kinds has no share of its own: each kind has what it says, and what the table says of all of them."""
    kinds = [{"share": 0.5, "draw": {"c": [2]}}, {"share": 0.3, "frames": 3, "set": {"d": True}}]
    common = {"frames": 5, "draw": {"b": [1]}, "options": {"size": ["64"]}, "also": kinds}
    table, source = {"frames": 9, "draw": {"a": [0]}, "also": [common]}, random.Random(1)
    drawn = [soak.draw(source, table, 1000) for _ in range(4000)]
    runs = [(settings, options["frames"], options.get("size")) for settings, options in drawn]
    wanted = [(["b=1", "c=2"], "5", "64"), (["d=true", "b=1"], "3", "64"), (["a=0"], "9", None)]
    assert [round(runs.count(x) / 4000, 1) for x in wanted] == [0.5, 0.3, 0.2] and sum(map(runs.count, wanted)) == 4000


@pytest.mark.parametrize("name", system.names())
def test_what_is_drawn_follows_from_the_seed_and_is_legal(name):
    target = system.load(name)
    drawn = [[soak.draw(source, target.soak, 1000) for _ in range(20)] for source in map(random.Random, (1, 1, 2))]
    assert drawn[0] == drawn[1] != drawn[2]
    refused = 0
    for settings, options in drawn[0]:
        for setting in settings:
            target.parameters[setting.partition("=")[0]].parse(setting.partition("=")[2])  # refuses what is out of range
        try:
            work = workload(target, options)
            work.judge(target, target.values(target.effective(settings, work.facts())))  # as they are run
        except UserError:  # some contradict each other
            refused += 1
        assert int(options["frames"]) <= 1000
    assert refused < 10


@pytest.mark.parametrize(
    "words",
    [
        ["no-nic"],
        ["host-nic", "--frames", "many"],
        ["host-nic", "--seed", ""],
        ["host-nic", "--frames", "-5"],
        ["host-nic", "--set", "mps=1"],
    ],
)
def test_bad_words(capsys, words):
    assert main(["soak", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: ")


def test_a_run_that_fails_ends_it_with_the_command_that_shows_it(fake, capsys):
    fake(None, status=1, last="integrity: 3 tags not back")
    assert main(["soak", "host-nic", "--frames", "1000"]) == 1
    *_, line = capsys.readouterr().err.splitlines()
    assert "3 tags not back: ./emery run host-nic --" in line

# SPDX-License-Identifier: Apache-2.0
"""The soak command, and the soak of a hundred thousand frames that belongs to the suite."""

import random

import pytest

from emery import system
from emery.check import soak
from emery.cli import main


def test_a_hundred_thousand_frames(capsys):
    assert main(["soak", "host-nic", "--frames", "1e5", "--seed", "5"]) == 0
    said = capsys.readouterr()
    assert "all accounted for" in said.out and said.err.count("frames: ./emery run host-nic") >= 2


def test_what_is_drawn_follows_from_the_seed_and_is_legal():
    target = system.load("host-nic")
    drawn = [[soak.draw(source, target.soak, 1000) for _ in range(20)] for source in map(random.Random, (1, 1, 2))]
    assert drawn[0] == drawn[1] != drawn[2]
    for settings, options in drawn[0]:
        target.values(settings)  # refuses what is out of range
        assert options["frames"] == "1000"


@pytest.mark.parametrize(
    "words", [["pcie-bench"], ["host-nic", "--frames", "many"], ["host-nic", "--seed", ""], ["host-nic", "--frames", "-5"]]
)
def test_bad_words(capsys, words):
    assert main(["soak", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("emery: ")


def test_a_run_that_fails_ends_it_with_the_command_that_shows_it(fake, capsys):
    fake(None, status=1, last="integrity: 3 tags not back")
    assert main(["soak", "host-nic", "--frames", "1000"]) == 1
    *_, line = capsys.readouterr().err.splitlines()
    assert "3 tags not back: ./emery run host-nic --size" in line

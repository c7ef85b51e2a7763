# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/extend: their commands, word for word in a shell, and what comes out of them."""

import os
import re
import subprocess

import pytest
from conftest import slow_but

from emery.common import ROOT
from emery.extension import KINDS
from emery.make import toolchain

PAGES = sorted((ROOT / "docs" / "extend").glob("*.md"))
COMPILED = ("firmware", "tile")
LONG = ("scheduler", "firmware", "hook")
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


def commands(page):
    """(command, lines that it is said to give) of the blocks that begin with `$ `."""
    found = []
    for block in re.findall(r"^```\n(\$ .*?)^```", page.read_text(), re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def like(told, line):
    """Whether a line is as the page has it: `...` is anything, numbers agree within 10 %, seconds are what they are."""
    told, line = (re.sub(r"\s+", " ", re.sub(r"\(\d+ s\)", "(s)", x)) for x in (told, line))
    parts = re.split(rf"(\.\.\.|{_NUMBER})", told)
    pattern = "".join(".*" if x == "..." else f"({_NUMBER})" if re.fullmatch(_NUMBER, x) else re.escape(x) for x in parts)
    match = re.fullmatch(pattern, line)
    if not match:
        return False
    numbers = zip([x for x in parts if re.fullmatch(_NUMBER, x)], match.groups(), strict=True)
    return all(abs(value(a) - value(b)) <= 0.1 * value(a) for a, b in numbers)


def value(text):
    return float(text.replace(",", ""))


def agrees(told, lines):
    """Whether lines came out as told; `...` alone stands for any lines."""
    if not told:
        return not lines
    if told[0] == "...":
        return any(agrees(told[1:], lines[i:]) for i in range(len(lines) + 1))
    return bool(lines) and like(told[0], lines[0]) and agrees(told[1:], lines[1:])


def test_there_is_a_page_for_each_kind():
    index = (ROOT / "docs" / "extend.md").read_text()
    assert {x.stem for x in PAGES} == set(KINDS)
    assert all(f"extend/{x.name}" in index and commands(x) for x in PAGES)


@pytest.mark.parametrize("page", slow_but(lambda x: x.stem not in LONG, PAGES), ids=[x.stem for x in PAGES])
def test_page(page, tmp_path):
    if page.stem in COMPILED and not toolchain.cross_compiler():
        pytest.skip("no cross compiler")
    (tmp_path / "emery").symlink_to(ROOT / "emery")
    before = subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain"], capture_output=True, text=True).stdout
    for command, told in commands(page):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
        assert done.returncode == 0 and agrees(told, done.stdout.splitlines()), f"{command}\n{done.stdout}{done.stderr}"
    after = subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain"], capture_output=True, text=True).stdout
    assert after == before, "the checkout was edited"


def test_what_a_page_says_can_be_wrong():
    assert agrees(["a 100", "...", "z"], ["a 95", "b", "z"]) and not agrees(["a 100"], ["a 80"]) and not agrees(["a"], ["b"])
    assert agrees(["ok (3 s)"], ["ok (99 s)"]) and not agrees(["ok (3 s)"], ["no (3 s)"]) and not agrees(["a"], ["a", "b"])
    assert agrees(["rx 1,000 ..."], ["rx 1,040 7 -"]) and not agrees(["rx 1,000 ..."], ["rx 7 -"])

# SPDX-License-Identifier: Apache-2.0
"""Changes of routes that a file says (`--updates`), in both routers: all are made, in order; frames are judged by them."""

import gzip
import random

import pytest
from conftest import refused
from routers import runner

from emery.make import build

SYSTEMS = {"direct-router": {"cards": 2, "lpm_nodes": 4096}, "tile-router": {"version": "V"}}
ROUTES = "10.0.0.0/16 0\n10.1.0.0/16 1\n0.0.0.0/0 1\n"


@pytest.fixture(params=SYSTEMS)
def router(request, simulate, tmp_path):
    """Runs a router with these routes, and changes from a file, 20,000 a second; gives its result."""
    (tmp_path / "routes.txt").write_text(ROUTES)
    run = runner((request.param, "--assertions"), simulate)

    def with_changes(path, *words, **settings):
        files = ("--routes", tmp_path / "routes.txt", "--updates", path)
        return run(*files, "--size", "64", *words, **{"updates_per_s": 20_000, **SYSTEMS[request.param], **settings})

    return with_changes


def changes(seed, count):
    """Lines about prefixes within those of the traffic, and how many of either kind there are."""
    draw, there, lines = random.Random(seed), set(), []
    for _ in range(count):
        if there and draw.randrange(3) == 0:
            prefix = draw.choice(sorted(there))
            there.remove(prefix)
            lines.append(f"withdraw {prefix}")
            continue
        length = draw.choice((16, 16, 17, 18, 30))
        bits = (10 << 24 | draw.randrange(2) << 16 | draw.randrange(1 << 16)) >> 32 - length << 32 - length
        prefix = f"{'.'.join(map(str, bits.to_bytes(4)))}/{length}"
        there.add(prefix)
        lines.append(f"announce {prefix} {draw.randrange(2)}")
    withdrawn = sum(x.startswith("withdraw") for x in lines)
    return "\n".join(lines), count - withdrawn, withdrawn


@pytest.mark.parametrize("seed", [1, 2])
def test_all_are_made(router, tmp_path, seed):
    text, announced, withdrawn = changes(seed, 5)
    (tmp_path / "u.txt.gz").write_bytes(gzip.compress(text.encode()))
    result = router(tmp_path / "u.txt.gz", "--duration", "300us", "--rate", "0.3", "--seed", seed, updates_per_s=50_000)
    updates = result["resources"]["updates"]
    assert (updates["announced"], updates["withdrawn"], updates["left"]) == (announced, withdrawn, 0)
    assert updates["frames_old"] + updates["frames_new"] > 0


def test_what_is_withdrawn_has_no_route(router, tmp_path):
    """Until it is back."""
    (tmp_path / "routes.txt").write_text(ROUTES.replace("0.0.0.0/0 1\n", ""))
    (tmp_path / "u.txt").write_text("withdraw 10.1.0.0/16 # away\n\nannounce 10.1.0.0/16 1\n")
    made = router(tmp_path / "u.txt", "--frames", 3000, "--rate", "0.7", updates_per_s=5000)
    lost = sum(x["dropped"].get("no_route", 0) for x in made["streams"].values())
    assert 50 < lost < 3000 and made["resources"]["updates"]["left"] == 0


def test_those_that_are_not_reached_are_told(router, tmp_path):
    text, _, _ = changes(3, 500)
    (tmp_path / "u.txt").write_text(text)
    updates = router(tmp_path / "u.txt", "--frames", 300, "--rate", "0.7")["resources"]["updates"]
    assert 0 < updates["left"] == 500 - updates["announced"] - updates["withdrawn"]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("direct-router", "announce 10.0.0.0/24 2", ":1: port 2: there are 2, from 0"),
        ("direct-router", "withdraw 10.0.0.0/24", ":1: 10.0.0.0/24 has no route then"),
        ("direct-router", "# none\n", ": no changes"),
        ("tile-router", "announce 10.0.0.0/24 1\n0.0.0.0/0 1", ":2: not a line like"),
        ("tile-router", "withdraw 0.0.0.0/0", ":1: 0.0.0.0/0: routes of less than 8 bits do not change here"),
    ],
)
def test_what_is_wrong_is_said_before_a_build(name, text, why, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(build, "build_system", lambda *_, **__: pytest.fail("built"))
    (tmp_path / "routes.txt").write_text(ROUTES)
    (tmp_path / "u.txt").write_text(text)
    told = [word for key, value in SYSTEMS[name].items() for word in ("--set", f"{key}={value}")]
    words = ("--routes", tmp_path / "routes.txt", "--updates", tmp_path / "u.txt", *told, "--set", "updates_per_s=9")
    assert f"u.txt{why}" in refused((name, "--assertions"), capsys, *words, "--frames", "9")

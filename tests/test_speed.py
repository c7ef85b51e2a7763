# SPDX-License-Identifier: Apache-2.0
"""`./emery speed`: clocks for each second of processor time, of this checkout and of another in turn."""

import json
import subprocess

import pytest

from emery import system
from emery.check import speed
from emery.cli import main
from emery.common import UserError
from emery.make import build, tuned
from emery.terminal import Progress
from emery.workload import from_table


@pytest.fixture
def checkout(tmp_path):
    """Another checkout: runs of 1,000 clocks a frame, which take the processor 300 ms (some for its start) and 2 ms a frame."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "emery").write_text(
        "import json, sys, time\n"
        "words = sys.argv[1:]\n"
        "print(words, file=open(__file__ + '.words', 'a'))\n"
        "if 'nonsense=1' in words: sys.exit('emery: no parameter nonsense')\n"
        "frames = int(words[words.index('--frames') + 1])\n"
        "while time.process_time() < 0.3 + 0.002 * frames: pass\n"
        "json.dump({'cycles': {'core': 5000 + 1000 * frames}}, open(words[words.index('--json') + 1], 'w'))\n"
    )
    return folder


def test_what_a_clock_costs(checkout, monkeypatch):
    """Neither what a run costs however long it is, nor its clocks without frames, count."""
    monkeypatch.setattr(speed, "ROOT", checkout)
    target = system.load("pcie-bench")
    monkeypatch.setitem(target.speed, "run", {"size": "64", "frames": 100, "set": {"jitter": True}})
    found = speed.measure(target, ["tags=32"], 1, checkout, [], lambda line: None)
    assert len(found.here) == len(found.there) == 1
    assert all(400 < x < 600 for x in found.here + found.there), found  # 500; with all that a run costs it is 210
    assert all(0.7 < x < 1.45 for x in found.ratios)
    ran = (checkout / "emery.words").read_text()
    assert ran.count("'tags=32'") == 3 and ran.count("'jitter=True'") == 6 and ran.count("'10'") == 4
    assert found.as_json()["command"] == "./emery run pcie-bench --size 64 --set jitter=True --set tags=32 --frames 100"
    table = speed.text([found]).splitlines()
    assert table[0].split()[:2] == ["system", "kilocycles/s"] and table[2].split()[0] == "pcie-bench"


def test_a_real_one(tmp_path, capsys):
    out = tmp_path / "speed.json"
    assert main(["speed", "pcie-bench", "--times", "1", "--json", str(out)]) == 0, capsys.readouterr().err
    (found,) = json.loads(out.read_text())["speeds"]
    assert found["kilocycles_per_s"]["median"] > 1 and "cost_ratio" not in found


_MAIN = """\
#include <cstdio>
int odd(int n);
int main() {
  int sum = 0;
  for (int n = 0; n < 100000; ++n) sum += odd(n);
  std::printf("%d", sum);
}
"""


@pytest.fixture
def simulator(tmp_path, monkeypatch):
    """A program of two files in a cache of its own, and what it is made of."""
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EMERY_TUNED", raising=False)
    (tmp_path / "main.cpp").write_text(_MAIN)
    (tmp_path / "odd.cpp").write_text("int odd(int n) { return n % 3 == 0 ? n & 1 : -1; }\n")
    units = [build.Unit(tmp_path / name, ("-O2", "-Wall")) for name in ("main.cpp", "odd.cpp")]
    return build.link(build.compile_all(units), [], "tiny-sim"), units


def test_a_tuned_simulator_takes_the_place_of_its_own(simulator, monkeypatch):
    """It is compiled by what was counted, which its compiler looks for and misses otherwise, and does the same."""
    program, units = simulator
    assert tuned.best(program) == program
    ran = []

    def run(counting):
        ran.append(counting)
        assert subprocess.run([counting], capture_output=True, check=True).stdout == b"-49999"

    found = tuned.tune(program, units, [], run, Progress("tuning"))
    assert tuned.best(program) == found != program and len(ran) == 1 and not ran[0].exists()
    assert subprocess.run([found], capture_output=True, check=True).stdout == b"-49999"
    assert tuned.tune(program, units, [], run, Progress("tuning")) == found and len(ran) == 1
    monkeypatch.setenv("EMERY_TUNED", "0")
    assert tuned.best(program) == program


def test_a_simulator_that_counted_nothing_is_not_tuned(simulator):
    program, units = simulator
    with pytest.raises(UserError, match="missing-profile|profile count data file not found"):
        tuned.tune(program, units, [], lambda counting: None, Progress("tuning"))
    assert tuned.best(program) == program


def test_tuning_is_for_gcc(simulator, monkeypatch):
    monkeypatch.setattr(tuned.toolchain, "cxx_version", lambda: "Debian clang version 14.0.6")
    with pytest.raises(UserError, match="is clang; it is done with g"):
        tuned.tune(*simulator, [], None, Progress("tuning"))


def test_every_system_says_what_runs():
    for name in system.names():
        target = system.load(name)
        settings, options = from_table(target.speed["run"])
        assert target.values(settings) and int(options["frames"]) >= speed.SHORTER, name


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--there", "tags=1"], "--there is for the checkout that --against names"),
        (["--against", "/nowhere"], "--against /nowhere: no checkout of Emery"),
        (["--set", "tags=1"], "name the system whose parameters are set"),
        (["pcie-bench", "--set", "nonsense=1"], "pcie-bench has no parameter nonsense"),
        (["pcie-bench", "--times", "0"], "0 is not a number from 1 to 1000"),
        (["sixth"], "sixth"),
    ],
)
def test_refused(capsys, words, says):
    assert main(["speed", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and says in captured.err and not captured.out


def test_what_the_other_checkout_refuses(checkout, capsys, monkeypatch):
    monkeypatch.setattr(speed, "ROOT", checkout)
    monkeypatch.setattr(speed, "SHORTER", 10**6)
    assert main(["speed", "pcie-bench", "--against", str(checkout), "--there", "nonsense=1"]) == 2
    assert capsys.readouterr().err == f"emery: {checkout}: no parameter nonsense\n"

# SPDX-License-Identifier: Apache-2.0
"""What helps at the command line: pages of a system, the doctor, completion in a real shell."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from emery import doctor, report, system
from emery.cli import main
from emery.common import ROOT
from emery.make import toolchain


def shown(capsys, *words):
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("page", report.PAGES)
def test_pages_are_parts_of_the_whole(capsys, page):
    whole, one = shown(capsys, "show", "host-nic"), shown(capsys, "show", "host-nic", page)
    assert one.strip() in whole and len(one) < len(whole)
    assert not any(x in one for x in ("FCCM", *(f"\n{y[:-1]} " for y in report.PAGES if y != page)))


@pytest.mark.parametrize("name", system.names())
def test_pages_as_json(capsys, name):
    target = system.load(name)
    told = json.loads(shown(capsys, "show", name, "--json"))
    assert {x["name"]: x["default"] for x in told["parameters"]} == target.values() | {
        x.name: x.default for x in target.parameters.values()
    }
    assert [x["id"] for x in told["targets"]] == [x.id for x in target.targets] and told["ports"] == target.ports
    one = json.loads(shown(capsys, "show", name, "targets", "--json"))
    assert one["targets"] == told["targets"] and "parameters" not in one


def test_no_such_page(capsys):
    assert main(["show", "host-nic", "target"]) == 2
    assert "invalid choice: 'target'" in capsys.readouterr().err


# ---------------------------------------------------------------- doctor


@pytest.fixture
def fresh():
    kept = (toolchain.cxx, toolchain.cxx_version, toolchain.fst_libraries)
    for x in kept:
        x.cache_clear()
    yield
    for x in kept:
        x.cache_clear()


def test_a_machine_that_is_well(capsys, fresh, monkeypatch):
    monkeypatch.setenv("EMERY_SETS", "run test")
    told = {x["what"]: x for x in json.loads(shown(capsys, "doctor", "--json"))}
    assert all(x["found"] for x in told.values() if x["required"])
    assert told["packages of run.txt"]["found"] and not told["packages of firmware.txt"]["found"]
    assert told["packages of firmware.txt"]["mend"] == "./emery firmware"
    assert {f"packages of {x.name}" for x in (ROOT / "requirements").glob("*.txt")} <= told.keys()  # every list
    text = shown(capsys, "doctor")
    assert "MISSING" not in text and "./emery firmware" in text


def test_what_is_missing_has_a_command_that_mends_it(capsys, fresh, monkeypatch, tmp_path):
    (tmp_path / "cc").write_text("#!/bin/sh\necho cc 1.0\n[ $1 = --version ]\n")  # a compiler of another language
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "cc"))
    monkeypatch.setenv("EMERY_SETS", "")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 1))
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    for what, mend in (
        ("C++20", "apt install g++"),
        ("packages of run.txt", "./emery map"),
        ("room for models", "set EMERY_CACHE"),
        ("ccache", "apt install ccache"),
        ("git", "apt install git"),
    ):
        line = next(x for x in lines if what in x)
        assert mend in line and line.startswith("MISSING" if what[0] in "Cpr" else "missing"), line
    assert all(x.mend for x in doctor.findings())


def test_without_the_launcher_packages_are_looked_for(monkeypatch):
    monkeypatch.delenv("EMERY_SETS", raising=False)
    assert doctor._packages("run", "", "", True).found  # this very test runs with them
    found = doctor._packages("firmware", "", "./emery firmware")
    assert found.found or found.mend.startswith("pip install -r /")


def test_the_launcher_says_what_is_set_up():
    said = subprocess.run([sys.executable, str(ROOT / "emery"), "doctor", "--json"], capture_output=True, text=True).stdout
    assert next(x for x in json.loads(said) if x["what"] == "packages of run.txt")["there"]


# ---------------------------------------------------------------- completion


LINES = (
    ("line", "has", "not_"),
    [
        ("emery ", {"run", "search", "doctor"}, {"host-nic"}),
        ("emery sea", {"search"}, {"run"}),
        ("emery run host", {"host-nic"}, {"capture"}),
        ("emery run host-nic --pc", {"--pcap", "--pcap-out"}, {"--size"}),
        ("emery run host-nic --direction ", {"tx", "rx", "both"}, {"host-nic"}),
        ("emery run host-nic --set tx_q", {"tx_queues="}, {"rx_queues="}),
        ("emery sweep core-nic --over core", {"cores=", "core_mhz="}, {"tx_queues="}),
        ("emery show host-nic --", {"--json", "--schema"}, {"--set"}),
        ("emery map --", {"--readme"}, {"host-nic"}),
        ("emery report host", {"host-nic"}, {"capture"}),
        ("emery report host-nic --", {"--out", "--from"}, {"--set"}),
        ("emery reproduce host-nic --p", {"--plot", "--published", "--publish"}, {"--out"}),
        ("emery docs --", {"--out"}, {"host-nic"}),
        ("emery run host-nic --pcap ma", {"mark.pcap"}, {"map"}),
        ("emery new ", {"scheduler", "firmware", "tile", "block", "hook", "system"}, {"run"}),
        ("emery new block mine --f", {"--from"}, {"--frames"}),
        ("emery run host-nic --wi", {"--with"}, {"--size"}),
        ("emery test --wi", {"--with"}, {"--size"}),
    ],
)


@pytest.mark.parametrize(*LINES)
def test_completion(capsys, tmp_path, line, has, not_):
    (tmp_path / "emery.sh").write_text(shown(capsys, "completion", "bash"))
    (tmp_path / "mark.pcap").write_text("")
    words = line.split(" ")
    code = f"source ./emery.sh; COMP_WORDS=({' '.join(words[:-1])} '{words[-1]}'); COMP_CWORD={len(words) - 1}\n"
    code += "_emery; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = set(done.stdout.split())
    assert has <= found and not not_ & found


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
@pytest.mark.parametrize(*LINES)
def test_completion_of_fish(capsys, tmp_path, line, has, not_):
    (tmp_path / "emery.fish").write_text(shown(capsys, "completion", "fish"))
    (tmp_path / "mark.pcap").write_text("")
    code = f"source emery.fish; complete -C '{line}'"
    more = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(["fish", "--no-config", "-c", code], cwd=tmp_path, capture_output=True, text=True, env=more)
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = {x.partition("\t")[0] for x in done.stdout.splitlines()}
    assert has <= found and not not_ & found


def test_completion_of_other_shells(capsys):
    assert "bashcompinit" in shown(capsys, "completion", "zsh").splitlines()[0]
    assert "complete -c emery" in shown(capsys, "completion", "fish")
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice" in capsys.readouterr().err

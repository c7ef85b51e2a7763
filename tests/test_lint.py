# SPDX-License-Identifier: Apache-2.0
"""Style and lint of all sources, and `./emery test` itself. `./emery format` mends what the formatters find."""

import re
import subprocess
import sys

import pytest

from emery import system
from emery.check import testing
from emery.common import ROOT
from emery.make import build, formats

SUFFIXES = ("*.sv", "*.svh", "*.cpp", "*.hpp", "*.h", "*.c", "*.py", "*.rdl", "emery")


@pytest.mark.parametrize("tool", ["verible", "clang-format", "ruff"])
def test_format(tool):
    assert not (problems := testing.format_problems(tool)), problems


def test_a_formatter_that_does_not_converge_is_found(tmp_path):
    """verible aligns these ports one way, then the other, and ends with status 0."""
    path = tmp_path / "ports.sv"
    path.write_text("module m (\n    stream_if.snk       req,\n    output dma_status_t status_o\n);\nendmodule\n")
    assert "converge" in testing.verible(path)[1]


def test_ruff():
    files = map(str, testing.sources(("*.py", "emery")))
    done = subprocess.run(["ruff", "check", "--quiet", *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_verible_lint():
    files = map(str, testing.sources(("*.sv",)))
    command = ["verible-verilog-lint", f"--rules_config={ROOT / '.rules.verible_lint'}", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    # The linter's preprocessor knows no include path: what it says about macros of included files is not about style.
    lines = [x for x in done.stdout.splitlines() if "preprocessing error" not in x]
    assert not lines, "\n".join(lines)


# What no default and no variant has.
PARTS = {"direct-router": [{"bus": "pcie", "host_path": True}]}


@pytest.mark.parametrize("name", system.names())
def test_verilator_lint(name):
    target = system.load(name)
    for when in ({}, *(x["when"] for x in target.variants), *PARTS.get(name, ())):
        problems = testing.lint_rtl(build.system_rtl(target, target.values() | when))
        assert not problems, problems


def test_licence_lines():
    missing = [x for x in testing.sources(SUFFIXES) if "SPDX-License-Identifier:" not in x.read_text()[:300]]
    assert not missing, missing


def test_packages_are_listed():
    listed = {ROOT / x for x in formats.package_files()}
    assert listed == {x for x in testing.sources(("*_pkg.sv",)) if x.is_relative_to(ROOT / "rtl")}


@pytest.mark.parametrize("words", [["tests/test_nothing.py"], ["tests/test_lint.py::test_nothing"]])
def test_a_test_that_there_is_not(words):
    done = subprocess.run([sys.executable, "emery", "test", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 4 and re.search(rf"^ERROR: .*not found: .*{words[0]}$", done.stdout + done.stderr, re.MULTILINE)

# SPDX-License-Identifier: Apache-2.0
"""The instruction tests: what is kept of them is what their generator and the cross compiler make today."""

import importlib.util
import sys

import pytest

from emery.common import ROOT

FOLDER = ROOT / "tests" / "isa"


def generator():
    spec = importlib.util.spec_from_file_location("isa_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_programs_are_all_there():
    """One for each instruction, assembled or not: this needs no cross compiler."""
    kept = [x.split()[1] for x in (FOLDER / "programs.hex").read_text().splitlines() if x.startswith("program ")]
    assert kept == list(generator().programs())


@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason=f"no cross compiler: {sys.executable} -m pip install ziglang"
)
def test_programs_are_up_to_date():
    made = generator().make()
    assert made == (FOLDER / "programs.hex").read_text(), "run tests/isa/make.py"

# SPDX-License-Identifier: Apache-2.0
"""The program of rtl/mesh/mesh_tb.sv: what is kept of it is what the cross compiler makes today."""

import importlib.util
import sys

import pytest

from emery.common import ROOT

FOLDER = ROOT / "tests" / "mesh"


@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason=f"no cross compiler: {sys.executable} -m pip install ziglang"
)
def test_program_is_up_to_date():
    spec = importlib.util.spec_from_file_location("mesh_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.make() == (FOLDER / "program.hex").read_text(), "run tests/mesh/make.py"

# SPDX-License-Identifier: Apache-2.0
"""core-nic's firmware as a thing that is built and shipped; what it does is the business of test_core_nic.py."""

import re
import shutil

import pytest

from emery.common import ROOT, UserError
from emery.make import firmware, toolchain

FOLDER = ROOT / "systems" / "core_nic" / "firmware"
COMPILER = toolchain.cross_compiler("ziglang==0.17.0")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no cross compiler")


def test_device_registers_are_those_of_the_rtl():
    package = (ROOT / "rtl" / "assist" / "device_pkg.sv").read_text()
    registers = dict(re.findall(r"\[AddrW-1:0\] (\w+) = 12'h([0-9a-f]+);", package))
    rtl = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper(): int(value, 16) for name, value in registers.items()}
    header = (FOLDER / "hw.h").read_text()
    ours = {name: int(value, 16) for name, value in re.findall(r"^  (\w+) = 0x([0-9a-f]+),", header, re.MULTILINE)}
    assert len(ours) > 20
    assert ours == {name: rtl[name] for name in ours}


def test_what_is_shipped_was_built_from_these_sources():
    assert (FOLDER / "prebuilt" / "sources.txt").read_text().strip() == firmware.sources_digest(FOLDER), "run ./emery firmware"


@needs_compiler
@pytest.mark.parametrize("variant", firmware.variants(FOLDER))
def test_what_is_shipped_is_what_the_compiler_makes(variant, tmp_path, monkeypatch):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path))
    assert firmware.build(FOLDER, variant).read_bytes() == (FOLDER / "prebuilt" / f"{variant}.elf").read_bytes()


def test_without_compiler_the_shipped_one_is_used_and_said_so(monkeypatch, capsys):
    monkeypatch.setattr(toolchain, "cross_compiler", lambda wanted: "")
    assert firmware.build(FOLDER, "rmw") == FOLDER / "prebuilt" / "rmw.elf"
    assert "ziglang==0.17.0 is not installed" in capsys.readouterr().err


def test_changed_sources_without_compiler_say_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "cross_compiler", lambda wanted: "")
    folder = tmp_path / "firmware"
    shutil.copytree(FOLDER, folder)
    (folder / "send.c").write_text((folder / "send.c").read_text() + "\n")
    with pytest.raises(UserError, match="ziglang==0.17.0 is not installed: `./emery firmware` installs it"):
        firmware.build(folder, "rmw")


@needs_compiler
def test_an_error_in_the_sources_names_its_line(monkeypatch, tmp_path):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "firmware"
    shutil.copytree(FOLDER, folder)
    (folder / "send.c").write_text("int x = y;\n")
    with pytest.raises(UserError, match=r"firmware rmw: send.c:1:9: error: .*'y'"):
        firmware.build(folder, "rmw")

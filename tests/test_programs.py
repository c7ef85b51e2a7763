# SPDX-License-Identifier: Apache-2.0
"""Programs of cores as things that are built and shipped; what they do is the business of their systems' tests."""

import shutil

import pytest

from emery import system
from emery.cli import main
from emery.common import ROOT, UserError
from emery.make import programs, toolchain

FOLDERS = [folder for name in system.names() for folder in system.load(name).program_folders()]
EVERY = [pytest.param(folder, x, id=f"{folder.parent.name}-{x}") for folder in FOLDERS for x in programs.variants(folder)]
FIRMWARE = ROOT / "systems" / "core_nic" / "firmware"
needs_compiler = pytest.mark.skipif(not toolchain.cross_compiler(), reason="no cross compiler")


@pytest.fixture
def changed(tmp_path):
    """A copy of the firmware; give it a new send.c."""

    def copy(text):
        shutil.copytree(FIRMWARE, tmp_path / "firmware")
        (tmp_path / "firmware" / "send.c").write_text(text)
        return tmp_path / "firmware"

    return copy


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda x: x.parent.name)
def test_what_is_shipped_was_built_from_these_sources(folder):
    assert programs.is_shipped(folder), "run ./emery firmware"
    shipped = {x.stem for x in (folder / "prebuilt").glob("*.elf")}
    assert shipped == set(programs.variants(folder))
    for variant in shipped:
        assert programs.build(folder, variant) == folder / "prebuilt" / f"{variant}.elf"


@needs_compiler
@pytest.mark.parametrize(("folder", "variant"), EVERY)
def test_what_is_shipped_is_what_the_compiler_makes(folder, variant, tmp_path, monkeypatch):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path))
    assert programs.compiled(folder, variant).read_bytes() == (folder / "prebuilt" / f"{variant}.elf").read_bytes()


def test_what_is_shipped_and_stale_is_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "other.elf").write_bytes(b"other")
    monkeypatch.setattr(programs, "compiled", lambda folder, variant: tmp_path / "other.elf")
    assert main(["firmware", "--check"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(EVERY) and all(x.endswith("is not what its sources give: ./emery firmware") for x in lines)
    monkeypatch.setattr(programs, "compiled", lambda folder, variant: folder / "prebuilt" / f"{variant}.elf")
    assert main(["firmware", "--check"]) == 0


def test_changed_sources_without_compiler_say_what_to_do(monkeypatch, changed):
    monkeypatch.setattr(toolchain, "cross_compiler", lambda: "")
    with pytest.raises(UserError, match="ziglang==0.17.0 is not installed: `./emery firmware` installs it"):
        programs.build(changed("int x;\n"), "rmw")


@needs_compiler
def test_an_error_in_the_sources_names_its_line(monkeypatch, tmp_path, changed):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(UserError, match=r"program rmw: send.c:1:9: error: .*'y'"):
        programs.build(changed("int x = y;\n"), "rmw")


@pytest.mark.parametrize(
    ("content", "says"), [(b"text", "not a RISC-V program"), (b"\x7fELF\x01\x01" + bytes(12) + bytes((243, 0)), "cut off")]
)
def test_what_is_no_program_is_refused(tmp_path, content, says):
    (tmp_path / "a.elf").write_bytes(content)
    with pytest.raises(UserError, match=says):
        programs.words(tmp_path / "a.elf")

# SPDX-License-Identifier: Apache-2.0
"""docs/write-a-driver.md: its tables are made from the sources, agree with the C headers, and its example compiles."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import listed

from emery.cli import main
from emery.common import ROOT, UserError
from emery.make import formats, registers
from emery.pages import manual

PAGE = ROOT / "docs" / "write-a-driver.md"
RDL = ROOT / "systems" / "nic_core" / "host_nic.rdl"
CORE = ROOT / "sw" / "lib" / "host_nic"
TEXT = PAGE.read_text()
# Register tables of the page, and the structs of the C header, which another generator made.
STRUCTS = {
    "nic_device_regs": "nic_device_regs_t",
    "moderation_regs": "moderation_regs_t",
    "msix_regs": "msix_regs_t",
    "nic_interface_regs": "nic_interface_regs_t",
    "desc_queue_regs": "desc_queue_regs__stride20_t",
    "cpl_queue_regs": "cpl_queue_regs__stride20_t",
    "sched_regs": "sched_regs_t",
    "nic_sched_map": "nic_sched_map_t",
    "nic_sched_regs": "nic_sched_regs_t",
    "sched_slot_regs": "sched_slot_regs_t",
    "sched_limit_regs": "sched_limit_regs_t",
    "nic_port_regs": "nic_port_regs__stride1000_t",
    "rss_regs": "rss_regs_t",
    "flow_regs": "flow_regs__stride1000_t",
    "nic_mac_map": "nic_mac_map__stride1000_t",
    "nic_mac_tx_regs": "nic_mac_tx_regs_t",
    "nic_mac_rx_regs": "nic_mac_rx_regs_t",
    "mac_counter_regs": "mac_counter_regs_t",
    "stat_regs": "stat_regs_t",
    "push_regs": "push_regs_t",
    "nic_interface_map": "nic_interface_map__stride800000_t",
    "host_nic": "host_nic_t",
}


@pytest.fixture(scope="module")
def words():
    """Compiler and flags for a driver's C file."""
    blocks = ["nic_device_regs", "nic_interface_regs", "nic_port_regs"]
    folders = [registers.generate(RDL, blocks, "host_nic"), formats.generate(("queue_pkg",)), CORE]
    return ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *(f"-I{x}" for x in folders)]


def table(name):
    """The rows of the page's table of registers or parts of that name."""
    text = re.search(rf"<!-- made: host-nic (?:registers|map) {name} -->(.*?)<!-- /made -->", TEXT, re.DOTALL)[1]
    return [[x.strip() for x in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("| `")]


def compiles(words, folder, text):
    path = Path(folder) / "a.c"
    path.write_text(text)
    done = subprocess.run([*words, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_is_what_the_sources_say():
    assert manual.made(TEXT) == TEXT, "run ./emery map --readme"
    assert [x for x in manual.PAGES if not (ROOT / x).is_file()] == []


def test_every_offset_is_that_of_the_c_header(words, tmp_path):
    """Of each register and part on the page, compared by a compiler; and all there are, are there."""
    lines = ["#include <stddef.h>", '#include "host_nic.h"']
    for name, struct in STRUCTS.items():
        rows = table(name)
        assert rows, name
        for cell, offset, *_ in rows:
            member = re.sub(r"\[(\d*)\]", lambda m: "[0]" if not m[1] else "", cell.strip("`"))
            lines.append(f'static_assert(offsetof({struct}, {member}) == {offset}, "{name}.{member}");')
    compiles(words, tmp_path, "\n".join([*lines, ""]))
    top = registers.elaborate(RDL, "host_nic")
    everything = {x.inst_name for x in top.descendants(unroll=False) if x.inst_name != "value" and not hasattr(x, "width")}
    parts = [re.sub(r"\[.*?\]", "", cell.strip("`")).split(".") for name in STRUCTS for cell, *_ in table(name)]
    named = {x for names in parts for x in names}
    assert not everything - named


def test_every_format_and_code_of_a_driver_is_on_the_page():
    package = formats.packages()["queue_pkg"]
    for name in ("desc_t", "cpl_t", "stream_cpl_t", "event_t", "rx_flags_t"):
        part = TEXT.split(f"format {name} -->")[1].split("<!-- /made")[0]
        assert set(re.findall(r"^\| `(\w+)`", part, re.MULTILINE)) == package.records[name].fields.keys()
    for name in ("error_e", "event_e"):
        part = TEXT.split(f"enum {name} -->")[1].split("<!-- /made")[0]
        found = {x: int(value) for value, x in re.findall(r"^\| (\d+) \| `(\w+)`", part, re.MULTILINE)}
        assert found == package.enums[name]


def test_the_errors_of_the_core_are_those_of_its_header():
    rows = listed(CORE / "errors.h", "EMNIC_ERRORS")
    assert len(rows) == 19
    assert re.findall(r"^\| (-\d+) \| `EMNIC_(\w+)` \| (.*) \|$", TEXT, re.MULTILINE) == [(n, x, w) for x, n, _, w in rows]


def test_the_example_compiles(words, tmp_path):
    code = re.search(r"```c\n(.*?)```", TEXT, re.DOTALL)[1]
    head, body = code.split("\n\n", 1)
    given = [
        "uint32_t my_read32(void*, uint32_t);",
        "void my_write32(void*, uint32_t, uint32_t);",
        "void* my_dma_alloc(void*, size_t, uint64_t*);",
        "void receive(const uint8_t*, unsigned);",
        "void example(void*, unsigned, unsigned, const void*, unsigned);",
    ]
    opening = "void example(void* me, unsigned q, unsigned v, const void* frame, unsigned bytes) {"
    compiles(words, tmp_path, "\n".join([head, *given, opening, body, "}", ""]))


def test_the_manual_in_html(capsys):
    assert main(["build", "host-nic", "--manual"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name == "index.html" and path.is_file()
    assert "dma_overtaken" in "".join(x.read_text() for x in path.parent.rglob("*.js*")) + path.read_text()


@pytest.mark.parametrize("what", ["registers nothing", "format nothing_t", "pictures host_nic"])
def test_a_table_of_what_there_is_not_is_refused(what):
    with pytest.raises(UserError):
        manual.made(f"<!-- made: host-nic {what} -->\n<!-- /made -->")

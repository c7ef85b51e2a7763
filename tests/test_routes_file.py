# SPDX-License-Identifier: Apache-2.0
"""Routes files are judged before a simulator is built, by the parser that the simulator has."""

import bz2
import gzip
import lzma

import pytest
from conftest import refused

from emery.common import UserError
from emery.make import build

BUILDS = "a simulator is built now"


@pytest.fixture
def unbuilt(monkeypatch):
    def begin(*_words, **_how):
        raise UserError(BUILDS)

    monkeypatch.setattr(build, "build_system", begin)


WRONG = [
    ("10.0.0.0/8 1\n10.0.0.0/33 1\n", ":2: a prefix of 33 bits"),
    ("10.0.0.0/8 4294967297\n", ":1: port 4294967297"),
    ("10.0.0.0/8 9\n", ":1: port 9: there are {ports}, from 0"),
    ("10.0.0.0/8 1\n11.0.0.0/8 1\n10.0.0.0/8 0\n", ":3: 10.0.0.0/8 leads to port 0, on line 1 to port 1"),
    ("2001:db8::/32 1\n", ":1: an IPv6 prefix"),
    ("10.0.0.1/8 1\n", ":1: 10.0.0.1/8 has bits set beyond its length"),
    ("# nothing\n\r\n", ": no routes"),
    ("10.0.0.0/8 1 1\n", ":1: not a line like"),
    ("010.0.0.0/8 1\n", ":1: not a line like"),
    ("127.0.0.0/8 1\n", ": its routes lead to no address that may be sent to"),
]


@pytest.mark.parametrize(("name", "ports"), [("direct-router", 3), ("tile-router", 4)])
def test_before_a_build(unbuilt, capsys, tmp_path, name, ports):
    path = tmp_path / "r r.txt"
    for text, line in WRONG:
        path.write_text(text)
        said = refused((name,), capsys, "--routes", path, "--frames", 4)
        assert line.format(ports=ports) in said and str(path) in said, (text, said)
    path.write_bytes(b"10.0.0.0/8 1\r\n0.0.0.0/0 0 # the rest")
    assert BUILDS in refused((name,), capsys, "--routes", path, "--frames", 4)


def test_more_networks_than_a_table_has_room_for(unbuilt, capsys, tmp_path):
    """Of 24 bits, with longer prefixes; several in one count once."""
    path = tmp_path / "routes.txt"
    lines = [f"10.{n >> 8}.{n & 255}.{at}/{length} 1" for n in range(32769) for at, length in ((0, 25), (128, 32))]
    for text, said in (
        ("\n".join(lines[:-2]), BUILDS),
        ("\n".join(lines), "32769 networks of 24 bits, there is room for 32768"),
    ):
        path.write_text(text)
        assert said in (line := refused(("tile-router",), capsys, "--routes", path, "--frames", 4))
        assert said == BUILDS or str(path) in line


def test_files_of_other_places(unbuilt, capsys, tmp_path):
    """What editors and compressors leave, whatever the name says."""
    path, text = tmp_path / "routes.txt", b"10.0.0.0/8 1\r\n"
    for data in (b"\xef\xbb\xbf" + text, gzip.compress(text)):
        path.write_bytes(data)
        assert BUILDS in refused(("direct-router",), capsys, "--routes", path, "--frames", 4)
    for data in (bz2.compress(text), lzma.compress(text)):
        path.write_bytes(data)
        assert f"{path}: compressed; unpack it first" in refused(("direct-router",), capsys, "--routes", path, "--frames", 4)
    packed = tmp_path / "routes.gz"
    spoilt = bytearray(gzip.compress(text))
    spoilt[-6] ^= 1
    for data, why in ((text, "Not a gzipped file (b'10')"), (gzip.compress(text)[:-9], "ended before"), (spoilt, "CRC")):
        packed.write_bytes(data)
        said = refused(("direct-router",), capsys, "--routes", packed, "--frames", 4)
        assert f"{packed}: cannot be unpacked: " in said and why in said and "Errno" not in said, said


def test_lines_of_the_router_itself(unbuilt, capsys, tmp_path):
    path = tmp_path / "routes.txt"
    for text, line in (
        ("class 9 tos 0xb8", ":2: class 9"),
        ("class 0 tos 0xb8/0x10", ":2: tos 0xb8/0x10"),
        ("class 0 tos 0xb8 protocol 6 tos 0x88", ":2: tos is there twice"),
        ("address 127.0.0.1 1", ":2: an address that no host has"),
        ("address 10.0.0.1 3", ":2: port 3: there are 3"),
        ("adress 10.0.0.1 1", ":2: not a line like"),
        ("class 0 tos 010", ":2: tos 010: not a value"),
        ("class 0 to 01", ":2: port 01: there are 3"),
        ("class 0x0 tos 0x08 protocol 0/0", BUILDS),
    ):
        path.write_text("10.0.0.0/8 1\n" + text)
        assert line in refused(("direct-router",), capsys, "--routes", path, "--frames", 4)
        assert ":2: not a line like" in refused(("tile-router",), capsys, "--routes", path, "--frames", 4)


def test_lines_that_do_not_go_with_settings(unbuilt, capsys, tmp_path):
    path = tmp_path / "routes.txt"
    for text, setting, says in (
        ("class 0 tos 8", "qos=false", f"{path}: lines of classes do nothing with qos=false"),
        ("address 10.0.0.1 1", "bus=pcie", f"{path}: these cards have no slow path"),
        ("address 10.0.0.1 1", "updates_per_s=9", f"{path}: updates_per_s: not with a router that has addresses"),
    ):
        path.write_text("10.0.0.0/8 1\n" + text)
        assert says in refused(("direct-router",), capsys, "--routes", path, "--frames", 4, "--set", setting)
        assert BUILDS in refused(("direct-router",), capsys, "--routes", path, "--frames", 4)


def test_routes_none_of_which_may_change(unbuilt, capsys, tmp_path):
    """Tables of tile-router have no place for changes of less than 8 bits; direct-router's tries take any."""
    path = tmp_path / "routes.txt"
    path.write_text("0.0.0.0/0 1\n128.0.0.0/7 0\n")
    changing = ("--routes", path, "--frames", 4, "--set", "updates_per_s=1000")
    said = refused(("tile-router", "--set", "version=V"), capsys, *changing)
    assert f"{path}: all routes have less than 8 bits, none of them may change" in said
    assert BUILDS in refused(("direct-router",), capsys, *changing)
    path.write_text("0.0.0.0/0 1\n10.0.0.0/8 0\n")
    assert BUILDS in refused(("tile-router", "--set", "version=V"), capsys, *changing)


def test_ports_are_those_of_the_parameters(unbuilt, capsys, tmp_path):
    """A made table too."""
    path = tmp_path / "routes.txt"
    path.write_text("10.0.0.0/8 1\n10.1.0.0/16 2\n")
    two = ("tile-router", "--set", "version=V")
    assert "port 2: there are 2" in refused(two, capsys, "--routes", path, "--frames", 4)
    assert "bgp:20:5:" in refused(("tile-router",), capsys, "--routes", "bgp:20:5", "--frames", 4)
    assert BUILDS in refused(("tile-router",), capsys, "--routes", "bgp:20:4", "--frames", 4)
    five = ("direct-router", "--set", "cards=5", "--set", "config=none")
    assert BUILDS in refused(five, capsys, "--routes", "bgp:20:5", "--frames", 4)

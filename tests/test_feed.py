# SPDX-License-Identifier: Apache-2.0
"""Captures that are fed to systems: every form they come in, what has to be made up of them, and when their frames start."""

import gzip
import json
import random
import struct

import pytest
from conftest import body, read_pcap, stream, write_pcap

from emery import capture, system
from emery.check import fuzz
from emery.cli import main
from emery.common import UserError
from emery.workload import workload

FRAMES = [bytes(range(60)), bytes(61), bytes(range(200)) * 7]
IPV4, IPV6 = bytes([0x45]) + bytes(45), bytes([0x60]) + bytes(46)


def block(order, kind, content):
    content += bytes(-len(content) % 4)
    size = struct.pack(order + "I", len(content) + 12)
    return struct.pack(order + "I", kind) + size + content + size


def section(order):
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order, link=1, snap=0, options=b""):
    return block(order, 1, struct.pack(order + "HHI", link, 0, snap) + options)


def enhanced(order, frame, ticks=0, index=0, length=None, options=b""):
    head = struct.pack(order + "IIIII", index, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), length or len(frame))
    return block(order, 6, head + frame + bytes(-len(frame) % 4) + options)


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def kept(tmp_path, data, name="a.pcap"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def played(found):
    """Frames and stamps in nanoseconds of what the bench is given."""
    with open(found.path, "rb") as handle:
        data = handle.read()
    assert struct.unpack_from("<IHHiIII", data) == (0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    stamps, at = [], 24
    while at < len(data):
        seconds, ns, size, length = struct.unpack_from("<IIII", data, at)
        assert size == length
        stamps.append(seconds * 10**9 + ns)
        at += 16 + size
    return read_pcap(capture.Path(found.path)), stamps


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("nano", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_pcap(tmp_path, order, nano, packed):
    path = write_pcap(tmp_path / "a.pcap", FRAMES, order, nano)
    if packed:  # whatever its name
        path.write_bytes(gzip.compress(path.read_bytes()))
    found = capture.read(str(path))
    assert played(found) == (FRAMES, [0, 10**9, 2 * 10**9])
    assert found.sizes == {64: 1, 65: 1, 1404: 1} and found.describe() == {"packets": 3, "lasts_s": 2.0}


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng(tmp_path, order):
    """Blocks of all kinds, two sections in two orders, clocks of several units and offsets."""
    nano = option(order, 9, b"\x09") + option(order, 14, struct.pack(order + "q", 3)) + option(order, 0, b"")
    binary = option(order, 2, b"eth0") + option(order, 9, b"\x8a")  # 1/1024 s
    data = section("<") + interface("<") + enhanced("<", FRAMES[0], 7) + section(order)
    data += interface(order, options=nano) + interface(order, options=binary) + block(order, 5, bytes(8))
    data += enhanced(order, FRAMES[1], 1 << 33) + enhanced(order, FRAMES[2], 512, 1)
    data += block(order, 2, struct.pack(order + "HHIIII", 1, 9, 0, 1024, 60, 60) + FRAMES[0])
    found = capture.read(str(kept(tmp_path, data)))
    assert played(found) == ([*FRAMES, FRAMES[0]], [7000, 3 * 10**9 + (1 << 33), 5 * 10**8, 10**9])
    simple = block(order, 3, struct.pack(order + "I", 100) + bytes(range(80)))
    data = section(order) + interface(order, snap=80) + simple
    found = capture.read(str(kept(tmp_path, data)))
    assert played(found)[0] == [bytes(range(80)) + bytes(20)] and found.describe() == {"packets": 1, "cut": 1}


def test_what_the_bench_writes(tmp_path):
    """Byte for byte what traffic_test.cpp has PcapWriter write."""
    frame = bytearray((3 + 7 * i) & 255 for i in range(61))
    frame[12:14] = b"\x88\xb5"
    words = [0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF, 28, 1, 32, 1, 262144, 9 | 1 << 16, 9, 0, 32]
    words += [6, 96, 0, 1, 705032711, 61, 61]
    data = struct.pack(f"<{len(words)}I", *words) + frame + bytes(3) + struct.pack("<I", 96)
    assert played(capture.read(str(kept(tmp_path, data)))) == ([frame], [5_000_000_007])


def test_packets_that_were_cut_short(tmp_path):
    path = write_pcap(tmp_path / "a.pcap", [FRAMES[1], (FRAMES[0], 1000), (b"", 64)])
    found = capture.read(str(path))
    assert played(found)[0] == [FRAMES[1], FRAMES[0] + bytes(940), bytes(64)]
    assert found.sizes == {65: 1, 1004: 1, 68: 1} and found.describe() == {"packets": 3, "cut": 2, "lasts_s": 2.0}


def test_packets_without_a_whole_header(tmp_path):
    found = capture.read(str(write_pcap(tmp_path / "a.pcap", [(b"", 0), bytes(13), bytes(14)])))
    assert found.describe() == {"packets": 3, "short": 2, "lasts_s": 2.0} and found.sizes == {64: 3}


@pytest.mark.parametrize("link", [101, 228, 229, 12, 14])
def test_raw_ip(tmp_path, link):
    """An Ethernet header that says which IP it is; of a packet cut short, the bytes that are there."""
    path = write_pcap(tmp_path / "a.pcap", [IPV4, IPV6, (IPV4, 100)], link=link)
    found = capture.read(str(path))
    macs = bytes.fromhex("020000000002020000000001")
    whole = [macs + b"\x08\x00" + IPV4, macs + b"\x86\xdd" + IPV6, macs + b"\x08\x00" + IPV4 + bytes(54)]
    assert played(found)[0] == whole and found.sizes == {64: 1, 65: 1, 118: 1}
    assert found.describe() == {"packets": 3, "cut": 1, "raw_ip": 3, "lasts_s": 2.0}
    bad = write_pcap(tmp_path / "b.pcap", [IPV4, b"\x15" + bytes(40)], link=link)
    with pytest.raises(UserError, match=r"b\.pcap: packet 2 at byte 86: neither an IPv4 nor an IPv6 packet"):
        capture.read(str(bad))


COOKED = bytes.fromhex("0000 0001 0006 02000000000a 0000")  # to this machine, from an Ethernet address


@pytest.mark.parametrize(
    ("link", "header"),
    [
        (0, b"\x02\0\0\0"),
        (108, b"\0\0\0\x02"),
        (113, COOKED + b"\x08\x00"),
        (276, b"\x08\x00\0\0\0\0\0\x03\0\x01\0\x06" + bytes(8)),
    ],
)
def test_captures_of_any_interface(tmp_path, link, header):
    """Loop-back of BSD and what Linux cooks have the packet behind a header that is not sent, cut short or not."""
    path = write_pcap(tmp_path / "a.pcap", [header + IPV4, (header + IPV4, len(header) + 100)], link=link)
    found = capture.read(str(path))
    frame = bytes.fromhex("0200000000020200000000010800") + IPV4
    assert played(found)[0] == [frame, frame + bytes(54)]
    assert found.describe() == {"packets": 2, "cut": 1, "raw_ip": 2, "lasts_s": 1.0}
    bad = write_pcap(tmp_path / "b.pcap", [header[:-1]], link=link)
    with pytest.raises(UserError, match=r"b\.pcap: packet 1 at byte 24: (neither|cooked|cut)"):
        capture.read(str(bad))


def test_cooked_packets_of_other_types(tmp_path):
    arp = bytes.fromhex("0806") + bytes(28)
    found = capture.read(str(write_pcap(tmp_path / "a.pcap", [COOKED + arp], link=113)))
    macs = bytes.fromhex("020000000002020000000001")
    assert played(found)[0] == [macs + arp]
    with_length = COOKED + b"\0\x04" + b"\x42\x42\x03" + bytes(40)  # 802.2, as spanning trees have it
    found = capture.read(str(write_pcap(tmp_path / "b.pcap", [with_length, (with_length, 16 + 1500)], link=113)))
    assert played(found)[0] == [macs + b"\x00\x2b" + with_length[16:], macs + b"\x05\xdc" + with_length[16:] + bytes(1457)]
    for other in (COOKED + b"\0\x0c" + bytes(16), (with_length, 16 + 1501)):  # CAN; longer than a length says
        with pytest.raises(UserError, match="of no kind that Ethernet carries"):
            capture.read(str(write_pcap(tmp_path / "c.pcap", [other], link=113)))


def test_files_that_are_too_large(tmp_path, monkeypatch):
    """Told before they are read whole; of a compressed one as soon as that much is unpacked."""
    path = tmp_path / "sparse.pcap"
    with open(path, "wb") as handle:
        handle.truncate(5 << 30)
    with pytest.raises(UserError, match=r"sparse\.pcap: more than 4 GiB$"):
        capture.read(str(path))
    monkeypatch.setattr(capture, "_LARGEST", 1 << 20)
    packed = kept(tmp_path, gzip.compress(bytes(4 << 20), mtime=0))
    with pytest.raises(UserError, match="more than 0 GiB when unpacked"):
        capture.read(str(packed))
    with pytest.raises(UserError, match="cut off: 0 bytes"):
        capture.read(str(kept(tmp_path, gzip.compress(b"", mtime=0))))


def test_check_sums_are_not_frames(tmp_path):
    """Where the file says that packets end in an FCS, it is left away, also where it was cut off."""
    known = 2 << 28 | 1 << 26 | 1
    found = capture.read(str(write_pcap(tmp_path / "a.pcap", [FRAMES[0] + b"fcs!", (FRAMES[0], 65), (b"x", 2)], link=known)))
    assert played(found)[0] == [FRAMES[0], FRAMES[0] + b"\0", b""]
    assert found.cut == 1
    data = section("<") + interface("<", options=option("<", 13, b"\x04")) + enhanced("<", FRAMES[0] + b"fcs!")
    assert played(capture.read(str(kept(tmp_path, data, "b.pcap"))))[0] == [FRAMES[0]]
    for order in "<>":  # the packet itself may say so, whatever its interface does
        flags = option(order, 1, b"note") + option(order, 2, struct.pack(order + "I", 4 << 5 | 1)) + option(order, 0, b"")
        for says in (b"", option(order, 13, b"\x02")):
            data = section(order) + interface(order, options=says) + enhanced(order, FRAMES[0] + b"fcs!", options=flags)
            assert played(capture.read(str(kept(tmp_path, data, "c.pcap"))))[0] == [FRAMES[0]]


NG = section("<") + interface("<")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a capture, or cut off: 0 bytes"),
        (bytes(23), "cut off: 23 bytes"),
        (b"hello, this is no capture at all", "not a pcap or pcapng file"),
        (gzip.compress(b"hello, this is no capture at all", mtime=0), "not a pcap"),
        (gzip.compress(bytes(999), mtime=0)[:-9], "cannot be unpacked"),
        (b"\x1f\x8bnothing", "cannot be unpacked"),
        (NG, "no packet"),
        (NG[:-3], "packet 1 at byte 28: truncated"),
        (NG + enhanced("<", FRAMES[0])[:11], "byte 48: truncated: the file ends inside a block header"),
        (NG + enhanced("<", FRAMES[0])[:-1], "truncated"),
        (NG + enhanced("<", FRAMES[0])[:-4] + bytes(4), "lengths before and after it differ"),
        (NG + struct.pack("<III", 6, 4, 4), "bad block length 4"),
        (NG + block("<", 6, bytes(16)), "bad block length 28"),
        (NG + struct.pack("<III", 9, 14, 14), "bad block length 14"),
        (NG + enhanced("<", FRAMES[0], index=1), "interface 1 was not described"),
        (NG + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 9, 9)), "longer than its block"),
        (NG + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 4, 3) + bytes(4)), "4 bytes captured of 3"),
        (NG + enhanced("<", FRAMES[0], 10**19), "packet 1 at byte 48: its time stamp is out of range"),
        (section("<") + interface("<", 105) + enhanced("<", FRAMES[0]), "link type 105 is neither"),
        (section("<") + interface("<", options=struct.pack("<HH", 2, 99)), "an option is longer than its block"),
        (section("<")[:8] + bytes(20), "bad byte-order mark"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_is_refused(tmp_path, data, says):
    path = kept(tmp_path, data)
    with pytest.raises(UserError) as error:
        capture.read(str(path))
    assert says in str(error.value) and str(path) in str(error.value)


def test_pcaps_that_are_refused(tmp_path):
    def says(frames, cut=0, **how):
        path = write_pcap(tmp_path / "a.pcap", frames, **how)
        path.write_bytes(path.read_bytes()[: -cut or None])
        with pytest.raises(UserError) as error:
            capture.read(str(path))
        return str(error.value)

    assert "packet 2 at byte 100: truncated: the file ends inside a packet" in says(FRAMES[:2], 1)
    two = write_pcap(tmp_path / "two.pcap", FRAMES[:1])
    two.write_bytes(2 * two.read_bytes())
    with pytest.raises(UserError, match="packet 2 at byte 100: another capture begins here"):
        capture.read(str(two))
    assert "packet 2 at byte 100: truncated: the file ends inside a packet header" in says(FRAMES[:2], 61 + 9)
    assert "packet 1 at byte 24: 60 bytes captured of 59" in says([(FRAMES[0], 59)])
    assert "packet 2 at byte 100: a frame of 16385 bytes with FCS" in says([FRAMES[0], bytes(16381)])
    assert "a frame of 4294967299 bytes" in says([(FRAMES[0], 0xFFFFFFFF)])
    assert "packet 1 at byte 24: link type 105 is neither" in says(FRAMES, link=105)
    assert "no packet in it" in says([])


def test_any_file_is_a_capture_or_one_line(tmp_path):
    for number in range(400):
        random_ = random.Random(number)
        data = fuzz._damaged(random_, (fuzz._pcap if number % 2 else fuzz._pcapng)(random_))
        try:
            found = capture.read(str(kept(tmp_path, data)))
        except UserError as error:
            assert "\n" not in str(error)
        else:
            assert len(played(found)[0]) == found.packets == sum(found.sizes.values())


def test_a_capture_is_read_once_for_its_content(tmp_path, monkeypatch):
    first = capture.read(str(write_pcap(tmp_path / "a.pcap", FRAMES)))
    monkeypatch.setattr(capture, "_convert", lambda *_: pytest.fail("read again"))
    assert capture.read(str(write_pcap(tmp_path / "b.pcap", FRAMES))) == first


# ---------------------------------------------------------------- on the command line


def test_the_result_says_what_was_made_up(tmp_path, capsys, fake):
    settings = fake(body({"tx": stream(100), "rx": stream(100)}))
    path, out = tmp_path / "raw.pcap", tmp_path / "out.json"
    write_pcap(path, [IPV4, (IPV4, 100), (IPV4, 200)], link=101)
    assert main(["run", "host-nic", "--pcap", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "capture    raw.pcap: 2 of 3 packets cut short when captured: zeros" in printed
    assert "capture    raw.pcap: 3 of 3 packets without an Ethernet header" in printed
    assert main(["run", "host-nic", "--pcap", str(path), "--json", str(out)]) == 0
    work = json.loads(out.read_text())["workload"]
    assert work["captures"] == {"": {"packets": 3, "cut": 2, "raw_ip": 3, "lasts_s": 2.0}} and work["pcap"] == {"": str(path)}
    assert [len(x) for x in read_pcap(capture.Path(settings(0)["pcap"]))] == [60, 114, 214]


def test_the_bench_names_files_as_the_user_does(tmp_path, capsys, fake):
    say = "print('error: ' + settings['pcap.1'] + ': packet 1 is too long', file=sys.stderr); sys.exit(2)"
    fake(None, code=say)
    paths = [write_pcap(tmp_path / f"{n}.pcap", [bytes(60 + n)]) for n in range(2)]
    assert main(["run", "host-nic", "--set", "ports=2", *(x for n in range(2) for x in ("--pcap", f"{n}={paths[n]}"))]) == 2
    assert capsys.readouterr().err == f"emery: {paths[1]}: packet 1 is too long\n"


def test_replay_in_time(tmp_path, capsys, fake):
    settings = fake(body({"tx": stream(100), "rx": stream(100)}))
    path = write_pcap(tmp_path / "a.pcap", FRAMES)
    for words, told in (([], "1.0"), (["2.5"], "2.5")):
        out = tmp_path / "out.json"
        assert main(["run", "host-nic", "--pcap", str(path), "--json", str(out), "--timed", *words]) == 0
        assert json.loads(out.read_text())["workload"]["timed"] == float(told)
        assert "in time, " in capsys.readouterr().out
    assert [settings(x)["replay_speed"] for x in range(2)] == ["1.0", "2.5"] and settings(0)["rate"] == "1.0"

    def refused(*words):
        assert main(["run", "host-nic", *words]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        return line

    assert "it is for captures" in refused("--size", "64", "--timed")
    for bad in ("0", "x", "-1", "1e9", "nan"):
        assert f"--timed {bad}: write how many times" in refused("--pcap", str(path), f"--timed={bad}")
    assert "--timed and --rate: choose one" in refused("--pcap", str(path), "--timed", "--rate", "0.5")
    assert "more than 100 s; the least is 0.02" in refused("--pcap", str(path), "--timed", "0.019")
    simple = kept(tmp_path, NG + block("<", 3, struct.pack("<I", 60) + FRAMES[0]))
    assert "no time stamp" in refused("--pcap", str(simple), "--timed")


def test_a_main_job_with_a_capture_may_be_timed():
    target = system.load("host-nic")
    work = workload(target, {"timed": "3"})
    assert work.timed == 3 and work.rate == "1.0" and work.captures

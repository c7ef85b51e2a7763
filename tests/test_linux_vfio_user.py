# SPDX-License-Identifier: Apache-2.0
"""Cards behind vfio-user sockets (`./emery linux --serve`, `--lane vfio-user`), by a client written from the specification."""

import ctypes
import errno
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import vfio_client
from vfio_client import BAR0, CONFIG, DATA_BOOL, DATA_EVENTFD, DATA_NONE, MASK, TRIGGER, UNMASK, Client, Gone, Refused

from emery import process
from emery.cli import main
from emery.common import ROOT, UserError
from emery.guest import run
from emery.guest.simulator import Simulator
from emery.make import debian_kernel, formats, linux, registers
from emery.runs import IntegrityError

MEMORY = 8 << 20
BAR = 0x9_8000_0000


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    "words",
    [
        ["--serve", "DIR", "--", "true"],
        ["--serve", "DIR", "--peer", "true"],
        ["--serve", "DIR", "--lane", "qemu"],
        ["--serve", "DIR", "--card", "capture"],
        ["--serve", "DIR", "--set", "fault=slow_host"],
        ["--serve", "DIR", "--size", "64"],
        ["--serve", "FILE"],
        ["--serve", ""],
        ["--lane", "vfio-user", "--debug", "--", "true"],
        ["--lane", "vfio-user", "--card", "capture", "--", "true"],
        ["--lane", "vfio-user", "--set", "fault=surprise_removal", "--", "true"],
    ],
)
def test_refuses(capsys, monkeypatch, tmp_path, words):
    monkeypatch.setattr(debian_kernel, "check_vfio_user", lambda: None)
    (tmp_path / "FILE").write_text("")
    places = {"DIR": str(tmp_path / "DIR"), "FILE": str(tmp_path / "FILE")}
    assert main(["linux", *(places.get(x, x) for x in words)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_socket_that_is_there_is_kept(capsys, tmp_path):
    (tmp_path / "pci1.0").write_text("mine")
    assert main(["linux", "--serve", str(tmp_path)]) == 2
    assert "pci1.0 is there already" in capsys.readouterr().err and (tmp_path / "pci1.0").read_text() == "mine"


@pytest.mark.parametrize("version, says", [(None, "there is none"), ("7.2.22", "is 7.2"), ("10.0.8", "is 10.0")])
def test_no_qemu_that_can_is_one_line(capsys, monkeypatch, tmp_path, version, says):
    if version:
        (tmp_path / debian_kernel.QEMU).write_text(f"#!/bin/sh\necho QEMU emulator version {version}\n")
        (tmp_path / debian_kernel.QEMU).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(debian_kernel, "missing_for_vfio_user", list)
    assert main(["linux", "--lane", "vfio-user", "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "is for QEMU 10.1 or later" in said and says in said


def test_the_first_qemu_that_can_is_taken(monkeypatch, tmp_path):
    for folder, version in (("a", "7.2.1"), ("b", "11.0.50"), ("c", "10.1.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / debian_kernel.QEMU).write_text(f"#!/bin/sh\necho QEMU emulator version {version}\n")
        (tmp_path / folder / debian_kernel.QEMU).chmod(0o755)
    monkeypatch.setenv("PATH", ":".join(str(tmp_path / x) for x in "abc") + ":/usr/bin:/bin")
    assert debian_kernel.vfio_user_qemu() == str(tmp_path / "b" / debian_kernel.QEMU)


def test_the_command_serves_and_ends_with_a_signal(tmp_path):
    """Says where the cards wait; a client speaks to one; the signal ends it well, and the sockets are gone."""
    words = [sys.executable, "-m", "emery", "linux", "--serve", str(tmp_path / "cards"), "--pcap-out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as command:
        lines = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(command.stdout.readline())
            assert lines[-1], lines
        sockets = [Path(x.strip()) for x in lines[1:3]]
        assert [x.name for x in sockets] == ["pci0.0", "pci1.0"] and all(x.is_socket() for x in sockets)
        assert any("vfio-user-pci" in x and str(sockets[0]) in x for x in lines)
        client, silent = Client(sockets[0]), Client(sockets[1])
        silent.socket.sendall(bytes(9))  # the first half of a header: nobody waits for the rest
        assert client.version()[0] == (0, 1)
        assert client.read32(CONFIG, 0) not in (0, 0xFFFFFFFF)
        command.send_signal(signal.SIGINT)
        out = command.communicate()[0]
        assert command.returncode == 0 and "us simulated" in out and "card 1: 0 frames sent" in out
    with pytest.raises(Gone):
        client.read32(CONFIG, 0)
    assert not any(x.exists() for x in sockets) and (tmp_path / "wire.pcap").stat().st_size >= 24


# ---------------------------------------------------------------- the device


class Card:
    """A simulator with cards that wait."""

    def __init__(self, folder, count=1):
        target = run.systems()[0]
        values = target.values([])
        settings = {**target.settings(values), "seed": 1, "guests": count, "folder": folder, "result": folder / "result"}
        settings |= {"capture": "", "waves": "", "lane": "vfio-user"}
        self.simulator = Simulator(linux.build_simulator(target, values), settings, folder)
        assert self.simulator.runs()
        self.clients = []
        self.folder = folder

    def client(self, number=0):
        self.clients.append(Client(self.folder / f"pci{number}.0", self.clients[:]))
        return self.clients[-1]

    def ended(self):
        """Raises what the simulator ended with; gives its status."""
        self.simulator.wait()
        self.simulator.check("linux")
        return self.simulator.child.returncode

    def close(self):
        for client in self.clients:
            client.close()
        process.finish(self.simulator.child)


@pytest.fixture
def card(tmp_path):
    card = Card(tmp_path)
    yield card
    card.close()


def refused(number, call, *words, **more):
    with pytest.raises(Refused) as found:
        call(*words, **more)
    assert found.value.number == number, (words, found.value)


def versions(card):
    """What is agreed on, and what the client may say; the connection stays."""
    client = card.client()
    head = struct.pack("<HH", 0, 1)
    for wrong in (
        b"",
        head[:3],
        struct.pack("<HH", 1, 0),
        head + b"{}",
        head + b"{\0",
        head + b"[]\0",
        head + b'{"capabilities": 1}\0',
    ):
        refused(errno.EINVAL, client.ask, vfio_client.VERSION, wrong)
    for wrong in (
        '{"max_data_xfer_size": 0}',
        '{"max_data_xfer_size": "1"}',
        '{"max_data_xfer_size": 1e3}',
        "[" * 99,
        '{"a" 1}',
        '{"a": tru}',
    ):
        refused(errno.EINVAL, client.ask, vfio_client.VERSION, head + b'{"capabilities": ' + wrong.encode() + b"}\0")
    found, capabilities = client.version(minor=7)
    assert found == (0, 1), "no more than there is"
    assert set(capabilities) == {"max_msg_fds", "max_data_xfer_size", "pgsizes"}, "of those proposed"
    assert capabilities["max_data_xfer_size"] >= 4096 and capabilities["pgsizes"] == 4096
    refused(errno.EINVAL, client.version)
    return client


def what_there_is(client):
    assert client.device() == (16, 3, 9, 3)
    sizes = {}
    for index in range(9):
        argsz, flags, found, capabilities, size, offset = client.region(index)
        assert (argsz, found, capabilities, offset) == (32, index, 0, 0) and flags == (3 if size else 0)
        sizes |= {index: size} if size else {}
    assert set(sizes) == {BAR0, CONFIG} and sizes[CONFIG] == 4096
    assert client.interrupts(vfio_client.MSIX)[1] == 3 and client.interrupts(0)[3] == client.interrupts(1)[3] == 0
    assert struct.unpack("<IIII", client.ask(vfio_client.REGION_FILES, struct.pack("<IIII", 16, 0, 0, 0)))[3] == 0
    return sizes[BAR0], client.interrupts(vfio_client.MSIX)[3]


def configuration(client, bar_bytes, vectors):
    """As a BIOS and an operating system go about it; whole and in parts."""
    whole = client.read(CONFIG, 0, 4096)
    ids = client.read32(CONFIG, 0)
    assert ids not in (0, 0xFFFFFFFF) and whole[:4] == struct.pack("<I", ids)
    assert whole[1:7] == b"".join(client.read(CONFIG, n, 1) for n in range(1, 7)) == client.read(CONFIG, 1, 6)
    for at in (0x10, 0x14):
        client.write32(CONFIG, at, 0xFFFFFFFF)
    low, high = client.read32(CONFIG, 0x10), client.read32(CONFIG, 0x14)
    assert low & 7 == 4 and ~(high << 32 | low & ~0xF) + 1 & (1 << 64) - 1 == bar_bytes
    client.write(CONFIG, 0x10, struct.pack("<Q", BAR))
    client.write(CONFIG, 0x13, b"\x90")  # a byte of it
    assert client.read(CONFIG, 0x10, 8) == struct.pack("<Q", (BAR & ~0xFF000000 | 0x90000000) | low & 0xF)
    assert client.read32(CONFIG, 0x18) == 0
    msix = client.capability(0x11)
    assert (client.read32(CONFIG, msix) >> 16 & 0x7FF) + 1 == vectors
    client.write(CONFIG, msix + 2, struct.pack("<H", 0xC000 | 5))
    assert client.read(CONFIG, msix + 2, 2) == struct.pack("<H", 0xC000 | vectors - 1)
    client.write(CONFIG, msix + 2, struct.pack("<H", 0))
    pcie = client.capability(0x10)
    before = client.read(CONFIG, pcie + 8, 2)
    client.write(CONFIG, pcie + 8, struct.pack("<H", 0x5E00 ^ 0x0E00))  # largest packets and requests: the slot's to say
    assert int.from_bytes(client.read(CONFIG, pcie + 8, 2), "little") & 0x71E0 == int.from_bytes(before, "little") & 0x71E0
    client.master(False)
    return msix


def accesses(client, bar_bytes, msix):
    """Registers, whatever their length and place; the MSI-X table is the client's."""
    magic = client.read32(BAR0, 0)
    assert magic not in (0, 0xFFFFFFFF)
    first = client.read(BAR0, 0, 16)
    assert (
        first[:4] == struct.pack("<I", magic) and client.read(BAR0, 0, 8) == first[:8] and client.read(BAR0, 4, 12) == first[4:]
    )
    assert client.read(BAR0, 1, 1) == first[1:2] and client.read(BAR0, 2, 2) == first[2:4]
    client.write32(BAR0, 0, ~magic & 0xFFFFFFFF)  # cannot be written
    assert client.read32(BAR0, 0) == magic
    assert len(client.read(BAR0, bar_bytes - 8, 8)) == 8
    table = client.read32(CONFIG, msix + 4) & ~7
    assert client.read(BAR0, table, 32) == 2 * (bytes(12) + b"\1\0\0\0"), "masked"
    entry = struct.pack("<QII", 0xFEE0_1000, 0x4041, 0)
    client.write(BAR0, table + 16, entry[:6])
    client.write(BAR0, table + 22, entry[6:])
    assert client.read(BAR0, table + 8, 32) == bytes(4) + b"\1\0\0\0" + entry + bytes(8)
    # A command that wants no reply is done before the next one.
    body = struct.pack("<QIII", table, BAR0, 4, 0x1234)
    client.send(vfio_client.REGION_WRITE, body, flags=vfio_client.NO_REPLY)
    client.send(vfio_client.REGION_WRITE, body[:-1], flags=vfio_client.NO_REPLY)  # nor an error
    assert client.read32(BAR0, table) == 0x1234
    client.write32(CONFIG, 4, 0)  # memory space off
    assert client.read32(BAR0, 0) == 0xFFFFFFFF
    client.write32(CONFIG, 4, 2)
    assert client.read32(BAR0, 0) == magic


def events(client, vectors):
    """Event descriptors: set, triggered by the client, taken away."""
    event = os.eventfd(0, os.EFD_NONBLOCK)
    client.set_interrupts(DATA_EVENTFD | TRIGGER, 2, 1, [event])
    client.set_interrupts(DATA_NONE | TRIGGER, 2, 1)
    client.set_interrupts(DATA_BOOL | TRIGGER, 1, 3, data=b"\1\1\1")
    client.set_interrupts(DATA_BOOL | TRIGGER, 1, 3, data=b"\1\0\1")
    assert os.eventfd_read(event) == 2
    os.eventfd_write(event, (1 << 64) - 2)  # full: nobody waits for room in it
    client.set_interrupts(DATA_NONE | TRIGGER, 2, 1)
    assert os.eventfd_read(event) == (1 << 64) - 2
    client.set_interrupts(DATA_EVENTFD | TRIGGER, 0, vectors)  # none of them any more
    client.set_interrupts(DATA_NONE | TRIGGER, 2, 1)
    with pytest.raises(BlockingIOError):
        os.eventfd_read(event)
    reader, writer = os.pipe()
    for flags, start, count, files, data in (
        (DATA_EVENTFD | TRIGGER, 0, 2, [event], b""),
        (DATA_EVENTFD | TRIGGER, 0, 1, [writer], b""),  # no event descriptor
        (DATA_EVENTFD | TRIGGER, vectors, 1, [event], b""),
        (DATA_EVENTFD | TRIGGER, 0xFFFFFFFF, 1, [event], b""),
        (DATA_EVENTFD | TRIGGER, 0, 0, [], b""),
        (DATA_EVENTFD | MASK, 0, 1, [event], b""),
        (DATA_NONE | TRIGGER, 0, 1, [event], b""),
        (DATA_NONE | TRIGGER, 1, 0xFFFFFFFF, [], b""),
        (DATA_NONE | TRIGGER, 1, 0, [], b""),
        (DATA_NONE | DATA_BOOL | TRIGGER, 0, 1, [], b"\1"),
        (DATA_BOOL | TRIGGER, 0, 2, [], b"\1"),
        (DATA_NONE | MASK | UNMASK, 0, 1, [], b""),
        (DATA_NONE, 0, 1, [], b""),
        (0x40 | DATA_NONE | TRIGGER, 0, 1, [], b""),
    ):
        refused(errno.EINVAL, client.set_interrupts, flags, start, count, files, data)
    refused(errno.EINVAL, client.set_interrupts, DATA_EVENTFD | TRIGGER, 0, 1, [event], index=0)
    refused(errno.EINVAL, client.set_interrupts, DATA_NONE | TRIGGER, 0, 0, index=9)
    refused(errno.EINVAL, client.set_interrupts, DATA_EVENTFD | TRIGGER, 0, 9, 9 * [event])  # more than a message has
    for file in (event, reader, writer):
        os.close(file)


def maps(client):
    """Memory: whole pages, none twice, given back as it was given."""
    file = os.memfd_create("memory")
    os.ftruncate(file, 16 * 4096)
    memory = bytes(4 * 4096)
    client.map(0x10000, memory, file=file)
    client.map(0x14000, memory, file=file, offset=12 * 4096, flags=vfio_client.READABLE)
    client.map(1 << 60, memory)
    client.map((1 << 64) - 4 * 4096, memory)
    for start, size in ((0x10000, 4), (0xF000, 2), (0x13000, 1), (0x8000, 32), (0x17000, 8)):
        refused(errno.EEXIST, client.map, start * 1, memory, size=size * 4096)
    reader, writer = os.pipe()
    for start, size, more in (
        (0x20000, 0, {}),
        (0x20001, 4096, {}),
        (0x20000, 4095, {}),
        ((1 << 64) - 4096, 8192, {}),
        (0x20000, 4096, {"flags": 4}),
        (0x20000, 4096, {"offset": 4096}),  # of which file
        (0x20000, 4096, {"file": file, "offset": 16 * 4096}),  # behind its end
        (0x20000, 8192, {"file": file, "offset": 15 * 4096}),
        (0x20000, 4096, {"file": file, "offset": (1 << 64) - 4096}),
        (0x20000, 4096, {"file": file, "offset": 1}),
        (0x20000, 4096, {"file": reader}),
    ):
        refused(errno.EINVAL, client.map, start, memory, size=size, **more)
    refused(errno.EINVAL, client.ask, vfio_client.DMA_MAP, struct.pack("<IIQQQ", 32, 3, 0, 0x20000, 4096), [file, file])
    for start, size in ((0x20000, 4096), (0x10000, 4096), (0x11000, 3 * 4096), (0x10000, 8 * 4096)):
        refused(errno.ENOENT, client.unmap, start, size)
    refused(errno.EINVAL, client.unmap, 0x10000, 4 * 4096, flags=1)
    refused(errno.EINVAL, client.unmap, 0x10000, 4 * 4096, flags=2)
    client.unmap(0x10000, 4 * 4096)
    client.map(0x10000, memory, file=file, size=4096)
    client.unmap(0, 0, flags=2)
    client.map(0, memory, file=file)
    client.unmap(0, 4 * 4096)
    for each in (file, reader, writer):
        os.close(each)


def nonsense(client, bar_bytes):
    """Whatever is asked for that there is not."""
    ask = client.ask
    for command in (0, 11, 12, 14, 15, 16, 17, 18, 99, 65535):
        refused(errno.ENOTSUP, ask, command, b"\0" * 16)
    for command in (*range(2, 11), 13):
        refused(errno.EINVAL, ask, command, b"\xff" * 7)
        refused(errno.EINVAL, ask, command, b"\xff" * 100)
    refused(errno.EINVAL, ask, vfio_client.DEVICE_INFO, struct.pack("<IIII", 15, 0, 0, 0))
    for index in (9, 0xFFFFFFFF):
        refused(errno.EINVAL, client.region, index)
        refused(errno.EINVAL, client.interrupts, index)
        refused(errno.EINVAL, client.read, index, 0, 4)
    for region, offset, count in (
        (BAR0, bar_bytes, 4),
        (BAR0, bar_bytes - 3, 4),
        (BAR0, (1 << 64) - 4, 8),
        (BAR0, 0, 0),
        (BAR0, 0, (1 << 20) + 1),
        (CONFIG, 4095, 2),
        (CONFIG, 4096, 1),
        (1, 0, 4),
        (8, 0, 1),
    ):
        refused(errno.EINVAL, client.read, region, offset, count)
        if count < 4096:
            refused(errno.EINVAL, client.write, region, offset, bytes(count))
    refused(errno.EINVAL, ask, vfio_client.REGION_WRITE, struct.pack("<QIII", 0, BAR0, 8, 0))
    refused(errno.EINVAL, ask, vfio_client.REGION_WRITE, struct.pack("<QIIQ", 0, BAR0, 4, 0))


def test_what_a_monitor_asks_for(card):
    """Version, regions, configuration space, registers, events, memory, reset; the client goes, and the run ends well."""
    client = versions(card)
    bar_bytes, vectors = what_there_is(client)
    msix = configuration(client, bar_bytes, vectors)
    accesses(client, bar_bytes, msix)
    events(client, vectors)
    maps(client)
    nonsense(client, bar_bytes)
    magic = client.read32(BAR0, 0)
    client.reset()
    assert client.read(CONFIG, 0x10, 8) == struct.pack("<Q", client.read32(CONFIG, 0x10) & 0xF), "placed anew"
    assert client.read32(BAR0, 0) == magic
    pcie = client.capability(0x10)
    client.write(CONFIG, 0x10, struct.pack("<Q", BAR))
    client.write(CONFIG, pcie + 8, struct.pack("<H", 0x8000))  # the same, as a guest asks for it
    assert client.read32(CONFIG, 0x14) == 0 and client.read32(BAR0, 0) == magic
    client.close()
    assert card.ended() == 0


def test_a_client_that_goes_while_it_owes_an_answer(driver, card):
    """The card waits for memory by message; the run ends well."""
    client = card.client()
    client.version({})
    nic = Nic(driver, client, 0x1000_0000, False)
    nic.send(bytes(60))
    assert client.wait(client.socket), "asked for its descriptor"
    client.close()
    assert card.ended() == 0


def test_a_client_that_waits_for_a_register_and_owes_an_answer(driver, card):
    """As QEMU does whose memory is not shared: neither would go on; one line says so, within seconds."""
    client = card.client()
    client.version({})
    nic = Nic(driver, client, 0x1000_0000, False)
    nic.send(bytes(60))
    assert client.wait(client.socket), "asked for its descriptor"
    client.send(vfio_client.REGION_READ, struct.pack("<QII", 0, BAR0, 4))
    with pytest.raises(UserError, match="share=on"):
        card.ended()


HEADER = "<HHIII"


@pytest.mark.parametrize(
    "data, says",
    [
        (struct.pack(HEADER, 1, vfio_client.DEVICE_INFO, 32, 0, 0) + bytes(16), "in place of its version"),
        (struct.pack(HEADER, 1, vfio_client.VERSION, 15, 0, 0), "a message of 15 bytes"),
        (struct.pack(HEADER, 1, vfio_client.VERSION, 1 << 31, 0, 0), "a message of 2147483648 bytes"),
        (struct.pack(HEADER, 1, vfio_client.VERSION, 16, 2, 0), "neither command nor reply"),
        (struct.pack(HEADER, 1, vfio_client.DMA_READ, 16, vfio_client.REPLY, 0), "nobody waits for"),
        (struct.pack(HEADER, 1, vfio_client.VERSION, 20, 0, 0)[:9], ""),  # a part, and then nothing: it has gone
    ],
)
def test_a_client_that_makes_no_sense(card, data, says):
    """Ends its simulator with one line, or well."""
    client = card.client()
    client.socket.sendall(data)
    if not says:
        client.close()
        assert card.ended() == 0
        return
    with pytest.raises(Gone):
        client.reply(1)
    with pytest.raises(UserError, match=says):
        card.ended()


# ---------------------------------------------------------------- a driver in the client's process

_CALLS = {
    "read32": ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32),
    "write32": ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32),
    "alloc": ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64),
    "master": ctypes.CFUNCTYPE(None, ctypes.c_int),
    "interrupts": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint),
}


class Machine(ctypes.Structure):
    _fields_ = [*_CALLS.items(), ("memory", ctypes.c_void_p), ("bus", ctypes.c_uint64)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The driver core, as a library."""
    out = tmp_path_factory.mktemp("driver") / "driver.so"
    core = ROOT / "sw" / "lib" / "host_nic"
    rdl = ROOT / "systems" / "nic_core" / "host_nic.rdl"
    generated = [registers.generate(rdl, ["nic_device_regs", "nic_interface_regs", "nic_port_regs"], "host_nic")]
    includes = [f"-I{x}" for x in (*generated, formats.generate(("queue_pkg",)), core)]
    sources = [str(x) for x in (*sorted(core.glob("*.c")), Path(__file__).parent / "guest" / "user_nic.c")]
    words = ["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *includes, *sources, "-o", str(out)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(out))
    library.nic_open.restype = ctypes.c_void_p
    library.nic_error.restype = ctypes.c_char_p
    for name in ("nic_recover", "nic_stop", "nic_close", "nic_send", "nic_take"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    return library


class Nic:
    """One card with its driver, memory of which is at `bus`."""

    def __init__(self, library, client, bus, file):
        self.library, self.client, self.events, self.sent = library, client, [], 0
        self.file = os.memfd_create("memory")
        os.ftruncate(self.file, MEMORY)
        self.memory = mmap.mmap(self.file, MEMORY)
        self.used = 0
        client.map(bus, self.memory, file=self.file if file else None)
        calls = {
            "read32": lambda offset: client.read32(BAR0, offset),
            "write32": lambda offset, value: client.write32(BAR0, offset, value),
            "alloc": self.alloc,
            "master": client.master,
            "interrupts": self.interrupts,
        }
        self.calls = {name: _CALLS[name](x) for name, x in calls.items()}
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        machine = Machine(**self.calls, memory=self.address, bus=bus)
        status = ctypes.c_int()
        self.nic = library.nic_open(ctypes.byref(machine), ctypes.byref(status))
        assert status.value == 0, library.nic_error(status.value)

    def alloc(self, size):
        at, self.used = self.used, self.used + (size + 4095 & ~4095)
        return at if self.used <= len(self.memory) else (1 << 64) - 1

    def interrupts(self, vectors):
        for event in self.events:
            os.close(event)
        self.events = self.client.lead(vectors)
        return 0

    def call(self, name):
        status = getattr(self.library, f"nic_{name}")(self.nic)
        assert status == 0, self.library.nic_error(status)

    def send(self, frame):
        assert self.library.nic_send(self.nic, frame, len(frame)) == 0

    def interrupted(self, seconds=None):
        """Waits for an interrupt; whether one came."""
        for event in (ready := self.client.wait(*self.events, seconds=seconds)):
            os.eventfd_read(event)
        return bool(ready)

    def take(self):
        """Frames that have come."""
        out, sent = ctypes.create_string_buffer(64 * 1024), ctypes.c_uint()
        used = self.library.nic_take(self.nic, out, len(out), ctypes.byref(sent))
        self.sent += sent.value
        frames, at = [], 0
        while at < used:
            (size,) = struct.unpack_from("<H", out, at)
            frames.append(out.raw[at + 2 : at + 2 + size])
            at += 2 + size
        return frames

    def receive(self, count):
        frames = self.take()
        while len(frames) < count:
            assert self.interrupted()
            frames += self.take()
        return frames


def test_a_driver_passes_frames_both_ways(driver, tmp_path):
    """The driver core in this process, a card with its memory in a file and one whose memory goes by messages; interrupts by
    event descriptors, masked and pending; a reset; memory taken away, and a file cut short, while in use."""
    card = Card(tmp_path, 2)
    try:
        first, second = card.client(0), card.client(1)
        first.version()
        second.version({**vfio_client.CAPABILITIES, "max_data_xfer_size": 100})
        near, far = Nic(driver, first, 0x1000_0000, True), Nic(driver, second, 1 << 40, False)
        random.seed(17)
        frames = [bytes([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xB5]) + random.randbytes(46 + 97 * n) for n in range(12)]
        for frame in frames:
            near.send(frame)
        assert far.receive(len(frames)) == frames
        for frame in reversed(frames):
            far.send(frame)
        assert near.receive(len(frames)) == frames[::-1]
        assert second.transfers[vfio_client.DMA_READ] > 12 and second.transfers[vfio_client.DMA_WRITE] > 12
        assert 0 < second.longest <= 100 and not any(first.transfers.values())
        for nic in (near, far):
            while nic.sent < len(frames):
                assert nic.interrupted() and not nic.take()

        msix = second.capability(0x11)
        table, pending = (second.read32(CONFIG, msix + at) & ~7 for at in (4, 8))
        vectors = second.interrupts(vfio_client.MSIX)[3]

        def by_message(on):
            second.set_interrupts(DATA_NONE | (MASK if on else UNMASK), 0, vectors)

        def in_the_table(on):
            for vector in range(vectors):
                second.write32(BAR0, table + 16 * vector + 12, on)

        def in_the_capability(on):
            second.write(CONFIG, msix + 2, struct.pack("<H", 0xC000 if on else 0x8000))

        for mask in (by_message, in_the_table, in_the_capability):
            mask(1)
            second.read(BAR0, pending, 8)  # what was on its way has come
            assert not far.take()
            far.interrupted(0)
            near.send(frames[0])
            assert any(any(second.read(BAR0, pending, 8)) for _ in range(10_000))
            assert not far.interrupted(0)
            mask(0)
            assert far.interrupted() and far.receive(1) == frames[:1]

        first.reset()
        near.call("recover")
        near.send(frames[3])
        far.send(frames[4])
        assert near.receive(1) == [frames[4]] and far.receive(1) == [frames[3]]

        os.ftruncate(near.file, 0)  # the card still has its rings there
        far.send(frames[5])
        for _ in range(200):
            first.read32(BAR0, 0)
        kept, second.regions = second.regions, []  # what the card asks for is refused
        far.send(frames[6])
        for _ in range(20):
            second.read32(BAR0, 0)
        second.unmap(1 << 40, MEMORY)
        far.send(frames[7])
        for _ in range(20):
            second.read32(BAR0, 0)
        second.map(1 << 41, kept[0][1])
        first.close()
        with pytest.raises(IntegrityError, match="memory that is not the machine's"):
            card.ended()
    finally:
        card.close()

# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel in QEMU drives host-nic: `./emery linux --lane qemu`."""

import os
import socket
import struct

import pytest
from guests import WRONG, guest, has_linux

from emery import process
from emery.cli import main
from emery.common import UserError
from emery.guest import run
from emery.guest.simulator import Simulator
from emery.make import debian_kernel, linux


def lacks(check):
    """What this machine lacks, in a line; empty: nothing."""
    try:
        check()
    except UserError as error:
        return str(error)
    return ""


needs_qemu, needs_vfio_user = (
    pytest.mark.skipif(bool(why := lacks(x)), reason=why) for x in (debian_kernel.check, debian_kernel.check_vfio_user)
)
MEMORY, ANSWER, SPACE_WRITE, SPACE_READ, BAR_WRITE, BAR_READ, RESET = 0, 1, 2, 3, 4, 5, 7
BAR = 0xE000_0000


@pytest.mark.parametrize("words", [["--debug"], ["--card", "capture"], ["--set", "fault=surprise_removal"]])
def test_refuses(capsys, monkeypatch, words):
    monkeypatch.setattr(debian_kernel, "check", lambda: None)
    assert main(["linux", "--lane", "qemu", *words, "--", "true"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_missing_packages_are_one_line(capsys, monkeypatch):
    monkeypatch.setattr(debian_kernel, "QEMU", "no-such-qemu")
    monkeypatch.setattr(debian_kernel, "_PACKAGES", {"no-such-qemu": "qemu-system-x86"})
    assert main(["linux", "--lane", "qemu", "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "apt-get install -y" in said and "qemu-system-x86" in said


def test_another_qemu_is_refused_in_one_line(capsys, monkeypatch, tmp_path):
    (tmp_path / "qemu").write_text("#!/bin/sh\necho QEMU emulator version 9.2.0\n")
    (tmp_path / "qemu").chmod(0o755)
    monkeypatch.setattr(debian_kernel, "missing", list)
    monkeypatch.setattr(debian_kernel, "QEMU", str(tmp_path / "qemu"))
    assert main(["linux", "--lane", "qemu", "--", "true"]) == 2
    assert (
        capsys.readouterr().err
        == f"emery: linux: --lane qemu is for QEMU 7.2, as {tmp_path}/qemu on the PATH: {tmp_path}/qemu is 9.2\n"
    )


@has_linux
def test_a_qemu_that_does_not_start_is_one_line(capsys, monkeypatch, tmp_path):
    for name, text in (
        ("qemu", "#!/bin/sh\n[ $1 = --version ] && echo version 7.2.0 || echo qemu: no such machine\nexit 1\n"),
        ("card.ko", ""),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "qemu").chmod(0o755)
    monkeypatch.setattr(debian_kernel, "check", lambda: None)
    monkeypatch.setattr(debian_kernel, "QEMU", str(tmp_path / "qemu"))
    monkeypatch.setattr(debian_kernel, "kernel", lambda: (tmp_path / "vmlinuz", tmp_path))
    monkeypatch.setattr(debian_kernel, "build_module", lambda target: tmp_path / "card.ko")
    assert main(["linux", "--lane", "qemu", "--", "true"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "qemu: no such machine" in said


@pytest.fixture
def card(tmp_path):
    """A simulator that waits for QEMU, and what speaks to it as QEMU's PCI proxy does."""
    target = run.systems()[0]
    values = target.values([])
    settings = {**target.settings(values), "seed": 1, "guests": 1, "folder": tmp_path, "result": tmp_path / "result"}
    simulator = Simulator(
        linux.build_simulator(target, values), {**settings, "capture": "", "waves": "", "lane": "qemu"}, tmp_path
    )
    assert simulator.runs()
    proxy = socket.socket(socket.AF_UNIX)
    proxy.connect(str(tmp_path / "pci0.0"))
    yield simulator, proxy
    proxy.close()
    process.finish(simulator.child)


def tell(proxy, command, body=b"", files=()):
    head = struct.pack("<iIQ", command, 0, len(body))
    socket.send_fds(proxy, [head + body], files)


def ask(proxy, command, body=b""):
    tell(proxy, command, body)
    found, _, size, value = struct.unpack("<iIQQ", proxy.recv(24, socket.MSG_WAITALL))
    assert (found, size) == (ANSWER, 8)
    return value


def config(proxy, addr, size, value=None):
    return ask(proxy, SPACE_READ if value is None else SPACE_WRITE, struct.pack("<IIi", addr, value or 0, size))


def bar(proxy, addr, size, value=None):
    return ask(proxy, BAR_READ if value is None else BAR_WRITE, struct.pack("<QQIi", addr, value or 0, size, 1))


def test_a_card_behind_the_proxy(card):
    """Found and placed as a BIOS does, bytes of its configuration, its registers; the machine's memory; gone with QEMU."""
    simulator, proxy = card
    file = os.memfd_create("memory")
    os.ftruncate(file, 1 << 20)
    for first in (0, 0xC0000):  # the same file again, shown otherwise
        tell(proxy, MEMORY, struct.pack("<8Q8Q8q", 0, *7 * [first], 0xA0000, *7 * [0], *8 * [0]), [file])
    os.close(file)
    ids = config(proxy, 0, 4)
    assert ids not in (0, 0xFFFFFFFF)
    assert [config(proxy, n, 1) for n in range(4)] == list(struct.pack("<I", ids))
    config(proxy, 0x10, 4, 0xFFFFFFFF)
    size = -(config(proxy, 0x10, 4) & ~0xF) & 0xFFFFFFFF
    assert size >= 4096 and size & (size - 1) == 0
    config(proxy, 0x10, 4, BAR)
    config(proxy, 0x14, 4, 0)
    config(proxy, 4, 2, 2)
    magic = bar(proxy, BAR, 4)
    assert magic not in (0, 0xFFFFFFFF)
    assert bar(proxy, BAR, 2) == magic & 0xFFFF
    assert bar(proxy, BAR + 1, 1) == magic >> 8 & 0xFF
    bar(proxy, BAR, 4, ~magic & 0xFFFFFFFF)  # cannot be written
    assert bar(proxy, BAR, 4) == magic
    assert bar(proxy, BAR + size, 4) == 0xFFFFFFFF  # nobody's
    assert ask(proxy, RESET) == 0
    proxy.close()
    simulator.wait()
    simulator.check("linux")
    assert simulator.child.returncode == 0


@pytest.mark.parametrize(
    "command, body, says",
    [
        (99, b"", "message 99"),
        (MEMORY, bytes(8), "odd length"),
        (SPACE_READ, struct.pack("<IIi", 2, 0, 4), "configuration space"),
        (SPACE_WRITE, struct.pack("<IIi", 0, 0, -1), "configuration space"),
        (SPACE_READ, struct.pack("<IIi", 1 << 20, 0, 4), "configuration space"),
        (BAR_READ, struct.pack("<QQIi", BAR + 4, 0, 8, 1), "a BAR"),
        (BAR_WRITE, struct.pack("<QQIi", BAR, 0, 1 << 31, 1), "a BAR"),
        (BAR_READ, bytes(4096), "too long"),
    ],
)
def test_a_proxy_that_makes_no_sense(card, command, body, says):
    """Ends its simulator with one line."""
    simulator, proxy = card
    tell(proxy, command, body)
    simulator.wait()
    with pytest.raises(UserError, match=says):
        simulator.check("linux")


@pytest.mark.parametrize("lane", [pytest.param("qemu", marks=needs_qemu), pytest.param("vfio-user", marks=needs_vfio_user)])
def test_ping_and_tcp_between_two_debian_kernels(capfdbinary, tmp_path, lane):
    """Enumeration by BIOS and kernel, MSI-X, DMA, all bytes of TCP there and back, the status; the unchanged module."""
    script = [
        "ping -c 3 10.0.0.2",
        "head -c 100000 /bin/busybox >sent; nc 10.0.0.2 7 <sent >got; cmp sent got && wc -c <got",
        "uname -r; grep eth0 /proc/interrupts; echo wrong >&2; exit 5",
    ]
    log = tmp_path / "log"
    status, out, err = guest(
        capfdbinary,
        "--lane",
        lane,
        "--pcap-out",
        str(tmp_path),
        "--kernel-log",
        str(log),
        "--",
        "sh",
        "-c",
        "; ".join(script),
    )
    assert status == 5 and err == "wrong\n", err
    assert "3 packets received, 0% packet loss" in out and "\n100000\n" in out and "-cloud-amd64\n" in out, out
    assert sum(int(x.split()[1]) for x in out.splitlines() if "PCI-MSI" in x) > 10
    assert (tmp_path / "wire.pcap").stat().st_size > 200_000
    assert not WRONG.search(log.read_text(errors="replace"))

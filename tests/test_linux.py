# SPDX-License-Identifier: Apache-2.0
"""A real Linux drives host-nic: the kernel module, guests in simulated time, `./emery linux`."""

import pytest
import scapy.utils

from emery.cli import main
from emery.guest import run
from emery.make import linux

needs_linux = pytest.mark.skipif(bool(linux.missing()), reason=f"Debian packages: {' '.join(linux.missing())}")


def guest(capfdbinary, *words):
    """Status, output and errors of `./emery linux`."""
    status = main(["linux", *words])
    out, err = capfdbinary.readouterr()
    return status, out.decode(), err.decode()


@pytest.mark.parametrize("words", [[], ["--"], ["true"], ["--guests", "3", "--", "true"], ["--set", "nothing=1", "--", "true"]])
def test_refuses(capsys, words):
    assert main(["linux", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_missing_packages_are_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(linux, "SOURCE", tmp_path / "linux-source-6.1.tar.xz")
    assert main(["linux", "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "apt-get install -y" in said and "linux-source-6.1" in said


@needs_linux
def test_the_module_builds_without_a_warning():
    module, log = linux.build_module(run.default_system(), ("W=1",))
    assert module.name == "emery_host_nic.ko" and "warning" not in log.lower(), log


@needs_linux
def test_status_and_output_of_a_command(capfdbinary):
    script = "ip link show eth0; rmmod emery_host_nic && insmod /card.ko && ip link show eth0 | head -1; echo wrong >&2; exit 3"
    status, out, err = guest(capfdbinary, "--guests", "1", "--", "sh", "-c", script)
    assert status == 3 and err == "wrong\n"
    assert "UP,LOWER_UP" in out and "02:00:00:00:00:01" in out
    assert out.count("eth0") == 2, "unloaded and loaded again"


@needs_linux
def test_ping_between_two_kernels(capfdbinary, tmp_path):
    """Over two cards and a wire; simulated time, so the same words once more. (When the kernels' own IPv6 frames go is not.)"""
    seen = []
    for name in ("a", "b"):
        status, out, _ = guest(capfdbinary, "--pcap-out", str(tmp_path / name), "--", "ping", "-c", "3", "10.0.0.2")
        assert status == 0 and "3 packets received, 0% packet loss" in out
        heads = [x[:18] for x, _ in scapy.utils.RawPcapReader(str(tmp_path / name / "wire.pcap"))]  # to IPv4's length
        seen.append((out, [x for x in heads if x[12:14] != b"\x86\xdd"]))
    assert seen[0] == seen[1]


@needs_linux
def test_bytes_come_back_as_they_were_sent(capfdbinary):
    """TCP echo of the other kernel: 300 kB both ways through checksums, rings more than once around, all queues."""
    script = "head -c 300000 /bin/busybox >sent; nc 10.0.0.2 7 <sent >got; cmp sent got && wc -c <got && ifconfig eth0"
    status, out, _ = guest(capfdbinary, "--", "sh", "-c", script)
    assert status == 0 and out.startswith("300000\n"), out
    assert all(f"{way} packets:" in out for way in ("RX", "TX")) and out.count("errors:0 dropped:0") == 2, out

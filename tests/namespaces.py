# SPDX-License-Identifier: Apache-2.0
"""Network namespaces of this machine around a system that `./emery attach` joins them to."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emery import attach
from emery.common import ROOT


def _able() -> bool:
    """Whether namespaces and interfaces can be made here."""
    name = f"emery{os.getpid()}x"
    if not shutil.which("ip") or subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return False
    try:
        os.close(attach._make(attach.End("wire0", "tap0", name), 1500))
    except attach.UserError:
        return False
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return True


needs_tap = pytest.mark.skipif(not _able(), reason="TAP interfaces and network namespaces: needs root, /dev/net/tun and ip")
SECONDS = 30  # for anything here

# Runs in a namespace. An echo that is answered with other bytes, or not in time, ends it with an error.
PING = """
import os, socket, struct, sys
def checksum(data):
    total = sum(struct.unpack(f"!{len(data + bytes(len(data) % 2)) // 2}H", data + bytes(len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
peer, *sizes = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
    raw.settimeout(30)
    for number, size in enumerate(map(int, sizes)):
        body = struct.pack("!HH", 4711, number) + os.urandom(size)
        raw.sendto(struct.pack("!BBH", 8, 0, checksum(struct.pack("!BBH", 8, 0, 0) + body)) + body, (peer, 0))
        answer = raw.recv(1 << 16)[20:]
        while answer[0] or answer[4:8] != body[:4]:
            answer = raw.recv(1 << 16)[20:]
        assert answer[4:] == body, size
"""


def hears_signals():
    """Also where whoever began the tests ignores them: under nohup SIGHUP, in a script's background SIGINT."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Namespaces:
    """Namespaces named by letters, and what is joined to them."""

    def __init__(self, letters: str):
        self.spaces = [f"emery{os.getpid()}{x}" for x in letters]
        self.process = None
        for space in self.spaces:
            subprocess.run(["ip", "netns", "add", space], check=True)
            self.run(space, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")

    def attach(self, path: Path, name: str, *words):
        """Begins; comes back when frames can pass."""
        self.result = path / "result.json"
        command = [sys.executable, str(ROOT / "emery"), "attach", name, "--json", str(self.result), *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hears_signals
        )
        assert "slower than the wall" in self.process.stdout.readline(), self.process.communicate()

    def run(self, space: str, *command) -> str:
        done = subprocess.run(["ip", "netns", "exec", space, *command], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def python(self, number: int, text: str, *words) -> str:
        return self.run(self.spaces[number], sys.executable, "-c", text, *map(str, words))

    def end(self, number=signal.SIGTERM, status=0) -> tuple[dict, str]:
        """Asks it to end; gives the result, and what it says."""
        if number:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == status, out + err
        return json.loads(self.result.read_text()), out

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)

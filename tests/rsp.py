# SPDX-License-Identifier: Apache-2.0
"""A client of gdb's remote protocol, as little of it as tests need."""

import re
import socket
from contextlib import suppress


def framed(payload: str) -> bytes:
    """A packet."""
    data = payload.encode("latin-1")
    return b"$" + data + b"#%02x" % (sum(data) & 255)


class Client:
    """A connection. Packets are acknowledged, as they are in the beginning of any session."""

    def __init__(self, at: str | int, timeout: float = 120):
        kind = socket.AF_INET if isinstance(at, int) else socket.AF_UNIX
        self.socket = socket.socket(kind, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", at) if isinstance(at, int) else at)
        if isinstance(at, int):
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data: bytes):
        self.socket.sendall(data)

    def byte(self) -> bytes:
        """The next byte; none at the end."""
        if not self.bytes:
            with suppress(ConnectionResetError):
                self.bytes = self.socket.recv(65536)
        first, self.bytes = self.bytes[:1], self.bytes[1:]
        return first

    def answer(self) -> str:
        """The payload of the next packet."""
        while (c := self.byte()) != b"$":
            assert c in (b"+", b"-"), c
        data = b""
        while (c := self.byte()) != b"#":
            assert c, "the connection ended within a packet"
            data += c
        assert int(self.byte() + self.byte(), 16) == sum(data) & 255
        self.send(b"+")
        data = re.sub(rb"}(.)", lambda x: bytes([x[1][0] ^ 0x20]), data, flags=re.DOTALL)
        return data.decode("latin-1")

    def ask(self, payload: str) -> str:
        """A packet and its answer."""
        self.send(framed(payload))
        return self.answer()

    def ended(self) -> bool:
        """Whether there is nothing more to come."""
        return self.byte() == b""

    # ---- what the packets are about

    def registers(self, core: int) -> list[int | None]:
        """x0 ... x31 and pc; None: not known yet."""
        assert self.ask(f"Hg{core + 1:x}") == "OK"
        words = re.findall("........", self.ask("g"))
        return [None if "x" in x else int.from_bytes(bytes.fromhex(x), "little") for x in words]

    def memory(self, address: int, size: int = 4) -> bytes:
        """Bytes."""
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def word(self, address: int) -> int:
        """A word."""
        return int.from_bytes(self.memory(address), "little")

    def monitor(self, command: str) -> str:
        """What a monitor command says."""
        return bytes.fromhex(self.ask(f"qRcmd,{command.encode().hex()}")).decode()

    def go(self) -> str:
        """Runs all cores to the next stop."""
        return self.ask("vCont;c")

# SPDX-License-Identifier: Apache-2.0
"""A client of the vfio-user protocol, written from its specification (version 0.1): what a virtual machine monitor does to a
device at a socket. Nothing of the server's is used.

Commands of the server for memory (DMA_READ, DMA_WRITE) are answered whenever a client waits: for its own reply, or in `wait`.
"""

import errno
import json
import os
import select
import socket
import struct

VERSION, DMA_MAP, DMA_UNMAP, DEVICE_INFO, REGION_INFO, REGION_FILES, IRQ_INFO, SET_IRQS = range(1, 9)
REGION_READ, REGION_WRITE, DMA_READ, DMA_WRITE, RESET = range(9, 14)
REPLY, NO_REPLY, ERROR = 1, 0x10, 0x20
BAR0, CONFIG = 0, 7
MSIX = 2
DATA_NONE, DATA_BOOL, DATA_EVENTFD, MASK, UNMASK, TRIGGER = (1 << n for n in range(6))
READABLE, WRITEABLE = 1, 2
CAPABILITIES = {"max_msg_fds": 8, "max_data_xfer_size": 1 << 20, "twin_socket": {"supported": False}, "pgsizes": 4096}


class Refused(Exception):
    """An error reply."""

    def __init__(self, number):
        super().__init__(errno.errorcode.get(number, str(number)))
        self.number = number


class Gone(Exception):
    """The server has closed the connection."""


class Client:
    """One connection. `others`: clients of the same process, whose devices may want something meanwhile."""

    def __init__(self, path, others=()):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.group = [self, *others]
        for other in others:
            other.group.append(self)
        self.id = 0
        self.regions = []  # (address, memory) that the server reaches by messages
        self.transfers = {DMA_READ: 0, DMA_WRITE: 0}
        self.longest = 0

    def close(self):
        self.socket.close()

    # ---- messages

    def send(self, command, body=b"", files=(), flags=0, size=None):
        self.id = self.id + 1 & 0xFFFF
        head = struct.pack("<HHIII", self.id, command, 16 + len(body) if size is None else size, flags, 0)
        try:
            socket.send_fds(self.socket, [head + body], files)
        except BrokenPipeError:
            raise Gone from None
        return self.id

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                part = self.socket.recv(count - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                raise Gone
            data += part
        return data

    def _next(self):
        """The next reply; none when it was a command, which is answered."""
        number, command, size, flags, error = struct.unpack("<HHIII", self._exactly(16))
        body = self._exactly(size - 16)
        if flags & 0xF == REPLY:
            return number, command, flags, error, body
        address, count = struct.unpack_from("<QQ", body)
        assert command in (DMA_READ, DMA_WRITE) and error == 0
        self.transfers[command] += 1
        self.longest = max(self.longest, count)
        found = [
            (start, memory) for start, memory in self.regions if start <= address and address + count <= start + len(memory)
        ]
        out, flags = body[:16], REPLY
        if not found:
            out, flags, error = b"", REPLY | ERROR, errno.EFAULT
        else:
            start, memory = found[0]
            at = address - start
            if command == DMA_READ:
                out += memory[at : at + count]
            else:
                assert len(body) == 16 + count
                memory[at : at + count] = body[16:]
        self.socket.sendall(struct.pack("<HHIII", number, command, 16 + len(out), flags, error) + out)
        return None

    def wait(self, *files, seconds=None):
        """Until one of these can be read from; commands for memory are answered meanwhile. Gives those that can."""
        while True:
            sockets = {x.socket: x for x in self.group}
            ready, _, _ = select.select([*files, *sockets], [], [], seconds)
            if found := [x for x in ready if x in files]:
                return found
            if not ready:
                return []
            for each in ready:
                assert sockets[each]._next() is None

    def reply(self, number):
        """The reply to that command."""
        while True:
            for each in self.group:
                if each is self:
                    continue
                while select.select([each.socket], [], [], 0)[0]:
                    assert each._next() is None
            others = [x.socket for x in self.group if x is not self]
            if self.socket not in select.select([self.socket, *others], [], [])[0]:
                continue
            if (found := self._next()) is None:
                continue
            got, _, flags, error, body = found
            assert got == number
            if flags & ERROR:
                assert not body
                raise Refused(error)
            return body

    def ask(self, command, body=b"", files=()):
        return self.reply(self.send(command, body, files))

    # ---- commands

    def version(self, capabilities=None, major=0, minor=1):
        text = json.dumps({"capabilities": CAPABILITIES if capabilities is None else capabilities}).encode() + b"\0"
        body = self.ask(VERSION, struct.pack("<HH", major, minor) + text)
        assert body[-1:] == b"\0"
        return struct.unpack_from("<HH", body), json.loads(body[4:-1])["capabilities"]

    def map(self, address, memory, flags=READABLE | WRITEABLE, file=None, offset=0, size=None):
        body = struct.pack("<IIQQQ", 32, flags, offset, address, len(memory) if size is None else size)
        assert self.ask(DMA_MAP, body, [] if file is None else [file]) == b""
        if file is None:
            self.regions.append((address, memory))

    def unmap(self, address, size, flags=0):
        body = struct.pack("<IIQQ", 24, flags, address, size)
        assert self.ask(DMA_UNMAP, body) == body
        self.regions = [x for x in self.regions if x[0] != address and not flags]

    def device(self):
        return struct.unpack("<IIII", self.ask(DEVICE_INFO, struct.pack("<IIII", 16, 0, 0, 0)))

    def region(self, index):
        return struct.unpack("<IIIIQQ", self.ask(REGION_INFO, struct.pack("<IIIIQQ", 32, 0, index, 0, 0, 0)))

    def interrupts(self, index):
        return struct.unpack("<IIII", self.ask(IRQ_INFO, struct.pack("<IIII", 16, 0, index, 0)))

    def set_interrupts(self, flags, start, count, files=(), data=b"", index=MSIX):
        body = struct.pack("<IIIII", 20 + len(data), flags, index, start, count) + data
        assert self.ask(SET_IRQS, body, files) == b""

    def read(self, region, offset, count):
        body = self.ask(REGION_READ, struct.pack("<QII", offset, region, count))
        assert body[:16] == struct.pack("<QII", offset, region, count) and len(body) == 16 + count
        return body[16:]

    def write(self, region, offset, data):
        head = struct.pack("<QII", offset, region, len(data))
        assert self.ask(REGION_WRITE, head + data) == head

    def read32(self, region, offset):
        return int.from_bytes(self.read(region, offset, 4), "little")

    def write32(self, region, offset, value):
        self.write(region, offset, value.to_bytes(4, "little"))

    def reset(self):
        assert self.ask(RESET) == b""

    # ---- what a driver does with that

    def master(self, on):
        command = int.from_bytes(self.read(CONFIG, 4, 2), "little")
        self.write(CONFIG, 4, (command | 6 if on else command & ~4).to_bytes(2, "little"))

    def capability(self, wanted):
        at = self.read(CONFIG, 0x34, 1)[0]
        while at:
            kind, following = self.read(CONFIG, at, 2)
            if kind == wanted:
                return at
            at = following
        raise AssertionError(f"no capability {wanted}")

    def lead(self, vectors):
        """The first so many MSI-X vectors lead to event descriptors, which it gives; 0: none does."""
        events = [os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC) for _ in range(vectors)]
        for start in range(0, vectors, 8):
            part = events[start : start + 8]
            self.set_interrupts(DATA_EVENTFD | TRIGGER, start, len(part), part)
        if not vectors:
            self.set_interrupts(DATA_NONE | TRIGGER, 0, 0)
        return events

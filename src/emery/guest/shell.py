# SPDX-License-Identifier: Apache-2.0
"""The user's terminal as one of a guest's: what is typed goes there, byte by byte, and what it says comes back."""

import contextlib
import os
import select
import socket
import sys
import termios
import tty

_END = b"\x1d"  # Ctrl-]: ends the run, whatever the guest does
HOW = "exit or Ctrl-D ends it, Ctrl-] at once; Ctrl-C is the guest's"


def there() -> bool:
    """Whether somebody can type, and see what is said."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Shell:
    """As a context: the terminal is the guest's until its end, and then as it was."""

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            self.typed, self._typing = self._pipe(undo)
            self._said, self.says = self._pipe(undo)
            ours, theirs = socket.socketpair()
            self._poke, self.told = undo.enter_context(ours), undo.enter_context(theirs)
            before = termios.tcgetattr(0)
            undo.callback(termios.tcsetattr, 0, termios.TCSADRAIN, before)
            tty.setraw(0)
            self.ended = False
            self._begun = False
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self._undo.close()

    @staticmethod
    def _pipe(undo) -> tuple[int, int]:
        ends = os.pipe()
        for end in ends:
            undo.callback(os.close, end)
        return ends

    @property
    def size(self) -> os.terminal_size:
        found = os.get_terminal_size(1)
        return found if all(found) else os.terminal_size((80, 24))

    def pass_on(self, seconds: float):
        """What either side says within that time. Nothing is typed before the guest has asked for it."""
        seen = [self._said, 0] if self._begun and not self.ended else [self._said]
        ready = select.select(seen, [], [], seconds)[0]
        if self._said in ready:
            self._begun = True
            sys.stdout.buffer.write(os.read(self._said, 65536))
            sys.stdout.buffer.flush()
        if 0 not in ready:
            return
        data = os.read(0, 1024)
        self.ended = not data or _END in data
        if not self.ended:
            os.write(self._typing, data)
            self._poke.send(b"!")

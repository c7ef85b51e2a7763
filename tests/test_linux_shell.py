# SPDX-License-Identifier: Apache-2.0
"""`./emery linux` without a command: a shell in the first guest, on this process's terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

from guests import needs_linux
from namespaces import hears_signals

PATIENCE = 300  # s that nobody waits in vain on a busy machine


class Session:
    """`./emery linux` on a terminal of its own."""

    def __init__(self, *words):
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (33, 99))
        self.before = termios.tcgetattr(theirs)
        how = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True, "preexec_fn": hears_signals}
        self.child = subprocess.Popen([sys.executable, "-m", "emery", "linux", *words], **how)
        self.terminal, self.theirs, self.said = ours, theirs, b""

    def until(self, wanted: bytes) -> bytes:
        """What was said up to these words."""
        while wanted not in self.said:
            assert select.select([self.terminal], [], [], PATIENCE)[0], self.said
            self.said += os.read(self.terminal, 65536)
        at = self.said.index(wanted) + len(wanted)
        found, self.said = self.said[:at], self.said[at:]
        return found

    def types(self, text: bytes):
        os.write(self.terminal, text)

    def ends(self) -> int:
        """Its status, once nothing is left and the terminal is as it was."""
        status = self.child.wait(PATIENCE)
        assert termios.tcgetattr(self.theirs)[:4] == self.before[:4]
        left = subprocess.run(["ps", "-o", "args=", "-g", str(self.child.pid)], capture_output=True, text=True)
        os.close(self.terminal)
        os.close(self.theirs)
        assert all("<defunct>" in x for x in left.stdout.splitlines()), left.stdout
        return status


@needs_linux
def test_a_shell_in_the_guest():
    """Commands and their answers, Ctrl-C for what runs there, the window's size, the shell's status as that of the run."""
    shell = Session()
    shell.until(b"/root # ")
    shell.types(b"stty size; ping 10.0.0.2\r")
    shell.until(b"33 99")
    shell.until(b"seq=1 ")
    shell.types(b"\x03")
    assert b"0% packet loss" in shell.until(b"/root # ")
    shell.types(b"exit 5\r")
    assert shell.ends() == 5


@needs_linux
def test_it_ends_at_once_when_told():
    """By its own key, and by a signal, while something runs in the guest."""
    for how, status in ((lambda shell: shell.types(b"\x1d"), 0), (lambda shell: shell.child.send_signal(signal.SIGINT), 130)):
        shell = Session("--guests", "1")
        shell.until(b"/root # ")
        shell.types(b"while :; do echo alive; done\r")
        shell.until(b"alive\r\nalive")
        how(shell)
        late = time.monotonic() + PATIENCE
        while shell.child.poll() is None:
            assert time.monotonic() < late
            if select.select([shell.terminal], [], [], 0.05)[0]:
                os.read(shell.terminal, 65536)
        assert shell.ends() == status

# SPDX-License-Identifier: Apache-2.0
"""Signals that end Emery, told in one line while nothing has begun yet: for the first lines of a program.

`process.guard` takes them over when there may be children.
"""

import os
import signal

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def told(number: int) -> str:
    """What is said of the signal that ended a command."""
    return "interrupted" if number == signal.SIGINT else "ended by " + signal.Signals(number).name


def _end(number, _frame):
    try:
        os.write(2, ("emery: " + told(number) + "\n").encode())
    finally:
        os._exit(128 + number)


def listen(end=_end):
    """From now on they call `end`, also those that were held; not what nohup or a shell has this process ignore."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def hold():
    """They wait, while another program takes the place of this one, until that listens."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

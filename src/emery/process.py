# SPDX-License-Identifier: Apache-2.0
"""Child processes: whatever ends this process ends them too.

SIGTERM, SIGHUP and Ctrl-C end all children, and then this process in one line; should it be killed, the kernel ends them.
"""

import ctypes
import resource
import signal
import subprocess
import threading

_CALLS = ctypes.CDLL(None)  # looked up before any fork
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_children: set[subprocess.Popen] = set()
_guard = threading.RLock()  # a signal may come while its own thread holds it
_ending = 0  # the signal that came


class Ended(BaseException):
    """A signal that asks this process to end."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


def start(command: list[str], cpu_seconds: int = 0, **how) -> subprocess.Popen:
    """Starts a child; `finish` when it has ended. One that uses more than `cpu_seconds` of the processor is ended."""

    def prepare():
        _CALLS.prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))

    child = subprocess.Popen(command, preexec_fn=prepare, **how)
    with _guard:
        _children.add(child)
        if _ending:
            child.kill()
    return child


def check():
    """Raises what a signal asks for, once the children it has ended are gone."""
    if _ending:
        raise KeyboardInterrupt if _ending == signal.SIGINT else Ended(_ending)


def finish(child: subprocess.Popen):
    """Ends a child that still runs."""
    if child.poll() is None:
        child.kill()
        child.wait()
    with _guard:
        _children.discard(child)


def run(command: list[str], cpu_seconds: int = 0, **how) -> subprocess.CompletedProcess:
    """Like subprocess.run with captured text; one that stands still is ended after a time that no busy machine explains."""
    text = how.pop("input", None)
    pipes = {"stdin": subprocess.PIPE if text is not None else subprocess.DEVNULL, "stdout": subprocess.PIPE}
    child = start(command, cpu_seconds, **{**pipes, "stderr": subprocess.PIPE, "text": True, **how})
    try:
        out, said = child.communicate(text, 20 * cpu_seconds or None)
    except subprocess.TimeoutExpired:
        child.kill()
        out, said = child.communicate()
    finally:
        finish(child)
    check()
    return subprocess.CompletedProcess(command, child.returncode, out, said)


def _end(number: int, _frame):
    global _ending
    _ending = number
    alive = [x for x in list(_children) if x.returncode is None]
    for child in alive:
        child.kill()
    if not alive:  # otherwise whoever waits for them raises it, at a place where that can be told
        check()


def guard():
    """From now on signals that end this process end its children first. For the main thread of a program."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, jobs in the background
            signal.signal(number, _end)

# SPDX-License-Identifier: Apache-2.0
"""Child processes: whatever ends this process ends them too.

SIGTERM, SIGHUP and Ctrl-C end all children, and then this process in one line; should it be killed, the kernel ends them.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading

from emery import signals

_CALLS = ctypes.CDLL(None)  # looked up before any fork
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
# Stands between this process and a tool that starts others (compilers do, and die without them): told of the end of this
# process by the kernel, it ends the whole group; otherwise it ends as the tool did.
_FAMILY = (
    """exec 3<&0; trap 'kill -9 0' TERM; "$@" <&3 3<&- & wait $!; s=$?; [ $s -le 128 ] || kill -$((s - 128)) $$; exit $s"""
)
_children: set[subprocess.Popen] = set()
_guard = threading.RLock()  # a signal may come while its own thread holds it
_ending = 0  # the signal that came
_starting = 0  # children on their way: raised between fork and exec, in hooks of Python's own, an exception is lost


class Ended(BaseException):
    """A signal that asks this process to end."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.number = number


def start(command: list[str], cpu_seconds: int = 0, family: bool = False, **how) -> subprocess.Popen:
    """Starts a child; `finish` when it has ended. One that uses more than `cpu_seconds` of the processor is ended.

    `family`: it may have children of its own, which end with it.
    """

    def prepare():
        os.setpgid(0, 0)
        _CALLS.prctl(_DEATH_SIGNAL, signal.SIGTERM if family else signal.SIGKILL)
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))

    global _starting
    with _guard:
        _starting += 1
    try:
        child = subprocess.Popen(["/bin/sh", "-c", _FAMILY, "sh", *command] if family else command, preexec_fn=prepare, **how)
        with _guard:
            _children.add(child)
    except Exception:
        check()
        raise
    finally:
        with _guard:
            _starting -= 1
    if _ending:
        _kill(child)
    return child


def _kill(child: subprocess.Popen):
    """Ends a child and its whole group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def ending() -> int:
    """The signal that this process is to end by; 0 while there was none."""
    return _ending


def check():
    """Raises what a signal asks for, once the children it has ended are gone."""
    if _ending:
        raise KeyboardInterrupt if _ending == signal.SIGINT else Ended(_ending)


@contextlib.contextmanager
def until_told(stop, seconds: float = 0):
    """Calls `stop` when a signal asks this process to end, or after so many seconds; another signal ends it as ever."""
    asked = [x for x in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(x) is not signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        asked = []
    before = {}

    def restore():
        for number, handler in before.items():
            signal.signal(number, handler)

    def asks(_number, _frame):
        restore()
        stop()

    timer = threading.Timer(seconds, stop) if seconds else None
    try:
        for number in asked:
            before[number] = signal.signal(number, asks)
        if timer:
            timer.daemon = True
            timer.start()
        yield
    finally:
        if timer:
            timer.cancel()
        restore()


def finish(child: subprocess.Popen):
    """Ends a child that still runs, and closes what it was heard through."""
    if child.poll() is None:
        _kill(child)
        child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe:
            with contextlib.suppress(OSError):  # a child that took no more
                pipe.close()
    with _guard:
        _children.discard(child)


def run(command: list[str], cpu_seconds: int = 0, **how) -> subprocess.CompletedProcess:
    """Like subprocess.run with captured text; one that stands still is ended after a time that no busy machine explains."""
    text = how.pop("input", None)
    pipes = {"stdin": subprocess.PIPE if text is not None else subprocess.DEVNULL, "stdout": subprocess.PIPE}
    child = start(command, cpu_seconds, True, **{**pipes, "stderr": subprocess.PIPE, "text": True, **how})
    try:
        out, said = child.communicate(text, 20 * cpu_seconds or None)
    except subprocess.TimeoutExpired:
        _kill(child)
        out, said = child.communicate()
    finally:
        finish(child)
    check()
    return subprocess.CompletedProcess(command, child.returncode, out, said)


def spent() -> float:
    """Seconds of the processor that children which have ended took, and theirs."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def _end(number: int, _frame):
    global _ending
    _ending = number
    alive = [x for x in list(_children) if x.returncode is None]
    for child in alive:
        _kill(child)
    if not alive and not _starting:  # otherwise whoever waits for them raises it, at a place where that can be told
        check()


def open_standard_streams():
    """Descriptors 0 to 2 that were closed lead nowhere: no file that is opened later shall be taken for one of them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - open until the end


def drop(stream):
    """What is still to be written to a stream that takes nothing is not tried again at the end."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def guard():
    """From now on signals that end this process end its children first. For the main thread of a program."""
    if threading.current_thread() is not threading.main_thread():
        return
    signals.listen(_end)

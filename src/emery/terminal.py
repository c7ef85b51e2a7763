# SPDX-License-Identifier: Apache-2.0
"""What people see on a terminal, drawn by rich: progress, and tables that fit its width. In a pipe there is no progress, and a
table is plain text (report.py).
"""

import atexit
import io
import sys
import threading
from functools import cache

_NUMBER, _WORD = 24, 12  # columns of numbers with no more letters are not folded, others not to fewer
_SHOWN: set[int] = set()  # tasks of the display that are not done
_guard = threading.RLock()  # runs go on side by side


@cache
def _display():
    """The bars of all that is under way, one below the other; drawn when something changes, by whoever changes it."""
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=24),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[note]}", markup=False),
    )
    how = {"transient": True, "auto_refresh": False, "redirect_stdout": False, "redirect_stderr": False}
    found = progress.Progress(*columns, console=Console(stderr=True), **how)
    atexit.register(found.stop)  # shows the cursor again, however this process ends
    return found


class Progress:
    """How far something is, on a terminal; nothing at all in a pipe."""

    def __init__(self, what: str):
        self.what = what
        self.live = sys.stderr.isatty()
        self.task = None

    def update(self, done: float, total: float = 1.0, note: str = ""):
        """Shows `done` of `total`."""
        self._show(completed=done, total=total, note=note)

    def say(self, note: str):
        """Shows a note without a figure."""
        self._show(note=note)

    def _show(self, **how):
        if not self.live:
            return
        display = _display()
        with _guard:
            if self.task is None:
                self.task = display.add_task(self.what, total=None, note="")
                _SHOWN.add(self.task)
                display.start()
            display.update(self.task, refresh=True, **how)

    def done(self):
        """It is not shown any more."""
        if self.task is None:
            return
        display, task, self.task = _display(), self.task, None
        with _guard:
            display.remove_task(task)
            _SHOWN.discard(task)
            display.refresh()
            if not _SHOWN:
                display.stop()


def line(text: str):
    """A line of its own on standard error, above what is shown there."""
    if _SHOWN:
        _display().console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        print(text, file=sys.stderr, flush=True)


def table(text: list[list[str]], left: int) -> str | None:
    """Rows (the first is the heading) as wide as the terminal at the most: the first `left` columns to the left, with words
    folded where they have to be, the others, which are numbers mostly, to the right. None where there is no terminal."""
    if not sys.stdout.isatty():
        return None
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:  # commands that need no packages, before there are any
        return None
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold underline")
    widths = [max(len(row[i]) for row in text) for i in range(len(text[0]))]
    least = [x if i >= left and x <= _NUMBER else min(x, _WORD) for i, x in enumerate(widths)]
    for i, name in enumerate(text[0]):
        found.add_column(name, justify="left" if i < left else "right", overflow="fold", min_width=least[i])
    for row in text[1:]:
        found.add_row(*row)
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, markup=False, highlight=False)
    console.width = max(console.width, sum(least) + 2 * len(least))  # too many numbers are not cut off
    console.print(found)
    return "\n".join(x.rstrip() for x in file.getvalue().splitlines())

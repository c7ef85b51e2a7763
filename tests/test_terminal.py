# SPDX-License-Identifier: Apache-2.0
"""What people see on a terminal: tables that fit, bars of what is under way; and that a pipe gets neither."""

import io
import re
import sys

from emery import report, terminal

ROWS = [["name", "meaning", "Mpps"], ["tx_queues", "how many queues there are to send from, each of its own", "1,234,567.5"]]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_table_is_as_wide_as_the_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    for columns in (200, 60, 45):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = plain(report.table(ROWS, left=2)).splitlines()
        assert max(map(len, lines)) <= columns and "1,234,567.5" in lines[1]
        assert len(lines) == (2 if columns == 200 else len(lines)) and " ".join(" ".join(lines).split()).count("queues") == 2
    monkeypatch.setenv("COLUMNS", "10")  # numbers are not cut off
    assert "1,234,567.5" in plain(report.table(ROWS, left=2))


def test_a_pipe_gets_plain_text(capsys):
    assert report.table(ROWS, left=2).splitlines()[1].startswith("---------  -----")
    shown = terminal.Progress("building")
    shown.update(0.5)
    shown.done()
    assert capsys.readouterr().err == ""


def test_bars_of_all_that_is_under_way(monkeypatch):
    """A line that is said goes above them; when all are done the cursor is there again."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    terminal._display.cache_clear()
    first, second = terminal.Progress("building"), terminal.Progress("running")
    first.update(5, 10, "fifo.sv")
    second.say("begins")
    terminal.line("emery: said [meanwhile]")
    first.done()
    assert not plain(screen.getvalue()).strip().endswith("said [meanwhile]")
    second.done()
    second.done()
    said = plain(screen.getvalue())
    assert re.search(r"building .* 50% .* fifo\.sv", said) and re.search(r"running .* begins", said)
    assert "emery: said [meanwhile]\n" in said
    assert screen.getvalue().count("\x1b[?25h") == 1 and screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex(
        "begins"
    )

# SPDX-License-Identifier: Apache-2.0
"""Faults: what one is, and sources with one of them or with all of them, to be chosen from when they run."""

from dataclasses import dataclass

CHOSEN = "fault_pkg::chosen"
PACKAGE = """\
// SPDX-License-Identifier: Apache-2.0
package fault_pkg;
  function automatic int pick();
    int number;
    if (!$value$plusargs("fault=%d", number)) number = 0;
    return number;
  endfunction
  int chosen = pick();
endpackage
"""


@dataclass(frozen=True)
class Fault:
    """One change of a source: the bytes from `start` to `end` become `text`."""

    path: str  # in the checkout
    line: int
    words: str  # what is wrong now
    start: int
    end: int
    text: str
    statement: bool = False  # it is left out: `text` does nothing

    def key(self) -> tuple[str, str]:
        """What stays the same when lines are added above it: the file and the words."""
        return self.path, self.words

    def shown(self) -> str:
        """The fault in a line."""
        return f"{self.path}:{self.line}: {self.words}"


def short(text: bytes | str) -> str:
    """A piece of a source in one line, not too long."""
    line = " ".join((text.decode() if isinstance(text, bytes) else text).split())
    return line if len(line) <= 70 else line[:67] + "..."


def line_of(source: bytes, at: int) -> int:
    """The number of the line of a byte."""
    return source.count(b"\n", 0, at) + 1


def planted(source: bytes, fault: Fault) -> bytes:
    """A source with one fault."""
    return source[: fault.start] + fault.text.encode() + source[fault.end :]


def prepared(source: bytes, faults: dict[int, Fault]) -> bytes:
    """SystemVerilog with all of these faults: the one whose number `fault_pkg::chosen` has is there when it runs.

    So one build serves them all. Lines stay where they are.
    """
    places: dict[tuple[int, int], list[int]] = {}
    for number, fault in faults.items():
        places.setdefault((fault.start, fault.end), []).append(number)
    order = sorted(places, key=lambda x: (x[0], -x[1]))

    def written(start: int, end: int) -> bytes:
        """A piece with what begins in it, outermost first: `order` is taken from as it is met."""
        done, at = b"", start
        while order and order[0][0] < end:
            place = order.pop(0)
            done += source[at : place[0]]
            inner = written(*place)
            for number in places[place]:
                if faults[number].statement:
                    inner = b"begin if (%s != %d) " % (CHOSEN.encode(), number) + inner + b" end"
                else:
                    inner = b"((%s == %d) ? %s : " % (CHOSEN.encode(), number, faults[number].text.encode()) + inner + b")"
            done += inner
            at = place[1]
        return done + source[at:end]

    return written(0, len(source))

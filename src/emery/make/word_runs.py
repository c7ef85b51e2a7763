# SPDX-License-Identifier: Apache-2.0
"""Copies of many words at once, where Verilator writes them one by one.

A packed struct of 1,000 bits is an array of 32-bit words in Verilator's C++, and its assignment as many statements. The
compiler may not join them, for to it two words can be the same place. They are not: each name is a variable of its own.
"""

import re
from pathlib import Path

_LEAST = 4  # words, of 16 bytes: one move
_NAME = r"(?:vlSelfRef\.|vlSymsp->|__V)"
# A statement that gives a word of one variable to a word of another, both with a constant place as their last index.
_COPY = re.compile(rf"^( +)({_NAME}[\w.>\[\]-]*)\[(\w+)U\]\s*=\s*({_NAME}[^;=?]*?)\[(\w+)U\];\n", re.MULTILINE)

HEADER = "emery_words.h"
_HEADER_TEXT = """#pragma once
template <int kWords, class Word>
static inline void emery_copy(Word& to, const Word& from) {
  __builtin_memcpy(&to, &from, kWords * sizeof(Word));
}
template <int kWords, class To, class From>
static inline void emery_copy(To& to, const From& from) {
  for (int i = 0; i < kWords; ++i) (&to)[i] = (&from)[i];
}
"""


def joined(text: str) -> str:
    """C++ of Verilator's with its runs of copied words as one copy each."""
    out: list[str] = []
    run: list[tuple] = []  # indentation, to, its word, from, its word, statement
    end = 0

    def close():
        if len(run) >= _LEAST:
            indent, to, at, source, place, _ = run[0]
            out.append(f"{indent}emery_copy<{len(run)}>({to}[{at}U], {source}[{place}U]);\n")
        else:
            out.extend(x[-1] for x in run)
        run.clear()

    for found in _COPY.finditer(text):
        indent, to, at, source, place = found.groups()
        source = re.sub(r"\s+", " ", source)
        step = (indent, to, int(at, 0), source, int(place, 0), found[0])
        last = run[-1] if run else None
        follows = last and found.start() == end and (indent, to, source) == (last[0], last[1], last[3])
        if not follows or (step[2], step[4]) != (last[2] + 1, last[4] + 1) or to == source:
            close()
            out.append(text[end : found.start()])
        # Not the end of an expression: an index within one.
        if source.count("(") != source.count(")") or source.count("[") != source.count("]"):
            close()
            out.append(found[0])
        else:
            run.append(step)
        end = found.end()
    close()
    return "".join([*out, text[end:]])


def join(directory: Path):
    """Does so in all files of a model."""
    (directory / HEADER).write_text(_HEADER_TEXT)
    for path in directory.glob("V*.cpp"):
        text = path.read_text()
        new = joined(text)
        if new != text:
            path.write_text(f'#include "{HEADER}"\n{new}')

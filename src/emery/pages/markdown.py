# SPDX-License-Identifier: Apache-2.0
"""Markdown of the sources as the site's generator reads it."""

import re

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def escaped(text: str) -> str:
    """Text of a comment: what looks like a tag is none, and a line that is not indented ends a list."""
    parts = _CODE.split(re.sub(r"^((?:[-*] | ).*\n)(?=[^\s*-])", r"\1\n", lists(text), flags=re.MULTILINE))
    return "".join(x if i % 2 else x.replace("&", "&amp;").replace("<", "&lt;") for i, x in enumerate(parts))


def lists(text: str) -> str:
    """A blank line before each list: GitHub needs none, Python-Markdown does."""
    lines, fenced = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        before = lines[-1] if lines else "\n"
        begins = _ITEM.match(line) and not line.startswith(" ") and not fenced
        if begins and before.strip() and not _ITEM.match(before) and not before.startswith(" "):
            lines.append("\n")
        lines.append(line)
    return "".join(lines)

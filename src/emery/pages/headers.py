# SPDX-License-Identifier: Apache-2.0
"""What a block says of itself: the `///` lines at the head of its file."""

import re
from functools import cache
from pathlib import Path

from emery.common import ROOT


@cache
def header(path: Path) -> str:
    """The contract at the head of a file of the checkout, as Markdown; empty when there is none."""
    lines = []
    for line in (ROOT / path).read_text().splitlines():
        if line.startswith("///"):
            lines.append(line[3:].removeprefix(" "))
        elif lines:
            break
    return "\n".join(lines).strip()


def sentence(path: Path) -> str:
    """Its first sentence, on one line."""
    text = " ".join(header(path).partition("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0]

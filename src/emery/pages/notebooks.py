# SPDX-License-Identifier: Apache-2.0
"""Notebooks of docs/ as pages of the site: their text, and their code as it stands. What they give, who runs them sees."""

import json
import re
from pathlib import Path


def cells(path: Path) -> list[tuple[str, str]]:
    """(kind, text) of each cell: `markdown` or `code`."""
    return [(x["cell_type"], "".join(x["source"])) for x in json.loads(path.read_text())["cells"]]


def markdown(path: Path) -> str:
    """The page of a notebook."""
    parts = [text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in cells(path)]
    return "\n\n".join([*parts, f"This page is the notebook `{path.name}` of the checkout, at the same place there."]) + "\n"


def linked(text: str) -> str:
    """A page whose links to notebooks lead to the pages made of them."""
    return re.sub(r"(\]\([^)\s]*)\.ipynb\b", r"\1.md", text)

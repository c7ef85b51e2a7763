# SPDX-License-Identifier: Apache-2.0
"""The page of `./emery watch`: one file that asks nobody but its own server for anything."""

from html import escape
from pathlib import Path
from string import Template

from emery.check import structure
from emery.pages import report

_HERE = Path(__file__).parent


def page(system, title: str) -> str:
    """The page of a run of that title."""
    style = (_HERE / "report.css").read_text() + (_HERE / "watch.css").read_text()
    script, whole = ((_HERE / f"watch.{x}").read_text() for x in ("js", "html"))
    return Template(whole).substitute(system=escape(system.name), title=escape(title), style=style, script=script)


def diagrams(system) -> str:
    """Its block diagrams, as a part of a page."""
    design = structure.read()
    if system.top not in design.modules:
        return '<p class="note">There is no diagram of a system that is not of the checkout.</p>'
    return report.diagrams(design, system)

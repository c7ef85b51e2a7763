# SPDX-License-Identifier: Apache-2.0
"""The notebooks of docs/: their cells run one after the other, as in Jupyter but without it; none has kept what it gave."""

import ast
import json

import pytest

from emery.common import ROOT
from emery.pages import notebooks

FILES = sorted((ROOT / "docs").rglob("*.ipynb"))


def run(text, name, names):
    """Runs a cell; gives the value of its last line, if that is an expression which is shown."""
    tree = ast.parse(text, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";") else None
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None


@pytest.mark.parametrize("path", FILES, ids=lambda x: x.stem)
def test_it_runs(path, tmp_path, monkeypatch, data_packages):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    names, shown = {}, []
    for number, (kind, text) in enumerate(notebooks.cells(path)):
        if kind == "code":
            shown.append(run(text, f"{path.name}:cell {number}", names))
    assert any(hasattr(x, "to_html") and len(x) for x in shown)  # a DataFrame with rows
    assert pyplot.get_fignums() and all(x.get_axes() for x in map(pyplot.figure, pyplot.get_fignums()))
    pyplot.close("all")


def test_a_cell_that_fails_is_seen():
    assert run("x = 2\nx + 1", "a", {}) == 3 and run("x = 2", "a", {}) is None and run("1;", "a", {}) is None
    with pytest.raises(AssertionError):
        run("assert False\n1", "a", {})


def test_nothing_is_kept_in_them():
    assert FILES
    for path in FILES:
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path


def test_a_page_is_made_of_each():
    for path in FILES:
        page = notebooks.markdown(path)
        assert page.startswith("# ") and page.count("```python\n") == sum(kind == "code" for kind, _ in notebooks.cells(path))
    assert notebooks.linked("[a](b/c.ipynb) `x.ipynb`") == "[a](b/c.md) `x.ipynb`"

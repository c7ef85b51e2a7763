# SPDX-License-Identifier: Apache-2.0
"""What the pages claim: tables are those of the rows that were kept, rows are of targets as they stand, and come out again."""

import pytest
from conftest import slow_but

from emery import published, reproduce, system
from emery.common import UserError, cache_dir
from emery.results import Results
from emery.workload import from_table, workload

SYSTEMS = [system.load(name) for name in system.names()]
DECLARED = ("figure", "what", "unit", "x", "series", "paper", "paper_value", "peer_value")
HELD = [(x, target) for x in SYSTEMS for target in x.targets if target.held]
FIRST = list({(x.name, target.figure): target for x, target in reversed(HELD)}.values())  # of each figure


@pytest.mark.parametrize("which", SYSTEMS, ids=lambda x: x.name)
def test_the_pages_have_the_tables_of_what_was_measured(which):
    for page in published.pages(which):
        assert published.filled(which, page.read_text()) == page.read_text(), (
            f"{page}: ./emery reproduce {which.name} --publish"
        )


@pytest.mark.parametrize("which", SYSTEMS, ids=lambda x: x.name)
def test_rows_are_of_targets_as_they_are_declared(which):
    rows = {row["id"]: row for row in published.measured(which)}
    assert set(rows) <= {x.id for x in which.targets}
    for target in (x for x in which.targets if x.id in rows):
        row = rows[target.id]
        assert [row[name] for name in DECLARED] == [getattr(target, name) for name in DECLARED], target.id
        if row["emery"] is not None and target.compare:
            goal = target.goal if target.goal is not None else target.goal_fraction * row["limit"]
            assert row["goal"] == pytest.approx(goal, rel=1e-4), target.id


@pytest.mark.parametrize("which", SYSTEMS, ids=lambda x: x.name)
def test_runs_of_targets_are_taken(which):
    """A setting that is refused later on, as it does nothing, would leave a row that nobody can have again."""
    for run in (x for target in which.targets for x in (target.run, target.against) if x):
        settings, options = from_table(run)
        workload(which, options).judge(which, which.values(settings))


@pytest.mark.parametrize(
    ("which", "target"),
    slow_but(lambda x: x[1] in FIRST, HELD),
    ids=lambda x: getattr(x, "id", None) or x.name,
)
def test_a_row_comes_out_again(which, target):
    """A result of the same identity in the cache is the same result and not made again; several rows are of one run."""
    row = next(x for x in published.measured(which) if x["id"] == target.id)  # a held target has one
    settings, options = from_table(target.run)
    kept = cache_dir() / "published"
    kept.mkdir(parents=True, exist_ok=True)
    result = Results(str(kept / f"{which.name}.jsonl")).get(which, which.values(settings), workload(which, options))
    again = reproduce.judge(target, result)
    assert published.moved(which, [again]) == []
    assert row["emery"] is not None


def rows_of(*values, **more):
    common = {"id": "t", "figure": "f", "what": "w", "unit": "Mpps", "series": "", "paper": "p", "limit": 10.0, "goal": 9.0}
    common |= {"paper_value": None, "peer_value": None, "lost": 0.0, "met": True, "x": None, "verdict": ""}
    return [{**common, "emery": value, **{k: x[i] for k, x in more.items()}} for i, value in enumerate(values)]


def test_what_comes_out_otherwise_than_published_is_said(monkeypatch):
    rows = rows_of(9.5)
    monkeypatch.setattr(published, "measured", lambda _: rows)

    def said(**more):
        return published.moved(None, [rows[0] | more])

    assert said() == said(emery=9.6, lost=0.01) == []
    assert said(id="new", emery=1.0) == []
    assert said(emery=9.2) == ["t: published 9.5, now 9.2"]
    assert said(lost=0.25) == ["t: published 9.5, now 9.5 (25 % lost)"]
    assert said(met=False) == ["t: published 9.5, now 9.5 (goal 9)"]
    assert said(emery=None, verdict="failed: x") == ["t: published 9.5, now x"]


def test_a_table_says_what_was_lost_and_what_was_missed():
    text = published._tables(rows_of(9.5, 8.0, lost=(0.0, 0.25), met=(True, False)), ["f"])
    assert text == (
        "|  | paper | limit | Emery | unit |\n| --- | --- | --- | --- | --- |\n"
        "| w | p | 10 | 9.5 | Mpps |\n| w | p | 10 | 8 (25 % lost, goal 9) | Mpps |"
    )


def test_points_of_curves_are_columns():
    rows = rows_of(1.0, 2.0, 3.0, x=(64, 128, 64), series=("a", "a", "b"), limit=(10.0, 5.0, 10.001))
    head = "| Mpps | 64 | 128 |\n| --- | --- | --- |\n| limit | 10 | 5 |\n"
    assert published._tables(rows, ["f"]) == head + "| a | 1 | 2 |\n| b | 3 |  |"
    assert published._tables(rows, ["f@128"]) == "| Mpps | 128 |\n| --- | --- |\n| limit | 5 |\n| a | 2 |"
    with pytest.raises(UserError, match="g@64"):
        published._tables(rows, ["g@64"])


def test_each_curve_beside_its_own_numbers_of_the_paper():
    common = {"x": (64, 128, 64), "series": ("a", "a", "b")}
    text = published._curves(rows_of(1.0, 2.0, 3.0, **common, paper_value=(1.5, 2.5, 3.5), limit=(None,) * 3))
    assert text.splitlines()[2:] == ["| a | 1 | 2 |", "| a, paper | 1.5 | 2.5 |", "| b | 3 |  |", "| b, paper | 3.5 |  |"]
    text = published._curves(rows_of(1.0, 2.0, 3.0, **common, paper_value=(1.5, 2.5, 1.5), limit=(None,) * 3))
    assert text.splitlines()[2:] == ["| paper | 1.5 | 2.5 |", "| a | 1 | 2 |", "| b | 3 |  |"]


def target(**more):
    return system.Target(**{"id": "all", "figure": "f", "what": "all", "measure": "least", "of": "one-", "goal": 9.0, **more})


@pytest.mark.parametrize(("measure", "value"), [("least", 8.0), ("most", 10.0), ("spread", 0.25), ("least_fraction", 0.8)])
def test_a_number_about_many_rows(measure, value):
    rows = [{**row, "id": f"one-{i}"} for i, row in enumerate(rows_of(8.0, 10.0, lost=(0.0, 0.5)))]
    row = reproduce._about(target(measure=measure), [*rows, *rows_of(1.0)])
    assert row["emery"] == pytest.approx(value) and row["lost"] == 0.5 and row["met"] == (value >= 9.0)
    broken = reproduce._about(target(measure=measure), [*rows, {**rows[0], "emery": None}])
    assert broken["emery"] is None and not broken["met"]


def test_a_goal_without_loss_is_missed_by_a_frame():
    result = {"totals": {"offered": 10, "dropped": {"full": 1}, "mpps": 10.0}}
    assert reproduce.judge(target(of="", measure="totals.mpps"), result)["met"]
    assert not reproduce.judge(target(of="", measure="totals.mpps", lossless=True), result)["met"]


def test_one_table_stands_for_the_targets_of_all_its_places_and_combinations():
    run = {"size": "{x}", "set": {"{way}_queues": 1}}
    table = {"id": "t-{way}-{x}", "figure": "f", "what": "{x} B", "measure": "m", "run": run}
    tables = [{**table, "each": [[64, 66], 128], "cross": {"way": ["rx", "tx"]}}]
    found = system._targets(tables, {})
    assert [x.id for x in found] == [f"t-{way}-{x}" for way in ("rx", "tx") for x in (64, 65, 66, 128)]
    assert found[5].x == 65 and found[5].run == {"size": 65, "set": {"tx_queues": 1}}
    (common,) = {str(x.run["set"]) for x in system._targets(tables, {"f": {"set": {"mps": 128, "tx_queues": 2}}})[4:]}
    assert common == str({"mps": 128, "tx_queues": 1})

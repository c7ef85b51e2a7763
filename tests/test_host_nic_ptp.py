# SPDX-License-Identifier: Apache-2.0
"""host-nic's clock behind a boundary clock: two cards and their servos, in RTL and C, and what is refused."""

import json

import pytest

from emery.cli import main

SHORT = ["--size", "300", "--set", "ptp=true", "--set", "ptp_settle_us=1500"]


def run(tmp_path, capsys, *words):
    out = tmp_path / "result.json"
    assert main(["run", "host-nic", *SHORT, *words, "--json", str(out)]) == 0, capsys.readouterr().err
    return json.loads(out.read_text())


def test_a_clock_follows_through_a_switch_under_load(tmp_path, capsys):
    """1.2 ms off and 65 ppm apart at first; after 75 Syncs within 30 ns, and every frame of both ways arrives."""
    result = run(tmp_path, capsys, "--direction", "both", "--duration", "60us")
    ptp = result["resources"]["ptp"]
    assert ptp["edges"] >= 20 and ptp["offset_ns"]["farthest"] < 30
    assert sum(count for _, count in ptp["offset_ns"]["histogram"]) == ptp["edges"]
    master, slave = ptp["cards"]
    assert master["steps"] == 0 and 1 <= slave["steps"] <= 3 and slave["exchanges"] > 50
    assert abs(slave["delay_ns"] - 50) < 5 and abs(ptp["switch"]["delay_ns"] - 50) < 5
    assert result["totals"]["offered"] == result["totals"]["delivered"] > 1000


LATE = ["ptp_residence_ns=250000", "ptp_interval_us=260", "ptp_settle_us=5000"]


@pytest.mark.parametrize(
    "wrong",
    [
        "ports=2",
        "fault=doorbell",
        "tx_mode=stream",
        "mac_tx_ppm=5",
        "ptp_gain=9",
        "ptp_residence_ns=18000",
        "ptp_settle_us=160",
    ],
)
def test_what_does_not_go_with_it(wrong, capsys):
    assert main(["run", "host-nic", *SHORT, "--set", wrong]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_slow_cpu_is_waited_for_and_what_finds_no_slot_is_counted(tmp_path, capsys):
    """Messages of PTP take the CPU's time and find no slot either: neither do they hold up the end nor count as frames."""
    soon = ["--direction", "tx", "--size", "64", "--json", str(tmp_path / "r")]
    soon += ["--set", "ptp=true", "--set", "ptp_settle_us=400"]
    for words in (
        ["--frames", "101", "--flows", "1", "--set", "cpu_ns_per_packet=5000"],
        ["--frames", "300", "--flows", "8", "--set", "cpu_ns_per_packet=300", "--set", "rx_ring=8", "--set", "train=3"],
    ):
        assert main(["run", "host-nic", *soon, *words]) == 0, capsys.readouterr().err
        stream = json.loads((tmp_path / "r").read_text())["streams"]["tx"]
        assert stream["offered"] == stream["delivered"] + stream["dropped"].get("no_descriptor", 0) > 100
        assert ("rx_ring=8" in words) == ("no_descriptor" in stream["dropped"])


@pytest.mark.slow
def test_a_switch_that_holds_a_frame_for_long(tmp_path, capsys):
    """Longer than the bench waits for what may be lost: the frame comes all the same, and the clock follows."""
    ptp = run(tmp_path, capsys, "--frames", "1", *[word for x in LATE for word in ("--set", x)])["resources"]["ptp"]
    assert ptp["offset_ns"]["farthest"] < 300 and ptp["cards"][1]["exchanges"] > 8

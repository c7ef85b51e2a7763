# SPDX-License-Identifier: Apache-2.0
"""What is sent where, and how fast the bus is: made once from the parameters, for the limits and for the bench."""

from emery.physics import mhz_times_3

_FIGURE_3 = {  # of the paper: the outputs of each input
    "A": [[1], []],
    "B": [[1], []],
    "C": [[1], [0]],
    "D": [[2], [2], []],
    "E": [[1, 2], [], []],
    "F": [[1, 2], [2, 0], [0, 1]],
}


def outputs(values: dict) -> list[list[int]]:
    """Where each input sends. Flows are dealt to its outputs in this order, and the first ones may have one more than others:
    no output is the first of more than one input."""
    n = values["cards"]
    patterns = {
        "permutation": [[(i + 1) % n] for i in range(n)],
        "uniform": [[(i + 1 + k) % n for k in range(n - 1)] for i in range(n)],
        "hotspot": [[0 if i else 1] for i in range(n)],
    }
    return _FIGURE_3.get(values["config"]) or patterns[values["pattern"]]


def route_ports(values: dict) -> int:
    """How many ports routes may lead to."""
    return len(outputs(values))


def is_slow(values: dict) -> bool:
    """Whether everything goes through the host."""
    return values["slow_path"] or values["config"] == "A"


def bus_hz_times_3(values: dict) -> int:
    """Three times the clock of a PCI-X bus."""
    return mhz_times_3(values["bus_mhz"]) * 1_000_000


def settings(values: dict) -> dict:
    """The same for the bench: outputs as `1,2/2/-`, by input; `-`: it is silent."""
    sends = outputs(values)
    made = {
        "outputs": "/".join(",".join(map(str, x)) or "-" for x in sends),
        "slow_path": is_slow(values),
        "in_turn": values["config"] != "none",
    }
    return made | ({"bus_hz_times_3": bus_hz_times_3(values)} if values["bus"] == "pcix" else {})

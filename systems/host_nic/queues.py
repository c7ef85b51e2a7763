# SPDX-License-Identifier: Apache-2.0
"""What transmit queues are set to, one after another: lists in which queue n has the entry n modulo their length."""

import re

from emery.common import UserError

_SHARES = {"queue_priorities": (0, 7), "queue_weights": (1, 255)}
_SCHEDULERS = {
    "queue_priorities": ("strict", "pieo"),
    "queue_weights": ("drr", "pieo"),
    "queue_limits_mbps": ("rate", "pieo"),
    "tdma_slots_us": ("tdma",),
    "queue_slots": ("tdma",),
}
_LIMIT_MBPS = (0.5, 400e3)
_CLASSES = 16
_SLOTS = 256
_SLOT_US = (1.0, 1e6)


def _refuse(name: str, values: dict, why: str):
    raise UserError(f"parameter {name}: {values[name]!r}: {why}")


def _entries(name: str, values: dict) -> list[str]:
    return values[name].split(",") if values[name] else []


def _numbers(name: str, values: dict, low: float, high: float) -> list[float]:
    found = _entries(name, values)
    for x in found:
        if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", x) or not low <= float(x) <= high:
            _refuse(name, values, f"{x!r} is not a number from {low:g} to {high:g}")
    return [float(x) for x in found]


def _wholes(name: str, values: dict, low: int, high: int):
    for x in _entries(name, values):
        if not re.fullmatch(r"\d{1,3}", x) or not low <= int(x) <= high:
            _refuse(name, values, f"{x!r} is not a whole number from {low} to {high}")


def _slots(values: dict):
    lengths = _numbers("tdma_slots_us", values, *_SLOT_US)
    if len(lengths) > _SLOTS:
        _refuse("tdma_slots_us", values, f"more than {_SLOTS} slots")
    sets = _entries("queue_slots", values)
    for x in sets:
        if not re.fullmatch(r"\d{1,3}(\+\d{1,3})*", x) or any(int(n) >= len(lengths) for n in x.split("+")):
            _refuse("queue_slots", values, f"{x!r} is no slot of tdma_slots_us, nor several as 0+2")
    if len({frozenset(map(int, x.split("+"))) for x in sets}) > _CLASSES:
        _refuse("queue_slots", values, f"more than {_CLASSES} different entries")
    if bool(lengths) != bool(sets):
        raise UserError("parameters tdma_slots_us and queue_slots: a schedule takes both")
    if (low := min((x * 1000 for x in lengths), default=0)) and values["tdma_close_ns"] >= low:
        raise UserError(f"tdma_close_ns={values['tdma_close_ns']}: as long as the shortest slot")


def settings(values: dict) -> dict:
    """Nothing more than there is; lists that are none, or that the scheduler does not know, are refused."""
    for name, those in _SCHEDULERS.items():
        if values[name] and values["scheduler"] not in those:
            whose = " or ".join(those)
            raise UserError(f"{name}={values[name]}, scheduler={values['scheduler']}: it is for scheduler={whose}")
    for name, (low, high) in _SHARES.items():
        _wholes(name, values, low, high)
    for x in _numbers("queue_rates", values, 0, 1):
        if x == 0:
            _refuse("queue_rates", values, "a queue is offered more than 0")
    for x in _numbers("queue_limits_mbps", values, 0, _LIMIT_MBPS[1]):
        if 0 < x < _LIMIT_MBPS[0]:
            _refuse("queue_limits_mbps", values, f"a limit is 0 (none) or at least {_LIMIT_MBPS[0]:g}")
    _wholes("coalescing_functions", values, 0, 1)
    _slots(values)
    return {}

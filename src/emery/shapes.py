# SPDX-License-Identifier: Apache-2.0
"""The shape of generated traffic: when frames arrive, how much each flow has of them and how long it lasts, IPv6, VLAN tags.

Options of the run as the bench takes them (bench/traffic); what is as it is without the option becomes empty.
"""

import re

from emery.common import UserError

_ZIPF = r"zipf:([0-9]{1,2}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})"
_MOST = 10**6  # frames of a burst, and of a flow; the largest weight
# Bytes with FCS that headers and payload of an IPv6 frame need, without a VLAN tag and with one; IPv4 has room in 64.
LEAST_IPV6 = (74, 78)
WORDS = {
    "arrivals": ("constant", "poisson", "burst:32", "on-off:32"),
    "flow_weights": ("equal", "zipf:1.1", "8,1"),
    "flow_length": ("100", "geometric:100", "zipf:1.5"),
}
# Those that only make sense for generated frames; captures may arrive as well.
GENERATED = ("flow_weights", "flow_length", "ipv6", "vlan", "closed_loop")
OPTIONS = ("arrivals", *GENERATED)


def flag(option: str) -> str:
    """As it is written on the command line."""
    return "--" + option.replace("_", "-")


def _number(text: str, least: int) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,7}", text)) and least <= int(text) <= _MOST


def _zipf(text: str) -> bool:
    match = re.fullmatch(_ZIPF, text)
    return bool(match) and 0 < float(match[1]) <= 10


def _arrivals(text: str, flows: int) -> str:
    name, colon, burst = text.partition(":")
    if name in ("burst", "on-off") and (_number(burst, 1) or not colon):
        return f"{name}:{int(burst or 32)}"
    if text not in ("constant", "poisson"):
        raise UserError(f"--arrivals {text}: write constant, poisson, burst:FRAMES or on-off:FRAMES")
    return "" if text == "constant" else text


def _flow_weights(text: str, flows: int) -> str:
    weights = text.split(",")
    if text == "equal" or _zipf(text):
        return "" if text == "equal" else text
    if not all(_number(x, 0) for x in weights):
        raise UserError(f"--flow-weights {text}: write equal, zipf:S (up to 10), or whole numbers like 8,1 up to {_MOST}")
    if len(weights) > flows:
        raise UserError(f"--flow-weights {text}: {len(weights)} weights for {flows} flows")
    if not any(map(int, weights)):
        raise UserError(f"--flow-weights {text}: no flow has any traffic")
    return ",".join(str(int(x)) for x in weights)


def _flow_length(text: str, flows: int) -> str:
    kind, _, frames = text.rpartition(":")
    if kind in ("", "geometric") and ":" + frames != text and _number(frames, 1):
        return f"{kind}:{int(frames)}" if kind else str(int(frames))
    if not _zipf(text):
        raise UserError(f"--flow-length {text}: write FRAMES, geometric:FRAMES (up to {_MOST}) or zipf:S (up to 10)")
    return text


def _part(option: str):
    def parse(text: str, flows: int) -> float:
        if not re.fullmatch(r"[01]|[01]?\.[0-9]{1,9}", text) or float(text) > 1:
            raise UserError(f"{flag(option)} {text}: write the part of the frames, 0 to 1")
        return float(text)

    return parse


def _closed_loop(text: str, flows: int) -> int:
    if not _number(text, 1):
        raise UserError(f"--closed-loop {text}: not a whole number from 1 to {_MOST}")
    return int(text)


_PARSE = {
    "arrivals": _arrivals,
    "flow_weights": _flow_weights,
    "flow_length": _flow_length,
    "ipv6": _part("ipv6"),
    "vlan": _part("vlan"),
    "closed_loop": _closed_loop,
}


def shape(given: dict, flows: int, captures: bool) -> dict:
    """What is not as by default, by option."""
    found = {option: _PARSE[option](str(given[option]), flows) for option in OPTIONS if option in given}
    if captures and (wrong := next((x for x in GENERATED if x in found), "")):
        raise UserError(f"{flag(wrong)}: it is for generated frames (--size), a capture is as it is")
    for other in ("timed", "closed_loop"):
        if found.get("arrivals") and other in given:
            raise UserError(f"--arrivals and {flag(other)}: choose one")
    return {option: x for option, x in found.items() if x}


def title(shape: dict) -> str:
    """In words, after what else a workload says."""
    said = {
        "arrivals": "{} arrivals",
        "flow_weights": "flows weighed {}",
        "flow_length": "flows of {} frames",
        "ipv6": "{:.3g} % IPv6",
        "vlan": "{:.3g} % with VLAN tags",
        "closed_loop": "at most {} inside",
    }
    return "".join(f", {said[option].format(100 * x if isinstance(x, float) else x)}" for option, x in shape.items())

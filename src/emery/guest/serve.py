# SPDX-License-Identifier: Apache-2.0
"""Cards for machines that are not ours (`./emery linux --serve DIR`): each waits at a socket for a client of vfio-user."""

import contextlib
import json
import os
import shlex
from pathlib import Path

from emery import system
from emery.common import UserError
from emery.guest.simulator import run_until_told
from emery.make import linux
from emery.runs import IntegrityError


def device_word(path: Path) -> str:
    """QEMU's word for the device at that socket (`-device`)."""
    return json.dumps({"driver": "vfio-user-pci", "socket": {"type": "unix", "path": str(path)}})


def memory_words(megabytes: int, machine: str) -> list[str]:
    """QEMU's words for memory that such a device reaches without being handed each byte."""
    memory = f"memory-backend-memfd,id=ram,size={megabytes}M,share=on"
    return ["-machine", f"{machine},memory-backend=ram", "-m", f"{megabytes}M", "-object", memory]


def sockets(folder: Path, count: int) -> list[Path]:
    """Where the cards wait; refuses what is there already."""
    found = [folder / f"pci{number}.0" for number in range(count)]
    for path in found:
        if os.path.lexists(path):
            raise UserError(f"--serve {folder}: {path} is there already")
    return found


def announcement(target: system.System, paths: list[Path], switch: bool) -> str:
    """What a user has to know of cards that wait."""
    cards = (
        "1 card, its wire leads nowhere"
        if len(paths) == 1
        else f"{len(paths)} cards, joined by a {'switch' if switch else 'wire'}"
    )
    words = shlex.join(["qemu-system-x86_64", *memory_words(1024, "q35"), "-device", device_word(paths[0])])
    lines = [f"{target.name}: {cards}; each waits for a machine (vfio-user)", *(f"  {x}" for x in paths)]
    lines += ["With QEMU 10.1 or later:", f"  {words} ..."]
    return "\n".join([*lines, "The run ends when the first machine has, or with Ctrl-C."])


def run(target: system.System, values: dict, paths: list[Path], seed: int, files: dict, begun) -> dict:
    """Has cards wait at these sockets until the first machine has gone, or a signal comes; gives the result.

    `files`: `capture`, `waves` and so on, empty where there are none, and the switch. `begun` is called when the cards can be
    reached.
    """
    simulator = linux.build_simulator(target, values, bool(files["waves"]))
    settings = {**target.settings(values), "seed": seed, "guests": len(paths), "folder": paths[0].parent}
    settings |= {**files, "lane": "vfio-user"}
    try:
        with run_until_told(simulator, settings, "until", begun) as (card, result):
            card.check("linux")
            if card.child.returncode < 0:
                raise IntegrityError(f"linux: the simulator has ended by signal {-card.child.returncode}", None)
            return json.loads(result.read_text())
    finally:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def summary(target: system.System, result: dict) -> str:
    """What went over the wire."""
    macs = [x["mac"] for x in result["cards"]]
    counts = [f"card {n}: {x['tx_frames']:,} frames sent, {x['rx_frames']:,} received" for n, x in enumerate(macs)]
    return "\n".join([f"{target.name}: {result['simulated_ns'] / 1000:,.1f} us simulated", *counts])

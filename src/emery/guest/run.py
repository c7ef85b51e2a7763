# SPDX-License-Identifier: Apache-2.0
"""A command in a Linux that drives the simulated card: simulator and guests side by side, the command's output as it comes.

Guests are user-mode Linux; their time is simulated time (bench/guest), so a run says the same once more.
"""

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from emery import process, system
from emery.common import written
from emery.guest import serve
from emery.guest.shell import Shell
from emery.guest.simulator import LOOK, Simulator
from emery.make import debian_kernel, linux
from emery.runs import IntegrityError

# These go with the guest where this machine has them.
_TOOLS = ("ethtool", "iperf3", "tcpdump", "ip", "tc", "devlink", "ptp4l", "phc_ctl")
# Of the kernel's command line: what looks for a module's errors (kernel.config) at rest, and at work.
_QUIET = ("dma_debug=off",)
_MEMORY = 256  # MiB of a guest in QEMU
_DEBUG = ("dma_debug_entries=8192", "kmemleak=on", "slub_debug=FZPU")


@dataclass(frozen=True)
class Guests:
    """Which machines there are; the first one's kernel."""

    count: int
    seed: int
    peers: tuple[str, ...] = ()  # what runs in the others, a shell's words
    debug: bool = False  # the kernel looks for leaks and for wrong use of memory
    words: tuple[str, ...] = ()  # of its command line, besides
    programs: tuple[str, ...] = ()  # of this machine, for the guests
    devices: int = 1  # slots of each that the card is in
    lane: str = "uml"  # or in QEMU, with Debian's kernel: qemu, vfio-user

    @property
    def qemu(self) -> bool:
        return self.lane != "uml"


@dataclass(frozen=True)
class Outputs:
    """Files that a run writes."""

    capture: str  # of the wire
    files: dict  # waves and trace, as settings
    kernel: str = ""  # what the first guest's kernel says
    peers: tuple[str, ...] = ()  # what the others' commands say
    json: str = ""  # the simulator's result


def systems() -> list[system.System]:
    """Those that say how a Linux drives them; first the one whose wire joins two guests."""
    return sorted((x for x in map(system.load, system.names()) if x.linux), key=lambda x: "traffic" in x.linux)


def _programs(commands: list[str]) -> list[str]:
    """Programs of this machine that the guests get besides busybox, at their places: the commands' own, if these are none of
    busybox's, and some that busybox has less of (`/usr/bin/ip`)."""
    own = process.run([linux.busybox(), "--list"]).stdout.split()
    wanted = [*_TOOLS, *(x for x in commands if os.path.basename(x) not in own)]
    return sorted({os.path.realpath(found) for x in wanted if (found := shutil.which(x)) and os.path.isfile(found)})


class _Tail:
    """What is written to a file, passed on as it comes."""

    def __init__(self, path: Path, to):
        self.path, self.to, self.at = path, to, 0

    def pass_on(self):
        if not self.path.exists():
            return
        with open(self.path, "rb") as handle:
            handle.seek(self.at)
            data = handle.read()
        if data:
            self.at += len(data)
            self.to.write(data)
            self.to.flush()


def _start_guest(number: int, guests: Guests, folder: Path, shell: Shell | None) -> subprocess.Popen:
    own = shell if number == 0 else None
    # The kernel stirs these into its random numbers: no name here may be another one in the next run.
    words = [
        "mem=128M",
        "initrd=root",
        f"time-travel=ext:{number}:time{number}",
        *(f"virtio_uml.device=pci{number}.{slot}:1234" for slot in range(guests.devices)),
        "con=null",
        f"con0=fd:0,fd:{own.says}" if own else "con0=null,null",
        *([f"terminal={own.size.lines}x{own.size.columns}", f"TERM={os.environ.get('TERM', 'vt100')}"] if own else ()),
        "console=stderr0",
        "stderr=1",
        "panic=-1",
        "random.trust_cpu=on",  # of host.c; else whoever reads /dev/urandom waits for ever for jitter of a clock that has none
        "uml_dir=./",
        f"umid=guest{number}",
        f"guest={number}",
        f"guests={guests.count}",
        *(_DEBUG if guests.debug and number == 0 else _QUIET),
        *(guests.words if number == 0 else ()),
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/root",
        "LD_PRELOAD": str(linux.host_library()),
        "GUEST_SEED": str(guests.seed + number),
    }
    with open(folder / f"kernel{number}", "w") as said:
        streams = {"stdin": own.typed if own else subprocess.DEVNULL, "stdout": said, "stderr": subprocess.STDOUT}
        streams |= {"env": environment, "pass_fds": (own.says,) if own else ()}
        return process.start([str(linux.kernel() / "linux"), *words], cwd=folder, **streams)


def _start_qemu(number: int, guests: Guests, folder: Path, image: Path) -> subprocess.Popen:
    words = ["console=ttyS0", "panic=-1", "lane=qemu", f"guest={number}", f"guests={guests.count}"]
    files = ("out", "err", "status") if number == 0 else (f"said{number}",)
    path, proxy = folder / f"pci{number}.0", guests.lane == "qemu"
    with socket.socket(socket.AF_UNIX) as card, open(folder / f"qemu{number}", "w") as said:
        if proxy:
            card.connect(str(path))
            device = [f"x-pci-proxy-dev,fd={card.fileno()}", "-qtest", f"unix:{folder / f'irq{number}'}", "-qtest-log", "none"]
        else:
            device = [serve.device_word(path)]
        command = [
            debian_kernel.proxy_qemu() if proxy else debian_kernel.vfio_user_qemu(),
            *("-nodefaults", "-display", "none", "-no-reboot"),
            *(*serve.memory_words(_MEMORY, "pc" if proxy else "q35"), "-accel", "tcg", "-icount", "shift=2,sleep=on"),
            *("-kernel", str(image), "-initrd", str(folder / f"root{number}")),
            *("-append", " ".join([*words, *(guests.words if number == 0 else ())])),
            *("-device", *device),
            *(word for name in (f"kernel{number}", *files) for word in ("-serial", f"file:{folder / name}")),
        ]
        streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": subprocess.STDOUT, "pass_fds": (card.fileno(),)}
        return process.start(command, cwd=folder, **streams)


def run(target: system.System, values: dict, command: list[str], guests: Guests, outputs: Outputs, wire: dict) -> int:
    """Runs a command in the first guest (none: a shell on this process's terminal), and others beside it in the other guests;
    gives the first one's status. `wire`: what it brings, or what joins the guests, as settings."""
    module = debian_kernel.build_module(target) if guests.qemu else linux.build_module(target)[0]
    simulator = linux.build_simulator(target, values, bool(outputs.files["waves"]))
    folder = Path(tempfile.mkdtemp(prefix="emery-"))
    children = []
    try:
        _put_together(module, command, guests, folder)
        settings = {**target.settings(values), **wire, "seed": guests.seed, "guests": guests.count, "folder": folder}
        settings |= {"result": folder / "result", "capture": outputs.capture, **outputs.files, "lane": guests.lane}
        with contextlib.ExitStack() as undo:
            shell = undo.enter_context(Shell()) if not command else None
            if shell:
                settings["terminal"] = shell.told.fileno()
            card = Simulator(simulator, settings, folder, (shell.told.fileno(),) if shell else ())
            children.append(card.child)
            if card.runs():
                for number in range(guests.count):
                    children.append(_start(number, guests, folder, shell))
            _pass_on(children, folder, shell)
        card.wait()
        _keep(outputs, folder)
        return 0 if shell and shell.ended else _status(card, folder)
    finally:
        for child in children:
            process.finish(child)
        shutil.rmtree(folder, ignore_errors=True)


def _put_together(module: Path, command: list[str], guests: Guests, folder: Path):
    """What the guests find: their root file systems and what each is to do."""
    programs = _programs([*command[:1], *(x.split()[0] for x in guests.peers if x.split()), *guests.programs])
    texts = {f"peer{n}": x + "\n" for n, x in enumerate(guests.peers, 1)}
    if command:
        texts["command"] = shlex.join(command) + "\n"
    if guests.qemu:
        for number in range(guests.count):
            linux.root(module, programs, folder / f"root{number}", {f"host/{k}": v for k, v in texts.items()})
        return
    linux.root(module, programs, folder / "root")
    for name, text in texts.items():
        (folder / name).write_text(text)


def _start(number: int, guests: Guests, folder: Path, shell: Shell | None) -> subprocess.Popen:
    if guests.qemu:
        return _start_qemu(number, guests, folder, debian_kernel.kernel()[0])
    return _start_guest(number, guests, folder, shell)


def _pass_on(children: list[subprocess.Popen], folder: Path, shell: Shell | None):
    """What the first guest says, until it ends, or the simulator does."""
    tails = _Tail(folder / "out", sys.stdout.buffer), _Tail(folder / "err", sys.stderr.buffer)
    while len(children) > 1 and all(x.poll() is None for x in children[:2]) and not process.ending():
        if shell:
            shell.pass_on(LOOK)
            if shell.ended:
                break
        else:
            time.sleep(LOOK)
            for tail in tails:
                tail.pass_on()
    process.check()
    for child in children[1:]:
        process.finish(child)
    if shell:
        shell.pass_on(0)
    for tail in tails:
        tail.pass_on()


def _keep(outputs: Outputs, folder: Path):
    """The files that the user wants, of what there is."""
    if outputs.kernel:  # all of it, or of a kernel that came to grief what it said then
        said = next((x for x in (folder / "dmesg", folder / "kernel0") if x.exists()), os.devnull)
        shutil.copyfile(said, outputs.kernel)
    for number, path in enumerate(outputs.peers, 1):
        if (said := folder / f"said{number}").exists():
            shutil.copyfile(said, path)
    if outputs.json and (folder / "result").exists():
        with written(outputs.json):
            shutil.copyfile(folder / "result", outputs.json)


def _status(card: Simulator, folder: Path) -> int:
    """The command's exit status, unless the simulator or the guest's kernel came to grief."""
    card.check("linux")
    status = folder / "status"
    if status.exists() and status.read_text().strip().isdigit():
        return int(status.read_text())
    if (code := card.child.returncode) and code < 0:
        raise IntegrityError(f"linux: the simulator has ended by signal {-code}, and its guests with it", None)
    texts = [path.read_text(errors="replace") for name in ("kernel0", "qemu0") if (path := folder / name).exists()]
    lines = next((x for x in texts if x), "").splitlines()
    why = next((x for x in lines if "Kernel panic" in x), lines[-1] if lines else "it said nothing")
    raise IntegrityError(f"linux: the guest has ended before its command: {why}", None)

# SPDX-License-Identifier: Apache-2.0
"""Guests of `./emery linux`: a user-mode Linux from Debian's sources, the card's kernel module, a first root file system.

The kernel is built once (about five minutes of processor time) and kept, with what modules are built against. Nothing of its
sources is changed; what its host must do differently is `guest/host.c`, loaded before it.
"""

import os
import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path

from emery import process
from emery.common import UserError, jobs
from emery.make import build, cache, formats, registers, toolchain
from emery.terminal import Progress

SOURCE = Path("/usr/src/linux-source-6.1.tar.xz")
_OWN = Path(__file__).parent.parent / "guest"
_CONFIG = _OWN / "kernel.config"
# What a module needs of the sources.
_KEPT = (
    "Makefile",
    "Kbuild",
    "scripts",
    "include",
    "arch/um",
    "arch/x86",
    "Module.symvers",
    "tools/include",
    ".config",
    "linux",
)
_PACKAGES = {"xz": "xz-utils", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc"}


def missing() -> list[str]:
    """Debian packages that are needed and not here."""
    return toolchain.missing_packages(_PACKAGES, {"linux-source-6.1": SOURCE.exists(), "busybox-static": busybox()})


def missing_in_tests() -> list[str]:
    """Likewise, of programs that the tests run in guests, or on the modules."""
    return toolchain.missing_packages(
        {"ethtool": "ethtool", "ptp4l": "linuxptp", "devlink": "iproute2", "sparse": "sparse"}, {}
    )


def busybox() -> str:
    """A busybox that needs no libraries; empty when there is none."""
    path = shutil.which("busybox") or ("/bin/busybox" if os.path.exists("/bin/busybox") else "")
    return path if path and b"/lib64/ld-linux" not in Path(path).read_bytes()[:4096] else ""


def check():
    """Refuses in one line what cannot be on this machine."""
    if os.uname().machine != "x86_64":
        raise UserError(f"linux: guests are of x86-64 machines; this is {os.uname().machine}")
    toolchain.check_packages("linux", missing())


def _run(command: list[str], folder: Path, what: str) -> str:
    return toolchain.run_tool(command, folder, what, r"error|\*\*\*")


def _make(folder: Path, what: str, *words: str, arch: str = "um") -> str:
    return _run(["make", f"ARCH={arch}", f"-j{jobs()}", *words], folder, what)


def _build_kernel(out: Path):
    progress = Progress("building the guests' kernel")
    try:
        progress.say("unpacking")
        _run(["tar", "xf", str(SOURCE), "--strip-components=1"], out, "linux-source-6.1")
        progress.say("compiling (once, some minutes)")
        _make(out, "kernel", f"KCONFIG_ALLCONFIG={_CONFIG}", "allnoconfig")
        have = (out / ".config").read_text().splitlines()
        if lost := [x for x in _CONFIG.read_text().splitlines() if x.startswith("CONFIG_") and x not in have]:
            raise UserError(f"kernel: its sources do not take {lost[0]}")
        _make(out, "kernel")
    finally:
        progress.done()
    (out / "kept").mkdir()
    for name in _KEPT:
        if (out / name).exists():
            (out / "kept" / name).parent.mkdir(parents=True, exist_ok=True)
            os.rename(out / name, out / "kept" / name)
    for path in list(out.iterdir()):
        if path.name != "kept":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in list((out / "kept").iterdir()):
        os.rename(path, out / path.name)
    (out / "kept").rmdir()


def kernel() -> Path:
    """The folder of the kernel: `linux`, and what modules are built against."""
    check()
    version = process.run(["dpkg-query", "-W", "-f=${Version}", "linux-source-6.1"]).stdout
    key = cache.digest("linux", 1, version or SOURCE.stat().st_size, _CONFIG.read_text(), toolchain.cxx_version())
    return cache.entry("linux", key, _build_kernel)


def _made_of_c(kind: str, source: str, name: str, *flags: str) -> Path:
    """What the compiler makes of a C file of emery/guest."""

    def make(out: Path):
        toolchain.run_cxx(["-x", "c", "-O2", *flags, str(_OWN / source), "-o", str(out / name)], out, False)

    return cache.entry(kind, cache.digest((_OWN / source).read_text(), toolchain.cxx_version()), make) / name


def host_library() -> Path:
    """What goes before the kernel (guest/host.c)."""
    return _made_of_c("linux-host", "host.c", "host.so", "-shared", "-fPIC")


def xdp_tool() -> Path:
    """The guests' own `xdp` (guest/xdp.c)."""
    return _made_of_c("linux-xdp", "xdp.c", "xdp", "-static")


def stage(system, out: Path):
    """Puts a module's sources together: its files by folder, and in generated/ the headers of registers and formats."""
    for name, pattern in system.linux["module"].items():
        (out / name).mkdir(parents=True, exist_ok=True)
        for path in sorted(system.folder.glob(pattern)):
            if path.is_dir():
                shutil.copytree(path, out / name / path.name)
            else:
                shutil.copy(path, out / name / path.name)
    generated = [registers.generate(system.folder / x.file, x.blocks, x.map) for x in system.registers]
    (out / "generated").mkdir()
    for folder in [*generated, formats.generate(system.formats, system.folder)]:
        for path in Path(folder).glob("*.h"):
            shutil.copy(path, out / "generated")


def build_module(system, words: tuple[str, ...] = (), tree: Path | None = None, arch: str = "um") -> tuple[Path, str]:
    """The card's module, and what the compiler said; `words` go to make. `tree`: of another kernel, of another architecture."""
    tree = tree or kernel()
    work = cache.scratch()
    try:
        stage(system, work)
        content = sorted((str(x.relative_to(work)), cache.file_digest(x)) for x in work.rglob("*") if x.is_file())

        def make(out: Path):
            with cache.lock("linux-modules"):  # make writes into the kernel's folder, too
                log = _make(tree, "kernel module", f"M={work}", *words, "modules", arch=arch)
            (out / "log").write_text(log)
            shutil.copy(next(work.glob("*.ko")), out)

        entry = cache.entry("linux-module", cache.digest(1, tree.name if arch == "um" else str(tree), content, words), make)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return next(entry.glob("*.ko")), (entry / "log").read_text()


# ---------------------------------------------------------------- the root file system


def _archive(files: dict[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive (newc) of files by name, with mode and content."""
    out = bytearray()
    for number, (name, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))]):
        encoded = name.encode() + b"\0"
        fields = (number + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        for part in (b"070701" + b"".join(b"%08x" % x for x in fields) + encoded, data):
            out += part + b"\0" * (-(len(out) + len(part)) % 4)
    return bytes(out)


def _with_libraries(program: str) -> list[str]:
    """A program and the libraries that it is linked with."""
    said = process.run(["ldd", program]).stdout
    return [program, *re.findall(r"(/\S+)(?= \(0x)", said)]


def root(module: Path, programs: list[str], out: Path, more: dict[str, str] | None = None):
    """Writes the initramfs: busybox, the module, programs of this machine with their libraries; `more` files of text."""
    folders = ("bin", "proc", "sys", "dev", "tmp", "host", "etc", "root", "var", "var/run")
    files = dict.fromkeys(folders, (stat.S_IFDIR | 0o755, b""))
    files["init"] = (stat.S_IFREG | 0o755, (_OWN / "init.sh").read_bytes())
    files["bin/busybox"] = (stat.S_IFREG | 0o755, Path(busybox()).read_bytes())
    files["bin/xdp"] = (stat.S_IFREG | 0o755, xdp_tool().read_bytes())
    files["card.ko"] = (stat.S_IFREG | 0o644, module.read_bytes())
    for name, text in (more or {}).items():
        files[name] = (stat.S_IFREG | 0o644, text.encode())
    for program in programs:
        for path in _with_libraries(program):
            for parent in reversed(Path(path).parents[:-1]):
                files.setdefault(str(parent)[1:], (stat.S_IFDIR | 0o755, b""))
            files[path[1:]] = (stat.S_IFREG | 0o755, Path(path).read_bytes())
    out.write_bytes(_archive(files))


def build_simulator(system, values: dict, waves: bool = False) -> Path:
    """The system with guests in its slots."""
    return build.build_system(replace(system, sources=tuple(system.linux["sources"])), values, waves)

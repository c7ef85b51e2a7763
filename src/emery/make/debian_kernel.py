# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel for guests in QEMU (`./emery linux --lane qemu|vfio-user`): image and headers, unpacked into the cache.

The packages are fetched once, by apt from the machine's own mirrors; nothing of them is installed.
"""

import functools
import os
import re
import shutil
from pathlib import Path

from emery import process
from emery.common import UserError
from emery.make import cache, linux, toolchain
from emery.terminal import Progress

QEMU = "qemu-system-x86_64"
_TOOLS = {"make": "make", "apt-get": "apt", "dpkg-deb": "dpkg"}
_PACKAGES = {QEMU: "qemu-system-x86", **_TOOLS}
_IMAGE, _HEADERS = "linux-image-cloud-amd64", "linux-headers-cloud-amd64"


def missing() -> list[str]:
    """Debian packages that are needed and not here."""
    return toolchain.missing_packages(_PACKAGES, {"busybox-static": linux.busybox()})


def missing_for_vfio_user() -> list[str]:
    """Likewise, beside a QEMU that Debian 12 has none of."""
    return toolchain.missing_packages(_TOOLS, {"busybox-static": linux.busybox()})


def _qemu(fits, wanted: str) -> str:
    """The first QEMU of the PATH whose version fits; refuses in one line when there is none."""
    found = {}
    for folder in os.get_exec_path():
        path = shutil.which(QEMU, path=folder)
        version = re.search(r"version (\d+)\.(\d+)", process.run([path, "--version"]).stdout) if path else None
        if not path or not version:
            continue
        if fits(tuple(map(int, version.groups()))):
            return path
        found.setdefault(os.path.realpath(path), f"{path} is {version[1]}.{version[2]}")
    raise UserError(f"linux: {wanted}, as {QEMU} on the PATH: {'; '.join(found.values()) or 'there is none'}")


def proxy_qemu() -> str:
    """The QEMU whose proxy of a PCI device the simulator speaks: the protocol is private to a version."""
    return _qemu(lambda version: version == (7, 2), "--lane qemu is for QEMU 7.2")


def vfio_user_qemu() -> str:
    """One that has the client of vfio-user."""
    return _qemu(lambda version: version >= (10, 1), "--lane vfio-user is for QEMU 10.1 or later")


def check():
    """Refuses in one line what cannot be on this machine."""
    toolchain.check_packages("linux", missing())
    proxy_qemu()


def check_vfio_user():
    """Likewise."""
    toolchain.check_packages("linux", missing_for_vfio_user())
    vfio_user_qemu()


def _depends(package: str) -> list[str]:
    return re.findall(r"^ +Depends: (linux-\S+)", process.run(["apt-cache", "depends", package]).stdout, re.MULTILINE)


@functools.cache
def _packages() -> list[str]:
    """The kernel's packages, by the names that the newest of them have."""
    images, headers = _depends(_IMAGE), _depends(_HEADERS)
    if not images or not headers:
        raise UserError(f"linux: apt knows no {_IMAGE} and {_HEADERS}: apt-get update")
    more = [x for x in _depends(headers[0]) if x.startswith(("linux-headers-", "linux-kbuild-"))]
    return [images[0], headers[0], *more]


def kernel() -> tuple[Path, Path]:
    """The image, and the folder that modules are built against."""
    names = _packages()
    policy = process.run(["apt-cache", "policy", *names]).stdout
    versions = re.findall(r"^ +Candidate: (\S+)", policy, re.MULTILINE)

    def make(out: Path):
        progress = Progress("fetching Debian's kernel")
        try:
            progress.say("once, 40 MB")
            toolchain.run_tool(
                ["apt-get", "-o", "APT::Sandbox::User=", "download", *names], out, "linux: Debian's kernel", "^E: "
            )
            for package in sorted(out.glob("*.deb")):
                toolchain.run_tool(["dpkg-deb", "-x", str(package), str(out)], out, "linux: Debian's kernel", "error")
                package.unlink()
        finally:
            progress.done()
        for name in ("lib", "etc", "usr/share"):
            shutil.rmtree(out / name, ignore_errors=True)

    folder = cache.entry("linux-debian", cache.digest(1, names, versions), make)
    return next((folder / "boot").glob("vmlinuz-*")), folder / "usr" / "src" / names[1]


def build_module(system) -> Path:
    """The card's module for that kernel."""
    _, headers = kernel()
    common = next(headers.parent.glob("linux-headers-*-common"))
    # The headers' own Makefile is for the place that the package would have put them to.
    line = f"include {common}/Makefile\n"
    if (headers / "Makefile").read_text() != line:
        (headers / "Makefile").write_text(line)
    return linux.build_module(system, (), headers, "x86")[0]

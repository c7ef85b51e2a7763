# SPDX-License-Identifier: Apache-2.0
"""The poll-mode driver of `./emery dpdk`: built against the machine's DPDK as a plug-in that testpmd loads.

Debian's packages have no headers for drivers: they are taken, once, from the source package of the same name, by apt from the
machine's own mirrors, and kept. Nothing of the machine is changed for it.
"""

import re
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

from emery import process
from emery.common import UserError
from emery.make import build, cache, formats, registers, toolchain
from emery.terminal import Progress

_PACKAGES = {"dpdk-testpmd": "dpdk-dev", "pkg-config": "pkg-config", "apt-get": "apt"}
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Folders of the sources with headers that a driver includes, and those that are also among the packages': these win.
_HEADERS = ("lib/ethdev", "drivers/bus/vdev", "lib/eal/include")
_WANTED = re.compile(r"[^/]+/((?:lib/ethdev|drivers/bus/vdev|lib/eal/include)/[^/]+\.h)")
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-DALLOW_INTERNAL_API", "-DALLOW_EXPERIMENTAL_API")


def testpmd() -> str:
    """DPDK's program that forwards; empty when it is not here."""
    return shutil.which("dpdk-testpmd") or ""


def _version() -> str:
    done = process.run(["pkg-config", "--modversion", "libdpdk"]) if shutil.which("pkg-config") else None
    return done.stdout.strip() if done and done.returncode == 0 else ""


def missing() -> list[str]:
    """Debian packages that are needed and not here."""
    return toolchain.missing_packages(_PACKAGES, {"libdpdk-dev": _version()})


def check():
    """Refuses in one line what cannot be on this machine."""
    toolchain.check_packages("dpdk", missing())
    if not _version().startswith("22.11"):
        raise UserError(f"dpdk: the driver is for DPDK 22.11; this is {_version()}")


def _run(command: list[str], folder: Path, what: str) -> str:
    return toolchain.run_tool(command, folder, what, "^E: ")


def _fetch(out: Path):
    """The headers out of the source package, with an index of packages of its own: the machine's may have no sources."""
    work = out / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (work / name).mkdir(parents=True)
    fields = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    said = _run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"], out, "dpdk: apt")
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    lines = [f"deb-src {signed}{x}\n" for x in sorted(set(said.splitlines())) if len(x.split()) == 3]
    (work / "list").write_text("".join(lines))
    places = {"Dir::Etc::SourceList": work / "list", "Dir::Etc::SourceParts": "-"}
    places |= {"Dir::State::Lists": work / "lists", "Dir::Cache": work / "cache", "APT::Sandbox::User": ""}
    options = [word for name, value in places.items() for word in ("-o", f"{name}={value}")]
    what = "dpdk: headers for drivers come from Debian's source package, and apt does not give it"
    progress = Progress("fetching the headers of DPDK's source package")
    try:
        progress.say("once, 25 MB")
        _run(["apt-get", *options, "update"], work, what)
        _run(["apt-get", *options, "source", "--download-only", "dpdk"], work, what)
    finally:
        progress.done()
    archive = next(work.glob("dpdk_*.orig.tar.*"), None)
    if not archive:
        raise UserError(f"{what}: no dpdk_*.orig.tar")
    with tarfile.open(archive) as packed:
        for member in packed:
            match = _WANTED.fullmatch(member.name)
            if match and member.isfile():
                (out / match[1]).parent.mkdir(parents=True, exist_ok=True)
                (out / match[1]).write_bytes(packed.extractfile(member).read())
    shutil.rmtree(work)


def headers() -> Path:
    """The folder with the headers for drivers of this DPDK."""
    check()
    return cache.entry("dpdk-headers", cache.digest(1, _version()), _fetch)


def plugin(system) -> Path:
    """The driver of the system's card, for EAL's option -d."""
    folder = headers()
    generated = [registers.generate(system.folder / x.file, x.blocks, x.map) for x in system.registers]
    generated.append(formats.generate(system.formats, system.folder))
    sources = [x for pattern in system.dpdk["driver"] for x in sorted(system.folder.glob(pattern))]
    includes = [*(folder / x for x in _HEADERS), *dict.fromkeys(x.parent for x in sources), *map(Path, generated)]
    flags = [*_FLAGS, *process.run(["pkg-config", "--cflags", "libdpdk"]).stdout.split(), *(f"-I{x}" for x in includes)]
    libraries = [*process.run(["pkg-config", "--libs", "libdpdk"]).stdout.split(), "-lrte_bus_vdev"]
    content = [(x.name, cache.sources_digest(x, [Path(y) for y in includes])) for x in sources]

    def make(out: Path):
        files = [word for x in sources if x.suffix == ".c" for word in ("-x", "c", str(x))]  # to g++ -x is of one file
        words = [*flags, *files, "-x", "none", "-shared", *libraries]
        log = toolchain.run_cxx([*words, "-o", str(out / "librte_net_emery.so")], out, False)
        (out / "log").write_text(log)

    key = cache.digest(2, _version(), toolchain.cxx_version(), _FLAGS, content)
    return cache.entry("dpdk-driver", key, make) / "librte_net_emery.so"


def build_simulator(system, values: dict, waves: bool = False) -> Path:
    """The system with a slot that a driver in another process reaches."""
    return build.build_system(replace(system, sources=tuple(system.dpdk["sources"])), values, waves)

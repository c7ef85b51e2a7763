# SPDX-License-Identifier: Apache-2.0
"""A folder of the user's own that takes the place of a part of a system: `--with DIR` (docs/extend.md).

Its `emery.toml` says what it is (`kind`), of which `system`, what it `replaces`, and values of parameters it is made for
(`set`). Modules of the RTL are replaced by name: `NAME.sv` of the folder is read in place of the checkout's. Programs are
replaced file by file. What a system lets replace, its `[with.KIND]` says; `block` is any module of any system.

The files are taken as they are now, into the cache, by content: a run goes on with what it began with, and where the folder
lies does not matter to what follows from it. Messages name the files as the user does.
"""

import re
import shutil
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from emery import system
from emery.common import ROOT, UserError, in_checkout, nearest
from emery.make import cache
from emery.make.programs import Overlay

RTL, PROGRAMS = ("scheduler", "block", "hook"), ("firmware", "tile")
KINDS = (*RTL, *PROGRAMS, "system")
MANIFEST = "emery.toml"
_SOURCES = (".sv", ".svh", ".rdl", ".c", ".h", ".S", ".ld", ".sw", ".cpp", ".hpp", ".py", ".toml")
_MOST_FILES, _MOST_BYTES = 1000, 1 << 24


@dataclass(frozen=True)
class Extension:
    """A folder of the user's own."""

    given: str  # as the user names it
    folder: Path  # its files, in the cache; of a system the folder itself
    digest: str  # of these files
    kind: str
    system: str = ""  # whose part it replaces; of a system its name; empty: whichever has it
    replaces: tuple[str, ...] = ()  # modules, or files of programs
    sources: tuple[str, ...] = ()  # programs: C and assembly besides
    set: tuple[tuple[str, object], ...] = ()  # defaults of parameters
    modules: tuple[tuple[str, Path], ...] = ()  # of the RTL that it replaces, and the files that have them

    def refuse(self, why: str, file: str = MANIFEST):
        """Ends with what is wrong in a file of it."""
        raise UserError(f"{Path(self.given) / file}: {why}")

    def tell(self) -> dict:
        """As the result has it."""
        return {
            "folder": Path(self.given).resolve().name,
            "kind": self.kind,
            "replaces": list(self.replaces),
            "sha256": self.digest,
        }


def _files(folder: Path) -> list[Path]:
    """What counts of a folder: sources, not what is hidden or was built."""
    found, size = [], 0
    for path in folder.rglob("*"):
        if path.suffix not in _SOURCES or any(x.startswith(".") or x == "prebuilt" for x in path.relative_to(folder).parts):
            continue
        if not path.is_file():
            continue
        found.append(path)
        size += path.stat().st_size
        if len(found) > _MOST_FILES or size > _MOST_BYTES:
            raise UserError(f"--with {folder}: more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MB of sources")
    return sorted(found)


def contents(folder: Path) -> str:
    """Names what a folder's sources say."""
    return cache.digest([(str(x.relative_to(folder)), cache.file_digest(x)) for x in _files(folder)])


def _taken(folder: Path) -> tuple[Path, str]:
    """The files of a folder in the cache, and their digest."""
    digest = contents(folder)

    def make(out: Path):
        for path in _files(folder):
            target = out / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    copy = cache.entry("with", digest, make)
    if contents(copy) != digest:
        raise UserError(f"--with {folder}: its files changed while they were read: once more")
    return copy, digest


_STRINGS = {"kind": str, "system": str, "replaces": list, "sources": list, "set": dict}


def _read(given: str, folder: Path) -> dict:
    """The manifest, as far as its words go."""
    path = Path(given) / MANIFEST
    if not (folder / MANIFEST).is_file():
        raise UserError(f"--with {given}: there is no {MANIFEST} in it (./emery new KIND DIR makes one)")
    try:
        data = tomllib.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    for name, value in data.items():
        if name not in _STRINGS:
            raise UserError(f"{path}: there is no {name}{nearest(name, _STRINGS)}")
        kind = _STRINGS[name]
        if not isinstance(value, kind) or (kind is list and not all(isinstance(x, str) for x in value)):
            raise UserError(f"{path}: {name}: {'a list of words' if kind is list else 'a table' if kind is dict else 'a word'}")
    kinds = [x for x in KINDS if x != "system"]
    if data.get("kind") not in kinds:
        raise UserError(f"{path}: kind: one of {', '.join(kinds)}")
    if not data.get("replaces"):
        raise UserError(f"{path}: replaces: name what it takes the place of")
    for name in (*data["replaces"], *data.get("sources", ())):
        pattern = r"\w+" if data["kind"] in RTL else r"(\w+/)?\w+\.\w+"
        if not re.fullmatch(pattern, name):
            raise UserError(f"{path}: {name!r} is no name of a {'module' if data['kind'] in RTL else 'file'}")
    return data


def load(given: str) -> Extension:
    """The folder that the user names."""
    folder = Path(given).resolve()
    if not folder.is_dir():
        raise UserError(f"--with {given}: there is no such folder")
    if (folder / "system.toml").is_file():
        return Extension(given, folder, contents(folder), "system", system.read(folder).name)
    _read(given, folder)  # refused before anything is copied
    copy, digest = _taken(folder)
    data = _read(given, copy)
    made = Extension(
        given,
        copy,
        digest,
        data["kind"],
        data.get("system", ""),
        tuple(dict.fromkeys(data["replaces"])),
        tuple(data.get("sources", ())),
        tuple(data.get("set", {}).items()),
    )
    for name in (*made.replaces, *made.sources):
        file = f"{name}.sv" if made.kind in RTL else name
        if not (copy / file).is_file():
            made.refuse("there is no such file, and the manifest names it", file)
    return made


def chosen(name: str, folders: list[str]) -> system.System:
    """The system of that name (or folder) with these folders of the user's; one of them may be the system itself."""
    found = [load(x) for x in folders]
    whole = [x for x in found if x.kind == "system"]
    for x in whole:
        if x.system != name:
            raise UserError(f"--with {x.given}: that is the system {x.system}, not a part of {name}")
    target = system.read(whole[0].folder) if whole else system.load(name)
    return applied(target, tuple(x for x in found if x.kind != "system"))


def applied(target: system.System, extensions: tuple[Extension, ...]) -> system.System:
    """The system with parts of it replaced."""
    taken: dict[str, str] = {}
    for x in extensions:
        for name in x.replaces:
            if name in taken:
                x.refuse(f"{taken[name]} takes the place of {name} already")
            taken[name] = x.given
        if x.system and x.system != target.name:
            x.refuse(f"it is for {x.system}, not for {target.name}")
        rules = target.extends.get(x.kind)
        if rules is None and x.kind != "block":
            x.refuse(f"{target.name} has no {x.kind} of the user's own{nearest(x.kind, [*target.extends, 'block'])}")
        if x.kind in RTL:
            known = module_files(target)
            target = _with_rtl(target, x, known, rules or {})
            x = replace(x, modules=tuple((name, known[name]) for name in x.replaces))
        else:
            target = _with_programs(target, x, rules)
        target = replace(target, parameters=_with_values(target, x), extensions=(*target.extensions, x))
    return target


def _with_values(target: system.System, extension: Extension) -> dict:
    parameters = dict(target.parameters)
    for name, value in extension.set:
        if name not in parameters:
            extension.refuse(f"set: {target.name} has no parameter {name}{nearest(name, parameters)}")
        try:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            parameters[name] = replace(parameters[name], default=parameters[name].parse(text))
        except UserError as error:
            extension.refuse(f"set: {error}")
    return parameters


# ---------------------------------------------------------------- modules of the RTL


def module_files(target: system.System) -> dict[str, Path]:
    """The files that a system, in any of its variants, finds modules in, by the module's name."""
    found = {}
    for one in (target, *(replace(target, **{k: v for k, v in x.items() if k != "when"}) for x in target.variants)):
        for folder in (*(ROOT / x for x in one.rtl_dirs), one.folder):
            for path in folder.glob("*.sv"):
                if not path.stem.endswith(("_tb", "_formal", "_pkg")):
                    found.setdefault(path.stem, path)
        found |= {Path(x).stem: one.folder / x for x in one.rtl_files}
    return found


def _with_rtl(target: system.System, extension: Extension, known: dict[str, Path], rules: dict) -> system.System:
    names = rules.get("modules", known) if extension.kind != "block" else known
    for name in extension.replaces:
        if name not in names:
            shown = names if len(names) < 10 else rules.get("modules")
            extension.refuse(f"{target.name} has no {extension.kind} {name}{nearest(name, names, shown)}")
    for path in sorted(extension.folder.glob("*.sv*")):
        if path.suffix not in (".sv", ".svh") or path.stem.endswith("_tb") or path.stem in extension.replaces:
            continue
        taken = next((x for x in (ROOT / "rtl").glob(f"*/{path.name}")), known.get(path.stem))
        if taken:
            extension.refuse(f"a file of {taken.parent.name} has that name: name it in `replaces`, or rename it", path.name)

    def files(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(extension.folder / Path(x).name) if Path(x).stem in extension.replaces else x for x in names)

    def fields(rtl_dirs: tuple[str, ...], rtl_files: tuple[str, ...]) -> dict:
        return {"rtl_dirs": (str(extension.folder), *rtl_dirs), "rtl_files": files(rtl_files)}

    variants = tuple(
        x | fields(x.get("rtl_dirs", target.rtl_dirs), x.get("rtl_files", target.rtl_files)) for x in target.variants
    )
    parts = target.parts
    if parts:
        parts = parts | {"modules": [x | {"file": files((x["file"],))[0]} for x in parts["modules"]]}
    return replace(target, **fields(target.rtl_dirs, target.rtl_files), variants=variants, parts=parts)


# ---------------------------------------------------------------- programs of cores


def _with_programs(target: system.System, extension: Extension, rules: dict) -> system.System:
    folder = target.folder / rules["folder"]
    have = {str(x.relative_to(folder)) for x in folder.rglob("*") if x.is_file() and x.suffix in _SOURCES}
    for name in extension.replaces:
        if name not in have or name.endswith(".sv"):
            extension.refuse(f"{target.name} has no file {name} in {rules['folder']}{nearest(name, have)}")
    for name in extension.sources:
        if name in have or Path(name).suffix not in (".c", ".S"):
            extension.refuse(f"sources: {name} is to be C or assembly of your own: what has a name here goes into `replaces`")
    for path in _files(extension.folder):
        name = str(path.relative_to(extension.folder))
        if name in have and name not in extension.replaces:
            extension.refuse(f"{target.name} has a file of that name: name it in `replaces`, or rename it", name)
        if path.suffix not in (".h", ".toml") and name not in (*extension.replaces, *extension.sources):
            extension.refuse("nothing uses it: name it in `replaces`, with its folder, or in `sources`", name)
    old = target.overlays.get(folder, Overlay())
    new = Overlay((*old.folders, extension.folder), (*old.sources, *extension.sources))
    return replace(target, overlays=target.overlays | {folder: new})


# ---------------------------------------------------------------- messages


def _renamed(text: str, extensions) -> str:
    """A message in which the user's files are called as the user calls them."""
    for x in extensions:
        for place in (str(x.folder), in_checkout(x.folder)):
            text = text.replace(place, x.given.rstrip("/"))
    return text


@contextmanager
def told(target: system.System):
    """What goes wrong inside names the user's own files as the user does."""
    try:
        yield
    except Exception as error:
        if target.extensions and error.args and isinstance(error.args[0], str):
            error.args = (_renamed(error.args[0], target.extensions), *error.args[1:])
        raise

# SPDX-License-Identifier: Apache-2.0
"""`./emery new KIND DIR`: a folder of the user's own that works as it is, made of what the checkout has now."""

import re
import shutil
from pathlib import Path

from emery import extension, system
from emery.common import ROOT, UserError, in_checkout, nearest

_CARD = ROOT / "tests" / "loop_card"  # the smallest system there is
_ABOUT = {
    "block": "modules: NAME.sv of this folder is read in place of the checkout's, with the same ports and parameters",
    "programs": "files: those of this folder are compiled in place of the checkout's; name more of them here, and copy them",
}


def make(kind: str, folder: str, target: system.System | None, source: str | None) -> str:
    """Makes the folder; gives what to do with it, for people."""
    out = Path(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"new {kind} {folder}: it is there already")
    if kind == "system":
        if target or source:
            raise UserError("new system: it is one of its own: without --system and --from")
        return _system(out, folder)
    files, manifest, what = (_rtl if kind in extension.RTL else _programs)(kind, target, source)
    _folder(out, folder)
    for path in files:
        shutil.copyfile(path, out / path.name)
    (out / extension.MANIFEST).write_text(manifest)
    name = re.search(r'^system = "(.*)"', manifest, re.M)[1]
    return f"{folder}: a {kind} of {name}, in place of {what}{_hint(folder, name)}"


def _folder(out: Path, folder: str):
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"new {folder}: {error.strerror}") from error


def _hint(folder: str, name: str) -> str:
    return f"\n  ./emery run {name} --with {folder}\n  ./emery test --with {folder}"


def _manifest(kind: str, name: str, replaces: list[str], about: str, values: dict) -> str:
    words = ", ".join(f'"{x}"' for x in replaces)
    text = "# SPDX-License-Identifier: Apache-2.0\n# What this folder is, to --with: docs/extend.md.\n\n"
    text += f'kind = "{kind}"\nsystem = "{name}"\n# {about}\nreplaces = [{words}]\n'
    shown = {x: f'"{y}"' if isinstance(y, str) else str(y).lower() for x, y in values.items()}
    lines = "".join(f"{x} = {y}\n" for x, y in shown.items())
    return text + (f"\n# Parameters it is made for, where --set says nothing.\n[set]\n{lines}" if values else "")


def _having(kind: str) -> list[system.System]:
    return [x for x in map(system.load, system.names()) if kind in x.extends]


def _chosen(kind: str, target: system.System | None) -> system.System:
    having = _having(kind)
    if target is None and having:
        return having[0]
    if target is None or kind not in target.extends:
        names = " and ".join(x.name for x in having) or "no system"
        have = "have" if len(having) > 1 else "has"
        raise UserError(f"new {kind}: {f'{target.name} has none; ' if target else ''}{names} {have} one")
    return target


def _rtl(kind: str, target: system.System | None, source: str | None) -> tuple[list[Path], str, str]:
    if kind == "block":
        target, source = _block(target, source)
    elif target is None and source:
        having = [x for x in _having(kind) if source in x.extends[kind]["modules"]]
        target = having[0] if having else None
    chosen = target if kind == "block" else _chosen(kind, target)
    rules = chosen.extends.get(kind, {})
    source = source or rules["modules"][0]
    known = extension.module_files(chosen)
    names = known if kind == "block" else rules["modules"]
    if source not in names:
        raise UserError(f"new {kind}: {chosen.name} has no {kind} {source}{nearest(source, names)}")
    values = rules.get("set", {}) | rules.get("sets", {}).get(source, {})
    manifest = _manifest(kind, chosen.name, [source], _ABOUT["block"], values)
    return [known[source]], manifest, in_checkout(known[source])


def _block(target: system.System | None, source: str | None) -> tuple[system.System, str]:
    """A module, and a system that has it."""
    if source is None:
        target = target or _chosen("block", None)
        if "block" not in target.extends:
            raise UserError(f"new block: of {target.name}: say which module, --from NAME")
        return target, target.extends["block"]["modules"][0]
    from emery.check import structure

    design = structure.read()
    if source not in design.modules or design.modules[source].is_interface:
        raise UserError(f"new block: there is no module {source} (./emery map --modules has them)")
    names = [target.name] if target else system.names()
    having = [x for x in names if source in design.reach[x]]
    if not having:
        raise UserError(f"new block: {target.name if target else 'no system'} has no {source}")
    return target or system.load(having[0]), source


def _programs(kind: str, target: system.System | None, source: str | None) -> tuple[list[Path], str, str]:
    chosen = _chosen(kind, target)
    rules = chosen.extends[kind]
    folder = chosen.folder / rules["folder"]
    source = source or rules["file"]
    known = {x.name: x for x in folder.iterdir() if x.is_file() and x.suffix in (".c", ".h", ".S", ".ld", ".toml")}
    if source not in known:
        raise UserError(f"new {kind}: {in_checkout(folder)} has no {source}{nearest(source, known)}")
    manifest = _manifest(
        kind, chosen.name, [source], _ABOUT["programs"], rules.get("set", {}) | rules.get("sets", {}).get(source, {})
    )
    return [known[source]], manifest, in_checkout(known[source])


def _system(out: Path, folder: str) -> str:
    """A copy of the smallest system, under the folder's name."""
    name = Path(folder).resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", name):
        raise UserError(f"new system {folder}: its name is the system's: small letters, digits, - and _")
    _folder(out, folder)
    module = name.replace("-", "_")
    for path in sorted(x for x in _CARD.iterdir() if x.is_file()):
        text = path.read_text().replace("loop_card", module).replace("loop-card", name)
        text = re.sub(r"^# A system in its smallest .*", "# docs/systems.md says what may stand here.", text, flags=re.M)
        (out / path.name.replace("loop_card", module)).write_text(text)
    return f"{folder}: a system, {name}{_hint(folder, name)}"

# SPDX-License-Identifier: Apache-2.0
"""One copy of the code for all instances of a module that Verilator left as one (`no_inline_module`).

Verilator writes the functions of such a module once for each instance, as soon as they name what is outside of it: a bit of a
vector beside it, a cache. Six cores are six times the code, and reading that from the second-level cache is what a simulation
waits for. Here functions that are the same but for such names and numbers become one, which is told which instance it is for;
each of the old ones calls it.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

_LEAST = 2000  # characters of a function that is worth it
_MOST = 1 / 40  # of its words and signs that differ: each costs an access to a table
_FUNCTION = re.compile(r"^(?:VL_INLINE_OPT )?(void (\w+)\((\w+)\* vlSelf\)) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
_IDLE = re.compile(r"^ *VL_DEBUG_IF\(.*\n|//.*|/\*.*?\*/", re.MULTILINE)  # comments, and what is as good as one
_TOKEN = re.compile(r"\w+|\s+|->|[^\w\s]")
_NUMBER = re.compile(r"(?:0x[0-9a-f]+|\d+)U?(?:LL)?$")


@dataclass(frozen=True)
class _Function:
    head: str
    whole: str
    body: str
    path: Path

    def tokens(self) -> list[str]:
        return [x for x in _TOKEN.findall(self.body) if not x.isspace()]

    def shape(self) -> tuple[str, ...]:
        """What it is, whatever its names and numbers."""
        return tuple("0" if _NUMBER.match(x) else "a" if re.match(r"\w", x) else x for x in self.tokens())


def join(directory: Path, top: str):
    """Rewrites the files of a model in which such a module has several instances."""
    symbols = (directory / f"V{top}__Syms.h").read_text()
    places = defaultdict(list)  # of the instances of each class
    for kind, place in re.findall(r"^ +(V\w+) +(TOP__\w+);", symbols, re.MULTILINE):
        places[kind].append(place)
    several = {x: sorted(y, key=_numbers) for x, y in places.items() if len(y) > 1}
    texts = {x: x.read_text() for x in sorted(directory.glob("*.cpp")) if several and not x.stem.endswith("Slow")}
    words = Counter(x for text in texts.values() for x in re.findall(r"\w+", text))
    for kind in several:
        mine = {x: text for x, text in texts.items() if x.stem.startswith(f"{kind}__")}
        _Module(directory, top, kind, mine, words).join(several[kind])


def _numbers(name: str) -> list[int]:
    return [int(x) for x in re.findall(r"\d+", name)]


def _members(header: Path) -> dict[str, str]:
    """The types of a class's members."""
    found = re.findall(r"^ +([\w:<>, ]+?)(?:/\*[\d:]+\*/)? +(\w+);", header.read_text(), re.MULTILINE)
    return {name: type_ for type_, name in found}


class _Module:
    """A class with several instances."""

    def __init__(self, directory: Path, top: str, kind: str, texts: dict[Path, str], words: Counter):
        self.kind = kind
        self.texts = texts
        self.words = words  # of the whole model
        # What a name may follow, and the class whose member it then is.
        owners = ((("vlSelfRef", "."), kind), (("vlSymsp", "->", "TOP", "."), f"V{top}___024root"))
        self.owners = (*owners, (("vlSymsp", "->"), f"V{top}__Syms"))
        self.headers = {of: directory / f"{of}.h" for _, of in self.owners}
        self.members: dict[str, dict[str, str]] = {}

    def join(self, places: list[str]):
        alike = defaultdict(dict)  # by what they do and their number, then by place
        for path, text in self.texts.items():
            for found in _FUNCTION.finditer(text):
                head, name, of, body = found.groups()
                body = _IDLE.sub("", body)
                if of != self.kind or len(body) < _LEAST or '"' in body:
                    continue
                for place in (x for x in places if f"__{x}__" in name):
                    alike[name.replace(f"__{place}__", "__", 1)][place] = _Function(head, found[0], body, path)
        for what, functions in alike.items():
            shapes = defaultdict(list)
            for place in (x for x in places if x in functions):
                shapes[functions[place].shape()].append(functions[place])
            for number, group in enumerate(x for x in shapes.values() if len(x) > 1):
                self.share(f"{what}__emery_{number}", group)
        for path, text in self.texts.items():
            path.write_text(text)

    def share(self, name: str, group: list[_Function]):
        """One function in place of these, where they differ in nothing that it cannot be told."""
        told = list(zip(*(x.tokens() for x in group), strict=True))
        if sum(len(set(x)) > 1 and "__Vfunc_" not in x[0] for x in told) > _MOST * len(told):
            return
        columns = iter(told)
        tables: dict[tuple[str, ...], str] = {}
        own: dict[str, tuple[str, ...]] = {}  # names of the function's own, by the first one's
        same: set[str] = set()
        out: list[str] = []

        def table(values: tuple[str, ...], type_: str) -> str:
            tables.setdefault(values, f"static constexpr {type_} emery_{len(tables)}[] = {{{', '.join(values)}}};\n")
            return f"emery_{list(tables).index(values)}[emery_n]"

        for token in _TOKEN.findall(group[0].body):
            if token.isspace():
                out.append(token)
                continue
            column = next(columns)
            if len(set(column)) == 1:
                same.add(token)
                out.append(token)
            elif _NUMBER.match(token):
                values = [int(x.rstrip("UL"), 0) for x in column]
                if values == [values[0] + i for i in range(len(values))] and "LL" not in token:
                    out.append(f"(emery_n + {values[0]}U)")
                else:
                    out.append(table(column, "QData" if "LL" in "".join(column) else "IData"))
            elif self.is_own(column, group):
                if own.setdefault(token, column) != column:
                    return
                out.append(token)
            elif owner := self.owner(out, column):
                path, of, type_ = owner
                pointer = table(tuple(f"&{of}::{x}" for x in column), f"{type_} {of}::*")
                out.append(f"({''.join(path)}*{pointer})")
            else:
                return
        if own.keys() & same or any(len({x[i] for x in own.values()}) != len(own) for i in range(len(group))):
            return
        head = f"void {name}({self.kind}* vlSelf, unsigned emery_n)"
        for number, function in enumerate(group):
            before = f"{head} {{\n{''.join(tables.values())}{''.join(out)}}}\n" if number == 0 else f"{head};\n"
            new = f"{before}{function.head} {{ {name}(vlSelf, {number}); }}\n"
            self.texts[function.path] = self.texts[function.path].replace(function.whole, new, 1)

    def is_own(self, column: tuple[str, ...], group: list[_Function]) -> bool:
        """Whether these are places for what a function works out, which nothing else looks into."""
        if not all("__Vfunc_" in x or x.startswith("__Vlabel") for x in column):
            return False
        members = self.types(self.kind)
        return all(
            x not in members or len(re.findall(rf"\b{x}\b", y.whole)) == self.words[x]
            for x, y in zip(column, group, strict=True)
        )

    def types(self, of: str) -> dict[str, str]:
        """The types of a class's members."""
        if of not in self.members:
            self.members[of] = _members(self.headers[of])
        return self.members[of]

    def owner(self, out: list[str], column: tuple[str, ...]):
        """Takes the path to a member off what is written; gives it, the class, and the type of all these members of it."""
        at = [i for i, x in enumerate(out[-20:], max(0, len(out) - 20)) if not x.isspace()]
        for path, of in self.owners:
            if len(at) >= len(path) and tuple(out[i] for i in at[-len(path) :]) == path:
                types = {self.types(of).get(x) for x in column}
                if len(types) != 1 or None in types:
                    return None
                del out[at[-len(path)] :]
                return path, of, types.pop()
        return None

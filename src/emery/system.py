# SPDX-License-Identifier: Apache-2.0
"""A system as its folder declares it (`system.toml`): parameters, sources, modules, targets.

docs/systems.md describes the file.
"""

import importlib
import itertools
import re
import sys
import tomllib
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from types import ModuleType

from emery.common import ROOT, UserError, in_checkout, nearest
from emery.make import cache, programs

SYSTEMS = ROOT / "systems"
# What a condition of `[[refuse]]`, or what a parameter needs, may say of the workload.
FACTS = {
    "traffic": "its kind",
    "size": "as `--size` has it",
    "flows": "as `--flows` has it",
    "direction": "as `--direction` has it",
    "pcap": "whether it has captures",
    "routes": "whether there is a file of routes",
    "updates": "whether routes change under traffic",
    "longest": "the longest frame, bytes with FCS",
    "shape": "names of the options that shape generated traffic, or empty",
    "port": "the highest port that is named, else -1",
    "live": "whether the driver is the user's (attach.py)",
    "linux": "whether it is a Linux's (guest/)",
}
# Python's own are more: 1_0, digits of any script, nan.
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """Something about a system that a user may set."""

    name: str
    default: object
    help: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple = ()
    power_of_two: bool = False
    rtl: str = ""  # Verilog parameter of the top; without it, a matter of the bench
    rtl_only: bool = False  # the bench is not told
    rtl_scale: int = 1  # the Verilog parameter is this many times the value
    rtl_values: tuple = ()  # what each choice is called in Verilog
    when: dict = field(default_factory=dict)  # bench and top are told only while these parameters have these values
    needs: str = ""  # a condition over parameters and the workload, in Python's words, without which it does nothing
    struck: str = ""  # of what goes wrong on purpose: where a result says whether it did; `traffic_s`: of a time in us
    sets: dict = field(default_factory=dict)  # what each choice makes of others that nobody sets; the bench is told of those

    @property
    def allowed(self) -> str:
        """The values it takes, for people."""
        if self.choices:
            return " | ".join(map(str, self.choices))
        if isinstance(self.default, bool):
            return "true | false"
        if self.minimum is None:
            return "any"
        power = ", power of two" if self.power_of_two else ""
        low, high = (str(int(x)) if float(x).is_integer() else f"{x:g}" for x in (self.minimum, self.maximum))
        return f"{low} ... {high}{power}"

    @cached_property
    def idle(self) -> "Refusal | None":
        """What refuses it where it does nothing, by `when` and `needs`."""
        when = [f"{name} == {value!r}" for name, value in self.when.items()]
        said = " and ".join([*when, f"({self.needs})"] if when and self.needs else when or [self.needs])
        return Refusal(f"not ({said})", f"{self.name} does nothing unless {said}") if said else None

    def parse(self, text: str):
        """The value that `text` says, checked."""
        try:
            if isinstance(self.default, bool):
                value = {"true": True, "1": True, "false": False, "0": False}[text.lower()]
            elif isinstance(self.default, str) or _NUMBER.fullmatch(text):
                value = type(self.default)(text)
            else:
                raise ValueError
        except (ValueError, KeyError):
            raise UserError(f"parameter {self.name}: {text!r} is not one of: {self.allowed}") from None
        self.check(value)
        return value

    def check(self, value):
        """Refuses a value out of range."""
        bad = self.choices and value not in self.choices
        bad = bad or (self.minimum is not None and not self.minimum <= value <= self.maximum)
        bad = bad or (self.power_of_two and value & (value - 1))
        if bad:
            raise UserError(f"parameter {self.name}: {value} is out of range ({self.allowed})")

    def verilog(self, value) -> str:
        """The value as Verilator's -G takes it."""
        if self.rtl_values:
            return str(self.rtl_values[self.choices.index(value)])
        if isinstance(value, str):
            return f'"{value}"'
        return str(int(value)) if isinstance(value, bool) else str(value * self.rtl_scale)


@dataclass(frozen=True)
class Registers:
    """A SystemRDL file of the system's folder: the addrmaps in it that are RTL blocks, and the one that is the whole map."""

    file: str
    blocks: list[str]
    map: str


@dataclass(frozen=True)
class Target:
    """A number of the paper, and what Emery is to show for it."""

    id: str
    figure: str
    what: str
    measure: str  # path in the result, with dots; with `of`: least, most, mean, spread or least_fraction
    unit: str = ""
    run: dict = field(default_factory=dict)  # options of the run, as on the command line
    against: dict = field(default_factory=dict)  # options of another run: the number is the change against it
    paper: str = ""  # what the text says
    paper_value: float | None = None
    peer_value: float | None = None  # the paper's own open design, measured by us
    limit: object = None  # a number; "physics", "protocol": those of the result; or "offered"
    goal: float | None = None
    goal_fraction: float | None = None  # of the limit
    compare: str = ">="  # or "<=", "~" (within `tolerance` of the goal), "" (reported, not judged)
    tolerance: float = 0.0  # as a fraction
    x: float | None = None  # place on the figure's axis
    series: str = ""  # the curve it is a point of, where a figure has several
    of: str = ""  # how the ids of other targets of the figure begin: the number is one about theirs
    lossless: bool = False  # the goal is missed where a frame was dropped
    held: bool = False  # tests run it anew and compare with what the pages say


@dataclass(frozen=True)
class Refusal:
    """Settings that do not go together: a condition over names of parameters and of the workload, in Python's words."""

    when: str
    why: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the condition is about, in its order."""
        return self._code.co_names

    @cached_property
    def _code(self):
        return compile(self.when, self.when, "eval")

    def holds(self, known: dict) -> bool:
        """Whether all it is about is known, and it is met."""
        return set(self.names) <= known.keys() and bool(eval(self._code, {"__builtins__": {}}, known))

    def check(self, known: dict, also: tuple[str, ...] = ()):
        """Refuses these values, if they are all here and the condition holds for them; names of `also` are shown first."""
        if self.holds(known):
            names = dict.fromkeys((*also, *self.names))
            said = {x: str(known[x]).lower() if isinstance(known[x], bool) else known[x] for x in names}
            shown = {name: x for name, x in said.items() if name in also or x not in ("false", "")} or said
            words = (f"longest frame {x} bytes" if name == "longest" else f"{name}={x}" for name, x in shown.items())
            raise UserError(f"{', '.join(words)}: {self.why}")


@dataclass(frozen=True)
class System:
    """A system: all that is known of it comes from its folder."""

    name: str
    title: str
    paper: str
    description: str
    folder: Path
    top: str
    rtl_dirs: tuple[str, ...]
    rtl_files: tuple[str, ...]
    parts: dict  # `modules` that the bench puts together itself, unless the parameter `unless` is set
    registers: tuple[Registers, ...]
    formats: tuple[str, ...]  # packages of the RTL that its C, C++ or Python uses
    sources: tuple[str, ...]  # patterns
    routes: str  # the C++ file of the program that judges routes files; empty: the simulator alone does
    ports: dict
    options: tuple[str, ...]  # run options that only some systems take: direction, routes, traffic
    run: dict  # the main job: run options where the command line gives none
    parameters: dict[str, Parameter]
    python: dict  # names of functions to the modules of the folder that have them
    one_size: bool  # what a frame costs follows from the longest of the run, not from its own size
    largest_frame: int  # bytes with FCS that --size may say; an MTU may allow less
    figures: dict
    targets: tuple[Target, ...]
    variants: tuple[dict, ...] = ()  # fields that are others `when` parameters have certain values
    refusals: tuple[Refusal, ...] = ()
    clocks: dict = field(
        default_factory=dict
    )  # MHz its top's clock ports are made for: numbers, names of parameters, or { parameter = { value = number } }
    resources: dict = field(default_factory=dict)  # what its entries of a result's `resources` are (schema.py)
    soak: dict = field(default_factory=dict)  # what runs are drawn from (check/soak.py)
    speed: dict = field(default_factory=dict)  # the run that says how fast its simulator is (check/speed.py)
    extends: dict = field(default_factory=dict)  # by kind, what a folder of the user's own may replace (extension.py)
    extensions: tuple = ()  # such folders
    linux: dict = field(default_factory=dict)  # `sources` of a simulator with guests, files of the kernel `module`
    live: dict = field(default_factory=dict)  # places of live traffic by kind: as many as the product of these parameters
    control_plane: str = ""  # of these the kind where interfaces of the kernel are that is the router's control plane
    dpdk: dict = field(default_factory=dict)  # `sources` of a simulator behind a socket, files of the poll-mode `driver`
    debug: dict = field(default_factory=dict)  # what a run with a debugger is `set` to, the file that makes its model `public`
    overlays: dict = field(default_factory=dict)  # folders of programs: what lies over them (make/programs.py)

    def values(self, settings: list[str] = ()) -> dict:
        """All parameters, with `NAME=VALUE` settings applied."""
        values = self._all(self.given(settings))
        self.judge(values)
        return values

    def given(self, settings: list[str]) -> dict:
        """What `NAME=VALUE` settings say, by parameter."""
        given = {}
        for setting in settings:
            name, equals, text = setting.partition("=")
            if not equals:
                raise UserError(f"--set {setting}: write it as NAME=VALUE")
            if name not in self.parameters:
                raise UserError(f"{self.name} has no parameter {name}{nearest(name, self.parameters)}")
            given[name] = self.parameters[name].parse(text)
        return given

    def _all(self, given: dict) -> dict:
        values = {x.name: x.default for x in self.parameters.values()}
        for x in self.parameters.values():
            values.update(x.sets.get(given.get(x.name, x.default), {}))
        return values | given

    def effective(self, settings: list[str], facts: dict | None = None) -> list[str]:
        """Of `NAME=VALUE` settings those that do something beside the others, and with a workload of these `facts`."""
        given = self.given(settings)
        values = self._all(given)
        idle = {name for name in given if (x := self.parameters[name].idle) and x.holds(values | (facts or {}))}
        return [x for x in settings if x.partition("=")[0] not in idle]

    def judge(self, known: dict):
        """As `refuse`; and refuses values that would do nothing, unless they are defaults or what a choice made of them."""
        self.refuse(known)
        made = self._all({x.name: known[x.name] for x in self.parameters.values() if x.sets})
        for x in self.parameters.values():
            if x.idle and known[x.name] not in (x.default, made[x.name]):
                x.idle.check(known, (x.name,))

    def never(self, values: dict, result: dict) -> list[str]:
        """Settings that ask for what did not go wrong: the traffic was over before."""
        found = []
        for x in self.parameters.values():
            value = values[x.name]
            if x.struck and (not x.idle.holds(values) if x.idle else value != x.default):
                there = reduce(lambda part, name: (part or {}).get(name), x.struck.split("."), result)
                if there is not None and not (value < 1e6 * there if x.struck == "traffic_s" else there):
                    found.append(f"{x.name}={value}")
        return found

    def refuse(self, known: dict):
        """Refuses values that do not go together: of parameters, or of these and of what a workload is (`Workload.facts`)."""
        for refusal in self.refusals:
            refusal.check(known)

    def rtl_parameters(self, values: dict) -> list[tuple[str, str]]:
        """What the RTL's top is given, by Verilog name."""
        return [(x.rtl, x.verilog(values[x.name])) for x in self._shaping(values)]

    def is_usual(self, values: dict) -> bool:
        """Whether the RTL is as it is unless something is set: most runs are of that."""
        return all(values[x.name] == x.default for x in self._shaping(values))

    def _shaping(self, values: dict) -> list[Parameter]:
        return [x for x in self.parameters.values() if x.rtl and _holds(x.when, values)]

    def public(self, values: dict) -> list[str]:
        """The file of Verilator's that says what of the model the bench may look into: a debugger does."""
        return [self.debug["public"]] if self.debug and _holds(self.debug["set"], values) else []

    def parts_with(self, values: dict) -> list[dict]:
        """Modules to verilate apart: `top`, `file`, which `parameters` of the whole each has, perhaps `name`, `set`. None: the
        whole is one model."""
        return [] if not self.parts or values[self.parts["unless"]] else self.parts["modules"]

    def settings(self, values: dict) -> dict:
        """What the bench is told: parameters by name, and what the system makes of them (files, mostly)."""
        told = {k: x for k, x in self.parameters.items() if not (x.rtl_only or x.sets) and _holds(x.when, values)}
        made = self.hook("settings") or (lambda values: {})
        with programs.laid_over(self.overlays) as built:
            settings = {**{name: values[name] for name in told}, **made(values)}
        self._refuse_unused(built)
        return settings

    def _refuse_unused(self, built: set[Path]):
        """Refuses sources of programs in a folder of the user's own that are in none of those that were built."""
        for x in self.extensions:
            folder = self.folder / self.extends.get(x.kind, {}).get("folder", "")
            for name in x.replaces if folder in self.overlays else ():
                if name.endswith((".c", ".S")) and folder / name not in built:
                    x.refuse(f"with these parameters no program of {self.name} has it", name)

    def program(self, values: dict) -> Path:
        """The ELF file that its cores run with these values."""
        with programs.laid_over(self.overlays):
            return self.hook("program")(values)

    def variant(self, values: dict) -> "System":
        """The system with the top and sources that these parameter values call for."""
        for variant in self.variants:
            if _holds(variant["when"], values):
                return replace(self, **{name: x for name, x in variant.items() if name != "when"})
        return self

    def module(self, name: str) -> ModuleType:
        """A Python module of the system's folder; one such module may import another (`from . import other`)."""
        package = f"emery_{cache.digest(str(self.folder))}"  # the folder as a package: no name of two systems meets
        if package not in sys.modules:
            sys.modules[package] = ModuleType(package)
            sys.modules[package].__path__ = [str(self.folder)]
        return importlib.import_module(f"{package}.{name}")

    def hook(self, name: str):
        """The function of that name that the system declares (`[python]`), or None. Its faults are told in one line."""
        if name not in self.python:
            return None
        with _told(self.folder):
            function = getattr(self.module(self.python[name]), name)

        def call(*arguments):
            with _told(self.folder):
                return function(*arguments)

        return call

    def program_folders(self) -> list[Path]:
        """The folders with programs of its cores."""
        return sorted(x.parent for x in self.folder.glob("*/build.toml"))

    def own_sources(self) -> list[Path]:
        """The C++ files of its own that make its simulator."""
        found = sorted(x for pattern in self.sources for x in self.folder.glob(pattern))
        return [x for x in found if not x.stem.endswith("_test")]


@contextmanager
def _told(folder: Path):
    """An exception of a system's own Python as one line that says where; the rest is in the error's `log`. What the machine
    refuses, a full disk say, is no fault of that Python."""
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{in_checkout(Path(x.filename))}:{x.lineno}" for x in frames if Path(x.filename).is_relative_to(folder)]
        told = UserError(f"{places[-1] if places else in_checkout(folder)}: {type(error).__name__}: {error}")
        told.log = traceback.format_exc()
        raise told from error


def _holds(when: dict, values: dict) -> bool:
    return all(values[name] == value for name, value in when.items())


def _folder(name: str) -> Path:
    return SYSTEMS / name.replace("-", "_")


def names() -> list[str]:
    """The systems there are."""
    return sorted(x.parent.name.replace("_", "-") for x in SYSTEMS.glob("*/system.toml"))


def load(name: str) -> System:
    """The system of that name, or the one that a folder (a name with a / in it) declares."""
    if "/" in name:
        folder = Path(name).resolve()
        if not (folder / "system.toml").is_file():
            raise UserError(f"{name}: there is no system.toml in it")
        return read(folder)
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or not (_folder(name) / "system.toml").is_file():
        other = f" (the folder of that name is ./{name})" if Path(name, "system.toml").exists() else nearest(name, names())
        raise UserError(f"there is no system {name}{other}")
    return read(_folder(name))


def _parameter(name: str, table: dict) -> Parameter:
    low, high = table.pop("range", (None, None))
    choices = tuple(table.pop("choices", ()))
    values = tuple(table.pop("rtl_values", ()))
    parameter = Parameter(name=name, minimum=low, maximum=high, choices=choices, rtl_values=values, **table)
    parameter.check(parameter.default)
    return parameter


def _parameters(data: dict) -> tuple[dict[str, Parameter], list[dict]]:
    """The parameters of a system and of the files it includes (what it says of one of the same name goes before), and what
    does not go together of those that were included whole."""
    tables, refused = {}, []
    for include in data.get("include", ()):
        part = {"file": include} if isinstance(include, str) else include
        with open(ROOT / part["file"], "rb") as handle:
            found = tomllib.load(handle)
        tables |= {name: found["parameters"][name] for name in part.get("only", found["parameters"])}
        refused += [] if "only" in part else found.get("refuse", [])
    for name, table in data.get("parameters", {}).items():
        tables[name] = tables.get(name, {}) | table
    parameters = {name: _parameter(name, dict(x)) for name, x in tables.items()}
    for x in parameters.values():
        for choice, values in x.sets.items():
            if choice not in x.choices or not values.keys() <= parameters.keys():
                raise ValueError(f"parameter {x.name}: {choice} is no choice, or sets what is no parameter")
            for name, value in values.items():
                parameters[name].check(value)
        if unknown := set(x.idle.names if x.idle else ()) - parameters.keys() - set(FACTS):
            raise ValueError(f"parameter {x.name}: there is no {', '.join(sorted(unknown))} that it needs")
    return parameters, refused


def _variant(table: dict, parameters: dict) -> dict:
    fields = {"top": "top", "dirs": "rtl_dirs", "files": "rtl_files", "sources": "sources", "clocks": "clocks"}
    changed = {fields[name]: tuple(x) if isinstance(x, list) else x for name, x in table.items() if name != "when"}
    _clocks(table.get("clocks", {}), parameters)
    return {"when": table["when"], **changed}


def _clocks(table: dict, parameters: dict) -> dict:
    for port, x in table.items():
        name = next(iter(x)) if isinstance(x, dict) else x
        if isinstance(name, str) and name not in parameters:
            raise ValueError(f"rtl.clocks: {port}: there is no parameter {name}")
        if isinstance(x, dict) and x[name] != "thirds" and not isinstance(x[name], dict | int | float):
            raise ValueError(f'rtl.clocks: {port}: {x[name]!r} is neither a number, a table nor "thirds"')
    return table


def _live(table: dict, parameters: dict) -> dict:
    for kind, factors in table.items():
        if unknown := [x for x in factors if x not in parameters]:
            raise ValueError(f"live: {kind}: there is no parameter {unknown[0]}")
    return table


def _control_plane(data: dict) -> str:
    kind = data.get("control_plane", "")
    if kind and kind not in data.get("live", {}):
        raise ValueError(f"control_plane: there are no places {kind} (live)")
    return kind


def _debug(table: dict, parameters: dict) -> dict:
    for name, value in table.get("set", {}).items():
        if name not in parameters:
            raise ValueError(f"debug.set: there is no parameter {name}")
        parameters[name].check(value)
    return table


def _refusals(tables: list[dict], parameters: dict) -> tuple[Refusal, ...]:
    refusals = tuple(Refusal(**x) for x in tables)
    for x in refusals:
        if unknown := set(x.names) - parameters.keys() - set(FACTS):
            raise ValueError(f"refuse: {x.when}: there is no {', '.join(sorted(unknown))}")
    return refusals


def _fill(template, values: dict):
    """A template with its {names} filled in; a string that is one name becomes the value itself, not its text."""
    if isinstance(template, dict):
        return {name.format_map(values): _fill(x, values) for name, x in template.items()}
    if not isinstance(template, str):
        return template
    alone = re.fullmatch(r"\{(\w+)\}", template)
    return values[alone[1]] if alone else template.format_map(values)


def _rows(table: dict) -> list[dict]:
    """What a table's targets differ in: its `vary`, or each x of `each`, for every combination of values of `cross`."""
    rows = table.pop("vary", [{}])
    if "each" in table:  # numbers, and pairs that are all from the first to the second
        spans = [range(x[0], x[1] + 1) if isinstance(x, list) else [x] for x in table.pop("each")]
        rows = [{"x": x} for x in itertools.chain(*spans)]
    cross = table.pop("cross", {})
    return [dict(zip(cross, one, strict=True)) | row for one in itertools.product(*cross.values()) for row in rows]


def _targets(tables: list[dict], figures: dict) -> tuple[Target, ...]:
    """The targets; a table stands for one a row of its `_rows`, whose values fill its texts or are fields themselves. Its runs
    have the settings of its figure, too."""
    targets = []
    for table in map(dict, tables):
        for row in _rows(table):
            own = {name: x for name, x in row.items() if name in Target.__dataclass_fields__}
            table_of_row = {**_fill(table, row), **own}
            common = figures.get(table_of_row["figure"], {}).get("set", {})
            for way in {"run", "against"} & table_of_row.keys() if common else ():
                run = table_of_row[way]
                table_of_row[way] = run | {"set": common | run.get("set", {})}
            targets.append(Target(**table_of_row))
    return tuple(targets)


def read(folder: Path) -> System:
    """The system that a folder declares."""
    path = folder / "system.toml"
    try:
        with open(path, "rb") as handle:
            data = tomllib.load(handle)
        rtl, (parameters, refused) = data["rtl"], _parameters(data)
        return System(
            name=data["name"],
            title=data["title"],
            paper=data.get("paper", ""),
            description=data["description"].strip(),
            folder=folder,
            top=rtl["top"],
            rtl_dirs=tuple(rtl["dirs"]),
            rtl_files=tuple(rtl["files"]),
            parts=rtl.get("parts", {}),
            registers=tuple(Registers(**x) for x in data.get("registers", ())),
            formats=tuple(data.get("formats", ())),
            sources=tuple(data["bench"]["sources"]),
            routes=data["bench"].get("routes", ""),
            ports=data.get("ports", {}),
            options=tuple(data.get("options", ())),
            run=data.get("run", {}),
            parameters=parameters,
            python=data.get("python", {}),
            one_size=data.get("one_size", False),
            largest_frame=data.get("largest_frame", 9018),
            figures=data.get("figure", {}),
            targets=_targets(data.get("target", []), data.get("figure", {})),
            variants=tuple(_variant(x, parameters) for x in data.get("variant", ())),
            clocks=_clocks(rtl.get("clocks", {}), parameters),
            resources=data.get("resources", {}),
            soak=data.get("soak", {}),
            speed=data.get("speed", {}),
            extends=data.get("with", {}),
            linux=data.get("linux", {}),
            dpdk=data.get("dpdk", {}),
            debug=_debug(data.get("debug", {}), parameters),
            live=_live(data.get("live", {}), parameters),
            control_plane=_control_plane(data),
            refusals=_refusals(refused + data.get("refuse", []), parameters),
        )
    except KeyError as error:
        raise UserError(f"{in_checkout(path)}: {error} is missing") from error
    except (OSError, ValueError, TypeError, AttributeError, SyntaxError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{in_checkout(path)}: {error}") from error

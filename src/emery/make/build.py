# SPDX-License-Identifier: Apache-2.0
"""From RTL and C++ to an executable: Verilator, a parallel compile, a link; every step cached by content.

The steps are cached apart. Verilator's output is named by the RTL and its parameters, an object by its source, what it
includes and its flags, an executable by its objects. So two parameter sets share the bench's objects and the Verilator
runtime, and a comment in one module recompiles next to nothing.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from emery.common import ROOT, UserError, cache_dir, in_checkout, jobs
from emery.make import cache, formats, own_rtl, registers, toolchain, tuned, verilated
from emery.make.formats import package_files
from emery.terminal import Progress

_HOT = ["-O2", "-fno-tree-slp-vectorize"]  # SLP vectorisation costs more than it gives on this code
_COLD = ["-O0"]  # runs once, at start
_SHORT = ["-Og"]  # runs for seconds: a model takes the compiler half as long as with _HOT, a run a quarter longer
_COMPILED_ONLY = "\n// compile: quickly\n"  # a line of a bench that runs for less than its optimisation would take
_LANGUAGE = ["-std=gnu++20", "-fcoroutines", "-pthread", "-faligned-new"]
_WARNINGS = ["-Wall", "-Wextra", "-Wshadow"]
_BENCH = ["-Wno-INITIALDLY", "-Wno-ZERODLY", "-Wno-SPLITVAR"]  # delays and names inside blocks: a test bench may
# What most of the bench's sources include, and what Verilator's do: compiled once for all of them (see _precompiled).
_OF_STD = ("algorithm", "array", "fstream", "functional", "map", "memory", "optional", "span", "stdexcept", "string", "vector")
_OF_MODEL = ("verilated.h",)
_OF_TEST = ("verilated.h", "verilated_timing.h", "random")
_FST = ROOT / "bench" / "sim" / "fst"  # headers of the libraries that write FST
_LAZY = "-DEMERY_LAZY"  # logic is worked out where it matters only (rtl/base/stream.svh); what checks hardware sees all of it


def _hot() -> tuple[str, ...]:
    return tuple(_SHORT if os.environ.get("EMERY_SHORT_RUNS") else _HOT)


@dataclass(frozen=True)
class Rtl:
    """A top module and how to verilate it. Paths are relative to the checkout, or absolute for generated files."""

    top: str
    files: tuple[str, ...]  # packages first, then the top
    dirs: tuple[str, ...]  # searched for modules and headers
    parameters: tuple[tuple[str, str], ...] = ()
    assertions: bool = False
    trace: str = ""  # "", "fst" or "vcd"
    stand_alone: bool = False  # a test bench: it has delays, and its main program is verilated.TEST_MAIN
    hot: tuple[str, ...] = field(default_factory=_hot)
    coverage: bool = False  # counts lines, branches and toggling bits
    name: str = ""  # of the model, where it is not that of its top: one of several with other parameters

    @property
    def model(self) -> str:
        """The name of the model: its class is V with it."""
        return self.name or self.top

    def arguments(self) -> list[str]:
        """The command line for Verilator, without the output directory."""
        words = ["--cc", "--top-module", self.top, "--prefix", f"V{self.model}", "-O3", "--timescale", "1ns/1ps"]
        words += ["--output-split", "8000", "--output-split-cfuncs", "500", "-Wno-lint", "-Wno-style", "-Wno-SYMRSVDWORD"]
        # What a block test's registers hold before their reset is chosen when it runs: +verilator+rand+reset+2, random bits.
        unknown = "unique" if self.stand_alone else "fast"
        words += ["-x-assign", unknown, "--x-initial", unknown]
        # A process split by what it assigns asks the condition around all of it (`WORTH) once for each.
        words += [] if self.stand_alone else ["-fno-split"]
        # A test bench's loops written out are up to 40 times the code, for runs of a second.
        words += ["--timing", "--unroll-count", "8", *_BENCH] if self.stand_alone else ["--no-timing"]
        words += ["--assert" if self.assertions else "--no-assert"]
        # Counters hold signals together that are split otherwise, and Verilator sees circles.
        words += ["--coverage-line", "--coverage-toggle", "-Wno-UNOPTFLAT"] if self.coverage else []
        words += [f"--trace-{self.trace}", "--trace-structs"] if self.trace else []
        words += [f"-G{name}={value}" for name, value in self.parameters]
        for directory in self.dirs:
            words += ["-y", directory, f"-I{directory}"]
        return [*words, *self.files]


def rtl_dirs() -> list[str]:
    """The folders of rtl/."""
    return sorted(str(x.relative_to(ROOT)) for x in (ROOT / "rtl").iterdir() if x.is_dir())


def is_design_file(path: Path) -> bool:
    """Whether a file is part of the hardware, as against a test or a proof of it."""
    return path.suffix in (".sv", ".svh", ".v") and not path.stem.endswith(("_tb", "_formal"))


def named(known: dict[str, Path], texts: list[str]) -> set[Path]:
    """The files, of those `known` by name, whose names occur in texts, in those files, and so on."""
    left, texts, found = dict(known), list(texts), set()
    while texts:
        new = {left.pop(x) for x in set(re.findall(r"\w+", texts.pop())) & left.keys()}
        found |= new
        texts += [x.read_text() for x in new]
    return found


def design_files(rtl: Rtl) -> set[Path]:
    """The sources of a design: those named, and all in its folders."""
    found = (x for directory in rtl.dirs for x in (ROOT / directory).iterdir() if is_design_file(x))
    return {*found, *(ROOT / name for name in rtl.files)}


def rtl_digest(rtl: Rtl) -> str:
    """What a verilated model of `rtl` follows from."""
    files = design_files(rtl)
    if rtl.stand_alone:
        files |= {verilated.TEST_MAIN, Path(__file__), Path(verilated.__file__)}
        files.update(x for directory in rtl.dirs for x in (ROOT / directory).glob("*_tb.svh"))
    content = sorted((x.name, cache.file_digest(x)) for x in files)
    # Generated files lie in the cache, under a name that says their content: leave the place of the cache out.
    arguments = [x.replace(str(cache_dir()), "") for x in rtl.arguments()]
    return cache.digest("verilated", 9, toolchain.verilator_version(), arguments, content)


def verilate(rtl: Rtl, progress: Progress | None = None) -> Path:
    """The directory with Verilator's C++ for `rtl`."""

    def make(out: Path):
        if progress:
            progress.say("verilating")
        words = [*rtl.arguments(), _LAZY, "--Mdir", str(out)]
        (out / "verilator.log").write_text(toolchain.run_verilator(words))
        verilated.finish(out, rtl.model, rtl.stand_alone)

    waiting = (lambda: progress.say("another process is building the same model")) if progress else None
    return cache.entry("verilated", rtl_digest(rtl), make, waiting)


@dataclass(frozen=True)
class Unit:
    """One C++ file to compile."""

    source: Path
    flags: tuple[str, ...]
    includes: tuple[Path, ...] = ()
    ahead: tuple[str, ...] = ()  # headers that it begins with, precompiled

    def words(self, out: Path, ahead: Path | None = None) -> list[str]:
        """The compiler's command line for the object `out`. `ahead`: what `self.ahead` was precompiled to."""
        words = [*self.flags, *_runtime_include()]
        for directory in self.includes:
            words += ["-I", str(directory)]
        if ahead:
            words += ["-include", str(ahead)]
        return [*words, "-c", str(self.source), "-o", str(out)]


def _runtime_include() -> list[str]:
    system = toolchain.verilator_root() / "include"
    return ["-isystem", str(system), "-isystem", str(system / "vltstd")]


def _precompiled_key(flags: tuple[str, ...], headers: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """What a precompiled header follows from: those flags it depends on, its text."""
    without = ("-W", "-D") if headers == _OF_STD else ("-W",)
    return tuple(x for x in flags if not x.startswith(without)), "".join(f"#include <{x}>\n" for x in headers)


def _precompiled(flags: tuple[str, ...], headers: tuple[str, ...]) -> Path:
    """A header that includes these, with what g++ makes of it: read anew they cost it 1 to 2 s in each file. What clang makes
    holds only where it was made, and an entry of the cache is made elsewhere."""
    flags, text = _precompiled_key(flags, headers)

    def make(out: Path):
        (out / "ahead.hpp").write_text(text)
        if not toolchain.is_clang():
            words = [*flags, *_runtime_include(), "-x", "c++-header", "ahead.hpp", "-o", "ahead.hpp.gch"]
            toolchain.run_cxx(words, cwd=out, cached=False)

    key = cache.digest("precompiled", 1, toolchain.cxx_version(), toolchain.verilator_version(), flags, text)
    return cache.entry("precompiled", key, make) / "ahead.hpp"


def _kept(unit: Unit) -> Path:
    """Where a unit's object is, or will be."""
    content = cache.sources_digest(unit.source, list(unit.includes))
    tools = (toolchain.cxx_version(), toolchain.verilator_version())
    key = cache.digest("object", 1, *tools, unit.flags, content, *unit.ahead)
    return cache_dir() / "objects" / key[:2] / f"{key}.o"


def _compile(unit: Unit, path: Path):
    """Compiles one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = cache.scratch() / "object.o"
    words = unit.words(scratch, _precompiled(unit.flags, unit.ahead) if unit.ahead else None)
    # ccache does not take what is precompiled.
    warnings = toolchain.run_cxx(words, cwd=unit.source.parent, cached=not unit.ahead)
    if warnings and "-Werror" not in unit.flags and unit.source.is_relative_to(ROOT / "bench"):
        path.with_suffix(".log").write_text(warnings)
    os.replace(scratch, path)
    scratch.parent.rmdir()


def _weight(unit: Unit) -> int:
    """About how long a unit takes to compile: a batch has its content in other files."""
    names = re.findall(r'^#include "(\w+\.cpp)"', unit.source.read_text(), re.M)
    return sum(x.stat().st_size for x in (unit.source, *(unit.source.parent / x for x in names)))


def compile_all(units: list[Unit], progress: Progress | None = None, known: dict[Unit, Path] | None = None) -> list[Path]:
    """The objects of `units`, compiled side by side: what several wait for at first, then the largest, so that no core waits at
    the end. `known`: those that were found before, whose sources are not read again."""
    known = {} if known is None else known
    paths = {unit: known.get(unit) or _kept(unit) for unit in units}
    known.update(paths)
    missing = [unit for unit, path in paths.items() if not path.exists()]
    done = 0
    busy = []  # what another process is at: left for the end, so that two that begin alike share the work

    def one(unit: Unit, wait: bool = False):
        nonlocal done
        with cache.lock(f"object-{paths[unit].name}", wait=wait) as held:
            if not held:
                busy.append(unit)
                return
            if not paths[unit].exists():
                _compile(unit, paths[unit])
        done += 1
        if progress:
            progress.update(done, len(missing), f"compiled {done} of {len(missing)} files")

    order = sorted(missing, key=lambda unit: (unit.flags[0] == "-O0", -_weight(unit)))
    ahead = {_precompiled_key(x.flags, x.ahead): x for x in order if x.ahead}.values()
    with ThreadPoolExecutor(jobs()) as pool:
        futures = [pool.submit(_precompiled, x.flags, x.ahead) for x in ahead]
        futures += [pool.submit(one, unit) for unit in order]
        try:
            for future in futures:
                future.result()
            for future in [pool.submit(one, unit, True) for unit in busy]:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [paths[unit] for unit in units]


def link(objects: list[Path], libraries: list[str], name: str) -> Path:
    """The executable made of `objects`."""
    key = cache.digest("executable", 1, toolchain.cxx_version(), sorted(x.name for x in objects), libraries)

    def make(out: Path):
        words = [*map(str, sorted(objects)), "-o", str(out / name), "-pthread", *libraries]
        toolchain.run_cxx(words, cwd=out, cached=False)

    return cache.entry("executables", key, make) / name


def _runtime_defines(rtl: Rtl) -> list[str]:
    flags = {
        "VERILATOR": 1,
        "VM_COVERAGE": int(rtl.coverage),
        "VM_SC": 0,
        "VM_TIMING": int(rtl.stand_alone),
        "VM_TRACE": int(bool(rtl.trace)),
        "VM_TRACE_FST": int(rtl.trace == "fst"),
        "VM_TRACE_VCD": int(rtl.trace == "vcd"),
        "VM_TRACE_SAIF": 0,
    }
    return [f"-D{name}={value}" for name, value in flags.items()]


def model_units(rtl: Rtl, directory: Path) -> list[Unit]:
    """The C++ files of a verilated model and of the Verilator runtime it needs."""
    runtime = toolchain.verilator_root() / "include"
    common = (*_LANGUAGE, *_runtime_defines(rtl), "-w")
    classes = verilated.classes(directory)
    names, beside = classes["GLOBAL_FAST"] + classes["GLOBAL_SLOW"], (_FST,) if rtl.trace == "fst" else ()
    ahead = _OF_TEST if rtl.stand_alone else _OF_MODEL
    units = [Unit(runtime / f"{name}.cpp", (*_HOT, *common), (*beside, runtime)) for name in names]
    fast = sorted(directory.glob("batch_fast_*.cpp"))
    hot = _HOT if len(fast) == 1 and not rtl.stand_alone else rtl.hot  # a small one: its runs are most of it
    units += [Unit(x, (*hot, *common), (directory,), ahead) for x in fast]
    units += [Unit(x, (*_COLD, *common), (directory,), ahead) for x in sorted(directory.glob("batch_slow_*.cpp"))]
    return units


def _libraries(rtl: Rtl) -> list[str]:
    return list(toolchain.FST_LIBRARIES) if rtl.trace == "fst" else []


def trace_format() -> str:
    """The waves that can be written on this machine."""
    return "fst" if toolchain.fst_libraries() else "vcd"


def system_rtl(system, values: dict, trace: str = "", assertions: bool = False) -> Rtl:
    """How to verilate a system with these parameter values."""
    system = system.variant(values)
    folder = in_checkout(system.folder)
    generated = [str(registers.generate(system.folder / x.file, x.blocks, x.map)) for x in system.registers]
    files = package_files()
    files += [str(x) for directory in generated for x in sorted(Path(directory).glob("*_pkg.sv"))]
    files += [in_checkout(system.folder / name) for name in (*system.public(values), *system.rtl_files)]
    return Rtl(
        top=system.top,
        files=tuple(files),
        dirs=(*system.rtl_dirs, folder, *generated),
        parameters=tuple(system.rtl_parameters(values)),
        assertions=assertions,
        trace=trace,
        hot=tuple(_SHORT) if assertions else _hot(),
    )


def part_rtls(system, values: dict, whole: Rtl) -> list[Rtl]:
    """How to verilate the modules that a bench puts together itself: each once, however many there are of it."""
    given = dict(whole.parameters)
    files = package_files()
    return [
        replace(
            whole,
            top=x["top"],
            name=x.get("name", ""),
            files=(*files, x["file"]),
            parameters=(*((y, given[y]) for y in x["parameters"]), *x.get("set", {}).items()),
        )
        for x in system.parts_with(values)
    ]


def bench_units(system, rtl: Rtl, models: list[Path], defines: tuple[str, ...] = ()) -> list[Unit]:
    """The C++ files of a system's bench. Those under bench/ see neither the models nor their flags, so systems share them."""
    generated = (*(Path(x) for x in rtl.dirs if Path(x).is_absolute()), formats.generate(system.formats, system.folder))
    units = []
    for source in bench_sources() + system.own_sources():
        shared = source.is_relative_to(ROOT / "bench")
        flags = [*_HOT, *_LANGUAGE, *_WARNINGS]
        flags += [] if shared else [*_runtime_defines(rtl), f'-DEMERY_SYSTEM="{system.name}"', *defines]
        includes = (ROOT,) if shared else (ROOT, *generated, *models)
        units.append(Unit(source, tuple(flags), includes, _OF_STD if source.suffix == ".cpp" else ()))
    return units


def recipe(system, values: dict) -> str:
    """Names what a simulator is made of, whichever machine makes it: the RTL and the bench, not the compiler."""
    system = system.variant(values)
    rtl = system_rtl(system, values)
    bench = [(x.source.name, cache.sources_digest(x.source, list(x.includes))) for x in bench_units(system, rtl, [])]
    return cache.digest([rtl_digest(x) for x in part_rtls(system, values, rtl) or [rtl]], sorted(bench))


def _check_used(system, rtls: list[Rtl]):
    """Refuses a module of the user's own that these parameters leave out."""

    def look(_: Path):
        if line := own_rtl.missing(system, rtls):
            raise UserError(line)

    names = [name for x in system.extensions for name, _ in x.modules]
    if names:
        cache.entry("used", cache.digest([rtl_digest(x) for x in rtls], names), look)


def system_units(system, values: dict, waves: bool, assertions: bool, progress: Progress) -> tuple[list[Unit], list[str]]:
    """What the simulator of a system is made of, verilated and not yet compiled, and the libraries it is linked with.

    In the suite all have their assertions: tests of the same parameters then share one model. Most have those that a system has
    unless it is told otherwise; that one is worth its optimisation."""
    suite = bool(os.environ.get("EMERY_SHORT_RUNS"))
    assertions = assertions or suite
    rtl = system_rtl(system, values, trace_format() if waves else "", assertions)
    if suite and not waves and system.is_usual(values):
        rtl = replace(rtl, hot=tuple(_HOT))
    parts = [] if waves else part_rtls(system, values, rtl)
    rtls = parts or [rtl]
    models = [verilate(x, progress) for x in rtls]
    _check_used(system, rtls)
    defines = ("-DEMERY_PARTS", *(["-DEMERY_ASSERTIONS"] if assertions else [])) if parts else ()
    units = bench_units(system, rtl, models, defines)
    units += [unit for x, model in zip(rtls, models, strict=True) for unit in model_units(x, model)]
    return list(dict.fromkeys(units)), _libraries(rtl)


def build_system(
    system, values: dict, waves: bool = False, assertions: bool = False, known: dict[Unit, Path] | None = None
) -> Path:
    """The simulator of a system with these parameter values. `known`: see `compile_all`."""
    toolchain.cxx()
    system = system.variant(values)
    own_rtl.check_all(system)
    progress = Progress(f"building {system.name}")
    try:
        units, libraries = system_units(system, values, waves, assertions, progress)
        return link(compile_all(units, progress, known), libraries, f"{system.name}-sim")
    finally:
        progress.done()


def tune_system(system, values: dict, program: Path, run) -> Path:
    """The simulator `program` of a system, compiled anew by what it did when `run(simulator)` ran it (make/tuned.py)."""
    progress = Progress(f"tuning {system.name}")
    try:
        units, libraries = system_units(system.variant(values), values, False, False, progress)
        return tuned.tune(program, units, libraries, run, progress)
    finally:
        progress.done()


def test_rtl(bench: Path, coverage: bool = False, own: tuple[str, ...] = ()) -> Rtl:
    """How to verilate a block test (a `_tb.sv` file beside its block), and the test that it is a variant of, if any.

    `own`: folders whose modules take the place of those of the same name.
    """
    named = {bench.parent / f"{x}.sv" for x in re.findall(r"^\s*(\w+_tb)\b", bench.read_text(), re.MULTILINE)}
    return Rtl(
        top=bench.stem,
        files=(*package_files(), in_checkout(bench), *sorted(in_checkout(x) for x in named - {bench} if x.is_file())),
        dirs=tuple(dict.fromkeys([*own, *rtl_dirs(), in_checkout(bench.parent)])),
        assertions=True,
        stand_alone=True,
        hot=tuple(_COLD if _COMPILED_ONLY in bench.read_text() else _SHORT),
        coverage=coverage,
    )


def build_block_test(bench: Path, coverage: bool = False, own: tuple[str, ...] = ()) -> Path:
    """The executable of a block test."""
    rtl = test_rtl(bench, coverage, own)
    model = verilate(rtl)
    return link(compile_all(model_units(rtl, model)), [], bench.stem)


def build_routes_judge(system, known: dict[Unit, Path] | None = None) -> Path:
    """The program that judges routes files for a system: of its own source and what that leads to, without the RTL."""
    toolchain.cxx()
    source = system.folder / system.routes
    flags = (*_HOT, *_LANGUAGE, *_WARNINGS)
    include = (ROOT, formats.generate(system.formats, system.folder))
    units = [Unit(x, flags, include, _OF_STD) for x in (source, *_behind(source))]
    return link(compile_all(units, None, known), [], f"{system.name}-routes")


def build_bench_test(source: Path, quick: bool = False) -> Path:
    """The executable of a C++ test (`_test.cpp`): it is linked with all of bench/, and warnings are errors in it.

    `quick`: built sooner, to run once, with what its headers lead to; warnings do not matter, a place beyond the end of a
    vector does.
    """
    flags = (*_COLD, *_LANGUAGE, "-w", "-D_GLIBCXX_ASSERTIONS") if quick else (*_HOT, *_LANGUAGE, *_WARNINGS)
    units = [Unit(source, flags if quick else (*flags, "-Werror"), (ROOT,))]
    ahead = () if quick else _OF_STD
    units += [Unit(x, flags, (ROOT,), ahead) for x in (_behind(source) if quick else bench_sources())]
    return link(compile_all(units), [], source.stem)


def _behind(source: Path) -> list[Path]:
    """The C++ files of bench/ that a source needs: those beside the headers that it, or one of them, includes."""
    found, todo = set(), [source]
    while todo:
        new = {x.with_suffix(".cpp") for x in cache.sources(todo.pop(), [ROOT]) if x.suffix == ".hpp"} - found
        new = {x for x in new if x.is_file()}
        found |= new
        todo += new
    return sorted(found)


def build_test(name: str) -> Path:
    """The executable of a test named on the command line: one `_tb.sv` or `_test.cpp` file."""
    path = Path(name).resolve()
    if not path.is_file():
        raise UserError(f"build {name}: there is no such file")
    return build_block_test(path) if path.suffix == ".sv" else build_bench_test(path)


def bench_sources() -> list[Path]:
    """The C++ files of the bench that all systems share."""
    return sorted(x for x in (ROOT / "bench").rglob("*.cpp") if not x.stem.endswith("_test"))

# SPDX-License-Identifier: Apache-2.0
"""From RTL and C++ to an executable: Verilator, a parallel compile, a link; every step cached by content.

The steps are cached apart. Verilator's output is named by the RTL and its parameters, an object by its source, what it
includes and its flags, an executable by its objects. So two parameter sets share the bench's objects and the Verilator
runtime, and a comment in one module recompiles next to nothing.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from emery.common import ROOT, Progress, UserError, cache_dir, in_checkout, jobs
from emery.make import cache, formats, own_rtl, registers, toolchain, word_runs
from emery.make.formats import package_files

_HOT = ["-O2", "-fno-tree-slp-vectorize"]  # SLP vectorisation costs more than it gives on this code
_COLD = ["-O0"]  # runs once, at start
_LANGUAGE = ["-std=gnu++20", "-fcoroutines", "-pthread", "-faligned-new"]
_WARNINGS = ["-Wall", "-Wextra", "-Wshadow"]
_BATCH_BYTES = 2_000_000
_BENCH = ["-Wno-INITIALDLY", "-Wno-ZERODLY", "-Wno-SPLITVAR"]  # delays and names inside blocks: a test bench may
_FST = ROOT / "bench" / "sim" / "fst"  # headers of the libraries that write FST
_LAZY = "-DEMERY_LAZY"  # logic is worked out where it matters only (rtl/base/stream.svh); what checks hardware sees all of it
_TEST_MAIN = ROOT / "rtl" / "base" / "tb_main.cpp"


@dataclass(frozen=True)
class Rtl:
    """A top module and how to verilate it. Paths are relative to the checkout, or absolute for generated files."""

    top: str
    files: tuple[str, ...]  # packages first, then the top
    dirs: tuple[str, ...]  # searched for modules and headers
    parameters: tuple[tuple[str, str], ...] = ()
    assertions: bool = False
    trace: str = ""  # "", "fst" or "vcd"
    stand_alone: bool = False  # a test bench: it has delays, and its main program is _TEST_MAIN
    hot: tuple[str, ...] = tuple(_HOT)
    coverage: bool = False  # counts lines, branches and toggling bits

    def arguments(self) -> list[str]:
        """The command line for Verilator, without the output directory."""
        words = ["--cc", "--top-module", self.top, "--prefix", f"V{self.top}", "-O3", "--timescale", "1ns/1ps"]
        words += ["--output-split", "8000", "--output-split-cfuncs", "500", "-Wno-lint", "-Wno-style", "-Wno-SYMRSVDWORD"]
        # What a block test's registers hold before their reset is chosen when it runs: +verilator+rand+reset+2, random bits.
        unknown = "unique" if self.stand_alone else "fast"
        words += ["-x-assign", unknown, "--x-initial", unknown]
        # A test bench's loops written out are up to 40 times the code, for runs of a second.
        words += ["--timing", "--unroll-count", "8", *_BENCH] if self.stand_alone else ["--no-timing"]
        words += ["--assert" if self.assertions else "--no-assert"]
        words += ["--coverage-line", "--coverage-toggle"] if self.coverage else []
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


def rtl_digest(rtl: Rtl) -> str:
    """What a verilated model of `rtl` follows from."""
    files = {ROOT / name for name in rtl.files}
    for directory in rtl.dirs:
        files.update(x for x in (ROOT / directory).iterdir() if is_design_file(x))
    if rtl.stand_alone:
        files |= {_TEST_MAIN, Path(__file__)}
        files.update(x for directory in rtl.dirs for x in (ROOT / directory).glob("*_tb.svh"))
    content = sorted((x.name, cache.file_digest(x)) for x in files)
    # Generated files lie in the cache, under a name that says their content: leave the place of the cache out.
    arguments = [x.replace(str(cache_dir()), "") for x in rtl.arguments()]
    return cache.digest("verilated", 5, toolchain.verilator_version(), arguments, content)


def verilate(rtl: Rtl, progress: Progress | None = None) -> Path:
    """The directory with Verilator's C++ for `rtl`."""

    def make(out: Path):
        if progress:
            progress.say("verilating")
        words = [*rtl.arguments(), _LAZY, "--Mdir", str(out)]
        (out / "verilator.log").write_text(toolchain.run_verilator(words))
        _drop_orders(out)
        if not rtl.stand_alone:
            word_runs.join(out)
        if rtl.stand_alone:
            (out / f"V{rtl.top}__main.cpp").write_text(_test_main(out, rtl.top))
        _batch(out, rtl.stand_alone)

    waiting = (lambda: progress.say("another process is building the same model")) if progress else None
    return cache.entry("verilated", rtl_digest(rtl), make, waiting)


@dataclass(frozen=True)
class Unit:
    """One C++ file to compile."""

    source: Path
    flags: tuple[str, ...]
    includes: tuple[Path, ...] = ()


def _object(unit: Unit) -> Path:
    """Compiles one file, unless its object is in the cache."""
    system = toolchain.verilator_root() / "include"
    content = cache.sources_digest(unit.source, list(unit.includes))
    key = cache.digest("object", 1, toolchain.cxx_version(), toolchain.verilator_version(), unit.flags, content)
    path = cache_dir() / "objects" / key[:2] / f"{key}.o"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = cache.scratch() / "object.o"
    words = [*unit.flags, "-isystem", str(system), "-isystem", str(system / "vltstd")]
    for directory in unit.includes:
        words += ["-I", str(directory)]
    warnings = toolchain.run_cxx([*words, "-c", str(unit.source), "-o", str(scratch)], cwd=unit.source.parent)
    if warnings and "-Werror" not in unit.flags and unit.source.is_relative_to(ROOT / "bench"):
        path.with_suffix(".log").write_text(warnings)
    os.replace(scratch, path)
    scratch.parent.rmdir()
    return path


def compile_all(units: list[Unit], progress: Progress | None = None) -> list[Path]:
    """The objects of `units`, compiled side by side; the largest sources first, so that no core waits at the end."""
    done = 0

    def one(unit: Unit) -> Path:
        nonlocal done
        path = _object(unit)
        done += 1
        if progress:
            progress.update(done, len(units), f"compiled {done} of {len(units)} files")
        return path

    order = sorted(units, key=lambda unit: (unit.flags[0] == "-O0", -unit.source.stat().st_size))
    with ThreadPoolExecutor(jobs()) as pool:
        futures = [pool.submit(one, unit) for unit in order]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


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


def _classes(directory: Path) -> dict[str, list[str]]:
    """Verilator's lists of the files it wrote (and of the runtime they need), by kind."""
    text = next(directory.glob("V*_classes.mk")).read_text()
    lists = re.findall(r"^VM_(\w+) \+= *\\\n((?:[ \t]+\w+ *\\\n)*)", text, re.MULTILINE)
    return {kind: names.replace("\\", " ").split() for kind, names in lists}


# How Verilator orders structs: by a tuple of all their members, for the keys of associative arrays.
_ORDER = re.compile(r"    bool operator<\(const \w+& rhs\) const \{\n        return std::tie\([^;]*;\n    \}\n")


def _drop_orders(directory: Path):
    """Leaves out the order of structs, which nothing here uses: for those of a register block it cost the compiler more than
    all other headers together, in every file."""
    for path in directory.glob("*.h"):
        text = path.read_text()
        if "operator<(" in text:
            path.write_text(_ORDER.sub("", text))


def _batch(directory: Path, stand_alone: bool):
    """Gathers the files into a few of about the same size. The headers of model and runtime cost the compiler 1 to 2 s in each;
    250 kB of what follows them cost it 1 s. What a block test runs once goes with the rest: it is not worth a file."""
    classes = _classes(directory)
    fast, slow = (classes[f"CLASSES_{x}"] + classes[f"SUPPORT_{x}"] for x in ("FAST", "SLOW"))
    main = [x.stem for x in directory.glob("*__main.cpp")]
    for speed, names in (("fast", fast + slow + main), ("slow", [])) if stand_alone else (("fast", fast), ("slow", slow)):
        sizes = [(directory / f"{name}.cpp").stat().st_size for name in names]
        share = sum(sizes) / -(-sum(sizes) // _BATCH_BYTES) if names else 0
        batches: dict[int, list[str]] = {}
        for name, end in zip(names, accumulate(sizes), strict=True):
            batches.setdefault(int((end - 1) / share), []).append(name)
        for number, batch in enumerate(batches.values()):
            text = "".join(f'#include "{name}.cpp"\n' for name in batch)
            (directory / f"batch_{speed}_{number}.cpp").write_text(text)


def _test_main(directory: Path, top: str) -> str:
    """The main program of a block test: _TEST_MAIN for this model, with a function that copies what is random before reset."""
    kept: dict[str, list[str]] = {}
    for path in sorted(directory.glob("*.cpp")):
        for kind, body in re.findall(
            r"^VL_ATTR_COLD void (\w+)___ctor_var_reset\(.*?\{\n(.*?)^\}", path.read_text(), re.M | re.S
        ):
            # A bench's associative array has a default for what it does not hold: nothing to keep.
            lines = [x for x in body.splitlines() if "RAND_RESET" in x and "atDefault" not in x]
            kept[kind] = list(dict.fromkeys(re.search(r"vlSelf->([\w.]+)", x)[1] for x in lines))
    symbols = (directory / f"V{top}__Syms.h").read_text().split("// MODULE INSTANCE STATE")[1].split("// CONSTRUCTORS")[0]
    places = [x for x in re.findall(r"^ +(\w+) +(\w+);", symbols, re.M) if x[0] in kept]
    text = f'#include "V{top}__Syms.h"\nusing Model = V{top};\nusing State = V{top}__Syms;\n'
    for kind, names in kept.items():
        copies = "".join(f"  to.{x} = from.{x};\n" for x in names)
        text += f"static void keep({kind}& to, const {kind}& from) {{\n{copies}}}\n"
    calls = "".join(f"  keep(to.{name}, from.{name});\n" for _, name in places)
    return f"{text}static void keep(State& to, const State& from) {{\n{calls}}}\n{_TEST_MAIN.read_text()}"


def model_units(rtl: Rtl, directory: Path) -> list[Unit]:
    """The C++ files of a verilated model and of the Verilator runtime it needs."""
    runtime = toolchain.verilator_root() / "include"
    common = (*_LANGUAGE, *_runtime_defines(rtl), "-w")
    classes = _classes(directory)
    names, beside = classes["GLOBAL_FAST"] + classes["GLOBAL_SLOW"], (_FST,) if rtl.trace == "fst" else ()
    units = [Unit(runtime / f"{name}.cpp", (*_HOT, *common), (*beside, runtime)) for name in names]
    units += [Unit(x, (*rtl.hot, *common), (directory,)) for x in sorted(directory.glob("batch_fast_*.cpp"))]
    units += [Unit(x, (*_COLD, *common), (directory,)) for x in sorted(directory.glob("batch_slow_*.cpp"))]
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
    files += [in_checkout(system.folder / name) for name in system.rtl_files]
    return Rtl(
        top=system.top,
        files=tuple(files),
        dirs=(*system.rtl_dirs, folder, *generated),
        parameters=tuple(system.rtl_parameters(values)),
        assertions=assertions,
        trace=trace,
    )


def part_rtls(system, values: dict, whole: Rtl) -> list[Rtl]:
    """How to verilate the modules that a bench puts together itself: each once, however many there are of it."""
    given = dict(whole.parameters)
    files = package_files()
    return [
        replace(whole, top=x["top"], files=(*files, x["file"]), parameters=tuple((y, given[y]) for y in x["parameters"]))
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
        units.append(Unit(source, tuple(flags), includes))
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


def build_system(system, values: dict, waves: bool = False, assertions: bool = False) -> Path:
    """The simulator of a system with these parameter values."""
    toolchain.cxx()
    system = system.variant(values)
    own_rtl.check_all(system)
    progress = Progress(f"building {system.name}")
    try:
        rtl = system_rtl(system, values, trace_format() if waves else "", assertions)
        parts = [] if waves else part_rtls(system, values, rtl)
        rtls = parts or [rtl]
        models = [verilate(x, progress) for x in rtls]
        _check_used(system, rtls)
        defines = ("-DEMERY_PARTS", *(["-DEMERY_ASSERTIONS"] if assertions else [])) if parts else ()
        units = bench_units(system, rtl, models, defines)
        units += [unit for x, model in zip(rtls, models, strict=True) for unit in model_units(x, model)]
        return link(compile_all(list(dict.fromkeys(units)), progress), _libraries(rtl), f"{system.name}-sim")
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
        hot=("-O1",),
        coverage=coverage,
    )


def build_block_test(bench: Path, coverage: bool = False, own: tuple[str, ...] = ()) -> Path:
    """The executable of a block test."""
    rtl = test_rtl(bench, coverage, own)
    model = verilate(rtl)
    return link(compile_all(model_units(rtl, model)), [], bench.stem)


def build_bench_test(source: Path, quick: bool = False) -> Path:
    """The executable of a C++ test (`_test.cpp`): it is linked with all of bench/, and warnings are errors in it.

    `quick`: built sooner, to run once, with what its headers lead to; warnings do not matter.
    """
    flags = (*_COLD, *_LANGUAGE, "-w") if quick else (*_HOT, *_LANGUAGE, *_WARNINGS)
    units = [Unit(source, flags if quick else (*flags, "-Werror"), (ROOT,))]
    units += [Unit(x, flags, (ROOT,)) for x in (_behind(source) if quick else bench_sources())]
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

# SPDX-License-Identifier: Apache-2.0
"""What is done to Verilator's C++ before it is compiled: what costs the compiler time and nothing here uses is left out."""

import re
from itertools import accumulate
from pathlib import Path

from emery.common import ROOT
from emery.make import one_copy, word_runs

TEST_MAIN = ROOT / "rtl" / "base" / "tb_main.cpp"
_BATCH_BYTES = {"fast": 3_000_000, "slow": 6_000_000}


def finish(directory: Path, top: str, stand_alone: bool):
    """Makes of what Verilator wrote what is compiled: `batch_*.cpp` and the headers of the model."""
    _drop_orders(directory)
    _show_pins_only(directory, top)
    if stand_alone:
        (directory / f"V{top}__main.cpp").write_text(_test_main(directory, top))
    else:
        word_runs.join(directory)
        one_copy.join(directory, top)
        _evaluate_only(directory, top)
    _batch(directory, stand_alone)


def classes(directory: Path) -> dict[str, list[str]]:
    """Verilator's lists of the files it wrote (and of the runtime they need), by kind."""
    text = next(directory.glob("V*_classes.mk")).read_text()
    lists = re.findall(r"^VM_(\w+) \+= *\\\n((?:[ \t]+\w+ *\\\n)*)", text, re.MULTILINE)
    return {kind: names.replace("\\", " ").split() for kind, names in lists}


# Pins that are an array, in a header without their number: models with more or fewer ports share a bench's objects.
_PINS = """#ifndef EMERY_PINS
#define EMERY_PINS
template <class T>
class EmeryPins final {
  public:
    template <std::size_t N> EmeryPins(VlUnpacked<T, N>& pins) : m_first{&pins[0]} {}
    T& operator[](std::size_t number) const { return m_first[number]; }
  private:
    T* m_first;
};
#endif
"""

# How Verilator orders structs: by a tuple of all their members, for the keys of associative arrays.
_ORDER = re.compile(r"    bool operator<\(const \w+& rhs\) const \{\n        return std::tie\([^;]*;\n    \}\n")


def _drop_orders(directory: Path):
    """Leaves out the order of structs, which nothing here uses: for those of a register block it cost the compiler more than
    all other headers together, in every file."""
    for path in directory.glob("*.h"):
        text = path.read_text()
        if "operator<(" in text:
            path.write_text(_ORDER.sub("", text))


def _show_pins_only(directory: Path, top: str):
    """Leaves in the header that a bench includes what a bench may use: pins, their types, and the value that the model saw last
    of a clock (`seen_CLOCK()`). As Verilator writes it, it names all that is in the model, and the headers of all its packages:
    no two models could share a bench's objects."""
    header, body, root = (directory / f"V{top}{x}" for x in (".h", ".cpp", "___024root.h"))
    text = header.read_text()
    cells = re.search(r"^    // CELLS\n(?:.*\n)*?\n", text, re.M)
    names = set(re.findall(r"(\w+);$", cells[0], re.M)) if cells else set()
    text = text.replace(cells[0], "") if cells else text
    text = re.sub(rf"^class V{top}_(?!_Syms|__024root)\w+;\n", "", text, flags=re.M)
    packages = re.findall(r'^#include "(\w+)\.h"\n', text, re.M)
    idle = [x for x in packages if x.endswith("_pkg") and not _types(directory / f"{x}.h") & set(re.findall(r"\w+", text))]
    text = re.sub(rf'^#include "(?:{"|".join(idle)})\.h"\n', "", text, flags=re.M) if idle else text
    arrays = r"VlUnpacked<([^<>]*?)(?:/\*[\d:]+\*/)?, \d+> &(\w+);"
    if re.search(arrays, text):
        first = f"\nclass V{top}__Syms;\n"
        text = re.sub(arrays, r"EmeryPins<\1> \2;", text).replace(first, f"\n{_PINS}{first}", 1)
    # To lower a clock takes an evaluation in which nothing else happens, a tenth to a third of a simulation's time. Verilator
    # has no call for it; this member, named by the (pinned) version, is the way around. Where it is not, no bench compiles.
    pins = set(re.findall(r"VL_IN8\(&(\w+),0,0\)", text))
    clocks = sorted(pins & set(re.findall(r"__Vtrigprevexpr___TOP__(\w+)__0;", root.read_text())))
    mark = "    // CONSTRUCTORS\n"
    header.write_text(text.replace(mark, "".join(f"    CData& seen_{x}();\n" for x in clocks) + mark, 1))
    lines = body.read_text().splitlines()
    lines = [x for x in lines if not ((found := re.match(r"    , (\w+)\{vlSymsp->TOP\.\1\}$", x)) and found[1] in names)]
    lines += [f"CData& V{top}::seen_{x}() {{ return vlSymsp->TOP.__Vtrigprevexpr___TOP__{x}__0; }}" for x in clocks]
    body.write_text("\n".join(lines) + "\n")


# What Verilator does around each evaluation: objects of classes are freed, messages of other threads are printed.
_AROUND = re.compile(r"^    (?:vlSymsp->__Vm_deleter\.deleteAll\(\)|Verilated::endOfEval\(.*\));\n", re.M)
_MESSAGES = re.compile(r"VL_(?:[FS]?WRITEF|PRINTF|STOP|FINISH)")


def _evaluate_only(directory: Path, top: str):
    """Leaves that out of models without messages (no model has classes): both take locks, for every tile and clock."""
    if not any(_MESSAGES.search(x.read_text()) for x in directory.glob("*.cpp")):
        body = directory / f"V{top}.cpp"
        body.write_text(_AROUND.sub("", body.read_text()))


def _types(header: Path) -> set[str]:
    """The structs that a header defines."""
    return set(re.findall(r"^struct (\w+) \{", header.read_text(), re.M)) if header.exists() else set()


def _batch(directory: Path, stand_alone: bool):
    """Gathers the files into a few of about the same size. The headers of the model cost the compiler up to 1 s in each; 500 kB
    of what follows them cost it 1 s. What a block test runs once goes with the rest: it is not worth a file."""
    lists = classes(directory)
    fast, slow = (lists[f"CLASSES_{x}"] + lists[f"SUPPORT_{x}"] for x in ("FAST", "SLOW"))
    main = [x.stem for x in directory.glob("*__main.cpp")]
    for speed, names in (("fast", fast + slow + main), ("slow", [])) if stand_alone else (("fast", fast), ("slow", slow)):
        sizes = [(directory / f"{name}.cpp").stat().st_size for name in names]
        share = sum(sizes) / -(-sum(sizes) // _BATCH_BYTES[speed]) if names else 0
        batches: dict[int, list[str]] = {}
        for name, end in zip(names, accumulate(sizes), strict=True):
            batches.setdefault(int((end - 1) / share), []).append(name)
        for number, batch in enumerate(batches.values()):
            text = "".join(f'#include "{name}.cpp"\n' for name in batch)
            (directory / f"batch_{speed}_{number}.cpp").write_text(text)


def _test_main(directory: Path, top: str) -> str:
    """The main program of a block test: TEST_MAIN for this model, with a function that copies what is random before reset."""
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
    return f"{text}static void keep(State& to, const State& from) {{\n{calls}}}\n{TEST_MAIN.read_text()}"

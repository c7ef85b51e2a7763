# SPDX-License-Identifier: Apache-2.0
"""Which tests are a source's own: those a fault in it is to be noticed by."""

import ast
import functools
import re
from pathlib import Path

from emery.check import structure
from emery.common import ROOT, UserError
from emery.make import build, cache

# Their subject is the whole checkout: they build every model, or refuse any change.
_NOT_OF_ONE_MODULE = {"test_blocks.py", "test_lint.py", "test_fence.py"}
_AT_THE_MOST = 2  # tests that a source without one of its own name is given to


def of_source(path: Path) -> list[Path]:
    """The tests of a source, its own first: benches and proofs of RTL, C++ tests, test files of Python."""
    if path.suffix == ".sv":
        found = _of_rtl(path)
    elif path.suffix in (".hpp", ".cpp"):
        found = _of_cxx(path)
    else:
        found = _of_python(path)
    if not found:
        raise UserError(f"mutate {path.relative_to(ROOT)}: no test of its own")
    return found


def benches() -> list[Path]:
    """The block tests there are."""
    return sorted(x for place in ("rtl", "systems") for x in (ROOT / place).rglob("*_tb.sv"))


def benches_of(path: Path) -> list[Path]:
    """Those that a block's own tests are."""
    return [x for x in _of_rtl(path) if x.stem.endswith("_tb")]


@functools.cache
def _rtl_tests() -> dict[Path, set[Path]]:
    """The files of what each bench and each proof instantiates, directly or through others."""
    design, found = structure.read(), {}
    for test in sorted({ROOT / x.path for x in design.tests}):
        own = {x.name: x for x in design.tests if ROOT / x.path == test}
        known = {x.name: x for x in design.tests} | design.modules | own  # a proof's stand-in hides the block
        seen, todo = set(), list(own)
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += known[name].children & known.keys()
        found[test] = {ROOT / known[x].path for x in seen}
    return found


def subjects(test: Path) -> set[str]:
    """The blocks whose own test it is: those that a line `// of: dma_read dma_write` names, and the one it is named after,
    mac_rx for mac_rx_tb and mac_rx_byte_tb."""
    name = re.sub("_(tb|formal)$", "", test.stem)
    while "_" in name and not (test.parent / f"{name}.sv").is_file():
        name = name.rpartition("_")[0]
    return {name, *(x for line in re.findall("^// of: (.*)$", test.read_text(), re.M) for x in line.split())}


def _of_rtl(path: Path) -> list[Path]:
    """Its own. Where no bench is, those that instantiate it: themselves, else those of a block that does, the
    smallest first."""
    those = {x: needed for x, needed in _rtl_tests().items() if path in needed}
    own = [x for x in those if path.stem in subjects(x)]
    found = list(own)
    if not any(x.stem.endswith("_tb") for x in own):
        others = [x for x in those if x not in own and (x.stem.endswith("_tb") or not own)]
        others.sort(key=lambda x: (x.stem.endswith("_formal"), path not in _direct(x), *_beside(x, path), len(those[x])))
        found += others[:_AT_THE_MOST]  # what a proof says is not all there is to say
    return sorted(found, key=lambda x: x.stem.endswith("_formal"))


@functools.cache
def _direct(test: Path) -> set[Path]:
    """The files of what a bench or proof instantiates itself."""
    design = structure.read()
    names = set().union(*(x.children for x in design.tests if ROOT / x.path == test))
    return {ROOT / design.modules[x].path for x in names & design.modules.keys()}


def _beside(test: Path, path: Path) -> tuple[bool, bool]:
    """False where it is the test of a block that instantiates the source itself, and where it is that block's first."""
    modules = structure.read().modules
    inside = [x for x in subjects(test) if x in modules and path.stem in modules[x].children]
    return not inside, test.stem.rpartition("_")[0] not in inside


def _of_cxx(path: Path) -> list[Path]:
    header = path.with_suffix(".hpp")
    tests = {x: cache.sources(x, [ROOT]) for x in sorted((ROOT / "bench").rglob("*_test.cpp"))}
    those = [x for x in tests if header in tests[x]]
    own = [x for x in those if x.stem == f"{path.stem}_test"]
    beside = [x for x in those if x.parent == path.parent]
    direct = [x for x in those if f'"{header.relative_to(ROOT)}"' in x.read_text()]
    return own or beside or direct[:_AT_THE_MOST]


def _of_python(path: Path) -> list[Path]:
    parts = list(path.relative_to(ROOT / "src").with_suffix("").parts)
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    those = []
    for test in sorted((ROOT / "tests").glob("test_*.py")):
        names = set()
        for node in ast.walk(ast.parse(test.read_text())):
            if isinstance(node, ast.Import):
                names |= {x.name for x in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{x.name}" for x in node.names)}
        if module in names and test.name not in _NOT_OF_ONE_MODULE:
            those.append(test)
    own = [x for x in those if x.name == f"test_{path.stem}.py"]
    return own or those


def sources() -> list[Path]:
    """All that can be made wrong: blocks, what the bench is made of, Python."""
    rtl = [x for x in (ROOT / "rtl").rglob("*.sv") if build.is_design_file(x) and not x.stem.endswith("_pkg")]
    cxx = [x for kind in ("*.hpp", "*.cpp") for x in (ROOT / "bench").rglob(kind) if not x.stem.endswith("_test")]
    return sorted([*rtl, *cxx, *(ROOT / "src" / "emery").rglob("*.py")])

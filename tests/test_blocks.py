# SPDX-License-Identifier: Apache-2.0
"""The block tests (`_tb.sv`), proofs (`_formal.sv`) and C++ tests (`_test.cpp`) that stand beside what they test."""

import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from emery.check import prove, testing
from emery.common import ROOT
from emery.make import build, cache

BENCHES = sorted(x for place in ("rtl", "systems", "boards") for x in (ROOT / place).rglob("*_tb.sv"))
CXX_TESTS = sorted(x for place in ("bench", "systems") for x in (ROOT / place).rglob("*_test.cpp"))
PROOFS = sorted((ROOT / "rtl").rglob("*_formal.sv"))
BOUNDED = {x: int(clocks) for x in PROOFS if (clocks := prove.settings(x)["suite"]).isdigit()}
OF_EVERY_RUN = [x for x in PROOFS if prove.settings(x)["suite"] == "yes" or x in BOUNDED]
LONG = [x for x in PROOFS if prove.settings(x)["suite"] != "yes"]


def label(path):
    return path.stem


@pytest.mark.parametrize("bench", BENCHES, ids=label)
def test_lint(bench):
    problems = testing.lint_rtl(build.test_rtl(bench))
    assert not problems, problems


@pytest.mark.parametrize("bench", BENCHES, ids=label)
def test_block(bench):
    """Its other runs: ./emery test --coverage, ./emery mutate."""
    runs = testing.ONCE if "\n// suite: once\n" in bench.read_text() else testing.FIRST
    problem = testing.block_problem(build.build_block_test(bench), runs=runs)
    assert not problem, problem


@pytest.mark.parametrize("source", CXX_TESTS, ids=label)
def test_bench(source):
    program = build.build_bench_test(source)
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "PASS " in done.stdout, (done.stdout + done.stderr)[-3000:]


def test_every_proof_has_a_cover():
    # Without one a proof may be of nothing: no clock in which its assertions count, or assumptions that leave none.
    # That of a proof which another one is with other parameters holds for it, too.
    texts = {x.stem: x.read_text() for x in PROOFS}
    covered = {name for name, text in texts.items() if "cover (" in text}
    assert not [x for x, text in texts.items() if x not in covered and not covered & set(re.findall(r"\w+_formal", text))]


def prove_once(proof, *bound):
    def work(out):
        ok, log = prove.prove(proof, *bound)
        assert ok, log[-3000:]
        (out / "log").write_text(log)

    # Proofs are long: one that held for exactly these sources is not done again.
    files = [*testing.needed_rtl(proof), Path(prove.__file__)]
    content = [(str(x.relative_to(ROOT)), cache.file_digest(x)) for x in files]
    cache.entry("proofs", cache.digest(1, content, metadata.version("pyosys"), *bound), work)


@pytest.mark.parametrize("proof", OF_EVERY_RUN, ids=label)
def test_proof(proof):
    prove_once(proof, *(["bmc", BOUNDED[proof]] if proof in BOUNDED else []))


@pytest.mark.slow
@pytest.mark.parametrize("proof", LONG, ids=label)
def test_whole_proof(proof):
    prove_once(proof)

# SPDX-License-Identifier: Apache-2.0
"""The model builder and its cache, on a tiny test bench; and the launcher's set-up."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import venv
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from namespaces import hears_signals

from emery import cli, common, system
from emery.check import area
from emery.common import ROOT, UserError
from emery.make import build, cache, registers, toolchain, word_runs

TINY = """module tiny_tb #(parameter int N = 3) (); initial begin $display("N=%0d", N); $finish; end endmodule\n"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def tiny(folder, **more) -> build.Rtl:
    path = folder / "tiny_tb.sv"
    if not path.exists():
        path.write_text(TINY)
    return build.Rtl(top="tiny_tb", files=(str(path),), dirs=(), stand_alone=True, hot=("-O0",), **more)


def make(rtl):
    return build.link(build.compile_all(build.model_units(rtl, build.verilate(rtl))), [], "tiny")


def says(program):
    return subprocess.run([program], capture_output=True, text=True).stdout


def test_models_are_cached_by_content(own_cache, tmp_path, monkeypatch):
    first = make(tiny(tmp_path))
    assert "N=3" in says(first)
    compiled = []
    run_cxx = toolchain.run_cxx
    monkeypatch.setattr(toolchain, "run_cxx", lambda words, **k: (compiled.append(words), run_cxx(words, **k))[1])
    assert make(tiny(tmp_path)) == first and not compiled
    other = make(tiny(tmp_path, parameters=(("N", "5"),)))
    assert other != first and "N=5" in says(other)
    assert not any("verilated" in Path(w).name for words in compiled for w in words)  # the runtime was not compiled again
    (tmp_path / "tiny_tb.sv").write_text(TINY.replace("N=%0d", "M=%0d"))
    assert "M=3" in says(make(tiny(tmp_path)))
    assert not list((own_cache / "tmp").iterdir())


def test_clang_precompiles_nothing(own_cache, tmp_path, monkeypatch):
    """What clang precompiles names the place where it was made, and that of an entry in the making is another."""
    compiler = tmp_path / "compiler"
    refused = "could not find file referenced by AST file"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in --version) echo "clang version 19.1.7" ;;\n'
        f'*c++-header*) echo "fatal error: {refused}" >&2; exit 1 ;; *) exec g++ "$@" ;; esac\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    kept = (toolchain.cxx, toolchain.cxx_version)
    for x in kept:
        x.cache_clear()
    try:
        assert toolchain.is_clang() and "N=3" in says(make(tiny(tmp_path)))
    finally:
        monkeypatch.undo()
        for x in kept:
            x.cache_clear()


def test_a_block_test_is_built_anew_when_its_parts_change(tmp_path):
    (tmp_path / "parts_tb.svh").write_text("`define N 3\n")
    rtl = replace(tiny(tmp_path), dirs=(str(tmp_path),))
    before = build.rtl_digest(rtl)
    (tmp_path / "parts_tb.svh").write_text("`define N 4\n")
    assert build.rtl_digest(rtl) != before


def test_a_block_test_that_is_a_variant_of_another_is_built_anew_with_it():
    base = build.ROOT / "rtl/base"
    assert "rtl/base/reg_demux_tb.sv" in build.test_rtl(base / "reg_demux_once_tb.sv").files


def test_an_entry_is_whole_or_absent(own_cache):
    def broken(out):
        (out / "half").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.entry("things", "a", broken)
    assert not (own_cache / "things").exists() and not list((own_cache / "tmp").iterdir())
    path = cache.entry("things", "a", lambda out: (out / "whole").write_text("y"))
    assert [x.name for x in path.iterdir()] == ["whole"]


PINS = """package pins_pkg; typedef struct { logic [7:0] x; logic y; } pin_t; endpackage
package inner_pkg; typedef struct { logic [7:0] x; } inner_t; endpackage
interface bus_if (); logic [7:0] x; endinterface
module pins #(parameter int N = 1) (input logic clk_i, input logic [7:0] a_i, output logic [7:0] b_o,
                                    input logic [7:0] each_i[N], output pins_pkg::pin_t each_o[N]);
  logic [N:0][7:0] sum;
  logic [7:0] more;
  always_ff @(posedge clk_i) for (int i = 0; i < N; ++i) each_o[i] <= '{each_i[i], ^each_i[i]};
  if (N > 1) begin : g_inner
    inner_pkg::inner_t kept;
    always_ff @(posedge clk_i) kept.x <= a_i + kept.x;
    assign more = kept.x;
  end else assign more = '0;
  assign sum[0] = a_i;
  for (genvar i = 0; i < N; ++i) begin : g_bus
    bus_if bus ();
    held i_held (.clk_i, .a_i(sum[i]), .bus);
    assign sum[i+1] = bus.x;
  end
  assign b_o = sum[N] ^ more;
endmodule
module held (input logic clk_i, input logic [7:0] a_i, bus_if bus); always_ff @(posedge clk_i) bus.x <= a_i; endmodule
"""


def test_models_with_the_same_pins_share_the_objects_of_a_bench(own_cache, tmp_path):
    (tmp_path / "pins.sv").write_text(PINS)
    rtls = [build.Rtl("pins", (str(tmp_path / "pins.sv"),), (), (("N", str(n)),)) for n in (1, 3)]
    made = [build.verilate(x) for x in rtls]
    headers = [(x / "Vpins.h").read_text() for x in made]
    assert headers[0] == headers[1] and "seen_clk_i();" in headers[0]
    assert "pins_pkg.h" in headers[0] and headers[0].count("EmeryPins<") == 2 and "VlUnpacked<CData" not in headers[0]
    assert "bus_if" not in headers[0] and all("bus_if" in (x / "Vpins__Syms.h").read_text() for x in made)
    assert [len(re.findall("bus_if", (x / "Vpins.cpp").read_text())) for x in made] == [0, 0]


def test_a_model_takes_locks_for_messages_only_where_there_are_some(own_cache, tmp_path):
    for text, around in ((PINS, 0), (PINS.replace("sum[0] = a_i;", "sum[0] = a_i;\n  initial $display(1);"), 2)):
        (tmp_path / "pins.sv").write_text(text)
        model = build.verilate(build.Rtl("pins", (str(tmp_path / "pins.sv"),), (), (("N", "1"),)))
        assert len(re.findall(r"deleteAll|endOfEval", (model / "Vpins.cpp").read_text())) == around


SEVERAL = """
module one (input clk_i, input go_i, input [3:0] number_i, output logic [31:0] sum_o);
  /*verilator no_inline_module*/
  logic [31:0] state[24];
  function automatic [31:0] mixed(input [31:0] a, input [31:0] b);
    return {a[23:0], a[31:24]} ^ (b * 32'd2654435769);
  endfunction
  always_ff @(posedge clk_i) begin
    if (go_i) begin
      for (int k = 0; k < 24; k++) state[k] <= mixed(state[(k+1)%24], state[k] + 32'(number_i)) + 32'(k);
    end
    sum_o <= go_i ? state[number_i] : sum_o + 1;
  end
endmodule
module several #(parameter int N = 5) (input clk_i, input [N-1:0] go_i, output [N-1:0][31:0] sum_o);
  for (genvar g = 0; g < N; g++) begin : g_one
    one i_one (.clk_i, .go_i(go_i[g]), .number_i(4'(2 * g)), .sum_o(sum_o[g]));
  end
endmodule
"""
STEPS = """
#include <cstdio>
#include "Vseveral.h"
int main() {
  VerilatedContext context;
  Vseveral model{&context};
  unsigned go = 1;
  for (int i = 0; i < 500; ++i) {
    model.clk_i = 0;
    model.eval();
    model.go_i = (go = go * 1103515245u + 12345u) >> 16 & 31;
    model.clk_i = 1;
    model.eval();
    for (int n = 0; n < 5; ++n) std::printf("%08x ", model.sum_o[n]);
  }
}
"""


def sums(steps: int) -> list[int]:
    """What the five show in each step."""
    go, state, shown, all_ = 1, [[0] * 24 for _ in range(5)], [0] * 5, []
    for _ in range(steps):
        go = (go * 1103515245 + 12345) & 0xFFFFFFFF
        for n, old in enumerate(state):
            if go >> 16 >> n & 1:
                shown[n] = old[2 * n]
                mixed = [((old[(k + 1) % 24] << 8 | old[(k + 1) % 24] >> 24) & 0xFFFFFFFF, old[k] + 2 * n) for k in range(24)]
                state[n] = [((a ^ (b * 2654435769 & 0xFFFFFFFF)) + k) & 0xFFFFFFFF for k, (a, b) in enumerate(mixed)]
            else:
                shown[n] = (shown[n] + 1) & 0xFFFFFFFF
        all_ += shown
    return all_


def test_several_of_a_module_have_one_copy_of_its_code(own_cache, tmp_path):
    (tmp_path / "several.sv").write_text(SEVERAL)
    (tmp_path / "main.cpp").write_text(STEPS)
    rtl = build.Rtl("several", (str(tmp_path / "several.sv"),), (), hot=("-O0",))
    model = build.verilate(rtl)
    text = "".join(x.read_text() for x in model.glob("Vseveral_one__*.cpp"))
    copies = text.count("unsigned emery_n) {")
    assert copies >= 1 and len(re.findall(r"\{ \w+\(vlSelf, \d\); \}", text)) >= 4 * copies
    units = [build.Unit(tmp_path / "main.cpp", ("-O0", "-std=gnu++20", "-pthread"), (model,)), *build.model_units(rtl, model)]
    done = subprocess.run([build.link(build.compile_all(units), [], "several")], capture_output=True, text=True)
    assert [int(x, 16) for x in done.stdout.split()] == sums(500)


def test_two_at_once_make_an_entry_once(own_cache):
    made = []

    def slow(out):
        made.append(out)
        time.sleep(0.3)

    threads = [threading.Thread(target=cache.entry, args=("things", "b", slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_scratch_of_the_dead_is_swept(own_cache):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    left = own_cache / "tmp" / f"{dead.stdout.strip()}-x"
    left.mkdir(parents=True)
    mine = cache.scratch()
    assert not left.exists() and mine.exists()


def test_an_object_follows_what_it_includes(own_cache, tmp_path):
    (tmp_path / "a.hpp").write_text('#include "b.hpp"\n')
    (tmp_path / "b.hpp").write_text("inline int f() { return 1; }\n")
    source = tmp_path / "a.cpp"
    source.write_text('#include "a.hpp"\nint g() { return f(); }\n')
    unit = build.Unit(source, ("-O0",), (tmp_path,))
    first = build.compile_all([unit])
    assert build.compile_all([unit]) == first
    (tmp_path / "b.hpp").write_text("inline int f() { return 2222; }\n")
    assert build.compile_all([unit]) != first


def _words(pattern: str, places, indent: int = 4) -> str:
    return "".join(" " * indent + pattern.format(i, i + 1, f"0x{i:08x}") + "\n" for i in places)


def _one_by_one(text: str) -> str:
    """Joined copies as single statements again."""

    def words(found) -> str:
        indent, count, to, at, source, place = found.groups()
        steps = range(int(count))
        return "".join(f"{indent}{to}[{int(at, 0) + i}U] = {source}[{int(place, 0) + i}U];\n" for i in steps)

    return re.sub(r"(?m)^( +)emery_copy<(\d+)>\((.*)\[(\w+)U\], (.*)\[(\w+)U\]\);\n", words, text)


def test_what_another_process_compiles_is_left_for_the_end(tmp_path, own_cache, monkeypatch):
    monkeypatch.setenv("EMERY_JOBS", "1")
    units = []
    for name in ("first", "second"):
        (tmp_path / f"{name}.cpp").write_text(f"int {name}() {{ return {'0 + ' * (500 if name == 'first' else 1)}1; }}\n")
        units.append(build.Unit(tmp_path / f"{name}.cpp", ("-O0",)))
    taken, other = (build._kept(x) for x in units)
    with cache.lock(f"object-{taken.name}"):
        thread = threading.Thread(target=build.compile_all, args=(units,))
        thread.start()
        deadline = time.monotonic() + 60
        while not other.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert other.exists() and thread.is_alive() and not taken.exists()
    thread.join()
    assert taken.exists()


def test_words_copied_one_by_one_are_copied_at_once():
    plain = _words("vlSelfRef.a[{0}U] = vlSymsp->TOP__b.data[{1}U];", range(9))
    assert word_runs.joined(plain) == "    emery_copy<9>(vlSelfRef.a[0U], vlSymsp->TOP__b.data[1U]);\n"
    ram = _words("vlSelfRef.head_q[{0}U] = vlSelfRef.mem[vlSelfRef.at][{0}U];", range(4), 8)
    assert word_runs.joined(ram) == "        emery_copy<4>(vlSelfRef.head_q[0U], vlSelfRef.mem[vlSelfRef.at][0U]);\n"
    two = plain + ram + plain
    assert word_runs.joined(two).count("emery_copy") == 3 and _one_by_one(word_runs.joined(two)) == two


@pytest.mark.parametrize(
    "text",
    [
        _words("vlSelfRef.a[{0}U] = vlSelfRef.b[{0}U];", range(3)),  # too short
        _words("vlSelfRef.a[{0}U] = vlSelfRef.a[{1}U];", range(8)),  # a word of its own
        _words("vlSelfRef.a[{0}U] = vlSelfRef.b[3U];", range(8)),
        _words("vlSelfRef.a[{0}U] = (vlSelfRef.b[{0}U] | vlSelfRef.c[{0}U]);", range(8)),
        _words("vlSelfRef.a[{0}U] = (vlSelfRef.c ? vlSelfRef.b[{0}U] : 0U);", range(8)),
        _words("vlSelfRef.a[{0}U] = vlSelfRef.b[{0}U];", [0, 1, 2, 4, 5, 6]),
        _words("vlSelfRef.a[{0}U] = vlSelfRef.b[{0}U];", range(3))
        + _words("vlSelfRef.a[{0}U] = vlSelfRef.b[{0}U];", range(3, 6), 8),
    ],
)
def test_other_words_stay_as_they_are(text):
    assert word_runs.joined(text) == text


def test_errors_name_the_place(own_cache, tmp_path):
    (tmp_path / "tiny_tb.sv").write_text("module tiny_tb; wrong wrong endmodule\n")
    with pytest.raises(UserError, match=r"tiny_tb\.sv:1"):
        make(tiny(tmp_path))
    source = tmp_path / "bad.cpp"
    source.write_text("int f() { return nothing; }\n")
    with pytest.raises(UserError, match=r"bad\.cpp:1"):
        build.compile_all([build.Unit(source, ("-O0",))])
    source = tmp_path / "bad.rdl"
    source.write_text("addrmap a {\n reg { field { sw = nonsense; } x; } r;\n};\n")
    with pytest.raises(UserError, match=r"bad\.rdl:2"):
        registers.generate(source, ["a"], "a")


def test_a_cache_that_may_only_be_read(own_cache, monkeypatch):
    """What is in it is used, and runs have a scratch directory elsewhere; what is not in it is refused in one line."""
    kept = cache.entry("things", "a", lambda out: (out / "whole").write_text("y"))
    access, taken = os.access, "locks/things-b"
    monkeypatch.setattr(os, "access", lambda path, mode: own_cache not in Path(path).parents and access(path, mode))
    (own_cache / taken).mkdir()  # no lock can be taken there
    assert cache.entry("things", "a", None) == kept
    made = cache.scratch()
    assert own_cache not in made.parents and not list(made.iterdir())
    made.rmdir()
    with pytest.raises(UserError, match="cannot write the cache .*EMERY_CACHE"):
        cache.entry("things", "b", None)


def test_a_full_disk_is_no_fault_of_a_systems_python(own_cache, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device", str(own_cache))

    monkeypatch.setattr(cache, "entry", full)
    assert cli.main(["run", "capture", "--frames", "10"]) == 2
    assert capsys.readouterr().err == f"emery: {own_cache}: No space left on device\n"


def test_an_unwritable_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match="EMERY_CACHE"):
        cache.scratch()


def test_several_users_of_one_checkout(own_cache, monkeypatch, tmp_path):
    """What is in the cache is for all; who cannot write it has one of his own."""
    path = cache.entry("things", "c", lambda out: (out / "whole").write_text("y"))
    assert all(x.stat().st_mode & 0o055 == 0o055 for x in (path, path.parent)) and (path / "whole").stat().st_mode & 0o044
    monkeypatch.delenv("EMERY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert common.cache_dir() == ROOT / ".cache" / "emery"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert common.cache_dir() == tmp_path / "own" / "emery"


# ---------------------------------------------------------------- the launcher


def test_an_older_python_is_told_so(tmp_path):
    """Before anything of Emery is read, which it may not understand; a newer one takes its place."""
    old = "import runpy, sys; sys.version_info = (3, 8, 0); sys.modules['emery'] = None; sys.argv[:] = sys.argv[1:]"
    words = [sys.executable, "-c", f"{old}; runpy.run_path(sys.argv[0], run_name='__main__')", str(ROOT / "emery"), "--version"]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 2 and done.stderr.startswith("emery: Python 3.11 or newer is needed, this is "), done.stderr
    broken, newer = tmp_path / "python3.19", tmp_path / "python3.12"
    broken.write_text("#!/bin/sh\nexit 127\n")
    newer.symlink_to(sys.executable)
    broken.chmod(0o755)
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 0 and done.stdout.startswith("emery "), done.stderr


def checkout(folder, fails=False):
    """A checkout in small: the launcher, one list of packages, and a program that says hello; pip is a script that counts."""
    shutil.copy(ROOT / "emery", folder / "emery")
    (folder / "requirements").mkdir()
    (folder / "requirements" / "run.txt").write_text("thing==1\n")
    (folder / "src" / "emery").mkdir(parents=True)
    shutil.copy(ROOT / "src" / "emery" / "signals.py", folder / "src" / "emery")
    (folder / "src" / "emery" / "__main__.py").write_text("import thing, sys; print('hello', *sys.argv[1:])\n")
    (folder / "src" / "emery" / "cli.py").write_text("def packages(argv): return ['run']\n")
    venv.create(folder / "python", symlinks=True)
    pip = next((folder / "python" / "lib").glob("python*/site-packages")) / "pip"
    pip.mkdir()
    (pip / "__main__.py").write_text(
        "import os, sys, time\n"
        f"open({str(folder / 'log')!r}, 'a').write('install\\n')\n"
        "target = sys.argv[sys.argv.index('--target') + 1]\n"
        "os.makedirs(target)\n"
        "time.sleep(float(os.environ.get('PIP_SLEEP', '0.3')))\n"
        + ("print('ERROR: no thing'); sys.exit(1)\n" if fails else "open(target + '/thing.py', 'w').close()\n")
    )
    (pip / "__init__.py").write_text("")
    return {**os.environ, "EMERY_HOME": str(folder / "home")}


def start(folder, environment, *words, **how):
    python = folder / "python" / "bin" / "python3"
    command = [python if python.exists() else sys.executable, folder / "emery", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    how = {"preexec_fn": hears_signals} | how
    return subprocess.Popen(command, env=environment, **pipes, **how)


def test_set_up_happens_once(tmp_path):
    environment = checkout(tmp_path)
    both = [start(tmp_path, environment, "run") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0 and out == "hello run\n", err
    again = start(tmp_path, environment, "list")
    assert again.communicate() == ("hello list\n", "")
    assert (tmp_path / "log").read_text() == "install\n"
    (tmp_path / "requirements" / "run.txt").write_text("thing==2\n")
    start(tmp_path, environment).communicate()
    assert (tmp_path / "log").read_text() == "install\n" * 2


def test_modules_that_lie_about(tmp_path):
    """Where Emery is started, and on a PYTHONPATH of others, files have the names that they have."""
    environment = checkout(tmp_path)
    about = tmp_path / "about"
    about.mkdir()
    for name in ("json", "hashlib", "pip", "emery", "thing", "numpy", "runpy"):
        (about / f"{name}.py").write_text(f"raise SystemExit('{name} of others')\n")
    done = start(tmp_path, {**environment, "PYTHONPATH": str(about)}, "run", cwd=about)
    assert done.communicate(timeout=180)[0] == "hello run\n" and done.returncode == 0


ENDS = {"INT": (130, "interrupted"), "TERM": (143, "ended by SIGTERM"), "HUP": (129, "ended by SIGHUP")}


def at(path):
    """Waits until a program has come to where it writes that."""
    for _ in range(400):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"no {path.name}")


@pytest.mark.parametrize("name", ENDS)
def test_a_signal_while_emery_starts(tmp_path, name):
    """In the launcher, while that installs packages, and before the program behind it is there: one line, nothing left."""
    number, (status, line) = getattr(signal, f"SIG{name}"), ENDS[name]
    environment = {**checkout(tmp_path), "PIP_SLEEP": "600"}
    process = start(tmp_path, environment, "run")
    at(tmp_path / "log")
    process.send_signal(number)
    err = process.communicate(timeout=180)[1]
    assert process.returncode == status and err.splitlines()[1:] == [f"emery: set-up {line}"]
    assert [x.name for x in (tmp_path / "home" / ".venv").iterdir()] == ["lock"]
    slow = f"import time\nopen({str(tmp_path / 'slow')!r}, 'w').close()\ntime.sleep(600)\n"
    (tmp_path / "src" / "emery" / "cli.py").write_text(slow)
    process = start(tmp_path, environment, "run")
    at(tmp_path / "slow")
    process.send_signal(number)
    assert (*process.communicate(timeout=180), process.returncode) == ("", f"emery: {line}\n", status)
    follow = (
        "import os, signal, sys; from emery import signals\n"
        f"signal.signal({int(number)}, signal.SIG_DFL); signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"signals.hold(); os.kill(os.getpid(), {int(number)})\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'emery', 'list'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", follow], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"emery: {line}\n", status)


@pytest.mark.parametrize("name", ENDS)
def test_a_signal_while_python_starts(tmp_path, name):
    """Before it has read a line of Emery: it waits until there is someone to tell of it."""
    status, line = ENDS[name]
    early = tmp_path / "python3"
    early.write_text(f'#!/bin/sh\nkill -{name} $$\nexec {sys.executable} "$@"\n')
    early.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    heard = f"import os, signal; signal.signal(signal.SIG{name}, signal.SIG_DFL)"
    fresh = [sys.executable, "-c", f"{heard}; os.execv({str(ROOT / 'emery')!r}, ['emery', 'list'])"]
    done = subprocess.run(fresh, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"emery: {line}\n", status)


# Each of these values stops or changes a Python that reads it.
ODD = {"INSPECT": "1", "HOME": "/nowhere", "IOENCODING": "no", "UTF8": "7", "HASHSEED": "x", "MALLOC": "x", "TRACEMALLOC": "x"}


@pytest.mark.parametrize(
    "environment", [{}, {"PATH": os.environ["PATH"]} | {f"PYTHON{x}": y for x, y in ODD.items()}], ids=["none", "odd"]
)
def test_the_launcher_in_an_odd_environment(environment):
    words = ["/usr/bin/env", "python3", "-E", "-c", "import sys; print(*sys.version_info[:2])"]
    other = subprocess.run(words, env=environment, capture_output=True, text=True).stdout
    if other.split() != [str(x) for x in sys.version_info[:2]]:
        pytest.skip(f"the python3 of that environment is {other or 'not there'}: packages would be set up for it")
    home = {"EMERY_HOME": os.environ["EMERY_HOME"]} if "EMERY_HOME" in os.environ else {}
    done = subprocess.run([ROOT / "emery", "list"], env=environment | home, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("capture ")


def test_the_launcher_without_a_python(tmp_path):
    done = subprocess.run([ROOT / "emery", "list"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("", "emery: there is no python3 on the PATH\n", 2)


def test_errors_that_nobody_hears():
    for words in ["rum"], ["run", "capture", "--frames", "0"]:
        for name, mode in ("/dev/full", "w"), ("/dev/null", "r"):
            with open(name, mode) as deaf:
                assert subprocess.call([sys.executable, ROOT / "emery", *words], stderr=deaf) == 2


@pytest.mark.parametrize("closed", [1, 2])
def test_the_launcher_without_standard_streams(closed):
    def launch(*words):
        done = start(ROOT, dict(os.environ), *words, preexec_fn=lambda: os.close(closed))
        return *done.communicate(timeout=180), done.returncode

    out, err, status = launch("list")
    assert (bool(out), err, status) == (closed == 2, "", 0)
    out, err, status = launch("rum")
    assert (out, err.count("\n"), status) == ("", int(closed == 1), 2)


def test_an_interrupted_set_up_is_done_again(tmp_path):
    environment = checkout(tmp_path)
    process = start(tmp_path, {**environment, "PIP_SLEEP": "30"})
    for _ in range(200):
        if (tmp_path / "log").exists():
            break
        time.sleep(0.05)
    time.sleep(0.2)
    process.kill()
    process.communicate()
    done = start(tmp_path, environment)
    assert done.communicate(timeout=180)[0] == "hello\n"
    assert sorted(re.sub("-.*", "", x.name) for x in (tmp_path / "home" / ".venv").iterdir()) == ["lock", "run"]


@pytest.mark.parametrize(
    "words", [["firmware", "x"], ["format", "x"], ["run", "x"], ["board", "x"], ["test", "--help"], ["list"], ["board"]]
)
def test_nothing_is_set_up_before_the_words_are_read(tmp_path, words):
    """Wrong words, help, and what needs no package."""
    done = start(ROOT, {**os.environ, "EMERY_HOME": str(tmp_path / "home")}, *words)
    out, err = done.communicate(timeout=180)
    wrong = len(words) > 1 and not words[1].startswith("-")
    assert (done.returncode, bool(out), err.count("\n")) == ((2, False, 1) if wrong else (0, True, 0))
    assert not (tmp_path / "home").exists()


def test_a_failed_set_up_is_one_line(tmp_path):
    process = start(tmp_path, checkout(tmp_path, fails=True))
    out, err = process.communicate(timeout=180)
    assert process.returncode == 2 and out == ""
    assert err.splitlines()[-1].startswith("emery: set-up: ") and "no thing" in err.splitlines()[-1]
    assert [x.name for x in (tmp_path / "home" / ".venv").iterdir()] == ["lock"]


def test_area_of_a_block_counts_its_flip_flops():
    cells = area.area("age_tick", [])
    assert cells["flip-flop"] == 31 and cells["RAMB36"] == 0 and 0 < cells["LUT"] < 100
    assert area.area("spill_reg", [], "capture")["flip-flop"] > 31  # interfaces at its ports, a type as its parameter


@pytest.mark.parametrize(
    "name, settings, says", [("fifo", ["Depth=1"], "width"), ("no_such", [], "no_such"), ("age_tick", ["X"], "NAME=VALUE")]
)
def test_area_of_what_cannot_be_measured(name, settings, says):
    with pytest.raises(UserError, match=says):
        area.area(name, settings)


def test_a_wheel_is_whole(tmp_path):
    """Away from the checkout it has all a run needs: it lists systems, verilates one, has its bench, and runs, from the shell
    and from Python. It is built from the source distribution, which so is whole, too."""
    source, out = tmp_path / "source", tmp_path / "out"
    skipped = shutil.ignore_patterns(".*", "build", "out", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=skipped)

    def make(kind, folder):
        code = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
        done = subprocess.run([sys.executable, "-c", code, str(out)], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    make("sdist", source)
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    shutil.rmtree(source)
    source = next((tmp_path / "unpacked").iterdir())
    make("wheel", source)
    (wheel,) = out.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    metadata = next(site.glob("*.dist-info/METADATA")).read_text()
    pins = re.findall(r"^(\S+==\S+)", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    assert (
        set(pins) <= set(re.findall(r"^Requires-Dist: (\S+)$", metadata, re.MULTILINE)) and (site / "emery/py.typed").exists()
    )
    assert "Provides-Extra: firmware" in metadata and "Provides-Extra: data" in metadata
    assert "emery = emery.__main__:run" in next(site.glob("*.dist-info/entry_points.txt")).read_text()
    shutil.rmtree(source)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(site), *sys.path]),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    environment.pop("EMERY_CACHE", None)

    common_cache = common.cache_dir()

    def say(code, *words, cwd="."):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=environment, cwd=tmp_path / cwd, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    start = "from emery.__main__ import run; run()"
    names = [x.split()[0] for x in say(start, "list").splitlines()]
    assert names == system.names() and "ecpix5: " in say(start, "board")
    assert all(json.loads(say(start, "show", name, "--schema")) for name in names)
    verilate = (
        "from emery import common, system; from emery.make import build\n"
        "target = system.load('capture'); rtl = build.system_rtl(target, target.values())\n"
        "units = build.bench_units(target, rtl, [build.verilate(rtl)])\n"
        "print(common.ROOT, common.cache_dir(), all(x.source.is_file() for x in units), len(units))\n"
    )
    root, kept, whole, _ = say(verilate).split()
    assert Path(root) == site / "emery" / "checkout" and Path(kept) == tmp_path / "cache" / "emery" and whole == "True"
    environment["EMERY_CACHE"] = str(common_cache)
    shutil.copytree(ROOT / "tests" / "loop_card", tmp_path / "empty" / "loop_card")
    ran = json.loads(say(start, "run", "./loop_card", "--frames", "50", "--json", "-", cwd="empty"))
    called = "import emery; print(emery.__file__, emery.run('./loop_card', frames=50).digest)"
    place, digest = say(called, cwd="empty").split()
    assert Path(place) == site / "emery" / "__init__.py" and digest == ran["digest"] and ran["totals"]["delivered"] == 50
    assert [x.name for x in (tmp_path / "empty").iterdir()] == ["loop_card"]

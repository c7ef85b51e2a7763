# SPDX-License-Identifier: Apache-2.0
"""Folders of the user's own in place of parts of a system: --with, new, test --with. What changed skeletons do, and
their conformance tests, are on the pages of docs/extend (test_extend_pages.py)."""

import json
import os
import shutil

import pytest
from jsonschema import Draft202012Validator

import emery
from emery import cli, extension, system
from emery.check import conformance
from emery.cli import main
from emery.common import UserError, in_checkout
from emery.make import build, own_rtl, programs, toolchain
from emery.schema import result_schema

RUN = ("--size", "64", "--frames", "60")


@pytest.fixture
def made(tmp_path, monkeypatch, capsys):
    """Makes a skeleton in an empty folder, which is the current one; gives its path."""
    monkeypatch.chdir(tmp_path)

    def make(kind, *words, name="mine"):
        assert main(["new", kind, name, *words]) == 0, capsys.readouterr().err
        capsys.readouterr()
        return tmp_path / name

    return make


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def refused(capsys, *words):
    """The one line that a command says before it ends with status 2."""
    assert main(list(words)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("emery: "), lines
    return lines[0].removeprefix("emery: ")


def result(capsys, *words):
    assert main(["run", *words, "--json", "-"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


# ---------------------------------------------------------------- what comes of it


def test_a_block_and_what_a_result_says_of_it(made, capsys):
    """A copy does the same; what follows from it has another name, which covers its content and not its place."""
    folder, words = made("block"), ("pcie-bench", *RUN)
    plain, copy = result(capsys, *words), result(capsys, *words, "--with", "mine")
    assert copy["digest"] == plain["digest"] and copy["cycles"] == plain["cycles"] and "with" not in plain["identity"]
    (told,) = copy["identity"]["with"]
    assert (told["folder"], told["kind"], told["replaces"]) == ("mine", "block", ["probe_pace"])
    Draft202012Validator(result_schema(system.load("pcie-bench"))).validate(copy)
    shutil.copytree(folder, "elsewhere")
    assert result(capsys, *words, "--with", "elsewhere")["identity"]["digest"] == copy["identity"]["digest"]
    shutil.copyfile(folder / "probe_pace.sv", "elsewhere/README")  # no source
    edit(folder / "probe_pace.sv", "endmodule", "  // nothing changes\nendmodule")
    remark = result(capsys, *words, "--with", "mine")
    assert len({x["identity"]["digest"] for x in (plain, copy, remark)}) == 3 and remark["digest"] == plain["digest"]
    edit(folder / "probe_pace.sv", "15'(cost_i)", "15'(cost_i) + 15'd160")
    slow = emery.run("pcie-bench", size=64, frames=300, with_=folder).totals.mpps
    assert slow < 0.6 * emery.run("pcie-bench", size=64, frames=300, with_="elsewhere").totals.mpps


def test_a_sweep_with_it(made, capsys):
    made("block")
    words = ["sweep", "pcie-bench", "--over", "size=64,256", "--frames", "60", "--with", "mine", "--out", "o.jsonl"]
    assert main(words) == 0
    with open("o.jsonl") as handle:
        kept = [json.loads(x)["result"] for x in handle]
    assert [x["identity"]["with"][0]["folder"] for x in kept] == ["mine", "mine"]


def test_beside_what_it_replaces(made, capsys):
    """compare has a row of the system as it is and one of it with the folder; area counts what the folder takes."""
    folder, words = made("block"), ("compare", "pcie-bench", "--size", "64", "--frames", "60", "--with", "mine")
    assert main(list(words)) == 0
    plain, own = capsys.readouterr().out.splitlines()[2:]
    assert own.startswith("pcie-bench with mine ") and plain.split()[1:] == own.split()[3:]
    assert "name at least two systems" in refused(capsys, *words[:2])
    assert "name one of those compared: capture, core-nic" in refused(
        capsys, "compare", "capture", "core-nic", "--with", "mine"
    )

    def flops(*with_):
        assert main(["area", "probe_pace", *with_]) == 0, capsys.readouterr().err
        rows = [x.split() for x in capsys.readouterr().out.splitlines()]
        return int(next(x[-1] for x in rows if x[0] == "flip-flop"))

    before = flops("--with", "mine")
    assert before == flops() == 15
    edit(folder / "probe_pace.sv", "[14:0] debt_q", "[11:0] debt_q")
    assert flops("--with", "mine") == 12
    assert main(["timing", "probe_pace", "--with", "mine"]) == 0 and "probe_pace" in capsys.readouterr().out
    assert "without --with" in refused(capsys, "timing", "--publish", "--with", "mine")


@pytest.mark.parametrize("kind", ["firmware", "tile"])
def test_programs_as_they_come_need_no_compiler(made, monkeypatch, kind):
    """And changed ones are never silently those of the checkout."""
    folder = made(kind)
    monkeypatch.setattr(toolchain, "cross_compiler", lambda: "")
    (found,) = [x for x in map(system.load, system.names()) if kind in x.extends]
    target = extension.chosen(found.name, ["mine"])
    assert target.settings(target.values()).keys() == found.settings(found.values()).keys()
    source = next(folder.glob("*.c"))
    source.write_text(source.read_text() + "\nint mine;\n")
    target = extension.chosen(found.name, ["mine"])
    with pytest.raises(UserError, match="its sources have changed and .* is not installed"):
        target.settings(target.values())
    assert cli.packages(["run", found.name, "--with", "mine"])[-1] == "firmware"
    assert cli.packages(["test", "--with", "mine"])[-1] == "firmware" and "firmware" not in cli.packages(["run", found.name])


@pytest.mark.skipif(not toolchain.cross_compiler(), reason="no cross compiler")
def test_sources_besides(made):
    folder = made("firmware")
    source = folder / "filter.c"
    edit(source, "DEVICE(RxDropped) = 1;", "count();")
    edit(source, "enum {", "void count(void);\nenum {")
    (folder / "count.c").write_text('#include "nic.h"\nvoid count(void);\nvoid count(void) { DEVICE(RxDropped) = 1; }\n')
    with pytest.raises(
        UserError, match=r"mine/count.c: nothing uses it: name it in `replaces`, with its folder, or in `sources`"
    ):
        extension.chosen("core-nic", ["mine"])
    edit(folder / "emery.toml", 'replaces = ["filter.c"]', 'replaces = ["filter.c"]\nsources = ["count.c"]')
    target = extension.chosen("core-nic", ["mine"])
    (own,) = target.overlays
    with programs.laid_over(target.overlays):
        names = {x.name for x in programs.symbols(programs.build(own, "filter"))}
    assert "count" in names and target.values()["firmware"] == "filter"


def test_values_of_parameters(made):
    folder = made("block")
    (folder / "emery.toml").write_text((folder / "emery.toml").read_text() + "[set]\nin_flight = 3\n")
    target = extension.chosen("pcie-bench", ["mine"])
    assert target.values()["in_flight"] == 3 and target.values(["in_flight=5"])["in_flight"] == 5
    assert system.load("pcie-bench").values()["in_flight"] == 64


def test_files_of_the_system_and_of_its_variants(made):
    """Modules that system.toml names are replaced there; those that only a variant has are its own."""
    made("block", "--from", "direct_card", name="card")
    made("block", "--from", "window_writer", name="window")
    target = extension.chosen("direct-router", ["card", "window"])
    for bus in ("pcix", "pcie"):
        values = target.values([f"bus={bus}"] if bus == "pcie" else [])
        rtl = build.system_rtl(target.variant(values), values)
        cards = [x for x in rtl.files if x.endswith("/direct_card.sv")]
        assert cards == [in_checkout(target.extensions[0].folder / "direct_card.sv")]
        assert set(rtl.dirs[:2]) == {str(x.folder) for x in target.extensions}
    own_rtl.check_all(target)
    made("block", "--from", "tile", name="tile")
    target = extension.chosen("tile-router", ["tile"])
    parts = build.part_rtls(target, target.values(), build.system_rtl(target, target.values()))
    assert str(target.extensions[0].folder / "tile.sv") in [y for x in parts for y in x.files]


def test_messages_name_files_as_the_user_does(made):
    """Wherever the cache is: in the checkout its files are given to tools by their path in there."""
    made("block", "--from", "direct_card")
    target = extension.chosen("direct-router", ["mine"])
    file = target.extensions[0].folder / "direct_card.sv"
    for place in (str(file), in_checkout(file)):
        with pytest.raises(UserError, match=r"^%Error: mine/direct_card.sv:3: no$"), extension.told(target):
            raise UserError(f"%Error: {place}:3: no")


def test_a_system(made, capsys):
    folder = made("system", name="my-card")
    first, second = (result(capsys, *x, *RUN)["identity"] for x in (["my-card", "--with", "my-card"], ["./my-card"]))
    assert first == second and "with" not in first
    edit(folder / "limit.py", "The wire is all there is", "The wire is all")
    assert result(capsys, "./my-card", *RUN)["identity"]["digest"] != first["digest"]
    edit(folder / "my_card.sv", "endmodule", "  logic idle\nendmodule")
    assert "my_card.sv:39:1: syntax error" in refused(capsys, "run", "./my-card", *RUN)
    assert "syntax error" in refused(capsys, "test", "--with", "my-card")


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("assign ready_o", "asign ready_o =", "mine/probe_pace.sv:13: expected expression"),
        ("ready_o", "ready_x", "mine/probe_pace.sv:4: port ready_o (output) is missing, which rtl/pcie/probe_pace.sv has"),
        ("output logic        ready_o", "input logic ready_o", "mine/probe_pace.sv:9: port ready_o is input, and output where"),
        (
            "input  logic        take_i",
            "input logic a_i, take_i",
            "mine/probe_pace.sv:7: port a_i (input) is connected to nothing",
        ),
        ("module probe_pace", "module other", "mine/probe_pace.sv:1: there is no module probe_pace in it"),
        ("endmodule", "nothing i_x ();\nendmodule", "mine/probe_pace.sv:15:1: Cannot find file containing module: 'nothing'"),
        ("debt_q < 15'd16;", "foo;", "mine/probe_pace.sv:13:20: Can't find definition of variable: 'foo'"),
    ],
)
def test_a_module_that_cannot_take_the_place(made, capsys, before, after, says):
    edit(made("block") / "probe_pace.sv", before, after)
    assert says in refused(capsys, "run", "pcie-bench", *RUN, "--with", "mine")
    assert says in refused(capsys, "test", "--with", "mine")


def test_a_parameter_that_is_missing(made, capsys):
    folder = made("scheduler")
    edit(folder / "response_scheduler.sv", "parameter int Classes = 2,\n    parameter", "parameter")
    says = refused(capsys, "run", "direct-router", *RUN, "--with", "mine")
    assert "mine/response_scheduler.sv:" in says and "parameter Classes is missing" in says


def test_a_module_that_is_not_there_with_these_parameters(made, capsys):
    made("block", "--from", "usplus_cc", "--system", "pcie-bench")
    says = refused(capsys, "run", "pcie-bench", *RUN, "--set", "pcie_interface=ideal", "--with", "mine")
    assert says == "mine/usplus_cc.sv: with these parameters pcie-bench has no usplus_cc"


@pytest.mark.parametrize(
    ("words", "name", "setting", "source"),
    [
        (("firmware",), "core-nic", "firmware=rmw", "filter.c"),
        (("firmware", "--from", "balance.c"), "core-nic", "firmware=filter", "balance.c"),
        (("tile",), "tile-router", "version=III.d", "forward.c"),
    ],
)
def test_a_source_that_no_program_has_with_these_parameters(made, words, name, setting, source):
    """It was left out without a word. What `new` makes is in use as it is."""
    made(*words)
    mine = extension.chosen(name, ["mine"])
    mine.settings(mine.values())
    with pytest.raises(UserError, match=f"^mine/{source}: with these parameters no program of {name} has it$"):
        mine.settings(mine.values([setting]))


@pytest.mark.parametrize(("kind", "name"), [("firmware", "core-nic"), ("tile", "tile-router")])
def test_a_folder_begun_with_any_source_uses_it(made, kind, name):
    of_boards = {"echo.c", "store.c"}
    folder = system.load(name).folder / system.load(name).extends[kind]["folder"]
    for path in sorted(x for x in folder.glob("*.c") if x.name not in of_boards):
        made(kind, "--from", path.name, name=path.stem)
        mine = extension.chosen(name, [path.stem])
        mine.settings(mine.values())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "blok"', "kind: one of scheduler, block, hook, firmware, tile"),
        ("kind = 3", "kind: a word"),
        ("replaces = 'probe_pace'", "replaces: a list of words"),
        ("replaces = []", "replaces: name what it takes the place of"),
        ("replaces = ['../a']", "'../a' is no name of a module"),
        ("replaces = ['probe_pac']", "there is no such file"),
        ("replaces = ['own']", "pcie-bench has no block own"),
        ("replaces = ['fifo']", "there is no such file"),
        ("system = 'core-nic'", "it is for core-nic, not for pcie-bench"),
        ("replace = ['probe_pace']", "there is no replace (did you mean replaces?)"),
        ("set = { mps = 1 }", "set: parameter mps: 1 is out of range"),
        ("set = { mp = 1 }", "set: pcie-bench has no parameter mp (did you mean mps?)"),
        ("kind = 'scheduler'", "pcie-bench has no scheduler of the user's own"),
        ("kind = 'firmware'", "'probe_pace' is no name of a file"),
        ("kind = ", "Invalid value"),
        ("\0", "Invalid statement"),
    ],
)
def test_a_manifest_that_is_wrong(made, capsys, text, says):
    folder = made("block")
    (folder / "own.sv").write_text("module own; endmodule\n")
    name = text.partition(" =")[0]
    lines = [x for x in (folder / "emery.toml").read_text().splitlines() if not x.startswith(f"{name} =")]
    (folder / "emery.toml").write_text("\n".join([*lines, text, ""]))
    assert says in refused(capsys, "run", "pcie-bench", "--with", "mine")


def test_names_that_are_taken(made, capsys):
    folder = made("block")
    (folder / "fifo.sv").write_text("module fifo; endmodule\n")
    assert "mine/fifo.sv: a file of base has that name" in refused(capsys, "run", "pcie-bench", "--with", "mine")
    (folder / "fifo.sv").rename(folder / "stream.svh")
    assert "mine/stream.svh: a file of base has that name" in refused(capsys, "run", "pcie-bench", "--with", "mine")
    (folder / "stream.svh").unlink()
    made("block", name="other")
    words = ("run", "pcie-bench", "--with", "mine", "--with", "other")
    assert refused(capsys, *words) == "other/emery.toml: mine takes the place of probe_pace already"
    folder = made("tile", name="stage")
    (folder / "lookup.c").write_text("")
    assert "stage/lookup.c: tile-router has a file of that name" in refused(capsys, "run", "tile-router", "--with", "stage")
    edit(folder / "emery.toml", '"forward.c"', '"forward.c", "tile_pkg.sv"')
    (folder / "tile_pkg.sv").write_text("")
    assert "has no file tile_pkg.sv in programs" in refused(capsys, "run", "tile-router", "--with", "stage")


def test_folders_that_are_none(made, capsys, tmp_path):
    made("block")
    made("system", name="card")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "empty" / "emery.toml")
    for folder, says in (
        ("nowhere", "there is no such folder"),
        ("mine/emery.toml", "there is no such folder"),
        ("empty", "there is no emery.toml in it (./emery new KIND DIR makes one)"),
        ("card", "that is the system card, not a part of pcie-bench"),
    ):
        assert refused(capsys, "run", "pcie-bench", "--with", folder) == f"--with {folder}: {says}"
    assert "argument --with: it is empty" in refused(capsys, "run", "pcie-bench", "--with", "")
    for words in (["--with"], ["--with", "mine", "-x"], ["--with", "mine", "mine"], ["--with", "mine", "--with"]):
        assert refused(capsys, "test", *words) == "test: after --with comes a folder, and nothing but more of that"


@pytest.mark.skipif(not toolchain.cross_compiler(), reason="no cross compiler")
def test_a_trap_of_a_tile_is_told_with_its_function(made, capsys):
    edit(made("tile") / "forward.c", "  for (;;) {", "  *(volatile int*)0xdeadbee0 = 1;\n  for (;;) {")
    assert main(["run", "tile-router", *RUN, "--with", "mine"]) == 1
    line = capsys.readouterr().err
    assert "(forward " in line and "trapped: store to nowhere at pc 0x0000" in line and " in main+" in line, line


@pytest.mark.skipif(not toolchain.cross_compiler(), reason="no cross compiler")
@pytest.mark.parametrize(
    ("kind", "before", "after", "says"),
    [
        ("firmware", "return false;", "return no;", r"filter.c:27:10: error: use of undeclared identifier 'no'"),
        ("tile", "word busy = 0", "word buzy = 0", r"forward.c:"),
    ],
)
def test_programs_with_errors(made, capsys, kind, before, after, says):
    edit(next(made(kind).glob("*.c")), before, after)
    target = next(x for x in map(system.load, system.names()) if kind in x.extends)
    assert says in refused(capsys, "run", target.name, "--with", "mine")
    assert says in refused(capsys, "test", "--with", "mine")


# ---------------------------------------------------------------- new, and the conformance test


def test_what_cannot_be_made(made, capsys, tmp_path):
    made("block")
    (tmp_path / "file").write_text("")
    for words, says in (
        (["blok", "x"], "invalid choice: 'blok'"),
        (["block", "mine"], "new block mine: it is there already"),
        (["block", "file"], "it is there already"),
        (["block", "file/x"], "Not a directory"),
        (["block", "x", "--from", "nothing"], "there is no module nothing"),
        (["block", "x", "--from", "stream_if"], "there is no module stream_if"),
        (["block", "x", "--from", "tile", "--system", "capture"], "capture has no tile"),
        (["scheduler", "x", "--from", "fifo"], "has no scheduler fifo"),
        (["scheduler", "x", "--system", "core-nic"], "core-nic has none; direct-router and host-nic"),
        (["firmware", "x", "--from", "fil.c"], "has no fil.c (did you mean filter.c"),
        (["system", "a.b"], "its name is the system's"),
        (["system", "x", "--from", "fifo"], "without --system and --from"),
        (["block", ""], "argument DIR: it is empty"),
    ):
        assert says in refused(capsys, "new", *words)
        assert not (tmp_path / "x").exists() and not (tmp_path / "a.b").exists()


def test_block_tests_of_a_module():
    assert [x.stem for x in conformance.tests_of("arb_rr")] == ["arb_rr_tb"]
    assert [x.stem for x in conformance.tests_of("probe_pace")] == ["probe_tb"]
    assert [x.stem for x in conformance.tests_of("response_scheduler")] == ["direct_scheduler_tb"]
    assert conformance.tests_of("pcie_bench") == []


def test_a_block_without_a_system_and_with_tests_of_its_own(made, capsys, monkeypatch):
    """It is tested in a system that has it. What its own test says counts, and a warning too."""
    folder = made("block")
    edit(folder / "emery.toml", 'system = "pcie-bench"\n', "")
    monkeypatch.setattr(conformance, "_run", lambda target, run: (target.name, lambda: ""))
    (folder / "pace_tb.sv").write_text(
        '`include "tb.svh"\nmodule pace_tb;\n  `TB_BEGIN\n  `TB_TIMEOUT(100)\n  logic ready;\n  probe_pace i_pace ('
        ".clk_i(clk), .rst_i(rst), .take_i(1'b0), .cost_i('0), .ready_o(ready));\n  initial begin\n    @(negedge rst);\n"
        '    @(posedge clk);\n    `CHECK(ready, "idle")\n    `TB_PASS\n  end\nendmodule\n'
    )
    assert main(["test", "--with", "mine"]) == 0, capsys.readouterr()
    assert "mine: pace_tb" in (out := capsys.readouterr().out) and "mine: pcie-bench" in out
    edit(folder / "pace_tb.sv", "CHECK(ready", "CHECK(!ready")
    edit(folder / "probe_pace.sv", "15'd16;", "15'd16 + 20'd0;")
    assert main(["test", "--with", "mine"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [x.split()[:3] for x in lines if x.startswith("FAIL")] == [["FAIL", "mine:", "lint"], ["FAIL", "mine:", "pace_tb"]]
    assert "mine/probe_pace.sv:13:" in lines[0] and "WIDTH" in lines[0] and "idle" in "".join(lines)


def test_a_run_that_loses_frames_fails(made, capsys, monkeypatch):
    made("block")

    def lost(*words, **more):
        raise cli.IntegrityError("stream read: 1 of 9 frames are neither delivered nor counted as dropped", None)

    monkeypatch.setattr(conformance, "run_system", lost)
    assert main(["test", "--with", "mine"]) == 1
    out = capsys.readouterr().out
    assert out.count("FAIL") == 2 and "1 of 9 frames" in out


@pytest.mark.parametrize(
    ("source", "before", "after", "says"),
    [
        ("sched_rr", "4'd1 : max_burst_i", "4'd1 : 4'd1", ""),  # short turns
        (
            "sched_rr",
            "may_send = !further[17] && (further[16] || !around)",
            "may_send = 1'b1",
            "more packets in flight",
        ),  # without its limit
        ("sched_strict", "int i = Classes - 1; i >= 0; i--", "int i = 0; i < Classes; i++", ""),  # the other way around
        ("sched_strict", "if (some[i]) highest", "if (some[i] && i != 5) highest", "ChoosesWhatIs"),  # one class never
    ],
)
def test_a_scheduler_of_host_nic(made, source, before, after, says):
    """The block tests ask no order of turns, but that all is sent, in bounds."""
    folder = made("scheduler", "--from", source)
    edit(folder / f"{source}.sv", before, after)
    target = extension.chosen("host-nic", ["mine"])
    assert target.values()["scheduler"] == source.removeprefix("sched_")
    bench, *_ = conformance.tests_of(source)
    told = conformance._bench(target, bench, tuple(target.extends["scheduler"]["words"]))
    assert says in told if says else not told, told


@pytest.mark.parametrize(
    ("hold", "says"),
    [
        ("beat.sop && wait_q != '0", ""),
        ("beat.eop && wait_q != '0", ""),
        ("wait_q == '0 || beat.sop", "FAIL"),  # for ever
    ],
)
def test_a_hook_that_holds_frames_back(made, hold, says):
    """The block test by itself: what a hook may do, and what not."""
    folder = made("hook", "--from", "tx_hook")
    state = "wide_beat_t beat;\n  logic [6:0] wait_q;\n  assign beat = frame_in.data;\n  always_ff @(posedge clk_i) begin\n"
    state += (
        "    if (frame_out.valid && frame_out.ready) wait_q <= 7'd9;\n    else if (wait_q != '0) wait_q <= wait_q - 1'b1;\n"
    )
    state += "    if (rst_i) wait_q <= 7'd60;\n  end\n"
    edit(folder / "tx_hook.sv", "wire hold = 1'b0;", f"{state}  wire hold = {hold};")
    target = extension.chosen("host-nic", ["mine"])
    (bench,) = conformance.tests_of("tx_hook")
    told = conformance._bench(target, bench, ("+any_hook",))
    assert says in told if says else not told, told

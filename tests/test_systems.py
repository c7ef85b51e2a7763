# SPDX-License-Identifier: Apache-2.0
"""A system is one folder, wherever it lies: a card that no file outside its folder names is shown, linted, built and run."""

import gzip
import json
import math
import os
import shutil
import struct
from dataclasses import replace

import pytest
from conftest import body, read_pcap, stream, write_pcap
from jsonschema import Draft202012Validator

from emery import shapes, system
from emery.check import testing
from emery.cli import main
from emery.common import ROOT, UserError
from emery.make import build, cache, toolchain
from emery.schema import described, result_schema
from emery.workload import workload

REGISTERS = """
addrmap card_regs {
  reg { field { sw = rw; hw = r; } on[0:0] = 1; } control @ 0x0;
};
addrmap card { card_regs card; };
"""


@pytest.fixture
def card(tmp_path):
    """The folder of a system, outside the checkout."""
    return shutil.copytree(ROOT / "tests" / "loop_card", tmp_path / "mine" / "loop_card")


def append(path, text):
    path.write_text(path.read_text() + text)


def test_run(card, tmp_path, capsys):
    out, frames = tmp_path / "result.json", ("--size", "200", "--frames", "200")
    words = [str(card), *frames, "--set", "buffer_beats=8", "--json", str(out), "--pcap-out", str(tmp_path / "out")]
    assert main(["run", *words, "--assertions"]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    assert result["system"] == "loop-card" and result["parameters"] == {"buffer_beats": 8}
    assert result["streams"]["loop"]["offered"] == result["streams"]["loop"]["delivered"] == 200
    assert result["limit"]["by"] == "line" and 0.99 < result["limit"]["fraction"] <= 1
    assert result["resources"]["wire"]["tx_frames"] == 200
    assert len(read_pcap(tmp_path / "out" / "wire0.pcap")) == 200


def test_a_capture_in_time(card, tmp_path, capsys):
    """Raw IP cut short in mid-packet, 6, 4 and 5 us apart when it was captured, played twice as fast."""
    ip, gaps = bytes([0x45]) + bytes(45), (0, 6000, 4000, 5000)
    data, at = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101), 0
    for gap in gaps:
        at += gap
        data += struct.pack("<IIII", 7, at, len(ip), 86) + ip
    (tmp_path / "raw.pcap.gz").write_bytes(gzip.compress(data))
    out = tmp_path / "out"
    words = [
        "--pcap",
        str(tmp_path / "raw.pcap.gz"),
        "--timed",
        "2",
        "--pcap-out",
        str(out),
        "--json",
        str(tmp_path / "r.json"),
    ]
    assert main(["run", str(card), *words]) == 0, capsys.readouterr().err
    header = bytes.fromhex("020000000002020000000001 0800")
    assert read_pcap(out / "wire0.pcap") == [header + ip + bytes(40)] * 4
    written = (out / "wire0.pcap").read_bytes()
    came = [struct.unpack_from("<I", written, 24 + n * 116 + 4)[0] for n in range(4)]
    assert all(abs(b - a - gap / 2) <= 8 for a, b, gap in zip(came, came[1:], gaps[1:], strict=False))  # clocks of 125 MHz
    assert json.loads((tmp_path / "r.json").read_text())["workload"]["captures"][""]["cut"] == 4


def test_show_and_settings(card, capsys):
    assert main(["show", str(card)]) == 0
    assert "buffer_beats" in capsys.readouterr().out
    assert main(["run", str(card), "--set", "buffer_beats=1"]) == 2
    assert "out of range" in capsys.readouterr().err


PROFILES = """
[parameters.mps]
choices = [128, 256, 512]
[parameters.machine]
default = "plain"
choices = ["plain", "slow"]
help = "a profile"
[parameters.machine.sets]
slow = { buffer_beats = 4, mps = 128 }
"""


def test_a_profile_sets_what_nobody_sets(card):
    """Parameters of an included file, what the system says of them itself, and a choice that brings values of others."""
    text = (card / "system.toml").read_text()
    (card / "system.toml").write_text(text.replace("[rtl]", 'include = ["bench/pcie/parameters.toml"]\n\n[rtl]', 1) + PROFILES)
    values = system.load(str(card)).values
    assert values()["buffer_beats"] == 16 and values()["mps"] == 256 and values()["host_profile"] == "generic"
    assert values(["machine=slow"])["buffer_beats"] == 4 and values(["machine=slow"])["mps"] == 128
    for settings in (["machine=slow", "mps=512"], ["mps=512", "machine=slow"]):
        assert values(settings)["mps"] == 512 and values(settings)["buffer_beats"] == 4
    assert values(["host_profile=hsw-e3-1226v3"])["write_ns"] > 0
    with pytest.raises(UserError, match=r"128 \| 256 \| 512"):
        values(["mps=1024"])
    assert "mps" in system.load("direct-router").parameters and "mrrs" not in system.load("direct-router").parameters
    (card / "system.toml").write_text((card / "system.toml").read_text().replace("buffer_beats = 4,", "buffer_beats = 1,"))
    with pytest.raises(UserError, match="buffer_beats: 1 is out of range"):
        system.load(str(card))


def test_lint_and_registers(card):
    """Its RTL is held to what ours is; registers of its own are generated for it."""
    (card / "card.rdl").write_text(REGISTERS)
    append(card / "system.toml", '[[registers]]\nfile = "card.rdl"\nblocks = ["card_regs"]\nmap = "card"\n')
    target = system.load(str(card))
    rtl = build.system_rtl(target, target.values())
    assert any(x.endswith("/card_regs_pkg.sv") for x in rtl.files)
    assert testing.lint_rtl(rtl) == ""
    source = card / "loop_card.sv"
    source.write_text(source.read_text().replace("endmodule", "  logic idle;\nendmodule"))
    assert "'idle'" in testing.lint_rtl(rtl)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "def mix(v, w): return {'wire0': 1.0}\ndef loads(v, s, r):\n    return {'physics': v['lanes']}\n"
            "def line(v): return 1\n",
            "limit.py:3: KeyError: 'lanes'",
        ),
        ("def loads(:\n", "SyntaxError"),
        ("", "has no attribute 'line'"),
        ("def line(v): return 1\n", "has no attribute 'loads'"),
    ],
)
def test_faults_of_its_python_are_one_line(card, capsys, code, says):
    (card / "limit.py").write_text(code)
    assert main(["run", str(card), "--frames", "9"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says in lines[0]


def test_what_does_not_go_together_is_refused(card, capsys):
    """In one line with the settings that meet, and a condition that names nothing is refused itself."""
    append(card / "system.toml", '[[refuse]]\nwhen = "longest > 8 * buffer_beats"\nwhy = "too long"\n')
    assert main(["run", str(card), "--size", "1024"]) == 2
    assert capsys.readouterr().err == "emery: longest frame 1024 bytes, buffer_beats=16: too long\n"
    append(card / "system.toml", '[[refuse]]\nwhen = "beats > 1"\nwhy = ""\n')
    assert main(["show", str(card)]) == 2
    assert "there is no beats" in capsys.readouterr().err


# ---------------------------------------------------------------- parameters of all systems


def ends(parameter):
    """The values at both ends of what a parameter takes; all there are of a choice."""
    if isinstance(parameter.default, bool):
        return (False, True)
    return parameter.choices or (() if parameter.minimum is None else (parameter.minimum, parameter.maximum))


def elaborate(target, values):
    """Verilator's elaboration of a system, or of its parts; raises what a guard in the RTL says. What passed is remembered."""
    whole = build.system_rtl(target, values)
    for rtl in build.part_rtls(target, values, whole) or [whole]:
        # The tree after elaboration is where --json-only ends; --lint-only goes on, for twice the time.
        words = ["--json-only", "--json-only-output", os.devnull, "--json-only-meta-output", os.devnull]
        words += [x for x in rtl.arguments() if x != "--cc"]
        cache.entry("elaborated", build.rtl_digest(rtl), lambda _, words=words: toolchain.run_verilator(words))


AT_ENDS = [
    (name, parameter.name, value)
    for name in system.names()
    for parameter in system.load(name).parameters.values()
    if parameter.rtl
    for value in ends(parameter)
    if value != parameter.default
]


@pytest.mark.parametrize(("name", "parameter", "value"), AT_ENDS, ids=["-".join(map(str, x)) for x in AT_ENDS])
def test_a_range_is_what_the_hardware_takes(name, parameter, value):
    target = system.load(name)
    values = target.values() | {parameter: value}
    try:
        target.refuse(values)
    except UserError:  # of two settings that meet, the other is the one to change
        values = next(others(target, values, parameter))
    for when in ({}, *(x["when"] for x in target.variants)):
        elaborate(target, values | when)


# Ends of several parameters that meet in one block.
TOGETHER = [("host-nic", {"max_packets": 16, "ports": 2})]


@pytest.mark.parametrize(("name", "settings"), TOGETHER, ids=str)
def test_the_hardware_takes_the_ends_of_several_parameters(name, settings):
    target = system.load(name)
    values = target.values() | settings
    target.refuse(values)
    elaborate(target, values)


def others(target, values, kept):
    """The values with another parameter at another value, where nothing is refused."""
    for other in target.parameters.values():
        low, high = (other.minimum, other.maximum) if other.power_of_two else (1, 0)
        powers = [x for x in (1 << y for y in range(20)) if low <= x <= high]
        for value in (powers or ends(other)) if other.name != kept else ():
            try:
                target.refuse(changed := values | {other.name: value})
            except UserError:
                continue
            yield changed


def test_guards_stop_a_build(card, capsys):
    """In one line: the guard's own words."""
    source = card / "loop_card.sv"
    guard = 'if (Depth > 8) begin : g_bad\n    $fatal(1, "loop_card: %0d beats", Depth);\n  end\nendmodule'
    source.write_text(source.read_text().replace("endmodule", guard))
    assert main(["run", str(card), "--frames", "9"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].endswith("loop_card: 16 beats")
    target = system.load(str(card))
    with pytest.raises(UserError, match="loop_card: 16 beats"):
        elaborate(target, target.values())


REFUSED = {
    "capture": [
        "rings=16 max_rings=8", "staging_pages=64", "consumers=7 rings=4", "links=1 link_rate=0.5",
        "links=1 fault_link=0 link_lost_at_us=9", "link_lost_at_us=9 link_back_at_us=8", "pcap=", "size=imix", "flows=3",
        "ipv6=0.5", "source=wire size=16385", "block_kb=4 size=5000", "consumer_fault=no_put link_lost_at_us=9",
        "source=wire pcap=1=", "rcb=128 completion_bytes=64", "blocks=32768 block_kb=128",
    ],
    "core-nic": [
        "studies=true",
        "drop_udp_port=9 firmware=rmw",
        "receive_queues=4 firmware=rmw",
        "watchdog_us=119",
        "pcap=1=",
        "rcb=128 completion_bytes=64",
        "fault=lost_rx_descriptor direction=tx",
        "fault=null_address direction=rx",
        "reset_every_us=5",
        "reset_at_us=5 cosim=true",
        "dma_timeout_us=20 read_latency_ns=20000",
        "dma_timeout_us=100 read_wake_ns=100000",
        "dma_overtaken_us=20 read_jitter_ns=20000",
    ],
    "direct-router": [
        "config=A bus=pcie", "slow_path=true bus=pcie", "config=F max_cards=2", "cards=9", "dead_card=3",
        "config=B stalled_card=2", "config=D dead_card=3", "cards=4 bus=pcie reset_card=4", "size=1523",
        "size=9000 mtu=9000 fifo_kb=4",
        "own_addresses=true bus=pcie", "host_path=true", "pcap=9= cards=9 max_cards=16",
        "fib_nodes=1 lpm_nodes=0", "updates_per_s=9 lpm_nodes=0", "updates_per_s=9 slow_path=true",
        "updates_per_s=9 dead_card=1", "updates_per_s=9 bus=pcie", "updates_per_s=9 own_addresses=true",
        "updates_per_s=9 bad_ip_every=9", "updates= updates_per_s=0",
        "reset_card=1", "bus=pcie reset_card=1 dead_card=2", "pcap= high=0.5",
        "bus=pcie fault=lost_completion", "bus=pcie host_path=true fault=null_address dma_timeout_us=20 read_latency_ns=20000",
        "bus=pcie host_path=true dma_timeout_us=20 read_latency_ns=20000",
        "bus=pcie fault=hostile_registers timeout_us=0", "bus=pcie reset_card=1 updates_per_s=9",
    ],
    "host-nic": [
        "shared_queues=true ports=1", "ports=2 migrate_us=5", "shared_queues=true ports=2 queue_ports=all migrate_us=5",
        "shared_queues=true ports=2 queue_ports=all scheduler=rate queue_limits_mbps=5",
        "shared_queues=true ports=2 port_gbps=10",
        "rx_queues=2 ports=4", "size=1600 mtu=1500", "fault=rx_null_address direction=tx", "fault=doorbell direction=rx",
        "dma_overtaken_us=20 read_jitter_ns=20000", "tags=512 pcie_interface=usplus", "tags=512 pcie_interface=usplus_plain",
        "read_kb=128 tx_ram_kb=64", "reset_every_us=5", "interrupt_us=5",
        "rx_mode=stream fault=rx_null_address", "rx_mode=stream interrupts=true", "rx_mode=stream header_split=true",
        "receive_coalescing=true rx_mode=stream", "receive_coalescing=true functions=2", "coalesce_us=20",
        "receive_coalescing=true shared_queues=true ports=2", "receive_coalescing=true coalescing_functions=1",
        "header_bytes=64", "tx_mode=stream size=9018",
        "tx_mode=stream restart_every=60", "tx_mode=stream recover=true", "steered_flows=2000",
        "tx_mode=stream scheduler=strict", "train=2 pcap=", "queue_rates=1 pcap=", "queue_rates=1 tx_queues=8192 size=64",
        "tx_mode=stream segments=2", "tx_mode=stream tx_push=frame", "tx_mode=stream fault=null_address",
        "ptp=true ports=2", "ptp=true mac_tx_ppm=50", "ptp=true scheduler=drr", "ptp=true reset_at_us=9", "ptp_load=false",
        "tso=true scheduler=drr", "tso=true tx_ram_kb=64", "tso=true tx_mode=stream", "tso_kb=8",
        "ptp=true ptp_residence_ns=18000", "ptp=true ptp_settle_us=160",
        "ptp=true tso=true", "traffic=tcp ports=2", "traffic=tcp train=2", "traffic=tcp ptp=true",
        "pcap=2= ports=2", "rcb=128 completion_bytes=64",
        "functions=4 pcie_interface=ideal", "functions=4 interfaces=2", "functions=4 scheduler=drr queue_weights=1,2",
        "functions=64 ports=2 rx_queues=64",
        "function_filter=true", "functions=4 function_vlans=7", "functions=64 rx_queues=32", "functions=4 tx_mode=stream",
        "functions=4 size=64 fault=doorbell", "hostile_function=true", "function_reset_at_us=9",
        "ptp=true vlan_tags=true", "port_gbps=25 line_gbps=10", "dma_timeout_us=20 read_latency_ns=20000",
        "dma_timeout_us=20 read_wake_ns=20000", "dma_timeout_us=20 read_tail_ns=20000 read_tail_ppm=1000000",
        "fault=surprise_removal",
        "rx_ring=32768", "tx_ring=32768", "rx_mode=stream rx_ring=512",
    ],
    "pcie-bench": ["size=4096 window_kb=64", "pcap=2=", "rcb=128 completion_bytes=64"],
    "tile-router": [
        "pcap=2= version=V",
        "own_addresses=true version=IV linecards=3", "own_addresses=true timed=true version=V",
        "rewrite_mac=true version=III.d", "updates_per_s=9 version=null", "updates_per_s=9 version=V own_addresses=true",
        "updates_per_s=9 version=V bad_ip_every=9", "updates_per_s=9 version=I linecards=3 full_queue=discard",
        "updates_per_s=9 version=V pcap=", "updates= updates_per_s=0", "pcap= pattern=hotspot", "pcap= prefix_length=9",
        "routes= version=null",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", system.names())
def test_refused_before_anything_is_built(name, capsys, monkeypatch, tmp_path):
    """Each condition is met by one of these (of live traffic and of guests: elsewhere); the line has what meets."""
    monkeypatch.setattr(build, "build_system", lambda *a, **k: pytest.fail("built"))
    capture = write_pcap(tmp_path / "a.pcap", [bytes(60)])
    refusals = {x.why: x for x in system.load(name).refusals if not {"live", "linux"} & set(x.names)}
    met, options = set(), (*system.FACTS, *shapes.OPTIONS, "rate")
    for settings in REFUSED[name]:
        given = dict(x.split("=", 1) for x in settings.split())
        words = [
            word
            for option, x in given.items()
            for word in (
                [f"--{option}", f"{x}{capture}" if option in ("pcap", "routes", "updates") else x]
                if option in options
                else ["--set", f"{option}={x}"]
            )
        ]
        assert main(["run", name, *words]) == 2
        line = capsys.readouterr().err
        assert line.startswith("emery: ") and line.count("\n") == 1
        why = line.strip().split(": ", 2)[2]
        shown = {f"{option}={x}" for option, x in given.items() if option in refusals[why].names and x}
        assert (
            shown and all(x in line for x in shown) or any(x in line for x in ("longest", "pcap", "port=", "gbps=", "shape="))
        )
        met.add(why)
    assert met == set(refusals)


IDLE = {
    "capture": [
        "read_tail_ns=9", "read_tail_ppm=9", "link_stall_at_us=9", "fault_link=0", "link_back_at_us=9", "bad_fcs_every=9",
    ],
    "core-nic": [
        "fault_frame=9", "reset_kind=function", "reset_us=9", "stall_after_us=9", "firmware=locks firmware_image=a.elf",
        "bad_fcs_every=9 direction=tx", "runt_every=9 direction=tx", "oversize_every=9 direction=tx",
        "drop_udp_port=9 direction=tx firmware=filter", "receive_queues=2 direction=tx firmware=balance",
        "receive_slots=32 direction=tx", "send_ring=64 direction=rx", "segments=1 direction=rx",
        "payload_offset=9 direction=rx",
        "pcie_gen=2 interconnect=ideal", "pcie_lanes=4 interconnect=ideal", "link_latency_ns=99 interconnect=ideal",
        "write_ns=9 interconnect=ideal", "read_latency_ns=9 interconnect=ideal", "read_jitter_ns=9 interconnect=ideal",
        "read_tail_ns=9", "read_tail_ppm=9", "read_wake_ns=9 interconnect=ideal",
    ],
    "direct-router": [
        "cards=4 config=F", "pattern=uniform config=A", "bus_mhz=133 bus=pcie", "arbiter=flat bus=pcie",
        "pcie_interface=ptile", "pcie_gen=2", "pcie_lanes=4", "pcie_speed=0.5", "mps=128", "link_latency_ns=99",
        "credits_ph=9", "credits_pd=99", "credits_nph=9", "switch_latency_ns=9",
        "cpu_ns=9 bus=pcie", "read_latency_ns=9 bus=pcie", "ring=8 bus=pcie", "tx_batch=8 bus=pcie",
        "output_round_robin=true bus=pcie", "output_round_robin=true slow_path=true", "message_bytes=16 slow_path=true",
        "res_min=9 config=A", "rewrite_source=true slow_path=true", "qos=false classes=1",
        "mac=any", "mac=own bad_ip_every=9", "icmp_rate=9", "icmp_burst=9",
        "tx_prefetch=8 bus=pcie host_path=true", "fib_latency_ns=9", "fib_load=bus", "retry_us=9 timeout_us=0",
        "dead_at_us=9", "stall_at_us=9", "stall_us=9", "stalled_card=1",
        "dma_timeout_us=99 bus=pcie", "dma_overtaken_us=99 bus=pcie",
        "fault_card=1", "fault_frame=9 bus=pcie fault=hostile_registers",
        "reset_at_us=9", "reset_every_us=9", "reset_us=9", "reset_kind=function",
    ],
    "host-nic": [
        "fault_frame=9", "reset_kind=function", "reset_us=9", "read_tail_ns=9", "read_tail_ppm=9",
        "bad_fcs_every=9 direction=tx", "runt_every=9 direction=tx", "oversize_every=9 direction=tx",
        "steered_flows=9 direction=tx", "burst=2 direction=rx", "segments=2 direction=rx", "tx_checksum=true direction=rx",
        "hostile_reset_us=9", "burst=2 tx_mode=stream",
        "queue_burst_kb=9", "tdma_open_ns=9", "tdma_close_ns=9 scheduler=rate", "tx_window_kb=9", "fault_us=9 fault=doorbell",
        "ptp_us=99 ptp=true", "ptp_settle_us=9999", "ptp_interval_us=9", "ptp_gain=2", "ptp_master_ppb=9", "ptp_switch_ppb=9",
        "ptp_slave_ppb=9", "ptp_wander_ppb=9", "ptp_cable_ns=9", "ptp_residence_ns=999", "ptp_switch_stamp_ns=9",
        "tcp_window_kb=99", "tcp_rto_us=999", "tcp_delay_us=9.0", "tcp_cpus=9", "tcp_ns_per_segment=9", "tcp_ns_per_kb=9",
    ],
    "pcie-bench": ["read_tail_ns=9", "read_tail_ppm=9", "engine_write_ns=9 direction=tx", "engine_delay_ns=8 direction=rx"],
    "tile-router": [
        "held_over=gdn version=V", "control_rate=9", "icmp_rate=9", "icmp_burst=9",
        "mac=any", "mac=own bad_ip_every=9", "mac=any version=null bad_ip_every=9",
        "pattern=hotspot version=null", "prefix_length=9 version=null",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", system.names())
def test_what_would_do_nothing_is_refused(name):
    """Each parameter with a condition is met by one of these, which is taken where it is what it is in any case."""
    target, met = system.load(name), {"host_path"}  # refused with words of its own

    def taken(settings, work):
        work.judge(target, target.values(settings))

    for settings in IDLE.get(name, []):
        first, *others = (x for x in settings.split() if not x.startswith("direction="))
        options = dict(x.split("=") for x in settings.split() if x.startswith("direction="))
        work, idle = workload(target, options), first.partition("=")[0]
        with pytest.raises(UserError, match=f"^{first}.*: {idle} does nothing unless "):
            taken([first, *others], work)
        default = target.parameters[idle].default
        taken([f"{idle}={str(default).lower()}", *others], work)
        assert target.effective([first, *others], work.facts()) == others
        met.add(idle)
    assert met - {"host_path"} == {x.name for x in target.parameters.values() if x.idle} - {"host_path"}


@pytest.mark.parametrize("name", system.names())
def test_rates_that_a_line_has_not_are_refused(name, capsys, monkeypatch):
    """Before anything is built, with the option and the least there is, which is taken."""
    monkeypatch.setattr(build, "build_system", lambda *a, **k: pytest.fail("built"))
    target = system.load(name)
    gbps = target.hook("line")(target.values())
    for rate, says in (("0.000001", "less than 1M"), (f"{gbps + 0.1:.1f}G", f"more than the line's {gbps:g}G")):
        for command in (["run"], ["sweep", "--over", "seed=1"]):
            assert main([*command[:1], name, *command[1:], "--size", "64", "--rate", rate]) == 2
            assert (line := capsys.readouterr().err).startswith(f"emery: --rate {rate}: {says}") and line.count("\n") == 1
        if "least" in line:
            least = line.split()[-1]
            workload(target, {"size": "64", "rate": least}).judge(target, target.values())
            assert 1e6 <= float(least) * gbps * 1e9 < 1.02e6


def test_compare_refuses_for_all_before_the_first_is_built(capsys, monkeypatch):
    monkeypatch.setattr(build, "build_system", lambda *a, **k: pytest.fail("built"))
    assert main(["compare", "host-nic", "direct-router", "--size", "64", "--rate", "5G"]) == 2
    assert capsys.readouterr().err == "emery: direct-router: --rate 5G: more than the line's 1G\n"


def test_what_a_choice_makes_of_others_is_not_refused(card):
    """It is no setting of the user's, where it does nothing."""
    text = """
[parameters.more]
default = 1
range = [0, 9]
help = ""
needs = "flows > 1"
[parameters.kind]
default = "plain"
choices = ["plain", "other"]
help = ""
sets = { other = { more = 2 } }
"""
    append(card / "system.toml", text)
    target, one = system.load(str(card)), {"flows": "1"}
    workload(target, one).judge(target, target.values(["kind=other"]))
    with pytest.raises(UserError, match="^more=3, flows=1: more does nothing unless flows > 1"):
        workload(target, one).judge(target, target.values(["kind=other", "more=3"]))
    workload(target, {"flows": "2"}).judge(target, target.values(["kind=other", "more=3"]))


def test_a_need_of_what_there_is_not(card):
    append(card / "system.toml", '[parameters.more]\ndefault = 1\nrange = [0, 9]\nhelp = ""\nneeds = "beats > 1"\n')
    with pytest.raises(UserError, match="parameter more: there is no beats that it needs"):
        system.load(str(card))


# ---------------------------------------------------------------- results


NEVER = {
    "capture": ["link_stall_at_us=900 link_stall_us=5"],
    "core-nic": ["stall_after_us=900 stall_us=5", "fault=lost_descriptor fault_frame=900", "reset_at_us=900.5"],
    "direct-router": ["dead_at_us=900 dead_card=1", "stall_at_us=900 stall_us=5 stalled_card=1"],
    "host-nic": ["fault=doorbell fault_frame=900", "reset_at_us=900.5"],
}
# Between the last frame and the end of the simulation, by this much behind the traffic.
LATE = {
    "capture": "link_stall_at_us={} link_stall_us=5",
    "core-nic": "stall_after_us={} stall_us=5",
    "direct-router": "dead_at_us={} dead_card=1",
    "host-nic": "function_reset_at_us={} functions=2",
}


@pytest.mark.parametrize(("name", "settings"), [(name, x) for name, all_ in NEVER.items() for x in all_])
def test_what_never_went_wrong_is_told(name, settings, tmp_path, capsys):
    """A run that is over before what was to go wrong in it says so; one in which it did does not."""
    words = [x for setting in settings.split() for x in ("--set", setting)]
    how = ["run", name, "--size", "64", "--frames", "40", "--json", str(tmp_path / "r.json")]
    assert main([*how, *words]) == 0, capsys.readouterr().err
    result, first = json.loads((tmp_path / "r.json").read_text()), settings.split()[0]
    (told,) = result["never"]
    assert told.removesuffix(".0") == first and f"never      {told}: the traffic was over before" in capsys.readouterr().out
    Draft202012Validator(result_schema(system.load(name))).validate(result)
    soon = first.replace("900.5", "0.1").replace("900", "5") if first[-1].isdigit() else "fault_frame=5"
    assert main([*how, *words, "--set", soon]) in (0, 1)
    assert "never" not in json.loads((tmp_path / "r.json").read_text())


@pytest.mark.parametrize("name", LATE)
def test_what_came_when_no_frame_was_left_is_told(name, tmp_path, capsys):
    """What goes wrong behind the last frame, though the simulation still runs, did nothing: it is told as well."""
    without = LATE[name].split()[1].partition("=")[2] if name == "host-nic" else ""
    how = ["run", name, "--size", "64", "--frames", "40", "--json", str(tmp_path / "r.json")]
    assert main([*how, *(["--set", f"functions={without}"] if without else [])]) == 0, capsys.readouterr().err
    result = json.loads((tmp_path / "r.json").read_text())
    at = math.ceil(1e6 * result["traffic_s"])
    assert 0 < at < 1e6 * result["simulated_s"]
    words = [x for setting in LATE[name].format(at).split() for x in ("--set", setting)]
    assert main([*how, *words]) == 0, capsys.readouterr().err
    (told,) = json.loads((tmp_path / "r.json").read_text())["never"]
    assert told.removesuffix(".0") == LATE[name].format(at).split()[0]


@pytest.mark.parametrize("name", system.names())
def test_the_schema_of_results(name, capsys):
    """Each entry has a unit; what nobody describes, and what is out of place, is against the schema."""
    assert main(["show", name, "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    target = system.load(name)
    assert all(set(x) == {"unit", "help"} and all(x.values()) for x in described(target).values())
    digest = {"digest": "0" * 64, "model": "0" * 64, "version": "1", "commit": "", "programs": {}, "inputs": {}}
    result = {
        "schema": 2,
        "system": name,
        "parameters": target.values(),
        "workload": {"size": "64"},
        "seed": 1,
        "identity": digest,
    }
    result |= body({"tx": stream(9)})
    against = Draft202012Validator(schema)
    against.validate(result)
    for wrong in (
        {"resources": {"nobody_knows": 1}},
        {"resources": {next(x for x in described(target) if "*" not in x and "." not in x): {}}},
        {"streams": {"tx": stream(9, mpps=-1.0)}},
        {"window": {"steady": True}},
        {"digest": "x"},
    ):
        assert not against.is_valid(result | wrong), wrong


def test_entries_of_resources():
    """Names come before patterns and patterns in their order; levels, lists and shared parts of the bench."""
    mine = system.load("capture")
    entry = {"unit": "x", "help": "y"}
    paths = {"a.b": entry, "a.*_max": entry, "a.c|d.*": entry, "e[].f": entry, "mac": "mac"}
    against = Draft202012Validator(
        result_schema(replace(mine, resources=paths))["properties"]["resources"] | {"$defs": {"value": {}}}
    )
    good = ({"a": {"b": 1}}, {"a": {"q_max": 1, "d": {"z": 1}}}, {"e": [{"f": 1}, {"f": 2}]}, {"mac": {"tx_frames": 1}})
    assert all(against.is_valid(x) for x in good)
    bad = ({"a": {"q": 1}}, {"e": [{"g": 1}]}, {"e": {"f": 1}}, {"f": 1}, {"a": {"d": 1}})
    assert not any(against.is_valid(x) for x in bad)


# ---------------------------------------------------------------- captures and numbers of frames, whole


@pytest.mark.parametrize("name", system.names())
def test_a_capture_is_played_whole(name, tmp_path, capsys):
    """However long the main job is. NICs play it each way; routers deal it to their ports by flow."""
    target, out = system.load(name), tmp_path / "result.json"
    frames = [udp(flow, number) for number in range(1500) for flow in [number * number % 41]]
    capture = write_pcap(tmp_path / "a.pcap", frames)
    words = ["--pcap", str(capture), "--json", str(out), "--rate", "0.05"]
    words += ["--set", "source=wire"] if "source" in target.parameters else []
    assert main(["run", name, *words]) == 0, capsys.readouterr().err
    ways = 2 if "direction" in target.options else 1
    result = json.loads(out.read_text())
    assert result["totals"]["offered"] == ways * len(frames)
    for port in ("64", "18446744073709551616"):  # which no system has
        assert main(["run", name, *words[2:], "--pcap", f"0={capture}", "--pcap", f"{port}={capture}"]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1 and (f"there is no port {port}" in line or "no such port" in line)
    Draft202012Validator(result_schema(target)).validate(result)  # and what is in it is described


@pytest.mark.parametrize("name", system.names())
def test_what_a_workload_says_is_no_parameter(name, tmp_path):
    """The simulator is told both as key=value."""
    capture, target = write_pcap(tmp_path / "a.pcap", [bytes(60)]), system.load(name)
    told = [{"pcap": [str(capture)], "timed": "2"}, {"size": "64", "frames": "9"}, {"size": "64", "duration": "1us"}]
    told += [{"size": "64", **dict.fromkeys(shapes.GENERATED, "1")}, {"size": "64", "arrivals": "poisson"}]
    names = {setting for options in told for setting in workload(target, options).settings()}
    assert len(names) > 11 and not names & (target.parameters.keys() | target.settings(target.values()).keys())


@pytest.mark.parametrize("name", system.names())
def test_as_many_frames_as_asked_for(name):
    """The main job's duration ends with what takes its place, and the other way round."""
    target = system.load(name)
    assert workload(target, {"frames": "5000"}).settings().get("duration_ps") is None
    assert workload(target, {"duration": "5ms"}).settings().get("frames") is None
    assert workload(target, {"frames": "5000"}).frames == 5000


@pytest.mark.parametrize("name", ["capture", "host-nic"])
def test_a_capture_of_what_the_card_finds_no_ports_in(name, tmp_path, capsys):
    """Of one 5-tuple with IP options and without, with tags and without, and short: no order between them, in each there is."""
    frames = []
    for number in range(200):
        plain = bytearray(udp(3, number))
        optional = bytearray(plain[:34] + bytes.fromhex("94040000") + plain[34:])
        optional[14] = 0x46
        ip6 = bytes.fromhex("86dd6000000000081140") + plain[26:30] * 8 + plain[34:42]
        tags = bytes.fromhex("88a8000181000002")
        frames += [plain, plain[:36], optional, plain[:12] + ip6, plain[:12] + tags + ip6]
    words = ["--pcap", str(write_pcap(tmp_path / "a.pcap", [bytes(x) for x in frames])), "--json", str(tmp_path / "r.json")]
    words += ["--set", "source=wire"] if name == "capture" else ["--direction", "rx"]
    assert main(["run", name, *words]) == 0, capsys.readouterr().err
    assert json.loads((tmp_path / "r.json").read_text())["totals"]["delivered"] == 1000


def udp(flow, number):
    """A frame of 60 bytes, with right checksums, from one of some addresses."""
    payload = number.to_bytes(18, "big")
    ip = bytearray.fromhex("4500002e000040004011000000000000ac100000")
    ip[12:16] = bytes([10, 0, flow, 7])
    ip[16:20] = bytes([20, flow, 3, 9])
    total = sum(int.from_bytes(ip[x : x + 2], "big") for x in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip[10:12] = (total ^ 0xFFFF).to_bytes(2, "big")
    return bytes.fromhex("020000000002020000000001") + b"\x08\x00" + bytes(ip) + bytes.fromhex("04000401001a0000") + payload

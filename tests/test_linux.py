# SPDX-License-Identifier: Apache-2.0
"""A real Linux drives host-nic: the kernel module, guests in simulated time, `./emery linux`."""

import json
import os
import re
import shutil
import subprocess

import pytest
import scapy.utils
from guests import WRONG, guest, lines, needs, needs_linux

from emery.cli import main
from emery.guest import run
from emery.make import linux


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--"],
        ["true"],
        ["--guests", "9", "--", "true"],
        ["--guests", "1", "--switch", "--", "true"],
        ["--switch", "speed=1", "--", "true"],
        ["--switch", "latency=1us,latency=2us", "--", "true"],
        ["--switch", "queue=64", "--", "true"],
        ["--card", "capture", "--switch", "--", "true"],
        ["--card", "capture", "--trace", "x.jsonl", "--", "true"],
        ["--set", "vlan_tags=true", "--trace", "x.jsonl", "--", "true"],
        ["--trace", "x.txt", "--", "true"],
        ["--json", "/nowhere/x", "--", "true"],
        ["--set", "nothing=1", "--", "true"],
        ["--guests", "1", "--peer", "true", "--", "true"],
        ["--guests", "3", *3 * ["--peer", "true"], "--", "true"],
    ],
)
def test_refuses(capsys, words):
    assert main(["linux", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_missing_packages_are_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(linux, "SOURCE", tmp_path / "linux-source-6.1.tar.xz")
    assert main(["linux", "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "apt-get install -y" in said and "linux-source-6.1" in said


@needs_linux
def test_the_module_builds_without_a_warning():
    module, log = linux.build_module(run.systems()[0], ("W=1",))
    assert module.name == "emery_host_nic.ko" and "warning" not in log.lower(), log


@needs("sparse", "sparse")
@pytest.mark.parametrize("system", run.systems(), ids=lambda x: x.name)
def test_sparse_finds_nothing(system):
    """Byte orders, address spaces, locks."""
    _, log = linux.build_module(system, ("W=1", "C=2"))
    assert "CHECK" in log and "warning" not in log.lower(), log


@needs_linux
def test_status_and_output_of_a_command(capfdbinary):
    script = "ip link show eth0; rmmod emery_host_nic && insmod /card.ko && ip link show eth0 | head -1; echo wrong >&2; exit 3"
    status, out, err = guest(capfdbinary, "--guests", "1", "--", "sh", "-c", script)
    assert status == 3 and err == "wrong\n"
    assert "UP,LOWER_UP" in out and "02:00:00:00:00:01" in out
    assert out.count("eth0") == 2, "unloaded and loaded again"


@needs_linux
def test_ping_between_two_kernels(capfdbinary, tmp_path):
    """Over two cards and a wire; simulated time, so the same words once more."""
    seen = []
    for name in ("a", "b"):
        status, out, _ = guest(capfdbinary, "--pcap-out", str(tmp_path / name), "--", "ping", "-c", "3", "10.0.0.2")
        assert status == 0 and "3 packets received, 0% packet loss" in out
        heads = [x[:18] for x, _ in scapy.utils.RawPcapReader(str(tmp_path / name / "wire.pcap"))]  # to IPv4's length
        seen.append((out, [x for x in heads if x[12:14] != b"\x86\xdd"]))
    assert seen[0] == seen[1]


@needs_linux
@pytest.mark.skipif(subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode, reason="no fixed addresses here")
def test_a_seed_gives_the_same_wire(capfdbinary, tmp_path):
    """TCP's numbers and ports, IPv6's own frames, and when each goes; other ones by another seed."""
    script = "head -c 100000 /bin/busybox | nc 10.0.0.2 7 | wc -c; sleep 3"
    wires = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        words = ("--seed", str(seed), "--pcap-out", str(tmp_path / name))
        assert guest(capfdbinary, *words, "--", "sh", "-c", script)[:2] == (0, "100000\n")
        wires.append((tmp_path / name / "wire.pcap").read_bytes())
    assert wires[0] == wires[1] != wires[2]
    assert {x[12:14].hex() for x, _ in scapy.utils.RawPcapReader(str(tmp_path / "a/wire.pcap"))} == {"0800", "0806", "86dd"}


@needs_linux
def test_bytes_come_back_as_they_were_sent(capfdbinary):
    """TCP echo of the other kernel: 300 kB both ways through checksums, rings more than once around, all queues."""
    script = "head -c 300000 /bin/busybox >sent; nc 10.0.0.2 7 <sent >got; cmp sent got && wc -c <got && ifconfig eth0"
    status, out, _ = guest(capfdbinary, "--", "sh", "-c", script)
    assert status == 0 and out.startswith("300000\n"), out
    assert all(f"{way} packets:" in out for way in ("RX", "TX")) and out.count("errors:0 dropped:0") == 2, out


@needs_linux
def test_three_kernels_and_a_switch(capfdbinary, tmp_path):
    """All reach all; each frame is accounted for: in the switch's counts, the trace, and the machines' memory. What two send to
    one at once is more than its port takes: dropped, counted, and sent again by TCP."""
    flood = "head -c 300000 /bin/busybox | nc 10.0.0.1 9"
    send = f"until [ -e /host/go ]; do sleep 0.01; done; {flood}; : >/host/done$guest"
    others = ["--peer", f"ping -c 1 10.0.0.3; {send}", "--peer-log", str(tmp_path / "two"), "--peer", send]
    script = lines("""
        for n in 2 3; do
        ping -c 1 10.0.0.$n; done
        nc -ll -p 9 -e wc -c >got &
        until grep -q :0009 /proc/net/tcp /proc/net/tcp6; do sleep 0.001; done
        : >/host/go
        for n in 1 2; do
        until [ -e /host/done$n ]; do sleep 0.01; done; done
        """)
    trace, result = tmp_path / "trace.jsonl", tmp_path / "result"
    words = ["--guests", "3", "--switch", "latency=2us,queue=4k", "--trace", str(trace), "--json", str(result), *others]
    status, out, err = guest(capfdbinary, *words, "--", "sh", "-c", script)
    assert status == 0 and out.count("0% packet loss") == 2, out + err
    assert "1 packets received" in (tmp_path / "two").read_text()
    said = json.loads(result.read_text())
    ports = said["switch"]["ports"]
    assert said["switch"]["addresses"] == 3 and [x["frames_in"] for x in ports] == [
        x["mac"]["tx_frames"] for x in said["cards"]
    ]
    records = [json.loads(x) for x in trace.read_text().splitlines()]
    for number, port in enumerate(ports):
        own = [x for x in records if x["stream"].endswith(f"->{number}")]
        lost = [x for x in own if x["reason"] == "switch_queue_full"]
        assert (port["frames_out"], port["dropped"]) == (len(own) - len(lost), len(lost)) and port["most_waiting_bytes"] <= 4096
    assert ports[0]["dropped"] > 0 and sum(x["flooded"] for x in ports) > 0
    assert {x["stream"] for x in records} == {f"{a}->{b}" for a in range(3) for b in range(3) if a != b}
    took = [x["at"]["cpl_write"] - x["at"]["cmac_tx"] for x in records if x["outcome"] == "delivered"]
    assert len(took) > 0.9 * len(records) and min(took) > 2300 and max(took) < 10_000
    assert main(["trace", str(trace)]) == 0 and b"switch_queue_full" in capfdbinary.readouterr().out


@needs("iperf3", "iperf3")
def test_iperf3_both_ways(capfdbinary, tmp_path):
    """Over a wire, with segmentation by the card; and where a frame was, to the guests' memory."""
    trace = tmp_path / "trace.jsonl"
    script = "iperf3 -c 10.0.0.2 -n 1M && iperf3 -R -c 10.0.0.2 -n 1M"
    status, out, err = guest(capfdbinary, "--set", "tso=true", "--trace", str(trace), "--", "sh", "-c", script)
    assert status == 0 and out.count("iperf Done.") == 2, out + err
    records = [json.loads(x) for x in trace.read_text().splitlines()]
    long = [x["stream"] for x in records if x["bytes"] == 1518]
    assert min(long.count("0->1"), long.count("1->0")) > 500  # of 718: what was written when it ends may stay there
    assert {x["outcome"] for x in records if x["bytes"] == 1518} == {"delivered"}


@needs("ethtool", "ethtool")
def test_ethtool_sees_and_sets(capfdbinary):
    script = [
        "ethtool -C eth0 rx-usecs 12",
        "ethtool -c eth0 | grep ^rx-usecs:",
        "ethtool -X eth0 weight 1 0 3 0",
        "ip link set eth0 down",
        "ip link set eth0 up",
        "ethtool -x eth0",
        "ethtool -n eth0 rx-flow-hash udp6 | wc -l",
        "ping -q -c 2 10.0.0.2 >/dev/null",
        "ethtool -S eth0 --groups eth-mac | grep OK",
        "echo sized; ping -q -c 3 -s 1000 10.0.0.2 >/dev/null; ethtool -S eth0 --groups rmon",
        "ethtool -I -a eth0",
        "ethtool -C eth0 rx-usecs 20000000 2>/dev/null || echo too long",
    ]
    status, out, err = guest(capfdbinary, "--", "sh", "-c", "; ".join(script))
    assert status == 0, err
    assert "rx-usecs: 12\n" in out and "too long" in out and "\n6\n" in out, out
    rows = [line.split()[1:] for line in re.findall(r"^ *\d+: .*", out, re.MULTILINE)]
    dealt = [int(x) for row in rows for x in row]
    assert {x: dealt.count(x) / len(dealt) for x in set(dealt)} == {0: 0.25, 2: 0.75}
    assert all(int(x) >= 2 for x in re.findall(r"mac-Frames(?:Transmitted|Received)OK: (\d+)", out)) and "ReceivedOK" in out
    sized = out[out.index("sized\n") :]
    assert re.findall(r"([rt]x)-rmon-etherStatsPkts1024to1518Octets: 3\n", sized) == ["rx", "tx"]
    assert len(re.findall(r"rmon-etherStatsPkts\d+to\d+Octets", sized)) == 14 and "Pkts1519to9220Octets: 0\n" in sized
    assert "tx_pause_frames: 0\n" in sized and "rx_pause_frames: 0\n" in sized


@needs("ethtool", "ethtool")
def test_ethtool_changes_the_number_of_queues(capfdbinary):
    """Down, up, and in the middle of a connection; not below what a flow or the user's own table needs."""
    flow = "flow-type tcp4 src-ip 10.0.0.2 dst-ip 10.0.0.1 src-port 7 dst-port 5001"
    script = f"""
        ip link set eth0 down; rmmod emery_host_nic; insmod /card.ko queues=7; ip addr add 10.0.0.1/24 dev eth0
        ethtool -L eth0 combined 3 && ip link set eth0 up
        ethtool -x eth0 | head -1; grep -c eth0- /proc/interrupts; ls /sys/class/net/eth0/queues
        head -c 100000 /bin/busybox >part; cat part part >sent
        {{ cat part; sleep 0.01; cat part; }} | nc 10.0.0.2 7 >got & sleep 0.0001; ethtool -L eth0 combined 2
        [ $(wc -c <got) = 200000 ] || echo midway
        ethtool -L eth0 combined 6; wait; cmp sent got && echo same
        ethtool -x eth0 | head -1; grep -c eth0- /proc/interrupts
        ethtool -L eth0 combined 8 || echo too many
        ethtool -N eth0 {flow} action 5 loc 9; ethtool -L eth0 combined 5 || echo a flow needs it
        ethtool -N eth0 delete 9; ethtool -X eth0 weight 0 0 1; ethtool -L eth0 combined 2 || echo the table needs it
        ethtool -X eth0 default; ethtool -L eth0 combined 1 && ethtool -l eth0 | tail -2
        ip link set eth0 address 02:11:22:33:44:55; ping -q -c 1 10.0.0.2 | grep received
        ethtool -S eth0 | grep -E "e_settings_refused|tx6_card_packets|xdp_refused" | sort -u
        """
    status, out, err = guest(capfdbinary, "--", "sh", "-c", script)
    assert status == 0 and "same\n" in out and "midway\n" in out, out + err
    assert re.findall(r"with (\d+) RX ring.*\n", out) == ["3", "6"] and "3\ntx-0\ntx-1\ntx-2\n" in out, out
    assert all(out.count(x) == 1 for x in ("too many", "a flow needs it", "the table needs it", "Combined:\t1\n")), out + err
    assert "1 packets received" in out and "device_settings_refused: 0\n" in out and "interface_settings_refused: 0\n" in out, (
        out
    )
    assert "tx6_card_packets: 0\n" in out, "counters of all queues that there may be"


@needs("ethtool", "ethtool")
def test_a_flow_goes_to_its_queue(capfdbinary):
    """By a rule that outlives the interface going down and another key of the hash; others like it are refused."""
    flow = "src-ip 10.0.0.2 dst-ip 10.0.0.1 src-port 7 dst-port 5001"
    script = [
        "echo 5001 5001 >/proc/sys/net/ipv4/ip_local_port_range",
        "ethtool -X eth0 equal 1",
        f"ethtool -N eth0 flow-type tcp4 {flow} action 3 loc 9",
        f"ethtool -N eth0 flow-type tcp4 {flow} action 2 loc 3",
        f"ethtool -N eth0 flow-type udp4 {flow} action 4 loc 4",
        "ethtool -N eth0 flow-type tcp4 src-ip 10.0.0.2 action 2 loc 5",
        "ip link set eth0 down",
        "ip link set eth0 up",
        "ethtool -X eth0 hkey $(seq -s: 10 49)",
        "ethtool -n eth0",
        "head -c 60000 /bin/busybox >sent",
        "nc 10.0.0.2 7 <sent | cmp sent - && echo same",
        "grep eth0-3 /proc/interrupts",
        "ethtool -N eth0 delete 9",
        "ethtool -n eth0",
    ]
    status, out, err = guest(capfdbinary, "--", "sh", "-c", "; ".join(script))
    assert status == 0 and "same\n" in out, err
    assert all(x in err for x in ("File exists", "Invalid argument", "Operation not supported")) and err.count("\n") == 3
    assert out.count("Filter: 9\n") == 1 and "Direct to queue 3" in out and "Total 0 rules" in out, out
    assert int(re.search(r"\d+: +(\d+) .*eth0-3", out)[1]) > 10, out


@needs_linux
def test_the_card_cuts_what_tcp_sends(capfdbinary, tmp_path):
    """Both ways, of IPv4 and IPv6: no frame is longer than the MTU, what comes back is what was sent."""
    echo = "for to in 10.0.0.2 fd00::2; do nc $to 7 <sent >got; cmp sent got && wc -c <got; done"
    script = f"head -c 300000 /bin/busybox >sent; {echo}; ifconfig eth0"
    peer = ["--peer", "ip -6 addr add fd00::2/64 dev eth0"]
    settings = ["--set", "tso=true", "--pcap-out", str(tmp_path)]
    script = "ip -6 addr add fd00::1/64 dev eth0; sleep 3; " + script
    status, out, err = guest(capfdbinary, *settings, *peer, "--", "sh", "-c", script)
    assert status == 0 and out.startswith("300000\n300000\n"), out + err
    assert out.count("errors:0 dropped:0") == 2, out
    frames = [x for x, _ in scapy.utils.RawPcapReader(str(tmp_path / "wire.pcap"))]
    assert max(map(len, frames)) == 1514
    assert sum(len(x) == 1514 and x[12:14] == kind for x in frames for kind in (b"\x08\x00", b"\x86\xdd")) > 700


@needs("ethtool", "ethtool")
def test_ethtool_turns_segmentation_off_and_on(capfdbinary):
    """Few packets for many frames; none is cut once it is off."""
    send = "nc 10.0.0.2 7 <sent >got; cmp sent got; ethtool -S eth0 | grep -E 'tx_(packets_phy|segmented)'"
    script = [
        "head -c 300000 /bin/busybox >sent",
        "ethtool -k eth0 | grep -E '^tcp-segmentation|tx-tcp6'",
        send,
        "ethtool -K eth0 tso off",
        send,
    ]
    status, out, err = guest(capfdbinary, "--set", "tso=true", "--", "sh", "-c", "; ".join(script))
    assert status == 0, err
    assert "tcp-segmentation-offload: on" in out and "tx-tcp6-segmentation: on" in out, out
    frames, packets = ([int(x) for x in re.findall(rf"tx_{name}: (\d+)", out)] for name in ("packets_phy", "segmented"))
    assert frames[0] > 200 and 10 <= packets[0] < frames[0] / 3, out
    assert packets[1] == packets[0] and frames[1] > frames[0] + 200, out


@needs("ptp4l", "linuxptp")
def test_ptp4l_steers_the_card(capfdbinary, tmp_path):
    """By stamps that the cards take, from half a second off. Where nothing moves the cards' clocks stand still (docs/linux.md):
    from one Sync to the next some 60 us, so these come often, and the servo's gains are those of such an interval."""
    said = tmp_path / "peer"
    often = "-i eth0 -2 -m --logAnnounceInterval -3 --logSyncInterval -7 --logMinDelayReqInterval -7"
    gains = "--pi_proportional_const 90 --pi_integral_const 256 --pi_integral_norm_max 2"
    script = f"phc_ctl eth0 adj 0.5 >/dev/null; timeout 1.3 ptp4l {often} -s {gains} --summary_interval -7"
    peer = ["--peer", f"ptp4l {often} --masterOnly 1", "--peer-log", str(said)]
    status, out, err = guest(capfdbinary, *peer, "--", "sh", "-c", script)
    assert status == 0, err  # of SIGTERM ptp4l ends well
    assert "assuming the grand master role" in said.read_text()
    seen = [(int(offset), state) for offset, state in re.findall(r"master offset +(-?\d+) (s\d)", out)]
    assert abs(seen[0][0]) > 400_000_000 and [x for _, x in seen].count("s2") > 20, out
    assert max(abs(offset) for offset, state in seen if state == "s2") < 50, out


@needs("tc", "iproute2")
def test_tc_shapes_and_filters(capfdbinary):
    """Delay, rate, bands by a filter, classes of queues, a drop on the way in. The shell would take busybox's `tc`."""
    echo = "nc 10.0.0.2 7 <sent | cmp sent - && echo same"
    script = f"""
        tc={os.path.realpath(shutil.which("tc"))}; head -c 100000 /bin/busybox >sent
        $tc qdisc add dev eth0 root netem delay 3ms && ping -q -c 3 10.0.0.2 | grep round
        $tc qdisc replace dev eth0 root tbf rate 800mbit burst 4k latency 50ms && {echo}; $tc -s qdisc show dev eth0
        $tc qdisc replace dev eth0 root handle 1: prio bands 3
        $tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 7 0xffff flowid 1:3 && {echo}
        $tc -s class show dev eth0
        $tc qdisc replace dev eth0 root mqprio num_tc 2 map 0 1 queues 1@0 3@1 hw 0 && {echo}; $tc qdisc del dev eth0 root
        $tc qdisc add dev eth0 clsact; $tc filter add dev eth0 ingress protocol ip flower ip_proto icmp action drop
        ping -q -c 2 -W 1 10.0.0.2 | grep received; $tc -s filter show dev eth0 ingress | grep Sent
        $tc filter del dev eth0 ingress; ping -q -c 2 10.0.0.2 | grep received
        """
    status, out, err = guest(capfdbinary, "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 3, out + err
    assert 3 < float(re.search(r"min/avg/max = ([0-9.]+)", out)[1]) < 3.2, out
    assert re.search(r"qdisc tbf.*\n Sent (\d+)", out) and int(re.search(r"qdisc tbf.*\n Sent (\d+)", out)[1]) > 100_000, out
    assert int(re.search(r"class prio 1:3 .*\n Sent (\d+)", out)[1]) > 100_000, out
    assert re.findall(r"(\d) packets received", out) == ["0", "2"] and "Sent 168 bytes 2 pkt (dropped 2," in out, out


# Frames of 60 bytes to UDP port 9 of the first guest, through all queues.
FLOOD = lines("""
    echo add_device eth0 >/proc/net/pktgen/kpktgend_0
    for x in 'count 1000' 'pkt_size 60' 'burst 8' 'delay 0' 'dst 10.0.0.1' 'dst_mac 02:00:00:00:00:01' 'queue_map_max 3'; do
    echo $x >/proc/net/pktgen/eth0; done
    for x in 'udp_dst_min 9' 'udp_dst_max 9' 'udp_src_min 1' 'udp_src_max 999' 'flag UDPSRC_RND'; do
    echo $x >/proc/net/pktgen/eth0; done
    for n in 1 2 3 4; do
    until [ -e /host/go$n ]; do sleep 0.01; done
    echo start >/proc/net/pktgen/pgctrl
    grep -o 'sofar: [0-9]*' /proc/net/pktgen/eth0 >/host/sofar
    mv /host/sofar /host/sent$n; done
    """)


def counted(out, name):
    """Of the lines of `ethtool -S` with this name, that of any queue for N: each sum, and how many of the queues had any."""
    found = [int(x) for x in re.findall(rf"\b{name.replace('N', '[0-9]+')}: (\d+)", out)]
    return sum(found), sum(x != 0 for x in found)


def test_wrong_is_found():
    """What a kernel says when a module leaks."""
    assert WRONG.search("unreferenced object 0x61a0 (size 64):") and not WRONG.search("eth0: link becomes ready")


@needs("ethtool", "ethtool")
def test_xdp_programs(capfdbinary, tmp_path):
    """Each verdict for the frames of a flood, which are all counted; what is not its concern comes through, whole."""
    flood = "{ : >/host/go%d; until [ -e /host/sent%d ]; do sleep 0.01; done; cat /host/sent%d; ethtool -S eth0; }"
    script = lines(f"""
        head -c 100000 /bin/busybox >sent
        xdp eth0 drop udp 9
        nc 10.0.0.2 7 <sent >got &
        {flood % (1, 1, 1)}
        wait; cmp sent got && echo same
        xdp eth0 tx udp 9
        {flood % (2, 2, 2)}
        xdp eth0 redirect eth0 udp 9
        {flood % (3, 3, 3)}
        ip link set eth0 mtu 4000 || echo no such MTU
        xdp eth0 aborted udp 9
        {flood % (4, 4, 4)}
        xdp eth0 tag 5
        ip link add link eth0 name eth0.5 type vlan id 5
        ip link set eth0.5 up
        arping -q -c 1 10.0.0.2; ifconfig eth0.5
        xdp eth0 cpu 0
        nc 10.0.0.2 7 <sent | cmp sent - && echo same
        ethtool -S eth0 | grep redirect
        xdp eth0 off
        ip link set eth0 mtu 4000
        xdp eth0 pass
        rmmod emery_host_nic
        """)
    log = tmp_path / "log"
    settings = ["--pcap-out", str(tmp_path), "--kernel-log", str(log), "--peer", FLOOD]
    status, out, err = guest(capfdbinary, *settings, "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 2 and "no such MTU\n" in out, out + err
    assert err.count("\n") == 2 and "XDP needs frames that fit into a page" in err and "SIOCSIFMTU" in err, err
    dropped, sent_back, redirected, aborted = out.split("NIC statistics:\n")[1:5]
    # A burst of pktgen's that a full queue cuts short makes it send up to one burst more than its count.
    drop, back, forth, abort = sent = [int(x) for x in re.findall(r"sofar: (\d+)", out)]
    assert all(1000 <= x < 1008 for x in sent), sent
    assert counted(dropped, "rxN_xdp_drop") == (drop, 4) and counted(dropped, "rxN_xdp_pass")[0] > 60, dropped
    assert counted(sent_back, "rxN_xdp_tx") == (back, 4), sent_back
    assert counted(redirected, "rxN_xdp_redirect") == (forth, 4) and counted(redirected, "txN_xdp_xmit")[0] == forth, redirected
    assert counted(aborted, "rxN_xdp_aborted")[0] == abort, aborted
    for name in ("rxN_xdp_failed", "txN_xdp_refused", "rx_no_descriptor"):
        assert counted(aborted, name)[0] == 0, aborted
    # Pages of dropped frames are used again.
    assert counted(aborted, "rx_pp_alloc_slow")[0] < 300 and counted(aborted, "rx_pp_recycle_cached")[0] >= 3000, aborted
    assert counted(out.rpartition("same\n")[2], "rxN_xdp_redirect")[0] > 1060
    assert int(re.search(r"eth0\.5.*?RX packets:(\d+)", out, re.DOTALL)[1]) >= 1, out
    frames = [x for x, _ in scapy.utils.RawPcapReader(str(tmp_path / "wire.pcap")) if x[12:14] == b"\x08\x00" and x[23] == 17]
    ways = [(x[:6].hex(), x[6:12].hex()) for x in frames if x[36:38] == b"\x00\x09"]
    theirs, ours = "020000000002", "020000000001"
    assert (ways.count((ours, theirs)), ways.count((theirs, ours))) == (
        sum(sent) + forth,
        back,
    )  # those redirected are as they were
    assert not WRONG.search(log.read_text())


@needs("devlink", "iproute2")
def test_an_error_is_reported_and_recovered(capfdbinary, tmp_path):
    """A read of the card's is never answered: its queue stops. It stays so if the user wants it; else TCP goes on by itself."""
    send = "head -c 100000 /bin/busybox >sent; nc 10.0.0.2 7 <sent >got &"
    dev = "pci/0000:00:00.0"
    script = lines(f"""
        devlink dev info
        devlink health set {dev} reporter rx auto_recover false
        devlink health set {dev} reporter tx auto_recover false
        {send}
        sleep 0.01
        devlink health
        for way in tx rx; do
        devlink health diagnose {dev} reporter $way; done
        for way in tx rx; do
        devlink health recover {dev} reporter $way; done
        wait; cmp sent got && echo same
        devlink health
        """)
    log = tmp_path / "log"
    settings = ["--set", "fault=lost_completion", "--set", "fault_frame=30", "--kernel-log", str(log)]
    status, out, err = guest(capfdbinary, *settings, "--", "sh", "-c", script)
    assert status == 0 and "same\n" in out, out + err
    assert "driver emery_host_nic" in out and "serial_number 02-00-00-ff-fe-00-00-01" in out and "registers 1.0" in out, out
    before, after = out.split("same\n")
    assert before.count("state error error 1 recover 0") == 1 and before.count("stopped: true error: 6") == 1, out
    assert after.count("state healthy error 1 recover 1") == 1 and after.count("state healthy error 0 recover 0") == 1, out
    assert log.read_text().count("set up anew") == 1 and not WRONG.search(log.read_text())

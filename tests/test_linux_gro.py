# SPDX-License-Identifier: Apache-2.0
"""Receive coalescing of the kernel module (rx-gro-hw): what TCP gets, what is forwarded, what goes with it."""

import os
import re
import shutil
import struct

import scapy.utils
from guests import HELD, WRONG, guest, lines, needs

JOINS = ["--set", "receive_coalescing=true", "--set", "tso=true"]


def counts(out, name):
    return [int(x) for x in re.findall(rf"\b{name}: (\d+)", out)]


def tcp_counts(out):
    """Each time that it was shown: what the kernel counts of TCP."""
    rows = [x.split()[1:] for x in re.findall(r"^Tcp: .*", out, re.MULTILINE)]
    return [dict(zip(names, map(int, values), strict=True)) for names, values in zip(rows[::2], rows[1::2], strict=True)]


@needs("ethtool", "ethtool")
def test_segments_come_as_one_packet(capfdbinary):
    """IPv4 and IPv6, both ways: all bytes, no checksum wrong, nothing sent twice; packets and bytes are those on the wire."""
    script = lines("""
        ip -6 addr add fd00::1/64 dev eth0
        sleep 3
        ethtool -k eth0 | grep rx-gro-hw
        head -c 300000 /bin/busybox >sent
        for to in 10.0.0.2 fd00::2; do
        nc $to 7 <sent >got; cmp sent got && echo same
        ethtool -S eth0; done
        ifconfig eth0; grep Tcp: /proc/net/snmp
        """)
    peer = "ip -6 addr add fd00::2/64 dev eth0"
    status, out, err = guest(capfdbinary, *JOINS, "--peer", peer, "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 2 and "rx-gro-hw: on\n" in out, out + err
    packets, joined = counts(out, "rx_coalesced"), counts(out, "rx_joined")
    assert packets[0] >= 10 and packets[1] >= packets[0] + 10, "of IPv4, and of IPv6"
    assert all(j > 2 * p for j, p in zip(joined, packets, strict=True)), "more than three frames each"
    assert re.findall(r"[RT]X packets:(\d+) errors:0 dropped:0", out) == [
        str(counts(out, f"{way}_packets_phy")[-1]) for way in ("rx", "tx")
    ]
    # The port's bytes are with FCS, and those of short frames.
    size = int(re.search(r"RX bytes:(\d+)", out)[1])
    assert size == counts(out, "rx_bytes_phy")[-1] - 4 * counts(out, "rx_packets_phy")[-1], out
    (tcp,) = tcp_counts(out)
    assert tcp["RetransSegs"] == tcp["InErrs"] == tcp["InCsumErrors"] == 0, tcp


def segments(path, to=None, by=None):
    """Of a capture TCP's segments to, or from, the machine with that number: addresses and all bytes; and how often IPv4's
    header is not as its checksum says."""
    found, wrong = [], 0
    for frame, _ in scapy.utils.RawPcapReader(str(path)):
        kind, ip = frame[12:14], frame[14:]
        if (to and frame[5] != to) or (by and frame[11] != by):
            continue
        if kind == b"\x08\x00" and ip[9] == 6:
            total = sum(struct.unpack(">10H", ip[:20]))
            wrong += total % 0xFFFF != 0
            found.append((ip[12:20], ip[20 : struct.unpack(">H", ip[2:4])[0]]))
        elif kind == b"\x86\xdd" and ip[6] == 6:
            found.append((ip[8:40], ip[40 : 40 + struct.unpack(">H", ip[4:6])[0]]))
    return sorted(found), wrong


TC = os.path.realpath(shutil.which("tc") or "tc")


@needs("tc", "iproute2")
@needs("ethtool", "ethtool")
def test_what_came_as_one_is_forwarded_as_several(capfdbinary, tmp_path):
    """By a router between two others, cut by its card or by its stack: each segment leaves as it came, with PSH and checksum.
    The queues in front of the card have counted the frames."""
    here = [f"ip -6 addr add fd00::{n}/64 dev eth0; echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_redirects" for n in (1, 2, 3)]
    wait = "until [ -e /host/%s ]; do sleep 0.01; done"
    route = "/usr/bin/ip route add 10.0.0.%d/32 via 10.0.0.2; /usr/bin/ip route add fd00::%d/128 via fd00::2"
    script = lines(f"""
        {here[0]}; {route % (3, 3)}
        sleep 3
        {wait % "router"}; {wait % "end"}
        head -c 200000 /bin/busybox >sent
        for n in 1 2; do
        for to in 10.0.0.3 fd00::3; do
        nc $to 7 <sent >got; cmp sent got && echo same; done
        : >/host/go$n; {wait % "gone$n"}; done
        grep Tcp: /proc/net/snmp
        """)
    router = lines(f"""
        {here[1]}
        cd /proc/sys/net; echo 1 >ipv4/ip_forward; echo 1 >ipv6/conf/all/forwarding
        echo 0 >ipv4/conf/all/send_redirects; echo 0 >ipv4/conf/eth0/send_redirects
        sleep 2; : >/host/router
        {wait % "go1"}; ethtool -S eth0; {TC} -s qdisc show dev eth0; ethtool -K eth0 tso off; : >/host/gone1
        {wait % "go2"}; ethtool -S eth0; {TC} -s qdisc show dev eth0; : >/host/gone2
        """)
    end = f"{here[2]}; {route % (1, 1)}; sleep 2; : >/host/end"
    said = tmp_path / "said"
    settings = [*JOINS, "--guests", "3", "--switch", "--pcap-out", str(tmp_path)]
    peers = ["--peer", router, "--peer-log", str(said), "--peer", end]
    status, out, err = guest(capfdbinary, *settings, *peers, "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 4, out + err
    (tcp,) = tcp_counts(out)
    assert tcp["RetransSegs"] == tcp["InErrs"] == tcp["InCsumErrors"] == 0, tcp
    seen = said.read_text()
    joined, cut, frames = (counts(seen, x) for x in ("rx_coalesced", "tx_segmented", "tx_packets_phy"))
    assert 10 < joined[0] < joined[1] - 10 and 10 < cut[0] == cut[1], seen
    queued = [int(x) for x in re.findall(r"^qdisc mq .*\n Sent \d+ bytes (\d+) pkt", seen, re.MULTILINE)]
    assert queued == frames
    came, left = segments(tmp_path / "wire.pcap", to=2), segments(tmp_path / "wire.pcap", by=2)
    assert len(came[0]) > 1100 and came == left and came[1] == 0


@needs("ethtool", "ethtool")
def test_everything_goes_with_joined_segments(capfdbinary, tmp_path):
    """On and off, other rings, MTUs, queues, XDP programs in and out, a reset, each in the middle of a connection that gets all
    its bytes. With a program, without GRO or received checksums nothing is joined, and it is again when those are as before."""
    script = """
        free() { read n </sys/kernel/debug/dma-api/num_free_entries; echo free $n; }
        start() { insmod /card.ko; ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up; }
        joins() { ethtool -k eth0 | sed -n 's/^rx-gro-hw: \\(o[nf]*\\).*/\\1/p'; }
        joined() { ethtool -S eth0 | sed -n 's/ *rx_joined: //p'; }
        rmmod emery_host_nic; free; start
        head -c 200000 /bin/busybox >part; cat part part >sent
        during() {
            before=$(joined)
            { cat part; sleep 0.01; cat part; } | nc 10.0.0.2 7 >got & sleep 0.00001
            "$@"; [ $(wc -c <got) = 400000 ] || echo midway
            wait; cmp sent got && echo "same, $(joins)" $(($(joined) - before)) "after $*"
        }
        for x in "rx-gro-hw off" "rx-gro-hw on" "gro off" "gro on" "rx off" "rx on" "rxhash off"; do
            during ethtool -K eth0 $x; done
        during ethtool -G eth0 rx 64; during ethtool -L eth0 combined 3
        for x in 9000 1500; do during ip link set eth0 mtu $x; done
        during xdp eth0 pass; ethtool -K eth0 rx-gro-hw on; joins; xdp eth0 drop udp 9; during xdp eth0 off
        xdp eth0 pass; ip link set eth0 down; xdp eth0 off; joins; ip link set eth0 up
        reset() { echo 1 >/sys/bus/pci/devices/0000:00:00.0/reset; }
        during reset
        ip link set eth0 mtu 600; during true; rmmod emery_host_nic; sleep 3; free
        """
    log = tmp_path / "log"
    settings = ["--debug", "--kernel-log", str(log), *JOINS]
    status, out, err = guest(capfdbinary, *settings, "--", "sh", "-c", script)
    assert status == 0, out + err
    steps = re.findall(r"^same, (on|off) (\d+) after (.*)", out, re.MULTILINE)
    off = {f"ethtool -K eth0 {x} off" for x in ("rx-gro-hw", "gro", "rx")} | {"xdp eth0 pass"}
    back = {f"ethtool -K eth0 {x} on" for x in ("rx-gro-hw", "gro", "rx")} | {"xdp eth0 off"}
    assert len(steps) == 15 and out.count("midway\n") == 15, out
    for on, n, words in steps:
        # Of either half of a connection some 120 segments join another.
        assert on == ("off" if words in off else "on"), (words, out)
        assert 40 < int(n) < 180 if words in off | back else int(n) > 180, (words, out)
    assert re.findall(r"^(on|off)$", out, re.MULTILINE) == ["off", "on"], "with a program, whatever is wanted; and without"
    free = re.findall(r"free (\d+)", out)
    assert len(free) == 2 and free[0] == free[1], "each page is back where it came from"
    said = HELD.sub("", log.read_text())
    assert not WRONG.search(said), said


@needs("ethtool", "ethtool")
def test_no_memory_for_joined_segments(capfdbinary, tmp_path):
    """Rings for them, or those without them: refused, and the interface goes on with what it had."""
    script = lines("""
        joins() { ethtool -k eth0 | grep rx-gro-hw; }
        ethtool -G eth0 rx 64 tx 64
        ethtool -K eth0 rx-gro-hw off
        cd /sys/kernel/debug/fail_page_alloc; echo Y >task-filter; echo 0 >ignore-gfp-wait; echo 0 >verbose
        echo 100 >probability; echo 1 >interval
        without() { sh -c 'echo 1 >/proc/self/make-it-fail; exec "$@"' sh "$@" 2>&1 || echo refused; cat times; }
        echo 2 >min-order; echo 1 >times; without ethtool -K eth0 rx-gro-hw on; joins
        ping -q -c 1 10.0.0.2 | grep received
        echo 0 >times; ethtool -K eth0 rx-gro-hw off; ethtool -K eth0 rx-gro-hw on; joins
        echo 5 >min-order; echo 1 >times; without xdp eth0 pass; joins
        ping -q -c 1 10.0.0.2 | grep received
        ethtool -S eth0 | grep xdp_pass | sort -u -k2
        xdp eth0 pass; joins
        """)
    log = tmp_path / "log"
    settings = ["--debug", "--kernel-log", str(log), *JOINS]
    status, out, err = guest(capfdbinary, *settings, "--", "sh", "-c", script)
    assert status == 0, out + err
    shown = re.findall(r"rx-gro-hw: (on|off)\b", out)  # the first by ethtool, of what it was refused
    assert shown == ["off", "off", "on", "on", "off"] and out.count("refused\n0\n") == 2, out
    assert "no memory for rings without rx-gro-hw" in out and out.count("1 packets received") == 2, out
    assert set(counts(out, r"rx\d_xdp_pass")) == {0}, out
    assert not WRONG.search(log.read_text()), log.read_text()


@needs("ethtool", "ethtool")
def test_joined_segments_with_a_tag(capfdbinary):
    """That the card takes out, or that stays in the frame."""
    script = lines("""
        ip link add link eth0 name eth0.5 type vlan id 5; ip addr add 10.0.5.1/24 dev eth0.5; ip link set eth0.5 up
        until ping -q -c 1 -W 1 10.0.5.2 >/dev/null; do sleep 0.1; done
        head -c 100000 /bin/busybox >sent
        for x in on off; do
        ethtool -K eth0 rxvlan $x; ethtool -k eth0 | grep rx-vlan-offload
        nc 10.0.5.2 7 <sent >got; cmp sent got && echo same
        ethtool -S eth0 | grep -E "rx_(joined|coalesced)"; ifconfig eth0.5; done
        grep Tcp: /proc/net/snmp
        """)
    peer = "ip link add link eth0 name eth0.5 type vlan id 5; ip addr add 10.0.5.2/24 dev eth0.5; ip link set eth0.5 up"
    status, out, err = guest(capfdbinary, *JOINS, "--set", "vlan_tags=true", "--peer", peer, "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 2, out + err
    assert re.findall(r"rx-vlan-offload: (\w+)", out) == ["on", "off"], out
    packets, joined = counts(out, "rx_coalesced"), counts(out, "rx_joined")
    assert 3 < packets[0] < packets[1] - 3 and joined[0] > 30 and joined[1] > joined[0] + 30, out
    (tcp,) = tcp_counts(out)
    assert tcp["RetransSegs"] == tcp["InErrs"] == tcp["InCsumErrors"] == 0, tcp

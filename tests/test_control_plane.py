# SPDX-License-Identifier: Apache-2.0
"""A Linux kernel, and a routing daemon on it, as the control plane of direct-router (`./emery attach --control-plane`)."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import read_pcap
from namespaces import PING, SECONDS, Namespaces, needs_tap

from emery.cli import main

ROUTER = "r"
HOSTS = "abc"  # at ports 0, 1, 2
STATIONS = [f"02:00:00:00:01:0{p}" for p in range(3)]  # of the router's ports

# An echo request after the other, with that time to live and IP options; of each answer a line: who sent it, ICMP type and
# code, milliseconds; of none within so many seconds `none`.
PROBE = (
    PING.partition("peer, *sizes")[0]
    + """
import time
peer, count, pause, ttl = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
options, patience = bytes.fromhex(sys.argv[5]), float(sys.argv[6])
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
    if options:
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, options)
    for number in range(count):
        body = struct.pack("!HH", os.getpid() & 0xFFFF, number)
        began = time.monotonic()
        raw.sendto(struct.pack("!BBH", 8, 0, checksum(struct.pack("!BBH", 8, 0, 0) + body)) + body, (peer, 0))
        said = "none"
        while said == "none" and (left := began + patience - time.monotonic()) > 0:
            raw.settimeout(left)
            try:
                packet, (sender, _) = raw.recvfrom(1 << 16)
            except TimeoutError:
                break
            icmp = packet[4 * (packet[0] & 15) :]
            inner = icmp[8 + 4 * (icmp[8] & 15) :] if icmp[0] in (3, 11) else icmp
            if icmp[0] != 8 and inner[4:8] == body:
                said = f"{sender} {icmp[0]} {icmp[1]} {(time.monotonic() - began) * 1e3:.3f}"
        print(said, flush=True)
        time.sleep(pause)
"""
)
# Packets of protocol 89 that come to a group, as the socket of a routing daemon gets them.
HEAR = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_RAW, 89) as raw:
    raw.settimeout(20)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.5") + socket.inet_aton(sys.argv[1]))
    print("listens", flush=True)
    packet, (sender, _) = raw.recvfrom(1 << 16)
    print(sender, packet[8], packet[20:].decode(), flush=True)
"""
HELLO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_RAW, 89) as raw:
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))
    raw.sendto(b"hello", ("224.0.0.5", 0))
"""
# So many frames, drawn from a seed: to the router, to all or to another station; of IPv4 whole or with a field of the header
# spoilt, with options, of any time to live, to addresses that it has a route to or not; and of other protocols.
FRAMES = (
    PING.partition("peer, *sizes")[0]
    + """
import random, time
station, seed, count = bytes.fromhex(sys.argv[1].replace(":", "")), *map(int, sys.argv[2:])
draw = random.Random(seed)
addresses = ["10.0.0.1", "10.0.1.2", "10.0.2.2", "10.0.1.9", "192.0.2.1", "203.0.113.1"]
addresses += ["224.0.0.5", "255.255.255.255", "127.0.0.1"]
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
    raw.bind(("eth0", 0))
    for number in range(count):
        time.sleep(0.002)
        to = draw.choice([station] * 9 + [bytes([255] * 6), bytes.fromhex("01005e000005"), draw.randbytes(6)])
        head = to + bytes.fromhex("020000000300")
        if draw.randrange(8) == 0:
            other = draw.choice([b"\\x08\\x06", b"\\x86\\xdd", b"\\x81\\x00", b"\\x88\\xb5"])
            raw.send(head + other + draw.randbytes(draw.randrange(46, 200)))
            continue
        options = b"\\1" * 4 * draw.choice([0] * 7 + [1])
        body = draw.randbytes(draw.randrange(26, 300))
        source = draw.choice(["10.0.0.2"] * 9 + ["198.51.100.7", "127.0.0.1", "0.0.0.0", "224.0.0.1"])
        length, ttl = 20 + len(options) + len(body), draw.choice([0, 1, 2, 3, 64, 255])
        ip = bytearray(struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0, length, number, 0, ttl, 253, 0))
        ip += socket.inet_aton(source) + socket.inet_aton(draw.choice(addresses)) + options
        ip[10:12] = struct.pack("!H", checksum(bytes(ip)))
        if draw.randrange(8) == 0:
            ip[draw.choice([0, 2, 3, 8, 10, 11, 16])] ^= 1 << draw.randrange(8)
        raw.send(head + b"\\x08\\x00" + bytes(ip) + body)
"""
)


class Router(Namespaces):
    """The router's namespace, and a host at each port: 10.0.p.1 is the router's address there, 10.0.p.2 the host's."""

    def __init__(self, path, *words):
        super().__init__(ROUTER + HOSTS)
        self.router, *self.hosts = self.spaces
        taps = [x for p, space in enumerate(self.hosts) for x in ("--tap", f"wire{p}=eth0@{space}")]
        self.attach(path, "direct-router", *taps, "--control-plane", self.router, "--set", "cards=3", *words)
        for port, host in enumerate(self.hosts):
            self.ip(self.router, f"addr add 10.0.{port}.1/24 dev swp{port}")
            self.ip(host, f"addr add 10.0.{port}.2/24 dev eth0")
            self.ip(host, f"route add default via 10.0.{port}.1")
        # Errors as often as there is reason to: the kernel has another limit, one a second, which a probe waits for.
        self.run(self.router, "sh", "-c", "cd /proc/sys/net/ipv4; echo 0 > icmp_ratelimit; echo 1 > ip_forward")

    def ip(self, space: str, words: str) -> str:
        return self.run(space, "ip", *words.split())

    def forwarded(self) -> int:
        """Packets that the kernel itself has forwarded."""
        lines = self.run(self.router, "cat", "/proc/net/snmp").splitlines()
        names, values = (x.split()[1:] for x in lines if x.startswith("Ip:"))
        return int(dict(zip(names, values, strict=True))["ForwDatagrams"])

    def probe(self, host: int, peer: str, count=1, ttl=64, options="", patience=1) -> list[list[str]]:
        said = self.run(self.hosts[host], *self.prober(peer, count, 0, ttl, options, patience))
        return [x.split() for x in said.splitlines()]

    def prober(self, peer, count, pause, ttl=64, options="", patience=1) -> list[str]:
        return [sys.executable, "-c", PROBE, peer, str(count), str(pause), str(ttl), options, str(patience)]

    def answers(self, host: int, peer: str, kernel: int, count=4) -> bool:
        """Whether echoes are answered, of `count` there and back so many packets being forwarded by the kernel."""
        before = self.forwarded()
        good = all(x[:2] == [peer, "0"] for x in self.probe(host, peer, count))
        return good and self.forwarded() - before == kernel

    def refuses(self, peer: str, code: str):
        """The router tells host 0 that there is no way: what the kernel says once a second at the most."""
        self.until(lambda: [x[:3] for x in self.probe(0, peer)] == [["10.0.0.1", "3", code]])

    def until(self, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end


@contextlib.contextmanager
def router(path, *words):
    with contextlib.closing(Router(path, *words)) as found:
        yield found


def accounted(result):
    """Each frame that an interface gave came out of one, or of none because a counter says so; none was changed."""
    places, streams = result["live"]["places"], result["streams"]

    def frames(count, *ways):
        return sum(x[count] for name, x in streams.items() if any(name.startswith(y) or name.endswith(y) for y in ways))

    assert frames("delivered", "->0", "->1", "->2") > 0
    for port in range(3):
        assert frames("offered", f"{port}->") == places[f"wire{port}"]["in"]["frames"]
        assert frames("delivered", f"->{port}") == places[f"wire{port}"]["out"]["frames"]
        assert frames("delivered", f"{port}->router") == places[f"host{port}"]["out"]["frames"]
        assert frames("offered", f"router->{port}") == places[f"host{port}"]["in"]["frames"]
    for stream in streams.values():
        assert stream["offered"] == stream["delivered"] and not stream["dropped"]


@needs_tap
def test_hosts_talk_through_the_cards_and_to_the_kernel(tmp_path):
    with router(tmp_path, "--pcap-out", str(tmp_path)) as net:
        links = {x["ifname"]: x for x in json.loads(net.ip(net.router, "-j link"))}
        assert [links[f"swp{p}"]["address"] for p in range(3)] == STATIONS
        for port in range(3):
            net.python(1 + port, PING, f"10.0.{port}.1", 0, 56, 1472, 4000)  # the router itself; 4000: fragments
        for source, sink in ((0, 1), (1, 2), (2, 0)):
            net.until(lambda a=source, b=sink: net.answers(a, f"10.0.{b}.2", 0))  # once who they are was asked
        before = net.forwarded()
        net.python(1, PING, "10.0.2.2", *[56] * 50, 1472)
        assert net.forwarded() == before
        # What the cards leave to the kernel: time to live, options; it says so, or forwards.
        assert [x[:3] for x in net.probe(0, "10.0.1.2", ttl=1, patience=30)] == [["10.0.0.1", "11", "0"]]
        assert [x[:2] for x in net.probe(0, "10.0.1.2", ttl=2, patience=30)] == [["10.0.1.2", "0"]]
        before = net.forwarded()
        assert [x[:2] for x in net.probe(0, "10.0.1.2", options="01010101", patience=30)] == [["10.0.1.2", "0"]]
        assert net.forwarded() > before
        net.refuses("203.0.113.1", "0")
        result, said = net.end()
    accounted(result)
    for place, counts in result["live"]["places"].items():
        assert len(read_pcap(tmp_path / f"{place}.pcap")) == counts["out"]["frames"]
    streams, control = result["streams"], result["resources"]["control_plane"]
    assert control["routes"] == 3 and control["to_host"]["on_link"] == 3
    assert streams["0->2"]["delivered"] >= 51 and streams["2->0"]["delivered"] >= 51
    fast, up, down = (streams[x]["latency_ns"]["p50"] for x in ("0->2", "0->router", "router->2"))
    assert fast < up + down
    assert "3 in the cards" in said and f"swp2@{net.router}" in said


@needs_tap
def test_a_route_comes_and_goes_under_a_ping(tmp_path):
    with router(tmp_path) as net:
        net.ip(net.hosts[1], "addr add 192.0.2.1/32 dev lo")
        command = ["ip", "netns", "exec", net.hosts[0], *net.prober("192.0.2.1", 100000, 0.02)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            said = map(str.split, child.stdout)

            def hears(*begin):
                end = time.monotonic() + SECONDS
                while next(said)[: len(begin)] != list(begin):
                    assert time.monotonic() < end

            for _ in range(3):
                hears("10.0.0.1", "3", "0")  # the kernel has no route
                net.ip(net.router, "route add 192.0.2.0/24 via 10.0.1.2")
                hears("192.0.2.1", "0")
                before = net.forwarded()
                net.until(lambda: net.answers(0, "192.0.2.1", 0))  # both ways by the cards
                assert net.forwarded() - before < 20
                net.ip(net.router, "route del 192.0.2.0/24")
            hears("10.0.0.1", "3", "0")
            child.terminate()
        result, _ = net.end()
    accounted(result)
    assert result["resources"]["control_plane"]["withdrawn"] >= 3 and result["streams"]["0->1"]["delivered"] > 12


@needs_tap
def test_what_the_cards_cannot_have_is_left_to_the_kernel(tmp_path):
    with router(tmp_path) as net:
        for address in ("192.0.2.1", "192.0.2.2", "198.51.100.1"):
            net.ip(net.hosts[1], f"addr add {address}/32 dev lo")
            net.ip(net.hosts[2], f"addr add {address}/32 dev lo")
        net.until(lambda: net.answers(0, "10.0.1.2", 0))
        net.until(lambda: net.answers(0, "10.0.2.2", 0))
        # A shorter route is in the cards, and these within it are not.
        net.ip(net.router, "route add 192.0.2.0/24 via 10.0.1.2")
        net.ip(net.router, "route add blackhole 192.0.2.64/26")
        net.ip(net.router, "route add unreachable 192.0.2.128/25")
        net.ip(net.router, "route add 192.0.2.2/32 nexthop via 10.0.1.2 nexthop via 10.0.2.2")
        net.until(lambda: net.answers(0, "192.0.2.1", 0))
        assert net.probe(0, "192.0.2.65") == [["none"]]
        net.refuses("192.0.2.129", "1")
        assert net.answers(0, "192.0.2.2", 4)  # to there by the kernel, back by a card
        # A neighbour that does not answer: the kernel says so.
        net.ip(net.router, "route add 198.51.100.0/24 via 10.0.1.77")
        net.refuses("198.51.100.1", "1")
        net.ip(net.router, "route replace 198.51.100.0/24 via 10.0.2.2")
        net.until(lambda: net.answers(0, "198.51.100.1", 0))
        # Of two routes the one of the lower metric; that of the other when it goes.
        net.ip(net.router, "route add 198.51.100.0/25 via 10.0.1.2 metric 10")
        net.ip(net.router, "route add unreachable 198.51.100.0/25 metric 20")
        net.until(lambda: net.answers(0, "198.51.100.1", 0))
        net.ip(net.router, "route del 198.51.100.0/25 metric 10")
        net.refuses("198.51.100.1", "1")
        # Rules besides the usual ones, and no forwarding: nothing is in the cards.
        net.ip(net.router, "rule add from 10.0.0.0/24 lookup 99 priority 100")
        net.until(lambda: net.answers(0, "10.0.1.2", 8))
        net.ip(net.router, "rule del priority 100")
        net.until(lambda: net.answers(0, "10.0.1.2", 0))
        net.run(net.router, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
        net.until(lambda: net.probe(0, "10.0.1.2") == [["none"]])
        net.run(net.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        net.until(lambda: net.answers(0, "10.0.1.2", 0))
        # A second station at a port: the kernel forwards to it.
        net.ip(net.router, "neigh replace 10.0.1.3 lladdr 02:00:00:00:03:03 dev swp1")
        before = net.forwarded()
        assert net.probe(0, "10.0.1.3", 2) == [["none"]] * 2 and net.forwarded() == before + 2
        net.ip(net.router, "link set swp2 down")  # its routes go with it, untold
        net.refuses("10.0.2.2", "0")
        result, said = net.end()
    streams = result["streams"]
    assert not any(x["corrupted"] or x["duplicated"] or x["misdelivered"] for x in streams.values())
    left = result["resources"]["control_plane"]["to_host"]
    assert (left["blackhole"], left["multipath"], left["other_neighbour"]) == (1, 1, 1)
    assert left["unreachable"] == 2 and "blackhole 1" in said


@needs_tap
def test_the_hello_of_a_routing_protocol_comes_to_its_daemon(tmp_path):
    with router(tmp_path) as net:
        words = ["ip", "netns", "exec", net.router, sys.executable, "-c", HEAR, "10.0.1.1"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as daemon:
            assert daemon.stdout.readline() == "listens\n"
            net.python(2, HELLO, "10.0.1.2")
            assert daemon.stdout.readline() == "10.0.1.2 1 hello\n"
        with subprocess.Popen([*words[:3], net.hosts[2], *words[4:-1], "10.0.2.2"], stdout=subprocess.PIPE, text=True) as host:
            assert host.stdout.readline() == "listens\n"
            net.python(0, HELLO, "10.0.2.1")
            assert host.stdout.readline() == "10.0.2.1 1 hello\n"
        for port in range(3):
            net.python(1 + port, PING, f"10.0.{port}.1", 56)
        result, _ = net.end()
    accounted(result)


@needs_tap
@pytest.mark.parametrize("seed", [1, 2])
def test_any_frame_while_routes_change(tmp_path, seed):
    """Each goes where the routes of before or after a change lead, or to the kernel, or is in the counter of its fault."""
    with router(tmp_path) as net:
        net.until(lambda: net.answers(0, "10.0.1.2", 0) and net.answers(0, "10.0.2.2", 0))
        sends = ["ip", "netns", "exec", net.hosts[0], sys.executable, "-c", FRAMES, STATIONS[0], str(seed), "2000"]
        with subprocess.Popen(sends) as child:
            while child.poll() is None:
                for words in ("replace 192.0.2.0/24 via 10.0.1.2", "replace 192.0.2.0/24 via 10.0.2.2", "del 192.0.2.0/24"):
                    net.ip(net.router, f"route {words}")
            assert child.returncode == 0
        net.until(lambda: net.answers(0, "10.0.1.2", 0))  # it has all got through
        result, _ = net.end()
    streams, control = result["streams"], result["resources"]["control_plane"]
    dropped = streams["0->drop"]["dropped"]
    assert dropped.keys() == {"header", "checksum", "not_ours"} and min(dropped.values()) > 5
    assert control["announced"] > 20 and control["withdrawn"] > 5
    assert min(streams[x]["delivered"] for x in ("0->1", "0->2", "0->router")) > 50
    for stream in streams.values():
        assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values())
    assert all(not x["dropped"] for name, x in streams.items() if name != "0->drop")


@pytest.mark.slow
@needs_tap
def test_over_pcie(tmp_path):
    with router(tmp_path, "--set", "bus=pcie", "--set", "host_path=true") as net:
        net.python(1, PING, "10.0.0.1", 56, 1472)
        net.until(lambda: net.answers(0, "10.0.1.2", 0, 2))
        assert [x[:3] for x in net.probe(0, "10.0.1.2", ttl=1, patience=30)] == [["10.0.0.1", "11", "0"]]
        result, _ = net.end()
    accounted(result)
    assert result["resources"]["control_plane"]["routes"] == 2


@needs_tap
def test_everything_by_the_kernel(tmp_path):
    """What it is compared with: cards that forward nothing."""
    with router(tmp_path, "--set", "slow_path=true") as net:
        net.until(lambda: net.answers(0, "10.0.1.2", 8))
        result, _ = net.end()
    accounted(result)
    assert "0->1" not in result["streams"]


@needs_tap
def test_changes_that_the_kernel_had_no_room_for(tmp_path):
    """The simulator does not listen while more change than the socket holds: then it asks for all."""
    with router(tmp_path) as net:
        net.ip(net.hosts[1], "addr add 192.0.2.1/32 dev lo")
        net.until(lambda: net.answers(0, "10.0.1.2", 0))
        simulator = int(subprocess.check_output(["pgrep", "-P", str(net.process.pid)], text=True).split()[0])
        prefixes = [f"100.64.{n >> 4}.{(n & 15) << 4}/28" for n in range(2000)]
        changes = [f"route {way} {x} via 10.0.1.2" for x in prefixes for way in ("add", "del")]
        batch = tmp_path / "batch"
        batch.write_text("\n".join([*changes, "route add 192.0.2.0/24 via 10.0.1.2"]))
        os.kill(simulator, signal.SIGSTOP)
        net.ip(net.router, f"-batch {batch}")
        os.kill(simulator, signal.SIGCONT)
        net.until(lambda: net.answers(0, "192.0.2.1", 0))
        for port in (1, 2):
            net.python(1 + port, PING, f"10.0.{port}.1", 56)
        result, _ = net.end()
    accounted(result)
    kernel, control = result["live"]["rtnetlink"], result["resources"]["control_plane"]
    assert kernel["overruns"] > 0 and kernel["dumps"] > 1 and kernel["messages"] < len(changes)
    assert control["to_host"].get("unresolved", 0) == 0 and control["routes"] == 4


BIRD = """
router id {address};
protocol device {{ scan time 1; }}
protocol direct {{ ipv4; interface "lo"; }}
protocol kernel {{ ipv4 {{ import none; export where proto = "learned"; }}; }}
protocol ospf v2 learned {{
  ipv4 {{ import all; export all; }};
  area 0 {{ interface "{interface}" {{ hello 1; wait 2; dead count 5; }}; }};
}}
"""


@needs_tap
@pytest.mark.skipif(not shutil.which("bird"), reason="OSPF: needs BIRD (apt install bird2)")
def test_ospf_fills_the_cards(tmp_path):
    """BIRD on the router and on a neighbour: the network behind that gets into the cards, and goes when it ends."""
    with router(tmp_path) as net, contextlib.ExitStack() as stack:
        net.ip(net.hosts[1], "addr add 198.51.100.1/24 dev lo")
        daemons = []
        for space, address, interface in ((net.router, "10.0.1.1", "swp1"), (net.hosts[1], "10.0.1.2", "eth0")):
            file = tmp_path / f"{interface}.conf"
            file.write_text(BIRD.format(address=address, interface=interface))
            words = ["bird", "-f", "-c", str(file), "-s", str(file.with_suffix(".ctl")), "-P", str(file.with_suffix(".pid"))]
            daemons.append(stack.enter_context(subprocess.Popen(["ip", "netns", "exec", space, *words])))
            stack.callback(daemons[-1].kill)
        net.until(lambda: net.probe(0, "198.51.100.1")[0][:2] == ["198.51.100.1", "0"])
        assert "proto bird" in net.ip(net.router, "route show 198.51.100.0/24")
        net.until(lambda: net.answers(0, "198.51.100.1", 0))
        daemons[1].terminate()
        net.refuses("198.51.100.1", "0")
        net.python(3, PING, "10.0.2.1", 56)
        result, _ = net.end()
    accounted(result)
    assert result["streams"]["0->1"]["delivered"] >= 4


# ---------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("direct-router", [], "--control-plane NETNS says whose routes it has"),
        ("direct-router", ["--control-plane", "no-such-space"], "there is no network namespace no-such-space"),
        ("direct-router", ["--control-plane", "../run"], "there is no network namespace"),
        ("host-nic", ["--control-plane", "no-such-space"], "those that do: direct-router"),
        ("direct-router", ["--control-plane", "x", "--set", "bus=pcie"], "host_path=true only"),
        ("direct-router", ["--control-plane", "x", "--set", "lpm_nodes=0"], "longest-prefix table"),
        ("direct-router", ["--control-plane", "x", "--set", "own_addresses=true"], "those of the kernel"),
        ("direct-router", ["--control-plane", "x", "--set", "updates_per_s=100"], "those of the kernel"),
        ("direct-router", ["--control-plane", "x", "--set", "config=B"], "live traffic comes"),
        ("direct-router", ["--control-plane", "x", "--set", "dead_card=1"], "keeps the driver waiting"),
    ],
)
def test_refuses(capsys, name, words, says):
    assert main(["attach", name, "--tap", "wire0=eth0", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("emery: ") and said.count("\n") == 1 and says in said


@needs_tap
def test_refuses_a_place_that_is_the_kernels_and_an_interface_that_is_there(capsys):
    with contextlib.closing(Namespaces(ROUTER)) as net:
        words = ["attach", "direct-router", "--control-plane", net.spaces[0], "--tap"]
        for tap, says in (
            (f"host0=a@{net.spaces[0]}", "is at host0 already"),
            ("wire0=lo", "there is an interface lo already"),
        ):
            assert main([*words, tap]) == 2
            assert says in capsys.readouterr().err
        net.run(net.spaces[0], "ip", "tuntap", "add", "swp1", "mode", "tap")
        assert main([*words, f"wire0=a@{net.spaces[0]}"]) == 2
        assert f"--control-plane {net.spaces[0]}: there is an interface swp1@" in capsys.readouterr().err

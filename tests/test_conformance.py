# SPDX-License-Identifier: Apache-2.0
"""One list of checks (conformance.py) for three drivers of host-nic: the bench's, the kernel module, the poll-mode driver.

An adapter has a method for each check, or says in LACKS why it has none; runs that serve several checks are made once.
"""

import csv
import json
import re
import shutil
import struct
from collections import Counter
from functools import cached_property
from pathlib import Path

import conformance
import pytest
import scapy.utils
from conformance import CHECKS, QUEUES, by_size, frames, queue_of, recomputed, same
from conftest import read_pcap, slow_but, write_pcap
from guests import WRONG, lines

from emery import process
from emery.cli import main
from emery.common import ROOT
from emery.guest import testpmd
from emery.make import dpdk, linux, toolchain


class Adapter:
    """`command`: runs `./emery` with these words; gives its output and errors, its status being 0."""

    LACKS: dict[str, str] = {}

    def __init__(self, folder: Path, command):
        self.folder, self.command = folder, command

    def file(self, name, content):
        return str(write_pcap(self.folder / name, content))


def pcap(path):
    return [x for x, _ in scapy.utils.RawPcapReader(str(path))]


class Bench(Adapter):
    LACKS = {
        "link": "no: it has no link state; traffic begins when it has started",
        "removal": "no: the bench ends a run, the driver core's own test pulls its device out",
    }

    def run(self, *words, status=0):
        out = self.folder / "bench.json"
        sized = {"--size", "--pcap"} & set(words)
        words = [*words, *([] if sized else ["--size", "64-1000", "--frames", "900", "--rate", "0.3", "--flows", "16"])]
        self.command("run", "host-nic", "--assertions", "--pcap-out", str(self.folder / "bench"), "--json", str(out), *words)
        return json.loads(out.read_text())

    @cached_property
    def sizes(self):
        settings = [x for name in ("rx_queues", "tx_queues") for x in ("--set", f"{name}=16")]
        capture = self.file("sizes.pcap", frames())
        result = self.run("--pcap", capture, "--direction", "both", "--rate", "0.2", *settings)
        rows = csv.DictReader((self.folder / "bench" / "host.csv").read_text().splitlines())
        records = sorted(({k: int(v) for k, v in x.items()} for x in rows), key=lambda x: x["timestamp_ns"])
        return result, *(read_pcap(self.folder / "bench" / f"{x}.pcap") for x in ("host", "wire0")), records

    def bytes(self):
        result, received, sent, _ = self.sizes
        assert received == frames() and same(sent, frames())
        assert all(x["delivered"] == len(frames()) and not x["corrupted"] for x in result["streams"].values())

    def addresses(self):
        assert any(x[:6] == bytes.fromhex("020000007777") for x in self.sizes[1])

    def placement(self):
        _, received, _, records = self.sizes
        assert [x["queue"] for x in records] == [queue_of(x, 16) for x in received]

    def tx_checksum(self):
        self.run("--direction", "tx", "--set", "tx_checksum=true", "--size", "65-1518", "--frames", "200", "--rate", "0.3")
        sent = read_pcap(self.folder / "bench" / "wire0.pcap")
        assert len(sent) == 200 and all(recomputed(x) == x for x in sent)

    def rx_checksum(self):
        """A record has the sum of the frame, which is wrong where the frame's is."""
        made, wrong = conformance.checksummed()
        self.run("--pcap", self.file("sums.pcap", made), "--direction", "rx", "--rate", "0.2")
        rows = list(csv.DictReader((self.folder / "bench" / "host.csv").read_text().splitlines()))
        right = [sum(struct.unpack(f">{len(x) // 2}H", x[14 : 14 + (len(x) - 14) // 2 * 2].ljust(len(x) // 2 * 2, b"\0")))
                 + (x[-1] << 8 if len(x) % 2 else 0) for x in map(recomputed, made)]  # fmt: skip
        told = {int(x["timestamp_ns"]): int(x["csum"]) for x in rows}
        off = [total % 0xFFFF != told[x] % 0xFFFF for total, x in zip(right, sorted(told), strict=True)]
        assert sum(off) == wrong

    def vlan(self):
        many = [x for name in ("rx_queues", "tx_queues") for x in ("--set", f"{name}=256")]
        words = ("--set", "vlan_tags=true", "--vlan", "0.66", "--size", "68-1000", "--frames", "400", "--rate", "0.5")
        driver = self.run(*words, *many)["resources"]["driver"]
        assert driver["tags_left"] > 200 and driver["tags_taken"] > 200

    def too_long(self):
        result = self.run("--set", "oversize_every=12")
        made = result["resources"]["macs"][0]["rx_oversize"]
        assert result["streams"]["rx"]["dropped"] == {"oversize": made} and made > 20

    def runts(self):
        result = self.run("--set", "runt_every=12")
        made = result["resources"]["macs"][0]["rx_runts"]
        assert result["streams"]["rx"]["dropped"] == {"runt": made} and made > 20

    def tx_full(self):
        result = self.run(
            "--direction", "tx", "--set", "tx_ring=8", "--rate", "1", "--size", "64", "--frames", "900", "--flows", "1"
        )
        assert result["streams"]["tx"]["delivered"] == 900 and not result["streams"]["tx"]["reordered"]

    def rx_full(self):
        words = ("--size", "64", "--frames", "6000", "--flows", "8", "--rate", "0.3")
        result = self.run(*words, "--set", "fault=slow_cpu", "--set", "fault_us=120", "--set", "rx_ring=64")
        stream = result["streams"]["rx"]
        assert set(stream["dropped"]) == {"no_descriptor"} and stream["dropped"]["no_descriptor"] > 100
        assert stream["delivered"] + stream["dropped"]["no_descriptor"] == 6000

    def statistics(self):
        macs = self.sizes[0]["resources"]["macs"][0]
        assert macs["rx_frames"] == macs["tx_frames"] == len(frames())

    def queue_counters(self):
        """Of every queue: a difference fails the run."""
        words = ("--size", "64-1000", "--frames", "3000", "--flows", "8", "--rate", "0.5", "--set", "rx_ring=64")
        counted = [x for name in ("counted_queues", "tx_queues", "rx_queues") for x in ("--set", f"{name}=16")]
        result = self.run(*words, *counted, "--set", "fault=slow_cpu", "--set", "fault_us=120")
        counters, streams = result["resources"]["queue_counters"], result["streams"]
        assert counters["tx"]["compared"] == 8 and counters["rx"]["compared"] == 16
        assert {x: counters[x]["packets"] for x in counters} == {x: streams[x]["delivered"] for x in streams}
        assert counters["rx"]["drops"] == streams["rx"]["dropped"]["no_descriptor"] > 100

    def port_counters(self):
        (port,) = self.sizes[0]["resources"]["port_counters"]
        for counted in port.values():
            assert [n for x, n in counted.items() if x.startswith("size_")] == by_size(frames())
            assert counted["packets"] == len(frames()) and counted["bytes"] == sum(len(x) + 4 for x in frames())

    def restart(self):
        result = self.run("--direction", "tx", "--set", "restart_every=60")
        assert result["resources"]["driver"]["restarts"] > 8 and result["streams"]["tx"]["delivered"] == 900

    def lost_completion(self):
        result = self.run("--set", "fault=lost_completion", "--set", "recover=true", "--direction", "tx")
        assert result["resources"]["driver"]["restarts"] == 1 and result["streams"]["tx"]["delivered"] > 880


class Linux(Adapter):
    LACKS = {
        "runts": "no: what sends is a card of the same kind, which sends none",
        "rx_full": "no: a guest's CPU takes no simulated time, so its rings never fill",
    }
    BURST = 300

    def program(self):
        out = self.folder / "frames"
        source = Path(__file__).parent / "guest" / "frames.c"
        toolchain.run_cxx(["-x", "c", "-O2", "-static", str(source), "-o", str(out)], self.folder, False)
        return str(out)

    def carried(self, name, made):
        """A file that goes with the guests as if it were a program."""
        path = self.folder / name
        path.write_bytes(b"".join(struct.pack("<H", len(x)) + x for x in made))
        path.chmod(0o755)
        return str(path)

    @cached_property
    def boot(self):
        """What the command says by part, the capture of the wire, and the kernel's words."""
        tool, log = self.program(), self.folder / "log"
        burst = [bytes(6) + bytes.fromhex("020000000001") + b"\x88\xb5" + n.to_bytes(2) + bytes(44) for n in range(self.BURST)]
        content = {"sizes": frames(), "sums": conformance.checksummed()[0], "burst": burst}
        content["long"] = [x for x in frames() if len(x) > 1518]
        at = {name: self.carried(name, made) for name, made in content.items()}
        both = "echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6; ip link set eth0 mtu 9000"
        script = lines(f"""
            cat /sys/class/net/eth0/carrier; ethtool -k eth0 | grep tx-checksumming
            {both}
            until [ -e /host/big ]; do sleep 0.05; done
            arping -q -c 1 -I eth0 10.0.0.2; sleep 0.01
            echo part stats; ifconfig eth0; ethtool -S eth0
            {tool} echo eth0 {len(frames())} >/host/queues || echo failed >>/host/queues
            sleep 0.01
            ifconfig eth0; ethtool -S eth0
            echo part queues; cat /host/queues
            ip link set eth0 mtu 1500
            echo part sums; grep Udp: /proc/net/snmp; ethtool -S eth0 | grep rx_oversize
            : >/host/short; until [ -e /host/sent ]; do sleep 0.05; done
            grep Udp: /proc/net/snmp; ethtool -S eth0 | grep rx_oversize
            echo part restart
            head -c 100000 /bin/busybox >part; cat part part >sent
            {{ cat part; sleep 0.001; cat part; }} | nc 10.0.0.2 7 >got & sleep 0.0001; ip link set eth0 down; wc -c <got
            ip link set eth0 up; wait; cmp sent got && echo same
            ethtool -G eth0 tx 32
            {tool} send eth0 {at["burst"]}; sleep 0.01
            """)
        peer = lines(f"""
            {both}
            : >/host/big; until [ -s /host/queues ]; do sleep 0.05; done
            {tool} send eth0 {at["sizes"]}
            until [ -e /host/short ]; do sleep 0.05; done
            {tool} send eth0 {at["sums"]}
            {tool} send eth0 {at["long"]}; sleep 0.01
            : >/host/sent
            """)
        files = [x for path in (tool, *at.values()) for x in ("--program", path)]
        words = ("--pcap-out", str(self.folder), "--kernel-log", str(log), "--peer", peer, *files)
        out, _ = self.command("linux", *words, "--", "sh", "-c", script)
        first, *parts = out.split("part ")
        said = {"link": first} | dict(x.split("\n", 1) for x in parts)
        return said, pcap(self.folder / "wire.pcap"), log.read_text()

    def link(self):
        assert self.boot[0]["link"].startswith("1\n")

    def bytes(self):
        said, wire, log = self.boot
        kept = [x for x in wire if x[12:14] == b"\x08\x00" and x[18:20] == conformance.MARK.to_bytes(2)]
        long = [x for x in frames() if len(x) > 1518]
        assert same(kept, frames() * 2 + long) and not WRONG.search(log)
        assert said["queues"].count("queue ") == len(frames())

    def addresses(self):
        ports = {int.from_bytes(x[34:36]) for x in frames() if x[:6] == bytes.fromhex("020000007777")}
        assert ports <= {int(x) for x in re.findall(r"port (\d+)", self.boot[0]["queues"])} and ports

    def placement(self):
        found = re.findall(r"queue (\d+) bytes (\d+) port (\d+)", self.boot[0]["queues"])
        wanted = [(queue_of(x), len(x), int.from_bytes(x[34:36])) for x in frames()]
        assert same([tuple(map(int, x)) for x in found], wanted)

    def tx_checksum(self):
        said, wire, _ = self.boot
        sent = [x for x in wire if x[23] == 6 and x[26:30] == bytes([10, 0, 0, 1]) and len(x) > 60]
        assert "tx-checksumming: on" in said["link"] and len(sent) > 100 and all(recomputed(x) == x for x in sent)

    def counters(self):
        """By name, before and after."""
        rows = [x.split()[1:] for x in self.boot[0]["sums"].splitlines() if x.startswith("Udp:")]
        by_name = [dict(zip(*rows[n : n + 2], strict=True)) for n in (0, 2)]
        return {name: int(by_name[1][name]) - int(value) for name, value in by_name[0].items()}

    def rx_checksum(self):
        made, wrong = conformance.checksummed()
        counted = self.counters()
        assert (counted["InCsumErrors"], counted["NoPorts"]) == (wrong, len(made) - wrong)

    def vlan(self):
        """TCP both ways over a VLAN: on the wire each frame has the tag and the right sums, with the offloads on."""
        address = "ip link add link eth0 name eth0.5 type vlan id 5; ip link set eth0.5 up; ip addr add 10.5.0.{}/24 dev eth0.5"
        script = lines(f"""
            {address.format(1)}
            ethtool -k eth0 | grep -E '^[rt]x-vlan-offload'
            until [ -e /host/there ]; do sleep 0.05; done
            head -c 30000 /bin/busybox >sent; nc 10.5.0.2 7 <sent | cmp sent - && echo same
            """)
        words = ("--set", "vlan_tags=true", "--pcap-out", str(self.folder), "--peer", address.format(2) + "; : >/host/there")
        out, _ = self.command("linux", *words, "--", "sh", "-c", script)
        tagged = [x for x in pcap(self.folder / "wire.pcap") if x[12:18] == b"\x81\x00\x00\x05\x08\x00"]
        assert out == "rx-vlan-offload: on\ntx-vlan-offload: on\nsame\n"
        assert len(tagged) > 40 and all(recomputed(x) == x for x in tagged)

    def too_long(self):
        before, after = (int(x) for x in re.findall(r"rx_oversize: (\d+)", self.boot[0]["sums"]))
        assert after - before == sum(len(x) > 1518 for x in frames()) > 10

    def tx_full(self):
        seen = [int.from_bytes(x[14:16]) for x in self.boot[1] if x[12:14] == b"\x88\xb5"]
        assert seen == list(range(self.BURST))

    def statistics(self):
        found = [[int(x) for x in re.findall(rf"{what}[ :]+(\d+)", self.boot[0]["stats"])] for what in
                 ("RX packets", "TX packets", "RX bytes", "TX bytes")]  # fmt: skip
        grown = [after - before for before, after in found]
        assert grown == [len(frames())] * 2 + [sum(map(len, frames()))] * 2

    def queue_counters(self):
        """Frames that came and went back, by queue, and all of them as the interface counts."""
        early, late = (dict(re.findall(r"([tr]x\d_card_\w+): (\d+)", x)) for x in self.boot[0]["stats"].split("NIC")[1:])
        grown = {x: int(late[x]) - int(early[x]) for x in late}
        came = Counter(queue_of(x) for x in frames())
        assert [grown[f"rx{q}_card_packets"] for q in range(QUEUES)] == [came[q] for q in range(QUEUES)]
        for way in ("tx", "rx"):
            assert sum(grown[f"{way}{q}_card_packets"] for q in range(QUEUES)) == len(frames())
            assert sum(grown[f"{way}{q}_card_bytes"] for q in range(QUEUES)) == sum(map(len, frames()))
        assert not any(grown[x] for x in grown if x.endswith(("errors", "drops")))

    def port_counters(self):
        """Of the frames that came and went back."""
        early, late = (dict(re.findall(r"([tr]x_\w+)_phy: (\d+)", x)) for x in self.boot[0]["stats"].split("NIC")[1:])
        grown = {x: int(late[x]) - int(early[x]) for x in late}
        for way in ("tx", "rx"):
            assert [n for x, n in grown.items() if re.match(rf"{way}_\d", x)] == by_size(frames())
            assert grown[f"{way}_packets"] == len(frames()) and grown[f"{way}_bytes"] == sum(len(x) + 4 for x in frames())

    def restart(self):
        size, last = self.boot[0]["restart"].split()[:2]
        assert int(size) < 200_000 and last == "same"

    def lost_completion(self):
        log = self.folder / "log"
        words = ("--set", "fault=lost_completion", "--set", "fault_frame=30", "--kernel-log", str(log))
        send = "head -c 100000 /bin/busybox >sent; nc 10.0.0.2 7 <sent >got; cmp sent got && echo same"
        assert self.command("linux", *words, "--", "sh", "-c", send)[0] == "same\n"
        assert log.read_text().count("set up anew") == 1

    def removal(self):
        log = self.folder / "log"
        words = ("--set", "fault=surprise_removal", "--set", "fault_frame=30", "--kernel-log", str(log))
        script = lines("""
            nc 10.0.0.2 7 </bin/busybox >/dev/null &
            sleep 3; cat /sys/class/net/eth0/carrier; rmmod emery_host_nic; ls /sys/class/net; kill %1; wait; true
            """)
        assert self.command("linux", *words, "--", "sh", "-c", script)[0] == "0\nlo\n"
        assert log.read_text().count("the card has gone") == 1 and not WRONG.search(log.read_text())


class Dpdk(Adapter):
    LACKS = {
        "runts": "no: the line of `./emery dpdk` pads what is too short",
        "lost_completion": "no: a queue that stopped stays so until the port is started anew",
        "tx_full": "no: frames that do not fit stay with the application",
    }
    COUNT = re.compile(r"RX-packets: (\d+) +TX-packets: (\d+)")

    def run(self, made, *words, line=()):
        folder = self.folder / "dpdk"
        folder.mkdir(exist_ok=True)
        capture = self.file("in.pcap", made)
        out, _ = self.command(
            "dpdk", "--pcap-out", str(folder), "--json", str(folder / "json"), "--pcap", capture, *line, "--", *words
        )
        return out, json.loads((folder / "json").read_text()), pcap(folder / "from_card.pcap")

    @cached_property
    def sizes(self):
        script = self.folder / "commands"
        script.write_text("show port info 0\nshow port stats 0\n")
        words = ("--mbuf-size=9600", "--max-pkt-len=9018", f"--rxq={QUEUES}", f"--txq={QUEUES}", f"--cmdline-file={script}")
        words = ("--log-level=pmd.net.emery:debug", "--", *words)
        return self.run(frames(), *words, line=("--rate", "0.2"))

    def link(self):
        assert "Link status: up" in self.sizes[0]

    def bytes(self):
        assert same(self.sizes[2], frames())

    def addresses(self):
        assert any(x[:6] == bytes.fromhex("020000007777") for x in self.sizes[2])

    def placement(self):
        found = {int(q): int(n) for q, n in re.findall(r"RX Port= 0/Queue= (\d+) .*\n +RX-packets: (\d+) ", self.sizes[0])}
        assert found == dict(Counter(map(queue_of, frames())))

    @cached_property
    def sums(self):
        made, wrong = conformance.checksummed()
        return made, wrong, *self.run(made, "--forward-mode=csum", "--rx-offloads=0xc", "--tx-offloads=0xc")

    def tx_checksum(self):
        made, _, _, _, back = self.sums
        assert same([x[12:] for x in back], [recomputed(x)[12:].ljust(48, b"\0") for x in made])

    def rx_checksum(self):
        assert f"Bad-l4csum: {self.sums[1]} " in self.sums[2]

    def vlan(self):
        """Tags of 802.1Q are taken out; each frame goes back with another one put in."""
        bare = [x for x in frames() if len(x) < 1500]
        made = [x[:12] + b"\x81\x00" + n.to_bytes(2) + x[12:] for n, x in enumerate(bare, 1)]
        script = self.folder / "commands"
        script.write_text("port stop 0\ntx_vlan set 0 7\nport start 0\n")
        words = ("--forward-mode=mac", "--enable-hw-vlan-strip", f"--cmdline-file={script}")
        _, _, back = self.run(made, *words, line=("--rate", "0.2", "--set", "vlan_tags=true"))
        assert same([x[12:] for x in back], [b"\x81\x00\x00\x07" + x[12:] for x in bare])

    def too_long(self):
        """MTU 1500: what is 1,519 bytes or longer without FCS does not come, and is an error."""
        out, result, back = self.run(frames(), line=("--rate", "0.2"))
        fits = [x for x in frames() if len(x) <= 1518]
        assert same(back, fits) and result["testpmd"]["rx"]["packets"] == len(fits)
        assert f"RX-error: {len(frames()) - len(fits)}\n" in out

    def rx_full(self):
        made = frames()[:1] * 3000
        _, result, back = self.run(made, line=("--frame-ns", "100", "--rate", "1"))
        rx = result["testpmd"]["rx"]
        assert rx["dropped"] > 100 and rx["packets"] + rx["dropped"] == 3000 and len(back) == rx["packets"]

    def statistics(self):
        result = self.sizes[1]
        assert {x["packets"] for x in result["testpmd"].values()} == {len(frames())}
        assert {x["bytes"] for x in result["wire"].values()} == {sum(len(x) + 4 for x in frames())}

    def queue_counters(self):
        found = {x: int(n) for x, n in re.findall(r"card_(\w+): (\d+)", self.sizes[0])}
        came = Counter(map(queue_of, frames()))
        for way in ("tx", "rx"):
            assert [found[f"{way}_q{q}_packets"] for q in range(QUEUES)] == [came[q] for q in range(QUEUES)]
            assert sum(found[f"{way}_q{q}_bytes"] for q in range(QUEUES)) == sum(map(len, frames()))
        assert not any(n for x, n in found.items() if x.endswith(("errors", "drops")))

    def port_counters(self):
        found = {x: int(n) for x, n in re.findall(r"([tr]x_\w+)_phy: (\d+)", self.sizes[0])}
        for way in ("tx", "rx"):
            assert [n for x, n in found.items() if re.match(rf"{way}_\d", x)] == by_size(frames())
            assert found[f"{way}_packets"] == len(frames()) and found[f"{way}_bytes"] == sum(len(x) + 4 for x in frames())

    def restart(self):
        """Traffic has begun when the port is stopped and started: what comes meanwhile is lost, and nothing else."""
        made = conformance.stream(1500)
        script = self.folder / "commands"
        script.write_text("start\nstop\nport stop 0\nport start 0\n")
        _, result, back = self.run(made, f"--cmdline-file={script}", line=("--rate", "0.03"))
        lost = [n for n, x in enumerate(made) if x not in set(back)]
        assert [x for n, x in enumerate(made) if n not in lost] == back, "in order, each once"
        assert result["finished"] and 0 < len(lost) < 500 and lost[-1] - lost[0] == len(lost) - 1 and back[-1] == made[-1]

    def removal(self):
        """The simulator goes: the link is down, testpmd ends, one line says so."""

        class Mortal(testpmd.Simulator):
            def runs(self):
                if self.has_said("polling"):
                    process.finish(self.child)
                return super().runs()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(testpmd, "Simulator", Mortal)
            _, said = self.command("dpdk", "--frames", "1000000", "--size", "64", status=1)
        assert said.count("\n") == 1 and "the simulator has gone: the link is down" in said


ADAPTERS = {"bench": Bench, "linux": Linux, "dpdk": Dpdk}
MISSING = {"bench": [], "linux": linux.missing() or ([] if shutil.which("ethtool") else ["ethtool"]), "dpdk": dpdk.missing()}
PAGE = ROOT / "docs" / "write-a-driver.md"


@pytest.mark.parametrize("driver", ADAPTERS)
def test_each_driver_has_each_check_or_says_why_not(driver):
    kind = ADAPTERS[driver]
    assert {x for x in CHECKS if callable(getattr(kind, x, None))} == set(CHECKS) - set(kind.LACKS)
    assert set(kind.LACKS) <= set(CHECKS) and all(x.startswith(("no: ", "not yet: ")) for x in kind.LACKS.values())


def test_the_table_of_the_docs():
    assert conformance.table(ADAPTERS) in PAGE.read_text(), conformance.table(ADAPTERS)


@pytest.mark.parametrize("driver", slow_but(lambda x: x != "linux", ADAPTERS))
def test_conforms(tmp_path, capfdbinary, driver):
    """All checks that the driver has; one that fails does not hide the others."""
    if MISSING[driver]:
        pytest.skip(f"Debian packages: {' '.join(MISSING[driver])}")

    def command(*words, status=0):
        found = main(list(words))
        out, err = (x.decode() for x in capfdbinary.readouterr())
        assert found == status, err
        return out, err

    adapter = ADAPTERS[driver](tmp_path, command)
    failed = {}
    for check in (x for x in CHECKS if x not in adapter.LACKS):
        try:
            getattr(adapter, check)()
        except AssertionError as error:
            failed[check] = str(error)
    assert not failed, "\n".join(f"{check}: {why}" for check, why in failed.items())

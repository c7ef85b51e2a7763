# SPDX-License-Identifier: Apache-2.0
"""The kernel module when something goes wrong: no memory, no interrupts, bad reads, no card, no simulator; and for long."""

import re
import signal
from pathlib import Path

import pytest
from guests import HELD, WRONG, guest, lines, needs, needs_linux

from emery.cli import main
from emery.guest import run
from emery.make import toolchain


@pytest.fixture(scope="session")
def fail_each(tmp_path_factory):
    out = tmp_path_factory.mktemp("guest") / "fail_each"
    source = Path(__file__).parent / "guest" / "fail_each.c"
    toolchain.run_cxx(["-x", "c", "-O2", "-static", str(source), "-o", str(out)], out.parent, False)
    return str(out)


@needs("ethtool", "ethtool")
def test_no_memory(capfdbinary, tmp_path, fail_each):
    """Each small allocation on the way up fails once, then each ring; a new MTU keeps what was there; nothing is left."""
    script = lines("""
        rmmod emery_host_nic
        insmod /card.ko queues=1
        ip link set eth0 up
        ethtool -G eth0 rx 32 tx 32
        $0 eth0
        cd /sys/kernel/debug/fail_page_alloc
        echo 5 >min-order; echo 100 >probability
        for k in 1 2 3; do
        echo $k >interval; echo 1 >times; ip link set eth0 up 2>&1; cat times; done
        echo 0 >times; echo 1 >interval; ip link set eth0 up
        echo 1 >times; ip link set eth0 mtu 1400 2>&1; cat times
        ip link show eth0
        echo 2 >times; ip link set eth0 mtu 1400 2>&1; cat times
        ip link show eth0
        echo 0 >times; ip link set eth0 up && ip link show eth0
        rmmod emery_host_nic
        sleep 7; echo scan >/sys/kernel/debug/kmemleak
        cat /sys/kernel/debug/kmemleak
        """)
    log = tmp_path / "log"
    settings = ["--guests", "1", "--debug", "--kernel-log", str(log)]
    status, out, err = guest(capfdbinary, *settings, "--program", fail_each, "--", "sh", "-c", script, fail_each)
    assert status == 0 and not err, err
    assert int(re.search(r"refused (\d+) times", out)[1]) >= 6 and "wrong state" not in out, out
    assert out.count("Cannot allocate memory\n0\n") == 5, out
    states = re.findall(r"<(.*?)> mtu (\d+)", out)
    assert [("LOWER_UP" in flags, mtu) for flags, mtu in states] == [(True, "1500"), (False, "1500"), (True, "1500")], out
    assert not WRONG.search(out + log.read_text())


@needs_linux
def test_without_msix(capfdbinary, tmp_path):
    log = tmp_path / "log"
    script = "ip link show eth0; insmod /card.ko 2>&1; echo; cat /proc/modules /proc/iomem"
    settings = ["--guests", "1", "--kernel-words", "pci=nomsi", "--kernel-log", str(log)]
    status, out, _ = guest(capfdbinary, *settings, "--", "sh", "-c", script)
    said = log.read_text()
    assert status == 0 and "emery_host_nic" not in out.split("\n\n")[0], out
    assert said.count("no MSI-X vectors") == 1 and not WRONG.search(said)


@needs_linux
@pytest.mark.parametrize("fault", ["poisoned_completion", "slow_host"])
def test_tcp_outlives_a_fault(capfdbinary, tmp_path, fault):
    """Which read is struck follows from ports that the kernel draws: one of descriptors ahead of their use may be of no
    consequence. Then another frame's is tried."""
    script = lines("""
        head -c 100000 /bin/busybox >sent
        for n in 1 2 3 4; do
        nc 10.0.0.2 7 <sent >got
        cmp sent got && echo same
        dmesg | grep -q "set up anew" && break; done
        """)
    for frame in range(30, 36):
        log = tmp_path / f"log{frame}"
        settings = [
            "--set",
            f"fault={fault}",
            "--set",
            f"fault_frame={frame}",
            *(["--set", "fault_us=2500"] if fault == "slow_host" else []),
            "--kernel-log",
            str(log),
        ]
        status, out, err = guest(capfdbinary, *settings, "--", "sh", "-c", script)
        anew = "set up anew" in log.read_text()
        # Status 1: of the last `grep`, where nothing was set up anew.
        assert status == (0 if anew else 1) and out in ["same\n" * n for n in ((1, 2, 3, 4) if anew else (4,))], out + err
        assert log.read_text().count("set up anew") == int(anew) and not WRONG.search(log.read_text())
        if anew:
            return
    pytest.fail("no fault was of any consequence")


@needs("ethtool", "ethtool")
def test_everything_under_load(capfdbinary, tmp_path):
    """Down and up, other MTUs and rings, unloaded, each in the middle of a TCP connection: each gets its bytes all the same.
    The kernel takes back once a second what is left of a pool whose pages a socket held."""
    script = lines("""
        free() { cat /sys/kernel/debug/dma-api/num_free_entries; }
        rmmod emery_host_nic
        free
        start() { insmod /card.ko; ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up; }
        start
        xdp eth0 pass
        head -c 200000 /bin/busybox >part; cat part part >sent
        send() { { cat part; sleep 0.01; cat part; } | nc 10.0.0.2 7 >got$1 & sleep 0.00001; }
        part() { [ $(wc -c <got$1) = 400000 ] || echo midway; }
        for n in 1 2; do
        send $n; ip link set eth0 down; part $n; ip link set eth0 up; done
        for n in 3000 600; do
        send $n; ip link set eth0 mtu $n; part $n; done
        send rings; ethtool -G eth0 rx 64 tx 64; part rings
        send last; rmmod emery_host_nic; part last
        start
        wait
        for n in 1 2 3000 600 rings last; do
        cmp sent got$n && echo same; done
        rmmod emery_host_nic
        sleep 3
        free
        """)
    log = tmp_path / "log"
    status, out, err = guest(capfdbinary, "--debug", "--kernel-log", str(log), "--", "sh", "-c", script)
    assert status == 0 and out.count("same\n") == 6 and out.count("midway\n") == 6, out + err
    mappings = re.findall(r"^(\d+)$", out, re.MULTILINE)
    assert len(mappings) == 2 and mappings[0] == mappings[1], "each page is back where it came from"
    said = HELD.sub("", log.read_text())
    assert not WRONG.search(said), said


COUNTED = ("rx_queue_stopped", "packets", "rx_packets_phy", "tx_packets_phy", "rx[0-2]_card_packets")


@needs("phc_ctl", "linuxptp")
def test_the_card_is_reset(capfdbinary, tmp_path):
    """By a user, as a function, in the middle of TCP and when it is down: all that was set is as it was, counters go on."""
    script = """
        free() { read n </sys/kernel/debug/dma-api/num_free_entries; echo free $n; }
        counted() {
            ethtool -S eth0 | grep -E "^ *(rx_queue_stopped|rx_packets_phy|tx_packets_phy|rx[0-2]_card_packets):"
            echo packets: $(cat /sys/class/net/eth0/statistics/rx_packets)
        }
        start() { insmod /card.ko; ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up; }
        reset=/sys/bus/pci/devices/0000:00:00.0/reset
        rmmod emery_host_nic; free; start
        ethtool -G eth0 rx 64; ethtool -C eth0 rx-usecs 7; ethtool -L eth0 combined 3; phc_ctl eth0 set 5000 >/dev/null 2>&1
        ethtool -N eth0 flow-type tcp4 src-ip 10.0.0.2 dst-ip 10.0.0.1 src-port 7 dst-port 5001 action 2 loc 9
        head -c 200000 /bin/busybox >part; cat part part >sent
        { cat part; sleep 0.01; cat part; } | nc 10.0.0.2 7 >got & sleep 0.00001
        echo 1 >$reset && [ $(wc -c <got) = 400000 ] || echo midway
        wait; cmp sent got && echo same
        phc_ctl eth0 get; ethtool -c eth0 | grep ^rx-usecs:; ethtool -n eth0 | grep Total; ethtool -l eth0 | grep -c "3$"
        counted; ip link set eth0 down; echo 1 >$reset && ip link set eth0 up; counted
        ping -q -c 1 10.0.0.2 | grep received
        rmmod emery_host_nic; sleep 3; free
        """
    log = tmp_path / "log"
    status, out, err = guest(capfdbinary, "--debug", "--kernel-log", str(log), "--", "sh", "-c", script)
    assert status == 0 and "midway\nsame\n" in out and "1 packets received" in out, out + err
    assert 5000 < float(re.search(r"clock time is ([0-9.]+)", out)[1]) < 5010, out
    assert "rx-usecs: 7\n" in out and "Total 1 rules\n" in out, out
    free = re.findall(r"free (\d+)", out)
    counts = {x: [int(n) for n in re.findall(rf"^ *{x}: (\d+)", out, re.MULTILINE)] for x in COUNTED}
    stopped, packets, received, sent, card = counts.values()
    card = [sum(card[:3]), sum(card[3:])]  # of three queues each time
    assert len(free) == 2 and free[0] == free[1], out
    assert stopped[0] <= stopped[1] and 400_000 / 1500 < packets[0] <= packets[1], out
    # The card's own, of the line and of queues, have what was before the first reset and the second.
    for of_card in (received, card):
        assert packets[0] <= of_card[0] <= of_card[1] and packets[1] <= of_card[1], out
    assert 400_000 / 1500 < sent[0] <= sent[1], out
    assert not WRONG.search(HELD.sub("", log.read_text())), log.read_text()


@needs("ethtool", "ethtool")
def test_the_card_is_pulled_out(capfdbinary, tmp_path):
    """In the middle of a TCP connection: the interface is detached, all that was lent comes back; the other guest goes on. The
    driver goes after the socket: of pages that one holds then, Linux 6.1 warns when it looks for mappings (docs/linux.md)."""
    script = lines("""
        free() { read n </sys/kernel/debug/dma-api/num_free_entries; echo free $n; }
        rmmod emery_host_nic
        free
        insmod /card.ko; ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up
        nc 10.0.0.2 7 </bin/busybox >/dev/null &
        for i in 1 2 3 4 5 6; do [ "$n" = 0 ] || sleep 0.5; read n </sys/class/net/eth0/carrier; done
        ethtool -S eth0
        ip link set eth0 mtu 1400
        : >/host/gone
        until [ -e /host/other ]; do sleep 0.2; done
        kill %1; wait
        rmmod emery_host_nic
        insmod /card.ko
        ls /sys/class/net
        echo 1 >/sys/bus/pci/devices/0000:00:00.0/remove
        sleep 2
        free
        exit 7
        """)
    peer = lines("""
        until [ -e /host/gone ]; do sleep 0.2; done
        ip link set eth0 down; ip link set eth0 up
        dmesg -c >/dev/null
        ethtool -S eth0 | grep tx_packets_phy
        arping -q -c 2 -w 1 -I eth0 10.0.0.9
        ethtool -S eth0 | grep tx_packets_phy
        ip link show eth0; dmesg
        : >/host/other
        """)
    log, said = tmp_path / "log", tmp_path / "said"
    settings = ["--debug", "--set", "fault=surprise_removal", "--set", "fault_frame=200", "--kernel-log", str(log)]
    status, out, err = guest(capfdbinary, *settings, "--peer-log", str(said), "--peer", peer, "--", "sh", "-c", script)
    assert status == 7 and err.count("No such device") == 2, err
    free = re.findall(r"free (\d+)", out)
    assert len(free) == 2 and free[0] == free[1] and "eth0" not in out, out
    assert log.read_text().count("the card has gone") == 1 and not WRONG.search(HELD.sub("", log.read_text()))
    other = said.read_text()
    sent = [int(x) for x in re.findall(r"tx_packets_phy: (\d+)", other)]
    assert sent[1] >= sent[0] + 2 and "LOWER_UP" in other and not WRONG.search(other), other


@needs_linux
def test_the_simulator_dies(capfd, monkeypatch):
    """By a signal, in the middle of a run: one line says so, and nobody waits."""

    def sleep(seconds, before=run.time.sleep):
        before(seconds)
        if cards and (folder := Path(cards[0].args[1]).parent / "go").exists():
            cards.pop().send_signal(signal.SIGKILL)
            folder.unlink()

    cards = []
    start = run.Simulator.__init__
    monkeypatch.setattr(run.Simulator, "__init__", lambda self, *words: (start(self, *words), cards.append(self.child))[0])
    monkeypatch.setattr(run.time, "sleep", sleep)
    assert main(["linux", "--", "sh", "-c", ": >/host/go; while :; do ping -q -c 1 10.0.0.2; done >/dev/null"]) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "the simulator has ended" in said, said


@needs_linux
def test_down_and_up_again_and_again(capfdbinary, tmp_path):
    """As many mappings and objects of the kernel's as before (docs/linux.md has the thousand)."""
    script = lines("""
        again() { n=0; while [ $n -lt $1 ]; do ip link set eth0 down; ip link set eth0 up; n=$((n+1)); done; }
        count() { cat /sys/kernel/debug/dma-api/num_free_entries; grep -E '^(kmalloc|skbuff|page)' /proc/slabinfo; }
        again 2
        count
        again 20
        echo after; count
        sleep 6; echo scan >/sys/kernel/debug/kmemleak; cat /sys/kernel/debug/kmemleak
        """)
    log = tmp_path / "log"
    status, out, err = guest(capfdbinary, "--guests", "1", "--debug", "--kernel-log", str(log), "--", "sh", "-c", script)
    assert status == 0 and not WRONG.search(out + log.read_text()), out + err
    before, after = ([x.split() for x in part.strip().splitlines()] for part in out.split("after\n"))
    assert before[0] == after[0] and len(before) == len(after) > 10, "mappings"
    grown = {name: int(count) - int(old[1]) for old, (name, count, *_) in zip(before[1:], after[1:], strict=True)}
    assert max(grown.values()) < 10, grown

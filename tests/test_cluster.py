# SPDX-License-Identifier: Apache-2.0
"""Sweeps on a Dask cluster: a real scheduler and real workers on this machine, one of which is killed in mid-run."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import body, stream

import emery
from emery import executors
from emery.cli import main, packages
from emery.common import ROOT, UserError, cache_dir

MODULES = "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"


@pytest.fixture(scope="module")
def site():
    """The folder of the packages, which the launcher brings when they are asked for; nobody is at that port."""
    words = ["sweep", "host-nic", "--over", "mps=128", "--executor", "dask://127.0.0.1:1"]
    done = subprocess.run([sys.executable, str(ROOT / "emery"), *words], capture_output=True, text=True)
    assert done.returncode == 2 and "no Dask scheduler answers there (" in done.stderr.splitlines()[-1], done.stderr
    wanted = (ROOT / "requirements" / "dask.txt").read_text()
    homes = (Path(os.environ.get("EMERY_HOME") or ROOT) / ".venv").glob("dask-*")
    version = next(x for x in wanted.splitlines() if x.startswith("distributed==")).partition("==")[2]
    found = next(x for x in homes if (x / f"distributed-{version}.dist-info").is_dir())
    sys.path.insert(0, str(found))
    yield found
    sys.path.remove(str(found))


class Machines:
    """A scheduler, and workers of one thread each; they see the packages of Dask, and nothing of Emery unless told to."""

    def __init__(self, site: Path, folder: Path):
        self.site, self.folder, self.processes = site, folder, []
        known = folder / "scheduler.json"
        self.start(MODULES[0], "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", known)
        until = time.monotonic() + 300
        while not (known.exists() and known.read_text().endswith("}")) and time.monotonic() < until:
            time.sleep(0.05)
        self.address = json.loads(known.read_text())["address"]
        self.executor = self.address.replace("tcp", "dask")

    def start(self, module: str, *words, path: str = "", **more):
        """A process of Dask's."""
        environment = {x: y for x, y in os.environ.items() if x not in ("PYTHONPATH", "EMERY_CACHE")} | more
        environment["PYTHONPATH"] = f"{self.site}{path}"
        log = open(self.folder / f"log{len(self.processes)}", "w")  # noqa: SIM115 - its process has it
        command = [sys.executable, "-m", module, *map(str, words)]
        self.processes.append(subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log))
        return self.processes[-1]

    def worker(self, **more):
        """One more worker."""
        own = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", self.folder)
        return self.start(MODULES[1], self.address, *own, **more)

    def end(self):
        for x in self.processes:
            x.kill()
            x.wait()


@pytest.fixture
def machines(site, tmp_path):
    found = Machines(site, tmp_path)
    yield found
    found.end()


def swept(folder: Path, name: str, *words) -> tuple[int, str, list[dict]]:
    """Status, and the finished runs by what they follow from, without the time that they took."""
    out = folder / f"{name}.jsonl"
    status = main(["sweep", "host-nic", "--out", str(out), *map(str, words)])
    kept = sorted(map(json.loads, out.read_text().splitlines()), key=lambda x: x["key"]) if out.exists() else []
    for x in kept:
        x["result"].pop("wall_s")
    return status, kept


def test_a_worker_is_killed_in_mid_run(machines, tmp_path, fake, capsys):
    """What it had is done by the other one; the table and all results are those of this machine; what fails fails alike."""
    parents = tmp_path / "parents"
    both = {"tx": stream(100), "rx": stream(100, {"rx_buffer_full": 4})}
    code = f"open({str(parents)!r}, 'a').write(f'{{os.getppid()}} {{os.getpid()}}\\n'); time.sleep(0.4)\n"
    code += "if settings['seed'] == '5': print('integrity: lost', file=sys.stderr); sys.exit(1)\n"
    fake(body(both, stream(200, {"rx_buffer_full": 4})), code=code)
    points = ("--over", "seed=1,2,3,4,5,6,7,8", "--size", "64")
    here = swept(tmp_path, "here", *points)
    table = capsys.readouterr().out.splitlines()[:-1]
    parents.unlink()
    for _ in range(2):
        machines.worker()
    killed = []

    def kill():
        while not parents.exists() or not parents.read_text().endswith("\n"):
            time.sleep(0.02)
        killed.extend(map(int, parents.read_text().splitlines()[0].split()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    there = swept(tmp_path, "there", *points, "--executor", machines.executor)
    killer.join()
    assert capsys.readouterr().out.splitlines()[:-1] == table and there == here and here[0] == 1 and len(here[1]) == 7
    assert killed[0] in [x.pid for x in machines.processes] and killed[0] != os.getpid()
    by = [x.split() for x in parents.read_text().splitlines()]
    assert len(by) == 9 and len({x for x, _ in by}) == 2  # one was begun twice
    with pytest.raises(ProcessLookupError):
        os.kill(killed[1], 0)  # the simulator of the worker that was killed
    again = swept(tmp_path, "there", *points, "--executor", machines.executor)
    assert again == there and len(parents.read_text().splitlines()) == 10  # only what had failed


def test_real_runs_here_and_there(machines, tmp_path, capsys):
    """Another machine than this one builds its own simulator, of the Emery that it has; one without Emery says so."""
    points = ("--over", "seed=1,2", "--over", "direction=tx,both", "--size", "64", "--frames", "200")
    here = swept(tmp_path, "here", *points)
    machines.worker()
    there = swept(tmp_path, "there", *points, "--executor", machines.executor)
    assert there == here and here[0] == 0 and len(here[1]) == 4
    capsys.readouterr()


def test_another_kind_of_machine(machines, tmp_path, capsys, monkeypatch):
    from emery import cluster

    plain = cluster.Cluster._send
    strange = tmp_path / "strange"
    strange.write_bytes(b"\x7fELF of another processor")
    monkeypatch.setattr(cluster.Cluster, "_send", lambda self, path: plain(self, strange if path.endswith("-sim") else path))
    points = ("--over", "seed=1", "--size", "64", "--frames", "200", "--direction", "tx")
    plainly = machines.worker()
    status, kept = swept(tmp_path, "without", *points, "--executor", machines.executor)
    assert status == 1 and not kept and "cannot run the simulator, and has no Emery" in capsys.readouterr().out
    plainly.kill()
    sets = [x for x in sys.path if "/.venv/" in x and "dask-" not in x]
    machines.worker(path=os.pathsep + os.pathsep.join([str(ROOT / "src"), *sets]), EMERY_CACHE=str(cache_dir()))
    there = swept(tmp_path, "own", *points, "--executor", machines.executor)
    monkeypatch.undo()
    assert there == swept(tmp_path, "here", *points) and there[0] == 0
    capsys.readouterr()


@pytest.mark.parametrize("what", ["python", "distributed"])
def test_a_worker_with_another_version(machines, tmp_path, capsys, monkeypatch, what):
    import distributed

    plain = distributed.Client.get_versions

    def versions(self):
        found = plain(self)
        found["workers"]["tcp://10.0.0.1:1"] = {
            "host": {"python": "3.9.1"},
            "packages": {**found["client"]["packages"], what: "3.9.1"},
        }
        return found

    monkeypatch.setattr(distributed.Client, "get_versions", versions)
    assert main(["sweep", "host-nic", "--over", "seed=1", "--executor", machines.executor]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"tcp://10.0.0.1:1 has {what} 3.9" in line


def test_something_else_is_there(site, capsys):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        def greet():
            with other.accept()[0] as line:
                line.sendall(b"SSH-2.0-other\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        assert main(["search", "host-nic", "--executor", f"dask://127.0.0.1:{port}"]) == 2
        thread.join()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"emery: --executor dask://127.0.0.1:{port}: no Dask scheduler answers there")


@pytest.mark.parametrize(
    "text", ["tcp://a:1", "dask://", "dask://a", "dask://a:0", "dask://a:65536", "dask://a:b", "dask://a b:1"]
)
def test_addresses_that_are_none(text, capsys):
    for command in (["sweep", "host-nic", "--over", "seed=1"], ["reproduce", "host-nic"], ["search", "host-nic"]):
        assert main([*command, "--executor", text]) == 2
        assert capsys.readouterr().err == f"emery: --executor {text}: write it as dask://HOST:PORT\n"


def test_addresses():
    assert executors.address("dask://node-3.cluster:8786") == ("node-3.cluster", 8786)
    assert executors.address("dask://[::1]:8786") == ("::1", 8786)
    words = ["sweep", "host-nic", "--over", "seed=1"]
    assert packages(words) == ("run",) and packages([*words, "--executor", "dask://a:1"]) == ("run", "dask")
    for call in (
        lambda: emery.sweep("host-nic", {"seed": [1]}, executor="a:1"),
        lambda: emery.search("host-nic", executor="a:1"),
    ):
        with pytest.raises(UserError, match="write it as dask://HOST:PORT"):
            call()

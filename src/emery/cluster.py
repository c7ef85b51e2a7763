# SPDX-License-Identifier: Apache-2.0
"""Runs on a Dask cluster: `--executor dask://HOST:PORT`.

Simulators and all files that they read go to the workers by content, once each, with what runs them (emery.remote); results
come back as the simulator wrote them, and are completed and kept here, as those of local runs are. A run whose worker is
killed is done by another one.
"""

import json
import logging
import os
import socket
import threading
import uuid
import warnings
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path

from emery import __version__, executors, runs
from emery.common import ROOT, UserError, jobs
from emery.make import build, cache
from emery.runs import IntegrityError

try:
    import cloudpickle
    import dask
    import distributed

    from emery import remote
except ImportError as _missing:
    _why = f"--executor: {_missing.name} is missing: pip install -r {ROOT / 'requirements' / 'dask.txt'}"
    raise UserError(_why) from _missing

_PATIENCE = 10  # seconds for a scheduler to answer
_GREETING = 1 << 16  # bytes at the most
_ALIKE = ("python", "distributed", "cloudpickle", "msgpack")  # what must be the same here and there
_LEAST, _MOST = 32, 1024  # runs that are with the cluster at once: more than it can do, so that it never waits


class _Whole:
    """A function that goes with all that it is, not by a name that only this machine knows."""

    def __init__(self, function):
        self._packed = cloudpickle.dumps(function)

    def __reduce__(self):
        return cloudpickle.loads, (self._packed,)

    def __call__(self, *_):  # what is sent has to be callable here
        raise NotImplementedError


class Cluster:
    """A cluster; as an executor see `executors.Local`."""

    def __init__(self, text: str):
        self.text = text
        self._session = uuid.uuid4().hex
        self._sent: set[str] = set()
        self._recipes: dict[Path, str] = {}
        self._guard = threading.Lock()
        self._builders = threading.Semaphore(jobs())
        self._futures: set = set()
        self._stopped = False
        for name in ("distributed", *(x for x in logging.root.manager.loggerDict if x.startswith("distributed."))):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what is wrong is told in a line
        dask.config.set({"distributed.comm.timeouts.connect": _PATIENCE, "distributed.comm.retry.count": 0})
        try:
            _greet(*executors.address(text))
            place = f"tcp://{text.removeprefix('dask://')}"
            with warnings.catch_warnings(action="ignore"):  # of versions; `_check` looks at those that matter
                self._client = distributed.Client(place, timeout=_PATIENCE, set_as_default=False)
        except Exception as error:  # whatever answers there, or does not
            raise UserError(f"--executor {text}: no Dask scheduler answers there ({_name(error)})") from error
        try:
            self._check()
            cloudpickle.register_pickle_by_value(remote)
            self._run = _Whole(remote.run)
            self._client.register_plugin(remote.Sessions())
        except BaseException:
            self.close()
            raise

    def _check(self):
        """Refuses a cluster that would not understand what it is sent."""
        try:
            found = self._client.get_versions()
        except Exception as error:
            raise UserError(f"--executor {self.text}: the scheduler does not answer as one ({_name(error)})") from error
        for name, own in {"the scheduler": found["scheduler"], **found["workers"]}.items():
            for what in _ALIKE:
                here, there = (_version(what, x) for x in (found["client"], own))
                if here != there:
                    line = f"{name} has {what} {there}, here it is {here}"
                    raise UserError(f"--executor {self.text}: {line} (docs/sweep.md says how to set up workers)")

    @property
    def side_by_side(self) -> int:
        """How many runs are with it at once."""
        threads = sum(self._client.nthreads().values())
        return min(max(_LEAST, 2 * threads), _MOST)

    @contextmanager
    def building(self):
        """Held while a simulator is built: here, by as many as this machine bears."""
        with self._builders:
            yield

    def _send(self, path: str) -> str:
        """Has all workers get a file, unless they have it; gives its digest."""
        digest = cache.file_digest(Path(path))
        with self._guard:
            if digest not in self._sent:
                self._client.register_plugin(remote.File(digest, Path(path).read_bytes()))
                self._sent.add(digest)
        return digest

    def _recipe(self, plan) -> str:
        if plan.program not in self._recipes:
            self._recipes[plan.program] = build.recipe(plan.system, plan.values)
        return self._recipes[plan.program]

    def elsewhere(self, plan, settings: dict) -> tuple[dict | None, str]:
        """Runs the simulator of a plan (see `runs.simulate`)."""
        told = runs.as_told(settings)
        system = plan.system
        own = bool(system.extensions) or not system.folder.is_relative_to(ROOT)
        made = {"system": "" if own else system.name, "values": plan.values, "version": __version__}
        try:
            files = {name: self._send(x) for name, x in told.items() if os.path.isabs(x) and os.path.isfile(x)}
            made["recipe"] = self._recipe(plan)
            words = (self._send(str(plan.program)), told, files, made, self._session)
            key = f"emery-{plan.key}-{self._session}"
            with self._guard:
                if self._stopped:
                    raise CancelledError
                future = self._client.submit(self._run, *words, key=key, pure=False)
                self._futures.add(future)
            try:
                status, lines, text = future.result()
            finally:
                with self._guard:
                    self._futures.discard(future)
                future.release()
        except distributed.KilledWorker as error:
            raise IntegrityError(
                f"on the cluster: each of {1 + error.allowed_failures} workers ended that had it", None
            ) from error
        except (CancelledError, distributed.CancelledError) as error:
            why = "the run was stopped" if self._stopped else "the scheduler has ended, or has lost it"
            raise IntegrityError(f"on the cluster: {why}", None) from error
        except (OSError, TimeoutError) as error:
            raise IntegrityError(f"on the cluster: it cannot be reached any more ({_name(error)})", None) from error
        last = lines[-1] if lines else ""
        if status is None:
            raise IntegrityError(f"on the cluster: {last}", None)
        return runs.outcome(status, last, json.loads(text) if text else None)

    def stop(self):
        """Runs that are under way end, on the workers too."""
        with self._guard:
            self._stopped = True
            futures = list(self._futures)
        with suppress(Exception):
            self._client.cancel(futures, force=True)
            self._client.run(remote.stop, self._session, on_error="ignore")

    def close(self):
        """Takes back what was sent, and leaves."""
        with suppress(Exception):
            for digest in self._sent:
                self._client.unregister_worker_plugin(f"emery-{digest}")
        with suppress(Exception):
            self._client.close(timeout=_PATIENCE)


def _greet(host: str, port: int):
    """Refuses what is no scheduler before one is talked to: a scheduler greets whoever comes, with a message of known length;
    a client of Dask would wait for it without end."""
    with socket.create_connection((host, port), _PATIENCE) as line:
        line.settimeout(_PATIENCE)
        length = line.recv(8)
    if len(length) != 8 or int.from_bytes(length, "little") > _GREETING:
        raise ConnectionError("something else is there")


def _name(error: BaseException) -> str:
    """An error in a few words."""
    words = " ".join(str(error).split())
    return words[:120] or type(error).__name__


def _version(what: str, of: dict) -> str:
    found = of["packages"].get(what) or of["host"].get(what) or "none"
    return ".".join(str(found).split(".")[:2]) if what == "python" else str(found)

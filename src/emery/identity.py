# SPDX-License-Identifier: Apache-2.0
"""What a result follows from, by content: two results of one identity are the same result."""

import hashlib
import inspect
import json
import os
import subprocess
from functools import cache as once
from pathlib import Path

from emery import __version__, capture, extension, limits, physics, shapes, workload
from emery.common import ROOT
from emery.make import cache


@once
def commit() -> str:
    """The commit of the checkout, with `+` when it has been changed since; empty when there is none."""
    try:
        git = ["git", "-C", str(ROOT)]
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*git, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True)
    except OSError:  # no git on this machine
        return ""
    return head.stdout.strip() + "+" * bool(changed.stdout.strip()) if head.returncode == 0 else ""


def _digest(*parts) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _files(settings: dict) -> dict:
    """The settings that name files, by the digests of their contents."""
    return {name: cache.file_digest(Path(x)) for name, x in settings.items() if isinstance(x, str) and os.path.isfile(x)}


def identity(system, values: dict, program: Path, made: dict, traffic: dict) -> dict:
    """The `identity` of a result: `made` are the settings that follow from the parameters (programs of the cores among them),
    `traffic` those of the workload.

    Its `digest` covers all that decides the result: the simulator (RTL, bench, compiler), what is loaded into the device,
    parameters, workload, contents of captures and tables, what reads captures and workload, what computes the limit, and
    folders of the user's own that were given by `--with`. Where files lie does not matter.
    """
    programs, inputs = _files(made), _files(traffic)
    hook = system.hook("loads")
    arithmetic = [cache.file_digest(Path(inspect.getfile(x))) for x in (limits, physics, capture, workload, shapes)]
    arithmetic += [cache.file_digest(system.folder / f"{system.python['loads']}.py")] if hook else []
    arithmetic += [x.digest for x in system.extensions]
    if not system.folder.is_relative_to(ROOT):
        arithmetic.append(extension.contents(system.folder))
    model = cache.file_digest(program)
    told = {name: x for name, x in {**made, **traffic}.items() if name not in programs and name not in inputs}
    own = {"with": [x.tell() for x in system.extensions]} if system.extensions else {}
    return {
        "version": __version__,
        "commit": commit(),
        "model": model,
        "programs": programs,
        "inputs": inputs,
        **own,
        "digest": _digest(system.name, model, programs, inputs, told, values, arithmetic),
    }


def changed(found: dict, debugger: dict | None) -> dict:
    """The `identity` of a result that follows from something else besides: what a debugger has changed in mid-run."""
    return {**found, "debugger": debugger, "digest": _digest(found["digest"], debugger)} if debugger else found

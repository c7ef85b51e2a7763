# SPDX-License-Identifier: Apache-2.0
"""Commands about this machine."""

import json

from emery.completion import SHELLS


def _doctor(arguments) -> int:
    from emery import doctor

    found = doctor.findings()
    print(json.dumps(doctor.as_json(found), indent=2) if arguments.json else doctor.text(found))
    return int(any(x.required and not x.found for x in found))


def _completion(arguments):
    from emery import cli, completion

    print(completion.script(arguments.shell, cli.parsers()))


def add(command):
    """Adds these commands; `command(name, function, packages, text)` gives the parser of one."""
    doctor = command(
        "doctor", _doctor, "", "what is on this machine, what is missing, the command that mends it; status 1: no run"
    )
    doctor.add_argument("--json", action="store_true", help="the same as JSON")
    completion = command("completion", _completion, "", 'completes words in a shell: eval "$(./emery completion bash)"')
    completion.add_argument("shell", choices=SHELLS)

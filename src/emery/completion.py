# SPDX-License-Identifier: Apache-2.0
"""Scripts that complete words in a shell: commands, systems, options and their values, names of parameters after --set."""

import argparse
import shlex

from emery import boards, shapes, system
from emery.workload import DIRECTIONS, NAMED

SHELLS = ("bash", "zsh")


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [x for action in parser._actions for x in action.option_strings if x.startswith("--")]


def _values(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """What may follow an option: the values it may have, nothing where it takes one of its own, files otherwise."""
    found = {}
    for action in parser._actions:
        for option in action.option_strings:
            if action.choices:
                found[option] = list(action.choices)
            elif option == "--direction":
                found[option] = list(DIRECTIONS)
            elif option == "--size":
                found[option] = ["64", "1518", "9018", *NAMED]
            elif action.dest in shapes.WORDS:
                found[option] = list(shapes.WORDS[action.dest])
    return found


def _places(parser: argparse.ArgumentParser) -> list[str]:
    """The words that stand without an option."""
    places = [x for x in parser._actions if not x.option_strings]
    return [x for y in places for x in (boards.names() if y.metavar == "BOARD" else y.choices or ())]


def _takes_system(parser: argparse.ArgumentParser) -> bool:
    return any(
        x.metavar in ("SYSTEM", "SYSTEM|BLOCK", "SYSTEM|FILE") or x.dest == "system" and not x.option_strings
        for x in parser._actions
    )


def _words(words) -> str:
    return shlex.quote(" ".join(words))


def script(shell: str, commands: dict[str, argparse.ArgumentParser]) -> str:
    """To be read by the shell: `eval "$(./emery completion bash)"`."""
    systems = system.names()
    lines = ["# SPDX-License-Identifier: Apache-2.0", "_emery() {"]
    lines += [f"  local commands={_words(commands)} systems={_words(systems)} cur=${{COMP_WORDS[COMP_CWORD]}} words=''"]
    lines += ["  local before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} chosen=${COMP_WORDS[2]}", "  COMPREPLY=()"]
    lines += ["  if [ $COMP_CWORD -eq 1 ]; then", '    COMPREPLY=($(compgen -W "$commands" -- "$cur"))', "    return", "  fi"]
    lines += ['  if [ "$before" = --set ] || [ "$before" = --over ]; then', '    case "$chosen" in']
    for name in systems:
        parameters = system.load(name).parameters
        lines += [f"      {name}) words={_words(f'{x}=' for x in parameters)} ;;"]
    lines += [
        "    esac",
        "    compopt -o nospace 2>/dev/null",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "    return",
        "  fi",
    ]
    lines += ['  case "$command $before" in']
    for name, parser in commands.items():
        lines += [f"    {shlex.quote(f'{name} {x}')}) words={_words(y)} ;;" for x, y in _values(parser).items()]
    lines += ["  esac"]
    lines += ['  if [ -n "$words" ]; then', '    COMPREPLY=($(compgen -W "$words" -- "$cur"))', "    return", "  fi"]
    lines += ['  case "$command" in']
    for name, parser in commands.items():
        own = " ".join([*["$systems"] * _takes_system(parser), *_places(parser), *_options(parser)])
        lines += [f'    {name}) words="{own}" ;;']
    lines += ["  esac", '  COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))', "}"]
    lines += ["complete -F _emery emery ./emery"]
    first = ["autoload -U +X bashcompinit && bashcompinit"] if shell == "zsh" else []
    return "\n".join([*first, *lines])

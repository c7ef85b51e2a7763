# SPDX-License-Identifier: Apache-2.0
"""Scripts that complete words in a shell: commands, systems, options and their values, names of parameters after --set."""

import argparse
import shlex

from emery import boards, shapes, system
from emery.workload import DIRECTIONS, NAMED

SHELLS = ("bash", "zsh", "fish")


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
    """To be read by the shell: `eval "$(./emery completion bash)"`; fish: `./emery completion fish | source`."""
    return _fish(commands) if shell == "fish" else _bash(shell, commands)


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    """Lines of `complete`, which fish joins itself."""
    lines = ["# SPDX-License-Identifier: Apache-2.0", "complete -c emery -n __fish_use_subcommand -f -a " + _words(commands)]
    for name, parser in commands.items():
        seen = f"complete -c emery -n '__fish_seen_subcommand_from {name}'"
        places = [*(system.names() if _takes_system(parser) else ()), *_places(parser)]
        if places:
            lines.append(f"{seen} -a {_words(places)}")
        values = _values(parser)
        for action in parser._actions:
            for option in (x.removeprefix("--") for x in action.option_strings if x.startswith("--")):
                told = f" -d {shlex.quote(action.help)}" if action.help and "%" not in action.help else ""
                if found := values.get(f"--{option}"):
                    told += f" -x -a {_words(found)}"
                elif action.nargs != 0 and option not in ("set", "over"):
                    told += " -r"
                lines.append(f"{seen} -l {option}{told}")
    for one in system.names():
        there = f"__fish_seen_subcommand_from {one}; and __fish_prev_arg_in --set --over"
        lines.append(f"complete -c emery -n {shlex.quote(there)} -f -a {_words(f'{x}=' for x in system.load(one).parameters)}")
    return "\n".join(lines)


def _bash(shell: str, commands: dict[str, argparse.ArgumentParser]) -> str:
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

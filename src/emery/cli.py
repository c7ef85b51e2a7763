# SPDX-License-Identifier: Apache-2.0
"""The command line."""

import sys

from emery import build
from emery.common import UserError


def main(arguments: list[str]) -> int:
    """Runs one command; gives the exit status."""
    try:
        build.main(arguments[1:])
        return 0
    except UserError as error:
        print(f"emery: {error}", file=sys.stderr)
        return 2

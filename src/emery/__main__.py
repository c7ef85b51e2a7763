# SPDX-License-Identifier: Apache-2.0
"""`python -m emery`, and the `emery` of an installed package."""

import sys

from emery import signals

signals.listen()  # what follows takes its time

from emery import process  # noqa: E402
from emery.cli import main  # noqa: E402


def run():
    """Runs the command line's words; ends the process."""
    process.open_standard_streams()
    process.guard()
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()

# SPDX-License-Identifier: Apache-2.0
"""`python -m emery`."""

import sys

from emery import process
from emery.cli import main

process.guard()
sys.exit(main(sys.argv[1:]))

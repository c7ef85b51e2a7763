# SPDX-License-Identifier: Apache-2.0
"""`python -m emery`."""

import sys

from emery.cli import main

sys.exit(main(sys.argv[1:]))

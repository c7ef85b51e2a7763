# SPDX-License-Identifier: Apache-2.0
"""Commands in guests of `./emery linux`, as tests run them."""

import re
import shutil

import pytest

from emery.cli import main
from emery.make import linux

# What a kernel says when a module does wrong.
WRONG = re.compile(r"WARNING|BUG:|Call Trace|stalled pool|unreferenced object|=====")

# What Linux 6.1 says under --debug of a driver that is removed while a socket holds pages of its pool: true, and of this kernel
# (docs/linux.md). Whether a socket does is a matter of when its reader has the processor.
HELD = re.compile(
    r"^-+\[ cut here (?:(?!end trace).)*dma_debug_device_change(?:(?!end trace).)*BIDIRECTIONAL.*?end trace.*?$", re.M | re.S
)

has_linux = pytest.mark.skipif(bool(linux.missing()), reason=f"Debian packages: {' '.join(linux.missing())}")


def needs_linux(test):
    """A test in guests: their kernel is compiled first, which takes as long as fifty tests, so `./emery test --slow` has it."""
    return pytest.mark.slow(has_linux(test))


def needs(program, package):
    """Likewise, with a program of this machine."""
    there = pytest.mark.skipif(not shutil.which(program), reason=f"Debian package {package}")
    return lambda test: needs_linux(there(test))


def guest(capfdbinary, *words):
    """Status, output and errors of `./emery linux`."""
    status = main(["linux", *words])
    out, err = capfdbinary.readouterr()
    return status, out.decode(), err.decode()


def lines(text):
    """A shell's words of several lines, which one argument may not have."""
    return "; ".join(x.strip() for x in text.strip().splitlines()).replace("do;", "do").replace("&;", "&")

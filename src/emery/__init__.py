# SPDX-License-Identifier: Apache-2.0
"""Programmable network interfaces in RTL, on a cycle-accurate bench."""

__version__ = "0.2.0"

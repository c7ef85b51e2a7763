# SPDX-License-Identifier: Apache-2.0
"""Emery: programmable network interfaces in RTL, on a cycle-accurate native bench."""

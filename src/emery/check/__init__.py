# SPDX-License-Identifier: Apache-2.0
"""Checks of the sources: the suite, lint and formatters, proofs, area, the map of the RTL."""

# SPDX-License-Identifier: Apache-2.0
"""Machines with an operating system of their own around a simulated card (`./emery linux`)."""

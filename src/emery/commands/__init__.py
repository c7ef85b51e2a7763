# SPDX-License-Identifier: Apache-2.0
"""The commands, a file for those of a kind. What a command needs is imported when it runs (see cli)."""

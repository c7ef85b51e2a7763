# SPDX-License-Identifier: Apache-2.0
"""From sources to what runs: builds, their cache, compilers, generated files, programs of cores."""

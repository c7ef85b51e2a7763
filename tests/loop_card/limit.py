# SPDX-License-Identifier: Apache-2.0
"""The wire is all there is."""

from emery.physics import ethernet_fps, mean_size, rates


def limit(values: dict, workload) -> dict:
    """Line rate."""
    sizes = workload.sizes()
    seconds = sum(share / ethernet_fps(size, 1) for size, share in sizes.items()) / sum(sizes.values())
    return {**rates(1 / seconds, mean_size(sizes)), "by": "line"}

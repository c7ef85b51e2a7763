# SPDX-License-Identifier: Apache-2.0
"""host-nic's offloads in use each alone and in every pair, both ways at once.

Checksums that are received, hash, queue and stamp of each record are checked by every run, as is each byte.
"""

import itertools

import pytest

BUILT = {"receive_coalescing": True, "header_split": True, "vlan_tags": True, "rx_queues": 16, "tx_queues": 16}
# What uses each, and what tells that it was used; what is built is not used otherwise.
IDLE = {"coalesce_bytes": 0, "header_bytes": 1}
USED = {
    "checksum": {"tx_checksum": True},
    "tags": {},
    "coalescing": {"coalesce_bytes": 8192},
    "steering": {"steered_flows": 8},
    "split": {"header_bytes": 128},
    "segments": {"tso": True},
}
# A sum is the driver's to leave where a packet is not cut.
PAIRS = [(x,) for x in USED] + list(itertools.combinations(USED, 2)) + [tuple(USED)[:-1], tuple(USED)[1:]]


@pytest.mark.parametrize("uses", PAIRS, ids="-".join)
def test_offloads(simulate, uses):
    settings = BUILT | IDLE | {"train": 6}
    for use in uses:
        settings |= USED[use]
    words = ("--size", "600", "--frames", "360", "--flows", "20", "--rate", "0.5", "--ipv6", "0.3", "--direction", "both")
    result = simulate("host-nic", *words, *(("--vlan", "0.5") if "tags" in uses else ()), **settings)
    assert all(x["offered"] == x["delivered"] for x in result["streams"].values())
    driver, resources = result["resources"]["driver"], result["resources"]
    counted = {
        "checksum": driver["checksums"],
        "tags": min(driver["tags_left"], driver["tags_taken"]),
        "coalescing": driver["aggregates"],
        "steering": resources["steering"]["flows"],
        "split": driver["headers_split"],
        "segments": resources["segmented"]["packets"],
    }
    assert {name for name, count in counted.items() if count} == set(uses), counted

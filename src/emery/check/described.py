# SPDX-License-Identifier: Apache-2.0
"""Whether a result is what its system's schema says (packages: test)."""

from jsonschema import Draft202012Validator

from emery.schema import result_schema


def undescribed(system, result: dict) -> str:
    """What of a result of that system is against its schema, the first in the order of the result; empty when nothing is."""
    for error in Draft202012Validator(result_schema(system)).iter_errors(result):
        return f"{'.'.join(map(str, error.absolute_path)) or 'result'}: {error.message[:200]}"
    return ""

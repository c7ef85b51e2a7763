// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object that somebody else has sent: each value as its text, by name (a name
// with escapes as it is written).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace emery {

using JsonMembers = std::map<std::string, std::string, std::less<>>;

/// Nothing when the text is not one JSON object, or one too deep.
std::optional<JsonMembers> json_members(std::string_view text);

}  // namespace emery

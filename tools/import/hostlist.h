// Slurm's host lists: "gpu[000-003,010],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

inline constexpr int kMostHosts = 200'000;
inline constexpr size_t kMostHostName = 253;  // characters, as in the domain name system

// The names in order; numbers keep their leading zeros, several brackets multiply. Throws an
// InputError, which `place` opens, for unbalanced brackets, descending ranges, empty names and
// names longer than kMostHostName, and for more than kMostHosts.
std::vector<std::string> ExpandHostlist(std::string_view list, const std::string& place);

}  // namespace stagecraft

// Slurm's host lists: "gpu[000-003,010],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

inline constexpr int kMostHosts = 200'000;
inline constexpr size_t kMostHostName = 253;  // characters, as in the domain name system

// Returns the names in order. Numbers keep their leading zeros; a name with several brackets stands
// for all combinations. Throws an InputError that begins with `place` for unbalanced brackets,
// descending ranges, empty names, names longer than kMostHostName, and more than kMostHosts names.
std::vector<std::string> ExpandHostlist(std::string_view list, const std::string& place);

}  // namespace stagecraft

// Slurm's host lists: "gpu[000-003,010],login1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

inline constexpr int kMostHosts = 200'000;

// The names in order; numbers keep their leading zeros, several brackets multiply.
// Throws InputError, which `place` opens, for unbalanced brackets, ranges that
// fall, empty names and more than kMostHosts of them.
std::vector<std::string> ExpandHostlist(std::string_view list, const std::string& place);

}  // namespace stagecraft

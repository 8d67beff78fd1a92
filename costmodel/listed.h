// Listed: names in a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// Returns the names with ", " between them and `last`, such as " or ", before the last one: "a, b
// or c". Each name stands between two `quote`s.
std::string Listed(const std::vector<std::string>& names, std::string_view last,
                   std::string_view quote = "");

}  // namespace stagecraft

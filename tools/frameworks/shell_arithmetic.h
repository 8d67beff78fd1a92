// The value of a shell's $(( )).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace stagecraft {

// Returns the value of sums, products and brackets of whole numbers and variables; no value for
// anything else, and for what does not fit 64 bits. `look_up` gives the value of a variable.
std::optional<int64_t> ShellArithmetic(
    std::string_view text,
    const std::function<std::optional<int64_t>(std::string_view name)>& look_up);

}  // namespace stagecraft

// Numbers with a suffix, as people type them: "1T" tokens, "10min".
#pragma once

#include <optional>
#include <string_view>

namespace stagecraft {

// What the suffixes k, M, B or G, and T stand for: powers of 1,000, or of 1,024 where that is usual
// in the field, as for the tokens of a sample ("8k" is 8,192). Ki, Mi, Gi and Ti always stand for
// powers of 1,024.
enum class Thousand { kDecimal, kBinary };

// Returns the number of which the whole of `text` consists, with or without such a suffix. Returns
// no value if it is malformed or not finite.
std::optional<double> ParseQuantity(std::string_view text, Thousand thousand = Thousand::kDecimal);

// Returns the seconds for which `text` stands: a number with ms, s, min, h or d, or, without a
// suffix, of seconds.
std::optional<double> ParseSeconds(std::string_view text);

}  // namespace stagecraft

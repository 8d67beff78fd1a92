// What a progress line says: how much is done, how fast it goes, how long the rest takes.
#pragma once

#include <cstdint>
#include <string>

namespace stagecraft {

// Returns "12 of 400 rows, 3.5 rows/s, 111 s left". Of the `done` rows `before` were done earlier,
// the others within `seconds`. There is no rate if none were done in that time or no time has
// passed.
std::string ProgressText(int64_t done, int64_t all, const std::string& unit, double seconds,
                         int64_t before = 0);

}  // namespace stagecraft

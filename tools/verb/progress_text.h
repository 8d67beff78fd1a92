// What a progress line says: how much is done, how fast it goes, how long the rest takes.
#pragma once

#include <cstdint>
#include <string>

namespace stagecraft {

// "12 of 400 rows, 3.5 rows/s, 111 s left", after `seconds` in which all but `before` were
// done. Without a rate where nothing has been done yet or no time has passed.
std::string ProgressText(int64_t done, int64_t all, const std::string& unit, double seconds,
                         int64_t before = 0);

}  // namespace stagecraft

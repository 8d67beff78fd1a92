#include "tools/verb/progress_text.h"

#include <fmt/core.h>

namespace stagecraft {

std::string ProgressText(int64_t done, int64_t all, const std::string& unit, double seconds,
                         int64_t before) {
  const std::string text = fmt::format("{} of {} {}", done, all, unit);
  if (done <= before || !(seconds > 0)) return text;
  const double rate = static_cast<double>(done - before) / seconds;
  return fmt::format("{}, {:.3g} {}/s, {:.0f} s left", text, rate, unit,
                     static_cast<double>(all - done) / rate);
}

}  // namespace stagecraft

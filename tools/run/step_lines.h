// StepLines: prints how far a run has come, at most one line a second.
#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

namespace stagecraft {

class StepLines {
 public:
  StepLines(std::ostream& err, bool is_quiet) : err_(err), is_quiet_(is_quiet) {}

  void Show(const std::string& line) {
    const Clock::time_point now = Clock::now();
    if (is_quiet_ || (last_ && now - *last_ < std::chrono::seconds(1))) return;
    last_ = now;
    err_ << line << std::endl;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& err_;
  const bool is_quiet_;
  std::optional<Clock::time_point> last_;
};

}  // namespace stagecraft

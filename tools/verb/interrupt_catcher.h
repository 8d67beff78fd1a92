// InterruptCatcher: the first Ctrl-C ends a search, not the process; so does a batch system that
// asks the process to end.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace stagecraft {

// SIGINT, SIGTERM and SIGHUP are caught for as long as this lives, save those that the process
// ignores; a second one of a kind ends the process as usual. One at a time.
class InterruptCatcher {
 public:
  InterruptCatcher();
  ~InterruptCatcher();
  InterruptCatcher(const InterruptCatcher&) = delete;
  InterruptCatcher& operator=(const InterruptCatcher&) = delete;

  // For Budget::stop; outlives this.
  static const std::atomic<bool>* flag();
  // One of the signals came since the last one of these was made.
  static bool was_interrupted() { return flag()->load(); }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), kSignals.size()> old_ = {};
};

}  // namespace stagecraft

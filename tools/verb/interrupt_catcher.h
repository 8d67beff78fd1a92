// InterruptCatcher: the first Ctrl-C ends a search and not the process, and so does the signal with
// which a batch system asks a process to end.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace stagecraft {

// Catches SIGINT, SIGTERM and SIGHUP as long as it exists, except those that the process ignores; a
// second signal of the same kind ends the process as usual. Only one may exist at a time.
class InterruptCatcher {
 public:
  InterruptCatcher();
  ~InterruptCatcher();
  InterruptCatcher(const InterruptCatcher&) = delete;
  InterruptCatcher& operator=(const InterruptCatcher&) = delete;

  // The flag that the signals set, for Budget::stop. It exists as long as the process.
  static const std::atomic<bool>* flag();
  // Whether a signal has come since the latest InterruptCatcher was made.
  static bool was_interrupted() { return flag()->load(); }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), kSignals.size()> old_ = {};
};

}  // namespace stagecraft

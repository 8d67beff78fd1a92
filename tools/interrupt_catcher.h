// InterruptCatcher: the first Ctrl-C ends a search, not the process.
#pragma once

#include <atomic>

namespace stagecraft {

// The signal is caught for as long as this lives; a second one ends the process
// as usual. One at a time.
class InterruptCatcher {
 public:
  InterruptCatcher();
  ~InterruptCatcher();
  InterruptCatcher(const InterruptCatcher&) = delete;
  InterruptCatcher& operator=(const InterruptCatcher&) = delete;

  // For Budget::stop; outlives this.
  static const std::atomic<bool>* flag();
  // A Ctrl-C came since the last one of these was made.
  static bool was_interrupted() { return flag()->load(); }

 private:
  void (*old_)(int);
};

}  // namespace stagecraft

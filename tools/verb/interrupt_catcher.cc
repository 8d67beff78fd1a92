#include "tools/verb/interrupt_catcher.h"

#include <csignal>

namespace stagecraft {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

InterruptCatcher::InterruptCatcher() {
  interrupted = false;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    old_[i] = std::signal(kSignals[i], [](int signal) {
      interrupted = true;
      std::signal(signal, SIG_DFL);
    });
    // A signal that was ignored stays so: nohup has SIGHUP ignored.
    if (old_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
  }
}

InterruptCatcher::~InterruptCatcher() {
  for (size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], old_[i]);
}

const std::atomic<bool>* InterruptCatcher::flag() { return &interrupted; }

}  // namespace stagecraft

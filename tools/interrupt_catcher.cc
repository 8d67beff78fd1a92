#include "tools/interrupt_catcher.h"

#include <csignal>

namespace stagecraft {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

InterruptCatcher::InterruptCatcher() {
  interrupted = false;
  old_ = std::signal(SIGINT, [](int) {
    interrupted = true;
    std::signal(SIGINT, SIG_DFL);
  });
}

InterruptCatcher::~InterruptCatcher() { std::signal(SIGINT, old_); }

const std::atomic<bool>* InterruptCatcher::flag() { return &interrupted; }

}  // namespace stagecraft

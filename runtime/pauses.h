// Pauses: how a thread waits for another process.
#pragma once

#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace stagecraft {

// At first the thread looks again and again, and notices within a microsecond; later it looks only
// now and then, since others may need its CPU.
class Pauses {
 public:
  void Pause() {
    if (Clock::now() - since_ < kPatience) {
      std::this_thread::yield();
      return;
    }
    prctl(PR_SET_TIMERSLACK, kPrecision.count());  // this thread may sleep this much longer
    std::this_thread::sleep_for(kPause);
  }
  // Call this when the thread has got what it waited for.
  void Restart() { since_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kPatience{200}, kPause{20};
  static constexpr std::chrono::nanoseconds kPrecision{1000};

  Clock::time_point since_ = Clock::now();
};

}  // namespace stagecraft

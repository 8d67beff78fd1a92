// SteadyClock: real time, for the profiler.
#pragma once

#include <chrono>
#include <thread>

#include "costmodel/units.h"
#include "runtime/profile/profiler.h"

namespace stagecraft {

class SteadyClock final : public ProfilerClock {
 public:
  Duration Elapsed() override {
    const auto spent = std::chrono::steady_clock::now() - begin_;
    return Duration::Seconds(std::chrono::duration<double>(spent).count());
  }
  void Sleep(Duration time) override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns()));
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace stagecraft

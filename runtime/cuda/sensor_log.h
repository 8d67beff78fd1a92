// SensorLog: reads a board's sensors again and again while something else runs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda/sensors.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

class SensorLog {
 public:
  // Begins to read, every 20 ms, on a thread of its own. `bus_id` as Sensors has it.
  explicit SensorLog(const std::string& bus_id);
  ~SensorLog();

  SensorLog(const SensorLog&) = delete;
  SensorLog& operator=(const SensorLog&) = delete;

  // Ends it, and returns what was read, once at least.
  std::vector<DeviceState> Stop();

 private:
  void Watch();

  const Sensors sensors_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_over_ = false;
  std::vector<DeviceState> readings_;  // of the thread until it has ended
  std::thread thread_;
};

}  // namespace stagecraft

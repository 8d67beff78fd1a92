// SensorLog: reads a GPU's sensors repeatedly while something else runs.
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
  // Starts a thread that reads the sensors every 20 ms. `bus_id` is that of Sensors.
  explicit SensorLog(const std::string& bus_id);
  ~SensorLog();

  SensorLog(const SensorLog&) = delete;
  SensorLog& operator=(const SensorLog&) = delete;

  // Ends the thread and returns its readings, at least one.
  std::vector<DeviceState> Stop();

 private:
  void Watch();

  const Sensors sensors_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_over_ = false;
  std::vector<DeviceState> readings_;  // belongs to the thread until it has ended
  std::thread thread_;
};

}  // namespace stagecraft

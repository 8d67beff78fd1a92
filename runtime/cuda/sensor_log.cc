#include "runtime/cuda/sensor_log.h"

#include <chrono>
#include <utility>

namespace stagecraft {
namespace {

constexpr std::chrono::milliseconds kPause(20);

}  // namespace

SensorLog::SensorLog(const std::string& bus_id) : sensors_(bus_id), thread_([this] { Watch(); }) {}

SensorLog::~SensorLog() {
  if (thread_.joinable()) Stop();
}

std::vector<DeviceState> SensorLog::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  stop_.notify_one();
  thread_.join();
  if (readings_.empty()) readings_.push_back(sensors_.Read());
  return std::move(readings_);
}

void SensorLog::Watch() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kPause, [this] { return is_over_; })) {
    readings_.push_back(sensors_.Read());
  }
}

}  // namespace stagecraft

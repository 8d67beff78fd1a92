// FakeTimer: a device whose times are made up, for tests of the code that measures.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/profile/op_timer.h"
#include "runtime/profile/profiler.h"

namespace stagecraft {

// A clock that advances only when something runs on the device or the profiler sleeps.
class FakeClock final : public ProfilerClock {
 public:
  Duration Elapsed() override { return now; }
  void Sleep(Duration time) override {
    now += time;
    slept += time;
  }
  Duration now, slept;
};

// Returns the time of one call; `batch` counts the batches of an op from 0.
using FakeTime = std::function<Duration(const ProfileCase& one, int batch)>;

class FakeOp final : public TimedOp {
 public:
  FakeOp(ProfileCase one, FakeTime time, FakeClock* clock)
      : one_(std::move(one)), time_(std::move(time)), clock_(clock) {}
  Duration Run(int calls) override {
    calls_of_batches.push_back(calls);
    const Duration time = calls * time_(one_, static_cast<int>(calls_of_batches.size()) - 1);
    if (clock_ != nullptr) clock_->now += time;
    return time;
  }
  DeviceState State() override {
    DeviceState state{
        .clock_hz = 1.5e9, .celsius = 50, .watts = 410, .is_throttled = throttled_readings > 0};
    --throttled_readings;
    return state;
  }
  std::vector<int> calls_of_batches;
  int throttled_readings = 0;  // how many of the next readings say that the device is throttled

 private:
  ProfileCase one_;
  FakeTime time_;
  FakeClock* clock_;
};

class FakeTimer final : public OpTimer {
 public:
  FakeTimer(FakeTime time, FakeClock* clock) : time_(std::move(time)), clock_(clock) {}
  MeasuredDevice device() const override {
    return {name, Bytes(int64_t{140} << 30), "fake 1.0", uncatalogued};
  }
  PreparedOp Prepare(const ProfileCase& one) override {
    prepared.push_back(one);
    if (one.op.dtype == DType::kFp8) return {nullptr, "no 8-bit numbers"};
    auto op = std::make_unique<FakeOp>(one, time_, clock_);
    op->throttled_readings = throttled_readings;
    return {std::move(op), ""};
  }
  std::string name = "NVIDIA H200";
  std::optional<Device> uncatalogued;
  std::vector<ProfileCase> prepared;
  int throttled_readings = 0;  // for every op, as in FakeOp

 private:
  FakeTime time_;
  FakeClock* clock_;
};

}  // namespace stagecraft

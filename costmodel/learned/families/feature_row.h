// FeatureRow: fills in the features of one op, in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "costmodel/check.h"
#include "costmodel/device.h"

namespace stagecraft {

class FeatureRow {
 public:
  explicit FeatureRow(std::span<float> row) : row_(row) {}

  void Add(double value) {
    CHECK(next_ < row_.size());
    row_[next_++] = static_cast<float>(value);
  }
  // Adds log2 of the value clamped to [low, high]; low > 0 makes it finite.
  void AddLog2(double value, double low, double high) { Add(Log2Within(value, low, high)); }
  // Adds the five numbers that distinguish GPU types; `peak` is the rate of the op's format.
  void AddDevice(const Device& device, FlopRate peak) {
    const double multiprocessors = device.multiprocessors;
    Add(multiprocessors);
    Add(peak.flop_per_s() / device.memory_bandwidth.bytes_per_s());
    Add(static_cast<double>(device.l2.count()) / multiprocessors);
    Add(peak.flop_per_s() / multiprocessors / device.boost_clock_hz);
    Add(device.boost_clock_hz);
  }
  bool is_full() const { return next_ == row_.size(); }

  // Returns log2 of the value clamped to [low, high]. NaN counts as `low`.
  static double Log2Within(double value, double low, double high) {
    return std::log2(value > low ? std::min(value, high) : low);
  }

 private:
  std::span<float> row_;
  size_t next_ = 0;
};

}  // namespace stagecraft

// OpTimer: runs ops on one device and says how long they took.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// What sensors read; numbers that no sensor gives are zero.
struct DeviceState {
  double clock_hz = 0;
  double celsius = 0;
  double watts = 0;
  // Whether heat or a protection of the board holds the clock down; nothing: no sensor says. The
  // power limit that large products meet by themselves is not meant: it belongs to the device.
  std::optional<bool> is_throttled = {};
};

// The state of two devices, or of two groups of them, that run one op together: the lowest clock,
// zero where that of any is not known; the most heat and power of those that are known; throttled
// where any of them is, and not throttled where all are known not to be.
DeviceState Together(const DeviceState& a, const DeviceState& b);

// An op that is set up on its device: memory, data, algorithm.
class TimedOp {
 public:
  virtual ~TimedOp() = default;
  // Runs the op `calls` times, one after another, and returns what they took
  // together. Each call finds its operands in memory, not in a cache.
  virtual Duration Run(int calls) = 0;
  // Read while the op runs.
  virtual DeviceState State() = 0;
};

struct PreparedOp {
  std::unique_ptr<TimedOp> op;  // nullptr: this device or its libraries cannot, and
  std::string refusal;          // why, the same words for all ops alike
};

struct MeasuredDevice {
  std::string name;      // as its driver calls it: "NVIDIA H200"
  Bytes memory;          // that it has, or may use: equal whenever it is asked
  std::string software;  // "cuda 13.0, cublasLt 13.1"
  // What it is, where no catalogue knows: its timer measured it.
  std::optional<Device> board = {};
};

// One device, one op at a time: a TimedOp ends before the next is prepared, and
// before its timer.
class OpTimer {
 public:
  virtual ~OpTimer() = default;
  virtual MeasuredDevice device() const = 0;
  virtual PreparedOp Prepare(const ProfileCase& one) = 0;
};

}  // namespace stagecraft

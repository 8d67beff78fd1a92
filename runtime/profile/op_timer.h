// OpTimer: runs ops on one device, and measures how long they take.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// Readings of a device's sensors; numbers without a sensor are zero.
struct DeviceState {
  double clock_hz = 0;
  double celsius = 0;
  double watts = 0;
  // Whether heat or a protection of the GPU holds the clock down; no value if no sensor tells. The
  // power limit that large GEMMs reach by themselves does not count, since it belongs to the
  // device.
  std::optional<bool> is_throttled = {};
};

// Returns the state of two devices, or of two groups of devices, that run one op together: the
// lowest clock, or zero if that of any is not known; the highest temperature and power of those
// that are known; throttled if any of them is, and not throttled if all are known not to be.
DeviceState Together(const DeviceState& a, const DeviceState& b);

// An op that is set up on its device: memory, data, algorithm.
class TimedOp {
 public:
  virtual ~TimedOp() = default;
  // Runs the op `calls` times, one after another, and returns their total time. Each call finds its
  // operands in memory, not in a cache.
  virtual Duration Run(int calls) = 0;
  // Reads the sensors while the op runs.
  virtual DeviceState State() = 0;
};

struct PreparedOp {
  std::unique_ptr<TimedOp> op;  // nullptr: this device or its libraries cannot run it
  std::string refusal;          // why not, in the same words for all such ops
};

struct MeasuredDevice {
  std::string name;      // its driver's name for it: "NVIDIA H200"
  Bytes memory;          // all that it has or may use; always the same
  std::string software;  // "cuda 13.0, cublasLt 13.1"
  // The device as its timer measured it, if no catalogue contains it.
  std::optional<Device> uncatalogued = {};
};

// Prepares ops for one device, one at a time: a TimedOp must be destroyed before the next is
// prepared, and before its timer.
class OpTimer {
 public:
  virtual ~OpTimer() = default;
  virtual MeasuredDevice device() const = 0;
  virtual PreparedOp Prepare(const ProfileCase& one) = 0;
};

}  // namespace stagecraft

// Sample: one measured op on one GPU type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// The longest time of one call that readers take. Eleven days: beyond that, whole nanoseconds are
// no longer exact in a double.
inline constexpr Duration kLongestSample = Duration::Nanoseconds(1'000'000'000'000'000);

struct Sample {
  Op op;
  std::string gpu;       // id in the device catalogue, unless `device` is given
  Duration time;         // of one call
  double spread = 0;     // sigma of log(time) over repeats; 0: not known
  int repeats = 0;       // 0: not known
  double clock_hz = 0;   // of the multiprocessors while measured; 0: not known
  double watts = 0;      // that the GPU drew while measured; 0: not known
  std::string name;      // what the source calls the op: "gelu", "flash_attention"
  std::string split;     // the source's own: "train", "test" or ""
  std::string software;  // versions, as "cuda 13.0, cublas 13.1"; may be empty
  std::string source;    // who measured it
  // Whether the source timed one eager call at a time and waited for each, so that the time
  // contains what a call costs the host (call_overhead.h).
  bool times_whole_calls = false;
  // The device, if the catalogue has none with the id `gpu`; its training clock is 1.
  std::shared_ptr<const Device> device;
  friend bool operator==(const Sample&, const Sample&) = default;
};

}  // namespace stagecraft

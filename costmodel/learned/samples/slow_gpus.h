// Finds GPUs that run slower than they should; a part of sample_problems.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/units.h"

namespace stagecraft {

// A sample beside the device on which it was measured.
struct RatedSample {
  const Sample* sample = nullptr;
  const Device* device = nullptr;  // nullptr: not in the catalogue
  Duration roofline;               // zero where the device has no rate for the op
};

// Each finding as a sentence that opens with `path`.
std::vector<std::string> FindSlowGpus(std::span<const RatedSample> samples,
                                      const std::string& path);

}  // namespace stagecraft

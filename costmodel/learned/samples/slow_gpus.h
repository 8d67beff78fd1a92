// Finds GPUs that run slower than they should; a part of sample_problems.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/units.h"

namespace stagecraft {

// A sample, the device on which it was measured, and its roofline there.
struct RatedSample {
  const Sample* sample = nullptr;
  const Device* device = nullptr;  // nullptr: not in the catalogue
  Duration roofline;               // zero if the device has no rate for the op
};

// Returns each finding as a sentence that begins with `path`.
std::vector<std::string> FindSlowGpus(std::span<const RatedSample> samples,
                                      const std::string& path);

}  // namespace stagecraft

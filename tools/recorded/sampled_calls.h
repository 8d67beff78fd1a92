// SampledCalls: the calls of one op in traces, and the sample that they become.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/op.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

struct SampledCalls {
  Op op;
  std::string gpu, software;
  std::vector<double> seconds;  // of each call, > 0
};

// Returns the number format of a call: the recorded one, or where recordings have none
// (Recording::has_types), the one that its kernels' names tell, or else the wished one. No value if
// nothing tells it.
std::optional<DType> FormatOf(const Recording& recording, DType recorded, std::optional<DType> told,
                              std::optional<DType> wished);

// Returns a sample of the median time, whose spread is that of the calls.
Sample SampleOf(const SampledCalls& calls, const std::string& name, const std::string& profiler);

// Returns the number of the first marked step, in which software warms up, if there are others; -1
// if every step counts.
int FirstStepOf(const Recording& recording);

// Returns the catalogue's id of the GPU: of `wished`, unless that is empty, or of the device as the
// trace calls it. Throws InputError if the trace does not say, and for a GPU that the catalogue
// lacks.
std::string GpuIdOf(const Recording& recording, int32_t device, const std::string& wished);

}  // namespace stagecraft

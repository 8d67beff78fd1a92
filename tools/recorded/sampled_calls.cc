#include "tools/recorded/sampled_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "costmodel/check.h"
#include "costmodel/statistics.h"
#include "costmodel/units.h"
#include "tools/import/imported_gpu.h"

namespace stagecraft {

std::optional<DType> FormatOf(const Recording& recording, DType recorded, std::optional<DType> told,
                              std::optional<DType> wished) {
  if (recording.has_types) return recorded;
  return told ? told : wished;
}

Sample SampleOf(const SampledCalls& calls, const std::string& name, const std::string& profiler) {
  Sample sample;
  sample.op = calls.op;
  sample.gpu = calls.gpu;
  sample.time = std::max(Duration::Seconds(Median(calls.seconds)), Duration::Nanoseconds(1));
  if (calls.seconds.size() > 1) {
    std::vector<double> logs;
    for (const double seconds : calls.seconds) logs.push_back(std::log(seconds));
    sample.spread = Sigma(logs);
  }
  sample.repeats = static_cast<int>(calls.seconds.size());
  sample.name = name;
  sample.software = calls.software;
  sample.source = profiler;
  return sample;
}

int FirstStepOf(const Recording& recording) {
  std::set<int> steps;
  for (const RecordedKernel& kernel : recording.kernels) {
    if (kernel.place.step >= 0) steps.insert(kernel.place.step);
  }
  return steps.size() > 1 ? *steps.begin() : -1;
}

std::string GpuIdOf(const Recording& recording, int32_t device, const std::string& wished) {
  if (!wished.empty()) return FindImportedGpu(wished, "--gpu").device.id;
  const auto name = recording.devices.find(device);
  if (name == recording.devices.end()) {
    throw InputError(
        fmt::format("{}: the trace does not say which GPU ran it, want --gpu", recording.file));
  }
  return FindImportedGpu(name->second, recording.file + ": GPU").device.id;
}

}  // namespace stagecraft

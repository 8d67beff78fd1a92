// A whole profile of one device: the suite, the journal and the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/kernel_trace.h"
#include "runtime/profile/op_timer.h"
#include "runtime/profile/profile_suite.h"
#include "runtime/profile/profiler.h"

namespace stagecraft {

struct ProfileRequest {
  SuiteSize suite = SuiteSize::kQuick;
  bool resumes = false;
  Duration budget = Duration::Max();
  uint64_t seed = 1;
  std::string gpu;  // id of the device in the catalogue; empty: found by the device's name
  std::optional<Device> uncatalogued;  // the device itself, if no catalogue has it: a part of a GPU
  std::string output;                  // .csv or .pb
  const std::atomic<bool>* stop = nullptr;
};

struct ProfileReport {
  std::string gpu;
  MeasuredDevice device;
  size_t cases = 0;
  ProfileOutcome outcome;
  bool leaves_host_copies = false;  // host copies are not measured: the output cannot hold them
};

// Measures the suite on the timer's device and writes its samples to `request.output`. Throws
// InputError for a GPU that the catalogue lacks and for an output that cannot be written or
// resumed.
ProfileReport RunProfileOn(OpTimer& timer, const ProfileRequest& request, ProfilerClock& clock,
                           const std::function<void(const ProfileProgress&)>& show);

// A table of the kernels that each op of the suite launches, except host copies; ops are watched
// instead of timed. Columns are op, kernel, device_kernel, runs, time_us and gap_us; the gap is the
// time since the previous kernel ended.
struct KernelTable {
  std::string text;
  ProfileReport report;
};
// `request.output` has the extension of a table and is not written. Throws InputError for a GPU
// that the catalogue lacks.
KernelTable TabulateKernels(OpTimer& timer, KernelTracer& tracer, const ProfileRequest& request,
                            ProfilerClock& clock,
                            const std::function<void(const ProfileProgress&)>& show);

}  // namespace stagecraft

// KernelTracer: which kernels an op launches, how long each runs, and how long the device waits
// between them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// One run of a kernel; times are those of a clock of the device.
struct KernelRun {
  std::string name;
  Duration begin, end;
};

// Records the kernels of a device. They run slower meanwhile, so it must not be used while ops are
// timed.
class KernelTracer {
 public:
  virtual ~KernelTracer() = default;
  virtual void Start() = 0;
  // Returns the kernels that ran since Start(), in any order.
  virtual std::vector<KernelRun> Stop() = 0;
};

struct KernelSummary {
  std::string name;
  int runs = 0;
  Duration time;  // mean of a run
  Duration gap;   // mean wait after the kernel before; the first run has none
};

// Returns a summary for each name, in the order in which the kernels first ran.
std::vector<KernelSummary> SummariseKernels(std::span<const KernelRun> runs);

}  // namespace stagecraft

// Which kernels an op launches, how long each runs, and how long the device waits between them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// One kernel, on a clock of the device.
struct KernelRun {
  std::string name;
  Duration begin, end;
};

// Watches a device. Kernels that are watched run slower, so never use it while ops are timed.
class KernelTracer {
 public:
  virtual ~KernelTracer() = default;
  virtual void Start() = 0;
  // What ran since Start(), in any order.
  virtual std::vector<KernelRun> Stop() = 0;
};

struct KernelSummary {
  std::string name;
  int runs = 0;
  Duration time;  // mean of a run
  Duration gap;   // mean from the end of the kernel before; not for the first one
};

// One for each name, in the order in which they first ran.
std::vector<KernelSummary> SummariseKernels(std::span<const KernelRun> runs);

}  // namespace stagecraft

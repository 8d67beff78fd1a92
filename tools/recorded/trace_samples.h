// TraceSamples: measured products, calls of attention and collectives of a trace, for `fit`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/network/network_sample.h"
#include "sim/cluster/cluster.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

struct TraceSamples {
  std::vector<Sample> gemms;       // by distinct product, in order of their sizes
  std::vector<Sample> attentions;  // by distinct call (attention_samples.h)
  std::vector<NetworkSample> collectives;
  std::vector<std::string> notes;  // what was left out, and why
};

struct SampleWish {
  std::string gpu;                               // the type of all GPUs; empty: as the trace says
  std::optional<bool> is_attention_causal = {};  // of calls that do not tell; no value: not known
  std::optional<DType> format = {};              // of calls that do not tell
  const Cluster* cluster = nullptr;  // where the trace was taken; nullptr: no collectives
};

// A product takes the time of all kernels of matrix products that its operator launched; of several
// calls of one size, the median, with their spread. A collective takes the time of the fastest rank
// that was recorded: the others waited. If only one rank of its group was recorded, its time
// contains its waiting, and a note says so. The first of several marked steps, in which software
// warms up, is left out. Kernels must have been placed. Throws InputError for a GPU that the
// catalogue lacks, and for collectives of ranks that the cluster does not have.
TraceSamples SamplesOf(const std::vector<Recording>& recordings, const SampleWish& wish);

}  // namespace stagecraft

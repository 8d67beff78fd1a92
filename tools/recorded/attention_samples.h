// AttentionSampler: makes samples of the calls of fused attention in traces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "tools/recorded/recording.h"
#include "tools/recorded/sampled_calls.h"

namespace stagecraft {

// A call takes the time of all kernels of attention that its operator launched. It is causal if its
// kernel's name says so, or else the operator's inputs, or else the user for all calls that do not
// tell. Calls of which nothing tells it, and those that no sample describes (masks, windows,
// dropout), are left out and counted.
class AttentionSampler {
 public:
  // `gpu` is the type of all GPUs, or empty; `is_causal` and `format` are what the user says of
  // calls that do not tell.
  AttentionSampler(std::string gpu, std::optional<bool> is_causal, std::optional<DType> format)
      : gpu_(std::move(gpu)), is_causal_(is_causal), format_(format) {}

  // Takes the calls of all steps but `first_step`; kernels must have been placed. Throws what
  // GpuIdOf() throws.
  void Take(const Recording& recording, int first_step);

  // Returns a sample of each distinct call, in order of sizes, and adds sentences on what was left
  // out.
  std::vector<Sample> Finish(const std::string& profiler, std::vector<std::string>& notes) const;

 private:
  struct Call;
  // Returns why the call gives no sample, or nullptr and completes it.
  const char* Complete(const Recording& recording, Call& call) const;

  using Key = std::tuple<std::string, std::string, std::vector<int64_t>>;
  const std::string gpu_;
  const std::optional<bool> is_causal_;
  const std::optional<DType> format_;
  std::map<Key, SampledCalls> calls_;        // by GPU, name of the kernel and sizes
  std::map<std::string, int64_t> left_out_;  // calls, by reason
  int64_t all_ = 0, kernels_ = 0, unsized_ = 0;
};

}  // namespace stagecraft

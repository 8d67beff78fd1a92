// SampleSplit: which samples a model learns from and which it is judged by. What
// splits of kernels and of collectives have in common.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stagecraft {

struct SampleSplit {
  std::string left_out;    // "gpu=h100-sxm5-80gb"; empty where rows are drawn at random
  std::vector<int> train;  // indices of samples, ascending
  std::vector<int> test;
};

// Samples 0 to count - 1.
SampleSplit DivideSamples(size_t count, const std::function<bool(int)>& is_test);

// F of "random:F", between 0 and 1; none where `spec` is anything else.
std::optional<double> RandomFraction(const std::string& spec);

// Throws InputError where a side of a split has no sample; "none" needs no
// training.
void CheckSplits(const std::string& spec, std::span<const SampleSplit> splits);

}  // namespace stagecraft

// SampleSplit: the samples from which a model learns and those by which it is judged. This is what
// splits of kernels and of collectives have in common.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stagecraft {

struct SampleSplit {
  std::string left_out;    // "gpu=h100-sxm5-80gb"; empty if rows are drawn at random
  std::vector<int> train;  // indices of samples, ascending
  std::vector<int> test;
};

// Splits samples 0 to count - 1.
SampleSplit DivideSamples(size_t count, const std::function<bool(int)>& is_test);

// Returns F, which is between 0 and 1, if `spec` is "random:F"; no value if it is anything else.
std::optional<double> RandomFraction(const std::string& spec);

// Throws InputError if one side of a split has no sample; "none" needs no training samples.
void CheckSplits(const std::string& spec, std::span<const SampleSplit> splits);

}  // namespace stagecraft

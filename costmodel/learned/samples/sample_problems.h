// Finds what is suspicious about measured samples, before a model is fitted to them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Returns one sentence for each problem. It begins with `path` and contains a count and the worst
// sample; samples are counted from 0. Looks for
//   - GPUs that the catalogue lacks, and ops for which a GPU has no rate;
//   - times below a nanosecond, above an hour, or that beat the roofline;
//   - samples that repeat another's op, GPU, source, name and software and disagree by more than 3
//     sigma, or 20 % if no spread is known;
//   - GPUs that throttle: large GEMMs that never reach 60 % of the peak, and a train split that
//     runs at another speed than the test split at equal sizes.
//
// Takes about a second for half a million samples.
std::vector<std::string> FindSampleProblems(
    std::span<const Sample> samples, const std::string& path,
    const DeviceCatalogue& catalogue = DeviceCatalogue::Embedded());

// Returns "36188 samples: gemm; on a100-sxm4-80gb; by Vidur".
std::string SummariseSamples(std::span<const Sample> samples);

}  // namespace stagecraft

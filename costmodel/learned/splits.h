// Splits of measured kernels into training and test samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"
#include "costmodel/sample_split.h"

namespace stagecraft {

// `spec` is one of
//   random:FRACTION       this share of every GPU type's rows, drawn by the seed
//   unseen-shape          a fifth of the shapes, each on every GPU type: (n, k) of
//                         GEMMs, (sequences, keys) of attention, width of rows
//   column:split          the source's own: its "test" rows
//   leave-out:KEY=VALUE   rows with that gpu, source, op, dtype or nk
//   leave-out:KEY         every value in turn; more than 20 values are drawn into
//                         five groups
//   none                  every row is a test row and none trains
// Throws InputError for anything else, and if nothing is left on a side.
std::vector<SampleSplit> MakeSplits(const std::string& spec, std::span<const Sample> samples,
                                    uint64_t seed);

// Returns the name of a row's op in tables: linear, bmm, gemm, attention, or, of a smaller op, the
// name that its source gives it.
std::string OpLabel(const Sample& sample);

}  // namespace stagecraft

// TrainingRows: samples in the form in which models learn from them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Returns the catalogue's GPU type at the boost clock, at which samples are taken; nullptr if none
// has this id or alias.
const Device* MeasuredGpu(const std::string& gpu);
// Returns the sample's own device, or else the catalogue's.
const Device* MeasuredGpu(const Sample& sample);

// Returns the rows of each family, in the order of KernelFamilies(). They point to the samples and
// the catalogue, which must outlive them. Leaves out GPU types that are
// not known, rows that say nothing about the kernel (CallOverhead) and ops of no family.
std::vector<std::vector<FitRow>> MakeTrainingRows(std::span<const Sample> samples,
                                                  const CallOverhead& overhead);

// Returns why a sample cannot be predicted: its GPU type is not known, or the GPU has no rate for
// its number format. Empty if it can be predicted.
std::string WhySkipped(const Sample& sample);
bool CanPredict(const Sample& sample);

// Numbers of skipped rows, by GPU type and reason.
using SkippedRows = std::map<std::pair<std::string, std::string>, int>;
SkippedRows CountSkipped(std::span<const Sample> samples);

}  // namespace stagecraft

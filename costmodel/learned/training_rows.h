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

// The catalogue's GPU type at the boost clock, at which samples are taken; nullptr if none has this
// id or alias.
const Device* MeasuredGpu(const std::string& gpu);
// The sample's own device, or else the catalogue's.
const Device* MeasuredGpu(const Sample& sample);

// The rows of one family; what they point to lives as long as the samples and the catalogue.
struct FamilyRows {
  std::vector<FitRow> own;
  // Rows of serving frameworks' kernels that no training step would run, recognised by another name
  // than flash attention. They are learned separately, for the GPU types on which they were
  // measured.
  std::vector<FitRow> serving;
};

// Indexed as KernelFamilies(). Leaves out GPU types that are not known, rows that say nothing about
// the kernel (CallOverhead) and ops of no family.
std::vector<FamilyRows> MakeTrainingRows(std::span<const Sample> samples,
                                         const CallOverhead& overhead);

// Why nothing can be said about a sample: nobody says what its GPU is, or the GPU has no rate for
// its number format. Empty if something can be said.
std::string WhySkipped(const Sample& sample);
bool CanPredict(const Sample& sample);

// Numbers of rows by GPU type and reason.
using SkippedRows = std::map<std::pair<std::string, std::string>, int>;
SkippedRows CountSkipped(std::span<const Sample> samples);

}  // namespace stagecraft

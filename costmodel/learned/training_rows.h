// TrainingRows: samples as models learn from them.
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

// The catalogue's board at the boost clock, at which samples are taken; nullptr if
// it has none of this id or other name.
const Device* MeasuredBoard(const std::string& gpu);
// The sample's own, or else the catalogue's.
const Device* MeasuredBoard(const Sample& sample);

// Rows of one family; what they point to lives with the samples and the
// catalogue.
struct FamilyRows {
  std::vector<FitRow> own;
  // Kernels of serving frameworks that no training step would run: their boards'
  // own, known by another name than flash attention.
  std::vector<FitRow> serving;
};

// By family's index in KernelFamilies(). Leaves out boards that are not known, rows that
// say nothing of the kernel (CallOverhead) and ops of no family.
std::vector<FamilyRows> MakeTrainingRows(std::span<const Sample> samples,
                                         const CallOverhead& overhead);

// Why nothing can be said of a sample: nobody says what its board is, or that has no
// rate for its number format. Empty where something can.
std::string WhySkipped(const Sample& sample);
bool CanPredict(const Sample& sample);

// Rows by board and reason.
using SkippedRows = std::map<std::pair<std::string, std::string>, int>;
SkippedRows CountSkipped(std::span<const Sample> samples);

}  // namespace stagecraft

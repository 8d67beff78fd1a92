// TrainingRows: samples as models learn from them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Rows of one family; what they point to lives with the samples and the
// catalogue.
struct FamilyRows {
  std::vector<FitRow> own;
  // Kernels of serving frameworks that no training step would run: their boards'
  // own, known by another name than flash attention.
  std::vector<FitRow> serving;
};

// By family's index in KernelFamilies(). Leaves out boards the catalogue does
// not have, rows that say nothing of the kernel (CallOverhead) and ops of no
// family.
std::vector<FamilyRows> MakeTrainingRows(std::span<const Sample> samples,
                                         const CallOverhead& overhead);

// Rows per board that the catalogue does not have.
std::map<std::string, int> UnknownBoards(std::span<const Sample> samples);

}  // namespace stagecraft

// What is wrong with how a plan splits the vocabulary.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Appends a sentence if the vocabulary is split over the stages of a plan that cannot do so.
// Precondition: the plan's layers, degrees and devices are right.
void FindVocabularyErrors(const Plan& plan, const Workload& workload,
                          std::vector<std::string>& errors);

}  // namespace stagecraft

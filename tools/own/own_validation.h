// Rows of one's own tables for `validate`.
#pragma once

#include <vector>

#include "costmodel/cost_model.h"
#include "tools/own/own_steps.h"
#include "tools/validation/error_table.h"

namespace stagecraft {

// Returns a scored row with its prediction for every step of the table, whose source is the name of
// its file. A step that cannot be predicted has a reason in place of a value.
std::vector<ValidatedRow> ValidateOwnSteps(const CsvTable& table, const CostModel& model);

}  // namespace stagecraft

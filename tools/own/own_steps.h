// OwnSteps: a table of training steps that a user measured, with a column for each flag of
// `simulate` that they need.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/step/evaluation.h"
#include "tools/flags/planned_job.h"
#include "tools/validation/csv_table.h"

namespace stagecraft {

struct OwnStep {
  std::string name;   // its column `name`, or "own_steps-001" by file and row
  std::string place;  // how errors about it begin: "own_steps.csv: row 2 (line 3)"
  PlannedJob job;
  // One of the two is above zero, whichever the row states.
  double seconds = 0, tokens_per_s = 0;

  double SecondsOf(const Evaluation& evaluation) const {
    return seconds > 0 ? seconds : evaluation.tokens / tokens_per_s;
  }
};

// Whether a table is of this kind: it has a column `cluster`, and one of `seconds` and
// `tokens_per_s`.
bool IsOwnTable(const CsvTable& table);

// Reads all rows. A column is `name`, `seconds`, `tokens_per_s`, or a flag of `simulate` without
// its dashes (global-batch, or global_batch). An empty field is a flag that is not given; a switch
// takes on or off. Throws InputError for unknown columns, with the nearest flags, and for rows that
// simulate would refuse.
std::vector<OwnStep> ReadOwnSteps(const CsvTable& table);

// Simulates the step. Throws InputError that begins with the place of the row.
Evaluation Predict(const OwnStep& step, const CostModel& model);

}  // namespace stagecraft

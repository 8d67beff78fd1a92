// Reports the errors of predictions as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/validation/error_table.h"
#include "tools/validation/profiled_passes.h"

namespace stagecraft {

struct Validation {
  std::vector<ValidatedRow> rows;       // scored, in the order of the files
  std::vector<MeasuredRow> not_scored;  // which reports list separately
  // Those of `not_scored` that measure mixtures of experts, predicted: no mean counts them.
  std::vector<ValidatedRow> mixtures = {};
  std::vector<ProfiledPass> passes = {};
};

// Returns "sources", "overall", "baselines", "rows", "mixtures" and "not_scored"; errors are in
// percent.
nlohmann::ordered_json ValidationToJson(const Validation& validation);

void PrintValidation(const Validation& validation, std::ostream& out);

// Throws a std::runtime_error if predictions are impossible, with the number of such rows and the
// id of the first. In both reports they are not counted as simulated, and have a reason.
void RequireSound(const Validation& validation);

}  // namespace stagecraft

// Error tables, for people and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/validation/error_table.h"

namespace stagecraft {

struct Validation {
  std::vector<ValidatedRow> rows;       // scored, in order of the files
  std::vector<MeasuredRow> not_scored;  // listed separately
};

// "sources", "overall", "baselines", "rows" and "not_scored"; errors in percent.
nlohmann::ordered_json ValidationToJson(const Validation& validation);

void PrintValidation(const Validation& validation, std::ostream& out);

// Throws a std::runtime_error if the prediction for a row is impossible, with the number of such
// rows and the first of them. They are not counted as simulated, and have a reason, in both
// reports.
void RequireSound(const Validation& validation);

}  // namespace stagecraft

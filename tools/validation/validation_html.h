// Writes a validation as one HTML page that loads no other file: charts of predicted against
// measured times and sizes of memory, errors by group of rows, and the rows with the largest
// errors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/validation/validation_report.h"

namespace stagecraft {

// Returns the page. It has the rows that count once (primary) and have a prediction of a training
// step's time or of peak memory, and says how many others there are, and why. `origin` says in
// plain text what was compared with what. Same input, same bytes; text of the tables that is not
// UTF-8 is not UTF-8 in the page either.
std::string ValidationToHtml(const Validation& validation, const std::string& origin);

// Returns the usual origin: how many scored rows of which tables, by which cost model, and of which
// version of stagecraft. Files are named without their folders, so that the page does not depend on
// where they are.
std::string ValidationOrigin(size_t scored_rows, const std::vector<std::string>& tables,
                             const std::string& cost_model, const std::string& version);

}  // namespace stagecraft

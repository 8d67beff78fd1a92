// An evaluation as one HTML page that needs nothing else: tables, and for each op
// predicted against measured times and errors by size. Same input, same bytes.
#pragma once

#include <string>

#include "tools/report/evaluation_report.h"

namespace stagecraft {

std::string EvaluationToHtml(const AccuracyReport& evaluation);

}  // namespace stagecraft

// Writes an evaluation as one HTML page that loads no other file: tables and, for each op, charts
// of predicted against measured times and of errors by size. Same input, same bytes.
#pragma once

#include <string>

#include "tools/report/evaluation_report.h"

namespace stagecraft {

std::string EvaluationToHtml(const AccuracyReport& evaluation);

}  // namespace stagecraft

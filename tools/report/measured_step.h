// MeasuredStep: the time of a step that somebody measured, beside the predicted one, and what would
// explain the difference.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// A part of the predicted step that, if it alone took so many times as long, would make up the
// difference.
struct PartFactor {
  const char* what;   // "computation"
  Duration part;      // as predicted
  double factor = 1;  // > 0
};

struct MeasuredStep {
  Duration measured, predicted, low, high;  // the 80 % prediction interval
  std::vector<PartFactor> explanations;     // the smallest change first

  bool is_within() const { return measured >= low && measured <= high; }
  // (predicted - measured) / measured.
  double error() const { return predicted.seconds() / measured.seconds() - 1; }
};

// Parses "1.23s", "850ms" or "900us". Throws InputError that names `flag` for anything else, and
// unless it is above zero and at most a week.
Duration ParseMeasured(const std::string& flag, const std::string& text);

// Precondition: measured > 0.
MeasuredStep CompareMeasured(Duration measured, const Evaluation& evaluation);

void PrintMeasured(const MeasuredStep& step, std::ostream& out);
nlohmann::ordered_json ToJson(const MeasuredStep& step);

}  // namespace stagecraft

// ProfiledPasses: measured and predicted times of single passes, where a table states them as
// `profiled_T_F`, `profiled_T_B` or `profiled_T_W`: the forward, the backward for inputs and the
// backward for weights of one micro-batch on one stage, as the mean over stages. They are not
// scored, but say where the time of a step goes wrong.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/validation/measured_row.h"
#include "tools/validation/prediction.h"

namespace stagecraft {

struct ProfiledPass {
  std::string id, model, metric;
  double measured = 0;              // seconds
  std::optional<double> predicted;  // seconds
  std::string reason;               // why there is no prediction
};

// Returns one for each of these rows that states the time of a pass, in order. Simulates a step for
// each.
std::vector<ProfiledPass> PredictPasses(std::span<const MeasuredRow> rows,
                                        const PredictionBasis& basis);

// Prints a line for each network and kind of pass, with means over its rows; nothing without
// passes.
void PrintPasses(std::span<const ProfiledPass> passes, std::ostream& out);

// Returns an array with "id", "metric", "measured", "predicted" (null: none) and "reason".
nlohmann::ordered_json PassesToJson(std::span<const ProfiledPass> passes);

}  // namespace stagecraft

// What `train` prints: the states of the network with their plans, and the history of the run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "tools/flags/planned_job.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"

namespace stagecraft {

// Returns the fields of docs/json.md, without the report's header.
nlohmann::ordered_json TrainToJson(const PlannedJob& job, const TrainRequest& request,
                                   const TrainAnswer& answer);
// Prints the states, at most 40, and the balancers, the checkpoints and the history, as far as the
// answer has them.
void PrintTrain(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer,
                std::ostream& out);

}  // namespace stagecraft

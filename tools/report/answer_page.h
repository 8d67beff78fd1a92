// AnswerPage: what a verb answered, as one HTML page that needs no other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// A step whose passes the page shows.
struct ShownStep {
  const Schedule* schedule = nullptr;
  const Timeline* timeline = nullptr;
};

// Returns the page of the JSON that `simulate`, `explain`, `search` or `whatif` prints. `steps` are
// those of the plans of an explanation, in order, or of the (best) plan alone; those that are not
// known may be missing at the end. Throws InputError that begins with `place`, such as a file, for
// JSON that none of these verbs prints. Same input, same bytes.
std::string AnswerPage(const nlohmann::ordered_json& answer, std::span<const ShownStep> steps,
                       const std::string& place);

}  // namespace stagecraft

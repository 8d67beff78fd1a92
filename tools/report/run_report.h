// Reports a measured step as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/schedule/timeline_record.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// Returns the keys of `run --json`. Precondition: the record has a measurement of at least one
// step. `notes` are sentences that say how what ran differs from what the flags asked for.
nlohmann::ordered_json RunToJson(const PlannedJob& job, const TimelineRecord& record,
                                 const std::vector<std::string>& notes);

// Prints the same as text.
void PrintRun(const PlannedJob& job, const TimelineRecord& record,
              const std::vector<std::string>& notes, std::ostream& out);

}  // namespace stagecraft

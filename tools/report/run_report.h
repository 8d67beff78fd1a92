// A step that was measured, for people and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/schedule/timeline_record.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// The keys of `run --json`. The record has a measurement of one step or more; `notes` say how what
// ran differs from what flags say, a sentence each.
nlohmann::ordered_json RunToJson(const PlannedJob& job, const TimelineRecord& record,
                                 const std::vector<std::string>& notes);

// The same for people.
void PrintRun(const PlannedJob& job, const TimelineRecord& record,
              const std::vector<std::string>& notes, std::ostream& out);

}  // namespace stagecraft

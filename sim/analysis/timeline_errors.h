// The final check of a measured timeline, and of a comparison of two, before they are shown.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/timeline_comparison.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Returns one sentence for each thing that is impossible for a training step that ran: no time or
// more than 100 years, tasks that end before they start or start before the step, negative steps or
// memory. Returns none if the record may be shown.
std::vector<std::string> FindErrors(const TimelineRecord& record);

// Returns one sentence for each thing that is impossible in a comparison: negative times, idle
// shares outside of 0 to 1, ratios that are not numbers, critical paths that do not add up to their
// steps.
std::vector<std::string> FindErrors(const TimelineComparison& comparison);

// Both throw std::runtime_error with the first of these sentences, if there is one; `what` names
// the object that was checked, at the beginning of the message.
void RequireSound(const TimelineRecord& record, const std::string& what);
void RequireSound(const TimelineComparison& comparison, const std::string& what);

}  // namespace stagecraft

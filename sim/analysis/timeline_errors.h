// The final check of a measured timeline, and of a comparison of two, before anybody reads them.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/timeline_comparison.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// One sentence for each thing that is impossible for a step that ran: no time or more than 100
// years, tasks that end before they start or start before the step, negative steps or memory. Empty
// if the record may be shown.
std::vector<std::string> FindErrors(const TimelineRecord& record);

// One sentence for each thing that is impossible in a comparison: negative times, idle shares
// outside of 0 to 1, ratios that are not numbers, critical paths that do not add up to their steps.
std::vector<std::string> FindErrors(const TimelineComparison& comparison);

// Both throw std::runtime_error with the first of these sentences, which opens with `what` was
// checked.
void RequireSound(const TimelineRecord& record, const std::string& what);
void RequireSound(const TimelineComparison& comparison, const std::string& what);

}  // namespace stagecraft

// The last look at a measured timeline, and at a comparison of two, before anybody reads them.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/timeline_comparison.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// What no step that ran can be, a sentence each: one of no time or of more than 100 years,
// tasks that end before they start or start before the step, steps and memory below zero.
// Empty where the record may be shown.
std::vector<std::string> FindErrors(const TimelineRecord& record);

// What no comparison can be, a sentence each: times below zero, idle shares outside of 0 to 1,
// ratios that are no numbers, critical paths that do not add up to their steps.
std::vector<std::string> FindErrors(const TimelineComparison& comparison);

// Throw std::runtime_error with the first of them, which opens with `what` this is of.
void RequireSound(const TimelineRecord& record, const std::string& what);
void RequireSound(const TimelineComparison& comparison, const std::string& what);

}  // namespace stagecraft

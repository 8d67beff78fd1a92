// Charts of a timeline: the passes of every stage over time, and what every stage spends the step
// on (tools/chart/chart_page.h).
#pragma once

#include <string>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// The most bars of the picture. Of longer steps it has the first and the last passes.
inline constexpr int kMostPasses = 12'000;

// Returns two figures. Of every stage they show the first rank of its first replica: what it
// computes, and on rows of their own its exchanges that run beside that; sends between stages are
// left out. Empty if the schedule has no tasks.
std::string PipelineCharts(const Schedule& schedule, const Timeline& timeline);

}  // namespace stagecraft

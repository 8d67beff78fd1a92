// A comparison of timelines as JSON and in words.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/timeline_comparison.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// The time of a critical path in which no task ran.
inline constexpr const char* kNothingRuns = "nothing runs";

struct TimelineFile {
  std::string path;
  TimelineRecord record;
};

struct ComparedTimelines {
  TimelineFile predicted, measured;
  TimelineComparison comparison;
};

// A sentence that says what to do where the predicted step waits for its host to launch kernels,
// and the measured one, which launched recorded graphs, did not; nullopt elsewhere.
std::optional<std::string> HostWarning(const ComparedTimelines& compared);

// What the numbers rest on, and what is odd about the files; HostWarning is not among them.
std::vector<std::string> NotesOn(const ComparedTimelines& compared);

// The keys of `compare --json`; of the tasks `top` are called the worst. HostWarning is the first
// of the notes.
nlohmann::ordered_json ToJson(const ComparedTimelines& compared, int top);

// The same for people, with the `top` worst tasks; HostWarning comes before all else.
void PrintComparison(const ComparedTimelines& compared, int top, std::ostream& out);

}  // namespace stagecraft

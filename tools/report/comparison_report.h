// Reports a comparison of timelines as JSON and as text.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/timeline_comparison.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// The name of the time of a critical path in which no task ran.
inline constexpr const char* kNothingRuns = "nothing runs";

struct TimelineFile {
  std::string path;
  TimelineRecord record;
};

struct ComparedTimelines {
  TimelineFile predicted, measured;
  TimelineComparison comparison;
};

// Returns a sentence that says what to do if the predicted step waits for its host to launch
// kernels, but the measured one does not, since it launched recorded graphs; else nullopt.
std::optional<std::string> HostWarning(const ComparedTimelines& compared);

// Returns sentences about what the numbers rest on and what is unusual about the files, without
// HostWarning().
std::vector<std::string> NotesOn(const ComparedTimelines& compared);

// Returns the keys of `compare --json`, in which `top` tasks are named as the worst. HostWarning()
// is the first of the notes.
nlohmann::ordered_json ToJson(const ComparedTimelines& compared, int top);

// Prints the same as text, with the `top` worst tasks, HostWarning() before all else.
void PrintComparison(const ComparedTimelines& compared, int top, std::ostream& out);

}  // namespace stagecraft

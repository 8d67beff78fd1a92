// TraceRows: adds tracks, slices and arguments to a TraceView, and the strings that
// they refer to by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "tools/trace/trace_view.h"

namespace stagecraft {

// Numbers of names: the phases, then these, then the kinds of ops.
inline constexpr int kBubbleName = kPhaseCount;
inline constexpr int kFirstOpName = kPhaseCount + 1;
// Of categories: the phases, then these.
inline constexpr int kIdleCategory = kPhaseCount;
inline constexpr int kOpCategory = kPhaseCount + 1;
inline constexpr int kLaunchCategory = kPhaseCount + 2;
// Of texts: the phases, then the distinct ops.
inline constexpr int kFirstOpText = kPhaseCount;

// Of keys.
enum TraceKey : int16_t {
  kTaskKey,
  kMicroBatchKey,
  kChunkKey,
  kStageKey,
  kSegmentKey,
  kOpsKey,
  kBytesKey,
  kOpKey,
  kPredictedKey,
  kWaitsForKey,
};

class TraceRows {
 public:
  // Borrows the view.
  explicit TraceRows(TraceView& view) : view_(view) {}

  // The view's level decides whether texts name ops.
  void AddStrings(const Schedule& schedule);
  // Before any track of a rank, those of so many.
  void AddRoot(const std::string& title, size_t ranks);
  // Below the rank's track, or the root for rank -1; returns its index.
  int32_t AddTrack(TraceTrack::Kind kind, int32_t rank, std::string name);
  // Valid until the next is added.
  TraceSlice& AddSlice(int32_t track, int name, int category, Duration start, Duration end);
  // To the slice added last.
  void AddArgument(TraceKey key, int64_t value, bool is_text = false);

 private:
  TraceView& view_;
  std::vector<int32_t> next_order_;  // of the next child, by rank + 1
};

}  // namespace stagecraft

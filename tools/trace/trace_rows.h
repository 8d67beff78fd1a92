// TraceRows: adds tracks, slices and arguments to a TraceView, and the strings to which they refer
// by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "tools/trace/trace_view.h"

namespace stagecraft {

// Indices of names: the phases come first, then these, then the kinds of ops.
inline constexpr int kBubbleName = kPhaseCount;
inline constexpr int kFirstOpName = kPhaseCount + 1;
// Indices of categories: the phases come first, then these.
inline constexpr int kIdleCategory = kPhaseCount;
inline constexpr int kOpCategory = kPhaseCount + 1;
inline constexpr int kLaunchCategory = kPhaseCount + 2;
// Indices of texts: the phases come first, then the distinct ops.
inline constexpr int kFirstOpText = kPhaseCount;

// Indices of keys.
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
  // The view must outlive it.
  explicit TraceRows(TraceView& view) : view_(view) {}

  // Adds all strings. The level of the view decides whether there are texts for ops.
  void AddStrings(const Schedule& schedule);
  // Adds the root, before any other track is added. `ranks` is the number of ranks.
  void AddRoot(const std::string& title, size_t ranks);
  // Adds a track below that of the rank, or below the root for rank -1; returns its index.
  int32_t AddTrack(TraceTrack::Kind kind, int32_t rank, std::string name);
  // Adds a slice, and returns it; the reference is valid until the next slice is added.
  TraceSlice& AddSlice(int32_t track, int name, int category, Duration start, Duration end);
  // Adds an argument to the slice that was added last.
  void AddArgument(TraceKey key, int64_t value, bool is_text = false);

 private:
  TraceView& view_;
  std::vector<int32_t> next_order_;  // TraceTrack::order of the next child, by rank + 1
};

}  // namespace stagecraft

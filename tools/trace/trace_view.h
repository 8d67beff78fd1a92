// TraceView: a Timeline as tracks, slices, flows and counters, independent of any file format.
// Writers turn it into bytes; equal inputs give equal views.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

enum class TraceLevel {
  kTask,  // one slice for each task on each rank
  kOp,    // and inside of that one for each op
};

// A trace that would have more slices of tasks and ops than this shows the ops of its first tasks
// alone, unless ops are asked for.
inline constexpr int64_t kMostSlicesWithOps = 200'000;

// Refers to schedule, timeline, op_times and launches, which must outlive it.
struct TraceInput {
  struct MemoryPoint {
    Duration time;
    Bytes used;
  };
  using MemoryCurve = std::vector<MemoryPoint>;  // times do not decrease

  const Schedule& schedule;
  const Timeline& timeline;
  const OpTimes* op_times = nullptr;      // nullptr or empty: only tasks are shown
  std::span<const Launch> launches = {};  // by task; empty: no host tracks
  std::vector<MemoryCurve> memory = {};   // by rank; empty: no counters
  std::string title = "stagecraft";
  std::vector<std::string> rank_names = {};  // by rank; empty: "stage 0 rank 0"
  // What else a file should state about itself: tool version, seed, fingerprint.
  std::vector<std::pair<std::string, std::string>> facts = {};
};

// A node of a tree: below the root are the ranks, and below each of them its lanes, idle time,
// launches and memory.
struct TraceTrack {
  enum class Kind { kGroup, kSlices, kCounter };
  enum class Unit { kBytes, kNanoseconds, kCount };

  Kind kind = Kind::kGroup;
  Unit unit = Unit::kBytes;  // of a counter
  int32_t parent = -1;       // into tracks; a parent comes before its children
  int32_t order = 0;         // place among its siblings
  int32_t rank = -1;         // of the schedule; -1: root, or a lane of no rank
  std::string name;
  int64_t begin = 0;  // of its slices or points, [begin, end)
  int64_t end = 0;
};

struct TraceArgument {
  int64_t value = 0;  // a number, or an index into texts if is_text
  int16_t key = 0;    // into keys
  bool is_text = false;
};

struct TraceSlice {
  Duration start;
  Duration end;
  int64_t arguments_begin = 0;  // into arguments, [begin, end)
  int64_t arguments_end = 0;
  int32_t track = 0;
  int16_t name = 0;      // into names
  int16_t category = 0;  // into categories
  int16_t depth = 0;     // 1: an op, inside the last slice of depth 0
};

// An arrow between slices; the first starts no later than the second.
struct TraceFlow {
  int64_t from = 0;
  int64_t to = 0;
};

// The value of a counter from this time on, in the unit of its track.
struct TracePoint {
  Duration time;
  int64_t value = 0;
};

// The slices of a track are contiguous, in order of time, each parent before its children; siblings
// do not overlap and children lie inside their parent.
struct TraceView {
  std::vector<TraceTrack> tracks;  // the first is the root
  std::vector<TraceSlice> slices;
  std::vector<TraceArgument> arguments;
  std::vector<TraceFlow> flows;
  std::vector<TracePoint> points;
  // A few dozen strings, whatever the size of the trace; texts grow with the distinct ops.
  std::vector<std::string> names, categories, keys, texts;
  std::vector<std::pair<std::string, std::string>> facts;
  TraceLevel level = TraceLevel::kTask;
  Duration ops_until = Duration::Max();  // with kOp: tasks that start earlier hold their ops
};

// Returns until when tasks can hold their ops if there are to be at most `most` slices of tasks and
// ops: those that start earlier. Duration::Max() if all can; zero if none can, or if the times of
// ops are not known.
Duration OpsUntil(const TraceInput& input, int64_t most = kMostSlicesWithOps);

// If no level is given, ops are shown as far as OpsUntil() says; kTask is chosen if none can be.
//
// A task is shown on its first lane of every rank that it occupies. Its ops follow one another in
// proportion to their times on that rank, which are exact if they add up to the task's duration.
// The gaps of a compute lane are on a track "idle", and what the host of a rank launches is on a
// track "host". From a send, an arrow leads to each task on another rank that waits for it.
//
// Throws InputError if tasks overlap on a lane, or start before zero.
TraceView MakeTraceView(const TraceInput& input, std::optional<TraceLevel> level = {});

// Returns which ops the view of a timeline whose op times are known leaves out, as a sentence
// without a full stop; "" if it shows all.
std::string NoteOnKernels(const TraceView& view);

}  // namespace stagecraft

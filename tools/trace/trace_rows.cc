#include "tools/trace/trace_rows.h"

#include <iterator>
#include <utility>

#include "costmodel/op.h"

namespace stagecraft {
namespace {

// There are only a few names, so that viewers group equal work.
constexpr const char* kPhaseNames[] = {"F",         "B",          "B input",      "B weight",
                                       "send F",    "send B",     "context",      "grad reduce",
                                       "grad norm", "optimizer",  "param gather", "offload",
                                       "fetch",     "vocabulary", "experts"};
static_assert(std::size(kPhaseNames) == kPhaseCount);
constexpr const char* kKeys[] = {"task", "micro_batch", "chunk", "stage",        "segment",
                                 "ops",  "bytes",       "op",    "predicted_ns", "waits_for"};

}  // namespace

void TraceRows::AddStrings(const Schedule& schedule) {
  view_.names.assign(std::begin(kPhaseNames), std::end(kPhaseNames));
  view_.names.push_back("bubble");
  for (int kind = 0; kind < kOpKindCount; ++kind) {
    view_.names.push_back(Name(static_cast<OpKind>(kind)));
  }
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    view_.categories.push_back(Name(static_cast<Phase>(phase)));
  }
  view_.categories.push_back("idle");
  view_.categories.push_back("op");
  view_.categories.push_back("launch");
  view_.keys.assign(std::begin(kKeys), std::end(kKeys));
  view_.texts.assign(std::begin(kPhaseNames), std::end(kPhaseNames));
  if (view_.level == TraceLevel::kTask) return;
  for (const Op& op : schedule.distinct_ops()) view_.texts.push_back(Describe(op));
}

void TraceRows::AddRoot(const std::string& title, size_t ranks) {
  next_order_.assign(ranks + 1, 0);
  TraceTrack root;
  root.name = title;
  view_.tracks.push_back(std::move(root));
}

int32_t TraceRows::AddTrack(TraceTrack::Kind kind, int32_t rank, std::string name) {
  TraceTrack track;
  track.kind = kind;
  track.parent = rank + 1;  // the root has index 0, and the ranks follow
  track.order = next_order_[rank + 1]++;
  track.rank = rank;
  track.name = std::move(name);
  view_.tracks.push_back(std::move(track));
  return static_cast<int32_t>(view_.tracks.size()) - 1;
}

TraceSlice& TraceRows::AddSlice(int32_t track, int name, int category, Duration start,
                                Duration end) {
  TraceSlice slice;
  slice.start = start;
  slice.end = end;
  slice.track = track;
  slice.name = static_cast<int16_t>(name);
  slice.category = static_cast<int16_t>(category);
  slice.arguments_begin = slice.arguments_end = std::ssize(view_.arguments);
  view_.slices.push_back(slice);
  return view_.slices.back();
}

void TraceRows::AddArgument(TraceKey key, int64_t value, bool is_text) {
  view_.arguments.push_back({value, key, is_text});
  view_.slices.back().arguments_end = std::ssize(view_.arguments);
}

}  // namespace stagecraft

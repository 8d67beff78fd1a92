#include "tools/trace/trace_pair.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "costmodel/check.h"
#include "tools/trace/trace_rows.h"

namespace stagecraft {
namespace {

class Pairer {
 public:
  Pairer(const TraceView& predicted, const TraceView& measured)
      : predicted_(predicted), measured_(measured) {
    CHECK(measured.level == TraceLevel::kTask);
    CHECK(predicted.tracks.size() == measured.tracks.size());
    CHECK(predicted.names == measured.names);
    CHECK(predicted.texts.size() >= measured.texts.size());  // texts of ops come last
  }

  TraceView Pair() {
    pair_.level = predicted_.level;
    pair_.names = predicted_.names;
    pair_.categories = predicted_.categories;
    pair_.keys = predicted_.keys;
    pair_.texts = predicted_.texts;
    pair_.facts = predicted_.facts;
    RememberPredictions();
    for (size_t track = 0; track < predicted_.tracks.size(); ++track) AddTracks(track);
    AddFlows(predicted_, 0);
    AddFlows(measured_, 1);
    return std::move(pair_);
  }

 private:
  // The task that a slice shows; -1 if it shows none, or one of a task's ops.
  static int64_t TaskOf(const TraceView& view, const TraceSlice& slice) {
    for (int64_t i = slice.arguments_begin; i < slice.arguments_end; ++i) {
      if (view.arguments[i].key == kTaskKey) return view.arguments[i].value;
    }
    return -1;
  }

  void RememberPredictions() {
    for (const TraceSlice& slice : predicted_.slices) {
      const int64_t task = TaskOf(predicted_, slice);
      if (task >= 0) predicted_time_[task] = slice.end - slice.start;
    }
  }

  // Adds a group once, and a track with slices once for each view.
  void AddTracks(size_t index) {
    const TraceTrack& track = predicted_.tracks[index];
    if (track.kind == TraceTrack::Kind::kGroup) {
      group_[index] = static_cast<int32_t>(pair_.tracks.size());
      AddTrack(track, track.order, track.name);
      return;
    }
    CHECK(track.kind == TraceTrack::Kind::kSlices);
    CHECK(track.name == measured_.tracks[index].name);
    AddTrack(track, 2 * track.order, track.name + " predicted");
    AddSlices(predicted_, track, 0);
    AddTrack(track, 2 * track.order + 1, track.name + " measured");
    AddSlices(measured_, measured_.tracks[index], 1);
  }

  void AddTrack(const TraceTrack& from, int32_t order, std::string name) {
    TraceTrack& track = pair_.tracks.emplace_back(from);
    if (from.parent >= 0) track.parent = group_.at(from.parent);
    track.order = order;
    track.name = std::move(name);
  }

  void AddSlices(const TraceView& view, const TraceTrack& from, int side) {
    const auto track = static_cast<int32_t>(pair_.tracks.size()) - 1;
    pair_.tracks[track].begin = std::ssize(pair_.slices);
    place_[side].resize(view.slices.size(), -1);
    for (int64_t i = from.begin; i < from.end; ++i) {
      place_[side][i] = std::ssize(pair_.slices);
      TraceSlice slice = view.slices[i];
      slice.track = track;
      slice.arguments_begin = std::ssize(pair_.arguments);
      pair_.arguments.insert(pair_.arguments.end(),
                             view.arguments.begin() + view.slices[i].arguments_begin,
                             view.arguments.begin() + view.slices[i].arguments_end);
      const int64_t task = side == 1 ? TaskOf(view, view.slices[i]) : -1;
      if (task >= 0) pair_.arguments.push_back({predicted_time_.at(task).ns(), kPredictedKey});
      slice.arguments_end = std::ssize(pair_.arguments);
      pair_.slices.push_back(slice);
    }
    pair_.tracks[track].end = std::ssize(pair_.slices);
  }

  void AddFlows(const TraceView& view, int side) {
    for (const TraceFlow& flow : view.flows) {
      pair_.flows.push_back({place_[side][flow.from], place_[side][flow.to]});
    }
  }

  const TraceView& predicted_;
  const TraceView& measured_;
  TraceView pair_;
  std::unordered_map<int64_t, Duration> predicted_time_;  // by task
  std::unordered_map<int64_t, int32_t> group_;            // of the pair, by track of a view
  std::vector<int64_t> place_[2];                         // slice of the pair, by slice of a view
};

}  // namespace

TraceView PairTraceViews(const TraceView& predicted, const TraceView& measured) {
  return Pairer(predicted, measured).Pair();
}

}  // namespace stagecraft

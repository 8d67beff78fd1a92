#include "tools/trace/trace_pair.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

// As predicted; as measured, each task takes 1 us longer:
// rank 0: [F 3us: gemm] -> [send F 2us]
// rank 1:                              [F 4us]
struct TwoStages {
  TwoStages() {
    Schedule::Builder s;
    const OpId gemm = s.AddOp(Op::Gemm(DType::kBf16, 2, 3, 5));
    const OpSequenceId op_sequence = s.AddOpSequence(std::vector<OpId>{gemm});
    for (int16_t stage = 0; stage < 2; ++stage) s.AddRank({.device = stage, .stage = stage});
    const std::vector<Lane> compute0 = {s.AddLane({0, LaneKind::kCompute})};
    const std::vector<Lane> send0 = {s.AddLane({0, LaneKind::kSendNext})};
    const std::vector<Lane> compute1 = {s.AddLane({1, LaneKind::kCompute})};
    const TaskId f0 = s.Add(compute0, {}, op_sequence, {0, 0, 0, 7, Phase::kForward, 0});
    const TaskId send =
        s.Add(send0, std::vector<TaskId>{f0}, -1, {0, 0, 0, 7, Phase::kSendForward, 0});
    s.Add(compute1, std::vector<TaskId>{send}, -1, {1, 1, 0, 7, Phase::kForward, 0});
    schedule = s.Build();
  }

  TraceView Pair() const {
    return PairTraceViews(
        MakeTraceView({.schedule = schedule, .timeline = predicted, .op_times = &op_times}),
        MakeTraceView({.schedule = schedule, .timeline = measured}));
  }

  Schedule schedule;
  Timeline predicted{{0_us, 3_us, 5_us}, {3_us, 5_us, 9_us}};
  Timeline measured{{0_us, 4_us, 7_us}, {4_us, 7_us, 12_us}};
  OpTimes op_times = {{{3_us}}, {0, 0}};
};

// "parent > track: slices" for every track, in nanoseconds.
std::vector<std::string> Lines(const TraceView& view) {
  std::vector<std::string> lines;
  for (const TraceTrack& track : view.tracks) {
    if (track.kind == TraceTrack::Kind::kGroup) continue;
    std::string line = view.tracks[track.parent].name + " > " + track.name + ":";
    for (int64_t i = track.begin; i < track.end; ++i) {
      const TraceSlice& slice = view.slices[i];
      EXPECT_EQ(&view.tracks[slice.track], &track);
      line += " " + view.names[slice.name] + " " + std::to_string(slice.start.ns()) + "-" +
              std::to_string(slice.end.ns());
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(TracePairTest, EveryLaneIsThereTwiceWithThePredictedAboveTheMeasured) {
  const TraceView view = TwoStages().Pair();
  EXPECT_EQ(Lines(view),
            (std::vector<std::string>{"stage 0 rank 0 > compute predicted: F 0-3000 gemm 0-3000",
                                      "stage 0 rank 0 > compute measured: F 0-4000",
                                      "stage 0 rank 0 > idle predicted: bubble 3000-9000",
                                      "stage 0 rank 0 > idle measured: bubble 4000-12000",
                                      "stage 0 rank 0 > send next predicted: send F 3000-5000",
                                      "stage 0 rank 0 > send next measured: send F 4000-7000",
                                      "stage 1 rank 1 > compute predicted: F 5000-9000",
                                      "stage 1 rank 1 > compute measured: F 7000-12000",
                                      "stage 1 rank 1 > idle predicted: bubble 0-5000",
                                      "stage 1 rank 1 > idle measured: bubble 0-7000"}));
  int last = -1;
  for (const TraceTrack& track : view.tracks) {
    if (track.rank != 0 || track.kind == TraceTrack::Kind::kGroup) continue;
    EXPECT_GT(track.order, last);  // viewers sort tracks by it
    last = track.order;
  }
}

TEST(TracePairTest, AMeasuredTaskSaysWhatWasPredicted) {
  const TraceView view = TwoStages().Pair();
  const TraceSlice& slice = view.slices[view.tracks[view.slices[2].track].begin];
  EXPECT_EQ(slice.end, 4_us);
  const TraceArgument& last = view.arguments[slice.arguments_end - 1];
  EXPECT_EQ(view.keys[last.key], "predicted_ns");
  EXPECT_EQ(last.value, 3000);
  EXPECT_EQ(view.keys[view.arguments[slice.arguments_begin].key], "task");
}

TEST(TracePairTest, ArrowsStayWithinATimeline) {
  const TraceView view = TwoStages().Pair();
  ASSERT_EQ(view.flows.size(), 2u);
  const auto track = [&](int64_t slice) { return view.tracks[view.slices[slice].track].name; };
  EXPECT_EQ(track(view.flows[0].from), "send next predicted");
  EXPECT_EQ(track(view.flows[0].to), "compute predicted");
  EXPECT_EQ(track(view.flows[1].from), "send next measured");
  EXPECT_EQ(track(view.flows[1].to), "compute measured");
}

}  // namespace
}  // namespace stagecraft

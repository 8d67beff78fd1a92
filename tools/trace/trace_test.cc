// Tests of the view of a timeline, and of what both writers make of it.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "proto/perfetto_trace.pb.h"
#include "sim/engine/engine.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "tools/trace/chrome_writer.h"
#include "tools/trace/perfetto_writer.h"
#include "tools/trace/trace_view.h"

namespace stagecraft {
namespace {

using nlohmann::json;
using perfetto::protos::Trace;
using perfetto::protos::TrackEvent;

// rank 0 compute:   [F 0-3us: gemm 2us, elementwise 1us]
// rank 0 send next:                 [send F 3-5us: 4096 bytes]
// rank 1 compute:                                     [F 5-9us: gemm, elementwise, gemm]
struct TwoStages {
  TwoStages() {
    Schedule::Builder s;
    const OpId gemm = s.AddOp(Op::Gemm(DType::kBf16, 2, 3, 5));
    const OpId norm = s.AddOp(Op::Elementwise(Bytes(12)));
    const OpId send = s.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(4096), Fabric()));
    const OpSequenceId first = s.AddOpSequence(std::vector<OpId>{gemm, norm});
    const OpSequenceId transfer = s.AddOpSequence(std::vector<OpId>{send});
    const OpSequenceId second = s.AddOpSequence(std::vector<OpId>{gemm, norm, gemm});
    for (int16_t stage = 0; stage < 2; ++stage) s.AddRank({.device = stage, .stage = stage});
    const std::vector<Lane> compute0 = {s.AddLane({0, LaneKind::kCompute})};
    const std::vector<Lane> send0 = {s.AddLane({0, LaneKind::kSendNext})};
    const std::vector<Lane> compute1 = {s.AddLane({1, LaneKind::kCompute})};
    const TaskId f0 = s.Add(compute0, {}, first, {0, 0, 0, 7, Phase::kForward, 0});
    const TaskId move =
        s.Add(send0, std::vector<TaskId>{f0}, transfer, {0, 0, 0, 7, Phase::kSendForward, 0});
    s.Add(compute1, std::vector<TaskId>{move}, second, {1, 1, 0, 7, Phase::kForward, 0});
    schedule = s.Build();
  }

  TraceInput Input() const {
    return {.schedule = schedule,
            .timeline = timeline,
            .op_times = &op_times,
            .memory = {{{0_us, Bytes(100)}, {3_us, Bytes(250)}}, {}},
            .title = "two \"stages\"",
            .rank_names = {"stage 0 rank 0 node0/gpu0", "stage 1 rank 1 node1/gpu0"},
            .facts = {{"seed", "1"}}};
  }

  Schedule schedule;
  Timeline timeline{{0_us, 3_us, 5_us}, {3_us, 5_us, 9_us}};
  OpTimes op_times = {{{2_us, 1_us, 2_us}}, {0, 0}};
};

// "rank track: name start-end" for every slice, in nanoseconds; ops are indented.
std::vector<std::string> Lines(const TraceView& view) {
  std::vector<std::string> lines;
  for (const TraceSlice& slice : view.slices) {
    const TraceTrack& track = view.tracks[slice.track];
    lines.push_back(std::to_string(track.rank) + " " + track.name +
                    (slice.depth > 0 ? ":   " : ": ") + view.names[slice.name] + " " +
                    std::to_string(slice.start.ns()) + "-" + std::to_string(slice.end.ns()));
  }
  return lines;
}

// The arguments of a slice, as "key=value".
std::vector<std::string> Arguments(const TraceView& view, int64_t slice) {
  std::vector<std::string> lines;
  for (int64_t i = view.slices[slice].arguments_begin; i < view.slices[slice].arguments_end; ++i) {
    const TraceArgument& a = view.arguments[i];
    const std::string value = a.is_text ? view.texts[a.value] : std::to_string(a.value);
    lines.push_back(view.keys[a.key] + "=" + value);
  }
  return lines;
}

TEST(TraceViewTest, TasksHoldTheirOpsAndGapsAreBubbles) {
  const TwoStages job;
  const TraceView view = MakeTraceView(job.Input());
  // The last task takes 4 us, but its ops add up to 5 us, so all of them are shown shorter.
  EXPECT_EQ(Lines(view), (std::vector<std::string>{
                             "0 compute: F 0-3000", "0 compute:   gemm 0-2000",
                             "0 compute:   elementwise 2000-3000", "0 idle: bubble 3000-9000",
                             "0 send next: send F 3000-5000", "0 send next:   send-recv 3000-5000",
                             "1 compute: F 5000-9000", "1 compute:   gemm 5000-6600",
                             "1 compute:   elementwise 6600-7400", "1 compute:   gemm 7400-9000",
                             "1 idle: bubble 0-5000"}));
  EXPECT_EQ(Arguments(view, 4), (std::vector<std::string>{"task=1", "micro_batch=7", "chunk=0",
                                                          "stage=0", "ops=1", "bytes=4096"}));
  EXPECT_EQ(Arguments(view, 1),
            (std::vector<std::string>{"op=gemm 2x3x5 bf16", "predicted_ns=2000"}));
  EXPECT_EQ(Arguments(view, 10), (std::vector<std::string>{"waits_for=send F"}));
  ASSERT_EQ(view.flows.size(), 1u);
  EXPECT_EQ(view.flows[0].from, 4);
  EXPECT_EQ(view.flows[0].to, 6);
}

// On the second rank's GPU the GEMM takes 1 us and the elementwise op 2 us.
TEST(TraceViewTest, OpsTakeAsLongAsOnTheGpuOfTheirRank) {
  TwoStages job;
  job.op_times = {{{2_us, 1_us, 2_us}, {1_us, 2_us, 2_us}}, {0, 1}};
  const TraceView view = MakeTraceView(job.Input());
  const std::vector<std::string> lines = Lines(view);
  EXPECT_EQ(lines[1], "0 compute:   gemm 0-2000");
  EXPECT_EQ(lines[7], "1 compute:   gemm 5000-6000");
  EXPECT_EQ(lines[8], "1 compute:   elementwise 6000-8000");
  EXPECT_EQ(Arguments(view, 8).back(), "predicted_ns=2000");
}

TEST(TraceViewTest, AtTaskLevelOpsAreLeftOut) {
  const TwoStages job;
  EXPECT_EQ(MakeTraceView(job.Input(), TraceLevel::kTask).slices.size(), 5u);
  TraceInput without_times = job.Input();
  without_times.op_times = nullptr;
  EXPECT_EQ(MakeTraceView(without_times).slices.size(), 5u);
}

// Three slices of tasks, and 2, 1 and 3 of their ops: 9 in all.
TEST(TraceViewTest, OpsOfTheFirstTasksAreShownIfThereAreTooMany) {
  const TwoStages job;
  EXPECT_EQ(OpsUntil(job.Input(), 9), Duration::Max());
  EXPECT_EQ(OpsUntil(job.Input(), 8), 5_us);
  EXPECT_EQ(OpsUntil(job.Input(), 6), 5_us);
  EXPECT_EQ(OpsUntil(job.Input(), 5), 3_us);
  EXPECT_EQ(OpsUntil(job.Input(), 4), Duration());
  TraceInput without_times = job.Input();
  without_times.op_times = nullptr;
  EXPECT_EQ(OpsUntil(without_times, 100), Duration());
}

// There are 100,001 forwards of two ops each. The ops of the first 49,999 make 199,999 slices.
TEST(TraceViewTest, AViewStaysWithinItsSlices) {
  constexpr int kTasks = 100'001;
  Schedule::Builder s;
  const OpId op = s.AddOp(Op::Elementwise(Bytes(12)));
  const OpSequenceId ops = s.AddOpSequence(std::vector<OpId>{op, op});
  const std::vector<Lane> lane = {s.AddLane({s.AddRank({.device = 0}), LaneKind::kCompute})};
  std::vector<Duration> starts, ends;
  for (int task = 0; task < kTasks; ++task) {
    s.Add(lane, {}, ops, {0, 0, 0, task, Phase::kForward, 0});
    starts.push_back(Duration::Nanoseconds(2 * task));
    ends.push_back(Duration::Nanoseconds(2 * task + 2));
  }
  const Schedule schedule = s.Build();
  const Timeline timeline(starts, ends);
  const OpTimes times = {{{Duration::Nanoseconds(1)}}, {0}};
  const TraceView view =
      MakeTraceView({.schedule = schedule, .timeline = timeline, .op_times = &times});
  EXPECT_EQ(view.level, TraceLevel::kOp);
  EXPECT_EQ(view.slices.size(), 199'999u);
  EXPECT_EQ(view.ops_until, Duration::Nanoseconds(2 * 49'999));
  EXPECT_EQ(NoteOnKernels(view),
            "the trace shows the kernels of passes that begin in its first 0.1 ms, since it has at "
            "most 200000 slices with them");
}

TEST(TraceViewTest, ANoteSaysWhichKernelsAreLeftOut) {
  const TwoStages job;
  EXPECT_EQ(NoteOnKernels(MakeTraceView(job.Input())), "");
  EXPECT_EQ(NoteOnKernels(MakeTraceView(job.Input(), TraceLevel::kTask)),
            "the trace shows no kernels, since it has at most 200000 slices with them");
}

TEST(TraceViewTest, ATaskOnTwoRanksIsShownOnBoth) {
  Schedule::Builder s;
  for (int rank = 0; rank < 2; ++rank) s.AddRank({});
  const std::vector<Lane> lanes = {s.AddLane({0, LaneKind::kCompute}),
                                   s.AddLane({0, LaneKind::kData}),
                                   s.AddLane({1, LaneKind::kData})};
  Tag tag;
  tag.phase = Phase::kGradReduce;
  s.Add(lanes, {}, -1, tag);
  const Schedule schedule = s.Build();
  const Timeline timeline({0_ns}, {8_ns});
  EXPECT_EQ(Lines(MakeTraceView({.schedule = schedule, .timeline = timeline})),
            (std::vector<std::string>{"0 compute: grad reduce 0-8", "1 dp: grad reduce 0-8"}));
}

// The host of rank 0 starts at once, that of rank 1 when rank 0's message has arrived.
TEST(TraceViewTest, LaunchesHaveATrackOfTheirOwn) {
  const TwoStages job;
  const std::vector<Launch> launches = {{0_us, 2_us}, {}, {1_us, 3_us, true}};
  TraceInput input = job.Input();
  input.launches = launches;
  const std::vector<std::string> lines = Lines(MakeTraceView(input, TraceLevel::kTask));
  EXPECT_EQ(lines, (std::vector<std::string>{"0 compute: F 0-3000", "0 idle: bubble 3000-9000",
                                             "0 host: F 0-2000", "0 send next: send F 3000-5000",
                                             "1 compute: F 5000-9000", "1 idle: bubble 0-5000",
                                             "1 host: F 5000-8000"}));
}

TEST(TraceViewTest, TasksThatOverlapOnALaneAreRefused) {
  Schedule::Builder s;
  s.Add(Lane{0});
  s.Add(Lane{0});
  const Schedule schedule = s.Build();
  const Timeline timeline({0_ns, 2_ns}, {3_ns, 4_ns});
  try {
    MakeTraceView({.schedule = schedule, .timeline = timeline});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "timeline: task 1 starts at 2 ns, want at or after 3 ns, when its lane is free");
  }
}

Trace Parse(const TraceView& view) {
  std::ostringstream out;
  WritePerfetto(view, out);
  Trace trace;
  EXPECT_TRUE(trace.ParseFromString(out.str()));
  return trace;
}

// Reads a trace as Perfetto does, packet by packet, and fails for anything that Perfetto would
// drop.
class PerfettoReader {
 public:
  explicit PerfettoReader(const Trace& trace) {
    for (int i = 0; i < trace.packet_size(); ++i) {
      const auto& packet = trace.packet(i);
      EXPECT_EQ(packet.sequence_flags(), i == 0 ? 1u : 2u);
      EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
      if (packet.has_interned_data()) ReadStrings(packet.interned_data());
      if (packet.has_track_descriptor()) ReadTrack(packet.track_descriptor());
      if (packet.has_track_event()) ReadEvent(packet.track_event(), packet.timestamp());
    }
    for (const auto& [track, depth] : open_) EXPECT_EQ(depth, 0) << "of track " << track;
    EXPECT_TRUE(flows_.empty());
  }

  std::vector<std::string> lines;  // "uuid B name time", "uuid E time", "uuid C value time"

 private:
  void ReadStrings(const perfetto::protos::InternedData& data) {
    for (const auto& entry : data.event_names()) names_[entry.iid()] = entry.name();
    for (const auto& entry : data.event_categories()) categories_.insert(entry.iid());
    for (const auto& entry : data.debug_annotation_names()) keys_.insert(entry.iid());
    for (const auto& entry : data.debug_annotation_string_values()) texts_.insert(entry.iid());
  }

  void ReadTrack(const perfetto::protos::TrackDescriptor& track) {
    EXPECT_EQ(track.sibling_merge_behavior(), 2);
    EXPECT_TRUE(track.has_parent_uuid() ? uuids_.contains(track.parent_uuid()) : track.uuid() == 1);
    EXPECT_TRUE(uuids_.insert(track.uuid()).second);
  }

  void ReadEvent(const TrackEvent& event, uint64_t time) {
    EXPECT_TRUE(uuids_.contains(event.track_uuid()));
    EXPECT_GE(time, time_);
    time_ = time;
    const std::string where = std::to_string(event.track_uuid()) + " ";
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) {
      ++open_[event.track_uuid()];
      ReadBegin(event);
      lines.push_back(where + "B " + names_[event.name_iid()] + " " + std::to_string(time));
    } else if (event.type() == TrackEvent::TYPE_SLICE_END) {
      EXPECT_GE(--open_[event.track_uuid()], 0);
      lines.push_back(where + "E " + std::to_string(time));
    } else {
      EXPECT_EQ(event.type(), TrackEvent::TYPE_COUNTER);
      lines.push_back(where + "C " + std::to_string(event.counter_value()) + " " +
                      std::to_string(time));
    }
  }

  void ReadBegin(const TrackEvent& event) {
    EXPECT_TRUE(names_.contains(event.name_iid()));
    for (const uint64_t iid : event.category_iids()) EXPECT_TRUE(categories_.contains(iid));
    for (const auto& annotation : event.debug_annotations()) {
      EXPECT_TRUE(keys_.contains(annotation.name_iid()));
      EXPECT_TRUE(annotation.has_int_value() || texts_.contains(annotation.string_value_iid()));
    }
    for (const uint64_t flow : event.flow_ids()) EXPECT_TRUE(flows_.insert(flow).second);
    for (const uint64_t flow : event.terminating_flow_ids()) EXPECT_EQ(flows_.erase(flow), 1u);
  }

  std::map<uint64_t, std::string> names_;
  std::set<uint64_t> categories_, keys_, texts_, uuids_, flows_;
  std::map<uint64_t, int> open_;
  uint64_t time_ = 0;
};

TEST(PerfettoWriterTest, EventsNestAndComeInOrderOfTime) {
  const TwoStages job;
  const Trace trace = Parse(MakeTraceView(job.Input(), TraceLevel::kTask));
  PerfettoReader reader(trace);
  EXPECT_EQ(reader.lines, (std::vector<std::string>{
                              "4 B F 0", "8 B bubble 0", "9 C 100 0", "4 E 3000", "5 B bubble 3000",
                              "6 B send F 3000", "9 C 250 3000", "6 E 5000", "8 E 5000",
                              "7 B F 5000", "5 E 9000", "7 E 9000"}));
  EXPECT_EQ(trace.packet(1).track_descriptor().name(), "two \"stages\"");
  EXPECT_EQ(trace.packet(1).track_descriptor().description(), "seed: 1\n");
}

TEST(PerfettoWriterTest, OpsNestInTasksEvenIfNothingTakesTime) {
  const TwoStages job;
  const TraceView view = MakeTraceView(job.Input(), TraceLevel::kOp);
  EXPECT_EQ(PerfettoReader(Parse(view)).lines.size(), 2 * view.slices.size() + 2);

  const Timeline instant({0_ns, 0_ns, 0_ns}, {0_ns, 0_ns, 0_ns});
  const TraceView still = MakeTraceView({job.schedule, instant, &job.op_times});
  EXPECT_EQ(still.slices.size(), 9u);  // three tasks and their six ops, but no bubbles
  EXPECT_EQ(PerfettoReader(Parse(still)).lines.size(), 18u);
}

TEST(PerfettoWriterTest, EqualInputsGiveEqualBytes) {
  const TwoStages job;
  std::ostringstream a, b;
  WritePerfetto(MakeTraceView(job.Input()), a);
  WritePerfetto(MakeTraceView(TwoStages().Input()), b);
  EXPECT_EQ(a.str(), b.str());
}

TEST(ChromeWriterTest, SlicesNestAndFlowsPair) {
  const TwoStages job;
  std::ostringstream out;
  WriteChrome(MakeTraceView(job.Input()), out);
  const json trace = json::parse(out.str());
  EXPECT_EQ(trace["otherData"]["title"], "two \"stages\"");
  EXPECT_EQ(trace["otherData"]["seed"], "1");

  std::map<std::string, int> count;
  std::map<std::pair<int, int>, std::vector<double>> open_ends;
  for (const json& event : trace["traceEvents"]) {
    ++count[event["ph"].get<std::string>()];
    if (event["ph"] != "X") continue;
    std::vector<double>& ends = open_ends[{event["pid"], event["tid"]}];
    const double start = event["ts"], end = start + event["dur"].get<double>();
    constexpr double kHalfNanosecond = 5e-4;  // of microseconds
    while (!ends.empty() && ends.back() <= start + kHalfNanosecond) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back() + kHalfNanosecond) << event;
    ends.push_back(end);
  }
  const std::map<std::string, int> expected = {{"M", 16}, {"X", 11}, {"s", 1}, {"f", 1}, {"C", 2}};
  EXPECT_EQ(count, expected);
}

TEST(ChromeWriterTest, TimesAreExactMicroseconds) {
  Schedule::Builder s;
  s.Add(Lane{0});
  const Schedule schedule = s.Build();
  const Timeline timeline({1'000'000'000'000'005_ns}, {1'000'000'000'001'239_ns});
  std::ostringstream out;
  WriteChrome(MakeTraceView({.schedule = schedule, .timeline = timeline}), out);
  EXPECT_NE(out.str().find(R"("ts":1000000000000.005,"dur":1.234,)"), std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace stagecraft

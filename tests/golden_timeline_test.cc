// Tests small timelines that are drawn in full in tests/golden/*.txt. A drawing has a column of
// four characters for each microsecond: a task's label where it starts, "=" while it runs, "|"
// where it ends, and "." while the lane is idle. tests/README.md says how to renew them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr int kMostTasks = 20;
constexpr int64_t kColumnNs = 1000;

struct Case {
  std::string name;  // the file's
  std::string title;
  Schedule schedule;
  std::vector<Duration> durations;
  std::vector<std::string> labels;  // by task, at most three characters
  std::vector<RateChange> changes = {};
};

// The label of a task: "F2" is the forward of micro-batch 2, "F2b" that through the second chunk,
// ">2" and "<2" are the sends of its activations and gradients.
std::string Label(const Tag& tag, int chunks) {
  const char* kind = tag.phase == Phase::kForward       ? "F"
                     : tag.phase == Phase::kBackward    ? "B"
                     : tag.phase == Phase::kSendForward ? ">"
                                                        : "<";
  const std::string chunk = chunks > 1 ? std::string(1, static_cast<char>('a' + tag.chunk)) : "";
  return fmt::format("{}{}{}", kind, tag.micro_batch, chunk);
}

Case PipelineCase(const std::string& name, const std::string& title,
                  const UniformPipeline& pipeline) {
  TimedSchedule timed = BuildUniformPipeline(pipeline);
  std::vector<std::string> labels;
  for (TaskId task = 0; task < timed.schedule.task_count(); ++task) {
    labels.push_back(Label(timed.schedule.tag(task), pipeline.chunks));
  }
  return {name, title, std::move(timed.schedule), std::move(timed.durations), std::move(labels)};
}

UniformPipeline OneForwardOneBackward(int stages, int micro_batches, Duration transfer) {
  UniformPipeline pipeline{{}, 1, micro_batches, 1_us, 2_us, transfer};
  for (int stage = 0; stage < stages; ++stage) {
    pipeline.orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
  }
  return pipeline;
}

// Three ranks, with an all-reduce on the compute lanes of two of them, and one on those of all,
// which waits for the slowest.
Case CollectiveCase() {
  Schedule::Builder builder;
  std::vector<Lane> lanes;
  for (int rank = 0; rank < 3; ++rank) {
    lanes.push_back(builder.AddLane({builder.AddRank(RankInfo()), LaneKind::kCompute}));
  }
  builder.Add(lanes[0]);
  builder.Add(lanes[1]);
  builder.Add(lanes[2]);
  const Lane pair[] = {lanes[0], lanes[1]};
  builder.Add(pair, {}, -1, Tag());
  builder.Add(lanes, {}, -1, Tag());
  for (const Lane lane : lanes) builder.Add(lane);
  return {"collective",
          "Collectives occupy the lanes of all their ranks at once.",
          builder.Build(),
          {3_us, 1_us, 2_us, 2_us, 3_us, 1_us, 2_us, 1_us},
          {"a0", "a1", "a2", "r01", "all", "b0", "b1", "b2"}};
}

// Two ranks, of which the first passes work on to the second. The second runs at half speed from
// 3 us to 7 us and stands still from 10 us to 12 us.
Case RateChangeCase() {
  Schedule::Builder builder;
  std::vector<Lane> lanes;
  for (int rank = 0; rank < 2; ++rank) {
    lanes.push_back(builder.AddLane({builder.AddRank(RankInfo()), LaneKind::kCompute}));
  }
  for (int work = 0; work < 3; ++work) {
    const TaskId first = builder.Add(lanes[0]);
    builder.Add(lanes[1], {first});
  }
  const std::vector<RateChange> changes = {
      {3_us, lanes[1], 0.5}, {7_us, lanes[1], 1.0}, {10_us, lanes[1], 0.0}, {12_us, lanes[1], 1.0}};
  return {"rate_change",
          "Rank 1: half speed from 3 us to 7 us, none from 10 us to 12 us.",
          builder.Build(),
          {2_us, 3_us, 2_us, 3_us, 2_us, 3_us},
          {"a0", "b0", "a1", "b1", "a2", "b2"},
          changes};
}

std::vector<Case> Cases() {
  UniformPipeline gpipe{{}, 1, 2, 1_us, 2_us, 0_us};
  for (int stage = 0; stage < 3; ++stage) gpipe.orders.push_back(GpipeOrder(2));
  UniformPipeline interleaved{{}, 2, 2, 1_us, 2_us, 0_us};
  for (int stage = 0; stage < 2; ++stage) {
    interleaved.orders.push_back(InterleavedOrder(stage, 2, 2, 2));
  }
  std::vector<Case> cases;
  cases.push_back(PipelineCase("1f1b", "1F1B, 2 stages, 3 micro-batches; F 1 us, B 2 us.",
                               OneForwardOneBackward(2, 3, 0_us)));
  cases.push_back(PipelineCase("1f1b_transfers",
                               "1F1B, 2 stages, 3 micro-batches; F 1 us, B 2 us, sends 1 us.",
                               OneForwardOneBackward(2, 3, 1_us)));
  cases.push_back(
      PipelineCase("gpipe", "GPipe, 3 stages, 2 micro-batches; F 1 us, B 2 us.", gpipe));
  cases.push_back(PipelineCase("interleaved",
                               "Interleaved 1F1B, 2 stages of 2 chunks (a, b), 2 micro-batches; "
                               "F 1 us, B 2 us.",
                               interleaved));
  cases.push_back(CollectiveCase());
  cases.push_back(RateChangeCase());
  return cases;
}

// One row of the drawing.
std::string DrawLane(const Case& test, const Timeline& timeline, Lane lane) {
  const int64_t columns = (timeline.makespan().ns() + kColumnNs - 1) / kColumnNs;
  std::string row(columns * 4, ' ');
  for (int64_t column = 0; column < columns; ++column) row[column * 4] = '.';
  for (const TaskId task : test.schedule.order(lane)) {
    const int64_t begin = timeline.start(task).ns() * 4 / kColumnNs;
    const int64_t end = timeline.end(task).ns() * 4 / kColumnNs;
    const std::string& label = test.labels[task];
    for (int64_t at = begin; at < end; ++at) {
      const size_t letter = static_cast<size_t>(at - begin);
      row[at] = letter < label.size() ? label[letter] : '=';
    }
    if (end > begin) row[end - 1] = '|';
  }
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string Render(const Case& test, const Timeline& timeline) {
  std::string text = test.title + "\n\n";
  for (int lane = 0; lane < test.schedule.lane_count(); ++lane) {
    if (test.schedule.order(Lane(lane)).empty()) continue;
    const LaneInfo& info = test.schedule.lane_infos()[lane];
    text += fmt::format("rank {} {:<14}{}\n", info.rank, Name(info.kind),
                        DrawLane(test, timeline, Lane(lane)));
  }
  text += fmt::format("\n{:<6}{:>10}{:>10}\n", "task", "start_ns", "end_ns");
  for (TaskId task = 0; task < timeline.task_count(); ++task) {
    text += fmt::format("{:<6}{:>10}{:>10}\n", test.labels[task], timeline.start(task).ns(),
                        timeline.end(task).ns());
  }
  return text + fmt::format("\nmakespan_ns {}\nfingerprint {:016x}\n", timeline.makespan().ns(),
                            timeline.Fingerprint());
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(GoldenTimelineTest, TimelinesAreAsDrawn) {
  for (const Case& test : Cases()) {
    ASSERT_LE(test.schedule.task_count(), kMostTasks) << test.name;
    const Timeline timeline =
        Engine().Run(test.schedule, test.durations, {.changes = test.changes});
    const std::string text = Render(test, timeline);
    const std::string golden = ReadText("tests/golden/" + test.name + ".txt");
    if (text == golden) continue;
    const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    const std::string path =
        (outputs == nullptr ? std::string() : std::string(outputs) + "/") + test.name + ".new.txt";
    std::ofstream(path) << text;
    ADD_FAILURE() << "tests/golden/" << test.name << ".txt differs; the timeline now is in " << path
                  << ":\n"
                  << text;
  }
}

}  // namespace
}  // namespace stagecraft

// Tests our pipeline schedules, lowered and simulated, against makespans and memory peaks that the
// papers' own simulators print. Reads $STAGECRAFT_SHARED/data/golden/schedules_golden.json; see
// tests/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

constexpr int kLeastRows = 15;
// One unit of time in the file; with it, tenths of a unit divided by 2, 3 or 4 chunks are whole.
constexpr int64_t kUnitNs = 12'000;
constexpr double kRoundedTo = 1e-4;  // peaks of interleaved rows have four decimals

Duration Units(const Json& value) {
  return Duration::Nanoseconds(std::llround(value.get<double>() * kUnitNs));
}

// Whether it is one of the three schedules that this test builds.
bool IsOurs(const std::string& schedule) {
  return schedule == "gpipe" || schedule == "1f1b" || schedule == "interleaved-1f1b";
}

UniformPipeline Build(const Json& row) {
  const std::string schedule = row["schedule"];
  const int stages = row["p"];
  UniformPipeline pipeline;
  pipeline.chunks = row.value("v", 1);
  pipeline.micro_batches = row["m"];
  pipeline.forward = Duration::Nanoseconds(Units(row["F"]).ns() / pipeline.chunks);
  pipeline.backward = Duration::Nanoseconds(Units(row["B"]).ns() / pipeline.chunks);
  pipeline.transfer = Units(row["comm"]);
  for (int stage = 0; stage < stages; ++stage) {
    if (schedule == "gpipe") {
      pipeline.orders.push_back(GpipeOrder(pipeline.micro_batches));
    } else if (schedule == "1f1b") {
      pipeline.orders.push_back(
          OneForwardOneBackwardOrder(stages - 1 - stage, pipeline.micro_batches));
    } else {
      pipeline.orders.push_back(
          InterleavedOrder(stage, stages, pipeline.chunks, pipeline.micro_batches));
    }
  }
  return pipeline;
}

// The work of each compute lane.
std::vector<Duration> Busy(const TimedSchedule& timed) {
  std::vector<Duration> busy(timed.schedule.ranks().size());
  for (TaskId task = 0; task < timed.schedule.task_count(); ++task) {
    const LaneInfo& lane = timed.schedule.lane_infos()[Index(timed.schedule.lanes(task)[0])];
    if (lane.kind == LaneKind::kCompute) busy[lane.rank] += timed.durations[task];
  }
  return busy;
}

void CheckPeaks(const Json& row, const UniformPipeline& pipeline) {
  const bool in_chunks = row.contains("peak_inflight_stage_units");
  const Json& peaks = row[in_chunks ? "peak_inflight_stage_units" : "peak_inflight"];
  ASSERT_EQ(peaks.size(), pipeline.orders.size());
  for (size_t stage = 0; stage < peaks.size(); ++stage) {
    const double peak = static_cast<double>(PeakInFlight(pipeline.orders[stage])) / pipeline.chunks;
    EXPECT_NEAR(peak, peaks[stage].get<double>(), in_chunks ? kRoundedTo : 0) << "stage " << stage;
  }
}

void CheckRow(const Json& row) {
  SCOPED_TRACE(row.dump());
  const UniformPipeline pipeline = Build(row);
  const TimedSchedule timed = BuildUniformPipeline(pipeline);
  const Timeline timeline = Engine().Run(timed.schedule, timed.durations);
  const Duration makespan = Units(row["makespan"]);
  EXPECT_EQ(timeline.makespan().ns(), makespan.ns());

  // The busiest stage works for m(F + B); the rest of the makespan is its bubble, which is
  // (p - 1)(F + B) / v in all three schedules (v = 1 without chunks).
  const int micro_batches = row["m"];
  const int64_t stages = row["p"];
  const Duration stage_time = Units(row["F"]) + Units(row["B"]);
  const std::vector<Duration> busy = Busy(timed);
  ASSERT_EQ(static_cast<int64_t>(busy.size()), stages);
  const Duration busiest = *std::max_element(busy.begin(), busy.end());
  EXPECT_EQ(busiest, micro_batches * stage_time);
  EXPECT_EQ(timeline.makespan() - busiest, makespan - micro_batches * stage_time);
  EXPECT_EQ((timeline.makespan() - busiest).ns() * pipeline.chunks,
            ((stages - 1) * stage_time).ns());
  CheckPeaks(row, pipeline);
}

TEST(SchedulesGoldenTest, OrdersTakeThePublishedTimeAndMemory) {
  const char* shared = std::getenv("STAGECRAFT_SHARED");
  const std::string path =
      std::string(shared == nullptr ? "" : shared) + "/data/golden/schedules_golden.json";
  std::ifstream file(path);
  if (shared == nullptr || !file) {
    GTEST_SKIP() << "no golden schedules: set STAGECRAFT_SHARED (bazel: "
                    "--test_env=STAGECRAFT_SHARED=DIR) to a directory with "
                    "data/golden/schedules_golden.json";
  }
  int rows = 0;
  for (const Json& row : Json::parse(file)) {
    if (!IsOurs(row["schedule"])) continue;
    CheckRow(row);
    ++rows;
  }
  EXPECT_GE(rows, kLeastRows) << path;
  RecordProperty("rows", rows);
  std::printf("checked %d rows\n", rows);
}

}  // namespace
}  // namespace stagecraft

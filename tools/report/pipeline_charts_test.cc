#include "tools/report/pipeline_charts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "tools/chart/page_testing.h"

namespace stagecraft {
namespace {

// Ranks of one stage each, with a lane that computes and one of replicas' exchanges.
struct Steps {
  Schedule::Builder builder;
  std::vector<Lane> compute, data;
  std::vector<Duration> start, end;

  void AddStage(int16_t stage, int32_t replica) {
    const int32_t rank = builder.AddRank({.device = 0, .stage = stage, .replica = replica});
    compute.push_back(builder.AddLane({rank, LaneKind::kCompute}));
    data.push_back(builder.AddLane({rank, LaneKind::kData}));
  }
  void Add(Lane lane, Phase phase, int32_t micro_batch, int64_t from_ms, int64_t to_ms,
           uint8_t segment = 0) {
    builder.Add(std::vector<Lane>{lane}, {}, -1,
                {.micro_batch = micro_batch, .phase = phase, .segment = segment});
    start.push_back(Duration::Seconds(1e-3 * static_cast<double>(from_ms)));
    end.push_back(Duration::Seconds(1e-3 * static_cast<double>(to_ms)));
  }
  std::vector<nlohmann::json> Charts() {
    return ChartsOf(PipelineCharts(builder.Build(), Timeline(start, end)));
  }
};

// stage 0: [F0 2ms][F0 3ms]          [B0 4ms]
//          replicas:                        [reduce 1ms]
// stage 1:                 [F0 1ms]
TEST(PipelineChartsTest, PartsOfAPassAreOneBarAndTheRestOfTheStepIsIdle) {
  Steps steps;
  steps.AddStage(0, 1);
  steps.AddStage(0, 0);  // stands for the stage
  steps.AddStage(1, 0);
  steps.Add(steps.compute[0], Phase::kForward, 7, 0, 9);
  steps.Add(steps.compute[1], Phase::kForward, 0, 0, 2, 0);
  steps.Add(steps.compute[1], Phase::kForward, 0, 2, 5, 1);
  steps.Add(steps.compute[2], Phase::kForward, 0, 5, 6);
  steps.Add(steps.compute[1], Phase::kBackward, 0, 6, 10);
  steps.Add(steps.data[1], Phase::kGradReduce, -1, 10, 11);
  const std::vector<nlohmann::json> charts = steps.Charts();
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0]["rows"], nlohmann::json({"stage 0", "stage 0 replicas", "stage 1"}));
  EXPECT_EQ(charts[0]["x"],
            (nlohmann::json{{"label", "time since the step began (ms)"}, {"min", 0}, {"max", 11}}));
  EXPECT_EQ(
      charts[0]["items"],
      nlohmann::json({{0, 0, 0, 5, "0"}, {0, 1, 6, 10, "0"}, {1, 2, 10, 11}, {2, 0, 5, 6, "0"}}))
      << charts[0]["items"];
  EXPECT_EQ(charts[0]["series"][0]["name"], "forward");
  // Of 11 ms stage 0 computes 5 and 4, and stage 1 computes 1.
  EXPECT_EQ(charts[1]["rows"], nlohmann::json({"stage 0", "stage 1"}));
  EXPECT_EQ(charts[1]["series"].back()["name"], "idle");
  EXPECT_EQ(
      charts[1]["items"],
      nlohmann::json({{0, 0, 0, 5}, {0, 1, 5, 9}, {0, 2, 9, 11}, {1, 0, 0, 1}, {1, 2, 1, 11}}));
}

TEST(PipelineChartsTest, OfALongStepTheFirstAndTheLastPassesAreDrawn) {
  Steps steps;
  steps.AddStage(0, 0);
  constexpr int kPasses = kMostPasses + 1000;
  for (int i = 0; i < kPasses; ++i) steps.Add(steps.compute[0], Phase::kForward, i, i, i + 1);
  const std::string html = PipelineCharts(steps.builder.Build(), Timeline(steps.start, steps.end));
  const nlohmann::json chart = ChartsOf(html).at(0);
  ASSERT_EQ(chart["items"].size(), static_cast<size_t>(kMostPasses));
  EXPECT_EQ(chart["items"][kMostPasses / 2 - 1][4], std::to_string(kMostPasses / 2 - 1));
  EXPECT_EQ(chart["items"][kMostPasses / 2][4], std::to_string(kMostPasses / 2 + 1000));
  EXPECT_EQ(chart["x"]["label"], "time since the step began (s)");
  EXPECT_NE(html.find("Of the 13000 passes the first and the last 6000 are drawn"),
            std::string::npos);
}

TEST(PipelineChartsTest, WithoutTasksThereIsNothing) {
  EXPECT_EQ(PipelineCharts(Schedule::Builder().Build(), Timeline()), "");
}

}  // namespace
}  // namespace stagecraft

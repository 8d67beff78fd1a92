// What one slow device costs, and what dividing the work anew saves: the table of
// docs/stragglers.md, whose step times documents_test compares with those that simulate prints.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "search/balance/balance_problem.h"
#include "search/balance/layer_partition.h"
#include "search/layer_times.h"
#include "search/problem.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/slow_parts.h"
#include "sim/plan/plan.h"
#include "sim/shard/stage_order.h"
#include "sim/step/evaluation.h"
#include "sim/testing/asynchronous_testing.h"
#include "tests/documents.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/flags/slow_flag.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

using documents::ShownFigures;

std::string Document() {
  std::ifstream in("docs/stragglers.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The value that the last such flag among the words has; empty if there is none.
std::string ValueOf(const std::vector<std::string>& words, const std::string& flag) {
  const auto found = std::find(words.rbegin(), words.rend(), flag);
  return found == words.rend() || found == words.rbegin() ? "" : found[-1];
}

// The rows of one way of training: nothing is slow; then, for each speed of one device, the same
// division of the work, and the work divided anew.
struct Rows {
  std::string name;
  std::vector<ShownFigures> rows;

  double Milliseconds(size_t row) const { return std::stod(rows[row].figures[0].shown); }
};

std::vector<Rows> ReadRows() {
  std::vector<Rows> all;
  for (ShownFigures& row : documents::FiguresOf(Document())) {
    if (ValueOf(row.words, "--slow").empty()) {
      const bool is_endless = ValueOf(row.words, "--schedule") == "pipedream";
      const bool has_stages = !ValueOf(row.words, "--pp").empty();
      all.push_back({is_endless ? "PipeDream" : has_stages ? "pipeline" : "data-parallel", {}});
    }
    all.back().rows.push_back(std::move(row));
  }
  return all;
}

// What the command of a row simulates.
struct Simulated {
  PlannedJob job;
  std::unique_ptr<CostModel> model;
};

Simulated ReadSimulated(const ShownFigures& row) {
  Flags flags("simulate", "Reads a row.");
  PlanFlags plan;
  SlowFlag slow;
  CostModelFlag model;
  plan.Register(flags);
  slow.Register(flags);
  model.Register(flags);
  std::ostringstream out;
  flags.Parse({row.words.begin() + 1, row.words.end()}, out);
  Simulated simulated{plan.Build(), model.Load()};
  slow.Apply(simulated.job);
  return simulated;
}

// The blocks of every stage if layers are divided by their times.
Division Blocks(const Simulated& simulated) {
  const auto& [job, model] = simulated;
  const SearchProblem problem{job.workload, job.cluster, *model, {}};
  const std::vector<LayerTimes> times =
      MeasureLayers(problem, StageDivision(job.plan, job.workload, 0), job.cluster.device(0));
  BalanceProblem balance;
  for (const int kind : job.workload.layers) {
    balance.loads.push_back((times[kind].forward + times[kind].backward).seconds());
  }
  for (const Stage& stage : job.plan.stages) {
    balance.speeds.push_back(job.cluster.speed(stage.replicas[0][0]));
  }
  Division blocks = PartitionLayers(balance).value();
  --blocks.front();  // the embedding
  --blocks.back();   // the head
  return blocks;
}

// The micro-batches of every replica, all of which take equally long at full speed.
Division MicroBatches(const Simulated& simulated) {
  const Plan& plan = simulated.job.plan;
  BalanceProblem balance{.loads = std::vector<double>(plan.micro_batches(), 1), .speeds = {}};
  for (const std::vector<int>& replica : plan.stages[0].replicas) {
    balance.speeds.push_back(simulated.job.cluster.speed(replica[0]));
  }
  return PartitionLayers(balance).value();
}

std::string ToText(const Division& division) {
  std::string text;
  for (const int count : division) text += fmt::format("{}{}", text.empty() ? "" : ",", count);
  return text;
}

TEST(StragglersTest, RowsDivideTheWorkAsPartitionLayersDoes) {
  const std::vector<Rows> all = ReadRows();
  ASSERT_EQ(all.size(), 3);
  for (const Rows& of_way : all) {
    ASSERT_EQ(of_way.rows.size(), 7) << of_way.name;
    const bool has_stages = of_way.name != "data-parallel";
    const char* const flag = has_stages ? "--stage-layers" : "--replica-micro-batches";
    for (size_t row = 0; row < of_way.rows.size(); ++row) {
      const std::string shown = ValueOf(of_way.rows[row].words, flag);
      const bool is_divided_anew = row > 0 && row % 2 == 0;
      if (!is_divided_anew) {
        EXPECT_EQ(shown, "") << of_way.name << " " << row;
        if (row > 0) continue;
      }
      const Simulated simulated = ReadSimulated(of_way.rows[row]);
      const Division best = has_stages ? Blocks(simulated) : MicroBatches(simulated);
      if (is_divided_anew) {
        EXPECT_EQ(shown, ToText(best)) << of_way.name << " " << row;
      } else {  // an equal division is the best if nothing is slow
        EXPECT_EQ(best, Division(best.size(), best[0])) << of_way.name;
      }
    }
  }
}

// "| pipeline | 1.14 → 1.04 | 1.79 → 1.15 | 3.54 → 1.23 |"
TEST(StragglersTest, TheSummaryHasTheRatiosOfTheRows) {
  const std::string document = Document();
  for (const Rows& of_way : ReadRows()) {
    const double usual = of_way.Milliseconds(0);
    std::string line = "| " + of_way.name + " |";
    for (size_t row = 1; row + 1 < of_way.rows.size(); row += 2) {
      const double slow = of_way.Milliseconds(row), again = of_way.Milliseconds(row + 1);
      EXPECT_LT(again, slow);
      EXPECT_GT(again, usual);
      line += fmt::format(" {:.2f} → {:.2f} |", slow / usual, again / usual);
    }
    EXPECT_NE(document.find(line + "\n"), std::string::npos) << line;
  }
}

// With one of p stages slower by s, stages of equal layers take s (p - 1 + 1 / s) / p times as long
// as stages that all take equally long.
TEST(StragglersTest, DividingAnewGainsWhatTheFluidLimitSays) {
  const struct {
    int stages, times, layers;  // layers of a stage, in all stages alike
    double gain;
  } cases[] = {{4, 2, 7, 1.75}, {8, 2, 15, 1.875}, {16, 3, 46, 2.875}};
  for (const auto& c : cases) {
    const int layers = c.stages * c.layers;
    const std::vector<TestStage> chain(layers, {.forward = 300_ns, .backward = 600_ns});
    const int slow = c.stages / 2;
    const double speed = 1.0 / c.times;
    const auto step_time = [&](const Division& division) {
      const Plan plan =
          PlanOf(std::vector<int>(c.stages, 1), division, PipelineSchedule::kPipeDream);
      const Cluster cluster = MakeCluster(1, c.stages).WithSlowParts({.devices = {{slow, speed}}});
      return SimulateStep(plan, ChainOf(chain), cluster, ProfileModel()).evaluation.step_time;
    };
    BalanceProblem balance{.loads = std::vector<double>(layers, 900e-9),
                           .speeds = std::vector<double>(c.stages, 1)};
    balance.speeds[slow] = speed;
    const Duration uniform = step_time(UniformDivision(layers, c.stages));
    const Duration divided = step_time(PartitionLayers(balance).value());
    EXPECT_NEAR(uniform.seconds() / divided.seconds(), c.gain, 1e-12) << c.stages;
  }
}

}  // namespace
}  // namespace stagecraft

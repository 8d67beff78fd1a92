// Recomputation by layer: what it costs and what it saves.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

using Method = RecomputeChoice::Method;

// There are 12 transformer blocks, hence layers 0 to 13, on 4 GPUs.
class RecomputedLayersTest : public ::testing::Test {
 protected:
  Plan Make(Recompute recompute, const std::function<void(RecomputeChoice&)>& choose,
            const std::function<void(PlanDegrees&)>& change = {}) const {
    PlanDegrees degrees = Degrees(1, 2);
    degrees.recompute = recompute;
    choose(degrees.recompute_choice);
    if (change) change(degrees);
    return MakePlan(degrees, workload_, cluster_);
  }
  Plan Block(std::vector<int> counts) const {
    return Make(Recompute::kNone, [&](RecomputeChoice& c) { c.counts = std::move(counts); });
  }
  Plan Uniform(int size) const {
    return Make(Recompute::kFull, [&](RecomputeChoice& c) {
      c.method = Method::kUniform;
      c.counts = {size};
    });
  }
  Plan Plain(Recompute recompute) const {
    return Make(recompute, [](RecomputeChoice&) {});
  }
  Duration StepOf(const Plan& plan) const {
    return Simulate(plan, workload_, cluster_, false).makespan();
  }
  std::vector<Bytes> ActivationsOf(const Plan& plan) const {
    std::vector<Bytes> peaks;
    for (const StageMemory& stage : EstimateMemory(plan, workload_, cluster_)) {
      peaks.push_back(stage.allocated);
    }
    return peaks;
  }
  std::string ErrorOf(const std::function<void(RecomputeChoice&)>& choose,
                      const std::function<void(PlanDegrees&)>& change = {}) const {
    try {
      Make(Recompute::kNone, choose, change);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  const Workload workload_ = MakeWorkload(12);
  const Cluster cluster_ = MakeCluster(1, 4);
};

TEST_F(RecomputedLayersTest, BlockTakesTheFirstOnesOfEveryStage) {
  const Plan plan = Block({2, 1});
  EXPECT_EQ(plan.stages[0].recomputed, (std::vector<LayerRange>{{1, 1}, {2, 1}}));
  EXPECT_EQ(plan.stages[1].recomputed, (std::vector<LayerRange>{{7, 1}}));
}

TEST_F(RecomputedLayersTest, UniformTakesAllInRanges) {
  const Plan plan = Uniform(4);
  EXPECT_EQ(plan.stages[0].recompute, Recompute::kNone);
  EXPECT_EQ(plan.stages[0].recomputed, (std::vector<LayerRange>{{1, 4}, {5, 2}}));
  EXPECT_EQ(plan.stages[1].recomputed, (std::vector<LayerRange>{{7, 4}, {11, 2}}));
}

TEST_F(RecomputedLayersTest, ListedLayersStandByThemselves) {
  const Plan plan = Make(Recompute::kSelective, [](RecomputeChoice& c) {
    c.layers = {{5, 3}, {1, 1}};
  });
  EXPECT_EQ(plan.stages[0].recompute, Recompute::kSelective);
  EXPECT_EQ(plan.stages[0].recomputed, (std::vector<LayerRange>{{1, 1}, {5, 1}, {6, 1}}));
  EXPECT_EQ(plan.stages[1].recomputed, (std::vector<LayerRange>{{7, 1}}));
}

TEST_F(RecomputedLayersTest, NoLayersAndAllLayersAreTheTwoKinds) {
  const Plan none = Block({0});
  EXPECT_EQ(StepOf(none), StepOf(Plain(Recompute::kNone)));
  EXPECT_EQ(ActivationsOf(none), ActivationsOf(Plain(Recompute::kNone)));
  for (const Plan& all : {Block({6}), Block({100}), Uniform(1)}) {
    EXPECT_EQ(StepOf(all), StepOf(Plain(Recompute::kFull)));
    EXPECT_EQ(ActivationsOf(all), ActivationsOf(Plain(Recompute::kFull)));
  }
}

TEST_F(RecomputedLayersTest, EveryLayerMoreCostsTimeAndSavesMemory) {
  for (int count = 1; count <= 6; ++count) {
    const Plan fewer = Block({count - 1});
    const Plan more = Block({count});
    EXPECT_GT(StepOf(more), StepOf(fewer)) << count;
    for (size_t stage = 0; stage < 2; ++stage) {
      EXPECT_LE(ActivationsOf(more)[stage], ActivationsOf(fewer)[stage]) << count;
    }
    EXPECT_LT(ActivationsOf(more)[0], ActivationsOf(fewer)[0]) << count;
  }
}

// Whatever the ranges, each block runs forward twice; longer ones keep fewer inputs
// and hold more while they run again.
TEST_F(RecomputedLayersTest, LongerRangesTakeTheSameTime) {
  for (const int size : {2, 3, 6}) {
    EXPECT_EQ(StepOf(Uniform(size)), StepOf(Plain(Recompute::kFull))) << size;
    EXPECT_NE(ActivationsOf(Uniform(size)), ActivationsOf(Uniform(1))) << size;
  }
}

// With one stage and one micro-batch at a time, the longer a range is, the more exists at once when
// it runs again.
TEST_F(RecomputedLayersTest, LongerRangesHoldMoreWhileTheyRunAgain) {
  const auto peak = [&](int size) {
    const Plan plan = Make(
        Recompute::kNone,
        [&](RecomputeChoice& c) {
          c.method = Method::kUniform;
          c.counts = {size};
        },
        [](PlanDegrees& d) { d.pipeline = 1; });
    return ActivationsOf(plan)[0];
  };
  EXPECT_LT(peak(3), peak(6));
  EXPECT_LT(peak(6), peak(12));
}

// When passes are divided at buckets of one layer each, the whole range runs again in the first
// part.
TEST_F(RecomputedLayersTest, PassesDividedWithinARangeTakeTheSameTime) {
  const auto stepped = [&](int64_t bucket_bytes) {
    const Plan plan = Make(
        Recompute::kNone,
        [](RecomputeChoice& c) {
          c.method = Method::kUniform;
          c.counts = {3};
        },
        [&](PlanDegrees& d) {
          d.bucket_bytes = bucket_bytes;
          d.zero = 0;
        });
    return Simulate(plan, workload_, cluster_, false, false).makespan();
  };
  EXPECT_EQ(stepped(1), stepped(1'000'000'000));
}

TEST_F(RecomputedLayersTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) {
              c.layers = {{0, 2}};
            }),
            "stages[0].recomputed[0]: got layers 0 to 0, but layer 0 of tiny is its embedding or "
            "head, which do not recompute");
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) {
              c.layers = {{1, 14}};
            }),
            "recompute_layers: got layers 1 to 14, want 0 to 13, of tiny");
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) {
              c.layers = {{1, 2}, {2, 1}};
            }),
            "stages[0].recomputed[2]: got layers 2 to 2, want ranges that ascend, each layer once");
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) {
              c.counts = {1, 2, 3};
            }),
            "recompute_num_layers: got 3 numbers, want one, or one for each of 2 stages");
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) { c.counts = {-1}; }),
            "recompute_num_layers: got -1, want at least 0");
  EXPECT_EQ(ErrorOf([](RecomputeChoice& c) { c.method = Method::kUniform; }),
            "recompute_num_layers: got 0 numbers, want one with uniform");
  const auto uniform = [](RecomputeChoice& c) {
    c.method = Method::kUniform;
    c.counts = {2};
  };
  EXPECT_EQ(ErrorOf(uniform, [](PlanDegrees& d) { d.zero = 3; }),
            "stages[0].recomputed[0]: got layers 1 to 2, want ranges of one layer with zero 3, "
            "which gathers layer by layer");
}

}  // namespace
}  // namespace stagecraft

#include "search/partition/chain_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

ChainProblem Uniform(int layers, int stages, int64_t cut_time) {
  return {std::vector<int64_t>(layers, 1),
          std::vector<std::vector<int64_t>>(layers, std::vector<int64_t>(stages, cut_time)), stages,
          3};
}

// Returns the cost of given stages by its definition: slowest stage and cuts.
int64_t CostOf(const ChainProblem& problem, const std::vector<int>& layers) {
  int64_t slowest = 0;
  int64_t cuts = 0;
  int layer = 0;
  for (size_t stage = 0; stage < layers.size(); ++stage) {
    int64_t time = 0;
    for (int n = 0; n < layers[stage]; ++n) time += problem.layer_time[layer++];
    slowest = std::max(slowest, time);
    if (stage + 1 < layers.size()) cuts += problem.cut_time[layer - 1][stage];
  }
  return (problem.micro_batches - 1) * slowest + cuts;
}

int64_t LeastOfAll(const ChainProblem& problem, std::vector<int>& layers, int left) {
  const bool is_last = static_cast<int>(layers.size()) + 1 == problem.stages;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int count = is_last ? left : 1; count <= left; ++count) {
    layers.push_back(count);
    if (is_last) {
      least = std::min(least, CostOf(problem, layers));
    } else if (count < left) {
      least = std::min(least, LeastOfAll(problem, layers, left - count));
    }
    layers.pop_back();
  }
  return least;
}

// [1 3 2 | 5] costs twice the slowest stage (6) and one cut (2).
TEST(ChainCutsTest, FourLayersInTwoStages) {
  const ChainProblem problem = {{1, 3, 2, 5}, {{2}, {2}, {2}, {2}}, 2, 3};
  const ChainCuts cuts = *SolveChainCuts(problem);
  EXPECT_EQ(cuts.layers, (std::vector<int>{3, 1}));
  EXPECT_EQ(cuts.cost, 14);
}

// Layers take 1, cuts cost 2, and there are three micro-batches.
TEST(ChainCutsTest, UniformChainsHaveTheirListedOptima) {
  EXPECT_EQ(SolveChainCuts(Uniform(12, 4, 2))->layers, (std::vector<int>{3, 3, 3, 3}));
  EXPECT_EQ(SolveChainCuts(Uniform(12, 4, 2))->cost, 12);
  EXPECT_EQ(SolveChainCuts(Uniform(24, 4, 2))->cost, 18);
  EXPECT_EQ(SolveChainCuts(Uniform(24, 8, 2))->cost, 20);
  EXPECT_EQ(SolveChainCuts(Uniform(24, 12, 2))->cost, 26);
  EXPECT_EQ(SolveChainCuts(Uniform(36, 8, 2))->cost, 24);
  EXPECT_EQ(SolveChainCuts(Uniform(36, 8, 2))->layers, (std::vector<int>{1, 5, 5, 5, 5, 5, 5, 5}));
}

ChainProblem Draw(Random& random, int layers, int stages, int64_t low, int64_t high) {
  ChainProblem problem = Uniform(layers, stages, 0);
  problem.micro_batches = static_cast<int>(random.Integer(1, 6));
  for (int64_t& time : problem.layer_time) time = random.Integer(low, high);
  for (std::vector<int64_t>& times : problem.cut_time) {
    for (int64_t& time : times) time = random.Integer(low, high);
  }
  return problem;
}

TEST(ChainCutsTest, NoOtherCutsAreCheaper) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const int layers = static_cast<int>(random.Integer(1, 10));
    const int stages = static_cast<int>(random.Integer(1, layers));
    const ChainProblem problem = Draw(random, layers, stages, 0, 9);
    const ChainCuts cuts = *SolveChainCuts(problem);
    std::vector<int> none;
    EXPECT_EQ(cuts.cost, LeastOfAll(problem, none, layers)) << "round " << round;
    EXPECT_EQ(cuts.cost, CostOf(problem, cuts.layers)) << "round " << round;
  }
}

TEST(ChainCutsTest, LongChainsAddUp) {
  Random random(2);
  const ChainProblem problem = Draw(random, 128, 50, 5, 9);
  const ChainCuts cuts = *SolveChainCuts(problem);
  EXPECT_EQ(cuts.cost, CostOf(problem, cuts.layers));
}

TEST(ChainCutsTest, FewerLayersThanStagesHaveNoCuts) {
  EXPECT_FALSE(SolveChainCuts(Uniform(3, 4, 1)).has_value());
}

}  // namespace
}  // namespace stagecraft

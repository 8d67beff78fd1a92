#include "sim/dynamics/dynamics.h"

#include <gtest/gtest.h>

#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// An embedding, 24 blocks and a head.
Workload Gpt() { return LoadWorkload("megatron:24x1024x16", AttentionBackend::kFlash); }

std::vector<int64_t> StepsOf(const std::vector<NetworkChange>& changes) {
  std::vector<int64_t> steps;
  for (const NetworkChange& change : changes) steps.push_back(change.step);
  return steps;
}

TEST(DynamicsTest, NothingThatChangesIsNoChange) {
  EXPECT_TRUE(ChangesOf({}, Gpt(), 1000, Random(1)).empty());
}

// At the first of four steps nothing is pruned yet.
TEST(DynamicsTest, PruningKeepsEmbeddingAndHeadDense) {
  Dynamics dynamics;
  dynamics.pruning = Pruning{{0, 0.9, 200, 1000, 200}, WeightStorage::kCsr, 0};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 5000, Random(1));
  EXPECT_EQ(StepsOf(changes), (std::vector<int64_t>{400, 600, 800}));
  EXPECT_EQ(changes[0].states.front().weight_density, 1);
  EXPECT_EQ(changes[0].states.back().weight_density, 1);
  for (int block = 1; block <= 24; ++block) {
    EXPECT_NEAR(changes[0].states[block].weight_density, 1 - 0.5203125, 1e-9);
    EXPECT_EQ(changes[0].states[block].storage, WeightStorage::kCsr);
  }
  EXPECT_EQ(changes[1].reason, "79 % of the blocks' weights are pruned");
  EXPECT_EQ(StepsOf(ChangesOf(dynamics, Gpt(), 600, Random(1))), (std::vector<int64_t>{400}));
}

TEST(DynamicsTest, BlocksOfUnlikeWidthsLoseUnlikeShares) {
  Dynamics dynamics;
  dynamics.pruning = Pruning{{0, 0.9, 0, 100, 50}, WeightStorage::kCsr, 0.5};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 1000, Random(1));
  ASSERT_EQ(StepsOf(changes), (std::vector<int64_t>{50}));
  double least = 1, most = 0, sum = 0;
  for (int block = 1; block <= 24; ++block) {
    const double density = changes[0].states[block].weight_density;
    least = std::min(least, density);
    most = std::max(most, density);
    sum += density;
  }
  EXPECT_NEAR(sum / 24, 1 - 0.7875, 1e-9);
  EXPECT_GT(most, 2 * least);
}

// An embedding, 32 blocks and a head that share no weights.
Workload Llama() { return LoadWorkload("llama2-7b", AttentionBackend::kFlash); }

TEST(DynamicsTest, BlocksFreezeFromTheFirstOn) {
  Dynamics dynamics;
  dynamics.freezing = Freezing{100, 50, 6, 15, true};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Llama(), 1000, Random(1));
  EXPECT_EQ(StepsOf(changes), (std::vector<int64_t>{100, 150, 200}));
  for (const auto& [change, frozen] : {std::pair(0, 6), {1, 12}, {2, 15}}) {
    for (int layer = 0; layer < 34; ++layer) {
      EXPECT_EQ(changes[change].states[layer].is_trained, layer > frozen) << layer;
      EXPECT_EQ(changes[change].states[layer].is_cached, layer <= frozen) << layer;
    }
  }
  EXPECT_EQ(changes[0].reason, "6 of 32 blocks are frozen");
}

// The head trains the table of the embedding on, so that what frozen blocks hand on changes.
TEST(DynamicsTest, ATableThatIsTheHeadIsDetachedWhileBlocksFreeze) {
  Dynamics dynamics;
  dynamics.freezing = Freezing{100, 50, 6, 15, true};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 120, Random(1));
  ASSERT_EQ(StepsOf(changes), std::vector<int64_t>{100});
  for (int layer = 0; layer < 26; ++layer) {
    EXPECT_EQ(changes[0].states[layer].is_trained, layer > 6) << layer;
    EXPECT_EQ(changes[0].states[layer].is_detached, layer == 0) << layer;
    EXPECT_FALSE(changes[0].states[layer].is_cached) << layer;
  }
  EXPECT_EQ(changes[0].reason,
            "6 of 24 blocks are frozen (their shared weights train behind them)");
  Workload net = Gpt();
  ApplyLayerStates("test", changes[0].states, net);
  EXPECT_EQ(net.TrainedParameters(),
            18 * net.layer(7).Parameters() + 2 * 1024 + int64_t{1024} * net.vocabulary);
}

// Exits after blocks 6, 12 and 18; the share grows to 0.5 in two equal steps.
TEST(DynamicsTest, TokensThatExitAreGoneForTheRest) {
  Dynamics dynamics;
  dynamics.early_exit = EarlyExit{6, 6, 0.5, 0, 200, 100};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 1000, Random(1));
  ASSERT_EQ(StepsOf(changes), (std::vector<int64_t>{100, 200}));
  const auto share = [&](int layer) { return changes[1].states[layer].token_share; };
  EXPECT_EQ(share(0), 1);
  EXPECT_EQ(share(6), 1);
  EXPECT_DOUBLE_EQ(share(7), 0.5);
  EXPECT_DOUBLE_EQ(share(12), 0.5);
  EXPECT_DOUBLE_EQ(share(13), 0.25);
  EXPECT_DOUBLE_EQ(share(24), 0.125);
  EXPECT_DOUBLE_EQ(share(25), 0.125);  // the head
  EXPECT_DOUBLE_EQ(changes[0].states[24].token_share, 0.75 * 0.75 * 0.75);
}

// Exits behind blocks 6, 12 and 18 have heads from the first step on, before any token leaves.
TEST(DynamicsTest, HeadsOfExitsAreThereFromTheBeginning) {
  Dynamics dynamics;
  dynamics.early_exit = EarlyExit{6, 6, 0.5, 100, 200, 100, ExitHead::kTied};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 1000, Random(1));
  ASSERT_EQ(StepsOf(changes), (std::vector<int64_t>{0, 200}));
  for (const NetworkChange& change : changes) {
    for (int layer = 0; layer < 26; ++layer) {
      const bool has_exit = layer == 6 || layer == 12 || layer == 18;
      EXPECT_EQ(change.states[layer].exit_head, has_exit ? ExitHead::kTied : ExitHead::kNone);
    }
  }
  EXPECT_EQ(changes[0].reason, "3 exits with tied heads");
  EXPECT_EQ(changes[1].reason, "3 exits with tied heads, 12 % of the tokens reach the last block");
  dynamics.early_exit->head = ExitHead::kNone;
  EXPECT_EQ(ChangesOf(dynamics, Gpt(), 1000, Random(1)).back().reason,
            "12 % of the tokens reach the last block, exits without heads");
}

TEST(DynamicsTest, EverySecondBlockTakesItsShareFromTheBeginning) {
  Dynamics dynamics;
  dynamics.mixture_of_depths = MixtureOfDepths{0.125, 2};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 1000, Random(1));
  ASSERT_EQ(StepsOf(changes), (std::vector<int64_t>{0}));
  for (int block = 1; block <= 24; ++block) {
    EXPECT_EQ(changes[0].states[block].token_share, block % 2 == 0 ? 0.125 : 1) << block;
  }
}

TEST(DynamicsTest, DrawsDependOnTheSeedAlone) {
  Dynamics dynamics;
  dynamics.sparse_attention = SparseAttention{0.1, 0.5, 300};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, Gpt(), 1000, Random(7));
  EXPECT_EQ(StepsOf(changes), (std::vector<int64_t>{0, 300, 600, 900}));
  const std::vector<NetworkChange> shorter = ChangesOf(dynamics, Gpt(), 400, Random(7));
  ASSERT_EQ(shorter.size(), 2u);
  EXPECT_EQ(shorter[1].states, changes[1].states);
  EXPECT_NE(ChangesOf(dynamics, Gpt(), 400, Random(8))[1].states, changes[1].states);
  for (int block = 1; block <= 24; ++block) {
    EXPECT_GE(changes[2].states[block].attention_density, 0.1);
    EXPECT_LE(changes[2].states[block].attention_density, 0.5);
  }
}

TEST(DynamicsTest, ExpertsDrift) {
  const Workload mixtral = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  Dynamics dynamics;
  dynamics.experts = ExpertDrift{1, 100, 0.1, 0};
  const std::vector<NetworkChange> changes = ChangesOf(dynamics, mixtral, 1000, Random(1));
  ASSERT_EQ(changes.size(), 10u);
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::vector<double>& rows = changes[i].states[1].expert_rows;
    ASSERT_EQ(rows.size(), 8u);
    double sum = 0;
    for (size_t expert = 0; expert < 8; ++expert) {
      sum += rows[expert];
      if (i == 0) continue;
      EXPECT_GE(rows[expert], 0.9 * changes[i - 1].states[1].expert_rows[expert] - 1e-12);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

}  // namespace
}  // namespace stagecraft

#include "sim/engine/replica_symmetry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

// Two replicas of one stage, each on two devices of each of two nodes. Every rank runs a pass, then
// the ranks of each replica exchange something, and at last all ranks do.
struct TwoReplicas {
  std::vector<std::vector<int32_t>> devices = {{0, 1, 8, 9}, {16, 17, 24, 25}};
  std::vector<DeviceGroups> exchanges = {{{0, 1, 8, 9}}, {{16, 17, 24, 25}}};
  DeviceGroups last = {{0, 1, 8, 9, 16, 17, 24, 25}};
  std::vector<int> passes = {1, 1};                 // of each rank of a replica
  std::vector<OpSequenceId> op_sequences = {0, 0};  // of the passes of a replica, 0 or 1
  bool wait_for_each_other = false;  // the exchange of each replica for a pass of the other one

  Schedule Build() const {
    Schedule::Builder builder;
    std::vector<Lane> lanes;
    std::vector<TaskId> last_pass(2), exchange;  // by replica
    for (const int bytes : {10, 20}) {
      const OpId op = builder.AddOp(Op::Elementwise(Bytes(bytes)));
      builder.AddOpSequence({&op, 1});
    }
    for (int r = 0; r < 2; ++r) {
      std::vector<Lane> own;
      for (const int32_t device : devices[r]) {
        const int32_t rank = builder.AddRank({.device = device, .stage = 0, .replica = r});
        own.push_back(builder.AddLane({rank, LaneKind::kCompute}));
        for (int i = 0; i < passes[r]; ++i) {
          last_pass[r] = builder.Add({&own.back(), 1}, {}, op_sequences[r], {});
        }
      }
      exchange.push_back(builder.Add(own, {}, -1, {}));
      builder.SetCommunicator(exchange[r], builder.AddCommunicator(exchanges[r]));
      lanes.insert(lanes.end(), own.begin(), own.end());
    }
    for (int r = 0; r < 2 && wait_for_each_other; ++r) {
      builder.AddDependency(last_pass[r], exchange[1 - r]);
    }
    builder.SetCommunicator(builder.Add(lanes, {}, -1, {}), builder.AddCommunicator(last));
    return builder.Build();
  }
};

std::optional<ReplicaSymmetry> FindIn(const TwoReplicas& replicas) {
  return FindReplicaSymmetry(replicas.Build(), Cluster("nodes", {{Switched(), 5}}));
}

TEST(ReplicaSymmetryTest, OneOfTwoEqualReplicasStandsForBoth) {
  const auto symmetry = FindIn({});
  ASSERT_TRUE(symmetry.has_value());
  EXPECT_EQ(symmetry->images, 2);
  EXPECT_EQ(symmetry->rank_of, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(symmetry->next_device[9], 25);
  EXPECT_EQ(symmetry->next_device[25], 9);
  EXPECT_EQ(symmetry->next_device[2], 2);  // nothing uses it
  // Four passes, the exchange of the replica, and the one of all.
  EXPECT_EQ(symmetry->task_of, (std::vector<TaskId>{0, 1, 2, 3, 4, 10}));
  EXPECT_EQ(symmetry->is_of_all, (std::vector<bool>{false, false, false, false, false, true}));
  EXPECT_EQ(symmetry->like, (std::vector<TaskId>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(symmetry->representatives.lanes(5).size(), 4u);
}

TEST(ReplicaSymmetryTest, ReplicasThatDifferOrDependOnEachOtherLeaveNone) {
  const std::pair<const char*, std::function<void(TwoReplicas&)>> cases[] = {
      {"a pass more",
       [](TwoReplicas& two) {
         two.passes = {1, 2};
       }},
      {"other ops",
       [](TwoReplicas& two) {
         two.op_sequences = {0, 1};
       }},
      {"other devices of the nodes", [](TwoReplicas& two) { two.devices[1][3] = 26; }},
      {"a third node", [](TwoReplicas& two) { two.devices[1][3] = 33; }},
      {"dependencies between them", [](TwoReplicas& two) { two.wait_for_each_other = true; }},
      {"another group",
       [](TwoReplicas& two) {
         two.exchanges[1] = {{16, 17, 24}};
       }},
      {"a group in another order",
       [](TwoReplicas& two) {
         two.exchanges[1] = {{16, 24, 17, 25}};
       }},
      {"a group that begins elsewhere",
       [](TwoReplicas& two) {
         two.exchanges[1] = {{17, 24, 25, 16}};
       }},
      {"a group of all in another order",
       [](TwoReplicas& two) {
         two.last = {{0, 16, 1, 17, 8, 24, 9, 25}};
       }},
  };
  for (const auto& [what, change] : cases) {
    TwoReplicas two;
    change(two);
    EXPECT_FALSE(FindIn(two).has_value()) << what;
  }
}

TEST(ReplicaSymmetryTest, AGroupTurnsByTheLengthOfAnImage) {
  const auto symmetry = FindIn({});
  ASSERT_TRUE(symmetry.has_value());
  EXPECT_TRUE(symmetry->Turns({0, 1, 8, 9, 16, 17, 24, 25}, 4));
  EXPECT_FALSE(symmetry->Turns({0, 1, 8, 9, 16, 17, 24, 25}, 2));
  EXPECT_FALSE(symmetry->Turns({0, 1, 8, 9, 17, 16, 24, 25}, 4));
}

}  // namespace
}  // namespace stagecraft

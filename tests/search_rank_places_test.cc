// Tests the devices that a search takes to be interchangeable: a plan takes as long whichever of
// them its ranks have.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/rank_places.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/test_nodes.h"
#include "sim/plan/layer_division.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"
#include "sim/testing/random_plans.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

// Draws a node of any wiring, with up to eight devices.
NodeType DrawNode(Random& random) {
  constexpr std::array kWirings = {Wiring::kSwitched, Wiring::kAllPairs, Wiring::kPcie,
                                   Wiring::kCubeMesh, Wiring::kPairs};
  NodeType type = WithGpu(CubeMeshNode());
  type.device.memory = Bytes(int64_t{1} << 40);
  type.wiring = kWirings[random.Integer(0, kWirings.size() - 1)];
  type.id = fmt::format("{} node", Name(type.wiring));
  type.devices = 2 << random.Integer(0, 2);
  if (type.wiring == Wiring::kCubeMesh) type.devices = 8;
  if (type.wiring == Wiring::kSwitched && random.Integer(0, 1) == 0) type.domain = 2;
  if (type.wiring == Wiring::kPcie) {
    const auto switches = static_cast<int>(random.Integer(1, 3));
    type.pcie.roots = 1;
    type.pcie.switch_root.assign(switches, 0);
    type.pcie.nic_switch = {0};
    type.pcie.uplinks.assign(switches, MakeLink(LinkKind::kPcie, 1_us, 10));
    for (int device = 0; device < type.devices; ++device) {
      type.pcie.device_switch.push_back(static_cast<int>(random.Integer(0, switches - 1)));
    }
  }
  return type;
}

// Draws which devices are parts of one GPU and share its memory: none, all of the first node, its
// first two, or runs of two or three adjacent ones on both nodes.
std::vector<SharedMemory> DrawMemories(Random& random, int node_devices, int devices) {
  const Bandwidth bandwidth(1.1e12);
  constexpr int kKinds = 4;
  switch (random.Integer(0, kKinds - 1)) {
    case 0:
      return {};
    case 1:
      return {{Range(0, node_devices), bandwidth}};
    case 2:
      return {{Range(0, 2), bandwidth}};
    default:
      break;
  }
  std::vector<SharedMemory> memories;
  const int size = random.Integer(0, 1) == 0 ? 2 : 3;
  for (int first = static_cast<int>(random.Integer(0, 2)); first + size <= devices; first += size) {
    memories.push_back({Range(first, size), bandwidth});
  }
  return memories;
}

// Draws degrees that make a plan for at most this many devices; no value if it finds none.
std::optional<PlanDegrees> DrawDegreesWithin(Random& random, int devices, const Workload& workload,
                                             const Cluster& cluster) {
  constexpr int kMostDraws = 20;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    PlanDegrees degrees = DrawDegrees(random, ExpertCount(workload) > 0);
    if (degrees.devices > devices) continue;
    try {
      MakePlan(degrees, workload, cluster);
      return degrees;
    } catch (const InputError&) {
    }
  }
  return std::nullopt;
}

// Degrees that make a plan for a network on a drawn cluster.
struct Drawn {
  const Workload& workload;
  const Cluster& cluster;
  const CostModel& model;
  PlanDegrees degrees;
  std::string text;

  Duration StepTime(const Plan& plan) const {
    return SimulateStep(plan, workload, cluster, model).evaluation.step_time;
  }
  Plan WithRankOrder(const char* order) const {
    PlanDegrees other = degrees;
    other.rank_order = order;
    return MakePlan(other, workload, cluster);
  }
};

struct Counts {
  int plans = 0;
  int of_shared_memories = 0;
};

// Calls `check` for drawn plans, and counts those for which it returns true: there was something to
// compare.
template <typename Check>
Counts ForDrawnPlans(int seeds, Check check) {
  const AnalyticalModel analytical;
  const std::array<Workload, 2> workloads = {MakeWorkload(10), MakeMixtureOfExperts(10)};
  Counts counts;
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const NodeType type = DrawNode(random);
    const Cluster cluster(type.id, {{type, 2}}, {}, "", {},
                          DrawMemories(random, type.devices, 2 * type.devices));
    const Workload& workload = workloads[seed % 2];
    const int nodes = 1 + seed / 2 % 2;
    const auto degrees = DrawDegreesWithin(random, nodes * type.devices, workload, cluster);
    if (!degrees) continue;
    const MemoModel model(analytical);
    const std::string text = fmt::format("seed {}, {}", seed, cluster.name());
    if (!check(random, Drawn{workload, cluster, model, *degrees, text})) continue;
    ++counts.plans;
    counts.of_shared_memories += !cluster.shared_memories().empty();
  }
  return counts;
}

TEST(RankPlacesTest, AlikeDevicesMayChangePlaces) {
  const Counts counts = ForDrawnPlans(1500, [](Random& random, const Drawn& drawn) {
    const int alike = AlikeDevices(drawn.cluster, 0);
    if (alike == 1 || drawn.degrees.devices > alike) return false;
    const Plan plan = MakePlan(drawn.degrees, drawn.workload, drawn.cluster);
    const Plan other = Renumber(plan, Permutation(random, alike));
    EXPECT_EQ(drawn.StepTime(other), drawn.StepTime(plan)) << drawn.text;
    return true;
  });
  EXPECT_GT(counts.plans, 100);
  EXPECT_GT(counts.of_shared_memories, 20);
}

TEST(RankPlacesTest, AnOrderThatDoesNotMatterTakesAsLong) {
  int matters = 0;
  const Counts counts = ForDrawnPlans(4000, [&](Random&, const Drawn& drawn) {
    const PlanDegrees& degrees = drawn.degrees;
    if (degrees.pipeline == 1 || degrees.data == 1) return false;
    const PlacedSets sets{.first_device = 0,
                          .devices = degrees.devices,
                          .set_devices = degrees.tensor * degrees.context,
                          .stages = degrees.pipeline,
                          .replicas = degrees.data,
                          .are_all = true};
    if (RankOrderMatters(drawn.cluster, sets)) {
      ++matters;
      return false;
    }
    EXPECT_EQ(drawn.StepTime(drawn.WithRankOrder(kStagesFirstRankOrder)),
              drawn.StepTime(drawn.WithRankOrder(kDefaultRankOrder)))
        << drawn.text;
    return true;
  });
  EXPECT_GT(counts.plans, 50);
  EXPECT_GT(matters, 50);
}

TEST(RankPlacesTest, PartsOfAGpuAreNotAlike) {
  const NodeType type = WithGpu(Switched());
  const auto sharing = [&](std::vector<SharedMemory> memories) {
    return Cluster("parts", {{type, 2}}, {}, "", {}, std::move(memories));
  };
  const Bandwidth bandwidth(1e12);
  EXPECT_EQ(AlikeDevices(sharing({}), 0), 8);
  EXPECT_EQ(AlikeDevices(sharing({{Range(0, 8), bandwidth}}), 0), 8);
  EXPECT_EQ(AlikeDevices(sharing({{Range(0, 8), bandwidth}}), 8), 8);
  EXPECT_EQ(AlikeDevices(sharing({{Range(0, 4), bandwidth}}), 0), 1);
  EXPECT_EQ(AlikeDevices(sharing({{Range(0, 4), bandwidth}, {Range(4, 4), bandwidth}}), 0), 1);
  EXPECT_EQ(AlikeDevices(sharing({{Range(0, 4), bandwidth}}), 8), 8);
  const PlacedSets sets{.devices = 16, .set_devices = 8, .stages = 2, .replicas = 2};
  EXPECT_FALSE(RankOrderMatters(sharing({}), sets));
  EXPECT_TRUE(RankOrderMatters(sharing({{Range(0, 4), bandwidth}}), sets));
}

}  // namespace
}  // namespace stagecraft

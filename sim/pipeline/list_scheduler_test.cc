#include "sim/pipeline/list_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/order_testing.h"
#include "sim/pipeline/order_times.h"

namespace stagecraft {
namespace {

constexpr Phase F = Phase::kForward;
constexpr Phase B = Phase::kBackward;
constexpr Phase I = Phase::kBackwardInput;
constexpr Phase W = Phase::kBackwardWeight;

// Every chunk of a micro-batch holds one unit until its backward, and a stage holds at most
// limits[stage] units.
ListScheduling InFlight(const ChunkMap& map, const std::vector<int64_t>& limits) {
  const std::vector<PassMemory> of_stage(static_cast<size_t>(map.chunks()), PassMemory{1, 0});
  return {false, std::vector(static_cast<size_t>(map.stages()), of_stage), limits};
}

// The second stage runs the backward of the first micro-batch before it takes the second one.
TEST(ListSchedulerTest, ForwardsAndBackwardsTakeTurns) {
  const PassOrders orders =
      ListScheduledOrders(ChunkMap::Looped(2, 1), 2, UniformCosts(2, 1, {1_us, 1_us, 0_us}, 0_us));
  EXPECT_EQ(orders[0], (PassOrder{{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}}));
  EXPECT_EQ(orders[1], (PassOrder{{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}}));
}

TEST(ListSchedulerTest, WeightGradientsFillWhatIsLeft) {
  const PassOrders orders = ListScheduledOrders(
      ChunkMap::Looped(2, 1), 2, UniformCosts(2, 1, {1_us, 1_us, 1_us}, 0_us), {true, {}, {}});
  EXPECT_EQ(orders[0],
            (PassOrder{{F, 0, 0}, {F, 0, 1}, {I, 0, 0}, {W, 0, 0}, {I, 0, 1}, {W, 0, 1}}));
  EXPECT_EQ(orders[1],
            (PassOrder{{F, 0, 0}, {I, 0, 0}, {F, 0, 1}, {I, 0, 1}, {W, 0, 0}, {W, 0, 1}}));
}

// With as many micro-batches in flight as 1F1B it is no slower.
TEST(ListSchedulerTest, EqualStagesWithTheMemoryOf1F1BTakeItsTime) {
  for (const int p : {1, 2, 4, 7}) {
    const ChunkMap map = ChunkMap::Looped(p, 1);
    const PipelineCosts costs = UniformCosts(p, 1, {1_us, 1_us, 1_us}, 0_us);
    std::vector<int64_t> limits;
    for (int stage = 0; stage < p; ++stage) limits.push_back(p - stage);
    const PassOrders orders = ListScheduledOrders(map, 20, costs, InFlight(map, limits));
    EXPECT_EQ(TimeOrders(map, orders, 20, costs).Makespan(), (20 + p - 1) * 3_us);
    for (int stage = 0; stage < p; ++stage) EXPECT_EQ(PeakInFlight(orders[stage]), p - stage);
  }
}

// A micro-batch holds two units after its forward, one after its input gradients. With equal times
// ZB-H1's memory gives ZB-H1's 27, and ZB-H2's memory its 24, on every stage.
TEST(ListSchedulerTest, EqualStagesMeetTheZeroBubbleOrdersAtTheirMemory) {
  const ChunkMap map = ChunkMap::Looped(4, 1);
  const PipelineCosts costs = UniformCosts(4, 1, {1_us, 1_us, 1_us}, 0_us);
  const std::vector<std::vector<PassMemory>> memory(4, {{2, 1}});
  for (const auto& [limit, longest] : {std::pair{8, 27_us}, {16, 24_us}}) {
    const PassOrders orders =
        ListScheduledOrders(map, 8, costs, {true, memory, std::vector<int64_t>(4, limit)});
    EXPECT_EQ(TimeOrders(map, orders, 8, costs).LongestStage(), longest);
  }
}

// A wave with room for one micro-batch runs one after another, although the first stage could
// meanwhile run the first chunk of the next one.
TEST(ListSchedulerTest, TheLeastMemoryStillLetsEveryMicroBatchThrough) {
  const ChunkMap map = ChunkMap::Wave(3, 2);
  const PipelineCosts costs = UniformCosts(3, 2, {1_us, 1_us, 0_us}, 0_us);
  const PassOrders orders = ListScheduledOrders(map, 4, costs, InFlight(map, {2, 2, 2}));
  CheckOrders(map, orders, 4, costs, 2);
}

TEST(ListSchedulerTest, ALimitBelowOneMicroBatchIsRefused) {
  const ChunkMap map = ChunkMap::Wave(2, 2);
  const PipelineCosts costs = UniformCosts(2, 2, {1_us, 1_us, 0_us}, 0_us);
  EXPECT_THROW(ListScheduledOrders(map, 4, costs, InFlight(map, {2, 1})), InputError);
}

int64_t MostHeld(const PassOrder& order, const std::vector<PassMemory>& memory) {
  int64_t held = 0;
  int64_t most = 0;
  for (const Pass& pass : order) {
    const PassMemory& own = memory[pass.chunk];
    if (pass.phase == F) held += own.after_forward;
    most = std::max(most, held);
    if (pass.phase == B) held -= own.after_forward;
    if (pass.phase == I) held -= own.after_forward - own.after_input;
    if (pass.phase == W) held -= own.after_input;
  }
  return most;
}

ChunkMap RandomMap(Random& random) {
  const int stages = static_cast<int>(random.Integer(1, 8));
  const int chunks = static_cast<int>(random.Integer(1, 4));
  const int64_t kind = random.Integer(0, 2);
  if (kind == 0) return ChunkMap::Looped(stages, chunks);
  if (kind == 1) return ChunkMap::Wave(stages, chunks);
  return ChunkMap::Bidirectional(2 * stages);
}

ListScheduling RandomLimits(const ChunkMap& map, Random& random) {
  ListScheduling options;
  options.split_backward = random.Integer(0, 1) == 1;
  if (random.Integer(0, 3) == 0) return options;
  for (int stage = 0; stage < map.stages(); ++stage) {
    std::vector<PassMemory>& memory = options.memory.emplace_back();
    int64_t all = 0;
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const int64_t after_forward = random.Integer(0, 20);
      memory.push_back({after_forward, random.Integer(0, after_forward)});
      all += after_forward;
    }
    options.limits.push_back(random.Integer(all, 4 * all));
  }
  return options;
}

TEST(ListSchedulerTest, OrdersRunWithinTheirMemoryWhateverTheyCost) {
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(1).Child("list scheduler", trial);
    const ChunkMap map = RandomMap(random);
    const int m = static_cast<int>(random.Integer(1, 30));
    const PipelineCosts costs = RandomCosts(map, random);
    const ListScheduling options = RandomLimits(map, random);
    const PassOrders orders = ListScheduledOrders(map, m, costs, options);
    CheckOrders(map, orders, m, costs, m * map.chunks());
    for (int stage = 0; stage < map.stages() && !options.limits.empty(); ++stage) {
      EXPECT_LE(MostHeld(orders[stage], options.memory[stage]), options.limits[stage]);
    }
  }
}

}  // namespace
}  // namespace stagecraft

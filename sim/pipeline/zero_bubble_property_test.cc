// Laws that hold for the zero-bubble schedules of any pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/order_memory.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {
namespace {

struct RandomPipeline {
  int stages = 1;
  int micro_batches = 1;
  PipelineCosts costs;
  std::vector<PassMemory> memory;  // by stage
  std::vector<int64_t> limits;
};

Duration RandomTime(Random& random, int64_t most) {
  return Duration::Nanoseconds(random.Integer(0, most));
}

RandomPipeline MakePipeline(uint64_t seed, int chunks) {
  Random random(seed);
  RandomPipeline pipeline;
  pipeline.stages = static_cast<int>(random.Integer(1, 9));
  pipeline.micro_batches = static_cast<int>(random.Integer(1, 30));
  pipeline.costs = UniformCosts(pipeline.stages, chunks, {}, Duration());
  for (auto& stage : pipeline.costs.times) {
    for (PassTimes& chunk : stage) {
      chunk.forward = RandomTime(random, 1000);
      chunk.backward_input = RandomTime(random, 1500);
      chunk.backward_weight = RandomTime(random, 800);
    }
  }
  const int64_t most = random.Integer(0, 400);
  for (Duration& transfer : pipeline.costs.transfers) transfer = RandomTime(random, most);
  for (int s = 0; s < pipeline.stages; ++s) {
    PassMemory memory;
    memory.after_forward = random.Integer(1, 20);
    memory.after_input = random.Integer(0, memory.after_forward);
    pipeline.memory.push_back(memory);
    pipeline.limits.push_back(memory.after_forward * random.Integer(1, 2 * pipeline.stages + 1));
  }
  return pipeline;
}

// Expects every forward and all input and weight gradients exactly once.
void ExpectComplete(const PassOrders& orders, int chunks, int micro_batches) {
  for (const PassOrder& order : orders) {
    std::set<std::vector<int>> passes;
    for (const Pass& pass : order) {
      passes.insert({static_cast<int>(pass.phase), pass.chunk, pass.micro_batch});
      EXPECT_TRUE(pass.phase == Phase::kForward || pass.phase == Phase::kBackwardInput ||
                  pass.phase == Phase::kBackwardWeight);
      EXPECT_TRUE(0 <= pass.chunk && pass.chunk < chunks);
      EXPECT_TRUE(0 <= pass.micro_batch && pass.micro_batch < micro_batches);
    }
    EXPECT_EQ(passes.size(), order.size());
    EXPECT_EQ(order.size(), static_cast<size_t>(3 * chunks * micro_batches));
  }
}

// The longer of the work of the busiest stage and the way of the first micro-batch to the end and
// back.
Duration MakespanBound(const PipelineCosts& costs, int micro_batches) {
  Duration bound;
  Duration way;
  for (size_t s = 0; s < costs.times.size(); ++s) {
    Duration work;
    for (const PassTimes& chunk : costs.times[s]) {
      work += micro_batches * (chunk.forward + chunk.Backward());
      way += chunk.forward + chunk.backward_input;
      if (s > 0) way += 2 * costs.transfers[s - 1];
    }
    bound = std::max(bound, work);
  }
  return std::max(bound, way);
}

PassOrders OneForwardOneBackward(const RandomPipeline& pipeline) {
  PassOrders orders;
  int64_t window = pipeline.micro_batches;
  for (int s = 0; s < pipeline.stages; ++s) {
    window = std::min(window, pipeline.limits[s] / pipeline.memory[s].after_forward);
    const int warmup = std::min(pipeline.stages - s, static_cast<int>(window)) - 1;
    orders.push_back(OneForwardOneBackwardOrder(warmup, pipeline.micro_batches));
  }
  return orders;
}

TEST(ZeroBubblePropertyTest, AutomaticOrdersAreCompleteFitAndNeverLoseToOneForwardOneBackward) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomPipeline pipeline = MakePipeline(seed, 1);
    const ChunkMap map = ChunkMap::Looped(pipeline.stages, 1);
    const int m = pipeline.micro_batches;
    const OrderTimes plain = TimeOrders(map, OneForwardOneBackward(pipeline), m, pipeline.costs);
    for (const ZeroBubbleSearch search :
         {ZeroBubbleSearch::kPublished, ZeroBubbleSearch::kThorough}) {
      const PassOrders orders =
          AutomaticZeroBubbleOrders(pipeline.costs, m, pipeline.memory, pipeline.limits, search);
      ExpectComplete(orders, 1, m);
      for (size_t s = 0; s < orders.size(); ++s) {
        EXPECT_LE(PeakMemory(orders[s], {{pipeline.memory[s]}}), pipeline.limits[s]);
      }
      const OrderTimes times = TimeOrders(map, orders, m, pipeline.costs);
      EXPECT_GE(times.Makespan(), MakespanBound(pipeline.costs, m));
      EXPECT_LE(times.LongestStage(), plain.LongestStage());
    }
  }
}

// There are more micro-batches than those on which rules are compared.
TEST(ZeroBubblePropertyTest, ManyMicroBatchesKeepTheSamePromises) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomPipeline pipeline = MakePipeline(seed, 1);
    const int m = pipeline.micro_batches = 129 + 10 * static_cast<int>(seed);
    const ChunkMap map = ChunkMap::Looped(pipeline.stages, 1);
    const OrderTimes plain = TimeOrders(map, OneForwardOneBackward(pipeline), m, pipeline.costs);
    const PassOrders orders =
        AutomaticZeroBubbleOrders(pipeline.costs, m, pipeline.memory, pipeline.limits);
    ExpectComplete(orders, 1, m);
    for (size_t s = 0; s < orders.size(); ++s) {
      EXPECT_LE(PeakMemory(orders[s], {{pipeline.memory[s]}}), pipeline.limits[s]);
    }
    const OrderTimes times = TimeOrders(map, orders, m, pipeline.costs);
    EXPECT_GE(times.Makespan(), MakespanBound(pipeline.costs, m));
    EXPECT_LE(times.LongestStage(), plain.LongestStage());
  }
}

TEST(ZeroBubblePropertyTest, ThoroughSearchIsNeverSlowerThanThePublishedOne) {
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomPipeline pipeline = MakePipeline(seed, 1);
    const auto longest_stage = [&](ZeroBubbleSearch search) {
      const PassOrders orders = AutomaticZeroBubbleOrders(pipeline.costs, pipeline.micro_batches,
                                                          pipeline.memory, pipeline.limits, search);
      return TimeOrders(ChunkMap::Looped(pipeline.stages, 1), orders, pipeline.micro_batches,
                        pipeline.costs)
          .LongestStage();
    };
    EXPECT_LE(longest_stage(ZeroBubbleSearch::kThorough),
              longest_stage(ZeroBubbleSearch::kPublished));
  }
}

TEST(ZeroBubblePropertyTest, HandMadeOrdersAreComplete) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomPipeline pipeline = MakePipeline(seed, 1);
    const int m = pipeline.micro_batches;
    for (const auto& shape : {ZeroBubbleH1Order, ZeroBubbleH2Order}) {
      PassOrders orders;
      for (int s = 0; s < pipeline.stages; ++s) orders.push_back(shape(s, pipeline.stages, m));
      ExpectComplete(orders, 1, m);
      const ChunkMap map = ChunkMap::Looped(pipeline.stages, 1);
      EXPECT_GE(TimeOrders(map, orders, m, pipeline.costs).Makespan(),
                MakespanBound(pipeline.costs, m));
    }
  }
}

TEST(ZeroBubblePropertyTest, VOrdersAreCompleteAndKeepTheirMemory) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomPipeline pipeline = MakePipeline(seed, 2);
    const ChunkMap map = ChunkMap::Wave(pipeline.stages, 2);
    const int m = pipeline.micro_batches;
    const PassMemory memory = pipeline.memory[0];
    const PassOrders orders = ZeroBubbleVOrders(pipeline.costs, m, memory);
    ExpectComplete(orders, 2, m);
    const std::vector<PassMemory> of_chunk(2, memory);
    for (const PassOrder& order : orders) {
      EXPECT_LE(PeakMemory(order, of_chunk), 2 * pipeline.stages * memory.after_forward);
    }
    EXPECT_GE(TimeOrders(map, orders, m, pipeline.costs).Makespan(),
              MakespanBound(pipeline.costs, m));
  }
}

// Also with more than 4p micro-batches, whose ends are copied from a shorter run.
TEST(ZeroBubblePropertyTest, BlocksAreComplete) {
  for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 20, 33}) {
    for (const int m : {1, 2, 3, 7, 8, 4 * p, 4 * p + 1, 5 * p + 2}) {
      SCOPED_TRACE(std::to_string(p) + " stages, " + std::to_string(m) + " micro-batches");
      for (const PassOrders& orders : {VHalfOrders(p, m), VMinOrders(p, m)}) {
        ExpectComplete(orders, 2, m);
        const PipelineCosts costs = UniformCosts(p, 2, {1_us, 1_us, 1_us}, 0_us);
        EXPECT_GE(TimeOrders(ChunkMap::Wave(p, 2), orders, m, costs).Makespan(),
                  MakespanBound(costs, m));
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft

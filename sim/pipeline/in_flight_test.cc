#include "sim/pipeline/in_flight.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {
namespace {

TEST(InFlightTest, TheThirdOfFourStagesHoldsTwoMicroBatchesWith1F1B) {
  const PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  EXPECT_EQ(LeastInFlight(schedule, 4, 1, 2, 8), (std::vector<int64_t>{2}));
  EXPECT_EQ(UsualInFlight(schedule, 4, 1, 2, 8), 2);
}

TEST(InFlightTest, GpipeHoldsAllMicroBatches) {
  EXPECT_EQ(LeastInFlight(PipelineSchedule::kGpipe, 4, 1, 2, 8), (std::vector<int64_t>{8}));
  EXPECT_EQ(UsualInFlight(PipelineSchedule::kGpipe, 4, 1, 2, 8), 8);
}

// Whether at some moment of this order at least `least` micro-batches of every chunk are in flight
// at once.
bool HoldsAtOnce(const PassOrder& order, const std::vector<int64_t>& least) {
  std::vector<int64_t> held(least.size(), 0);
  for (const Pass& pass : order) {
    if (pass.phase == Phase::kForward) ++held[pass.chunk];
    bool has_all = true;
    for (size_t chunk = 0; chunk < least.size(); ++chunk) {
      has_all = has_all && held[chunk] >= least[chunk];
    }
    if (has_all) return true;
    if (pass.phase == Phase::kBackward || pass.phase == Phase::kBackwardInput) --held[pass.chunk];
  }
  return false;
}

TEST(InFlightTest, NoOrderHoldsFewerThanTheLeast) {
  int checked = 0;
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    if (NeedsCosts(schedule)) continue;
    for (int stages = 1; stages <= 6; ++stages) {
      for (int chunks = LeastChunks(schedule); chunks <= LeastChunks(schedule) + 1; ++chunks) {
        if (!FindChunkError(schedule, PlacementOf(schedule), stages, chunks).empty()) continue;
        const ChunkMap map(PlacementOf(schedule), stages, chunks);
        for (const int micro_batches : {stages, 2 * stages, 24}) {
          if (!FindMicroBatchError(schedule, map, micro_batches).empty()) continue;
          const PassOrders orders = MakePassOrders(schedule, {}, map, micro_batches, nullptr);
          for (int stage = 0; stage < stages; ++stage) {
            SCOPED_TRACE(std::string(Name(schedule)) + " stage " + std::to_string(stage) + " of " +
                         std::to_string(stages));
            EXPECT_TRUE(HoldsAtOnce(orders[stage],
                                    LeastInFlight(schedule, stages, chunks, stage, micro_batches)));
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 500);
}

}  // namespace
}  // namespace stagecraft

#include "sim/pipeline/in_flight.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_orders.h"
#include "sim/pipeline/order.h"
#include "sim/pipeline/order_kind.h"

namespace stagecraft {
namespace {

TEST(InFlightTest, TheThirdOfFourStagesHoldsTwoMicroBatchesWith1F1B) {
  const PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  EXPECT_EQ(LeastInFlight(order, 4, 1, 2, 8), (std::vector<int64_t>{2}));
  EXPECT_EQ(UsualInFlight(order, 4, 1, 2, 8), 2);
}

TEST(InFlightTest, GpipeHoldsAllMicroBatches) {
  EXPECT_EQ(LeastInFlight(PipelineOrder::kGpipe, 4, 1, 2, 8), (std::vector<int64_t>{8}));
  EXPECT_EQ(UsualInFlight(PipelineOrder::kGpipe, 4, 1, 2, 8), 8);
}

// At some moment of this order at least so many micro-batches of every chunk are in flight.
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
  for (const PipelineOrder order : NamedOrders()) {
    if (NeedsCosts(order)) continue;
    for (int stages = 1; stages <= 6; ++stages) {
      for (int chunks = LeastChunks(order); chunks <= LeastChunks(order) + 1; ++chunks) {
        if (!FindChunkError(order, PlacementOf(order), stages, chunks).empty()) continue;
        const ChunkMap map(PlacementOf(order), stages, chunks);
        for (const int micro_batches : {stages, 2 * stages, 24}) {
          if (!FindMicroBatchError(order, map, micro_batches).empty()) continue;
          const PipelineOrders orders = MakeOrders(order, {}, map, micro_batches, nullptr);
          for (int stage = 0; stage < stages; ++stage) {
            SCOPED_TRACE(std::string(Name(order)) + " stage " + std::to_string(stage) + " of " +
                         std::to_string(stages));
            EXPECT_TRUE(HoldsAtOnce(orders[stage],
                                    LeastInFlight(order, stages, chunks, stage, micro_batches)));
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

#include "sim/pipeline/order_kind.h"

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

namespace stagecraft {
namespace {

TEST(OrderKindTest, EveryOrderButTheCustomOneIsFoundByItsName) {
  const std::vector<PipelineOrder> named = NamedOrders();
  EXPECT_EQ(named.size() + 1, std::size(kOrderTraits));
  for (const PipelineOrder order : named) EXPECT_EQ(FindPipelineOrder(Name(order)), order);
  EXPECT_FALSE(FindPipelineOrder(Name(PipelineOrder::kCustom)));
}

TEST(OrderKindTest, OneForwardOneBackwardOfSeveralChunksIsInterleaved) {
  const PipelineOrder usual = PipelineOrder::kOneForwardOneBackward;
  EXPECT_EQ(ForChunks(usual, 1), usual);
  EXPECT_EQ(ForChunks(usual, 2), PipelineOrder::kInterleaved);
  EXPECT_EQ(ForChunks(PipelineOrder::kBreadthFirst, 2), PipelineOrder::kBreadthFirst);
}

TEST(OrderKindTest, OnlyPipeDreamUpdatesBehindEveryMiniBatch) {
  for (const PipelineOrder order : NamedOrders()) {
    EXPECT_EQ(UpdatesEveryMiniBatch(order), order == PipelineOrder::kPipeDream) << Name(order);
    EXPECT_EQ(IsAsynchronous(order),
              order == PipelineOrder::kPipeDream || order == PipelineOrder::kPipeDream2bw)
        << Name(order);
  }
}

}  // namespace
}  // namespace stagecraft

#include "sim/memory/expanded_matrices.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/memory/stage_memory.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

Op Product(SparseProduct product, int64_t n, int64_t k, Direction direction, int64_t batch = 1) {
  Op op = Op::Sparse(DType::kBf16, direction, 64, n, k, 100, batch);
  op.product = product;
  return op;
}

// A task in each of two stages that runs these ops, one after another.
Schedule TwoStages(const std::vector<Op>& first, const std::vector<Op>& second) {
  Schedule::Builder builder;
  for (int stage = 0; stage < 2; ++stage) {
    const int32_t rank = builder.AddRank({.device = stage});
    const Lane lanes[] = {builder.AddLane({rank, LaneKind::kCompute})};
    std::vector<OpId> ops;
    for (const Op& op : stage == 0 ? first : second) ops.push_back(builder.AddOp(op));
    Tag tag;
    tag.stage = static_cast<int16_t>(stage);
    builder.Add(lanes, {}, builder.AddOpSequence(ops), tag);
  }
  return builder.Build();
}

std::vector<StageMemory> PlainMemory() {
  std::vector<StageMemory> memory(2);
  for (int stage = 0; stage < 2; ++stage) {
    memory[stage].stage = stage;
    memory[stage].workspace = Bytes(1000);
    memory[stage].allocated = Bytes(5000);
  }
  return memory;
}

using enum SparseProduct;

// The first stage expands matrices of 512 x 256 and of two times 128 x 1024 elements of two bytes,
// the second one the transposed first, whose products write its gradient.
TEST(ExpandedMatricesTest, TheLargestMatrixOfAStageIsPartOfItsWorkspace) {
  const Schedule schedule = TwoStages({Product(kExpanded, 512, 256, Direction::kForward),
                                       Product(kExpanded, 128, 1024, Direction::kForward, 2),
                                       Product(kFromEntries, 4096, 4096, Direction::kForward)},
                                      {Product(kExpanded, 256, 512, Direction::kBackward)});
  std::vector<StageMemory> memory = PlainMemory();
  EXPECT_TRUE(AddExpandedMatrices(schedule, memory));
  EXPECT_EQ(memory[0].workspace, Bytes(1000 + 2 * 2 * 128 * 1024));
  EXPECT_EQ(memory[0].allocated, Bytes(5000 + 2 * 2 * 128 * 1024));
  EXPECT_EQ(memory[1].workspace, Bytes(1000 + 2 * 512 * 256));
}

TEST(ExpandedMatricesTest, ProductsFromTheirEntriesWriteNone) {
  const Schedule schedule = TwoStages({Product(kFromEntries, 512, 256, Direction::kForward)},
                                      {Op::Gemm(DType::kBf16, 512, 512, 512)});
  std::vector<StageMemory> memory = PlainMemory();
  EXPECT_FALSE(AddExpandedMatrices(schedule, memory));
  EXPECT_EQ(memory, PlainMemory());
}

}  // namespace
}  // namespace stagecraft

#include "sim/pipeline/micro_batch_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace stagecraft {
namespace {

// Two chunks, which take 2 and 1; their backwards give this back, that of chunk 1 first.
constexpr size_t kChunk0 = 0, kChunk1 = 1;
MicroBatchMemory TwoChunks(int64_t limit) {
  return {limit, std::vector<int64_t>{3}, 4, std::vector<int>{0, 0}};
}

TEST(MicroBatchMemoryTest, TheFirstKeepsWhatItStillNeeds) {
  MicroBatchMemory memory = TwoChunks(4);
  memory.Take(0, 2);
  EXPECT_FALSE(memory.Fits(1, 2));  // 0 could then not take its second chunk
  EXPECT_TRUE(memory.Fits(0, 1));
  memory.Take(0, 1);
  EXPECT_FALSE(memory.Fits(1, 2));
  memory.Give(kChunk1, 1);
  EXPECT_TRUE(memory.Fits(1, 2));  // beside the 2 of micro-batch 0
  memory.Take(1, 2);
  EXPECT_FALSE(memory.Fits(2, 2));
  memory.Give(kChunk0, 2);
  EXPECT_FALSE(memory.Fits(2, 2));  // 1 has 2 and needs 1 more
  memory.Take(1, 1);
  memory.Give(kChunk1, 1);
  EXPECT_TRUE(memory.Fits(2, 2));
}

TEST(MicroBatchMemoryTest, EveryChainKeepsItsOwn) {
  // One part of each of two chains, which takes 3 in the first chain and 1 in the second.
  MicroBatchMemory memory(4, std::vector<int64_t>{3, 1}, 2, std::vector<int>{0, 1});
  memory.Take(1, 1);                // of the second chain
  EXPECT_TRUE(memory.Fits(0, 3));   // the lowest rank
  EXPECT_FALSE(memory.Fits(3, 1));  // micro-batch 0 needs the other three
  memory.Take(0, 3);
  memory.Give(0, 3);
  EXPECT_TRUE(memory.Fits(2, 3));
  EXPECT_TRUE(memory.Fits(3, 1));
}

}  // namespace
}  // namespace stagecraft

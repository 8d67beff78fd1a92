#include "sim/memory/free_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

TEST(FreeBlocksTest, TheSmallestThatFitsIsTakenAndOfEqualsTheLowest) {
  FreeBlocks free;
  free.Insert({.size = 2048, .address = 0, .block = 0});
  free.Insert({.size = 1024, .address = 9000, .block = 1});
  free.Insert({.size = 1024, .address = 5000, .block = 2});
  EXPECT_EQ(free.TakeBest(512), 2);
  EXPECT_EQ(free.TakeBest(1024), 1);
  EXPECT_EQ(free.TakeBest(1024), 0);
  EXPECT_EQ(free.TakeBest(512), -1);
}

TEST(FreeBlocksTest, RandomCallsDoWhatASortedListDoes) {
  Random random(1);
  FreeBlocks free;
  std::vector<FreeBlocks::Entry> sorted;
  const auto less = [](const FreeBlocks::Entry& a, const FreeBlocks::Entry& b) {
    return a.size != b.size ? a.size < b.size : a.address < b.address;
  };
  for (int32_t i = 0; i < 3000; ++i) {
    const int64_t size = 512 * random.Integer(1, int64_t{1} << random.Integer(1, 30));
    if (random.Integer(0, 2) > 0) {
      const FreeBlocks::Entry entry{size, 512 * i, i};
      free.Insert(entry);
      sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), entry, less), entry);
      continue;
    }
    const auto best =
        std::lower_bound(sorted.begin(), sorted.end(), FreeBlocks::Entry{.size = size}, less);
    ASSERT_EQ(free.TakeBest(size), best == sorted.end() ? -1 : best->block);
    if (best != sorted.end()) sorted.erase(best);
    if (sorted.empty()) continue;
    const FreeBlocks::Entry gone = sorted[random.Integer(0, sorted.size() - 1)];
    free.Remove(gone.size, gone.address);
    std::erase_if(sorted, [&](const auto& entry) { return entry.block == gone.block; });
  }
  free.RemoveIf([](int32_t block) { return block % 2 == 0; });
  std::erase_if(sorted, [](const auto& entry) { return entry.block % 2 == 0; });
  for (const FreeBlocks::Entry& entry : sorted) ASSERT_EQ(free.TakeBest(512), entry.block);
}

}  // namespace
}  // namespace stagecraft

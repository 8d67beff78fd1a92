#include "sim/memory/caching_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr Bytes kMiB(1 << 20);
constexpr Bytes kPlenty(int64_t{1} << 40);

// One byte takes 512 B of a segment of 2 MiB.
TEST(CachingAllocatorTest, AByteCountsForHalfAKilobyteOfASmallSegment) {
  CachingAllocator allocator(kPlenty);
  ASSERT_TRUE(allocator.Allocate(Bytes(1)).has_value());
  EXPECT_EQ(allocator.allocated(), Bytes(512));
  EXPECT_EQ(allocator.reserved(), 2 * kMiB);
}

TEST(CachingAllocatorTest, SegmentsFollowTheSizeOfTheRequest) {
  const auto reserved = [](Bytes size) {
    CachingAllocator allocator(kPlenty);
    allocator.Allocate(size);
    return allocator.reserved();
  };
  EXPECT_EQ(reserved(kMiB), 2 * kMiB);
  EXPECT_EQ(reserved(kMiB + Bytes(1)), 20 * kMiB);
  EXPECT_EQ(reserved(10 * kMiB - Bytes(512)), 20 * kMiB);
  EXPECT_EQ(reserved(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(reserved(11 * kMiB), 12 * kMiB);
}

// 11 MiB of a segment of 12 leave 1 MiB, which is too little to split off.
TEST(CachingAllocatorTest, ALargeBlockKeepsARemainderOfAMegabyte) {
  CachingAllocator allocator(kPlenty);
  allocator.Allocate(11 * kMiB);
  EXPECT_EQ(allocator.allocated(), 12 * kMiB);
  allocator.Allocate(11 * kMiB - Bytes(512));
  EXPECT_EQ(allocator.allocated(), 23 * kMiB - Bytes(512));
}

// The allocations leave 15 MiB of a segment of 20 MiB, and the upper half of one of 2 MiB.
TEST(CachingAllocatorTest, FreePiecesAreListedByAddressAndGoneAfterAReset) {
  CachingAllocator allocator(kPlenty, 2);
  const auto large = allocator.Allocate(5 * kMiB, 1);
  allocator.Allocate(kMiB);
  const std::vector<CachingAllocator::FreePiece> left = {{15 * kMiB, 3}, {kMiB, 0}};
  EXPECT_EQ(allocator.FreePieces(), left);
  allocator.Free(*large);
  EXPECT_EQ(allocator.FreePieces().front(), (CachingAllocator::FreePiece{20 * kMiB, 3}));
  allocator.Reset(2 * kMiB);
  EXPECT_TRUE(allocator.FreePieces().empty());
  EXPECT_EQ(allocator.peak_reserved(), Bytes());
  EXPECT_FALSE(allocator.Allocate(3 * kMiB).has_value());
}

// Blocks of 4 and 3 MiB are free: a request of 2.5 MiB gets the one of 3 MiB.
TEST(CachingAllocatorTest, TheSmallestFreeBlockThatFitsIsTaken) {
  CachingAllocator allocator(kPlenty);
  const auto four = allocator.Allocate(4 * kMiB);
  allocator.Allocate(2 * kMiB);
  const auto three = allocator.Allocate(3 * kMiB);
  allocator.Allocate(2 * kMiB);
  allocator.Free(*four);
  allocator.Free(*three);
  // Half a MiB of the block is left, which is too little to split off.
  const auto taken = allocator.Allocate(2 * kMiB + Bytes(512 << 10));
  EXPECT_EQ(allocator.allocated(), 7 * kMiB);
  EXPECT_EQ(*taken, *three);
  EXPECT_EQ(allocator.reserved(), 20 * kMiB);
}

// Three blocks fill a segment; freed in any order they are one again.
TEST(CachingAllocatorTest, FreedNeighboursJoin) {
  for (const auto& order : std::vector<std::vector<int>>{{0, 1, 2}, {0, 2, 1}, {2, 1, 0}}) {
    CachingAllocator allocator(kPlenty);
    std::vector<CachingAllocator::Block> blocks;
    for (const int size : {8, 6, 6}) blocks.push_back(*allocator.Allocate(size * kMiB));
    EXPECT_EQ(allocator.reserved(), 20 * kMiB);
    for (const int block : order) allocator.Free(blocks[block]);
    allocator.Allocate(20 * kMiB);
    EXPECT_EQ(allocator.reserved(), 20 * kMiB);
  }
}

// Two free halves that do not touch cannot serve a whole.
TEST(CachingAllocatorTest, FragmentsReserveMoreThanIsAllocated) {
  CachingAllocator allocator(kPlenty);
  const auto first = allocator.Allocate(9 * kMiB);
  allocator.Allocate(2 * kMiB);
  const auto last = allocator.Allocate(9 * kMiB);
  allocator.Free(*first);
  allocator.Free(*last);
  allocator.Allocate(10 * kMiB);
  EXPECT_EQ(allocator.allocated(), 12 * kMiB);
  EXPECT_EQ(allocator.reserved(), 30 * kMiB);
}

// On a GPU of 40 MiB, a free segment of 24 goes back before 20 more are asked for.
TEST(CachingAllocatorTest, AFailingAllocationReleasesFreeSegmentsAndTriesAgain) {
  CachingAllocator allocator(40 * kMiB);
  const auto segment = allocator.Allocate(24 * kMiB);
  allocator.Free(*segment);
  EXPECT_EQ(allocator.reserved(), 24 * kMiB);
  ASSERT_TRUE(allocator.Allocate(30 * kMiB).has_value());
  EXPECT_EQ(allocator.reserved(), 30 * kMiB);
  EXPECT_FALSE(allocator.Allocate(12 * kMiB).has_value());
  EXPECT_EQ(allocator.peak_reserved(), 30 * kMiB);
}

// A segment of 20 MiB that is wholly free serves no other stream.
TEST(CachingAllocatorTest, StreamsShareNoSegments) {
  CachingAllocator allocator(kPlenty, 2);
  allocator.Free(*allocator.Allocate(4 * kMiB, 0));
  allocator.Allocate(4 * kMiB, 1);
  EXPECT_EQ(allocator.reserved(), 40 * kMiB);
  allocator.Allocate(4 * kMiB, 0);
  EXPECT_EQ(allocator.reserved(), 40 * kMiB);
}

// On a GPU of 40 MiB, a free segment of 24 of one stream goes back when another stream asks for 30,
// and what a stream still uses is not there for the other.
TEST(CachingAllocatorTest, StreamsShareTheDevice) {
  CachingAllocator allocator(40 * kMiB, 2);
  const auto first = allocator.Allocate(24 * kMiB, 0);
  EXPECT_FALSE(allocator.Allocate(30 * kMiB, 1).has_value());
  allocator.Free(*first);
  ASSERT_TRUE(allocator.Allocate(30 * kMiB, 1).has_value());
  EXPECT_EQ(allocator.reserved(), 30 * kMiB);
  EXPECT_FALSE(allocator.Allocate(12 * kMiB, 0).has_value());
  EXPECT_EQ(allocator.peak_reserved(), 30 * kMiB);
}

TEST(CachingAllocatorTest, AnyOrderOfCallsEndsWhereItBegan) {
  CachingAllocator allocator(kPlenty);
  Random random(7);
  std::vector<CachingAllocator::Block> held;
  for (int call = 0; call < 20'000; ++call) {
    const bool frees = !held.empty() && random.Integer(1, 5) <= (call < 10'000 ? 2 : 4);
    if (frees) {
      const size_t at = random.Integer(0, static_cast<int64_t>(held.size()) - 1);
      allocator.Free(held[at]);
      held[at] = held.back();
      held.pop_back();
    } else {
      const int64_t magnitude = random.Integer(0, 25);
      held.push_back(*allocator.Allocate(Bytes(random.Integer(1, int64_t{1} << magnitude))));
    }
    ASSERT_GE(allocator.reserved(), allocator.allocated());
  }
  for (const CachingAllocator::Block block : held) allocator.Free(block);
  EXPECT_EQ(allocator.allocated(), Bytes());
  // All neighbours have joined: a GPU that is full gives everything back.
  allocator.set_capacity(allocator.reserved());
  EXPECT_TRUE(allocator.Allocate(allocator.reserved()).has_value());
}

}  // namespace
}  // namespace stagecraft

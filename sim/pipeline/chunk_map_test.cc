#include "sim/pipeline/chunk_map.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(ChunkMapTest, AWaveOfTwoChunksTurnsAtTheLastStage) {
  const ChunkMap map = ChunkMap::Wave(4, 2);
  EXPECT_EQ(map.PartAt({3, 1}), (ChunkMap::Part{0, 4}));
  EXPECT_EQ(map.PartAt({0, 1}), (ChunkMap::Part{0, 7}));
}

// Chimera's two pipelines on four devices: stage s of the one is on device s, that of the other
// on 3 - s.
TEST(ChunkMapTest, TwoChainsRunInOppositeDirections) {
  const ChunkMap map = ChunkMap::Bidirectional(4);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(map.PartAt({stage, 0}), (ChunkMap::Part{0, stage}));
    EXPECT_EQ(map.PartAt({stage, 1}), (ChunkMap::Part{1, 3 - stage}));
  }
}

TEST(ChunkMapTest, PlacesAndPartsAreInverse) {
  for (const ChunkMap& map :
       {ChunkMap::Looped(3, 1), ChunkMap::Looped(4, 3), ChunkMap::Wave(5, 2), ChunkMap::Wave(3, 4),
        ChunkMap::Bidirectional(6), ChunkMap::Bidirectional(8, 2), ChunkMap::Bidirectional(8, 4)}) {
    EXPECT_EQ(map.chains() * map.length(), map.stages() * map.chunks());
    for (int chain = 0; chain < map.chains(); ++chain) {
      for (int index = 0; index < map.length(); ++index) {
        const ChunkMap::Part part{chain, index};
        EXPECT_EQ(map.PartAt(map.PlaceOf(part)), part);
      }
    }
  }
}

TEST(ChunkMapTest, MicroBatchesAreDividedOverTheChains) {
  const ChunkMap map = ChunkMap::Bidirectional(4);
  EXPECT_EQ(map.MicroBatches(0, 7), 4);
  EXPECT_EQ(map.MicroBatches(1, 7), 3);
}

}  // namespace
}  // namespace stagecraft

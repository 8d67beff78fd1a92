// Tests that what is remembered of one rank gives another one the segments that it would take
// alone.
#include "sim/memory/reservation.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr Bytes kMiB(1 << 20);
constexpr Bytes kPlenty(int64_t{1} << 40);

// Draws a size of some half kilobytes, of a few megabytes or of many.
Bytes DrawSize(Random& random) {
  const int64_t unit = int64_t{512} << (10 * random.Integer(0, 1));
  return Bytes(unit * random.Integer(1, random.Integer(0, 3) == 0 ? 60'000 : 3'000));
}

// A chunk of one layer, whose forward keeps some tensors and makes others for itself, in pools of
// their own now and then; its backward does so too, and drops what was kept.
std::shared_ptr<const ChunkTensors> DrawChunk(Random& random) {
  LayerTensors layer;
  layer.kept = static_cast<int>(random.Integer(1, 4));
  layer.tensors = layer.kept + static_cast<int>(random.Integer(1, 4));
  std::vector<TensorEvent> made(layer.tensors);
  for (int tensor = 0; tensor < layer.tensors; ++tensor) {
    made[tensor] = {.change = DrawSize(random).count(),
                    .tensor = tensor,
                    .role = tensor < layer.kept ? TensorRole::kActivation : TensorRole::kWorkspace,
                    .pool = static_cast<TensorPool>(random.Integer(0, 5) == 0)};
  }
  const auto dropped = [&](int tensor) {
    TensorEvent event = made[tensor];
    event.change = -event.change;
    return event;
  };
  auto& forward = layer.passes[static_cast<size_t>(Phase::kForward)].events;
  auto& backward = layer.passes[static_cast<size_t>(Phase::kBackward)].events;
  forward = made;
  for (int tensor = layer.kept; tensor < layer.tensors; ++tensor) {
    forward.push_back(dropped(tensor));
    backward.push_back(made[tensor]);
  }
  for (int tensor = 0; tensor < layer.tensors; ++tensor) backward.push_back(dropped(tensor));
  ChunkLayer one;
  one.tensors = &layer;
  return std::make_shared<const ChunkTensors>(JoinLayers({&one, 1}));
}

RankTensors DrawRank(Random& random, const std::vector<std::shared_ptr<const ChunkTensors>>& all) {
  RankTensors rank;
  rank.chunks = {all[static_cast<size_t>(random.Integer(0, std::ssize(all) - 1))]};
  // Few of these numbers, so that some ranks leave equal pieces of their segments.
  rank.states.weights = Bytes(random.Integer(1, 3) * 7'340'032);
  rank.states.gradients = random.Integer(0, 3) * 25 * kMiB;
  rank.workspace = Bytes(random.Integer(0, 2) * 1'500'000);
  if (random.Integer(0, 3) == 0) {
    rank.update.tensors.events = {{.change = (random.Integer(1, 3) * 20 * kMiB).count()}};
  }
  return rank;
}

PassOrder DrawOrder(Random& random) {
  const auto micro_batches = static_cast<int>(random.Integer(1, 12));
  if (random.Integer(0, 4) == 0) return GpipeOrder(micro_batches);
  return OneForwardOneBackwardOrder(static_cast<int>(random.Integer(0, 3)), micro_batches);
}

TEST(ReservationTest, WhatIsRememberedOfOtherRanksChangesNothing) {
  Random random(1);
  std::vector<std::shared_ptr<const ChunkTensors>> chunks;
  for (int i = 0; i < 4; ++i) chunks.push_back(DrawChunk(random));
  Reservations reservations;
  int tight = 0, shared = 0;
  for (int i = 0; i < 4000; ++i) {
    const RankTensors rank = DrawRank(random, chunks);
    const PassOrder order = DrawOrder(random);
    const Bytes live = WalkRank(rank, order).allocated;
    // Less than the tensors take, hardly more, or plenty.
    const Bytes capacity =
        random.Integer(0, 2) == 0 ? kPlenty : Bytes(live.count() * random.Integer(3, 16) / 10);
    const size_t replays = reservations.size();
    const Reservation found = reservations.Find(rank, order, capacity, live);
    const Reservation alone = ReservationOf(rank, order, capacity);
    ASSERT_EQ(found, alone) << "rank " << i;
    if (reservations.size() == replays) ++shared;
    if (alone != ReservationOf(rank, order, kPlenty)) ++tight;
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(tight, 100);
}

// 26 and 46 MiB fill segments of their own, and leave nothing.
TEST(ReservationTest, StatesOfAnySizeShareAReplayIfTheyLeaveEqualPieces) {
  Random random(2);
  RankTensors rank;
  rank.chunks = {DrawChunk(random)};
  Reservations reservations;
  const PassOrder order = OneForwardOneBackwardOrder(2, 8);
  for (const int64_t weights : {26, 46}) {
    rank.states.weights = weights * kMiB;
    EXPECT_EQ(reservations.Find(rank, order, kPlenty, kMiB), ReservationOf(rank, order, kPlenty));
    EXPECT_EQ(reservations.size(), 1u);
  }
  // 25 MiB leave one, which is too little to split off; 24.5 leave more.
  rank.states.weights = 25 * kMiB;
  reservations.Find(rank, order, kPlenty, kMiB);
  EXPECT_EQ(reservations.size(), 1u);
  rank.states.weights = Bytes((49 << 19));
  reservations.Find(rank, order, kPlenty, kMiB);
  EXPECT_EQ(reservations.size(), 2u);
}

}  // namespace
}  // namespace stagecraft

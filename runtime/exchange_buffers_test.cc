#include "runtime/exchange_buffers.h"

#include <gtest/gtest.h>

#include "runtime/memory_ring.h"

namespace stagecraft {
namespace {

// Two ranks: one sends 100 and then 40 bytes to the other, then both exchange 64 in an all-to-all.
Schedule SendsAndShares() {
  Schedule::Builder builder;
  std::vector<Lane> send, data;
  for (int32_t r = 0; r < 2; ++r) {
    builder.AddRank({.device = r, .stage = 0, .replica = 0});
    send.push_back(builder.AddLane({r, LaneKind::kSendNext}));
    data.push_back(builder.AddLane({r, LaneKind::kData}));
  }
  Fabric pair;
  pair.ranks = 2;
  for (const int64_t bytes : {100, 40}) {
    const OpId op = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(bytes), pair));
    const TaskId task = builder.Add({&send[0], 1}, {}, builder.AddOpSequence({&op, 1}),
                                    {.rank = 0, .phase = Phase::kSendForward});
    builder.SetCommunicator(task, builder.AddCommunicator({{0, 1}}));
  }
  const OpId all = builder.AddOp(Op::Collective(OpKind::kAllToAll, Bytes(64), pair));
  builder.Add(data, {}, builder.AddOpSequence({&all, 1}), {.rank = 0, .phase = Phase::kGradReduce});
  return builder.Build();
}

TEST(ExchangeBuffersTest, AreAsLargeAsTheLargestExchange) {
  const Schedule schedule = SendsAndShares();
  const StreamProgram one = MakeStreamProgram(schedule, Processes::kOne);
  int sends = 0;
  for (const auto& [key, bytes] : ExchangeBuffers(schedule, one)) {
    const StreamInfo& stream = one.streams[key.first];
    const bool is_send = stream.lane == Lane{0};
    EXPECT_EQ(bytes, is_send ? Bytes(100) : Bytes(128));
    // The buffers at both ends of the copies on the first rank's lane.
    sends += is_send ? 1 : 0;
    if (!is_send) {
      EXPECT_EQ(key.second, stream.rank);
    }
  }
  EXPECT_EQ(sends, 2);
  EXPECT_EQ(ExchangeBuffers(schedule, one).size(), 4u);

  const StreamProgram apart = MakeStreamProgram(schedule, Processes::kOneARank);
  for (const auto& [key, bytes] : ExchangeBuffers(schedule, apart)) {
    EXPECT_EQ(key.second, apart.streams[key.first].rank);
  }
  EXPECT_EQ(ExchangeBuffers(schedule, apart).size(), 4u);
}

TEST(MemoryRingTest, GoesRoundWithoutOverlap) {
  MemoryRing ring(100);
  EXPECT_EQ(ring.Take(40), 0u);
  EXPECT_EQ(ring.Take(40), 40u);
  EXPECT_EQ(ring.Take(40), 0u);  // only 20 bytes are left at the end
  EXPECT_EQ(ring.Take(60), 40u);
  EXPECT_EQ(ring.Take(100), 0u);
}

}  // namespace
}  // namespace stagecraft

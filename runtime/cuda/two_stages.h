// TwoStages: a schedule of two ranks, for tests of executors on GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// The forwards of one stage, their messages, then the forwards of the other; at the end an
// all-reduce of both. A pass is two GEMMs of `size` in all three dimensions, and an attention if it
// is asked for.
struct TwoStages {
  static constexpr int64_t kBytes = 1 << 20;
  Schedule::Builder builder;
  std::vector<Lane> compute, send, data;
  std::vector<TaskId> passes, sends;
  TaskId reduction = -1;

  TwoStages(int micro_batches, int64_t size, bool has_attention = false) {
    for (int32_t r = 0; r < 2; ++r) {
      builder.AddRank({.device = r, .stage = static_cast<int16_t>(r), .replica = 0});
      compute.push_back(builder.AddLane({r, LaneKind::kCompute}));
      send.push_back(builder.AddLane({r, LaneKind::kSendNext}));
      data.push_back(builder.AddLane({r, LaneKind::kData}));
    }
    Fabric pair;
    pair.ranks = 2;
    const OpId product = builder.AddOp(Op::Gemm(DType::kBf16, size, size, size));
    const OpId message = builder.AddOp(Op::Collective(OpKind::kSendRecv, Bytes(kBytes), pair));
    const OpId sum = builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(kBytes), pair));
    std::vector<OpId> ops = {product, product};
    if (has_attention) {
      constexpr int64_t kHeads = 2, kTokens = 64, kHeadSize = 64;
      ops.push_back(builder.AddOp(Op::Attention(DType::kBf16, Direction::kForward, kHeads, kTokens,
                                                kTokens, kHeadSize, true)));
    }
    const OpSequenceId work = builder.AddOpSequence(ops);
    const OpSequenceId carry = builder.AddOpSequence({&message, 1});
    for (int m = 0; m < micro_batches; ++m) {
      const TaskId first =
          builder.Add({&compute[0], 1}, {}, work, {.rank = 0, .chunk = 0, .micro_batch = m});
      const TaskId sent =
          builder.Add({&send[0], 1}, {&first, 1}, carry, {.rank = 0, .phase = Phase::kSendForward});
      builder.SetCommunicator(sent, builder.AddCommunicator({{0, 1}}));
      const TaskId second = builder.Add({&compute[1], 1}, {&sent, 1}, work,
                                        {.rank = 1, .chunk = 0, .micro_batch = m});
      passes.insert(passes.end(), {first, second});
      sends.push_back(sent);
    }
    reduction = builder.Add(data, passes, builder.AddOpSequence({&sum, 1}),
                            {.rank = 0, .phase = Phase::kGradReduce});
  }
};

}  // namespace stagecraft

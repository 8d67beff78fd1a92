// OneLayer: a schedule of one rank, for tests on the stand-in for a GPU.
#pragma once

#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Returns a forward, a backward and an optimizer, with ops of many sizes that write 16- and 32-bit
// numbers.
inline Schedule OneLayer() {
  Schedule::Builder builder;
  builder.AddRank({.device = 0, .stage = 0, .replica = 0});
  const Lane lane = builder.AddLane({0, LaneKind::kCompute});
  constexpr DType kType = DType::kBf16;
  const auto attention = [](Direction direction) {
    Op op = Op::Attention(kType, direction, 2, 64, 64, 64, true);
    op.kv_batch = 1;
    return op;
  };
  const auto op_sequence = [&](const std::vector<Op>& ops) {
    std::vector<OpId> ids;
    for (const Op& op : ops) ids.push_back(builder.AddOp(op));
    return builder.AddOpSequence(ids);
  };
  const Op product = Op::Gemm(kType, 96, 64, 160);
  const Op norm = Op::Rowwise(OpKind::kNorm, kType, 64, 72, Bytes(40'000));
  const Op softmax = Op::Rowwise(OpKind::kSoftmax, kType, 64, 88, Bytes(40'000));
  const Op sum = Op::Elementwise(Bytes(30'000));
  const OpSequenceId forward =
      op_sequence({product, norm, attention(Direction::kForward), softmax, sum, product});
  const OpSequenceId backward =
      op_sequence({product, sum, softmax, attention(Direction::kBackward), norm, product});
  const OpSequenceId update = op_sequence({Op::Optimizer(Bytes(200'000), 2)});
  TaskId last = builder.Add({&lane, 1}, {}, forward, {.rank = 0, .chunk = 0, .micro_batch = 0});
  last = builder.Add({&lane, 1}, {&last, 1}, backward,
                     {.rank = 0, .chunk = 0, .micro_batch = 0, .phase = Phase::kBackward});
  builder.Add({&lane, 1}, {&last, 1}, update, {.rank = 0, .phase = Phase::kOptimizer});
  return builder.Build();
}

}  // namespace stagecraft

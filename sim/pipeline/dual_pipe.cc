#include "sim/pipeline/dual_pipe.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Writes the passes of one stage. "Near" is the chunk whose forwards reach this stage first, "far"
// the other one.
class StageWriter {
 public:
  explicit StageWriter(int near_chunk, int micro_batches)
      : chunk_{static_cast<int16_t>(near_chunk), static_cast<int16_t>(1 - near_chunk)} {
    order_.reserve(5 * static_cast<size_t>(micro_batches));
  }

  static constexpr int kNear = 0;
  static constexpr int kFar = 1;

  void Forward(int side) {
    order_.push_back({Phase::kForward, chunk_[side], next_forward_[side]++});
  }
  void Backward(int side) {
    order_.push_back({Phase::kBackward, chunk_[side], next_backward_[side]++});
  }
  void BackwardInput(int side) {
    const Pass pass{Phase::kBackwardInput, chunk_[side], next_backward_[side]++};
    order_.push_back(pass);
    deferred_.push_back({Phase::kBackwardWeight, pass.chunk, pass.micro_batch});
  }
  // Runs the weight gradients that have waited longest.
  void Weight() { order_.push_back(deferred_[next_deferred_++]); }
  // Runs a forward of one side beside a backward of the other.
  void Pair(int forward_side) {
    Forward(forward_side);
    order_.back().beside_next = true;
    Backward(1 - forward_side);
  }
  PassOrder Take() { return std::move(order_); }

 private:
  int16_t chunk_[2];
  int next_forward_[2] = {0, 0};
  int next_backward_[2] = {0, 0};
  PassOrder deferred_;
  size_t next_deferred_ = 0;
  PassOrder order_;
};

// Returns the passes of the stage at `depth` of a direction that has 2 * `half` stages; the stage
// is in its first half. `micro_batches` go each way. The numbers of the steps are DeepSeek's.
PassOrder StageOrder(int near_chunk, int depth, int half, int micro_batches) {
  constexpr int kNear = StageWriter::kNear;
  constexpr int kFar = StageWriter::kFar;
  StageWriter stage(near_chunk, micro_batches);
  const int before_turn = half - depth - 1;
  for (int i = 0; i < 2 * before_turn; ++i) stage.Forward(kNear);  // 1
  for (int i = 0; i <= depth; ++i) {                               // 2
    stage.Forward(kNear);
    stage.Forward(kFar);
  }
  for (int i = 0; i < before_turn; ++i) {  // 3
    stage.BackwardInput(kFar);
    stage.Weight();
    stage.Forward(kFar);
  }
  for (int i = 0; i < micro_batches - 2 * half + depth + 1; ++i) {  // 4
    if (i == 0 && before_turn == 0) {
      // Beside each other these two would leave a larger bubble.
      stage.Forward(kNear);
      stage.Backward(kFar);
    } else {
      stage.Pair(kNear);
    }
    stage.Pair(kFar);
  }
  for (int i = 0; i < before_turn; ++i) {  // 5
    stage.Backward(kFar);
    stage.Pair(kFar);
  }
  for (int i = 0; i < 2 * (depth + 1); ++i) {  // 6
    const int side = i % 2 == 0 ? kFar : kNear;
    if (i <= depth) {
      stage.Backward(side);
    } else {
      stage.BackwardInput(side);
    }
  }
  for (int i = 0; i < before_turn; ++i) {  // 7
    stage.Weight();
    stage.BackwardInput(kNear);
  }
  for (int i = 0; i <= depth; ++i) stage.Weight();  // 8
  return stage.Take();
}

}  // namespace

PassOrders DualPipeOrders(int stages, int micro_batches) {
  CHECK(stages % 2 == 0 && micro_batches % 2 == 0 && micro_batches >= 2 * stages);
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    const int depth = std::min(stage, stages - 1 - stage);
    orders.push_back(StageOrder(stage == depth ? 0 : 1, depth, stages / 2, micro_batches / 2));
  }
  return orders;
}

PassOrders DualPipeVOrders(int stages, int micro_batches) {
  CHECK(micro_batches >= 2 * stages);
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(StageOrder(0, stage, stages, micro_batches));
  }
  return orders;
}

}  // namespace stagecraft

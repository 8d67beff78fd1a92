// StatefulWork: the work of a rank that trains: its optimizer steps update a TrainingState.
#pragma once

#include <span>

#include "costmodel/op.h"
#include "runtime/rank_work.h"
#include "runtime/training_state.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Everything but ops of the optimizer is the business of another RankWork.
class StatefulWork : public RankWork {
 public:
  // All must outlive it.
  StatefulWork(const Schedule& schedule, RankWork& work, TrainingState& state)
      : schedule_(schedule), work_(work), state_(state) {}

  void BeginStep() override { work_.BeginStep(); }
  void Run(TaskId task, int index) override {
    const Op& op = schedule_.op(schedule_.ops(schedule_.op_sequence(task))[index]);
    if (op.kind == OpKind::kOptimizer) {
      state_.Update(op.bytes);
    } else {
      work_.Run(task, index);
    }
  }
  void Finish(TaskId task) override { work_.Finish(task); }
  std::span<float> Buffer(TaskId task, int index) override { return work_.Buffer(task, index); }
  void Receive(TaskId task) override { work_.Receive(task); }

 private:
  const Schedule& schedule_;
  RankWork& work_;
  TrainingState& state_;
};

}  // namespace stagecraft

// SlowedWork: computes at a share of the speed of another RankWork, as on a slow device.
#pragma once

#include <span>

#include "runtime/rank_work.h"

namespace stagecraft {

// After every op the thread computes on until it has had its CPU 1 / speed times as long as the op
// alone. Exchanges are as fast as before.
class SlowedWork : public RankWork {
 public:
  // `work` must outlive it. Precondition: speed is in (0, 1].
  SlowedWork(RankWork& work, double speed) : work_(work), speed_(speed) {}

  void BeginStep() override { work_.BeginStep(); }
  void Run(TaskId task, int index) override;
  void Finish(TaskId task) override { work_.Finish(task); }
  std::span<float> Buffer(TaskId task, int index) override { return work_.Buffer(task, index); }
  void Receive(TaskId task) override { work_.Receive(task); }

 private:
  RankWork& work_;
  const double speed_;
};

}  // namespace stagecraft

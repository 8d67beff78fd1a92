#include "runtime/step_board.h"

#include <utility>

namespace stagecraft {

StepBoard::StepBoard(const RankProgram& program) : program_(program) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const RankStep& step = program.steps[s];
    ++(step.kind == StepKind::kCompute ? computes_left_ : exchanges_left_);
    waits_.push_back(step.waits);
    if (step.waits == 0) AddReady(static_cast<int32_t>(s));
  }
}

void StepBoard::AddReady(int32_t step) {
  const bool computes = program_.steps[step].kind == StepKind::kCompute;
  (computes ? ready_to_compute_ : ready_to_exchange_).push_back(step);
}

std::optional<int32_t> StepBoard::WaitForCompute() {
  std::unique_lock lock(mutex_);
  computes_idle_ = computes_left_ == 0 || ready_to_compute_.empty();
  if (computes_idle_) exchanges_.notify_one();
  if (computes_left_ == 0) return std::nullopt;
  computes_.wait(lock, [this] { return !ready_to_compute_.empty(); });
  computes_idle_ = false;
  const int32_t step = ready_to_compute_.front();
  ready_to_compute_.erase(ready_to_compute_.begin());
  --computes_left_;
  return step;
}

std::vector<int32_t> StepBoard::TakeExchanges(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  if (patience.count() > 0) {
    exchanges_.wait_for(lock, patience, [this] {
      return !ready_to_exchange_.empty() || exchanges_left_ == 0 || computes_idle_;
    });
  }
  exchanges_left_ -= static_cast<int>(ready_to_exchange_.size());
  return std::exchange(ready_to_exchange_, {});
}

bool StepBoard::AllExchangesTaken() const {
  const std::lock_guard lock(mutex_);
  return exchanges_left_ == 0;
}

void StepBoard::End(int32_t step) { Release(program_.steps[step].next); }

void StepBoard::Arrive(const AwaitedSignal& signal) { Release(signal.next); }

void StepBoard::Release(const std::vector<int32_t>& next) {
  const std::lock_guard lock(mutex_);
  for (const int32_t step : next) {
    if (--waits_[step] == 0) AddReady(step);
  }
  if (!ready_to_compute_.empty()) computes_.notify_one();
  if (!ready_to_exchange_.empty()) exchanges_.notify_one();
}

}  // namespace stagecraft

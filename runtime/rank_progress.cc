#include "runtime/rank_progress.h"

#include <utility>

namespace stagecraft {

RankProgress::RankProgress(const RankProgram& program)
    : program_(program), left_(program.steps.size()) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    waits_.push_back(program.steps[s].waits);
    if (waits_.back() == 0) AddReady(static_cast<int32_t>(s));
  }
}

void RankProgress::AddReady(int32_t step) {
  const bool computes = program_.steps[step].kind == StepKind::kCompute;
  (computes ? ready_to_compute_ : ready_to_exchange_).push_back(step);
}

std::optional<int32_t> RankProgress::TakeCompute() {
  if (ready_to_compute_.empty()) return std::nullopt;
  const int32_t step = ready_to_compute_.front();
  ready_to_compute_.erase(ready_to_compute_.begin());
  return step;
}

std::vector<int32_t> RankProgress::TakeExchanges() { return std::exchange(ready_to_exchange_, {}); }

void RankProgress::End(int32_t step) {
  --left_;
  Release(program_.steps[step].next);
}

void RankProgress::Release(const std::vector<int32_t>& next) {
  for (const int32_t step : next) {
    if (--waits_[step] == 0) AddReady(step);
  }
}

}  // namespace stagecraft

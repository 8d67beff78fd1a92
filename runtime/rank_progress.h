// RankProgress: which steps of a rank's program have ended, and which may begin.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/rank_program.h"

namespace stagecraft {

class RankProgress {
 public:
  // The program must outlive it.
  explicit RankProgress(const RankProgram& program);

  // A step to be computed that may begin and was not handed out yet.
  std::optional<int32_t> TakeCompute();
  // All such steps that exchange.
  std::vector<int32_t> TakeExchanges();
  bool AllEnded() const { return left_ == 0; }

  void End(int32_t step);
  void Arrive(const AwaitedSignal& signal) { Release(signal.next); }

 private:
  void Release(const std::vector<int32_t>& next);
  void AddReady(int32_t step);

  const RankProgram& program_;
  std::vector<int> waits_;  // by step
  std::vector<int32_t> ready_to_compute_, ready_to_exchange_;
  size_t left_ = 0;
};

}  // namespace stagecraft

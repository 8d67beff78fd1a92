// RankProgress: keeps track of which steps of a rank's program have ended, and which may begin.
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

  // Returns a compute step that may begin and was not returned before; no value if there is none.
  std::optional<int32_t> TakeCompute();
  // Returns all exchanges that may begin and were not returned before.
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

// StepBoard: which steps of a rank's program have ended, and which may begin; for the
// thread that computes and the one that exchanges.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/rank_program.h"

namespace stagecraft {

class StepBoard {
 public:
  // The program outlives it.
  explicit StepBoard(const RankProgram& program);

  // The next step to compute, once it may begin; nothing where all have been given out.
  std::optional<int32_t> WaitForCompute();
  // Steps to exchange that may begin and were not given out yet. Waits for some until
  // `patience` is over, none will come, or nothing is computed.
  std::vector<int32_t> TakeExchanges(std::chrono::microseconds patience);
  bool AllExchangesTaken() const;
  // The computing thread waits for a step, or has done all.
  bool computes_idle() const { return computes_idle_; }

  void End(int32_t step);
  void Arrive(const AwaitedSignal& signal);

 private:
  void Release(const std::vector<int32_t>& next);
  void AddReady(int32_t step);

  const RankProgram& program_;
  mutable std::mutex mutex_;
  std::condition_variable computes_, exchanges_;
  std::vector<int> waits_;  // by step
  std::vector<int32_t> ready_to_compute_, ready_to_exchange_;
  int computes_left_ = 0, exchanges_left_ = 0;
  std::atomic<bool> computes_idle_ = false;
};

}  // namespace stagecraft

// TrainingState: what one rank of a training run must not lose: numbers in the place of its weights
// and its optimizer's states.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// The numbers mean nothing, but every update depends on all updates before it: two states that
// were made for the same rank are equal, bit by bit, if they saw the same updates.
class TrainingState {
 public:
  // Half of `size` are weights, half are their momentum.
  TrainingState(Bytes size, int rank);

  // Does what an optimizer step does that moves that many bytes, half of them read and half of them
  // written: m := 0.9 m + gradient, w := w - 0.01 m, from where the last update ended, around and
  // around. Gradients are drawn from the number of the update.
  void Update(Bytes moved);

  // What has to be kept to go on later.
  struct Progress {
    int64_t updates = 0;
    int64_t position = 0;  // where the next update begins
  };
  const Progress& progress() const { return progress_; }
  std::span<const float> values() const { return values_; }

  // A reader of a kept state writes its numbers here; then Resume() makes the state this one.
  std::span<float> values() { return values_; }
  void Resume(const Progress& progress) { progress_ = progress; }

  // A hash of everything.
  uint64_t Fingerprint() const;

 private:
  size_t pairs() const { return values_.size() / 2; }

  std::vector<float> values_;     // weights, then momentum
  std::vector<float> gradients_;  // drawn once; twice the same, so that any part is contiguous
  uint64_t seed_ = 0;
  Progress progress_;
};

// A hash of numbers in memory, four at a time, which takes less time than reading them from a file.
uint64_t HashOf(std::span<const float> values);

}  // namespace stagecraft

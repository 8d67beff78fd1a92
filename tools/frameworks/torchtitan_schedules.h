// The pipeline schedules of torchtitan (PyTorch's pipelining) by their names there.
#pragma once

#include <string>
#include <string_view>

#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {

struct TorchtitanSchedule {
  const char* word;
  PipelineSchedule schedule;
};

// InterleavedZeroBubble is not among them: its passes are none of ours.
inline constexpr TorchtitanSchedule kTorchtitanSchedules[] = {
    {"1F1B", PipelineSchedule::kOneForwardOneBackward},
    {"GPipe", PipelineSchedule::kGpipe},
    {"LoopedBFS", PipelineSchedule::kBreadthFirst},
    {"Interleaved1F1B", PipelineSchedule::kInterleaved},
    {"ZBVZeroBubble", PipelineSchedule::kZeroBubbleV},
    {"DualPipeV", PipelineSchedule::kDualPipeV},
};

inline const TorchtitanSchedule* FindTorchtitanSchedule(std::string_view word) {
  for (const TorchtitanSchedule& one : kTorchtitanSchedules) {
    if (word == one.word) return &one;
  }
  return nullptr;
}

inline std::string TorchtitanScheduleWords() {
  std::string words;
  for (const TorchtitanSchedule& one : kTorchtitanSchedules) {
    words += (words.empty() ? "" : ", ") + std::string(one.word);
  }
  return words;
}

}  // namespace stagecraft

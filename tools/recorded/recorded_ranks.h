// RecordedRanks: which kernels of recordings belong to which rank of a job, and to which step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/recorded/recording.h"

namespace stagecraft {

// The longest time from the first to the last kernel of a rank, or of a step, which is two years.
inline constexpr int64_t kMostSpanNs = int64_t{1} << 56;

struct RecordedRank {
  int rank = 0;              // in the job
  int recording = 0;         // into the recordings
  int32_t device = 0;        // of the kernels
  std::string gpu;           // its name; empty: not known
  int64_t shift_ns = 0;      // to be added to the times of the recording
  std::vector<int> kernels;  // into Recording::kernels, in order of start
};

struct RecordedRanks {
  std::vector<RecordedRank> ranks;  // in order
  int world_size = 0;               // 0: not known
  std::vector<std::string> notes;
};

// A recording of one device is a rank, one of several devices a rank for each. Ranks that nothing
// states are counted from 0 in the order of the recordings. Throws InputError for two recordings of
// one rank, for ranks beyond the size of their job or longer than kMostSpanNs, and for recordings
// of jobs of different sizes.
RecordedRanks FindRanks(const std::vector<Recording>& recordings);

// Throws an InputError that begins with the recording's file if these times of its kernels are
// further apart than kMostSpanNs.
void CheckSpan(const Recording& recording, int64_t start_ns, int64_t end_ns);

// A training step that names mark.
struct RecordedStep {
  int step = -1;  // its number; -1: no step is marked, and this is everything
  int64_t start_ns = 0, end_ns = 0;
};

// Returns the steps in order; one that stands for everything if no kernel is in a marked step.
std::vector<RecordedStep> FindSteps(const std::vector<Recording>& recordings,
                                    const RecordedRanks& ranks);

}  // namespace stagecraft

// Reads the traces of profilers and makes timelines of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/temporary_file.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/measured_timeline.h"
#include "tools/recorded/recording.h"

namespace stagecraft::fuzz {

inline void CheckTimeline(std::vector<Recording> recordings) {
  for (Recording& recording : recordings) PlaceKernels(recording);
  CHECK(MakeMeasuredTimeline(recordings).record.schedule.task_count() > 0);
}

// Reads an input as a file with this extension, which may be cut off; what is taken whole must be
// taken cut off, too. `read` is ReadKineto() or ReadChakra().
template <typename Read>
void CheckTrace(const uint8_t* data, size_t size, const std::string& extension, const Read& read) {
  const TemporaryFile file(data, size, extension);
  const auto accepts = [&](CutOff cut_off) {
    return Accepts([&] { CheckTimeline({read(file.path(), cut_off)}); });
  };
  const bool is_whole = accepts(CutOff::kRefuse);
  const bool has_some = accepts(CutOff::kTakeWhatIsThere);
  CHECK(has_some || !is_whole);
  if (has_some) CountAccepted();
}

}  // namespace stagecraft::fuzz

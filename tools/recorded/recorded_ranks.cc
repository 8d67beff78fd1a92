#include "tools/recorded/recorded_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

struct Span {
  int64_t start_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = std::numeric_limits<int64_t>::min();
};

Span SpanOf(const Recording& recording, const RecordedRank& rank) {
  Span span;
  for (const int kernel : rank.kernels) {
    span.start_ns = std::min(span.start_ns, recording.kernels[kernel].start_ns + rank.shift_ns);
    span.end_ns = std::max(span.end_ns, recording.kernels[kernel].end_ns + rank.shift_ns);
  }
  return span;
}

std::map<int32_t, std::vector<int>> KernelsByDevice(const Recording& recording) {
  std::map<int32_t, std::vector<int>> by_device;
  for (int i = 0; i < static_cast<int>(recording.kernels.size()); ++i) {
    by_device[recording.kernels[i].device].push_back(i);
  }
  for (auto& [device, kernels] : by_device) {
    std::stable_sort(kernels.begin(), kernels.end(), [&](int a, int b) {
      return recording.kernels[a].start_ns < recording.kernels[b].start_ns;
    });
  }
  return by_device;
}

class Finder {
 public:
  explicit Finder(const std::vector<Recording>& recordings) : recordings_(recordings) {}

  RecordedRanks Find() {
    for (int i = 0; i < static_cast<int>(recordings_.size()); ++i) AddRecording(i);
    std::sort(found_.ranks.begin(), found_.ranks.end(),
              [](const RecordedRank& a, const RecordedRank& b) { return a.rank < b.rank; });
    CheckSizes();
    AlignClocks();
    return std::move(found_);
  }

 private:
  void AddRecording(int index) {
    const Recording& recording = recordings_[index];
    auto by_device = KernelsByDevice(recording);
    const bool is_one = by_device.size() == 1;
    for (auto& [device, kernels] : by_device) {
      RecordedRank rank;
      rank.recording = index;
      rank.device = device;
      const auto name = recording.devices.find(device);
      if (name != recording.devices.end()) rank.gpu = name->second;
      rank.shift_ns = recording.base_ns;
      rank.kernels = std::move(kernels);
      const Span span = SpanOf(recording, rank);
      CheckSpan(recording, span.start_ns, span.end_ns);
      rank.rank = is_one && recording.rank ? *recording.rank
                  : recording.own.empty()  ? static_cast<int>(found_.ranks.size())
                                           : device;
      is_stated_ = is_stated_ && (recording.rank.has_value() || !recording.own.empty());
      const auto [other, is_new] = file_of_rank_.try_emplace(rank.rank, recording.file);
      if (!is_new) {
        throw InputError(
            fmt::format("{}: rank {}: got it again, want traces of different ranks; {} "
                        "is of this rank, too",
                        recording.file, rank.rank, other->second));
      }
      found_.ranks.push_back(std::move(rank));
    }
  }

  void CheckSizes() {
    const std::string* file = nullptr;
    for (const Recording& recording : recordings_) {
      if (recording.world_size == 0) continue;
      if (found_.world_size > 0 && recording.world_size != found_.world_size) {
        throw InputError(
            fmt::format("{}: distributedInfo.world_size: got {}, want {} as in {}: are "
                        "they of one job?",
                        recording.file, recording.world_size, found_.world_size, *file));
      }
      found_.world_size = recording.world_size;
      file = &recording.file;
    }
    for (const RecordedRank& rank : found_.ranks) {
      if (found_.world_size == 0 || rank.rank < found_.world_size) continue;
      throw InputError(fmt::format("{}: rank: got {}, want less than the {} ranks of the job",
                                   recordings_[rank.recording].file, rank.rank, found_.world_size));
    }
    const auto recorded = std::ssize(found_.ranks);
    if (found_.world_size > recorded) {
      found_.notes.push_back(fmt::format("{} of the {} ranks of the job {} recorded here", recorded,
                                         found_.world_size, recorded == 1 ? "is" : "are"));
    }
    if (!is_stated_ && recorded > 1) {
      found_.notes.push_back(
          "the traces do not state their ranks: they are counted from 0 in the "
          "order of the files");
    }
  }

  // Clocks of hosts may have nothing in common: ranks whose kernels all ran before or after those
  // of the first rank begin when it does.
  void AlignClocks() {
    if (found_.ranks.empty()) return;
    const RecordedRank& first = found_.ranks.front();
    const Span span = SpanOf(recordings_[first.recording], first);
    int aligned = 0;
    for (RecordedRank& rank : found_.ranks) {
      const Span own = SpanOf(recordings_[rank.recording], rank);
      if (own.start_ns <= span.end_ns && own.end_ns >= span.start_ns) continue;
      rank.shift_ns += span.start_ns - own.start_ns;
      ++aligned;
    }
    if (aligned == 0) return;
    found_.notes.push_back(
        fmt::format("{} ranks ran at other times than rank {}, so their clocks have nothing in "
                    "common: they are "
                    "taken to begin together",
                    aligned, first.rank));
  }

  const std::vector<Recording>& recordings_;
  RecordedRanks found_;
  std::map<int, std::string> file_of_rank_;
  bool is_stated_ = true;
};

}  // namespace

void CheckSpan(const Recording& recording, int64_t start_ns, int64_t end_ns) {
  if (end_ns - start_ns <= kMostSpanNs) return;
  throw InputError(fmt::format("{}: got kernels that are {} s apart, want those of one run",
                               recording.file, (end_ns - start_ns) / 1'000'000'000));
}

RecordedRanks FindRanks(const std::vector<Recording>& recordings) {
  return Finder(recordings).Find();
}

std::vector<RecordedStep> FindSteps(const std::vector<Recording>& recordings,
                                    const RecordedRanks& ranks) {
  std::map<int, Span> spans;
  for (const RecordedRank& rank : ranks.ranks) {
    for (const int index : rank.kernels) {
      const RecordedKernel& kernel = recordings[rank.recording].kernels[index];
      Span& span = spans[kernel.place.step];
      span.start_ns = std::min(span.start_ns, kernel.start_ns + rank.shift_ns);
      span.end_ns = std::max(span.end_ns, kernel.end_ns + rank.shift_ns);
    }
  }
  if (spans.size() > 1) spans.erase(-1);  // outside of all steps
  std::vector<RecordedStep> steps;
  for (const auto& [step, span] : spans) steps.push_back({step, span.start_ns, span.end_ns});
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i + 1].start_ns > steps[i].start_ns) steps[i].end_ns = steps[i + 1].start_ns;
  }
  return steps;
}

}  // namespace stagecraft

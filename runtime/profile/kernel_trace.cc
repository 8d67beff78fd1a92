#include "runtime/profile/kernel_trace.h"

#include <algorithm>

namespace stagecraft {

std::vector<KernelSummary> SummariseKernels(std::span<const KernelRun> runs) {
  std::vector<KernelRun> ordered(runs.begin(), runs.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const KernelRun& a, const KernelRun& b) { return a.begin < b.begin; });
  struct Sums {
    int runs = 0, gaps = 0;
    Duration time, gap;
  };
  std::vector<KernelSummary> summaries;
  std::vector<Sums> sums;
  Duration last_end;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const KernelRun& run = ordered[i];
    const auto known =
        std::find_if(summaries.begin(), summaries.end(),
                     [&](const KernelSummary& summary) { return summary.name == run.name; });
    const auto index = static_cast<size_t>(known - summaries.begin());
    if (known == summaries.end()) {
      summaries.emplace_back().name = run.name;
      sums.emplace_back();
    }
    Sums& sum = sums[index];
    ++sum.runs;
    sum.time += run.end - run.begin;
    if (i > 0) {
      ++sum.gaps;
      sum.gap += std::max(Duration(), run.begin - last_end);
    }
    last_end = i == 0 ? run.end : std::max(last_end, run.end);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    summaries[i].runs = sums[i].runs;
    summaries[i].time = Duration::Nanoseconds(sums[i].time.ns() / sums[i].runs);
    if (sums[i].gaps > 0) summaries[i].gap = Duration::Nanoseconds(sums[i].gap.ns() / sums[i].gaps);
  }
  return summaries;
}

}  // namespace stagecraft

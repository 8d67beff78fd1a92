#include "runtime/profile/kernel_trace.h"

#include <algorithm>

namespace stagecraft {

std::vector<KernelSummary> SummariseKernels(std::span<const KernelRun> runs) {
  std::vector<KernelRun> ordered(runs.begin(), runs.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const KernelRun& a, const KernelRun& b) { return a.begin < b.begin; });
  std::vector<KernelSummary> summaries;
  Duration last_end = ordered.empty() ? Duration() : ordered.front().begin;
  for (const KernelRun& run : ordered) {
    auto known =
        std::find_if(summaries.begin(), summaries.end(),
                     [&](const KernelSummary& summary) { return summary.name == run.name; });
    if (known == summaries.end()) known = summaries.insert(known, {run.name, 0, {}, {}});
    ++known->runs;
    known->time += run.end - run.begin;
    known->gap += std::max(Duration(), run.begin - last_end);
    last_end = std::max(last_end, run.end);
  }
  for (KernelSummary& summary : summaries) {
    const int gaps = summary.runs - (&summary == &summaries.front() ? 1 : 0);
    summary.time = Duration::Nanoseconds(summary.time.ns() / summary.runs);
    summary.gap = Duration::Nanoseconds(summary.gap.ns() / std::max(1, gaps));
  }
  return summaries;
}

}  // namespace stagecraft

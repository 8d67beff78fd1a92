#include "tools/sweep/run_page.h"

#include <cstddef>
#include <vector>

#include "tools/report/sweep_page.h"
#include "tools/sweep/run_flags.h"
#include "tools/sweep/run_row.h"

namespace stagecraft {
namespace {

SweepPoint PointOf(const RunRow& row) {
  SweepPoint point;
  point.flags = FlagsOfRow(row);
  point.outcome = Name(row.outcome);
  point.gpus = row[RunNumber::kGpus];
  point.step_time_ms = row[RunNumber::kStepTime];
  point.tokens_per_s = row[RunNumber::kTokensPerSecond];
  point.peak_memory_gib = row[RunNumber::kPeakMemory];
  return point;
}

}  // namespace

std::string RunsPage(const RunStore& store, const std::string& path) {
  std::vector<SweepPoint> points;
  for (size_t grid = 0; grid < store.grids().size(); ++grid) {
    store.ForEachRow(static_cast<int>(grid),
                     [&](const RunRow& row) { points.push_back(PointOf(row)); });
  }
  return SweepPage(points, path);
}

}  // namespace stagecraft

#include "tools/sweep/run_page.h"

#include <fmt/core.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "tools/report/sweep_page.h"
#include "tools/sweep/run_row.h"

namespace stagecraft {
namespace {

SweepPoint PointOf(const RunRow& row, const std::string& path) {
  SweepPoint point;
  try {
    const nlohmann::json flags = nlohmann::json::parse(row.flags);
    for (const auto& [flag, value] : flags.items()) point.flags[flag] = value.get<std::string>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("{}: point {}: flags: got \"{}\", want a JSON object of texts",
                                 path, row.point, row.flags));
  }
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
                     [&](const RunRow& row) { points.push_back(PointOf(row, path)); });
  }
  return SweepPage(points, path);
}

}  // namespace stagecraft

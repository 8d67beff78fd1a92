#include "tools/check/check_sweeps.h"

#include <fmt/core.h>

#include <string_view>

#include "costmodel/check.h"
#include "tools/sweep/run_store.h"
#include "tools/validation/csv_table.h"

namespace stagecraft {
namespace {

bool IsSweepTable(const std::string& text) {
  const std::string_view head = std::string_view(text).substr(0, text.find('\n'));
  return (head.starts_with("point,") || head.starts_with("grid,point,")) &&
         head.ends_with(",inputs_hash,result_hash");
}

FileSummary CheckDatabase(const std::string& path) {
  const RunStore store = RunStore::Read(path);
  int64_t rows = 0, points = 0;
  for (size_t i = 0; i < store.grids().size(); ++i) {
    // Reads every row, so that a value that sweep does not write is found.
    store.ForEachRow(static_cast<int>(i), [&](const RunRow&) { ++rows; });
    points += store.grids()[i].points;
  }
  return {"sweep database",
          fmt::format("{} of {} points of {} grid{}, by stagecraft {}", rows, points,
                      store.grids().size(), store.grids().size() == 1 ? "" : "s",
                      store.grids()[0].tool_version)};
}

}  // namespace

std::optional<FileSummary> CheckSweepFile(const std::string& text, const std::string& path) {
  if (IsSweepDatabase(text)) return CheckDatabase(path);
  if (!IsSweepTable(text)) return std::nullopt;
  const CsvTable table = CsvTable::Parse(text, path);
  return FileSummary{"sweep table",
                     fmt::format("{} points; no command reads it", table.row_count())};
}

}  // namespace stagecraft
